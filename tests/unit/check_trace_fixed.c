/* SPDX-License-Identifier: BSD-3-Clause */
/* Decimal texts as whole nanoseconds. */
#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "harness.h"
#include "trace/fixed.h"

static lbi_fixed parse(const char *text, int decimals, int64_t *ret_value) {
    return lbi_parse_fixed(text, text + strlen(text), decimals, ret_value);
}

START_TEST(known_texts) {
    static const struct {
        const char *text;
        lbi_fixed result;
        int64_t ns;
    } cases[] = {
        {"0", LBI_FIXED_EXACT, 0},
        {"-0", LBI_FIXED_EXACT, 0},
        {"+1", LBI_FIXED_EXACT, 1000000000},
        {"1.", LBI_FIXED_EXACT, 1000000000},
        {".5", LBI_FIXED_EXACT, 500000000},
        {"-.000000001", LBI_FIXED_EXACT, -1},
        {"0.0305120010", LBI_FIXED_EXACT, 30512001},
        {"0.0000000005", LBI_FIXED_ROUNDED, 1},
        {"-0.0000000005", LBI_FIXED_ROUNDED, -1},
        {"0.00000000049999999999999999999999", LBI_FIXED_ROUNDED, 0},
        {"-0.00000000049", LBI_FIXED_ROUNDED, 0},
        {"0.9999999995", LBI_FIXED_ROUNDED, 1000000000},
        {"1e-3", LBI_FIXED_EXACT, 1000000},
        {"1E+2", LBI_FIXED_EXACT, 100000000000},
        {"123456789012345e-14", LBI_FIXED_ROUNDED, 1234567890},
        {"5e-10", LBI_FIXED_ROUNDED, 1},
        {"5e-11", LBI_FIXED_ROUNDED, 0},
        {"5e-99999999999999999999999999", LBI_FIXED_ROUNDED, 0},
        {"0e99999999999999999999999999", LBI_FIXED_EXACT, 0},
        {"0000000000000000000000000000001", LBI_FIXED_EXACT, 1000000000},
        {"0.00000000000000000000000000001e29", LBI_FIXED_EXACT, 1000000000},
        {"9223372036.854775807", LBI_FIXED_EXACT, INT64_MAX},
        {"9223372036.8547758074", LBI_FIXED_ROUNDED, INT64_MAX},
        {"9223372036.8547758075", LBI_FIXED_RANGE, 0},
        {"9223372036.854775808", LBI_FIXED_RANGE, 0},
        {"-9223372036.854775808", LBI_FIXED_EXACT, INT64_MIN},
        {"-9223372036.8547758085", LBI_FIXED_RANGE, 0},
        {"-9223372036.854775809", LBI_FIXED_RANGE, 0},
        {"18446744073.709551616", LBI_FIXED_RANGE, 0},
        {"1e10", LBI_FIXED_RANGE, 0},
        {"1e99999999999999999999999999", LBI_FIXED_RANGE, 0},
        {"99999999999999999999999999999", LBI_FIXED_RANGE, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t ns = 77;
        lbi_fixed result = parse(cases[i].text, 9, &ns);
        ck_assert_msg(result == cases[i].result, "%s: %d", cases[i].text, (int)result);
        int64_t expected = result == LBI_FIXED_RANGE ? 77 : cases[i].ns;
        ck_assert_msg(ns == expected, "%s: %lld", cases[i].text, (long long)ns);
    }
}
END_TEST

START_TEST(what_is_no_number) {
    static const char *const texts[] = {
        "",   "-",  "+",  ".",   "-.",  "e5",  ".e5", "1e",  "1e+",  "1e5.", "1.2.3", "--1",
        "1 ", " 1", "1x", "nan", "inf", "0x1", "1,5", "1_0", "1e5x", "+-1",  "1-",    "infinity"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        int64_t ns = 77;
        ck_assert_msg(parse(texts[i], 9, &ns) == LBI_FIXED_NONE, "%s", texts[i]);
        ck_assert_int_eq(ns, 77);
    }
    int64_t ns;
    const char zero[] = {'1', '\0', '2'};
    ck_assert_int_eq(lbi_parse_fixed(zero, zero + 3, 9, &ns), LBI_FIXED_NONE);
}
END_TEST

START_TEST(whole_numbers) {
    int64_t value;
    ck_assert_int_eq(parse("1048575", 0, &value), LBI_FIXED_EXACT);
    ck_assert_int_eq(parse("1.50e1", 0, &value), LBI_FIXED_EXACT);
    ck_assert_int_eq(value, 15);
    ck_assert_int_eq(parse("3.0", 0, &value), LBI_FIXED_EXACT);
    ck_assert_int_eq(value, 3);
    ck_assert_int_eq(parse("3.01", 0, &value), LBI_FIXED_ROUNDED);
}
END_TEST

static int64_t draw(lbi_random *random) {
    uint64_t bits = lbi_random_next(random) >> lbi_random_below(random, 64);
    int64_t value;
    memcpy(&value, &bits, sizeof value);
    return lbi_random_below(random, 2) == 0 ? value : (int64_t)(0 - bits);
}

/* Writes `ns` with the point moved to a random place and an exponent that makes up for it. */
static void write_moved(lbi_random *random, int64_t ns, const char *tail, char *text, size_t size) {
    char digits[64];
    uint64_t magnitude = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
    int length = snprintf(digits, sizeof digits, "%0*llu%s", (int)lbi_random_below(random, 30),
                          (unsigned long long)magnitude, tail);
    int point = (int)lbi_random_below(random, (uint64_t)length + 1);
    int exponent = length - (int)strlen(tail) - point - 9;
    snprintf(text, size, "%s%.*s.%se%d", ns < 0 ? "-" : "", point, digits, digits + point,
             exponent);
}

START_TEST(random_numbers_in_every_form) {
    lbi_random random;
    lbi_random_seed(&random, 3);
    for (int i = 0; i < 50000; i++) {
        int64_t ns = draw(&random), back = 0;
        char plain[LBI_SECONDS_SIZE], moved[128];
        size_t length = lbi_format_seconds(ns, plain);
        ck_assert_uint_eq(length, strlen(plain));
        ck_assert_int_eq(parse(plain, 9, &back), LBI_FIXED_EXACT);
        ck_assert_int_eq(back, ns);
        back = 0;
        const char *end = lbi_parse_seconds_fast(plain, plain + length, &back);
        if (end != NULL) {
            ck_assert_ptr_eq(end, plain + length);
            ck_assert_int_eq(back, ns);
        } else {
            ck_assert_uint_gt(length, 19);
        }
        write_moved(&random, ns, "", moved, sizeof moved);
        ck_assert_msg(parse(moved, 9, &back) == LBI_FIXED_EXACT && back == ns, "%s", moved);
        /* One digit more rounds away from zero from 5 on. */
        unsigned digit = 1 + (unsigned)lbi_random_below(&random, 9);
        char tail[4] = {(char)('0' + digit), '0', '7', '\0'};
        write_moved(&random, ns, tail, moved, sizeof moved);
        bool up = digit >= 5, fits = !up || (ns != INT64_MAX && ns != INT64_MIN);
        int64_t expected = ns == 0 && moved[0] == '-' ? -up : ns < 0 ? ns - up : ns + up;
        lbi_fixed result = parse(moved, 9, &back);
        ck_assert_msg(fits ? result == LBI_FIXED_ROUNDED && back == expected
                           : result == LBI_FIXED_RANGE,
                      "%s", moved);
    }
}
END_TEST

START_TEST(seconds_are_written_with_nine_digits) {
    static const struct {
        int64_t ns;
        const char *text;
    } cases[] = {{0, "0.000000000"},
                 {-1, "-0.000000001"},
                 {30512001, "0.030512001"},
                 {INT64_MAX, "9223372036.854775807"},
                 {INT64_MIN, "-9223372036.854775808"}};
    char text[LBI_SECONDS_SIZE];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lbi_format_seconds(cases[i].ns, text);
        ck_assert_str_eq(text, cases[i].text);
    }
    lbi_format_fixed(false, UINT64_MAX, 3, text);
    ck_assert_str_eq(text, "18446744073709551.615");
    lbi_format_fixed(true, 7, 0, text);
    ck_assert_str_eq(text, "-7");
}
END_TEST

START_TEST(fast_reading_stops_where_it_should) {
    static const struct {
        const char *text;
        int length; /* -1: not in the usual form */
        int64_t ns;
    } cases[] = {{"0.5,1", 3, 500000000},
                 {"12\n", 2, 12000000000},
                 {"-3.25e1", 5, -3250000000},
                 {"1.0000000000", -1, 0},
                 {"1234567890", -1, 0},
                 {"", -1, 0},
                 {"-", -1, 0},
                 {".5", -1, 0},
                 {"x", -1, 0},
                 {"999999999.999999999", 19, 999999999999999999},
                 {"1.", 2, 1000000000}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t ns = 0;
        const char *text = cases[i].text;
        const char *end = lbi_parse_seconds_fast(text, text + strlen(text), &ns);
        ck_assert_int_eq(end == NULL ? -1 : (int)(end - text), cases[i].length);
        ck_assert_int_eq(ns, cases[i].ns);
    }
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("trace_fixed");
    ADD(s, "parse", known_texts, what_is_no_number, whole_numbers, random_numbers_in_every_form,
        fast_reading_stops_where_it_should);
    ADD(s, "format", seconds_are_written_with_nine_digits);
    return s;
}
