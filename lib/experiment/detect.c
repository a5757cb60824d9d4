/* SPDX-License-Identifier: BSD-3-Clause */
/* LB_EXPERIMENT_DETECT: x tasks on every core, which end one after another. */
#include <stdlib.h>

#include "base/array.h"
#include "base/text.h"
#include "experiment/crew.h"
#include "experiment/experiments.h"
#include "experiment/schedule.h"

#define MILLISECOND INT64_C(1000000)
#define START_ATTEMPTS 4

typedef struct detection {
    lbi_crew crew;
    uint32_t cores, tasks_per_core, n;
    int64_t *ends;     /* n times since the origin */
    uint32_t *victims; /* the worker of each */
    uint32_t *sizes;   /* how many workers each core had at the start */
    int attempts;
} detection;

/* ---- the even start ---- */

static bool count_sizes(detection *d) {
    bool even = true;
    for (uint32_t core = 0; core < d->cores; core++)
        d->sizes[core] = 0;
    for (uint32_t i = 0; i < d->n; i++) {
        int32_t core = lbi_crew_core(&d->crew, i);
        if (core >= 0)
            d->sizes[core]++;
    }
    for (uint32_t core = 0; core < d->cores; core++)
        even = even && d->sizes[core] == d->tasks_per_core;
    return even;
}

static lb_status bind_all(detection *d, bool bound, lb_error *err) {
    for (uint32_t i = 0; i < d->n; i++) {
        lb_status status = lbi_crew_bind(&d->crew, i, bound ? i % d->cores : UINT32_MAX, err);
        if (status != LB_OK)
            return status;
    }
    return LB_OK;
}

/* Unbinding must not be trusted: a task may move at that moment, so the sizes are counted once all
 * have run unbound, and on a bad start all are bound again. */
static lb_status arrange(detection *d, lb_error *err) {
    lb_status status = lbi_crew_spin(&d->crew, err);
    while (status == LB_OK) {
        d->attempts++;
        status = bind_all(d, false, err);
        if (status == LB_OK)
            status = lbi_crew_settle(&d->crew, err);
        if (status != LB_OK || count_sizes(d) || d->attempts == START_ATTEMPTS)
            break;
        status = bind_all(d, true, err);
        if (status == LB_OK)
            status = lbi_crew_settle(&d->crew, err);
    }
    return status;
}

/* ---- the ends ---- */

static lb_status plan(detection *d, lb_error *err) {
    lbi_crew *crew = &d->crew;
    int64_t unit_ns = (int64_t)(crew->unit_work * 1e9);
    int64_t turn = unit_ns > crew->slice_ns ? unit_ns : crew->slice_ns;
    /* The last one ends with a unit that it begins just before its deadline, and others may want
     * its core. */
    int64_t spare = (crew->limit_ns - crew->begin_ns) / 8 + 100 * MILLISECOND + 2 * unit_ns;
    int64_t available = crew->limit_ns - lbi_now() - spare;
    if (available <= 0)
        return lbi_error(err, LB_ERR_TIMEOUT, "the budget of %g s is spent before the start",
                         crew->options.budget);
    lbi_schedule_ends(d->cores, d->tasks_per_core, turn * d->tasks_per_core, available, d->ends);
    for (uint32_t k = 0; k < d->n; k++) {
        d->victims[k] = lbi_schedule_victim(d->cores, d->tasks_per_core, k);
        atomic_store(&crew->arena->slots[d->victims[k]].deadline_ns, d->ends[k]);
    }
    crew->expected_ns = lbi_now() + d->ends[d->n - 1];
    return LB_OK;
}

/* The next end is to come from the first core's list, and its worker may have moved away: then
 * another one of that list changes places with it. All deadlines stand at any time, so nothing
 * waits for the controller; it acts in the middle between two ends. */
static void revise(detection *d, uint32_t next) {
    if (next >= d->tasks_per_core || lbi_crew_core(&d->crew, d->victims[next]) == 0)
        return;
    for (uint32_t k = next + 1; k < d->n; k++) {
        if (lbi_crew_core(&d->crew, d->victims[k]) != 0)
            continue;
        lbi_slot *slots = d->crew.arena->slots;
        uint32_t early = d->victims[k], late = d->victims[next];
        atomic_store(&slots[late].deadline_ns, d->crew.origin_ns + d->ends[k]);
        atomic_store(&slots[early].deadline_ns, d->crew.origin_ns + d->ends[next]);
        d->victims[next] = early;
        d->victims[k] = late;
        return;
    }
}

