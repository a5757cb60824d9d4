/* SPDX-License-Identifier: BSD-3-Clause */
/* The even start: the same number of workers on every core, unbound. */
#ifndef LBI_EXPERIMENT_START_H
#define LBI_EXPERIMENT_START_H

#include "experiment/crew.h"

typedef struct lbi_start {
    uint32_t *sizes; /* how many workers each core had */
    int attempts;
} lbi_start;

/* Counts the workers that are seen on each core. True: as many as they were dealt, round robin. */
bool lbi_start_count(const lbi_crew *crew, uint32_t *ret_sizes);

/* Lets all work and arranges them; `start->sizes` has room for the host's cores. `bound`: they stay
 * bound. After START_ATTEMPTS it goes on with what there is. */
lb_status lbi_start_even(lbi_crew *crew, bool bound, lbi_start *start, lb_error *err);

/* Puts it into the trace's metadata. */
lb_status lbi_start_meta(const lbi_crew *crew, const lbi_start *start, lb_trace *trace,
                         lb_error *err);

#endif
