/* SPDX-License-Identifier: BSD-3-Clause */
/* When which worker of LB_EXPERIMENT_DETECT ends. */
#ifndef LBI_EXPERIMENT_SCHEDULE_H
#define LBI_EXPERIMENT_SCHEDULE_H

#include <stdint.h>

/* The times of the ends of cores * tasks_per_core workers, ascending from the start of the first
 * interval, `available_ns` at most. `round_ns` is how long the tasks of one core take for a turn
 * each: intervals that decide are long against it. */
void lbi_schedule_ends(uint32_t cores, uint32_t tasks_per_core, int64_t round_ns,
                       int64_t available_ns, int64_t *ret_ends);

/* The worker that ends as k-th, where workers are dealt round robin. */
uint32_t lbi_schedule_victim(uint32_t cores, uint32_t tasks_per_core, uint32_t k);

#endif
