/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LBI_EXPERIMENT_REPEAT_H
#define LBI_EXPERIMENT_REPEAT_H

#include "lbsched/lbsched.h"

/* lb_experiment_run(), again while the run was disturbed and the budget lasts: gives the first that
 * was not, else the one that others disturbed least. `options` are checked. */
lb_status lbi_run_undisturbed(const lb_host *host, lb_experiment_kind kind,
                              const lb_experiment_options *options, lb_trace **ret_trace,
                              lb_error *err);

#endif
