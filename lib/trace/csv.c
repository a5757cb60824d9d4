/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/csv.h"

#include <string.h>

#define BYTE_ORDER_MARK "\xef\xbb\xbf"

void lbi_csv_begin(lbi_csv *csv, const char *text, size_t length) {
    if (length == 0)
        text = ""; /* so that arithmetic on it is defined */
    *csv = (lbi_csv){text, text + length, 1};
    if (length >= 3 && memcmp(text, BYTE_ORDER_MARK, 3) == 0)
        csv->at += 3;
}

void lbi_csv_line(lbi_csv *csv, const char **ret_begin, const char **ret_end) {
    const char *begin = csv->at;
    const char *end = memchr(begin, '\n', (size_t)(csv->end - begin));
    if (end == NULL) {
        csv->at = end = csv->end;
    } else {
        csv->at = end + 1;
        csv->line++;
    }
    if (end > begin && end[-1] == '\r')
        end--;
    *ret_begin = begin;
    *ret_end = end;
}

bool lbi_csv_empty_line(lbi_csv *csv) {
    bool last;
    return *csv->at != ',' && lbi_csv_ends(csv, csv->at, &last);
}

/* `at` is behind the opening quote. */
static const char *read_quoted(lbi_csv *csv, lbi_csv_field *ret_field) {
    const char *at = csv->at;
    size_t lines = 0;
    *ret_field = (lbi_csv_field){.begin = at};
    for (;; at++) {
        if (at == csv->end)
            return "expected a closing quote";
        if (*at == '\n')
            lines++;
        if (*at != '"')
            continue;
        if (at + 1 == csv->end || at[1] != '"')
            break;
        ret_field->escaped = true;
        at++;
    }
    ret_field->end = at;
    if (!lbi_csv_ends(csv, at + 1, &ret_field->last))
        return "expected a comma or the line's end behind a closing quote";
    csv->line += lines;
    return NULL;
}

const char *lbi_csv_read(lbi_csv *csv, lbi_csv_field *ret_field) {
    if (csv->at != csv->end && *csv->at == '"') {
        csv->at++;
        return read_quoted(csv, ret_field);
    }
    const char *at = csv->at;
    *ret_field = (lbi_csv_field){.begin = at};
    while (!lbi_csv_ends(csv, at, &ret_field->last))
        at++;
    ret_field->end = at;
    return NULL;
}

size_t lbi_csv_unescape(const lbi_csv_field *field, char *text) {
    size_t length = 0;
    for (const char *at = field->begin; at < field->end; at++) {
        text[length++] = *at;
        if (field->escaped && *at == '"')
            at++;
    }
    return length;
}

static bool is_control(char c) {
    return (unsigned char)c < 0x20 || c == 0x7f;
}

bool lbi_has_control(const char *text, size_t length) {
    for (size_t i = 0; i < length; i++)
        if (is_control(text[i]))
            return true;
    return false;
}

const char *lbi_excerpt(const char *text, size_t length, char buffer[LBI_EXCERPT_SIZE]) {
    size_t shown = length;
    if (length >= LBI_EXCERPT_SIZE - 3) {
        shown = LBI_EXCERPT_SIZE - 4;
        while (shown > 0 && (text[shown] & 0xc0) == 0x80)
            shown--;
    }
    for (size_t i = 0; i < shown; i++)
        buffer[i] = is_control(text[i]) ? '?' : text[i];
    strcpy(buffer + shown, shown < length ? "..." : "");
    return buffer;
}
