/* SPDX-License-Identifier: BSD-3-Clause */
/* Decimal numbers as whole numbers of a small unit: exact, where a double would round. */
#ifndef LBI_TRACE_FIXED_H
#define LBI_TRACE_FIXED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum lbi_fixed {
    LBI_FIXED_EXACT,   /* the value is what the text says */
    LBI_FIXED_ROUNDED, /* to the nearest; halves away from zero */
    LBI_FIXED_RANGE,   /* it does not fit an int64_t */
    LBI_FIXED_NONE     /* it is no decimal number */
} lbi_fixed;

/* Reads all of [text, end) as a decimal number (exponent allowed) times 10^decimals. *ret_value is
 * written where it is exact or rounded. */
lbi_fixed lbi_parse_fixed(const char *text, const char *end, int decimals, int64_t *ret_value);

/* Reads plain seconds of at most nine digits on either side of the point, the usual case, from the
 * front of [text, end). Returns where they end, or NULL: lbi_parse_fixed() has to look. */
const char *lbi_parse_seconds_fast(const char *text, const char *end, int64_t *ret_ns);

#define LBI_SECONDS_SIZE 24
/* Writes nanoseconds as seconds with nine digits behind the point; returns the length, terminated.
 */
size_t lbi_format_seconds(int64_t ns, char buffer[LBI_SECONDS_SIZE]);

/* The same with any number of digits behind the point, for a magnitude and a sign. */
size_t lbi_format_fixed(bool negative, uint64_t magnitude, int decimals,
                        char buffer[LBI_SECONDS_SIZE]);

#endif
