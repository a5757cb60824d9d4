/* SPDX-License-Identifier: BSD-3-Clause */
#include "classify/survival.h"

#include <math.h>
#include <stdlib.h>

/* What was watched for so long was there until then: it counts among those at risk. */
static int by_time(const void *a, const void *b) {
    const lbi_wait *x = a, *y = b;
    if (x->seconds != y->seconds)
        return x->seconds < y->seconds ? -1 : 1;
    return (int)y->ended - (int)x->ended;
}

void lbi_waits_sort(lbi_wait *waits, size_t n) {
    if (n > 0)
        qsort(waits, n, sizeof *waits, by_time);
}

double lbi_wait_quantile(const lbi_wait *waits, size_t n, double p) {
    double left = 1;
    for (size_t i = 0; i < n; i++) {
        if (!waits[i].ended)
            continue;
        left *= 1 - 1 / (double)(n - i);
        /* Rounding must not turn the last of ten into more than all. */
        if (1 - left >= p * (1 - 1e-12))
            return waits[i].seconds;
    }
    return n == 0 ? (double)NAN : (double)INFINITY;
}
