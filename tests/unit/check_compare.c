/* SPDX-License-Identifier: BSD-3-Clause */
/* Two results compared: the seed's tables, known differences, and how often chance is called one.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "harness.h"

static lb_table *new_table(const char *const *names, size_t columns) {
    lb_table *table;
    lb_error err;
    ASSERT_OK(lb_table_new(names, columns, &table, &err), err);
    return table;
}

static void add(lb_table *table, const char *label, const double *values) {
    lb_error err;
    ASSERT_OK(lb_table_add_row(table, label, values, &err), err);
}

static lb_table *compared(const lb_table *base, const lb_table *other,
                          const lb_compare_options *options) {
    lb_table *table = NULL;
    lb_error err;
    ASSERT_OK(lb_compare(base, other, options, &table, &err), err);
    return table;
}

/* Two runs have that mean and that standard deviation. */
static void add_two(lb_table *table, double mean, double stddev) {
    double values[] = {mean - stddev / sqrt(2), mean + stddev / sqrt(2)};
    add(table, "SDET 128", &values[0]);
    add(table, "SDET 128", &values[1]);
}

/* seeds/003: 2.6.0-test8 100.0 % and 0.3 %, 2.6.0-test8-nick 109.9 % and 0.2 %. */
START_TEST(sdet_comes_out_in_the_seeds_form) {
    static const char *const names[] = {"throughput"};
    lb_table *base = new_table(names, 1), *other = new_table(names, 1);
    add_two(base, 812, 812 * 0.003);
    add_two(other, 812 * 1.099, 812 * 0.002);
    lb_table *t = compared(base, other, NULL);
    ck_assert_uint_eq(lb_table_rows(t), 1);
    ck_assert_str_eq(lb_table_label(t, 0), "SDET 128: throughput");
    ck_assert_double_eq_tol(lb_table_get(t, 0, "stddev_base_percent"), 0.3, 1e-9);
    ck_assert_double_eq_tol(lb_table_get(t, 0, "relative_percent"), 109.9, 1e-9);
    ck_assert_double_eq_tol(lb_table_get(t, 0, "relative_stddev_percent"), 0.2, 1e-9);
    ck_assert(isnan(lb_table_get(t, 0, "median_base_low"))); /* two runs have no interval */
    ck_assert(isnan(lb_table_get(t, 0, "difference")));
    lb_table_free(t);
    lb_table_free(base);
    lb_table_free(other);
}
END_TEST

/* Runs of one condition are compared with their neighbours: in a block alone, where there are some.
 * What drifts between blocks is not the machine against itself. */
START_TEST(a_machine_is_compared_with_itself) {
    static const char *const names[] = {"seconds", "block"};
    lb_table *base = new_table(names, 2), *other = new_table(names, 2);
    static const double first[][2] = {{100, 1}, {101, 1}, {200, 2}, {206, 2}, {404, 3}, {400, 3}};
    static const double second[][2] = {{100, NAN}, {110, NAN}, {100, NAN}, {0, NAN}, {100, NAN}};
    for (size_t i = 0; i < 6; i++)
        add(base, "", first[i]);
    for (size_t i = 0; i < 5; i++)
        add(other, "", second[i]);
    lb_compare_options options;
    lb_compare_options_init(&options, sizeof options);
    options.metric = "seconds";
    lb_table *t = compared(base, other, &options);
    ck_assert_double_eq_tol(lb_table_get(t, 0, "self_base_percent"), 1, 1e-9); /* of 1, 3, 1 */
    ck_assert_double_eq_tol(lb_table_get(t, 0, "self_other_percent"), 10, 1e-9);
    lb_table_free(t);
    lb_table_free(other);
    other = new_table(names, 2);
    add(other, "", first[0]);
    t = compared(base, other, &options);
    ck_assert(isnan(lb_table_get(t, 0, "self_other_percent"))); /* nothing to compare with */
    lb_table_free(t);
    lb_table_free(base);
    lb_table_free(other);
}
END_TEST

