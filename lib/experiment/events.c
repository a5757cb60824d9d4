/* SPDX-License-Identifier: BSD-3-Clause */
/* LB_EXPERIMENT_EVENTS: rounds in which each kind of event happens, one at a time, and is watched:
 * all of one list fall asleep one by one and wake again, two tasks are made, two end, and one is
 * bound to another core and let go. A round leaves as many tasks as it found. */
#include "experiment/experiments.h"
#include "experiment/stage.h"

#define SECOND INT64_C(1000000000)
#define MAX_ROUNDS 10

static int64_t watch(const lbi_stage *stage) {
    int64_t rounds = 3 * lbi_stage_round(stage), least = SECOND / 4;
    return rounds > least ? rounds : least;
}

/* The tasks of the core that has number `round` when counted round. */
static lb_status sleep_and_wake(lbi_stage *stage, uint32_t round, bool *time, lb_error *err) {
    lb_status status = LB_OK;
    uint32_t core = round % stage->cores, asleep = 0, who[8];
    while (status == LB_OK && *time && asleep < 8) {
        lbi_stage_look(stage);
        uint32_t worker = lbi_stage_worker(stage, core, 0);
        if (worker == UINT32_MAX || asleep == stage->crew.options.tasks_per_core)
            break;
        who[asleep++] = worker;
        status = lbi_crew_hold(&stage->crew, worker, true, err);
        if (status == LB_OK)
            status = lbi_stage_wait(stage, watch(stage), time, err);
    }
    for (uint32_t i = 0; i < asleep && status == LB_OK; i++) {
        status = lbi_crew_hold(&stage->crew, who[i], false, err);
        if (status == LB_OK)
            status = lbi_stage_wait(stage, watch(stage), time, err);
    }
    return status;
}

static lb_status fork_and_end(lbi_stage *stage, bool *time, lb_error *err) {
    lb_status status = LB_OK;
    for (int i = 0; i < 2 && status == LB_OK && *time; i++) {
        if (stage->crew.made < stage->crew.workers)
            status = lbi_crew_fork(&stage->crew, err);
        if (status == LB_OK)
            status = lbi_stage_wait(stage, watch(stage), time, err);
    }
    for (int i = 0; i < 2 && status == LB_OK && *time; i++) {
        lbi_stage_look(stage);
        uint32_t shortest = lbi_stage_shortest(stage);
        status = lbi_stage_end(stage, lbi_stage_worker(stage, shortest, 0), err);
        if (status == LB_OK)
            status = lbi_stage_wait(stage, watch(stage), time, err);
    }
    return status;
}

/* Two of one list go to another and may come back. */
static lb_status bind_and_unbind(lbi_stage *stage, uint32_t round, bool *time, lb_error *err) {
    lbi_stage_look(stage);
    uint32_t from = round % stage->cores, to = (round + 1) % stage->cores;
    uint32_t who[] = {lbi_stage_worker(stage, from, 0), lbi_stage_worker(stage, from, 1)};
    lb_status status = LB_OK;
    for (int bound = 1; bound >= 0 && status == LB_OK; bound--) {
        for (int i = 0; i < 2 && status == LB_OK; i++)
            if (who[i] != UINT32_MAX)
                status = lbi_crew_bind(&stage->crew, who[i], bound ? to : UINT32_MAX, err);
        if (status == LB_OK)
            status = lbi_stage_wait(stage, watch(stage), time, err);
    }
    return status;
}

static lb_status play(lbi_stage *stage, lb_error *err) {
    lb_status status = lbi_stage_begin(stage, err);
    bool time = true;
    if (status == LB_OK)
        status = lbi_stage_wait(stage, watch(stage), &time, err);
    for (uint32_t round = 0; round < MAX_ROUNDS && status == LB_OK && time; round++) {
        status = sleep_and_wake(stage, round, &time, err);
        if (status == LB_OK && time)
            status = fork_and_end(stage, &time, err);
        if (status == LB_OK && time)
            status = bind_and_unbind(stage, round, &time, err);
    }
    return status;
}

lb_status lbi_experiment_events(const lb_host *host, const lb_experiment_options *options,
                                lb_trace **ret_trace, lb_error *err) {
    uint32_t made = lbi_stage_workers(host, options, 0);
    return lbi_stage_run(host, options, "events", made + 2 * MAX_ROUNDS, made, play, ret_trace,
                         err);
}
