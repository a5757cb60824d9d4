/* SPDX-License-Identifier: BSD-3-Clause */
/* Model files: "lbsched-model 1", then a line for each field: its name, a space, its value. */
#include "model/model_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "model.h"
#include "trace/file.h"

static const char magic[] = "lbsched-model 1";

const char *const lbi_model_policy_names[] = {"unknown", "none", "lazy", "active", "immediate"};
static const char *const list_choices[] = {"random", "longest"};
static const char *const process_choices[] = {"random", "first", "last"};

/* ---- writing ---- */

static void write_number(lbi_text *text, const char *name, double value) {
    lbi_text_printf(text, "%s ", name);
    lbi_text_number(text, value);
    lbi_text_string(text, "\n");
}

lb_status lb_model_save(const lb_model *model, const char *path, lb_error *err) {
    const lb_model_options *o = &model->options;
    lbi_text text = {0};
    lbi_text_printf(&text, "%s\ncores %u\npolicy %s\n", magic, (unsigned)o->cores,
                    lbi_model_policy_names[o->policy]);
    write_number(&text, "balance_delay", o->balance_delay);
    write_number(&text, "rotation_time", o->rotation_time);
    lbi_text_printf(&text, "list_choice %s\nprocess_choice %s\n", list_choices[o->list_choice],
                    process_choices[o->process_choice]);
    if (o->group_cores > 0)
        lbi_text_printf(&text, "group_cores %u\n", (unsigned)o->group_cores);
    if (model->speeds != NULL) {
        lbi_text_string(&text, "core_speeds");
        for (uint32_t i = 0; i < o->cores; i++) {
            lbi_text_string(&text, " ");
            lbi_text_number(&text, model->speeds[i]);
        }
        lbi_text_string(&text, "\n");
    }
    size_t length;
    char *data = lbi_text_take(&text, &length);
    if (data == NULL)
        return lbi_error_nomem(err, "a model's text");
    lb_status status = lbi_file_write(path, data, length, err);
    free(data);
    return status;
}

/* ---- reading ---- */

typedef struct reading {
    lb_model_options options;
    double *speeds;
    size_t speed_count, speed_capacity;
    size_t line;
    unsigned seen; /* a bit for each field */
} reading;

typedef struct span {
    const char *from, *to;
} span;

static bool is_word(span s, const char *word) {
    size_t length = strlen(word);
    return (size_t)(s.to - s.from) == length && memcmp(s.from, word, length) == 0;
}

static bool read_number(span s, double *ret_value) {
    return lbi_parse_number(s.from, s.to, ret_value);
}

static bool read_count(span s, uint32_t *ret_value) {
    uint64_t value;
    if (!lbi_parse_unsigned(s.from, s.to, UINT32_MAX, &value))
        return false;
    *ret_value = (uint32_t)value;
    return true;
}

static bool read_choice(span s, const char *const *words, int count, int32_t *ret_value) {
    for (int i = 0; i < count; i++)
        if (is_word(s, words[i])) {
            *ret_value = i;
            return true;
        }
    return false;
}

static lb_status read_speeds(reading *r, span s, lb_error *err) {
    while (true) {
        const char *space = memchr(s.from, ' ', (size_t)(s.to - s.from));
        span one = {s.from, space == NULL ? s.to : space};
        if (!lbi_array_reserve(&r->speeds, &r->speed_capacity, r->speed_count + 1,
                               sizeof *r->speeds))
            return lbi_error_nomem(err, "a model's core speeds");
        if (!read_number(one, &r->speeds[r->speed_count]))
            return lbi_error(err, LB_ERR_FORMAT, "line %zu: core_speeds[%zu] is no number", r->line,
                             r->speed_count);
        r->speed_count++;
        if (space == NULL)
            return LB_OK;
        s.from = space + 1;
    }
}

static const char *const fields[] = {"cores",         "policy",      "balance_delay",
                                     "rotation_time", "list_choice", "process_choice",
                                     "core_speeds",   "group_cores"};
