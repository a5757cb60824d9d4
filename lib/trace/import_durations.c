/* SPDX-License-Identifier: BSD-3-Clause */
/* A plain table of task and duration, the seed's own kind of record: the tasks started together,
 * and each one's units follow each other. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/text.h"
#include "import.h"
#include "object.h"
#include "sort.h"
#include "trace/csv.h"
#include "trace/fixed.h"

typedef struct span {
    const char *begin, *end;
} span;

/* A row; `task` is what the label says where all are numbers, else counted by first appearance. */
typedef struct row {
    span label;
    size_t line;
    int64_t duration_ns;
    uint32_t task;
} row;

typedef struct reader {
    lbi_csv lines;
    size_t line;    /* of the line that is being read */
    char separator; /* 0: blanks */
    size_t task_column, duration_column;
    int decimals; /* of the column's unit, to nanoseconds */
    bool header_read;
    uint32_t cores;
    double unit_work;
    row *rows;
    size_t count, capacity;
    lb_error *err;
} reader;

#define FAULT(r_, ...) lbi_error((r_)->err, LB_ERR_FORMAT, __VA_ARGS__)

static bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

static span trimmed(const char *begin, const char *end) {
    while (begin < end && is_blank(*begin))
        begin++;
    while (end > begin && is_blank(end[-1]))
        end--;
    if (end - begin >= 2 && *begin == '"' && end[-1] == '"')
        return (span){begin + 1, end - 1};
    return (span){begin, end};
}

static bool is_word(span field, const char *word) {
    size_t length = strlen(word);
    return (size_t)(field.end - field.begin) == length && memcmp(field.begin, word, length) == 0;
}

/* The field of that number in a line; false: it has none. */
static bool take_field(char separator, const char *begin, const char *end, size_t number,
                       span *ret_field) {
    for (size_t i = 0;; i++) {
        if (separator == 0)
            while (begin < end && is_blank(*begin))
                begin++;
        const char *stop = begin;
        while (stop < end && (separator == 0 ? !is_blank(*stop) : *stop != separator))
            stop++;
        if (i == number) {
            *ret_field = trimmed(begin, stop);
            return ret_field->begin < ret_field->end;
        }
        if (stop == end)
            return false;
        begin = stop + 1;
    }
}

static lb_status expected(const reader *r, span got, const char *what) {
    char shown[LBI_EXCERPT_SIZE];
    return FAULT(r, "line %zu: expected %s, got \"%s\"", r->line, what,
                 lbi_excerpt(got.begin, (size_t)(got.end - got.begin), shown));
}

static lb_status read_meta(reader *r, const char *begin, const char *end) {
    const char *key, *value;
    size_t key_length, value_length;
    if (!lbi_meta_split(begin, end, &key, &key_length, &value, &value_length))
        return LB_OK;
    span name = {key, key + key_length}, text = {value, value + value_length};
    uint64_t cores;
    double number;
    if (is_word(name, LBI_KEY_CORES)) {
        if (!lbi_parse_unsigned(text.begin, text.end, UINT32_MAX, &cores) || cores == 0)
            return expected(r, text, "how many cores there were");
        if (r->cores == 0)
            r->cores = (uint32_t)cores;
    } else if (is_word(name, LBI_KEY_UNIT_WORK)) {
        if (!lbi_parse_number(text.begin, text.end, &number) || !(number > 0 && isfinite(number)))
            return expected(r, text, "unit_work_s above 0");
        if (isnan(r->unit_work))
            r->unit_work = number;
    }
    return LB_OK;
}

static char separator_of(const char *begin, const char *end) {
    static const char candidates[] = {',', ';', '\t'};
    for (size_t i = 0; i < sizeof candidates; i++)
        if (memchr(begin, candidates[i], (size_t)(end - begin)) != NULL)
            return candidates[i];
    return 0;
}

static const struct {
    const char *name;
    int decimals;
} duration_names[] = {{"duration", 9},    {"duration_s", 9},  {"duration_ms", 6},
                      {"duration_us", 3}, {"duration_ns", 0}, {"seconds", 9},
                      {"time", 9},        {"time_s", 9},      {"time_ms", 6}};

