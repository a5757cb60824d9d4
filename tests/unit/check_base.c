/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/options.h"
#include "base/random.h"
#include "base/text.h"
#include "harness.h"

START_TEST(version_is_the_headers) {
    char expected[32];
    snprintf(expected, sizeof expected, "%d.%d.%d", LB_VERSION_MAJOR, LB_VERSION_MINOR,
             LB_VERSION_PATCH);
    ck_assert_str_eq(lb_version(), expected);
}
END_TEST

START_TEST(every_status_has_its_name) {
    ck_assert_str_eq(lb_status_name(LB_OK), "LB_OK");
    for (int status = LB_ERR_WORKER; status < 0; status++)
        ck_assert_int_eq(strncmp(lb_status_name((lb_status)status), "LB_ERR_", 7), 0);
    ck_assert_str_eq(lb_status_name((lb_status)(LB_ERR_WORKER - 1)), "unknown status");
    ck_assert_str_eq(lb_status_name((lb_status)1), "unknown status");
}
END_TEST

START_TEST(error_says_what_and_why) {
    lb_error err = {0};
    ck_assert_int_eq(lbi_error(&err, LB_ERR_INVALID, "work[%d] is %g", 3, -1.5), LB_ERR_INVALID);
    ck_assert_str_eq(err.message, "work[3] is -1.5");
    ck_assert_int_eq(err.os_errno, 0);
    ck_assert_int_eq(lbi_error_os(&err, LB_ERR_IO, ENOENT, "file \"%s\"", "x"), LB_ERR_IO);
    ck_assert_str_eq(err.message, "file \"x\": No such file or directory");
    ck_assert_int_eq(err.os_errno, ENOENT);
    ck_assert_int_eq(lbi_error(NULL, LB_ERR_LIMIT, "unheard"), LB_ERR_LIMIT);
    lbi_error(&err, LB_ERR_INVALID, "name \"%s\"", "a\nb\x1b\x7f\xc3\xa9");
    ck_assert_str_eq(err.message, "name \"a?b??\xc3\xa9\"");
    char words[400];
    memset(words, 'x', sizeof words - 1);
    words[sizeof words - 1] = '\0';
    lbi_error_os(&err, LB_ERR_IO, ENOENT, "%s", words);
    ck_assert_uint_eq(strlen(err.message), sizeof err.message - 1);
}
END_TEST

START_TEST(numbers_read_back) {
    const double values[] = {0,       -0.0,    0.1,       1.0 / 3, 1e300, DBL_MIN, 4.9e-324,
                             DBL_MAX, 1234567, -2.5e-308, 1e22,    0.3,   INFINITY};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        char text[LBI_NUMBER_SIZE];
        double back = NAN;
        lbi_format_number(values[i], text);
        ck_assert_ptr_null(strchr(text, ','));
        ck_assert(lbi_parse_number(text, text + strlen(text), &back));
        ck_assert_msg(back == values[i] && signbit(back) == signbit(values[i]), "%s", text);
    }
    char text[LBI_NUMBER_SIZE];
    lbi_format_number(0.1, text);
    ck_assert_str_eq(text, "0.1");
    lbi_format_number(-NAN, text);
    ck_assert_str_eq(text, "nan");
}
END_TEST

START_TEST(what_is_no_number_is_refused) {
    const char *const texts[] = {"",    " 1", "1 ", "0x10", "1,5",  "infinity", "nan(1)", "1e",
                                 "1e+", "e5", ".",  "--1",  "1.2x", "+",        "1_000"};
    double value = 7;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        ck_assert_msg(!lbi_parse_number(texts[i], texts[i] + strlen(texts[i]), &value), "%s",
                      texts[i]);
    ck_assert_double_eq(value, 7);
    uint64_t whole = 7;
    ck_assert(lbi_parse_unsigned("18446744073709551615", &"18446744073709551615"[20], UINT64_MAX,
                                 &whole));
    ck_assert_uint_eq(whole, UINT64_MAX);
    const char *four = "4", *three = "3";
    ck_assert(!lbi_parse_unsigned(four, four + 1, 3, &whole)); /* below ten */
    ck_assert(lbi_parse_unsigned(three, three + 1, 3, &whole));
    ck_assert_uint_eq(whole, 3);
    const char *const wholes[] = {"", "-1", "+1", "1.0", "101", "18446744073709551616"};
    for (size_t i = 0; i < sizeof wholes / sizeof *wholes; i++)
        ck_assert_msg(!lbi_parse_unsigned(wholes[i], wholes[i] + strlen(wholes[i]), 100, &whole),
                      "%s", wholes[i]);
}
END_TEST