enum {
    CORES,
    POLICY,
    DELAY,
    ROTATION,
    LIST,
    PROCESS,
    SPEEDS,
    GROUPS,
    FIELDS
};

static bool read_value(reading *r, int field, span value) {
    switch (field) {
    case CORES:
        return read_count(value, &r->options.cores);
    case GROUPS:
        return read_count(value, &r->options.group_cores);
    case POLICY:
        return read_choice(value, lbi_model_policy_names, 5, &r->options.policy);
    case DELAY:
        return read_number(value, &r->options.balance_delay);
    case ROTATION:
        return read_number(value, &r->options.rotation_time);
    case LIST:
        return read_choice(value, list_choices, 2, &r->options.list_choice);
    default:
        return read_choice(value, process_choices, 3, &r->options.process_choice);
    }
}

static lb_status read_line(reading *r, span line, lb_error *err) {
    const char *space = memchr(line.from, ' ', (size_t)(line.to - line.from));
    span name = {line.from, space == NULL ? line.to : space};
    span value = {space == NULL ? line.to : space + 1, line.to};
    int field = 0;
    while (field < FIELDS && !is_word(name, fields[field]))
        field++;
    if (field == FIELDS)
        return lbi_error(err, LB_ERR_FORMAT, "line %zu: \"%.*s\" is no field of a model", r->line,
                         (int)(name.to - name.from < 40 ? name.to - name.from : 40), name.from);
    if (r->seen >> field & 1)
        return lbi_error(err, LB_ERR_FORMAT, "line %zu: %s was there before", r->line,
                         fields[field]);
    r->seen |= 1u << field;
    if (field == SPEEDS)
        return read_speeds(r, value, err);
    if (!read_value(r, field, value))
        return lbi_error(err, LB_ERR_FORMAT, "line %zu: \"%.*s\" is no value of %s", r->line,
                         (int)(value.to - value.from < 40 ? value.to - value.from : 40), value.from,
                         fields[field]);
    return LB_OK;
}

static lb_status read_all(reading *r, const char *text, size_t length, lb_error *err) {
    const char *at = text, *end = text + length;
    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        span line = {at, newline == NULL ? end : newline};
        at = newline == NULL ? end : newline + 1;
        r->line++;
        lb_status status = LB_OK;
        if (r->line > 1)
            status = read_line(r, line, err);
        else if (!is_word(line, magic))
            status = lbi_error(err, LB_ERR_FORMAT, "line 1: \"%s\" expected", magic);
        if (status != LB_OK)
            return status;
    }
    if (!(r->seen >> CORES & 1) || !(r->seen >> POLICY & 1))
        return lbi_error(err, LB_ERR_FORMAT, "line %zu: the end, without %s", r->line + 1,
                         r->seen >> CORES & 1 ? "policy" : "cores");
    if (r->speeds != NULL && r->speed_count != r->options.cores)
        return lbi_error(err, LB_ERR_FORMAT, "line %zu: %zu core_speeds of %u cores", r->line,
                         r->speed_count, (unsigned)r->options.cores);
    return LB_OK;
}

lb_status lbi_model_parse(const char *text, size_t length, lb_model **ret_model, lb_error *err) {
    reading r = {0};
    lb_model_options_init(&r.options, sizeof r.options);
    lb_status status = read_all(&r, text, length, err);
    if (status == LB_OK) {
        r.options.core_speeds = r.speeds;
        status = lb_model_new(&r.options, ret_model, err);
    }
    free(r.speeds);
    if (status == LB_ERR_INVALID && err != NULL)
        err->status = LB_ERR_FORMAT; /* the message names the field and its value */
    return status == LB_ERR_INVALID ? LB_ERR_FORMAT : status;
}

lb_status lb_model_load(const char *path, lb_model **ret_model, lb_error *err) {
    char *text = NULL;
    size_t length;
    lb_status status = lbi_file_read(path, &text, &length, err);
    if (status == LB_OK)
        status = lbi_model_parse(text, length, ret_model, err);
    free(text);
    return status;
}
