/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads `lbsched-trace 1`. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "object.h"
#include "trace/cores.h"
#include "trace/csv.h"
#include "trace/file.h"
#include "trace/fixed.h"

typedef enum table_id {
    UNITS,
    SLICES,
    MARKS,
    SKIPPED
} table_id;
#define TABLES 3 /* that are known */

static const char *const table_names[TABLES] = {"units", "slices", "marks"};

typedef enum value_kind {
    TASK,
    NUMBER,
    SECONDS,
    SECONDS_OR_NONE,
    CORE,
    CORE_OR_NONE,
    MARK_KIND
} value_kind;

#define IN(table_) (1u << (table_))

/* What a row may hold. */
typedef enum column_id {
    COLUMN_TASK,
    COLUMN_UNIT,
    COLUMN_START,
    COLUMN_END,
    COLUMN_CPU,
    COLUMN_CORE_START,
    COLUMN_CORE_END,
    COLUMN_CORE,
    COLUMN_TIME,
    COLUMN_KIND,
    COLUMNS,
    COLUMN_IGNORED = COLUMNS
} column_id;

static const struct {
    const char *name;
    value_kind kind;
    unsigned tables, required; /* sets of tables */
} columns[COLUMNS] = {
    [COLUMN_TASK] = {"task", TASK, IN(UNITS) | IN(SLICES) | IN(MARKS),
                     IN(UNITS) | IN(SLICES) | IN(MARKS)},
    [COLUMN_UNIT] = {"unit", NUMBER, IN(UNITS), 0},
    [COLUMN_START] = {"start_s", SECONDS, IN(UNITS) | IN(SLICES), IN(UNITS) | IN(SLICES)},
    [COLUMN_END] = {"end_s", SECONDS, IN(UNITS) | IN(SLICES), IN(UNITS) | IN(SLICES)},
    [COLUMN_CPU] = {"cpu_s", SECONDS_OR_NONE, IN(UNITS), 0},
    [COLUMN_CORE_START] = {"core_start", CORE_OR_NONE, IN(UNITS), 0},
    [COLUMN_CORE_END] = {"core_end", CORE_OR_NONE, IN(UNITS), 0},
    [COLUMN_CORE] = {"core", CORE, IN(SLICES), IN(SLICES)},
    [COLUMN_TIME] = {"time_s", SECONDS, IN(MARKS), IN(MARKS)},
    [COLUMN_KIND] = {"kind", MARK_KIND, IN(MARKS), IN(MARKS)},
};

/* Two rows to be found again in the text, to name their lines. */
typedef struct wanted {
    table_id table;
    uint32_t task;
    int64_t start_ns, end_ns;
    size_t line; /* 0: not found */
} wanted;

typedef struct parser {
    lbi_csv csv;
    lb_trace *trace; /* NULL until `cores` is known */
    lbi_meta meta;   /* until then */
    bool keeps;      /* false: rows are read to find the wanted ones only */
    wanted *wanted[2];
    table_id table;
    unsigned tables; /* the set of those begun */
    bool has_header; /* of `table` */
    bool any_header; /* of whatever table */
    uint8_t *header; /* a column for each field of a row */
    size_t header_count, header_capacity;
    bool numbered; /* units have numbers */
    size_t line;   /* where the present record or line begins */
    size_t cpus_line, groups_line;
    double unit_work; /* 0: not set */
    lb_error *err;
} parser;

/* LB_ERR_FORMAT at the present line. */
#define FAULT(p_, ...) fault((p_), (p_)->line, __VA_ARGS__)

static lb_status fault(const parser *p, size_t line, const char *format, ...) LBI_PRINTF(3, 4);

static lb_status fault(const parser *p, size_t line, const char *format, ...) {
    char text[224];
    va_list arguments;
    va_start(arguments, format);
    lbi_vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return lbi_error(p->err, LB_ERR_FORMAT, "line %zu: %s", line, text);
}

/* ---- fields ---- */

