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

#endif
