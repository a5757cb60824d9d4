/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define EXACT_BELOW 50 /* values on a side, beyond which the normal approximation is as good */

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void lbi_sort_doubles(double *values, size_t n) {
    qsort(values, n, sizeof *values, compare_doubles);
}

double lbi_quantile(const double *sorted, size_t n, double p) {
    double place = p * (double)(n - 1);
    size_t below = (size_t)place;
    if (below >= n - 1)
        return sorted[n - 1];
    double part = place - (double)below;
    return part == 0 ? sorted[below] : (1 - part) * sorted[below] + part * sorted[below + 1];
}

double lbi_mean(const double *values, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += values[i] / (double)n;
    return sum;
}

double lbi_stddev(const double *values, size_t n) {
    if (n < 2)
        return 0;
    double mean = lbi_mean(values, n), squares = 0;
    for (size_t i = 0; i < n; i++)
        squares += (values[i] - mean) * (values[i] - mean) / (double)(n - 1);
    return sqrt(squares);
}

/* The probability that more than d and fewer than n - d of n values lie below the median, by which
 * the d-th smallest and the d-th largest (d from 1) enclose it. */
static double coverage(size_t n, size_t d) {
    double log_term = -(double)n * log(2), below = 0;
    for (size_t k = 0; k < d; k++) {
        below += exp(log_term);
        log_term += log((double)(n - k)) - log((double)(k + 1));
    }
    return 1 - 2 * below;
}

bool lbi_median_interval(const double *sorted, size_t n, double confidence, double *ret_low,
                         double *ret_high) {
    *ret_low = sorted[0];
    *ret_high = sorted[n - 1];
    if (coverage(n, 1) < confidence)
        return false;
    size_t d = 1;
    while (2 * (d + 1) <= n && coverage(n, d + 1) >= confidence)
        d++;
    double outer = coverage(n, d), inner = 2 * (d + 1) <= n ? coverage(n, d + 1) : 0;
    double share = (outer - confidence) / (outer - inner);
    double weight = (double)(n - d) * share / ((double)d + ((double)n - 2 * (double)d) * share);
    *ret_low = (1 - weight) * sorted[d - 1] + weight * sorted[d];
    *ret_high = (1 - weight) * sorted[n - d] + weight * sorted[n - d - 1];
    return true;
}

/* ---- ranks ---- */

typedef struct ranked {
    double value;
    size_t place; /* where it came from */
} ranked;

static int compare_ranked(const void *a, const void *b) {
    return compare_doubles(&((const ranked *)a)->value, &((const ranked *)b)->value);
}

/* Writes every value's rank, from 1, the mean rank to equal ones, by its place; returns the sum of
 * t^3 - t over groups of t equal ones. */
static double rank(ranked *values, size_t n, double *ret_ranks) {
    qsort(values, n, sizeof *values, compare_ranked);
    double ties = 0;
    for (size_t i = 0, next; i < n; i = next) {
        for (next = i; next < n && values[next].value == values[i].value; next++)
            ;
        double t = (double)(next - i);
        for (size_t k = i; k < next; k++)
            ret_ranks[values[k].place] = ((double)i + 1 + (double)next) / 2;
        ties += t * t * t - t;
    }
    return ties;
}

/* Two-sided, of a statistic that differs so much from its mean. */
static double normal_p(double difference, double variance) {
    double corrected = difference == 0 ? 0 : fabs(difference) - 0.5;
    return erfc(fabs(corrected) / sqrt(2 * variance));
}

/* Two-sided, of a count with these numbers of ways for each value, symmetric about its middle. */
static double exact_p(const double *ways, size_t values, double statistic) {
    double all = 0, tail = 0;
    size_t value = (size_t)statistic;
    if (statistic > (double)(values - 1) / 2)
        value = values - 1 - value;
    for (size_t i = 0; i < values; i++) {
        all += ways[i];
        if (i <= value)
            tail += ways[i];
    }
    double p = 2 * tail / all;
    return p < 1 ? p : 1;
}

/* In how many ways can n of n + m ranks be chosen so that U is 0, 1, .. n m? Row j of the work
 * space holds them for j ranks of those gone through: a rank that is chosen as the j-th passes all
 * that were not chosen before it. */
static double *rank_sum_ways(size_t n, size_t m) {
    size_t values = n * m + 1;
    double *ways = lbi_array_new((n + 1) * values, sizeof *ways);
    if (ways == NULL)
        return NULL;
    memset(ways, 0, (n + 1) * values * sizeof *ways);
    ways[0] = 1;
    for (size_t i = 1; i <= n + m; i++)
        for (size_t j = i < n ? i : n; j >= 1 && i - j <= m; j--)
            for (size_t u = i - j; u < values; u++)
                ways[j * values + u] += ways[(j - 1) * values + u - (i - j)];
    memmove(ways, ways + n * values, values * sizeof *ways);
    return ways;
}

/* In how many ways can signs be given to 1 .. n so that the positive ones sum to 0, 1, ..? */
static double *signed_rank_ways(size_t n) {
    size_t values = n * (n + 1) / 2 + 1;
    double *ways = lbi_array_new(values, sizeof *ways);
    if (ways == NULL)
        return NULL;
    memset(ways, 0, values * sizeof *ways);
    ways[0] = 1;
    for (size_t i = 1; i <= n; i++)
        for (size_t k = values; k-- > i;)
            ways[k] += ways[k - i];
    return ways;
}

/* How many differences may be left out at each end so that no more than `tail` of probability is,
 * by the normal approximation. */
