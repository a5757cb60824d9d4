/* SPDX-License-Identifier: BSD-3-Clause */
/* The realisations of a problem, those of equal outcome taken together. */
#ifndef TESTS_OUTCOMES_H
#define TESTS_OUTCOMES_H

#include "oracle.h"

struct outcomes {
    int n;
    const double *arrival;
    size_t count;
    struct outcome {
        long double probability;
        long double duration[ORACLE_PROCESSES];
        long seen;
    } outcome[2000];
    bool full; /* there are more */
};

/* For a problem, which must stay. */
void outcomes_reset(struct outcomes *all, const struct oracle_problem *problem);
/* An oracle_leaf_fn; `user` is a struct outcomes. */
void outcomes_collect(void *user, long double probability, const long double *durations);
/* NULL: there is none. */
struct outcome *outcomes_find(struct outcomes *all, const long double *durations);
/* Whether two durations are one, to 1e-9 of the completion time. */
bool outcomes_same_time(double arrival, long double a, long double b);
/* Whether something of that probability may have been seen so often in so many draws: within 5
 * standard errors; five times more or less is no news. */
bool outcomes_share(long seen, long double probability, double draws);

#endif