static lb_status watch_ends(detection *d, lb_error *err) {
    for (uint32_t k = 0; k < d->tasks_per_core; k++) {
        int64_t before = k == 0 ? 0 : d->ends[k - 1];
        int64_t middle = d->crew.origin_ns + before + (d->ends[k] - before) / 2;
        while (lbi_now() < middle) {
            lb_status status = lbi_crew_step(&d->crew, middle, err);
            if (status != LB_OK)
                return status;
        }
        /* Not where the controller comes late. */
        if (lbi_now() < middle + (d->ends[k] - before) / 4)
            revise(d, k);
    }
    return lbi_crew_finish(&d->crew, err);
}

/* ---- the whole ---- */

static lb_status set_meta(const detection *d, lb_trace *trace, lb_error *err) {
    char number[32];
    lbi_text text = {0};
    for (uint32_t core = 0; core < d->cores; core++)
        lbi_text_printf(&text, "%s%u", core == 0 ? "" : ",", (unsigned)d->sizes[core]);
    char *sizes = lbi_text_take(&text, NULL);
    if (sizes == NULL)
        return lbi_error_nomem(err, "the trace's metadata");
    lb_status status = lb_trace_set_meta(trace, "even_start", sizes, err);
    free(sizes);
    if (status == LB_OK) {
        lbi_snprintf(number, sizeof number, "%d", d->attempts);
        status = lb_trace_set_meta(trace, "start_attempts", number, err);
    }
    if (status == LB_OK) {
        lbi_snprintf(number, sizeof number, "%u", (unsigned)d->tasks_per_core);
        status = lb_trace_set_meta(trace, "tasks_per_core", number, err);
    }
    return status;
}

static lb_status detect(detection *d, lb_trace **ret_trace, lb_error *err) {
    lb_trace *trace = NULL;
    lb_status status = lbi_crew_calibrate(&d->crew, err);
    if (status == LB_OK)
        status = arrange(d, err);
    if (status == LB_OK)
        status = plan(d, err);
    if (status == LB_OK)
        status = lbi_crew_release(&d->crew, err);
    if (status == LB_OK)
        status = watch_ends(d, err);
    if (status == LB_OK)
        status = lbi_crew_trace(&d->crew, "detect", &trace, err);
    if (status == LB_OK)
        status = set_meta(d, trace, err);
    if (status == LB_OK)
        *ret_trace = trace;
    else
        lb_trace_free(trace);
    return status;
}

/* Room for a worker that has a core of its own from the start to the end, and to spare. */
static size_t capacity(detection *d, const lb_experiment_options *options) {
    int64_t unit_ns = (int64_t)(options->unit_work * 1.2e9), slice_ns = lbi_class_slice();
    int64_t turn = unit_ns > slice_ns ? unit_ns : slice_ns;
    int64_t budget = options->budget < 1e9 ? (int64_t)(options->budget * 1e9) : INT64_MAX;
    lbi_schedule_ends(d->cores, d->tasks_per_core, turn * d->tasks_per_core, budget, d->ends);
    return (size_t)(1.5 * (double)d->ends[d->n - 1] / 1e9 / options->unit_work) + 64;
}

lb_status lbi_experiment_detect(const lb_host *host, const lb_experiment_options *options,
                                lb_trace **ret_trace, lb_error *err) {
    detection d = {.cores = host->cores, .tasks_per_core = options->tasks_per_core};
    if (d.tasks_per_core > LBI_MAX_WORKERS / d.cores)
        return lbi_error(err, LB_ERR_INVALID,
                         "tasks_per_core is %u: %u at most on %u cores (%u workers)",
                         (unsigned)d.tasks_per_core, (unsigned)(LBI_MAX_WORKERS / d.cores),
                         (unsigned)d.cores, LBI_MAX_WORKERS);
    d.n = d.cores * d.tasks_per_core;
    d.ends = lbi_array_new(d.n, sizeof *d.ends);
    d.victims = lbi_array_new(d.n, sizeof *d.victims);
    d.sizes = lbi_array_new(d.cores, sizeof *d.sizes);
    size_t *capacities = lbi_array_new(d.n, sizeof *capacities);
    lb_status status = LB_OK;
    if (d.ends == NULL || d.victims == NULL || d.sizes == NULL || capacities == NULL)
        status = lbi_error_nomem(err, "the experiment");
    if (status == LB_OK) {
        size_t room = capacity(&d, options);
        for (uint32_t i = 0; i < d.n; i++)
            capacities[i] = room;
        status = lbi_crew_begin(&d.crew, host, options, d.n, capacities, err);
    }
    if (status == LB_OK) {
        status = detect(&d, ret_trace, err);
        lbi_crew_end(&d.crew);
    }
    free(capacities);
    free(d.sizes);
    free(d.victims);
    free(d.ends);
    return status;
}
