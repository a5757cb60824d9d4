/* SPDX-License-Identifier: BSD-3-Clause */
/* What the other parts may read of a workload. */
#ifndef LBI_MODEL_WORKLOAD_H
#define LBI_MODEL_WORKLOAD_H

#include <stdbool.h>

#include "base/error.h"

#define LBI_ANY_CORE UINT32_MAX

double lbi_workload_work(const lb_workload *workload, size_t index);
/* LBI_ANY_CORE: not set */
uint32_t lbi_workload_first_core(const lb_workload *workload, size_t index);
/* Whether any process arrives after time 0, has a weight other than 1, or has events. */
bool lbi_workload_has_arrivals(const lb_workload *workload);
bool lbi_workload_has_weights(const lb_workload *workload);
bool lbi_workload_has_events(const lb_workload *workload);
double lbi_workload_arrival(const lb_workload *workload, size_t index);
double lbi_workload_weight(const lb_workload *workload, size_t index);

/* The events, in the order added. */
typedef struct lbi_event {
    double time;
    uint32_t index;
    int32_t kind; /* an lb_event_kind */
} lbi_event;

const lbi_event *lbi_workload_events(const lb_workload *workload, size_t *ret_n);

#endif
