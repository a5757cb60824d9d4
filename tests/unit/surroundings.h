/* SPDX-License-Identifier: BSD-3-Clause */
/* What a call that runs an experiment must leave as it was. */
#ifndef TESTS_SURROUNDINGS_H
#define TESTS_SURROUNDINGS_H

#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "lbsched/lbsched.h"

typedef struct surroundings {
    cpu_set_t affinity;
    sigset_t mask;
    int policy, priority, files, mappings;
} surroundings;

/* This machine. Where fewer than two cores may be used the test ends here, and that is printed. */
lb_host *open_two_cores(void);

void look_around(surroundings *s);
void assert_unchanged(const surroundings *before);
void assert_childless(void);

/* ---- what else goes on ---- */

typedef struct moment {
    double time;      /* seconds of CLOCK_MONOTONIC */
    double busy, own; /* CPU seconds of the machine, and of this process and who it waited for */
    double away;      /* by the meter, which begins with the first moment */
} moment;

moment moment_now(void);
/* The part of the machine that others have had since then, from 0 to 1, or that was away. */
double foreign_since(const moment *then);

/* What a test waits for is not there because others used the machine: prints what, and why the test
 * goes no further. */
bool missed_beside_others(bool there, const char *what, const moment *begin);

/* lb_experiment_workload(), where the budget is not what is tested: if the machine is so busy that
 * it does not do, there is more. */
lb_status run_patiently(const lb_host *host, const lb_workload *workload,
                        const lb_experiment_options *options, lb_trace **ret_trace, lb_error *err);

/* A call ran out of its budget because others used the machine: prints why the test goes no
 * further. */
bool timed_out_beside_others(lb_status status, const moment *begin);

/* A fault happens now, and has been answered by now: within a second, unless others have had the
 * machine meanwhile, which is printed. */
void note_fault(void);
void assert_answered(void);

/* The children of this thread, workers all. */
int list_workers(pid_t *workers, int max);

#endif
