/* SPDX-License-Identifier: BSD-3-Clause */
/* RFC 4180 records in memory, read field by field. Lines end with LF or CRLF. */
#ifndef LBI_TRACE_CSV_H
#define LBI_TRACE_CSV_H

#include <stdbool.h>
#include <stddef.h>

typedef struct lbi_csv {
    const char *at, *end;
    size_t line; /* of `at`, from 1 */
} lbi_csv;

/* A field as it stands in the text, without its outer quotes. */
typedef struct lbi_csv_field {
    const char *begin, *end;
    bool escaped; /* holds doubled quotes: lbi_csv_unescape() */
    bool last;    /* of its record */
} lbi_csv_field;

/* Begins to read; a byte order mark is passed over. `text` may be NULL where length is 0. */
void lbi_csv_begin(lbi_csv *csv, const char *text, size_t length);

/* At the beginning of a line: takes the line to [*ret_begin, *ret_end), without its end. */
void lbi_csv_line(lbi_csv *csv, const char **ret_begin, const char **ret_end);

/* At the beginning of a line: whether it is empty, and then it is passed over. */
bool lbi_csv_empty_line(lbi_csv *csv);

/* Reads the field at `at`, and passes over what ends it. NULL, or what was expected. */
const char *lbi_csv_read(lbi_csv *csv, lbi_csv_field *ret_field);

/* If a field ends at `at` (the caller has read it himself), passes over what ends it. */
static inline bool lbi_csv_ends(lbi_csv *csv, const char *at, bool *ret_last) {
    if (at == csv->end) {
        csv->at = at;
        *ret_last = true;
        return true;
    }
    if (*at == ',') {
        csv->at = at + 1;
        *ret_last = false;
        return true;
    }
    if (*at == '\r') {
        at++;
        if (at != csv->end && *at != '\n')
            return false;
        if (at == csv->end)
            at--;
    } else if (*at != '\n') {
        return false;
    }
    csv->at = at + 1;
    csv->line++;
    *ret_last = true;
    return true;
}

/* Copies a field to `text` with doubled quotes made single; returns the length. */
size_t lbi_csv_unescape(const lbi_csv_field *field, char *text);

/* Whether there is a control character (0 to 31, 127). */
bool lbi_has_control(const char *text, size_t length);

#define LBI_EXCERPT_SIZE 48
/* The beginning of a text, fit for a message: cut between characters, no control characters.
 * Returns `buffer`. */
const char *lbi_excerpt(const char *text, size_t length, char buffer[LBI_EXCERPT_SIZE]);

#endif
