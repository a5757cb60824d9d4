/* SPDX-License-Identifier: BSD-3-Clause */
/* LB_EXPERIMENT_LATENCY: imbalances of both kinds, one after another, each left alone for a while.
 * First all tasks are bound to one core and let go, a few times; then they end, each from a
 * shortest list, until every core has one. */
#include "experiment/experiments.h"
#include "experiment/stage.h"

#define SECOND INT64_C(1000000000)
#define UNPINNINGS 4

static int64_t larger(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static lb_status bind_all(lbi_stage *stage, uint32_t core, lb_error *err) {
    lb_status status = LB_OK;
    for (uint32_t i = 0; i < stage->crew.made && status == LB_OK; i++)
        if (stage->core[i] >= 0)
            status = lbi_crew_bind(&stage->crew, i, core, err);
    return status;
}

static lb_status play(lbi_stage *stage, lb_error *err) {
    lb_status status = lbi_stage_begin(stage, err);
    int64_t watch = larger(SECOND * 4 / 10, 4 * lbi_stage_round(stage));
    bool time = true;
    for (uint32_t i = 0; i < UNPINNINGS && status == LB_OK && time; i++) {
        lbi_stage_look(stage);
        status = bind_all(stage, i % stage->cores, err);
        /* Long enough for what a balancer remembers of its failures to fade. */
        if (status == LB_OK)
            status = lbi_stage_wait(stage, larger(SECOND / 4, lbi_stage_round(stage)), &time, err);
        if (status == LB_OK)
            status = bind_all(stage, UINT32_MAX, err);
        if (status == LB_OK)
            status = lbi_stage_wait(stage, watch, &time, err);
    }
    while (status == LB_OK && time) {
        lbi_stage_look(stage);
        if (stage->length[lbi_stage_longest(stage)] < 2)
            break;
        uint32_t shortest = lbi_stage_shortest(stage);
        status = lbi_stage_end(stage, lbi_stage_worker(stage, shortest, 0), err);
        if (status == LB_OK)
            status = lbi_stage_wait(stage, watch, &time, err);
    }
    return status;
}

lb_status lbi_experiment_latency(const lb_host *host, const lb_experiment_options *options,
                                 lb_trace **ret_trace, lb_error *err) {
    uint32_t workers = lbi_stage_workers(host, options, 0);
    return lbi_stage_run(host, options, "latency", workers, workers, play, ret_trace, err);
}
