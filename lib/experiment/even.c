/* SPDX-License-Identifier: BSD-3-Clause */
/* LB_EXPERIMENT_EVEN: x equal tasks for each core, placed by the system. The first one of each core
 * is dealt, as it measured there; the others are made while those work, and bound to nothing. */
#include <math.h>

#include "experiment/experiments.h"
#include "experiment/stage.h"

/* CPU seconds of each: so many rounds that an uneven share would show, within the budget. */
static double work(const lbi_stage *stage) {
    double x = stage->crew.options.tasks_per_core;
    double left = (double)(stage->end_ns - lbi_now()) / 1e9;
    double wanted = fmax(0.5, 10 * (double)lbi_stage_round(stage) / 1e9 / x);
    /* All on one core would take this much longer. */
    return fmin(wanted, left / (1.2 * x * stage->cores));
}

static lb_status play(lbi_stage *stage, lb_error *err) {
    lbi_crew *crew = &stage->crew;
    uint64_t chunks = (uint64_t)llround(work(stage) / crew->chunk_work);
    for (uint32_t i = 0; i < crew->workers; i++)
        crew->arena->slots[i].chunks = chunks > 0 ? chunks : 1;
    lb_status status = LB_OK;
    for (uint32_t i = 0; i < crew->made && status == LB_OK; i++)
        status = lbi_crew_bind(crew, i, UINT32_MAX, err);
    if (status == LB_OK)
        status = lbi_crew_spin(crew, err);
    while (crew->made < crew->workers && status == LB_OK)
        status = lbi_crew_fork(crew, err);
    if (status == LB_OK)
        status = lbi_crew_settle(crew, err);
    lbi_start_count(crew, stage->start.sizes);
    stage->start.attempts = 1;
    if (status == LB_OK)
        status = lbi_crew_release(crew, err);
    bool time = true;
    while (status == LB_OK && crew->alive > 0 && time)
        status = lbi_stage_wait(stage, INT64_C(10000000), &time, err);
    return status;
}

lb_status lbi_experiment_even(const lb_host *host, const lb_experiment_options *options,
                              lb_trace **ret_trace, lb_error *err) {
    uint32_t workers = lbi_stage_workers(host, options, 0);
    return lbi_stage_run(host, options, "even", workers, host->cores, play, ret_trace, err);
}
