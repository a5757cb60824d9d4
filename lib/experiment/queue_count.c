/* SPDX-License-Identifier: BSD-3-Clause */
/* LB_EXPERIMENT_QUEUES: with tasks a multiple of cores a single FIFO queue hands each core the same
 * tasks again and again, and looks like one queue a core. So there is one task more than that, then
 * as many, then one less; each for a third of the time. */
#include "experiment/experiments.h"
#include "experiment/stage.h"

#define SECOND INT64_C(1000000000)

static int64_t larger(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static lb_status play(lbi_stage *stage, lb_error *err) {
    lb_status status = lbi_stage_begin(stage, err);
    int64_t third = larger(2 * SECOND, 10 * lbi_stage_round(stage));
    int64_t left = (stage->end_ns - lbi_now()) / 3;
    third = third < left ? third : left;
    bool time = true;
    for (int part = 0; part < 3 && status == LB_OK; part++) {
        if (part > 0) {
            lbi_stage_look(stage);
            uint32_t longest = lbi_stage_longest(stage);
            status = lbi_stage_end(stage, lbi_stage_worker(stage, longest, 0), err);
        }
        if (status == LB_OK)
            status = lbi_stage_wait(stage, third, &time, err);
    }
    return status;
}

lb_status lbi_experiment_queues(const lb_host *host, const lb_experiment_options *options,
                                lb_trace **ret_trace, lb_error *err) {
    uint32_t workers = lbi_stage_workers(host, options, 1);
    return lbi_stage_run(host, options, "queues", workers, workers, play, ret_trace, err);
}