/* A core is kept in 31 bits, though there may be more of them. */
static int64_t last_core_of(const parser *p) {
    int64_t last = (int64_t)p->trace->cores - 1;
    return last < INT32_MAX ? last : INT32_MAX;
}

static lb_status value_fault(const parser *p, column_id column, const char *text, size_t length) {
    char shown[LBI_EXCERPT_SIZE], expected[96] = "";
    unsigned long last_core = (unsigned long)last_core_of(p);
    switch (columns[column].kind) {
    case TASK:
        lbi_snprintf(expected, sizeof expected, "a task's number, 0 to %lu",
                     (unsigned long)LB_TASK_MAX);
        break;
    case NUMBER:
        lbi_snprintf(expected, sizeof expected, "a whole number, 0 to %lu",
                     (unsigned long)UINT32_MAX);
        break;
    case SECONDS:
        strcpy(expected, "seconds, such as 0.030512, within +-9223372036.854775807");
        break;
    case SECONDS_OR_NONE:
        strcpy(expected, "seconds, 0 to 9223372036.854775807, or nothing");
        break;
    case CORE:
        lbi_snprintf(expected, sizeof expected, "a core, 0 to %lu", last_core);
        break;
    case CORE_OR_NONE:
        lbi_snprintf(expected, sizeof expected, "a core, 0 to %lu, or nothing", last_core);
        break;
    case MARK_KIND:
        strcpy(expected, "pin, unpin, sleep, wake, fork or end");
        break;
    }
    return FAULT(p, "%s is \"%s\": expected %s", columns[column].name,
                 lbi_excerpt(text, length, shown), expected);
}

static bool parse_whole(const char *text, const char *end, int64_t max, int64_t *ret_value) {
    int64_t value;
    if (lbi_parse_fixed(text, end, 0, &value) != LBI_FIXED_EXACT || value < 0 || value > max)
        return false;
    *ret_value = value;
    return true;
}

static bool parse_seconds(const char *text, const char *end, int64_t least, int64_t *ret_value) {
    int64_t value;
    if (lbi_parse_fixed(text, end, 9, &value) > LBI_FIXED_ROUNDED || value < least)
        return false;
    *ret_value = value;
    return true;
}

static bool parse_mark_kind(const char *text, const char *end, int64_t *ret_value) {
    for (int kind = 0; kind < LBI_MARK_KINDS; kind++)
        if (strlen(lbi_mark_names[kind]) == (size_t)(end - text) &&
            memcmp(lbi_mark_names[kind], text, (size_t)(end - text)) == 0) {
            *ret_value = kind;
            return true;
        }
    return false;
}

static bool parse_value(const parser *p, value_kind kind, const char *text, const char *end,
                        int64_t *ret_value) {
    switch (kind) {
    case TASK:
        return parse_whole(text, end, LB_TASK_MAX, ret_value);
    case NUMBER:
        return parse_whole(text, end, UINT32_MAX, ret_value);
    case SECONDS:
        return parse_seconds(text, end, INT64_MIN, ret_value);
    case SECONDS_OR_NONE:
        return text == end || parse_seconds(text, end, 0, ret_value);
    case CORE:
    case CORE_OR_NONE:
        return (kind == CORE_OR_NONE && text == end) ||
               parse_whole(text, end, last_core_of(p), ret_value);
    case MARK_KIND:
        return parse_mark_kind(text, end, ret_value);
    }
    return false;
}

/* Reads plain digits, the usual case, at the front of [text, end). NULL: parse_whole() has to look.
 */
static const char *parse_digits(const char *text, const char *end, int64_t max,
                                int64_t *ret_value) {
    const char *at = text;
    int64_t value = 0;
    for (; at < end && *at >= '0' && *at <= '9'; at++) {
        value = value * 10 + (*at - '0');
        if (value > max)
            return NULL;
    }
    if (at == text)
        return NULL;
    *ret_value = value;
    return at;
}

