/* SPDX-License-Identifier: BSD-3-Clause */
/* LB_EXPERIMENT_DETECT: x tasks on every core, which end one after another. */
#include "experiment/detect.h"

#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/text.h"
#include "experiment/experiments.h"
#include "experiment/schedule.h"
#include "experiment/start.h"

#define MILLISECOND INT64_C(1000000)
#define LONGEST 600.0 /* seconds that workers work, whatever the budget */

int64_t lbi_detect_turn(const lbi_crew *crew) {
    int64_t unit_ns = (int64_t)(crew->unit_work * 1e9);
    return unit_ns > crew->slice_ns ? unit_ns : crew->slice_ns;
}

/* ---- as it goes ---- */

/* How probable each policy is by what has been recorded up to now. */
static lb_status judge(lbi_crew *crew, double *ret_probability, lb_error *err) {
    lb_trace *trace = NULL;
    lb_verdict *verdict = NULL;
    crew->cutoff_ns = lbi_now();
    lb_status status = lbi_crew_trace(crew, "detect", &trace, err);
    if (status == LB_OK)
        status = lb_classify(trace, NULL, &verdict, err);
    for (int p = 0; status == LB_OK && p <= LB_POLICY_IMMEDIATE; p++)
        ret_probability[p] = lb_verdict_probability(verdict, (lb_policy)p);
    lb_verdict_free(verdict);
    lb_trace_free(trace);
    return status;
}

static lb_status wait_until(lbi_crew *crew, lbi_emulation *emulation, int64_t time_ns,
                            lb_error *err) {
    lb_status status = LB_OK;
    while (status == LB_OK && lbi_now() < time_ns) {
        int64_t next = time_ns;
        if (emulation != NULL)
            status = lbi_emulation_act(emulation, &next, err);
        if (status == LB_OK)
            status = lbi_crew_step(crew, next < time_ns ? next : time_ns, err);
    }
    return status;
}

static void tell_to_end(lbi_crew *crew, int32_t *core, uint32_t worker) {
    core[worker] = -1;
    atomic_store(&crew->arena->slots[worker].deadline_ns, lbi_now());
}

static lb_status follow(lbi_crew *crew, lbi_emulation *emulation, int32_t *core, lbi_course *course,
                        lb_error *err) {
    double probability[LB_POLICY_IMMEDIATE + 1];
    int64_t look = crew->origin_ns + lbi_adaptive_pause(&course->adaptive);
    int64_t last = crew->origin_ns + course->adaptive.end_ns;
    for (;;) {
        lb_status status = wait_until(crew, emulation, look, err);
        int64_t cpu = lbi_thread_cpu();
        if (status == LB_OK)
            status = judge(crew, probability, err);
        if (status != LB_OK)
            return status;
        cpu = lbi_thread_cpu() - cpu;
        for (uint32_t i = 0; i < crew->made; i++)
            core[i] = core[i] < 0 ? -1 : lbi_crew_core(crew, i);
        lbi_view view = {crew->cutoff_ns - crew->origin_ns, core, probability};
        uint32_t worker = 0;
        lbi_decision decision = lbi_adaptive_decide(&course->adaptive, &view, &worker);
        if (decision == LBI_DECIDED_STOP)
            break;
        if (decision == LBI_DECIDED_END)
            tell_to_end(crew, core, worker);
        /* Judging takes a core from the workers: a tenth of the time at most. */
        int64_t pause = lbi_adaptive_pause(&course->adaptive);
        look = lbi_now() + (pause > 10 * cpu ? pause : 10 * cpu);
        /* The end of the time is not to be missed, or the workers would have none to end in. */
        look = look < last ? look : last;
    }
    course->decided_ns = lbi_now();
    for (uint32_t i = 0; i < crew->made; i++)
        if (core[i] >= 0)
            tell_to_end(crew, core, i);
    if (emulation != NULL)
        lbi_emulation_finish(emulation);
    return lbi_crew_finish(crew, err);
}

lb_status lbi_detect_adaptive(lbi_crew *crew, lbi_emulation *emulation, uint32_t *sizes,
                              lbi_course *ret_course, lb_error *err) {
    /* To end all at last may take as long as a round of turns. */
    int64_t turn = lbi_detect_turn(crew);
    int64_t spare = (crew->limit_ns - crew->begin_ns) / 20 + 100 * MILLISECOND +
                    2 * turn * (crew->workers / crew->host->cores);
    int64_t available = crew->limit_ns - lbi_now() - spare;
    available = available < (int64_t)(LONGEST * 1e9) ? available : (int64_t)(LONGEST * 1e9);
    if (available <= 0)
        return lbi_error(err, LB_ERR_TIMEOUT, "the budget of %g s is spent before the start",
                         crew->options.budget);
    int32_t *core = lbi_array_new(2 * (size_t)crew->workers, sizeof *core);
    if (core == NULL)
        return lbi_error_nomem(err, "the experiment");
    for (uint32_t i = 0; i < crew->workers; i++)
        core[i] = 0;
    lbi_adaptive_begin(&ret_course->adaptive, crew->host->cores, crew->workers, turn, available,
                       crew->options.confidence, sizes, core + crew->workers);
    lb_status status = lbi_crew_release(crew, err);
    if (status == LB_OK && emulation != NULL)
        status = lbi_emulation_begin(emulation, crew, err);
    if (status == LB_OK)
        status = follow(crew, emulation, core, ret_course, err);
    free(core);
    return status;
}

