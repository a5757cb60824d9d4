/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/fixed.h"

#include <string.h>

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* A decimal number taken apart; only its form has been looked at. */
typedef struct decimal {
    bool negative;
    const char *digits, *end; /* with the point among them */
    int64_t before_point;     /* how many digits stand before the point */
    int64_t exponent;
} decimal;

static bool take_apart(const char *text, const char *end, decimal *ret) {
    *ret = (decimal){0};
    if (text < end && (*text == '-' || *text == '+'))
        ret->negative = *text++ == '-';
    ret->digits = text;
    while (text < end && is_digit(*text))
        text++;
    ret->before_point = text - ret->digits;
    bool digit = text > ret->digits;
    if (text < end && *text == '.') {
        text++;
        digit = digit || (text < end && is_digit(*text));
        while (text < end && is_digit(*text))
            text++;
    }
    ret->end = text;
    if (!digit)
        return false;
    if (text == end)
        return true;
    if (*text != 'e' && *text != 'E')
        return false;
    text++;
    bool negative = false;
    if (text < end && (*text == '-' || *text == '+'))
        negative = *text++ == '-';
    if (text == end)
        return false;
    /* More than any text has digits, and small enough to add to. */
    const int64_t most = INT64_C(1000000000000000000);
    for (; text < end; text++) {
        if (!is_digit(*text))
            return false;
        int64_t exponent = ret->exponent > most / 100 ? most : ret->exponent * 10 + (*text - '0');
        ret->exponent = exponent;
    }
    if (negative)
        ret->exponent = -ret->exponent;
    return true;
}

/* *value * 10 + digit; false: past 2^63, the largest magnitude that there is. */
static bool append_digit(uint64_t *value, unsigned digit) {
    const uint64_t most = UINT64_C(1) << 63;
    if (*value > (most - digit) / 10)
        return false;
    *value = *value * 10 + digit;
    return true;
}

lbi_fixed lbi_parse_fixed(const char *text, const char *end, int decimals, int64_t *ret_value) {
    decimal number;
    if (!take_apart(text, end, &number))
        return LBI_FIXED_NONE;
    /* So many of the digits are before the point once the number is multiplied. */
    int64_t whole = number.before_point + number.exponent + decimals;
    uint64_t value = 0;
    int64_t place = 0;
    bool up = false, exact = true;
    for (const char *at = number.digits; at < number.end; at++) {
        if (*at == '.')
            continue;
        unsigned digit = (unsigned)(*at - '0');
        if (place < whole) {
            if (!append_digit(&value, digit))
                return LBI_FIXED_RANGE;
        } else if (digit != 0) {
            exact = false;
            up = up || (place == whole && digit >= 5);
        }
        place++;
    }
    for (; place < whole && value != 0; place++)
        if (!append_digit(&value, 0))
            return LBI_FIXED_RANGE;
    value += up;
    if (value > (uint64_t)INT64_MAX + number.negative)
        return LBI_FIXED_RANGE;
    if (!number.negative)
        *ret_value = (int64_t)value;
    else /* in two steps: the least value has no positive counterpart */
        *ret_value = value == 0 ? 0 : -(int64_t)(value - 1) - 1;
    return exact ? LBI_FIXED_EXACT : LBI_FIXED_ROUNDED;
}

const char *lbi_parse_seconds_fast(const char *text, const char *end, int64_t *ret_ns) {
    bool negative = text < end && *text == '-';
    text += negative;
    const char *digits = text;
    int64_t value = 0;
    for (; text < end && is_digit(*text); text++) {
        if (text - digits == 9)
            return NULL;
        value = value * 10 + (*text - '0');
    }
    if (text == digits)
        return NULL;
    int left = 9;
    if (text < end && *text == '.')
        for (text++; text < end && is_digit(*text); text++) {
            if (left == 0)
                return NULL;
            value = value * 10 + (*text - '0');
            left--;
        }
    static const int64_t powers[] = {1,      10,      100,      1000,      10000,
                                     100000, 1000000, 10000000, 100000000, 1000000000};
    value *= powers[left];
    *ret_ns = negative ? -value : value;
    return text;
}

size_t lbi_format_fixed(bool negative, uint64_t magnitude, int decimals,
                        char buffer[LBI_SECONDS_SIZE]) {
    char reversed[LBI_SECONDS_SIZE];
    size_t length = 0;
    for (int place = 0; place <= decimals || magnitude > 0; place++) {
        if (place == decimals && place > 0)
            reversed[length++] = '.';
        reversed[length++] = (char)('0' + magnitude % 10);
        magnitude /= 10;
    }
    if (negative)
        reversed[length++] = '-';
    for (size_t i = 0; i < length; i++)
        buffer[i] = reversed[length - 1 - i];
    buffer[length] = '\0';
    return length;
}

size_t lbi_format_seconds(int64_t ns, char buffer[LBI_SECONDS_SIZE]) {
    uint64_t magnitude = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
    return lbi_format_fixed(ns < 0, magnitude, 9, buffer);
}