/* seeds/003, kernbench with maximal tasks; a row a metric. */
START_TEST(kernbench_has_a_row_a_metric) {
    static const char *const names[] = {"elapsed", "system", "user", "cpu"};
    static const double test8[] = {45.86, 119.41, 569.66, 1502.00};
    static const double nick[] = {47.00, 112.75, 590.40, 1495.00};
    static const double percent[] = {102.4858, 94.4226, 103.6408, 99.5340};
    lb_table *base = new_table(names, 4), *other = new_table(names, 4);
    add(base, "make -j", test8);
    add(other, "make -j", nick);
    lb_table *t = compared(base, other, NULL);
    ck_assert_uint_eq(lb_table_rows(t), 4);
    for (size_t i = 0; i < 4; i++) {
        ck_assert_double_eq_tol(lb_table_get(t, i, "relative_percent"), percent[i], 1e-4);
        ck_assert_double_eq(lb_table_get(t, i, "median_base"), test8[i]);
        ck_assert_double_eq(lb_table_get(t, i, "median_other"), nick[i]);
    }
    lb_table_free(t);
    lb_table_free(base);
    lb_table_free(other);
}
END_TEST

/* seeds/003, reaim: Pct by one denominator, the first row. The seed's 5.54 is of it (5196.06 to
 * 4923.08); its 9.38, 8.56 and 8.7 are of the rows' own. */
START_TEST(reaim_has_one_denominator) {
    static const char *const names[] = {"max_jpm", "max_user"};
    static const double rows[][2] = {
        {4923.08, 60}, {5196.06, 68}, {5432.77, 92}, {5384.41, 92}, {5392.65, 88}};
    static const double percent[] = {0, 5.545, 10.353, 9.371, 9.538};
    lb_compare_options options;
    lb_compare_options_init(&options, sizeof options);
    options.metric = "max_jpm";
    for (size_t i = 0; i < 5; i++) {
        lb_table *base = new_table(names, 2), *other = new_table(names, 2);
        add(base, NULL, rows[0]);
        add(other, NULL, rows[i]);
        lb_table *t = compared(base, other, &options);
        ck_assert_uint_eq(lb_table_rows(t), 1);
        ck_assert_str_eq(lb_table_label(t, 0), "");
        ck_assert_double_eq_tol(lb_table_get(t, 0, "relative_percent") - 100, percent[i], 1e-3);
        lb_table_free(t);
        lb_table_free(base);
        lb_table_free(other);
    }
}
END_TEST

static double normal(lbi_random *random) {
    return sqrt(-2 * log(lbi_random_unit(random))) *
           cos(6.283185307179586 * lbi_random_unit(random));
}

static const char *const run_names[] = {"block", "throughput", "valid"};

/* Runs around `level`; `drift` a block, as a machine warms up. Blocks ABBA if `blocks`. */
static void draw(lbi_random *random, lb_table *table, const char *label, size_t runs, double level,
                 double noise, double drift, bool blocks) {
    for (size_t i = 0; i < runs; i++) {
        double values[] = {blocks ? (double)(i / 2) : (double)NAN,
                           level * exp(noise * normal(random) + drift * (double)(i / 2)), 1};
        add(table, label, values);
    }
}

/* AddressSanitizer, which takes 25 s for 3000 comparisons of 60 runs, sees as much in 200. */
#ifdef __SANITIZE_ADDRESS__
#define TRIALS 200
#else
#define TRIALS 3000
#endif

/* A ratio of 1.05 lies in 93 to 97 % of the intervals, and 1 is called a difference in at most 5 %:
 * by separate runs at n = 10, 15, 30, by blocks of two runs at as many blocks. */
START_TEST(intervals_cover_and_chance_is_seldom_called_a_difference) {
    static const size_t sizes[] = {10, 15, 30};
    size_t runs = sizes[_i % 3];
    bool blocks = _i >= 3;
    if (blocks)
        runs *= 2;
    lbi_random random;
    lbi_random_seed(&random, 7);
    int held = 0, called = 0;
    for (int trial = 0; trial < TRIALS; trial++) {
        lb_table *a = new_table(run_names, 3), *b = new_table(run_names, 3),
                 *same = new_table(run_names, 3);
        double drift = blocks ? 0.1 : 0;
        draw(&random, a, "x", runs, 100, 0.05, drift, blocks);
        draw(&random, b, "x", runs, 105, 0.05, drift, blocks);
        draw(&random, same, "x", runs, 100, 0.05, drift, blocks);
        lb_compare_options options;
        lb_compare_options_init(&options, sizeof options);
        options.metric = "throughput";
        options.smallest_effect = 0;
        lb_table *t = compared(a, b, &options);
        held += lb_table_get(t, 0, "ratio_low") <= 1.05 && lb_table_get(t, 0, "ratio_high") >= 1.05;
        ck_assert_double_eq(lb_table_get(t, 0, "blocks"), blocks ? (double)runs / 2 : 0);
        lb_table_free(t);
        t = compared(a, same, &options);
        called += lb_table_get(t, 0, "difference") != 0 && !isnan(lb_table_get(t, 0, "difference"));
        lb_table_free(t);
        lb_table_free(a);
        lb_table_free(b);
        lb_table_free(same);
    }
    double cover = (double)held / TRIALS, wrong = (double)called / TRIALS;
    /* 0.93 to 0.97 of 3000: five standard errors. */
    ck_assert_msg(fabs(cover - 0.95) < 0.02 * sqrt(3000.0 / TRIALS),
                  "%zu runs: %.4f of the intervals hold it", runs, cover);
    /* Three standard errors above 5 %. */
    ck_assert_msg(wrong < 0.05 + 3 * sqrt(0.05 * 0.95 / TRIALS), "%zu runs: %.4f called", runs,
                  wrong);
}
END_TEST