/* The first row names the columns, or, where a number stands in its second field, is data. */
static lb_status read_header(reader *r, const char *begin, const char *end, bool *ret_is_header) {
    r->header_read = true;
    r->separator = separator_of(begin, end);
    r->task_column = 0;
    r->duration_column = 1;
    r->decimals = 9;
    span field, line = {begin, end};
    int64_t number;
    *ret_is_header = false;
    if (take_field(r->separator, begin, end, 1, &field) &&
        lbi_parse_fixed(field.begin, field.end, 9, &number) != LBI_FIXED_NONE)
        return LB_OK;
    *ret_is_header = true;
    bool task = false, duration = false;
    for (size_t column = 0; take_field(r->separator, begin, end, column, &field); column++) {
        if (is_word(field, "task") && !task) {
            r->task_column = column;
            task = true;
        }
        for (size_t i = 0; i < sizeof duration_names / sizeof *duration_names; i++)
            if (is_word(field, duration_names[i].name) && !duration) {
                r->duration_column = column;
                r->decimals = duration_names[i].decimals;
                duration = true;
            }
    }
    if (!task || !duration)
        return expected(r, line, "the columns task and duration (or duration_ms, _us, _ns)");
    return LB_OK;
}

static lb_status read_row(reader *r, const char *begin, const char *end) {
    row read = {.line = r->line};
    span line = {begin, end}, duration;
    if (!take_field(r->separator, begin, end, r->task_column, &read.label) ||
        !take_field(r->separator, begin, end, r->duration_column, &duration))
        return expected(r, line, "a task and a duration");
    if (lbi_parse_fixed(duration.begin, duration.end, r->decimals, &read.duration_ns) >
            LBI_FIXED_ROUNDED ||
        read.duration_ns < 0)
        return expected(r, duration, "a duration of 0 to 9.2e9 s");
    if (!lbi_array_reserve(&r->rows, &r->capacity, r->count + 1, sizeof read))
        return lbi_error_nomem(r->err, "rows");
    r->rows[r->count++] = read;
    return LB_OK;
}

static lb_status read_rows(reader *r) {
    while (r->lines.at < r->lines.end) {
        const char *begin, *end;
        r->line = r->lines.line;
        lbi_csv_line(&r->lines, &begin, &end);
        span line = trimmed(begin, end);
        if (line.begin == line.end)
            continue;
        lb_status status = LB_OK;
        bool is_header = false;
        if (*line.begin == '#') {
            status = read_meta(r, line.begin, line.end);
            is_header = true;
        } else if (!r->header_read) {
            status = read_header(r, begin, end, &is_header);
        }
        if (status == LB_OK && !is_header)
            status = read_row(r, begin, end);
        if (status != LB_OK)
            return status;
    }
    if (r->count == 0)
        return FAULT(r, "line %zu: expected a row of task and duration, the text ends", r->line);
    return LB_OK;
}

static bool labels_are_numbers(const reader *r) {
    uint64_t number;
    for (size_t i = 0; i < r->count; i++)
        if (!lbi_parse_unsigned(r->rows[i].label.begin, r->rows[i].label.end, LB_TASK_MAX, &number))
            return false;
    return true;
}

static int compare_labels(const void *a, const void *b) {
    const row *x = *(row *const *)a, *y = *(row *const *)b;
    size_t m = (size_t)(x->label.end - x->label.begin), n = (size_t)(y->label.end - y->label.begin);
    int order = memcmp(x->label.begin, y->label.begin, m < n ? m : n);
    if (order == 0 && m != n)
        order = m < n ? -1 : 1;
    return order != 0 ? order : (x > y) - (x < y);
}

static bool same_label(const row *a, const row *b) {
    size_t n = (size_t)(a->label.end - a->label.begin);
    return n == (size_t)(b->label.end - b->label.begin) &&
           memcmp(a->label.begin, b->label.begin, n) == 0;
}

