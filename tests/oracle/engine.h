/* SPDX-License-Identifier: BSD-3-Clause */
/* The same problem for the library. All of these end the program where the library refuses. */
#ifndef TESTS_ENGINE_H
#define TESTS_ENGINE_H

#include "lbsched/lbsched.h"
#include "oracle.h"

lb_model *engine_model(const struct oracle_problem *problem);
lb_workload *engine_workload(const struct oracle_problem *problem);

/* Says what failed, with the library's message, and ends the program, unless `status` is LB_OK. */
void engine_must(lb_status status, const lb_error *err, const char *what);

/* lb_model_durations() of both, with these options; returns its status and frees all. */
lb_status engine_durations(const struct oracle_problem *problem, const lb_estimate_options *options,
                           lb_duration *ret_durations, lb_error *err);

#endif
