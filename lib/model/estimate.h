/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LBI_MODEL_ESTIMATE_H
#define LBI_MODEL_ESTIMATE_H

#include "distribution.h"
#include "moments.h"
#include "plan.h"

/* The bounds that the header documents for LB_METHOD_EXACT. */
#define LBI_EXACT_REALISATIONS 1000000u
#define LBI_EXACT_DEPTH 40u

/* What an estimate is asked for: of the processes first .. first + count - 1. */
typedef struct lbi_estimate {
    const lbi_plan *plan;
    const lb_estimate_options *options;
    size_t first, count;
    lb_duration *ret_durations; /* `count` */
    lb_distribution *keep;      /* NULL, or where enumeration puts every realisation */
} lbi_estimate;

/* The defaults, with the caller's options over them, checked. */
lb_status lbi_estimate_options_read(const lb_estimate_options *options,
                                    lb_estimate_options *ret_options, lb_error *err);

/* When the last of those that complete does. */
double lbi_plan_makespan(const lbi_plan *plan, const double *durations);

/* LB_ERR_LIMIT past `limit` realisations or LBI_EXACT_DEPTH instants of chance in one. */
lb_status lbi_estimate_exactly(const lbi_estimate *estimate, uint64_t limit, lb_error *err);
lb_status lbi_estimate_by_sampling(const lbi_estimate *estimate, lb_error *err);

#endif
