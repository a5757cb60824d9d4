/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of LB_EXPERIMENT_DETECT. */
#ifndef LBI_EXPERIMENT_DETECT_H
#define LBI_EXPERIMENT_DETECT_H

#include "experiment/adaptive.h"
#include "experiment/crew.h"
#include "experiment/emulation.h"

/* How long a task holds its core against others: the longer of unit and time slice. */
int64_t lbi_detect_turn(const lbi_crew *crew);

/* Takes over a crew that works (lbi_start_even()) and brings it to its end. */
lb_status lbi_detect_fixed(lbi_crew *crew, lb_error *err);

typedef struct lbi_course {
    lbi_adaptive adaptive;
    int64_t decided_ns; /* when no more had to be known */
} lbi_course;

/* Likewise, deciding as it goes. `emulation` balances in the kernel's stead; NULL: the kernel does.
 * `sizes` is a workspace of as many as there are cores. */
lb_status lbi_detect_adaptive(lbi_crew *crew, lbi_emulation *emulation, uint32_t *sizes,
                              lbi_course *ret_course, lb_error *err);

/* The whole experiment, with the kernel's balancing or another. */
lb_status lbi_detect_run(const lb_host *host, const lb_experiment_options *options,
                         lbi_emulation *emulation, lb_trace **ret_trace, lb_error *err);

#endif
