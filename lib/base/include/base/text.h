/* SPDX-License-Identifier: BSD-3-Clause */
/* Text that grows, and numbers in it, independent of the locale. */
#ifndef LBI_BASE_TEXT_H
#define LBI_BASE_TEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* vsnprintf() as in the C locale. */
int lbi_vsnprintf(char *buffer, size_t size, const char *format, va_list arguments)
    LBI_PRINTF(3, 0);
int lbi_snprintf(char *buffer, size_t size, const char *format, ...) LBI_PRINTF(3, 4);

/* The system's words for an error number, not translated. */
void lbi_strerror(int os_errno, char *buffer, size_t size);

#define LBI_NUMBER_SIZE 32
/* The shortest decimal that reads back as `value`; "nan", "inf", "-inf" for what has none. */
void lbi_format_number(double value, char buffer[LBI_NUMBER_SIZE]);

/* Reads all of [text, end) as a decimal number (exponent allowed; no spaces, no hexadecimal; "nan"
 * and "inf" as lbi_format_number() writes them). False: it is none. */
bool lbi_parse_number(const char *text, const char *end, double *ret_value);

/* Reads all of [text, end) as decimal digits up to `max`. */
bool lbi_parse_unsigned(const char *text, const char *end, uint64_t max, uint64_t *ret_value);

/* Appending sticks at the first failure; lbi_text_take() tells. Zero-initialise. */
typedef struct lbi_text {
    char *data;
    size_t length, capacity;
    bool failed;
} lbi_text;

void lbi_text_append(lbi_text *text, const char *bytes, size_t length);
void lbi_text_string(lbi_text *text, const char *string);
void lbi_text_printf(lbi_text *text, const char *format, ...) LBI_PRINTF(2, 3);
void lbi_text_number(lbi_text *text, double value);
/* The length of the UTF-8 sequence that begins the text, NUL being one; 0: there is none. */
size_t lbi_utf8_length(const char *text, size_t available);
/* Quoted and escaped; bytes that are no UTF-8 become U+FFFD. */
void lbi_text_json_string(lbi_text *text, const char *string);
/* A number, or null where JSON has none for it. */
void lbi_text_json_number(lbi_text *text, double value);
/* Quoted only where RFC 4180 needs it. */
void lbi_text_csv_field(lbi_text *text, const char *string);
/* Hands the text over, terminated (the caller frees it), or frees it and returns NULL. Either way
 * *text is empty again. */
char *lbi_text_take(lbi_text *text, size_t *ret_length);
void lbi_text_free(lbi_text *text);

#endif
