/* SPDX-License-Identifier: BSD-3-Clause */
/* Times two ways of doing the same in turns, and prints what one is of the other. C and C++. */
#ifndef BENCH_H
#define BENCH_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* CPU seconds of this process (of which one thread runs): what others do beside it hardly counts.
 */
static inline double bench_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Does it once; returns the seconds that count. */
typedef double (*bench_fn)(void *user);

enum {
    BENCH_PAIRS_MAX = 101
};

static inline int bench_compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static inline double bench_quantile(double *sorted, int n, double p) {
    double at = p * (n - 1);
    int below = (int)at;
    return below + 1 < n ? sorted[below] + (at - below) * (sorted[below + 1] - sorted[below])
                         : sorted[below];
}

static inline void bench_head(void) {
    printf("%9s  %19s  %9s  %11s  %11s  %5s  %s\n", "ratio", "quartiles", "goal", "lbsched",
           "the other", "pairs", "what");
}

/* One row: library over other, or other over library where `faster` (times as fast), as the goal is
 * said. The pairs alternate in order, and each gives one ratio; the first is not counted. */
static inline void bench_row(const char *what, bench_fn library, bench_fn other, void *user,
                             int pairs, int faster, double goal) {
    double ratio[BENCH_PAIRS_MAX], a[BENCH_PAIRS_MAX], b[BENCH_PAIRS_MAX];
    for (int k = -1; k < pairs; k++) {
        double x, y;
        if (k % 2 == 0) {
            x = library(user);
            y = other(user);
        } else {
            y = other(user);
            x = library(user);
        }
        if (k < 0)
            continue;
        a[k] = x;
        b[k] = y;
        ratio[k] = faster ? y / x : x / y;
    }
    qsort(ratio, (size_t)pairs, sizeof *ratio, bench_compare);
    qsort(a, (size_t)pairs, sizeof *a, bench_compare);
    qsort(b, (size_t)pairs, sizeof *b, bench_compare);
    double median = bench_quantile(ratio, pairs, 0.5);
    char goal_text[32];
    snprintf(goal_text, sizeof goal_text, "%s %g", faster ? ">=" : "<=", goal);
    printf("%9.4g  %8.4g .. %7.4g  %9s  %9.4g s  %9.4g s  %5d  %s%s\n", median,
           bench_quantile(ratio, pairs, 0.25), bench_quantile(ratio, pairs, 0.75), goal_text,
           bench_quantile(a, pairs, 0.5), bench_quantile(b, pairs, 0.5), pairs, what,
           (faster ? median >= goal : median <= goal) ? "" : "  (missed)");
    fflush(stdout);
}

#endif
