/* SPDX-License-Identifier: BSD-3-Clause */
/* A trace that is being written. */
#ifndef LBI_MODEL_PREDICTED_TRACE_H
#define LBI_MODEL_PREDICTED_TRACE_H

#include "timeline.h"

/* Of units and slices together, and of moves; as documented. */
#define LBI_TRACE_MAX 10000000u

typedef struct lbi_writer {
    const lbi_timeline *timeline;
    lb_trace *trace;
    lb_error *err;
    lb_status status; /* sticks at the first failure */
    size_t count;     /* of units and slices */
} lbi_writer;

/* Nanoseconds; LB_ERR_LIMIT past what they can hold. */
int64_t lbi_writer_time(lbi_writer *writer, double seconds);
/* One unit or slice more; false: it has failed. */
bool lbi_writer_count(lbi_writer *writer);

/* turns.c: slices of `slice` seconds times the weight, round robin on every core. */
void lbi_write_slices(lbi_writer *writer, double slice);

#endif