/* Reads a field in its usual form without looking for its end first. */
static bool read_fast(parser *p, column_id column, int64_t *ret_value, bool *ret_last) {
    const char *at = NULL;
    int64_t value = 0;
    switch (columns[column].kind) {
    case TASK:
        at = parse_digits(p->csv.at, p->csv.end, LB_TASK_MAX, &value);
        break;
    case NUMBER:
        at = parse_digits(p->csv.at, p->csv.end, UINT32_MAX, &value);
        break;
    case SECONDS:
    case SECONDS_OR_NONE:
        at = lbi_parse_seconds_fast(p->csv.at, p->csv.end, &value);
        break;
    case CORE:
    case CORE_OR_NONE:
        at = parse_digits(p->csv.at, p->csv.end, INT32_MAX, &value);
        if (at != NULL && value >= p->trace->cores)
            return false;
        break;
    case MARK_KIND:
        break;
    }
    if (at == NULL || (value < 0 && columns[column].kind == SECONDS_OR_NONE) ||
        !lbi_csv_ends(&p->csv, at, ret_last))
        return false;
    *ret_value = value;
    return true;
}

static lb_status read_value(parser *p, column_id column, int64_t *ret_value, bool *ret_last) {
    if (column != COLUMN_IGNORED && read_fast(p, column, ret_value, ret_last))
        return LB_OK;
    lbi_csv_field field;
    const char *problem = lbi_csv_read(&p->csv, &field);
    if (problem != NULL)
        return FAULT(p, "%s", problem);
    *ret_last = field.last;
    if (column == COLUMN_IGNORED ||
        parse_value(p, columns[column].kind, field.begin, field.end, ret_value))
        return LB_OK;
    return value_fault(p, column, field.begin, (size_t)(field.end - field.begin));
}

/* ---- rows ---- */

static void look_for(parser *p, uint32_t task, int64_t start_ns, int64_t end_ns) {
    for (size_t i = 0; i < 2; i++) {
        wanted *w = p->wanted[i];
        if (w == NULL || w->line != 0 || w->table != p->table || w->task != task ||
            w->start_ns != start_ns || w->end_ns != end_ns)
            continue;
        w->line = p->line;
        return; /* two equal rows stand in two lines */
    }
}

static lb_status keep_row(parser *p, const int64_t values[COLUMNS]) {
    uint32_t task = (uint32_t)values[COLUMN_TASK];
    int64_t start_ns = values[COLUMN_START], end_ns = values[COLUMN_END];
    if (end_ns < start_ns) {
        char start[LBI_SECONDS_SIZE], end[LBI_SECONDS_SIZE];
        lbi_format_seconds(start_ns, start);
        lbi_format_seconds(end_ns, end);
        return FAULT(p, "end_s is %s: expected start_s, %s, or more", end, start);
    }
    if (!p->keeps) {
        look_for(p, task, start_ns, end_ns);
        return LB_OK;
    }
    bool kept = false;
    if (p->table == UNITS)
        kept = lbi_trace_append_unit(p->trace, &(lb_unit){start_ns, end_ns, values[COLUMN_CPU],
                                                          task, (uint32_t)values[COLUMN_UNIT],
                                                          (int32_t)values[COLUMN_CORE_START],
                                                          (int32_t)values[COLUMN_CORE_END]});
    else if (p->table == SLICES)
        kept = lbi_trace_append_slice(
            p->trace, &(lb_slice){start_ns, end_ns, task, (int32_t)values[COLUMN_CORE]});
    else
        kept = lbi_trace_append_mark(
            p->trace, &(lb_mark){values[COLUMN_TIME], task, (int32_t)values[COLUMN_KIND]});
    return kept ? LB_OK : lbi_error_nomem(p->err, "a trace's rows");
}

static lb_status parse_row(parser *p) {
    int64_t values[COLUMNS + 1] = {
        [COLUMN_CPU] = -1, [COLUMN_CORE_START] = -1, [COLUMN_CORE_END] = -1};
    bool last = false;
    size_t i = 0;
    for (; i < p->header_count && !last; i++) {
        lb_status status = read_value(p, p->header[i], &values[p->header[i]], &last);
        if (status != LB_OK)
            return status;
    }
    if (!last)
        return FAULT(p, "more than %zu fields: expected as many as in the header", i);
    if (i < p->header_count)
        return FAULT(p, "%zu field%s: expected %zu, as in the header", i, i == 1 ? "" : "s",
                     p->header_count);
    return keep_row(p, values);
}

