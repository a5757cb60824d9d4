/* SPDX-License-Identifier: BSD-3-Clause */
#include "experiment/stage.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/text.h"

#define MILLISECOND INT64_C(1000000)
#define LONGEST 600.0 /* seconds that workers work, whatever the budget */

uint32_t lbi_stage_workers(const lb_host *host, const lb_experiment_options *options,
                           uint32_t more) {
    uint64_t workers = (uint64_t)host->cores * options->tasks_per_core + more;
    return workers < UINT32_MAX / 2 ? (uint32_t)workers : UINT32_MAX / 2;
}

int64_t lbi_stage_round(const lbi_stage *stage) {
    int64_t unit_ns = (int64_t)(stage->crew.unit_work * 1e9);
    int64_t turn = unit_ns > stage->crew.slice_ns ? unit_ns : stage->crew.slice_ns;
    return turn * stage->crew.options.tasks_per_core;
}

lb_status lbi_stage_begin(lbi_stage *stage, lb_error *err) {
    lb_status status = lbi_start_even(&stage->crew, false, &stage->start, err);
    return status == LB_OK ? lbi_crew_release(&stage->crew, err) : status;
}

lb_status lbi_stage_wait(lbi_stage *stage, int64_t time_ns, bool *ret_time, lb_error *err) {
    int64_t until = lbi_now() + time_ns;
    until = until < stage->end_ns ? until : stage->end_ns;
    lb_status status = LB_OK;
    do
        status = lbi_crew_step(&stage->crew, until, err);
    while (status == LB_OK && lbi_now() < until);
    *ret_time = lbi_now() < stage->end_ns;
    return status;
}

uint32_t lbi_stage_look(lbi_stage *stage) {
    uint32_t awake = 0;
    for (uint32_t core = 0; core < stage->cores; core++)
        stage->length[core] = 0;
    for (uint32_t i = 0; i < stage->crew.made; i++) {
        const lbi_slot *slot = &stage->crew.arena->slots[i];
        bool ends = atomic_load(&slot->deadline_ns) != INT64_MAX;
        stage->core[i] = ends ? -1 : lbi_crew_core(&stage->crew, i);
        if (stage->core[i] < 0 || stage->crew.hands[i].held)
            continue;
        stage->length[stage->core[i]]++;
        awake++;
    }
    return awake;
}

uint32_t lbi_stage_shortest(const lbi_stage *stage) {
    uint32_t best = 0;
    for (uint32_t core = 1; core < stage->cores; core++)
        if (stage->length[core] > 0 &&
            (stage->length[best] == 0 || stage->length[core] < stage->length[best]))
            best = core;
    return best;
}

uint32_t lbi_stage_longest(const lbi_stage *stage) {
    uint32_t best = 0;
    for (uint32_t core = 1; core < stage->cores; core++)
        if (stage->length[core] > stage->length[best])
            best = core;
    return best;
}

uint32_t lbi_stage_worker(const lbi_stage *stage, uint32_t core, uint32_t place) {
    for (uint32_t i = 0; i < stage->crew.made; i++)
        if (stage->core[i] == (int32_t)core && !stage->crew.hands[i].held && place-- == 0)
            return i;
    return UINT32_MAX;
}

lb_status lbi_stage_end(lbi_stage *stage, uint32_t worker, lb_error *err) {
    if (worker == UINT32_MAX)
        return LB_OK;
    lbi_slot *slot = &stage->crew.arena->slots[worker];
    atomic_store(&slot->deadline_ns, lbi_now());
    lb_status status = LB_OK;
    while (status == LB_OK && atomic_load(&slot->state) < LBI_STATE_ENDED)
        status = lbi_crew_step(&stage->crew, lbi_now() + MILLISECOND, err);
    return status;
}

