/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LBI_CLASSIFY_SUPPORT_H
#define LBI_CLASSIFY_SUPPORT_H

#include "classify/likelihood.h"

/* How much the moments in which two policies differ say for `policy` and its most probable history:
 * log odds. The likelihoods themselves also tell how well each search happened to follow the lists,
 * which is nothing that policies differ in. `sizes` and `tasks` are workspaces, [task] and [2 *
 * task]; `progress` is scaled as it was fitted. */
double lbi_support(const lbi_progress *progress, const lbi_lists *lists, lb_policy policy,
                   lb_policy rival, uint16_t *sizes, uint32_t *tasks);

/* The rates of whole intervals in which tasks are no multiple of cores, as log likelihoods: evened
 * out, or those of lists that nobody touches between ends. */
typedef struct lbi_evenness {
    double even, lists;
    size_t rates;
} lbi_evenness;

lbi_evenness lbi_measure_evenness(const lbi_progress *progress);

#endif