/* Every row gets the place of the first row with its label; then places become counts. */
static lb_status number_labels(reader *r) {
    row **sorted = lbi_array_new(r->count, sizeof *sorted);
    size_t *first = lbi_array_new(r->count, sizeof *first);
    if (sorted == NULL || first == NULL) {
        free(sorted);
        free(first);
        return lbi_error_nomem(r->err, "rows");
    }
    for (size_t i = 0; i < r->count; i++)
        sorted[i] = &r->rows[i];
    qsort(sorted, r->count, sizeof *sorted, compare_labels);
    for (size_t i = 0; i < r->count; i++)
        first[sorted[i] - r->rows] = i > 0 && same_label(sorted[i - 1], sorted[i])
                                         ? first[sorted[i - 1] - r->rows]
                                         : (size_t)(sorted[i] - r->rows);
    lb_status status = LB_OK;
    uint32_t tasks = 0;
    for (size_t i = 0; i < r->count && status == LB_OK; i++) {
        if (first[i] < i)
            r->rows[i].task = r->rows[first[i]].task;
        else if (tasks <= LB_TASK_MAX)
            r->rows[i].task = tasks++;
        else
            status = FAULT(r, "line %zu: expected at most %lu tasks", r->rows[i].line,
                           (unsigned long)LB_TASK_MAX + 1);
    }
    free(sorted);
    free(first);
    return status;
}

static lb_status number_tasks(reader *r) {
    if (!labels_are_numbers(r))
        return number_labels(r);
    for (size_t i = 0; i < r->count; i++) {
        uint64_t number = 0;
        lbi_parse_unsigned(r->rows[i].label.begin, r->rows[i].label.end, LB_TASK_MAX, &number);
        r->rows[i].task = (uint32_t)number;
    }
    return LB_OK;
}

static int compare_tasks(const void *a, const void *b) {
    const row *x = a, *y = b;
    return (x->task > y->task) - (x->task < y->task);
}

static lb_status add_units(reader *r, lb_trace *trace) {
    if (!lbi_sort(r->rows, r->count, sizeof *r->rows, compare_tasks))
        return lbi_error_nomem(r->err, "rows");
    int64_t now = 0;
    uint32_t index = 0;
    for (size_t i = 0; i < r->count; i++) {
        const row *unit_row = &r->rows[i];
        if (i == 0 || unit_row->task != r->rows[i - 1].task) {
            now = 0;
            index = 0;
        }
        if (unit_row->duration_ns > INT64_MAX - now)
            return FAULT(r, "line %zu: expected the task's durations to sum up to 9.2e9 s at most",
                         unit_row->line);
        lb_unit unit = {now, now + unit_row->duration_ns, -1, unit_row->task, index++, -1, -1};
        now = unit.end_ns;
        if (!lbi_trace_append_unit(trace, &unit))
            return lbi_error_nomem(r->err, "units");
    }
    return LB_OK;
}

static lb_status make_trace(reader *r, lb_trace **ret_trace) {
    if (r->cores == 0)
        return lbi_error(
            r->err, LB_ERR_INVALID,
            "cores is 0: expected how many there were, as no line \"# cores: N\" says");
    lb_status status = number_tasks(r);
    if (status != LB_OK)
        return status;
    lb_trace *trace;
    status = lb_trace_new(r->cores, &trace, r->err);
    if (status != LB_OK)
        return status;
    status = add_units(r, trace);
    if (status == LB_OK)
        status = lb_trace_set_unit_work(trace, r->unit_work, r->err);
    if (status == LB_OK)
        status = lb_trace_set_meta(trace, "imported", "durations", r->err);
    if (status == LB_OK)
        status = lb_trace_seal(trace, r->err);
    if (status == LB_OK)
        *ret_trace = trace;
    else
        lb_trace_free(trace);
    return status;
}

lb_status lbi_import_durations(const char *text, size_t length, const lb_import_options *options,
                               lb_trace **ret_trace, lb_error *err) {
    reader r = {.cores = options->cores, .unit_work = options->unit_work, .err = err, .line = 1};
    lbi_csv_begin(&r.lines, text, length);
    lb_status status = read_rows(&r);
    if (status == LB_OK)
        status = make_trace(&r, ret_trace);
    free(r.rows);
    return status;
}