static size_t normal_ends(size_t n, size_t m, double tail) {
    double x = (double)n, y = (double)m, low = 0, high = 40;
    for (int i = 0; i < 100; i++) {
        double z = (low + high) / 2;
        if (erfc(z / sqrt(2)) / 2 > tail)
            low = z;
        else
            high = z;
    }
    double ends = x * y / 2 - high * sqrt(x * y * (x + y + 1) / 12);
    return ends < 0 ? 0 : (size_t)ends;
}

static size_t exact_ends(const double *ways, size_t values, double tail) {
    double all = 0, below = 0;
    for (size_t i = 0; i < values; i++)
        all += ways[i];
    size_t ends = 0;
    while (2 * (ends + 1) < values && below + ways[ends] <= tail * all)
        below += ways[ends++];
    return ends;
}

bool lbi_shift_interval(const double *differences, size_t n, size_t m, double confidence,
                        double *ret_low, double *ret_high, bool *ret_possible) {
    double tail = (1 - confidence) / 2;
    size_t ends;
    *ret_possible = false;
    if (n < EXACT_BELOW && m < EXACT_BELOW) {
        double *ways = rank_sum_ways(n, m);
        if (ways == NULL)
            return false;
        ends = exact_ends(ways, n * m + 1, tail);
        free(ways);
    } else {
        ends = normal_ends(n, m, tail);
    }
    if (ends == 0)
        return true;
    *ret_possible = true;
    *ret_low = differences[ends - 1];
    *ret_high = differences[n * m - ends];
    return true;
}

static bool exact_test(double *ways, size_t values, double statistic, double *ret_p) {
    if (ways == NULL)
        return false;
    *ret_p = exact_p(ways, values, statistic);
    free(ways);
    return true;
}

static bool rank_sum(const double *ranks, double ties, size_t n, size_t m, double *ret_u,
                     double *ret_p) {
    double sum = 0, x = (double)n, y = (double)m, all = x + y;
    for (size_t i = 0; i < n; i++)
        sum += ranks[i];
    *ret_u = sum - x * (x + 1) / 2;
    if (ties == 0 && n < EXACT_BELOW && m < EXACT_BELOW)
        return exact_test(rank_sum_ways(n, m), n * m + 1, *ret_u, ret_p);
    double variance = x * y / 12 * (all + 1 - ties / (all * (all - 1)));
    *ret_p = variance > 0 ? normal_p(*ret_u - x * y / 2, variance) : 1;
    return true;
}

bool lbi_rank_sum_test(const double *a, size_t n, const double *b, size_t m, double *ret_u,
                       double *ret_p) {
    *ret_u = *ret_p = NAN;
    if (n == 0 || m == 0)
        return true;
    ranked *values = lbi_array_new(n + m, sizeof *values);
    double *ranks = lbi_array_new(n + m, sizeof *ranks);
    bool done = values != NULL && ranks != NULL;
    if (done) {
        for (size_t i = 0; i < n + m; i++)
            values[i] = (ranked){i < n ? a[i] : b[i - n], i};
        double ties = rank(values, n + m, ranks);
        done = rank_sum(ranks, ties, n, m, ret_u, ret_p);
    }
    free(values);
    free(ranks);
    return done;
}

static bool signed_rank(const double *differences, const size_t *places, const double *ranks,
                        double ties, bool zeros, size_t n, double *ret_v, double *ret_p) {
    double x = (double)n;
    *ret_v = 0;
    for (size_t i = 0; i < n; i++)
        if (differences[places[i]] > 0)
            *ret_v += ranks[i];
    if (ties == 0 && !zeros && n < EXACT_BELOW)
        return exact_test(signed_rank_ways(n), n * (n + 1) / 2 + 1, *ret_v, ret_p);
    *ret_p = normal_p(*ret_v - x * (x + 1) / 4, x * (x + 1) * (2 * x + 1) / 24 - ties / 48);
    return true;
}

bool lbi_signed_rank_test(const double *differences, size_t n, double *ret_v, double *ret_p) {
    *ret_v = *ret_p = NAN;
    ranked *values = lbi_array_new(n, sizeof *values);
    double *ranks = lbi_array_new(n, sizeof *ranks);
    size_t *places = lbi_array_new(n, sizeof *places);
    bool done = values != NULL && ranks != NULL && places != NULL;
    size_t kept = 0;
    for (size_t i = 0; i < n && done; i++)
        if (differences[i] != 0) {
            values[kept] = (ranked){fabs(differences[i]), kept};
            places[kept++] = i;
        }
    if (done && kept > 0) {
        double ties = rank(values, kept, ranks);
        done = signed_rank(differences, places, ranks, ties, kept < n, kept, ret_v, ret_p);
    }
    free(values);
    free(ranks);
    free(places);
    return done;
}

bool lbi_holm(const double *p, size_t n, double *ret_adjusted) {
    ranked *values = lbi_array_new(n, sizeof *values);
    if (values == NULL)
        return false;
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        ret_adjusted[i] = p[i];
        if (!isnan(p[i]))
            values[count++] = (ranked){p[i], i};
    }
    qsort(values, count, sizeof *values, compare_ranked);
    double least = 0;
    for (size_t i = 0; i < count; i++) {
        double adjusted = values[i].value * (double)(count - i);
        least = adjusted > least ? adjusted : least;
        ret_adjusted[values[i].place] = least < 1 ? least : 1;
    }
    free(values);
    return true;
}
