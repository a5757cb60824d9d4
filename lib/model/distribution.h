/* SPDX-License-Identifier: BSD-3-Clause */
/* Realisations kept whole, in the order of their numbers. */
#ifndef LBI_MODEL_DISTRIBUTION_H
#define LBI_MODEL_DISTRIBUTION_H

#include <stdbool.h>

#include "base/error.h"

struct lb_distribution {
    size_t processes;
    uint64_t problem; /* a hash of model, workload and seed: what may be merged */
    bool exact;
    size_t rows, row_capacity, weight_capacity, value_capacity;
    uint64_t *numbers; /* of the realisations, rising */
    double *weights;   /* probabilities where exact, else 1 */
    double *values;    /* of each row the durations of all processes, then the makespan */
};

static inline size_t lbi_distribution_width(const lb_distribution *distribution) {
    return distribution->processes + 1;
}

lb_status lbi_distribution_new(size_t processes, lb_distribution **ret_distribution, lb_error *err);
bool lbi_distribution_reserve(lb_distribution *distribution, size_t rows);

#endif
