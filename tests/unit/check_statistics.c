/* SPDX-License-Identifier: BSD-3-Clause */
/* Statistics against enumeration; against R: statistics_samples.c. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "base/statistics.h"
#include "harness.h"

START_TEST(quantiles_lie_between_order_statistics) {
    double values[] = {1, 2, 4, 8};
    ck_assert_double_eq(lbi_quantile(values, 4, 0), 1);
    ck_assert_double_eq(lbi_quantile(values, 4, 0.5), 3);
    ck_assert_double_eq(lbi_quantile(values, 4, 0.25), 1.75);
    ck_assert_double_eq(lbi_quantile(values, 4, 1), 8);
    ck_assert_double_eq(lbi_quantile(values, 1, 0.3), 1);
    ck_assert_double_eq(lbi_mean(values, 4), 3.75);
    ck_assert_double_eq_tol(lbi_stddev(values, 4), sqrt(28.75 / 3), 1e-12);
    ck_assert_double_eq(lbi_stddev(values, 1), 0);
}
END_TEST

/* All ways to choose which of the ranks belong to a; two-sided as the doubled smaller tail. */
static double enumerated_rank_sum(unsigned n, unsigned m, unsigned u) {
    double all = 0, low = 0, high = 0;
    for (unsigned set = 0; set < 1u << (n + m); set++) {
        unsigned chosen = 0, above = 0;
        for (unsigned i = 0; i < n + m; i++)
            if (set >> i & 1)
                above += i - chosen++;
        if (chosen != n)
            continue;
        all++;
        low += above <= u;
        high += above >= u;
    }
    return fmin(1, 2 * fmin(low, high) / all);
}

START_TEST(rank_sums_agree_with_enumeration) {
    lbi_random random;
    lbi_random_seed(&random, 1);
    for (int round = 0; round < 200; round++) {
        double a[8], b[8], u, p;
        unsigned n = 1 + (unsigned)lbi_random_below(&random, 6);
        unsigned m = 1 + (unsigned)lbi_random_below(&random, 6);
        for (unsigned i = 0; i < n; i++)
            a[i] = lbi_random_unit(&random);
        for (unsigned i = 0; i < m; i++)
            b[i] = lbi_random_unit(&random) + 0.3;
        ck_assert(lbi_rank_sum_test(a, n, b, m, &u, &p));
        double pairs = 0;
        for (unsigned i = 0; i < n; i++)
            for (unsigned k = 0; k < m; k++)
                pairs += a[i] > b[k];
        ck_assert_double_eq(u, pairs);
        ck_assert_double_eq_tol(p, enumerated_rank_sum(n, m, (unsigned)u), 1e-12);
    }
}
END_TEST

START_TEST(signed_ranks_agree_with_enumeration) {
    lbi_random random;
    lbi_random_seed(&random, 2);
    for (int round = 0; round < 200; round++) {
        double d[12], v, p;
        unsigned n = 1 + (unsigned)lbi_random_below(&random, 12);
        for (unsigned i = 0; i < n; i++)
            d[i] = lbi_random_unit(&random) - 0.4;
        ck_assert(lbi_signed_rank_test(d, n, &v, &p));
        double low = 0, high = 0;
        for (unsigned set = 0; set < 1u << n; set++) {
            double sum = 0;
            for (unsigned i = 0; i < n; i++)
                sum += set >> i & 1 ? i + 1 : 0;
            low += sum <= v;
            high += sum >= v;
        }
        ck_assert_double_eq_tol(p, fmin(1, 2 * fmin(low, high) / (1u << n)), 1e-12);
    }
}
END_TEST

/* With ties and at 50 and more values the normal approximation holds; the numbers are R's. */
START_TEST(what_has_no_answer_is_nan_and_ties_are_taken) {
    double a[] = {1, 2, 2, 3}, b[] = {2, 4, 5}, zeros[] = {0, 0}, u, p;
    ck_assert(lbi_rank_sum_test(a, 4, b, 3, &u, &p));
    ck_assert_double_eq(u, 2);
    ck_assert_double_eq_tol(p, 0.1990898521, 1e-9); /* wilcox.test(c(1,2,2,3), c(2,4,5)) */
    ck_assert(lbi_rank_sum_test(a, 0, b, 3, &u, &p));
    ck_assert(isnan(p));
    ck_assert(lbi_signed_rank_test(zeros, 2, &u, &p));
    ck_assert(isnan(p));
    double same[] = {3, 3, 3};
    ck_assert(lbi_rank_sum_test(same, 3, same, 3, &u, &p));
    ck_assert_double_eq(p, 1);
}
END_TEST

