/* SPDX-License-Identifier: BSD-3-Clause */
/* Time in which no worker ran on a core, by slices. */
#ifndef LBI_EXPERIMENT_GAPS_H
#define LBI_EXPERIMENT_GAPS_H

#include "lbsched/lbsched.h"

/* A core that runs no worker for less is not idle: something was switched, or interrupted it. */
#define LBI_GAP_NS INT64_C(500000)

/* Percent of the cores' time from `from` to `to` that lies in gaps of LBI_GAP_NS and more. NAN
 * without slices. */
lb_status lbi_gaps_percent(const lb_trace *trace, uint32_t cores, int64_t from, int64_t to,
                           double *ret_percent, lb_error *err);

#endif
