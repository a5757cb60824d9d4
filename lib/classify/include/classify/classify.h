/* SPDX-License-Identifier: BSD-3-Clause */
/* All that was fitted to a trace, from which verdict and reasons are made. */
#ifndef LBI_CLASSIFY_CLASSIFY_H
#define LBI_CLASSIFY_CLASSIFY_H

#include "classify/likelihood.h"
#include "classify/verdict.h"

typedef struct lbi_fit {
    lbi_progress progress;
    lbi_lists lists[LBI_POLICIES]; /* of none, lazy and active */
    lbi_sharing sharing;
    size_t observations; /* windows of tasks in which progress was observed */
    double log_likelihood[LBI_POLICIES];
    double scale[LBI_POLICIES]; /* that suits each best */
    double foreign_percent;     /* NAN: the trace does not tell */
} lbi_fit;

/* lb_classify() of units that are sorted by task, then start, and do not overlap. */
lb_status lbi_classify_units(uint32_t cores, double unit_work, const lb_unit *units, size_t n,
                             double confidence, double foreign_percent, lb_verdict **ret_verdict,
                             lb_error *err);

#endif