/* A machine that grows slower by 10 % a block hides a difference of 5 % from all but blocks. */
START_TEST(blocks_see_through_drift) {
    lbi_random random;
    lbi_random_seed(&random, 8);
    for (int blocks = 0; blocks < 2; blocks++) {
        lb_table *a = new_table(run_names, 3), *b = new_table(run_names, 3);
        draw(&random, a, "x", 20, 100, 0.01, -0.1, blocks);
        draw(&random, b, "x", 20, 105, 0.01, -0.1, blocks);
        lb_table *t = compared(a, b, NULL);
        if (blocks)
            ck_assert_double_eq(lb_table_get(t, 0, "difference"), 1);
        else
            ck_assert(isnan(lb_table_get(t, 0, "difference")));
        lb_table_free(t);
        t = compared(b, a, NULL);
        if (blocks)
            ck_assert_double_eq(lb_table_get(t, 0, "difference"), -1);
        lb_table_free(t);
        lb_table_free(a);
        lb_table_free(b);
    }
}
END_TEST

START_TEST(what_is_too_small_to_name_is_said_to_be_so) {
    lbi_random random;
    lbi_random_seed(&random, 9);
    lb_table *a = new_table(run_names, 3), *b = new_table(run_names, 3);
    draw(&random, a, "x", 30, 100, 0.002, 0, false);
    draw(&random, b, "x", 30, 100.5, 0.002, 0, false);
    lb_table *t = compared(a, b, NULL);
    ck_assert_double_lt(lb_table_get(t, 0, "p"), 0.001);
    ck_assert_double_eq(lb_table_get(t, 0, "difference"), 0);
    lb_table_free(t);
    lb_table_free(a);
    lb_table_free(b);
}
END_TEST

/* Points of one side alone are no rows; invalid runs are counted; p are adjusted over all rows. */
START_TEST(a_sweep_is_compared_point_by_point) {
    lbi_random random;
    lbi_random_seed(&random, 10);
    lb_error err;
    lb_table *a = new_table(run_names, 3), *b = new_table(run_names, 3);
    static const char *const points[] = {"users 1", "users 2", "users 4"};
    for (int i = 0; i < 3; i++) {
        draw(&random, a, points[i], 10, 100 * (i + 1), 0.01, 0, false);
        draw(&random, b, points[i], 10, 120 * (i + 1), 0.01, 0, false);
    }
    draw(&random, a, "users 8", 10, 100, 0.01, 0, false);
    static const double disturbed[] = {NAN, 5, 0}, missing[] = {NAN, NAN, 1};
    add(b, "users 2", disturbed);
    add(b, "users 2", missing);
    ASSERT_OK(lb_table_set_meta(a, "kernel", "6.1", &err), err);
    ASSERT_OK(lb_table_set_meta(b, "kernel", "6.12", &err), err);
    lb_table *t = compared(a, b, NULL);
    ck_assert_uint_eq(lb_table_rows(t), 3);
    ck_assert_double_eq(lb_table_get(t, 1, "runs_other"), 10);
    ck_assert_double_eq(lb_table_get(t, 1, "invalid_other"), 2);
    ck_assert_str_eq(lb_table_meta(t, "base.kernel"), "6.1");
    ck_assert_str_eq(lb_table_meta(t, "other.kernel"), "6.12");
    for (size_t i = 0; i < 3; i++) {
        /* All ten above all ten: 2 / (20 choose 10), three times over. */
        ck_assert_double_eq_tol(lb_table_get(t, i, "p"), 2.0 / 184756, 1e-12);
        ck_assert_double_eq_tol(lb_table_get(t, i, "p_adjusted"), 6.0 / 184756, 1e-12);
        ck_assert_double_eq(lb_table_get(t, i, "superiority"), 1);
        ck_assert_double_eq(lb_table_get(t, i, "difference"), 1);
        ck_assert(lb_table_get(t, i, "ratio_low") < 1.2 && lb_table_get(t, i, "ratio_high") > 1.2);
    }
    lb_table_free(t);
    lb_table_free(a);
    lb_table_free(b);
}
END_TEST