START_TEST(holm_raises_and_keeps_the_order) {
    double p[] = {0.01, 0.04, NAN, 0.03, 0.005}, adjusted[5];
    ck_assert(lbi_holm(p, 5, adjusted));
    ck_assert_double_eq_tol(adjusted[0], 0.03, 1e-15);
    ck_assert_double_eq_tol(adjusted[1], 0.06, 1e-15);
    ck_assert(isnan(adjusted[2]));
    ck_assert_double_eq_tol(adjusted[3], 0.06, 1e-15);
    ck_assert_double_eq_tol(adjusted[4], 0.02, 1e-15);
}
END_TEST

/* A standard normal number, Box and Muller's way. */
static double normal(lbi_random *random) {
    return sqrt(-2 * log(lbi_random_unit(random))) *
           cos(6.283185307179586 * lbi_random_unit(random));
}

/* 93 to 97 % of the intervals hold the median, be the distribution symmetric or not: 20,000 draws
 * have a standard error of 0.15 points. */
START_TEST(median_intervals_cover_what_they_say) {
    static const size_t sizes[] = {10, 15, 30};
    size_t n = sizes[_i / 2];
    bool skewed = _i % 2 == 1;
    lbi_random random;
    lbi_random_seed(&random, 3);
    const int draws = 20000;
    int held = 0;
    for (int draw = 0; draw < draws; draw++) {
        double values[30], low, high;
        for (size_t i = 0; i < n; i++)
            values[i] = skewed ? lbi_random_exponential(&random, 1) : normal(&random);
        lbi_sort_doubles(values, n);
        ck_assert(lbi_median_interval(values, n, 0.95, &low, &high));
        double median = skewed ? log(2) : 0;
        held += low <= median && median <= high;
    }
    double share = (double)held / draws;
    ck_assert_msg(share > 0.93 && share < 0.97, "%zu values: %.4f", n, share);
}
END_TEST

START_TEST(small_samples_have_no_interval) {
    double values[] = {1, 2, 3, 4, 5}, low, high;
    ck_assert(!lbi_median_interval(values, 5, 0.95, &low, &high));
    ck_assert_double_eq(low, 1);
    ck_assert_double_eq(high, 5);
    ck_assert(!lbi_median_interval(values, 1, 0.95, &low, &high));
    double six[] = {1, 2, 3, 4, 5, 6};
    ck_assert(lbi_median_interval(six, 6, 0.95, &low, &high));
    ck_assert(low > 1 && low < 2 && high > 5 && high < 6);
    ck_assert_double_eq_tol(low - 1, 6 - high, 1e-12);
}
END_TEST

START_TEST(allocation_failures_are_told) {
    double a[] = {1, 2, 3}, b[] = {1.5, 2.5}, x, y, adjusted[3];
    size_t count;
    lb_status status;
    SWEEP_ALLOCATIONS(status, count, {
        bool done = lbi_rank_sum_test(a, 3, b, 2, &x, &y);
        done = done && lbi_signed_rank_test(a, 3, &x, &y);
        done = done && lbi_holm(a, 3, adjusted);
        status = done ? LB_OK : LB_ERR_NOMEM;
    });
    ck_assert_uint_eq(count, 8);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("statistics");
    ADD(s, "samples", quantiles_lie_between_order_statistics, small_samples_have_no_interval);
    ADD(s, "tests", rank_sums_agree_with_enumeration, signed_ranks_agree_with_enumeration,
        what_has_no_answer_is_nan_and_ties_are_taken, holm_raises_and_keeps_the_order,
        allocation_failures_are_told);
    TCase *coverage = tcase_create("coverage");
    tcase_set_timeout(coverage, 120);
    tcase_add_loop_test(coverage, median_intervals_cover_what_they_say, 0, 6);
    suite_add_tcase(s, coverage);
    return s;
}