static lb_status skip_row(parser *p) {
    lbi_csv_field field;
    do {
        const char *problem = lbi_csv_read(&p->csv, &field);
        if (problem != NULL)
            return FAULT(p, "%s", problem);
    } while (!field.last);
    return LB_OK;
}

/* ---- headers ---- */

/* A name is never escaped: no column's name has a quote. */
static column_id find_column(table_id table, const lbi_csv_field *field) {
    size_t length = (size_t)(field->end - field->begin);
    for (int i = 0; i < COLUMNS; i++)
        if ((columns[i].tables & IN(table)) != 0 && strlen(columns[i].name) == length &&
            memcmp(columns[i].name, field->begin, length) == 0)
            return (column_id)i;
    return COLUMN_IGNORED;
}

static lb_status check_header(parser *p, const size_t seen[COLUMNS]) {
    for (int i = 0; i < COLUMNS; i++)
        if ((columns[i].required & IN(p->table)) != 0 && seen[i] == 0)
            return FAULT(p, "the header has no column %s: expected one in the table of %s",
                         columns[i].name, table_names[p->table]);
    return LB_OK;
}

static lb_status parse_header(parser *p) {
    if (p->trace == NULL)
        return FAULT(p, "no cores yet: expected \"# cores: N\" before the header");
    size_t seen[COLUMNS + 1] = {0};
    lbi_csv_field field;
    p->header_count = 0;
    do {
        const char *problem = lbi_csv_read(&p->csv, &field);
        if (problem != NULL)
            return FAULT(p, "%s", problem);
        column_id column = find_column(p->table, &field);
        if (column != COLUMN_IGNORED && seen[column]++ > 0)
            return FAULT(p, "column %s comes twice: expected once", columns[column].name);
        if (!lbi_array_reserve(&p->header, &p->header_capacity, p->header_count + 1, 1))
            return lbi_error_nomem(p->err, "a header");
        p->header[p->header_count++] = (uint8_t)column;
    } while (!field.last);
    p->has_header = p->any_header = true;
    p->tables |= IN(p->table);
    if (p->table == UNITS)
        p->numbered = seen[COLUMN_UNIT] > 0;
    return check_header(p, seen);
}

/* ---- metadata ---- */

static bool is(const char *text, size_t length, const char *word) {
    return strlen(word) == length && memcmp(text, word, length) == 0;
}

static lb_status set_cores(parser *p, const char *value, size_t length) {
    char shown[LBI_EXCERPT_SIZE];
    uint64_t cores = 0;
    if (p->any_header)
        return FAULT(p, "cores after a header: expected before it");
    if (p->trace != NULL)
        return FAULT(p, "cores comes twice: expected once");
    if (!lbi_parse_unsigned(value, value + length, UINT32_MAX, &cores) || cores == 0)
        return FAULT(p, "cores is \"%s\": expected a whole number, 1 to %lu",
                     lbi_excerpt(value, length, shown), (unsigned long)UINT32_MAX);
    return lb_trace_new((uint32_t)cores, &p->trace, p->err);
}

static lb_status set_unit_work(parser *p, const char *value, size_t length) {
    char shown[LBI_EXCERPT_SIZE];
    double seconds = 0;
    if (p->unit_work != 0)
        return FAULT(p, "unit_work_s comes twice: expected once");
    if (!lbi_parse_number(value, value + length, &seconds) || !(seconds > 0) || isinf(seconds))
        return FAULT(p, "unit_work_s is \"%s\": expected seconds above 0",
                     lbi_excerpt(value, length, shown));
    p->unit_work = seconds;
    return LB_OK;
}

