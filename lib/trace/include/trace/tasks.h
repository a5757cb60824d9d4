/* SPDX-License-Identifier: BSD-3-Clause */
/* A sealed trace, task by task. */
#ifndef LBI_TRACE_TASKS_H
#define LBI_TRACE_TASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lbsched/lbsched.h"

bool lbi_trace_sealed(const lb_trace *trace);

/* A task that has units or slices. Zero-initialise for lbi_trace_next_task(). */
typedef struct lbi_task {
    const lb_unit *units; /* by start */
    size_t unit_count;
    const lb_slice *slices; /* by start */
    size_t slice_count;
    uint32_t task;
    size_t next_unit, next_slice; /* where the next task begins in the trace */
} lbi_task;

/* Goes to the next task, in order of their numbers; false: there is none. */
bool lbi_trace_next_task(const lb_trace *trace, lbi_task *task);

/* When the task is first and last seen: its first unit or slice starts, its last one ends. */
int64_t lbi_task_start_ns(const lbi_task *task);
int64_t lbi_task_end_ns(const lbi_task *task);

/* From one time to another, in seconds. Times may be as far apart as int64_t is wide, so that
 * their plain difference may overflow. */
double lbi_seconds_between(int64_t from_ns, int64_t to_ns);

#endif
