/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LBI_MODEL_MODEL_H
#define LBI_MODEL_MODEL_H

#include <math.h>

#include <stdbool.h>

#include "base/error.h"

struct lb_model {
    lb_model_options options; /* core_speeds: `speeds` */
    double *speeds;           /* NULL: all 1 */
    uint32_t *rank;    /* of a core by speed, the fastest 0, then by index; NULL: its index */
    uint32_t *by_rank; /* the core of a rank; NULL likewise */
    double *fastest;   /* [m]: the sum of the m highest speeds; NULL: m */
};

extern const char *const lbi_model_policy_names[]; /* of every lb_policy */

lb_status lbi_model_copy(const lb_model *model, lb_model **ret_copy, lb_error *err);

/* Whether balancing chooses at random, so that realisations differ. */
bool lbi_model_is_random(const lb_model *model);
/* Processor sharing without run lists. */
bool lbi_model_is_shared(const lb_model *model);
/* Processor sharing with grain: run lists that rotate. */
bool lbi_model_rotates(const lb_model *model);

/* Whether groups of cores are balanced by weight. */
static inline bool lbi_model_is_grouped(const lb_model *model) {
    return model->options.group_cores > 0 && model->options.policy == LB_POLICY_ACTIVE;
}

/* Whether that much work ends on the slowest core in a time that a double holds. */
static inline bool lbi_model_is_fast_enough(const lb_model *model, double work) {
    return model->speeds == NULL || work == INFINITY ||
           work / model->speeds[model->by_rank[model->options.cores - 1]] < INFINITY;
}

#endif
