/* SPDX-License-Identifier: BSD-3-Clause */
#include "outcomes.h"

#include <math.h>
#include <string.h>

void outcomes_reset(struct outcomes *all, const struct oracle_problem *problem) {
    all->n = problem->n;
    all->arrival = problem->arrival;
    all->count = 0;
    all->full = false;
}

bool outcomes_same_time(double arrival, long double a, long double b) {
    return a == b || fabsl(a - b) <= 1e-9L * (arrival + fminl(a, b));
}

struct outcome *outcomes_find(struct outcomes *all, const long double *durations) {
    for (size_t k = 0; k < all->count; k++) {
        int i = 0;
        while (i < all->n &&
               outcomes_same_time(all->arrival[i], all->outcome[k].duration[i], durations[i]))
            i++;
        if (i == all->n)
            return &all->outcome[k];
    }
    return NULL;
}

void outcomes_collect(void *user, long double probability, const long double *durations) {
    struct outcomes *all = user;
    struct outcome *outcome = outcomes_find(all, durations);
    if (outcome == NULL) {
        all->full = all->count == sizeof all->outcome / sizeof *all->outcome;
        if (all->full)
            return;
        outcome = &all->outcome[all->count++];
        outcome->probability = 0;
        outcome->seen = 0;
        memcpy(outcome->duration, durations, (size_t)all->n * sizeof *durations);
    }
    outcome->probability += probability;
}

bool outcomes_share(long seen, long double probability, double draws) {
    long double gap = fabsl((double)seen - draws * probability);
    return gap <= 5 * sqrtl(draws * probability * fmaxl(0, 1 - probability)) + 5;
}
