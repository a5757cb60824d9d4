/* SPDX-License-Identifier: BSD-3-Clause */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/random.h"
#include "base/text.h"
#include "harness.h"

static lb_table *make_table(size_t columns, const char *const *names) {
    lb_table *table = NULL;
    lb_error err = {0};
    ASSERT_OK(lb_table_new(names, columns, &table, &err), err);
    return table;
}

static void add_row(lb_table *table, const char *label, const double *values) {
    lb_error err = {0};
    ASSERT_OK(lb_table_add_row(table, label, values, &err), err);
}

static void set_meta(lb_table *table, const char *key, const char *value) {
    lb_error err = {0};
    ASSERT_OK(lb_table_set_meta(table, key, value, &err), err);
}

static char *format(const lb_table *table, lb_format format) {
    char *text = NULL;
    lb_error err = {0};
    ASSERT_OK(lb_table_format(table, format, &text, &err), err);
    return text;
}

static lb_table *parse(const char *csv) {
    lb_table *table = NULL;
    lb_error err = {0};
    ASSERT_OK(lb_table_parse(csv, strlen(csv), &table, &err), err);
    return table;
}

/* A table with labels, a missing value and metadata. */
static lb_table *example(void) {
    const char *const names[] = {"mean_s", "units"};
    lb_table *table = make_table(2, names);
    add_row(table, "none", (const double[]){0.1, 12});
    add_row(table, "lazy, \"late\"", (const double[]){NAN, 3});
    add_row(table, NULL, (const double[]){-INFINITY, 1e-30});
    set_meta(table, "kernel", "6.18");
    set_meta(table, "empty", "");
    return table;
}

START_TEST(table_keeps_what_is_put_in) {
    lb_table *table = example();
    ck_assert_uint_eq(lb_table_rows(table), 3);
    ck_assert_uint_eq(lb_table_columns(table), 2);
    ck_assert_str_eq(lb_table_name(table, 1), "units");
    ck_assert_ptr_null(lb_table_name(table, 2));
    ck_assert_str_eq(lb_table_label(table, 1), "lazy, \"late\"");
    ck_assert_str_eq(lb_table_label(table, 2), "");
    ck_assert_ptr_null(lb_table_label(table, 3));
    ck_assert_double_eq(lb_table_value(table, 0, 0), 0.1);
    ck_assert_double_eq(lb_table_get(table, 1, "units"), 3);
    ck_assert_double_nan(lb_table_get(table, 1, "mean_s"));
    ck_assert_double_nan(lb_table_get(table, 1, "median_s"));
    ck_assert_double_nan(lb_table_get(table, 3, "units"));
    ck_assert_double_nan(lb_table_value(table, 0, 2));
    ck_assert_double_nan(lb_table_value(table, 3, 0));
    lb_table_free(table);
    lb_table_free(NULL);
}
END_TEST

START_TEST(metadata_are_set_replaced_and_removed) {
    lb_table *table = make_table(0, NULL);
    ck_assert_ptr_null(lb_table_meta(table, "a"));
    set_meta(table, "a", "1");
    set_meta(table, "b c", "2");
    set_meta(table, "a", "3: 4");
    ck_assert_str_eq(lb_table_meta(table, "a"), "3: 4");
    ck_assert_str_eq(lb_table_meta(table, "b c"), "2");
    set_meta(table, "a", NULL);
    set_meta(table, "never there", NULL);
    ck_assert_ptr_null(lb_table_meta(table, "a"));
    ck_assert_str_eq(lb_table_meta(table, "b c"), "2");
    lb_table_free(table);
}
END_TEST