/* ---- the whole ---- */

static lb_status set_number(lb_trace *trace, const char *key, double value, lb_error *err) {
    char number[LBI_NUMBER_SIZE];
    lbi_format_number(value, number);
    return lb_trace_set_meta(trace, key, number, err);
}

static lb_status set_meta(const lbi_crew *crew, const lbi_start *start, const lbi_course *course,
                          lb_trace *trace, lb_error *err) {
    bool adaptive = crew->options.design == LB_DETECT_ADAPTIVE;
    lb_status status = lbi_start_meta(crew, start, trace, err);
    if (status == LB_OK)
        status = set_number(trace, "tasks_per_core", crew->workers / crew->host->cores, err);
    if (status == LB_OK)
        status = lb_trace_set_meta(trace, "design", adaptive ? "adaptive" : "fixed", err);
    if (status == LB_OK && adaptive)
        status = set_number(trace, "decided_after_s",
                            round((double)(course->decided_ns - crew->begin_ns) / 1e6) / 1e3, err);
    if (status == LB_OK && adaptive)
        status = lb_trace_set_meta(trace, "stopped", course->adaptive.stopped, err);
    return status;
}

static lb_status run(lbi_crew *crew, lbi_emulation *emulation, uint32_t *sizes,
                     lb_trace **ret_trace, lb_error *err) {
    lbi_start start = {.sizes = sizes};
    lbi_course course = {0};
    lb_trace *trace = NULL;
    lb_status status = lbi_crew_calibrate(crew, err);
    if (status == LB_OK)
        status = lbi_start_even(crew, emulation != NULL, &start, err);
    if (status == LB_OK)
        status =
            crew->options.design == LB_DETECT_FIXED
                ? lbi_detect_fixed(crew, err)
                : lbi_detect_adaptive(crew, emulation, sizes + crew->host->cores, &course, err);
    if (status == LB_OK)
        status = lbi_crew_trace(crew, "detect", &trace, err);
    if (status == LB_OK)
        status = set_meta(crew, &start, &course, trace, err);
    if (status == LB_OK)
        *ret_trace = trace;
    else
        lb_trace_free(trace);
    return status;
}

/* Room for a worker that has a core of its own all the time that the budget allows, and to spare.
 */
static size_t capacity(const lb_experiment_options *options) {
    double budget = options->budget < LONGEST ? options->budget : LONGEST;
    return (size_t)(1.5 * budget / options->unit_work) + 64;
}

lb_status lbi_detect_run(const lb_host *host, const lb_experiment_options *options,
                         lbi_emulation *emulation, lb_trace **ret_trace, lb_error *err) {
    uint32_t x = options->tasks_per_core, cores = host->cores;
    if (x > LBI_MAX_WORKERS / cores)
        return lbi_error(err, LB_ERR_INVALID,
                         "tasks_per_core is %u: %u at most on %u cores (%u workers)", (unsigned)x,
                         (unsigned)(LBI_MAX_WORKERS / cores), (unsigned)cores, LBI_MAX_WORKERS);
    uint32_t *sizes = lbi_array_new(2 * (size_t)cores, sizeof *sizes);
    size_t *capacities = lbi_array_new(cores * x, sizeof *capacities);
    lb_status status = LB_OK;
    if (sizes == NULL || capacities == NULL)
        status = lbi_error_nomem(err, "the experiment");
    for (uint32_t i = 0; status == LB_OK && i < cores * x; i++)
        capacities[i] = capacity(options);
    lbi_crew crew;
    if (status == LB_OK)
        status = lbi_crew_begin(&crew, host, options, cores * x, capacities, err);
    if (status == LB_OK) {
        crew.experiment = "detect";
        status = run(&crew, emulation, sizes, ret_trace, err);
        lbi_crew_end(&crew);
    }
    free(capacities);
    free(sizes);
    return status;
}

lb_status lbi_experiment_detect(const lb_host *host, const lb_experiment_options *options,
                                lb_trace **ret_trace, lb_error *err) {
    return lbi_detect_run(host, options, NULL, ret_trace, err);
}
