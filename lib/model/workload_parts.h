/* SPDX-License-Identifier: BSD-3-Clause */
/* What a workload is made of, for the model alone; model/workload.h is for the other parts. */
#ifndef LBI_MODEL_WORKLOAD_PARTS_H
#define LBI_MODEL_WORKLOAD_PARTS_H

#include <math.h>

#include "model/workload.h"

/* Slots, list positions and counts are 32 bits wide; the arena of the lists needs some room. */
#define LBI_PROCESSES_MAX 0x7fff0000u

struct lb_workload {
    size_t size;
    double *works;
    /* Each is NULL until the first of its kind is set, and then as long as `works`. */
    double *arrivals;
    double *weights;
    uint32_t *first_cores; /* LBI_ANY_CORE: not set */
    uint8_t *has_events;
    size_t works_capacity, arrivals_capacity, weights_capacity, first_cores_capacity,
        has_events_capacity;
    bool weighted, cored, arriving; /* whether the array is in use: clearing keeps memory */
    lbi_event *events;              /* in the order added */
    size_t event_count, events_capacity;
};

/* Progress is counted in work over weight, which a double must hold. */
static inline bool lbi_is_heavy_enough(double weight, double work) {
    return work == INFINITY || work / weight < INFINITY;
}

lb_status lbi_workload_copy(const lb_workload *workload, lb_workload **ret_copy, lb_error *err);

#endif