START_TEST(bad_input_is_refused) {
    static const struct {
        const char *names[2];
        const char *words;
    } bad[] = {
        {{"a", ""}, "names[1] is empty"},
        {{"a", "a"}, "two columns are named \"a\""},
        {{"a\n", "b"}, "names[0] is \"a?\": expected no control"},
        {{"a", "label"}, "names[1] is \"label\""},
    };
    lb_error err = {0};
    lb_table *table = NULL;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ASSERT_REFUSED(lb_table_new(bad[i].names, 2, &table, &err), LB_ERR_INVALID, bad[i].words,
                       err);
    ck_assert_ptr_null(table);

    table = example();
    char *before = format(table, LB_FORMAT_CSV);
    ASSERT_REFUSED(lb_table_add_row(table, "a\tb", (const double[]){1, 2}, &err), LB_ERR_INVALID,
                   "label is \"a?b\"", err);
    static const struct {
        const char *key, *value, *words;
    } meta[] = {
        {"", "x", "key \"\": expected a key that is not empty"},
        {"a:b", "x", "expected no ':'"},
        {" a", "x", "expected no space at either end"},
        {"a ", NULL, "expected no space at either end"},
        {"a\x7f", "x", "expected no control characters"},
        {"a", " x", "\"a\" is \" x\": expected no space"},
        {"a", "x ", "expected no space"},
        {"a", "x\ny", "\"a\" is \"x?y\": expected no control"},
    };
    for (size_t i = 0; i < sizeof meta / sizeof *meta; i++)
        ASSERT_REFUSED(lb_table_set_meta(table, meta[i].key, meta[i].value, &err), LB_ERR_INVALID,
                       meta[i].words, err);
    char *text = NULL;
    ASSERT_REFUSED(lb_table_format(table, (lb_format)3, &text, &err), LB_ERR_INVALID, "format is 3",
                   err);
    ck_assert_ptr_null(text);
    char *after = format(table, LB_FORMAT_CSV);
    ck_assert_str_eq(before, after);
    lb_free(before);
    lb_free(after);
    lb_table_free(table);
}
END_TEST

static void assert_format(const lb_table *table, lb_format form, const char *expected) {
    char *text = format(table, form);
    ck_assert_str_eq(text, expected);
    lb_free(text);
}

START_TEST(forms_are_as_documented) {
    lb_table *table = example();
    assert_format(table, LB_FORMAT_TEXT,
                  "kernel: 6.18\n"
                  "empty: \n"
                  "              mean_s  units\n"
                  "none             0.1     12\n"
                  "lazy, \"late\"       -      3\n"
                  "                -inf  1e-30\n");
    assert_format(table, LB_FORMAT_JSON,
                  "{\"metadata\":{\"kernel\":\"6.18\",\"empty\":\"\"},"
                  "\"columns\":[\"mean_s\",\"units\"],"
                  "\"labels\":[\"none\",\"lazy, \\\"late\\\"\",\"\"],\"rows\":[\n"
                  "[0.1,12],\n[null,3],\n[null,1e-30]\n]}\n");
    assert_format(table, LB_FORMAT_CSV,
                  "# kernel: 6.18\n# empty:\nlabel,mean_s,units\nnone,0.1,12\n"
                  "\"lazy, \"\"late\"\"\",,3\n\"\",-inf,1e-30\n");
    lb_table_free(table);

    const char *const names[] = {"x", "y"};
    table = make_table(2, names);
    assert_format(table, LB_FORMAT_TEXT, "x  y\n");
    assert_format(table, LB_FORMAT_JSON,
                  "{\"metadata\":{},\"columns\":[\"x\",\"y\"],\"rows\":[\n]}\n");
    assert_format(table, LB_FORMAT_CSV, "x,y\n");
    add_row(table, "", (const double[]){1, 1.0 / 3});
    assert_format(table, LB_FORMAT_TEXT, "x         y\n1  0.333333\n");
    assert_format(table, LB_FORMAT_CSV, "x,y\n1,0.3333333333333333\n");
    lb_table_free(table);
}
END_TEST

START_TEST(characters_are_counted_not_bytes) {
    const char *const names[] = {"\xc2\xb5s"};
    lb_table *table = make_table(1, names);
    add_row(table, "\xc3\xa9\xc3\xa9", (const double[]){1});
    add_row(table, "abc", (const double[]){100});
    assert_format(table, LB_FORMAT_TEXT, "      \xc2\xb5s\n\xc3\xa9\xc3\xa9     1\nabc  100\n");
    lb_table_free(table);
}
END_TEST