static lb_status begin_table(parser *p, const char *name, size_t length) {
    if (length == 0)
        return FAULT(p, "table is \"\": expected a name");
    if (p->table != UNITS && !p->has_header)
        return FAULT(p, "the table before has no header: expected one");
    p->table = SKIPPED;
    p->has_header = false;
    for (int i = SLICES; i < TABLES; i++)
        if (is(name, length, table_names[i]))
            p->table = (table_id)i;
    if (p->table != SKIPPED && (p->tables & IN(p->table)) != 0)
        return FAULT(p, "table %s comes twice: expected once", table_names[p->table]);
    return LB_OK;
}

static lb_status keep_meta(parser *p, const char *key, size_t key_length, const char *value,
                           size_t value_length) {
    char shown[LBI_EXCERPT_SIZE];
    const char *problem = lbi_meta_key_fault(key, key_length);
    if (problem != NULL)
        return FAULT(p, "metadata key \"%s\": %s", lbi_excerpt(key, key_length, shown), problem);
    problem = lbi_meta_value_fault(value, value_length);
    if (problem != NULL)
        return FAULT(p, "metadata value \"%s\": %s", lbi_excerpt(value, value_length, shown),
                     problem);
    if (is(key, key_length, "cpus"))
        p->cpus_line = p->line;
    if (is(key, key_length, "groups"))
        p->groups_line = p->line;
    if (!lbi_meta_append(&p->meta, key, key_length, value, value_length))
        return lbi_error_nomem(p->err, "metadata");
    return LB_OK;
}

static lb_status parse_meta(parser *p) {
    const char *begin, *end, *key, *value;
    size_t key_length, value_length;
    lbi_csv_line(&p->csv, &begin, &end);
    if (!lbi_meta_split(begin, end, &key, &key_length, &value, &value_length))
        return LB_OK;
    if (is(key, key_length, LBI_KEY_TRACE))
        return FAULT(p, LBI_KEY_TRACE " comes twice: expected once, in the first line");
    if (is(key, key_length, LBI_KEY_TABLE))
        return begin_table(p, value, value_length);
    if (!p->keeps)
        return LB_OK;
    if (is(key, key_length, LBI_KEY_CORES))
        return set_cores(p, value, value_length);
    if (is(key, key_length, LBI_KEY_UNIT_WORK))
        return set_unit_work(p, value, value_length);
    return keep_meta(p, key, key_length, value, value_length);
}

static lb_status parse_first_line(parser *p) {
    const char *begin, *end, *key, *value;
    size_t key_length, value_length;
    char shown[LBI_EXCERPT_SIZE];
    const char *const expected = "# " LBI_KEY_TRACE ": 1";
    if (p->csv.at == p->csv.end)
        return FAULT(p, "nothing is there: expected \"%s\"", expected);
    lbi_csv_line(&p->csv, &begin, &end);
    if (begin == end || *begin != '#' ||
        !lbi_meta_split(begin, end, &key, &key_length, &value, &value_length) ||
        !is(key, key_length, LBI_KEY_TRACE))
        return FAULT(p, "\"%s\": expected \"%s\" first",
                     lbi_excerpt(begin, (size_t)(end - begin), shown), expected);
    if (!is(value, value_length, "1"))
        return FAULT(p, LBI_KEY_TRACE " is \"%s\": expected 1, the version that is known",
                     lbi_excerpt(value, value_length, shown));
    return LB_OK;
}

/* ---- the whole ---- */

static lb_status parse_line(parser *p) {
    p->line = p->csv.line;
    if (*p->csv.at == '#')
        return parse_meta(p);
    if (lbi_csv_empty_line(&p->csv))
        return LB_OK;
    if (p->table == SKIPPED) {
        p->has_header = p->any_header = true;
        return skip_row(p);
    }
    return p->has_header ? parse_row(p) : parse_header(p);
}