/* Values of 0 and below have no ratio, but an order. */
START_TEST(without_ratios_the_order_decides) {
    static const char *const names[] = {"balance"};
    lb_table *a = new_table(names, 1), *b = new_table(names, 1);
    for (int i = 0; i < 10; i++) {
        double low = -i, high = i + 1;
        add(a, NULL, &low);
        add(b, NULL, &high);
    }
    lb_table *t = compared(a, b, NULL);
    ck_assert(isnan(lb_table_get(t, 0, "ratio")));
    ck_assert_double_eq(lb_table_get(t, 0, "difference"), 1);
    lb_table_free(t);
    lb_table_free(a);
    lb_table_free(b);
}
END_TEST

START_TEST(bad_input_is_refused) {
    static const char *const names[] = {"x"}, *const others[] = {"y"};
    lb_table *a = new_table(names, 1), *b = new_table(others, 1), *t = NULL;
    double value = 1;
    lb_error err;
    lb_compare_options options;
    lb_compare_options_init(&options, sizeof options);
    options.confidence = 1;
    ASSERT_REFUSED(lb_compare(a, a, &options, &t, &err), LB_ERR_INVALID, "confidence is 1", err);
    lb_compare_options_init(&options, sizeof options);
    options.smallest_effect = NAN;
    ASSERT_REFUSED(lb_compare(a, a, &options, &t, &err), LB_ERR_INVALID, "smallest_effect is nan",
                   err);
    lb_compare_options_init(&options, sizeof options);
    options.metric = "x";
    ASSERT_REFUSED(lb_compare(a, b, &options, &t, &err), LB_ERR_INVALID, "a column of `other`",
                   err);
    ASSERT_REFUSED(lb_compare(b, a, &options, &t, &err), LB_ERR_INVALID, "a column of `base`", err);
    ASSERT_REFUSED(lb_compare(a, a, NULL, &t, &err), LB_ERR_INVALID, "nothing in common", err);
    add(a, "p", &value);
    add(b, "p", &value);
    ASSERT_REFUSED(lb_compare(a, b, NULL, &t, &err), LB_ERR_INVALID, "nothing in common", err);
    ck_assert_ptr_null(t);
    lb_table_free(a);
    lb_table_free(b);
}
END_TEST

START_TEST(allocation_failures_are_told) {
    lbi_random random;
    lbi_random_seed(&random, 11);
    lb_table *a = new_table(run_names, 3), *b = new_table(run_names, 3);
    lb_error err;
    for (int blocks = 0; blocks < 2; blocks++) {
        draw(&random, a, blocks ? "x" : "y", 8, 1, 0.1, 0, blocks);
        draw(&random, b, blocks ? "x" : "y", 8, 2, 0.1, 0, blocks);
    }
    ASSERT_OK(lb_table_set_meta(a, "kernel", "6.1", &err), err);
    lb_status status;
    size_t count;
    SWEEP_ALLOCATIONS(status, count, {
        lb_table *t = NULL;
        status = lb_compare(a, b, NULL, &t, &err);
        lb_table_free(t);
    });
    ck_assert_uint_gt(count, 30);
    lb_table_free(a);
    lb_table_free(b);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("compare");
    ADD(s, "itself", a_machine_is_compared_with_itself);
    ADD(s, "seed", sdet_comes_out_in_the_seeds_form, kernbench_has_a_row_a_metric,
        reaim_has_one_denominator);
    ADD(s, "differences", blocks_see_through_drift, what_is_too_small_to_name_is_said_to_be_so,
        a_sweep_is_compared_point_by_point, without_ratios_the_order_decides);
    ADD(s, "faults", bad_input_is_refused, allocation_failures_are_told);
    TCase *chance = tcase_create("chance");
    tcase_set_timeout(chance, 120);
    tcase_add_loop_test(chance, intervals_cover_and_chance_is_seldom_called_a_difference, 0, 6);
    suite_add_tcase(s, chance);
    return s;
}