START_TEST(text_grows_and_quotes) {
    lbi_text text = {0};
    lbi_text_json_string(&text, "a\"b\\c\n\x7f\xc3\xa9\xff\xed\xa0\x80");
    size_t length = 0;
    char *json = lbi_text_take(&text, &length);
    ck_assert_str_eq(json, "\"a\\\"b\\\\c\\u000a\\u007f\xc3\xa9\xef\xbf\xbd"
                           "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
    ck_assert_uint_eq(length, strlen(json));
    lb_free(json);
    lbi_text_csv_field(&text, "a,\"b\"");
    lbi_text_string(&text, ";");
    lbi_text_csv_field(&text, "plain");
    lbi_text_json_number(&text, NAN);
    lbi_text_printf(&text, "%300d%.1f", 7, 0.5);
    char *csv = lbi_text_take(&text, NULL);
    ck_assert_uint_eq(strlen(csv), strlen("\"a,\"\"b\"\"\";plainnull") + 300 + 3);
    ck_assert_str_eq(csv + strlen(csv) - 4, "70.5");
    lb_free(csv);
    char *empty = lbi_text_take(&text, NULL);
    ck_assert_str_eq(empty, "");
    lb_free(empty);
}
END_TEST

START_TEST(text_survives_every_failed_allocation) {
    size_t failures;
    lb_status status;
    SWEEP_ALLOCATIONS(status, failures, {
        lbi_text text = {0};
        for (int i = 0; i < 40; i++)
            lbi_text_printf(&text, "%300d", i);
        char *taken = lbi_text_take(&text, NULL);
        status = taken == NULL ? LB_ERR_NOMEM : LB_OK;
        lb_free(taken);
    });
    ck_assert_uint_gt(failures, 40);
}
END_TEST

START_TEST(array_refuses_what_overflows) {
    double *array = NULL;
    size_t capacity = 0;
    ck_assert(!lbi_array_reserve(&array, &capacity, SIZE_MAX / 4, sizeof *array));
    ck_assert_ptr_null(array);
    ck_assert(lbi_array_reserve(&array, &capacity, 3, sizeof *array));
    ck_assert_uint_ge(capacity, 3);
    free(array);
    ck_assert_ptr_null(lbi_array_new(SIZE_MAX / 4, 8));
}
END_TEST

typedef struct {
    size_t size;
    uint32_t a, b;
    double c; /* came in a later release */
} example;

START_TEST(options_follow_their_size) {
    const example defaults = {sizeof defaults, 1, 2, 3.0};
    struct {
        example known;
        uint64_t later;
    } newer;
    memset(&newer, 0xff, sizeof newer);
    lbi_options_write(&newer, sizeof newer, &defaults, sizeof defaults);
    ck_assert_uint_eq(newer.known.size, sizeof newer);
    ck_assert_uint_eq(newer.later, 0);

    lb_error err = {0};
    example read = defaults;
    newer.known.a = 9;
    ASSERT_OK(lbi_options_read(&newer, &read, 16, sizeof read, "example", &err), err);
    ck_assert_uint_eq(read.a, 9);
    newer.later = 1;
    ASSERT_REFUSED(lbi_options_read(&newer, &read, 16, sizeof read, "example", &err),
                   LB_ERR_INVALID, "nonzero byte at offset 24", err);

    example older = {16, 5, 6, 99.0}; /* a program that knows nothing of c */
    read = defaults;
    ASSERT_OK(lbi_options_read(&older, &read, 16, sizeof read, "example", &err), err);
    ck_assert_uint_eq(read.b, 6);
    ck_assert_double_eq(read.c, 3.0);
    older.size = 15;
    ASSERT_REFUSED(lbi_options_read(&older, &read, 16, sizeof read, "example", &err),
                   LB_ERR_INVALID, "example.size is 15", err);
    ASSERT_OK(lbi_options_read(NULL, &read, 16, sizeof read, "example", &err), err);
}
END_TEST

START_TEST(random_is_uniform_and_repeats) {
    lbi_random a, b;
    lbi_random_seed(&a, 42);
    lbi_random_seed(&b, 42);
    size_t counts[7] = {0};
    double sum = 0;
    for (int i = 0; i < 70000; i++) {
        uint64_t value = lbi_random_below(&a, 7);
        ck_assert_uint_eq(value, lbi_random_below(&b, 7));
        counts[value]++;
        sum += lbi_random_exponential(&a, 2.0);
        lbi_random_next(&b);
    }
    /* five standard errors */
    for (int i = 0; i < 7; i++)
        ck_assert_double_lt(fabs((double)counts[i] - 10000), 5 * sqrt(10000 * 6.0 / 7));
    ck_assert_double_lt(fabs(sum / 70000 - 2.0), 5 * 2.0 / sqrt(70000));
    /* close to 2^64, where the product rejects half of all draws */
    for (int i = 0; i < 1000; i++)
        ck_assert_uint_le(lbi_random_below(&a, (UINT64_C(1) << 63) + 1), UINT64_C(1) << 63);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("base");
    ADD(s, "status", version_is_the_headers, every_status_has_its_name, error_says_what_and_why);
    ADD(s, "text", numbers_read_back, what_is_no_number_is_refused, text_grows_and_quotes,
        text_survives_every_failed_allocation);
    ADD(s, "array", array_refuses_what_overflows);
    ADD(s, "options", options_follow_their_size);
    ADD(s, "random", random_is_uniform_and_repeats);
    return s;
}