static lb_status parse_text(parser *p, const char *text, size_t length) {
    lbi_csv_begin(&p->csv, text, length);
    p->line = 1;
    lb_status status = parse_first_line(p);
    while (status == LB_OK && p->csv.at != p->csv.end)
        status = parse_line(p);
    if (status != LB_OK)
        return status;
    p->line = p->csv.line;
    if (p->trace == NULL)
        return FAULT(p, "no cores: expected \"# cores: N\"");
    if (!p->has_header && (p->table != UNITS || p->tables == 0))
        return FAULT(p, "no header: expected one, such as \"task,unit,start_s,end_s\"");
    return LB_OK;
}

/* Metadata that can be looked at only when all of it is there. */
static lb_status finish_meta(parser *p) {
    if (!lbi_meta_unique(&p->meta))
        return lbi_error_nomem(p->err, "metadata");
    static const char *const keys[] = {"cpus", "groups"};
    const size_t lines[] = {p->cpus_line, p->groups_line};
    for (size_t i = 0; i < 2; i++) {
        if (lines[i] == 0)
            continue;
        lb_error inner;
        lb_status status =
            lbi_cores_check(keys[i], lbi_meta_get(&p->meta, keys[i]), p->trace->cores, &inner);
        if (status == LB_ERR_INVALID)
            return fault(p, lines[i], "%s", inner.message);
        if (status != LB_OK)
            return lbi_error_nomem(p->err, "metadata");
    }
    if (p->unit_work != 0)
        p->trace->unit_work = p->unit_work;
    p->trace->meta = p->meta;
    p->meta = (lbi_meta){0};
    return LB_OK;
}

static wanted want(const lb_trace *trace, lbi_conflict_kind kind, size_t place) {
    if (kind == LBI_CONFLICT_SLICES) {
        const lb_slice *slice = &trace->slices[place];
        return (wanted){SLICES, slice->task, slice->start_ns, slice->end_ns, 0};
    }
    const lb_unit *unit = &trace->units[place];
    return (wanted){UNITS, unit->task, unit->start_ns, unit->end_ns, 0};
}

/* Lines are not kept with rows, which nearly always are in order: for a conflict the text is read
 * once more. */
static lb_status conflict_fault(parser *p, const lbi_conflict *conflict, const char *text,
                                size_t length) {
    wanted former = want(p->trace, conflict->kind, conflict->former);
    wanted latter = want(p->trace, conflict->kind, conflict->latter);
    char words[200];
    lbi_conflict_describe(p->trace, conflict, words, sizeof words);
    parser again = {.trace = p->trace, .wanted = {&former, &latter}, .err = p->err};
    lb_status status = parse_text(&again, text, length);
    free(again.header);
    if (status != LB_OK)
        return status;
    size_t first = former.line, second = latter.line;
    if (second < first) {
        first = latter.line;
        second = former.line;
    }
    return fault(p, second, "%s (see line %zu)", words, first);
}

static lb_status finish(parser *p, const char *text, size_t length) {
    lb_status status = finish_meta(p);
    if (status != LB_OK)
        return status;
    lbi_conflict conflict;
    if (!lbi_trace_order(p->trace, !p->numbered, &conflict))
        return lbi_error_nomem(p->err, "sorting a trace");
    if (conflict.kind != LBI_CONFLICT_NONE)
        return conflict_fault(p, &conflict, text, length);
    return LB_OK;
}

lb_status lb_trace_parse(const char *text, size_t length, lb_trace **ret_trace, lb_error *err) {
    parser p = {.keeps = true, .err = err};
    lb_status status = parse_text(&p, text, length);
    if (status == LB_OK)
        status = finish(&p, text, length);
    free(p.header);
    lbi_meta_free(&p.meta);
    if (status != LB_OK) {
        lb_trace_free(p.trace);
        return status;
    }
    *ret_trace = p.trace;
    return LB_OK;
}

lb_status lb_trace_load(const char *path, lb_trace **ret_trace, lb_error *err) {
    char *text;
    size_t length;
    lb_status status = lbi_file_read(path, &text, &length, err);
    if (status != LB_OK)
        return status;
    status = lb_trace_parse(text, length, ret_trace, err);
    free(text);
    return status;
}
