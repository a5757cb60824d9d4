/* SPDX-License-Identifier: BSD-3-Clause */
#include "table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "trace/csv.h"
#include "trace/table_meta.h"

static int compare_names(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sorts a copy, so that a header of a million names is checked in no time. */
static lb_status check_different(const char *const *names, size_t columns, lb_error *err) {
    const char **sorted = lbi_array_new(columns, sizeof *sorted);
    if (sorted == NULL)
        return lbi_error_nomem(err, "a table's names");
    lb_status status = LB_OK;
    if (columns > 0)
        memcpy(sorted, names, columns * sizeof *sorted);
    qsort(sorted, columns, sizeof *sorted, compare_names);
    for (size_t i = 1; i < columns && status == LB_OK; i++) {
        char shown[LBI_EXCERPT_SIZE];
        if (strcmp(sorted[i], sorted[i - 1]) == 0)
            status = lbi_error(err, LB_ERR_INVALID,
                               "two columns are named \"%s\": expected different names",
                               lbi_excerpt(sorted[i], strlen(sorted[i]), shown));
    }
    free(sorted);
    return status;
}

static lb_status check_names(const char *const *names, size_t columns, lb_error *err) {
    for (size_t i = 0; i < columns; i++) {
        char shown[LBI_EXCERPT_SIZE];
        size_t length = strlen(names[i]);
        if (length == 0)
            return lbi_error(err, LB_ERR_INVALID, "names[%zu] is empty: expected a name", i);
        if (lbi_has_control(names[i], length))
            return lbi_error(err, LB_ERR_INVALID,
                             "names[%zu] is \"%s\": expected no control characters", i,
                             lbi_excerpt(names[i], length, shown));
        if (i > 0 && strcmp(names[i], LBI_LABEL) == 0)
            return lbi_error(err, LB_ERR_INVALID,
                             "names[%zu] is \"" LBI_LABEL "\": expected that as names[0] only", i);
    }
    return check_different(names, columns, err);
}

lb_status lb_table_new(const char *const *names, size_t columns, lb_table **ret_table,
                       lb_error *err) {
    lb_status status = check_names(names, columns, err);
    if (status != LB_OK)
        return status;
    lb_table *table = calloc(1, sizeof *table);
    if (table == NULL)
        return lbi_error_nomem(err, "a table");
    table->names = lbi_array_new(columns, sizeof *table->names);
    for (size_t i = 0; table->names != NULL && i < columns; i++) {
        table->names[i] = lbi_string_copy(names[i]);
        if (table->names[i] == NULL)
            break;
        table->columns++;
    }
    if (table->names == NULL || table->columns < columns) {
        lb_table_free(table);
        return lbi_error_nomem(err, "a table's names");
    }
    *ret_table = table;
    return LB_OK;
}

void lb_table_free(lb_table *table) {
    if (table == NULL)
        return;
    lbi_meta_free(&table->meta);
    for (size_t i = 0; i < table->columns; i++)
        free(table->names[i]);
    for (size_t i = 0; i < table->rows; i++)
        free(table->labels[i]);
    free(table->names);
    free(table->values);
    free(table->labels);
    free(table);
}

/* Room for one row more; false: no memory. */
static bool reserve_row(lb_table *table) {
    size_t columns = table->columns, rows = table->rows + 1;
    if (columns > 0 && rows > SIZE_MAX / columns)
        return false;
    return lbi_array_reserve(&table->labels, &table->label_capacity, rows, sizeof *table->labels) &&
           lbi_array_reserve(&table->values, &table->value_capacity, rows * columns,
                             sizeof *table->values);
}

lb_status lb_table_add_row(lb_table *table, const char *label, const double *values,
                           lb_error *err) {
    size_t length = label == NULL ? 0 : strlen(label);
    char shown[LBI_EXCERPT_SIZE], *copy = NULL;
    if (lbi_has_control(label, length))
        return lbi_error(err, LB_ERR_INVALID, "label is \"%s\": expected no control characters",
                         lbi_excerpt(label, length, shown));
    if (length > 0)
        copy = lbi_string_copy(label);
    if ((length > 0 && copy == NULL) || !reserve_row(table)) {
        free(copy);
        return lbi_error_nomem(err, "a table's row");
    }
    if (table->columns > 0)
        memcpy(table->values + table->rows * table->columns, values,
               table->columns * sizeof *values);
    table->labels[table->rows++] = copy;
    return LB_OK;
}

lb_status lb_table_set_meta(lb_table *table, const char *key, const char *value, lb_error *err) {
    return lbi_meta_set(&table->meta, key, value, err);
}

lb_status lbi_table_copy_meta(lb_table *to, const lb_table *from, const char *prefix,
                              lb_error *err) {
    lb_status status = LB_OK;
    for (size_t i = 0; i < from->meta.count && status == LB_OK; i++) {
        const lbi_meta_entry *entry = &from->meta.entries[i];
        lbi_text text = {0};
        lbi_text_string(&text, prefix);
        lbi_text_string(&text, entry->key);
        char *key = lbi_text_take(&text, NULL);
        if (key == NULL)
            return lbi_error_nomem(err, "metadata");
        status = lb_table_set_meta(to, key, entry->value, err);
        free(key);
    }
    return status;
}

size_t lb_table_rows(const lb_table *table) {
    return table->rows;
}

size_t lb_table_columns(const lb_table *table) {
    return table->columns;
}

const char *lb_table_name(const lb_table *table, size_t column) {
    return column < table->columns ? table->names[column] : NULL;
}

const char *lb_table_label(const lb_table *table, size_t row) {
    if (row >= table->rows)
        return NULL;
    return table->labels[row] == NULL ? "" : table->labels[row];
}

const char *lb_table_meta(const lb_table *table, const char *key) {
    return lbi_meta_get(&table->meta, key);
}

double lb_table_value(const lb_table *table, size_t row, size_t column) {
    if (row >= table->rows || column >= table->columns)
        return NAN;
    return table->values[row * table->columns + column];
}

double lb_table_get(const lb_table *table, size_t row, const char *name) {
    for (size_t column = 0; column < table->columns; column++)
        if (strcmp(table->names[column], name) == 0)
            return lb_table_value(table, row, column);
    return NAN;
}