/* What came after the play is in no trace. */
static lb_status finish(lbi_stage *stage, lb_error *err) {
    lbi_crew *crew = &stage->crew;
    crew->cutoff_ns = lbi_now();
    for (uint32_t i = 0; i < crew->made; i++) {
        if (crew->hands[i].held && crew->hands[i].alive) {
            crew->hands[i].held = false;
            lbi_continue(crew->hands[i].process);
        }
        if (atomic_load(&crew->arena->slots[i].deadline_ns) == INT64_MAX)
            atomic_store(&crew->arena->slots[i].deadline_ns, crew->cutoff_ns + 1);
    }
    return lbi_crew_finish(crew, err);
}

static lb_status set_meta(const lbi_stage *stage, lb_trace *trace, lb_error *err) {
    char number[16];
    lbi_snprintf(number, sizeof number, "%u", (unsigned)stage->crew.options.tasks_per_core);
    lb_status status = lbi_start_meta(&stage->crew, &stage->start, trace, err);
    return status == LB_OK ? lb_trace_set_meta(trace, "tasks_per_core", number, err) : status;
}

static lb_status perform(lbi_stage *stage, const char *name, lbi_play play, lb_trace **ret_trace,
                         lb_error *err) {
    lbi_crew *crew = &stage->crew;
    lb_trace *trace = NULL;
    lb_status status = lbi_crew_calibrate(crew, err);
    /* To end all at last may take as long as a round of turns. */
    int64_t spare =
        (crew->limit_ns - crew->begin_ns) / 20 + 100 * MILLISECOND + 3 * lbi_stage_round(stage);
    stage->end_ns = crew->limit_ns - spare;
    int64_t longest = lbi_now() + (int64_t)(LONGEST * 1e9);
    stage->end_ns = stage->end_ns < longest ? stage->end_ns : longest;
    crew->expected_ns = stage->end_ns;
    if (status == LB_OK && lbi_now() >= stage->end_ns)
        status = lbi_error(err, LB_ERR_TIMEOUT, "the budget of %g s is spent before the start",
                           crew->options.budget);
    if (status == LB_OK)
        status = play(stage, err);
    if (status == LB_OK)
        status = finish(stage, err);
    if (status == LB_OK)
        status = lbi_crew_trace(crew, name, &trace, err);
    if (status == LB_OK)
        status = set_meta(stage, trace, err);
    if (status == LB_OK)
        *ret_trace = trace;
    else
        lb_trace_free(trace);
    return status;
}

lb_status lbi_stage_run(const lb_host *host, const lb_experiment_options *options, const char *name,
                        uint32_t workers, uint32_t made, lbi_play play, lb_trace **ret_trace,
                        lb_error *err) {
    if (workers > LBI_MAX_WORKERS)
        return lbi_error(err, LB_ERR_INVALID,
                         "tasks_per_core is %u: %u workers on %u cores are more than %u",
                         (unsigned)options->tasks_per_core, (unsigned)workers,
                         (unsigned)host->cores, LBI_MAX_WORKERS);
    lbi_stage stage = {.cores = host->cores};
    size_t *capacities = lbi_array_new(workers, sizeof *capacities);
    stage.core = lbi_array_new(workers, sizeof *stage.core);
    stage.length = lbi_array_new(host->cores, sizeof *stage.length);
    stage.start.sizes = lbi_array_new(host->cores, sizeof *stage.start.sizes);
    lb_status status = LB_OK;
    if (capacities == NULL || stage.core == NULL || stage.length == NULL ||
        stage.start.sizes == NULL)
        status = lbi_error_nomem(err, "the experiment");
    /* Room for one that has a core of its own all the time, and to spare. */
    double budget = options->budget < LONGEST ? options->budget : LONGEST;
    for (uint32_t i = 0; i < workers && status == LB_OK; i++)
        capacities[i] = (size_t)(1.5 * budget / options->unit_work) + 64;
    if (status == LB_OK)
        status = lbi_crew_begin_with(&stage.crew, host, options, workers, made, capacities, err);
    if (status == LB_OK) {
        stage.crew.experiment = name;
        status = perform(&stage, name, play, ret_trace, err);
        lbi_crew_end(&stage.crew);
    }
    free(stage.start.sizes);
    free(stage.length);
    free(stage.core);
    free(capacities);
    return status;
}
