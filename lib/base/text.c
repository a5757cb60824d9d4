/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/text.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* The C locale for this thread alone: setlocale() would change the whole process. In glibc and
 * musl newlocale("C") returns a static object, so nothing is allocated and nothing can fail. */
static locale_t enter_c_locale(locale_t *ret_c) {
    *ret_c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    return *ret_c == (locale_t)0 ? (locale_t)0 : uselocale(*ret_c);
}

static void leave_c_locale(locale_t before, locale_t c) {
    if (before != (locale_t)0)
        uselocale(before);
    if (c != (locale_t)0)
        freelocale(c);
}

int lbi_vsnprintf(char *buffer, size_t size, const char *format, va_list arguments) {
    locale_t c, before = enter_c_locale(&c);
    int length = vsnprintf(buffer, size, format, arguments);
    leave_c_locale(before, c);
    return length;
}

int lbi_snprintf(char *buffer, size_t size, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length = lbi_vsnprintf(buffer, size, format, arguments);
    va_end(arguments);
    return length;
}

void lbi_strerror(int os_errno, char *buffer, size_t size) {
    locale_t c, before = enter_c_locale(&c);
    snprintf(buffer, size, "%s", c == (locale_t)0 ? "system error" : strerror_l(os_errno, c));
    leave_c_locale(before, c);
}

void lbi_format_number(double value, char buffer[LBI_NUMBER_SIZE]) {
    if (isnan(value)) {
        strcpy(buffer, "nan");
        return;
    }
    locale_t c, before = enter_c_locale(&c);
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(buffer, LBI_NUMBER_SIZE, "%.*g", digits, value);
        if (strtod(buffer, NULL) == value)
            break;
    }
    leave_c_locale(before, c);
}

/* strtod() takes more than we do: leading spaces, hexadecimal, "nan(...)", "infinity". */
static bool is_decimal(const char *text, const char *end) {
    if (text < end && (*text == '-' || *text == '+'))
        text++;
    if (end - text == 3 && (memcmp(text, "nan", 3) == 0 || memcmp(text, "inf", 3) == 0))
        return true;
    bool digit = false;
    for (; text < end && ((*text >= '0' && *text <= '9') || *text == '.'); text++)
        digit = digit || *text != '.';
    if (!digit)
        return false;
    if (text < end && (*text == 'e' || *text == 'E')) {
        text++;
        if (text < end && (*text == '-' || *text == '+'))
            text++;
        if (text == end)
            return false;
        while (text < end && *text >= '0' && *text <= '9')
            text++;
    }
    return text == end;
}

bool lbi_parse_number(const char *text, const char *end, double *ret_value) {
    /* Longer texts are digits that a double cannot hold; 400 keep every value that it can. */
    char copy[400];
    size_t length = (size_t)(end - text);
    if (length == 0 || length >= sizeof copy || !is_decimal(text, end))
        return false;
    memcpy(copy, text, length);
    copy[length] = '\0';
    locale_t c, before = enter_c_locale(&c);
    char *stop;
    double value = strtod(copy, &stop);
    leave_c_locale(before, c);
    if (stop != copy + length)
        return false;
    *ret_value = value;
    return true;
}

bool lbi_parse_unsigned(const char *text, const char *end, uint64_t max, uint64_t *ret_value) {
    uint64_t value = 0;
    if (text == end)
        return false;
    for (; text < end; text++) {
        if (*text < '0' || *text > '9')
            return false;
        uint64_t digit = (uint64_t)(*text - '0');
        if (digit > max || value > (max - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    *ret_value = value;
    return true;
}

void lbi_text_append(lbi_text *text, const char *bytes, size_t length) {
    if (text->failed)
        return;
    if (length >= SIZE_MAX - text->length ||
        !lbi_array_reserve(&text->data, &text->capacity, text->length + length + 1, 1)) {
        text->failed = true;
        return;
    }
    if (length > 0)
        memcpy(text->data + text->length, bytes, length);
    text->length += length;
    text->data[text->length] = '\0';
}

void lbi_text_string(lbi_text *text, const char *string) {
    lbi_text_append(text, string, strlen(string));
}

void lbi_text_printf(lbi_text *text, const char *format, ...) {
    char buffer[256];
    va_list arguments;
    va_start(arguments, format);
    int length = lbi_vsnprintf(buffer, sizeof buffer, format, arguments);
    va_end(arguments);
    if (length < 0) {
        text->failed = true;
        return;
    }
    if ((size_t)length < sizeof buffer) {
        lbi_text_append(text, buffer, (size_t)length);
        return;
    }
    char *large = malloc((size_t)length + 1);
    if (large == NULL) {
        text->failed = true;
        return;
    }
    va_start(arguments, format);
    lbi_vsnprintf(large, (size_t)length + 1, format, arguments);
    va_end(arguments);
    lbi_text_append(text, large, (size_t)length);
    free(large);
}

void lbi_text_number(lbi_text *text, double value) {
    char buffer[LBI_NUMBER_SIZE];
    lbi_format_number(value, buffer);
    lbi_text_string(text, buffer);
}

size_t lbi_utf8_length(const char *text, size_t available) {
    const unsigned char *s = (const unsigned char *)text;
    if (available == 0)
        return 0;
    if (s[0] < 0x80)
        return 1;
    size_t length = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
    if (s[0] < 0xc2 || s[0] > 0xf4 || length > available)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
        (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
        return 0; /* overlong, surrogate, or past the last code point */
    return length;
}

void lbi_text_json_string(lbi_text *text, const char *string) {
    lbi_text_string(text, "\"");
    const char *end = string + strlen(string);
    for (const char *s = string; s < end;) {
        size_t length = lbi_utf8_length(s, (size_t)(end - s));
        if (length == 0) {
            lbi_text_string(text, "\xef\xbf\xbd");
            s++;
            continue;
        }
        if (*s == '"' || *s == '\\')
            lbi_text_printf(text, "\\%c", *s);
        else if ((unsigned char)*s < 0x20 || *s == 0x7f)
            lbi_text_printf(text, "\\u%04x", (unsigned)*s);
        else
            lbi_text_append(text, s, length);
        s += length;
    }
    lbi_text_string(text, "\"");
}

void lbi_text_json_number(lbi_text *text, double value) {
    if (isfinite(value))
        lbi_text_number(text, value);
    else
        lbi_text_string(text, "null");
}

void lbi_text_csv_field(lbi_text *text, const char *string) {
    if (strpbrk(string, ",\"\r\n") == NULL) {
        lbi_text_string(text, string);
        return;
    }
    lbi_text_string(text, "\"");
    for (const char *s = string; *s != '\0'; s++)
        lbi_text_append(text, *s == '"' ? "\"\"" : s, *s == '"' ? 2 : 1);
    lbi_text_string(text, "\"");
}

char *lbi_text_take(lbi_text *text, size_t *ret_length) {
    lbi_text_append(text, "", 0);
    if (text->failed) {
        lbi_text_free(text);
        return NULL;
    }
    char *data = text->data;
    if (ret_length != NULL)
        *ret_length = text->length;
    *text = (lbi_text){0};
    return data;
}

void lbi_text_free(lbi_text *text) {
    free(text->data);
    *text = (lbi_text){0};
}
