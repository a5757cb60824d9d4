/* SPDX-License-Identifier: BSD-3-Clause */
/* Samples: order statistics, rank tests, adjustment of many tests. */
#ifndef LBI_BASE_STATISTICS_H
#define LBI_BASE_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>

void lbi_sort_doubles(double *values, size_t n);

/* Of sorted values, n > 0, 0 <= p <= 1: linear between order statistics ("type 7": Hyndman and Fan,
 * Sample Quantiles in Statistical Packages, 1996). */
double lbi_quantile(const double *sorted, size_t n, double p);

double lbi_mean(const double *values, size_t n);
/* The sample's (n - 1), 0 of one value. */
double lbi_stddev(const double *values, size_t n);

/* An interval that holds the median with that confidence: order statistics, interpolated
 * (Hettmansperger and Sheather, Confidence Intervals Based on Interpolated Order Statistics, 1986).
 * False: the sample is too small for it; then the interval is its whole range. */
bool lbi_median_interval(const double *sorted, size_t n, double confidence, double *ret_low,
                         double *ret_high);

/* Two-sided p of the hypothesis that a and b come from one distribution: Mann and Whitney's rank
 * sum test, exact where there are no ties and fewer than 50 values on both sides, else by the
 * normal approximation with correction for ties and continuity. *ret_u counts the pairs in which
 * a's value is above b's (ties one half). False: no memory. NAN where a side is empty. */
bool lbi_rank_sum_test(const double *a, size_t n, const double *b, size_t m, double *ret_u,
                       double *ret_p);

/* The interval of the shift between two samples that the rank sum test does not reject: of all n m
 * differences between them, sorted. *ret_possible is false where they are too few. False: no
 * memory.
 */
bool lbi_shift_interval(const double *differences, size_t n, size_t m, double confidence,
                        double *ret_low, double *ret_high, bool *ret_possible);

/* Two-sided p of the hypothesis that the differences lie around 0: Wilcoxon's signed rank test,
 * exact where there are no ties, no zeros and fewer than 50 differences, else by the normal
 * approximation. *ret_v is the sum of the positive ones' ranks. False: no memory. NAN where no
 * difference is other than 0. */
bool lbi_signed_rank_test(const double *differences, size_t n, double *ret_v, double *ret_p);

/* p values of n tests made so that the chance of any false rejection stays below the level (Holm,
 * A Simple Sequentially Rejective Multiple Test Procedure, 1979). NAN stays and does not count.
 * False: no memory. */
bool lbi_holm(const double *p, size_t n, double *ret_adjusted);

#endif
