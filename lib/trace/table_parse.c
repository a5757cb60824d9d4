/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads tables in CSV. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "table.h"
#include "trace/csv.h"

typedef struct parser {
    lbi_csv csv;
    lbi_meta meta;
    lb_table *table; /* NULL until the header is read */
    bool labels;     /* the first field of a row is one */
    double *values;  /* of one row */
    size_t line;     /* where the present record begins */
    lb_error *err;
} parser;

#define FAULT(p_, ...) lbi_error((p_)->err, LB_ERR_FORMAT, __VA_ARGS__)

/* A copy of the field, terminated. */
static lb_status copy_field(parser *p, const lbi_csv_field *field, char **ret_copy) {
    size_t length = (size_t)(field->end - field->begin);
    char shown[LBI_EXCERPT_SIZE];
    if (lbi_has_control(field->begin, length))
        return FAULT(p, "line %zu: \"%s\": expected no control characters", p->line,
                     lbi_excerpt(field->begin, length, shown));
    char *copy = malloc(length + 1);
    if (copy == NULL)
        return lbi_error_nomem(p->err, "a field");
    copy[lbi_csv_unescape(field, copy)] = '\0';
    *ret_copy = copy;
    return LB_OK;
}

static lb_status read_field(parser *p, lbi_csv_field *ret_field) {
    const char *problem = lbi_csv_read(&p->csv, ret_field);
    return problem == NULL ? LB_OK : FAULT(p, "line %zu: %s", p->line, problem);
}

/* The fields of the header, with "label" among them. */
static lb_status read_names(parser *p, char ***ret_names, size_t *ret_n) {
    size_t capacity = 0;
    lbi_csv_field field;
    do {
        lb_status status = read_field(p, &field);
        if (status != LB_OK)
            return status;
        if (!lbi_array_reserve(ret_names, &capacity, *ret_n + 1, sizeof **ret_names))
            return lbi_error_nomem(p->err, "a table's names");
        status = copy_field(p, &field, &(*ret_names)[*ret_n]);
        if (status != LB_OK)
            return status;
        ++*ret_n;
    } while (!field.last);
    return LB_OK;
}

static lb_status make_table(parser *p, const char *const *names, size_t n) {
    p->labels = strcmp(names[0], LBI_LABEL) == 0;
    lb_error inner;
    lb_status status = lb_table_new(names + p->labels, n - p->labels, &p->table, &inner);
    if (status == LB_ERR_INVALID)
        return FAULT(p, "line %zu: %s", p->line, inner.message);
    if (status != LB_OK)
        return lbi_error_nomem(p->err, "a table");
    p->values = lbi_array_new(n, sizeof *p->values);
    return p->values != NULL ? LB_OK : lbi_error_nomem(p->err, "a table's row");
}

static lb_status parse_header(parser *p) {
    char **names = NULL;
    size_t n = 0;
    lb_status status = read_names(p, &names, &n);
    if (status == LB_OK)
        status = make_table(p, (const char *const *)names, n);
    for (size_t i = 0; i < n; i++)
        free(names[i]);
    free(names);
    return status;
}

static lb_status parse_value(parser *p, const lbi_csv_field *field, size_t column) {
    size_t length = (size_t)(field->end - field->begin);
    double value = NAN;
    /* A number too large for a double is none; "inf" is. */
    bool good = length == 0 || lbi_parse_number(field->begin, field->end, &value);
    if (good && isinf(value) && field->end[-1] != 'f')
        good = false;
    if (good) {
        p->values[column] = value;
        return LB_OK;
    }
    char shown[LBI_EXCERPT_SIZE], name[LBI_EXCERPT_SIZE];
    const char *full_name = p->table->names[column];
    return FAULT(p, "line %zu: %s is \"%s\": expected a number, or nothing", p->line,
                 lbi_excerpt(full_name, strlen(full_name), name),
                 lbi_excerpt(field->begin, length, shown));
}

/* Reads the label, if rows have one, and the values. */
static lb_status read_row(parser *p, char **ret_label) {
    size_t expected = p->table->columns + p->labels, n = 0;
    lbi_csv_field field;
    do {
        lb_status status = read_field(p, &field);
        if (status != LB_OK)
            return status;
        if (n == expected)
            return FAULT(p, "line %zu: more than %zu fields: expected as many as in the header",
                         p->line, n);
        status = p->labels && n == 0 ? copy_field(p, &field, ret_label)
                                     : parse_value(p, &field, n - p->labels);
        if (status != LB_OK)
            return status;
        n++;
    } while (!field.last);
    if (n < expected)
        return FAULT(p, "line %zu: %zu field%s: expected %zu, as in the header", p->line, n,
                     n == 1 ? "" : "s", expected);
    return LB_OK;
}

static lb_status parse_row(parser *p) {
    char *label = NULL;
    lb_status status = read_row(p, &label);
    if (status == LB_OK)
        status = lb_table_add_row(p->table, label, p->values, p->err);
    free(label);
    return status;
}

static lb_status parse_meta(parser *p) {
    const char *begin, *end, *key, *value;
    size_t key_length, value_length;
    char shown[LBI_EXCERPT_SIZE];
    lbi_csv_line(&p->csv, &begin, &end);
    if (!lbi_meta_split(begin, end, &key, &key_length, &value, &value_length))
        return LB_OK;
    const char *problem = lbi_meta_key_fault(key, key_length);
    if (problem != NULL)
        return FAULT(p, "line %zu: metadata key \"%s\": %s", p->line,
                     lbi_excerpt(key, key_length, shown), problem);
    problem = lbi_meta_value_fault(value, value_length);
    if (problem != NULL)
        return FAULT(p, "line %zu: metadata value \"%s\": %s", p->line,
                     lbi_excerpt(value, value_length, shown), problem);
    if (!lbi_meta_append(&p->meta, key, key_length, value, value_length))
        return lbi_error_nomem(p->err, "metadata");
    return LB_OK;
}

static lb_status parse_line(parser *p) {
    p->line = p->csv.line;
    if (*p->csv.at == '#')
        return parse_meta(p);
    if (lbi_csv_empty_line(&p->csv))
        return LB_OK;
    return p->table == NULL ? parse_header(p) : parse_row(p);
}

static lb_status parse_text(parser *p) {
    lb_status status = LB_OK;
    while (status == LB_OK && p->csv.at != p->csv.end)
        status = parse_line(p);
    if (status != LB_OK)
        return status;
    if (p->table == NULL)
        return FAULT(p, "line %zu: no header: expected a row of column names", p->csv.line);
    if (!lbi_meta_unique(&p->meta))
        return lbi_error_nomem(p->err, "metadata");
    p->table->meta = p->meta;
    p->meta = (lbi_meta){0};
    return LB_OK;
}

lb_status lb_table_parse(const char *csv, size_t length, lb_table **ret_table, lb_error *err) {
    parser p = {.err = err};
    lbi_csv_begin(&p.csv, csv, length);
    lb_status status = parse_text(&p);
    free(p.values);
    lbi_meta_free(&p.meta);
    if (status != LB_OK) {
        lb_table_free(p.table);
        return status;
    }
    *ret_table = p.table;
    return LB_OK;
}
