/* SPDX-License-Identifier: BSD-3-Clause */
/* LB_DETECT_FIXED: x tasks on every core, which end one after another as fixed beforehand. */
#include <stdlib.h>

#include "base/array.h"
#include "experiment/detect.h"
#include "experiment/schedule.h"

#define MILLISECOND INT64_C(1000000)

typedef struct fixed {
    lbi_crew *crew;
    uint32_t cores, tasks_per_core, n;
    int64_t *ends;     /* n times since the origin */
    uint32_t *victims; /* the worker of each */
} fixed;

static lb_status plan(fixed *d, lb_error *err) {
    lbi_crew *crew = d->crew;
    int64_t unit_ns = (int64_t)(crew->unit_work * 1e9);
    /* The last one ends with a unit that it begins just before its deadline, and others may want
     * its core. */
    int64_t spare = (crew->limit_ns - crew->begin_ns) / 8 + 100 * MILLISECOND + 2 * unit_ns;
    int64_t available = crew->limit_ns - lbi_now() - spare;
    if (available <= 0)
        return lbi_error(err, LB_ERR_TIMEOUT, "the budget of %g s is spent before the start",
                         crew->options.budget);
    lbi_schedule_ends(d->cores, d->tasks_per_core, lbi_detect_turn(crew) * d->tasks_per_core,
                      available, d->ends);
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
static void revise(fixed *d, uint32_t next) {
    if (next >= d->tasks_per_core || lbi_crew_core(d->crew, d->victims[next]) == 0)
        return;
    for (uint32_t k = next + 1; k < d->n; k++) {
        if (lbi_crew_core(d->crew, d->victims[k]) != 0)
            continue;
        lbi_slot *slots = d->crew->arena->slots;
        uint32_t early = d->victims[k], late = d->victims[next];
        atomic_store(&slots[late].deadline_ns, d->crew->origin_ns + d->ends[k]);
        atomic_store(&slots[early].deadline_ns, d->crew->origin_ns + d->ends[next]);
        d->victims[next] = early;
        d->victims[k] = late;
        return;
    }
}

static lb_status watch_ends(fixed *d, lb_error *err) {
    for (uint32_t k = 0; k < d->tasks_per_core; k++) {
        int64_t before = k == 0 ? 0 : d->ends[k - 1];
        int64_t middle = d->crew->origin_ns + before + (d->ends[k] - before) / 2;
        while (lbi_now() < middle) {
            lb_status status = lbi_crew_step(d->crew, middle, err);
            if (status != LB_OK)
                return status;
        }
        /* Not where the controller comes late. */
        if (lbi_now() < middle + (d->ends[k] - before) / 4)
            revise(d, k);
    }
    return lbi_crew_finish(d->crew, err);
}

lb_status lbi_detect_fixed(lbi_crew *crew, lb_error *err) {
    uint32_t cores = crew->host->cores, n = crew->workers;
    fixed d = {.crew = crew, .cores = cores, .tasks_per_core = n / cores, .n = n};
    d.ends = lbi_array_new(n, sizeof *d.ends);
    d.victims = lbi_array_new(n, sizeof *d.victims);
    lb_status status = LB_OK;
    if (d.ends == NULL || d.victims == NULL)
        status = lbi_error_nomem(err, "the experiment");
    if (status == LB_OK)
        status = plan(&d, err);
    if (status == LB_OK)
        status = lbi_crew_release(crew, err);
    if (status == LB_OK)
        status = watch_ends(&d, err);
    free(d.victims);
    free(d.ends);
    return status;
}