static void assert_equal(const lb_table *a, const lb_table *b) {
    ck_assert_uint_eq(lb_table_rows(a), lb_table_rows(b));
    ck_assert_uint_eq(lb_table_columns(a), lb_table_columns(b));
    for (size_t c = 0; c < lb_table_columns(a); c++)
        ck_assert_str_eq(lb_table_name(a, c), lb_table_name(b, c));
    for (size_t r = 0; r < lb_table_rows(a); r++) {
        ck_assert_str_eq(lb_table_label(a, r), lb_table_label(b, r));
        for (size_t c = 0; c < lb_table_columns(a); c++) {
            double x = lb_table_value(a, r, c), y = lb_table_value(b, r, c);
            ck_assert_msg((isnan(x) && isnan(y)) || (x == y && signbit(x) == signbit(y)),
                          "%zu,%zu: %a is not %a", r, c, x, y);
        }
    }
}

static lb_table *round_trip(const lb_table *table) {
    char *csv = format(table, LB_FORMAT_CSV);
    lb_table *back = parse(csv);
    assert_equal(table, back);
    char *again = format(back, LB_FORMAT_CSV);
    ck_assert_str_eq(csv, again);
    lb_free(csv);
    lb_free(again);
    return back;
}

START_TEST(csv_reads_back) {
    lb_table *table = example(), *back = round_trip(table);
    ck_assert_str_eq(lb_table_meta(back, "kernel"), "6.18");
    ck_assert_str_eq(lb_table_meta(back, "empty"), "");
    lb_table_free(back);
    lb_table_free(table);
    /* What could be taken for something else. */
    static const struct {
        size_t columns;
        const char *names[2];
        const char *label;
        double values[2];
    } odd[] = {
        {0, {NULL}, "", {0}},
        {0, {NULL}, "x", {0}},
        {1, {"x"}, "", {NAN}},
        {1, {"#x"}, "", {1}},
        {1, {"\xef\xbb\xbfx"}, "", {1}},
        {1, {"\xef\xbb\xbf\"x\""}, "", {1}},
        {1, {"#, \"x\""}, "#", {NAN}},
        {2, {"label", "x"}, "", {1, NAN}},
        {2, {"label", "x"}, "label", {NAN, NAN}},
        {2, {"x", "y"}, "# table: slices", {DBL_MAX, 4.9e-324}},
        {2, {" x ", "y,"}, " a ", {-0.0, INFINITY}},
    };
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        table = make_table(odd[i].columns, odd[i].names);
        lb_table_free(round_trip(table));
        add_row(table, odd[i].label, odd[i].values);
        lb_table_free(round_trip(table));
        lb_table_free(table);
    }
}
END_TEST

/* A text of printable characters with a leaning to those that mean something. */
static void random_text(lbi_random *random, char *text, size_t size) {
    static const char signs[] = ",\"#: aaaabcd\xef\xbb\xbf.0label";
    size_t length = lbi_random_below(random, size);
    for (size_t i = 0; i < length; i++)
        text[i] = signs[lbi_random_below(random, sizeof signs - 1)];
    text[length] = '\0';
}

