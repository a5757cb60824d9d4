/* SPDX-License-Identifier: BSD-3-Clause */
/* One run of a task, looked after from outside. */
#ifndef LBI_EXPERIMENT_CONTROLLER_H
#define LBI_EXPERIMENT_CONTROLLER_H

#include "base/error.h"
#include "experiment/bench.h"
#include "experiment/monitor.h"

typedef struct lbi_run_options {
    const lb_host *host;
    int64_t limit_ns;      /* moment at which this run is ended */
    double time_limit;     /* what that means, for the message */
    uint64_t output_limit; /* bytes that a command may write */
    double expected_s;     /* about how long it takes; 0: not known */
    lb_progress_fn progress;
    void *progress_user;
} lbi_run_options;

/* What a run showed; NAN: not known. */
typedef struct lbi_outcome {
    double elapsed_s, user_s, system_s, cpu_percent;
    double count; /* jobs, messages */
    double job_mean_s, job_max_s;
    double wake_up_s[4]; /* quantiles 0.5, 0.9, 0.99 and 1 */
    double switches, preemptions, migrations;
    double idle_waiting_percent, foreign_percent;
    uint32_t disturbed; /* kinds of findings, as bits */
    lbi_findings findings;
} lbi_outcome;

/* Nothing is left of it, whatever comes of it. findings are for the caller to free. */
lb_status lbi_task_run(const lbi_task *task, const lbi_run_options *options,
                       lbi_outcome *ret_outcome, lb_error *err);

#endif
