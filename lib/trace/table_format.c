/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables as text: for people, for programs, for spreadsheets. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "table.h"

static bool has_labels(const lb_table *table) {
    for (size_t row = 0; row < table->rows; row++)
        if (table->labels[row] != NULL)
            return true;
    return false;
}

/* ---- for people ---- */

/* How many characters of UTF-8 there are; what does not begin one takes no room. */
static size_t width_of(const char *text) {
    size_t width = 0;
    for (; *text != '\0'; text++)
        width += (*text & 0xc0) != 0x80;
    return width;
}

static void write_padded(lbi_text *text, const char *string, size_t width, bool right) {
    size_t own = width_of(string), pad = own < width ? width - own : 0;
    if (!right)
        lbi_text_string(text, string);
    while (pad-- > 0)
        lbi_text_append(text, " ", 1);
    if (right)
        lbi_text_string(text, string);
}

/* Six digits are as many as people compare; CSV and JSON have all of them. */
static void show_value(double value, char buffer[LBI_NUMBER_SIZE]) {
    if (isnan(value))
        strcpy(buffer, "-");
    else
        lbi_snprintf(buffer, LBI_NUMBER_SIZE, "%.6g", value);
}

static size_t column_width(const lb_table *table, size_t column) {
    size_t width = width_of(table->names[column]);
    for (size_t row = 0; row < table->rows; row++) {
        char shown[LBI_NUMBER_SIZE];
        show_value(lb_table_value(table, row, column), shown);
        if (strlen(shown) > width)
            width = strlen(shown);
    }
    return width;
}

static size_t label_width(const lb_table *table) {
    size_t width = 0;
    for (size_t row = 0; row < table->rows; row++) {
        size_t own = width_of(lb_table_label(table, row));
        if (own > width)
            width = own;
    }
    return width;
}

static void write_text_lines(const lb_table *table, const size_t *widths, lbi_text *text) {
    bool labels = has_labels(table);
    size_t first = label_width(table);
    if (labels)
        write_padded(text, "", first, false);
    for (size_t column = 0; column < table->columns; column++) {
        lbi_text_string(text, labels || column > 0 ? "  " : "");
        write_padded(text, table->names[column], widths[column], true);
    }
    lbi_text_string(text, "\n");
    for (size_t row = 0; row < table->rows; row++) {
        if (labels)
            write_padded(text, lb_table_label(table, row), first, false);
        for (size_t column = 0; column < table->columns; column++) {
            char shown[LBI_NUMBER_SIZE];
            show_value(lb_table_value(table, row, column), shown);
            lbi_text_string(text, labels || column > 0 ? "  " : "");
            write_padded(text, shown, widths[column], true);
        }
        lbi_text_string(text, "\n");
    }
}

static void write_text(const lb_table *table, lbi_text *text) {
    for (size_t i = 0; i < table->meta.count; i++) {
        lbi_text_string(text, table->meta.entries[i].key);
        lbi_text_string(text, ": ");
        lbi_text_string(text, table->meta.entries[i].value);
        lbi_text_string(text, "\n");
    }
    size_t *widths = lbi_array_new(table->columns, sizeof *widths);
    if (widths == NULL) {
        text->failed = true;
        return;
    }
    for (size_t column = 0; column < table->columns; column++)
        widths[column] = column_width(table, column);
    write_text_lines(table, widths, text);
    free(widths);
}

/* ---- for programs ---- */

static void write_json_row(const lb_table *table, size_t row, lbi_text *text) {
    lbi_text_string(text, "[");
    for (size_t column = 0; column < table->columns; column++) {
        lbi_text_string(text, column > 0 ? "," : "");
        lbi_text_json_number(text, lb_table_value(table, row, column));
    }
    lbi_text_string(text, "]");
}

static void write_json(const lb_table *table, lbi_text *text) {
    lbi_text_string(text, "{\"metadata\":{");
    lbi_meta_write_json(&table->meta, text, false);
    lbi_text_string(text, "},\"columns\":[");
    for (size_t column = 0; column < table->columns; column++) {
        lbi_text_string(text, column > 0 ? "," : "");
        lbi_text_json_string(text, table->names[column]);
    }
    if (has_labels(table)) {
        lbi_text_string(text, "],\"labels\":[");
        for (size_t row = 0; row < table->rows; row++) {
            lbi_text_string(text, row > 0 ? "," : "");
            lbi_text_json_string(text, lb_table_label(table, row));
        }
    }
    lbi_text_string(text, "],\"rows\":[");
    for (size_t row = 0; row < table->rows; row++) {
        lbi_text_string(text, row > 0 ? ",\n" : "\n");
        write_json_row(table, row, text);
    }
    lbi_text_string(text, "\n]}\n");
}

/* ---- for spreadsheets ---- */

/* What begins a line must not be taken for metadata, a byte order mark or an empty line. */
static void write_csv_first(lbi_text *text, const char *string) {
    bool quoted = *string == '#' || *string == '\0' || strncmp(string, "\xef\xbb\xbf", 3) == 0;
    if (quoted && strpbrk(string, ",\"\r\n") == NULL) {
        lbi_text_string(text, "\"");
        lbi_text_string(text, string);
        lbi_text_string(text, "\"");
        return;
    }
    lbi_text_csv_field(text, string);
}

static void write_csv_value(lbi_text *text, double value, bool alone) {
    if (!isnan(value))
        lbi_text_number(text, value);
    else if (alone)
        lbi_text_string(text, "\"\"");
}

static void write_csv(const lb_table *table, lbi_text *text) {
    /* A column of numbers that is named so is told from labels by labels before it. */
    bool labels =
        has_labels(table) || table->columns == 0 || strcmp(table->names[0], LBI_LABEL) == 0;
    lbi_meta_write(&table->meta, text);
    if (labels)
        lbi_text_string(text, LBI_LABEL);
    for (size_t column = 0; column < table->columns; column++) {
        lbi_text_string(text, labels || column > 0 ? "," : "");
        if (labels || column > 0)
            lbi_text_csv_field(text, table->names[column]);
        else
            write_csv_first(text, table->names[column]);
    }
    lbi_text_string(text, "\n");
    for (size_t row = 0; row < table->rows; row++) {
        if (labels)
            write_csv_first(text, lb_table_label(table, row));
        for (size_t column = 0; column < table->columns; column++) {
            lbi_text_string(text, labels || column > 0 ? "," : "");
            write_csv_value(text, lb_table_value(table, row, column),
                            !labels && table->columns == 1);
        }
        lbi_text_string(text, "\n");
    }
}

lb_status lb_table_format(const lb_table *table, lb_format format, char **ret_text, lb_error *err) {
    lbi_text text = {0};
    switch (format) {
    case LB_FORMAT_TEXT:
        write_text(table, &text);
        break;
    case LB_FORMAT_JSON:
        write_json(table, &text);
        break;
    case LB_FORMAT_CSV:
        write_csv(table, &text);
        break;
    default:
        return lbi_error(err, LB_ERR_INVALID, "format is %d: expected an lb_format, 0 to 2",
                         (int)format);
    }
    char *taken = lbi_text_take(&text, NULL);
    if (taken == NULL)
        return lbi_error_nomem(err, "a table as text");
    *ret_text = taken;
    return LB_OK;
}
