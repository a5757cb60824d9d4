/* SPDX-License-Identifier: BSD-3-Clause */
/* Times until something happens, of which some are known only to be longer than was watched: the
 * product-limit estimate (Kaplan and Meier, 1958). */
#ifndef LBI_CLASSIFY_SURVIVAL_H
#define LBI_CLASSIFY_SURVIVAL_H

#include <stdbool.h>
#include <stddef.h>

typedef struct lbi_wait {
    double seconds;
    bool ended; /* it happened then; false: it had not when watching ended */
} lbi_wait;

/* Sorts for lbi_wait_quantile(). */
void lbi_waits_sort(lbi_wait *waits, size_t n);
/* The least time by which the part `p` of all has happened, 0 < p <= 1. INFINITY: so many never did
 * while they were watched; NAN: there are none. */
double lbi_wait_quantile(const lbi_wait *waits, size_t n, double p);

#endif