static double random_value(lbi_random *random) {
    if (lbi_random_below(random, 4) == 0)
        return NAN;
    uint64_t bits = lbi_random_next(random);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

START_TEST(random_tables_read_back) {
    lbi_random random;
    lbi_random_seed(&random, 7);
    size_t made = 0;
    for (int i = 0; i < 3000; i++) {
        char texts[4][8];
        const char *names[4] = {texts[0], texts[1], texts[2], texts[3]};
        size_t columns = lbi_random_below(&random, 5);
        for (size_t c = 0; c < columns; c++)
            random_text(&random, texts[c], sizeof texts[c]);
        lb_table *table;
        if (lb_table_new(names, columns, &table, NULL) != LB_OK)
            continue;
        made++;
        bool labels = lbi_random_below(&random, 2) == 0;
        for (size_t rows = lbi_random_below(&random, 6); rows > 0; rows--) {
            char label[8] = "";
            double values[4];
            for (size_t c = 0; c < columns; c++)
                values[c] = random_value(&random);
            if (labels)
                random_text(&random, label, sizeof label);
            add_row(table, label, values);
        }
        lb_table_free(round_trip(table));
        lb_table_free(table);
    }
    ck_assert_uint_gt(made, 1000);
}
END_TEST

START_TEST(csv_of_others_is_read) {
    lb_table *table = parse("\xef\xbb\xbf# a remark\r\n#key:\tvalue \r\n\r\n# key: last\r\n"
                            "x,\"y \"\"z\"\"\"\r\n1,\"2\"\r\n\r\n1e2,nan\r\n# late: 1\r\n-.5,");
    ck_assert_uint_eq(lb_table_rows(table), 3);
    ck_assert_str_eq(lb_table_meta(table, "key"), "last");
    ck_assert_str_eq(lb_table_meta(table, "late"), "1");
    ck_assert_str_eq(lb_table_name(table, 1), "y \"z\"");
    ck_assert_double_eq(lb_table_value(table, 0, 1), 2);
    ck_assert_double_eq(lb_table_value(table, 1, 0), 100);
    ck_assert_double_nan(lb_table_value(table, 1, 1));
    ck_assert_double_eq(lb_table_value(table, 2, 0), -0.5);
    ck_assert_double_nan(lb_table_value(table, 2, 1));
    lb_table_free(table);
}
END_TEST

START_TEST(malformed_csv_is_refused) {
    static const struct {
        const char *csv, *words;
    } bad[] = {
        {"", "line 1: no header"},
        {"# a: b\n\n", "line 3: no header"},
        {"x,y\n1,2\n3\n", "line 3: 1 field: expected 2"},
        {"x,y\n1,2,3\n", "line 2: more than 2 fields"},
        {"x,y\n1,z\n", "line 2: y is \"z\": expected a number"},
        {"x,y\n1, 2\n", "line 2: y is \" 2\""},
        {"x\n1e999\n", "line 2: x is \"1e999\": expected a number"},
        {"x\n0x10\n", "line 2: x is \"0x10\""},
        {"x\n1\r2\n", "line 2: x is \"1?2\""},
        {"x,x\n", "line 1: two columns are named \"x\""},
        {"x,\n", "line 1: names[1] is empty"},
        {"\n\nx,label\n", "line 3: names[1] is \"label\""},
        {"\"x\ny\"\n", "line 1: \"x?y\": expected no control"},
        {"label,x\n\"a\nb\",1\n", "line 2: \"a?b\": expected no control"},
        {"x,\"y", "line 1: expected a closing quote"},
        {"x\n\"1", "line 2: expected a closing quote"},
        {"x\n\"1\"2\n", "line 2: expected a comma or the line's end"},
        {"# : x\ny\n", "line 1: metadata key \"\": expected a key"},
        {"y\n# x: a\tb\n", "line 2: metadata value \"a?b\": expected no control"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        lb_table *table = NULL;
        lb_error err = {0};
        ASSERT_REFUSED(lb_table_parse(bad[i].csv, strlen(bad[i].csv), &table, &err), LB_ERR_FORMAT,
                       bad[i].words, err);
        ck_assert_ptr_null(table);
        ck_assert_int_eq(lb_table_parse(bad[i].csv, strlen(bad[i].csv), &table, NULL),
                         LB_ERR_FORMAT);
    }
    lb_error err = {0};
    lb_table *table = NULL;
    ASSERT_REFUSED(lb_table_parse("a\0b\n1\n", 6, &table, &err), LB_ERR_FORMAT, "line 1: \"a?b\"",
                   err);
    ASSERT_REFUSED(lb_table_parse("# a: \0\n", 7, &table, &err), LB_ERR_FORMAT, "line 1: ", err);
    ASSERT_REFUSED(lb_table_parse(NULL, 0, &table, &err), LB_ERR_FORMAT, "line 1: no header", err);
}
END_TEST

START_TEST(messages_show_the_beginning_of_long_texts) {
    char csv[600] = "x\nx"; /* so that the cut would fall into a character */
    for (int i = 0; i < 290; i++)
        strcat(csv, "\xc3\xa9");
    lb_table *table = NULL;
    lb_error err = {0};
    ASSERT_REFUSED(lb_table_parse(csv, strlen(csv), &table, &err), LB_ERR_FORMAT,
                   "\xc3\xa9...\": expected a number", err);
    ck_assert_uint_lt(strlen(err.message), 120);
}
END_TEST

/* Check allocates too, so nothing is asserted while an allocation is to fail. */
static bool message_is_right(lb_status status, const lb_error *err) {
    return status == LB_OK || strncmp(err->message, "no memory for ", 14) == 0;
}

static bool all_right = true;

/* Everything that a table can be asked for, whatever allocation fails. */
static lb_status use_everything(void) {
    const char *const names[] = {"a", "b", "c"};
    lb_table *table = NULL, *back = NULL;
    char *texts[3] = {NULL};
    lb_error err;
    lb_status status = lb_table_new(names, 3, &table, &err);
    for (int i = 0; i < 20 && status == LB_OK; i++)
        status =
            lb_table_add_row(table, i % 2 == 0 ? "label" : NULL, (const double[]){1, 2, 3}, &err);
    for (int i = 0; i < 12 && status == LB_OK; i++)
        status = lb_table_set_meta(table, (const char *[]){"x", "y", "z"}[i % 3], "value", &err);
    for (int i = 0; i < 3 && status == LB_OK; i++)
        status = lb_table_format(table, (lb_format)i, &texts[i], &err);
    if (status == LB_OK)
        status = lb_table_parse(texts[LB_FORMAT_CSV], strlen(texts[LB_FORMAT_CSV]), &back, &err);
    all_right = all_right && message_is_right(status, &err);
    for (int i = 0; i < 3; i++)
        lb_free(texts[i]);
    lb_table_free(table);
    lb_table_free(back);
    return status;
}

START_TEST(every_failed_allocation_is_survived) {
    size_t failures;
    lb_status status;
    SWEEP_ALLOCATIONS(status, failures, status = use_everything());
    ck_assert_uint_gt(failures, 60);
    ck_assert(all_right);
}
END_TEST

START_TEST(failed_allocation_leaves_the_table_as_it_was) {
    for (size_t n = 1;; n++) {
        lb_table *table = example();
        faults_arm(n);
        lb_status status = LB_OK;
        for (int i = 0; i < 30 && status == LB_OK; i++) {
            size_t rows = lb_table_rows(table);
            status = lb_table_add_row(table, "a", (const double[]){1, 2}, NULL);
            all_right = all_right && lb_table_rows(table) == rows + (status == LB_OK);
        }
        if (status == LB_OK)
            status = lb_table_set_meta(table, "kernel", "7", NULL);
        bool fired = faults_fired();
        ck_assert_str_eq(lb_table_meta(table, "kernel"), status == LB_OK ? "7" : "6.18");
        lb_table_free(table);
        ck_assert_int_eq(status, fired ? LB_ERR_NOMEM : LB_OK);
        if (!fired)
            break;
    }
    ck_assert(all_right);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("table");
    ADD(s, "object", table_keeps_what_is_put_in, metadata_are_set_replaced_and_removed,
        bad_input_is_refused);
    ADD(s, "format", forms_are_as_documented, characters_are_counted_not_bytes);
    ADD(s, "parse", csv_reads_back, random_tables_read_back, csv_of_others_is_read,
        malformed_csv_is_refused, messages_show_the_beginning_of_long_texts);
    ADD(s, "memory", every_failed_allocation_is_survived,
        failed_allocation_leaves_the_table_as_it_was);
    return s;
}
