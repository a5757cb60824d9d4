/* SPDX-License-Identifier: BSD-3-Clause */
/* Mean, spread and range of one process's durations, as they come or joined from blocks. */
#ifndef LBI_MODEL_MOMENTS_H
#define LBI_MODEL_MOMENTS_H

#include "lbsched/lbsched.h"

typedef struct lbi_moments {
    double weight; /* of the realisations in which it completes: their number or probability */
    double missed; /* of those in which it does not */
    double mean;
    double square; /* the weighted sum of squared deviations from the mean */
    double min, max;
} lbi_moments;

void lbi_moments_clear(lbi_moments *moments, size_t count);
/* Durations of one realisation; INFINITY: does not complete. */
void lbi_moments_add(lbi_moments *moments, const double *durations, size_t count, double weight);
void lbi_moments_join(lbi_moments *into, const lbi_moments *from, size_t count);
/* 0: exact, the weights are probabilities. */
lb_duration lbi_moments_duration(const lbi_moments *moments, uint64_t samples, int exact);

#endif
