/* SPDX-License-Identifier: BSD-3-Clause */
#include "classify/progress.h"

#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "classify/progress_parts.h"

#define CELLS_MAX ((size_t)1 << 24) /* bounds times tasks: what may be kept */
#define GRAIN 0.35                  /* of the CPU time that a task gets at a stretch */

static int by_end(const void *a, const void *b) {
    const lbi_span *x = a, *y = b;
    if (x->end != y->end)
        return x->end < y->end ? -1 : 1;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->count != y->count)
        return x->count < y->count ? -1 : 1;
    return x->number < y->number ? -1 : 1;
}

static size_t count_tasks(const lb_unit *units, size_t n) {
    size_t tasks = n > 0;
    for (size_t i = 1; i < n; i++)
        tasks += units[i].task != units[i - 1].task;
    return tasks;
}

static void find_spans(const lb_unit *units, size_t n, lbi_span *spans) {
    size_t at = 0;
    for (size_t i = 0; i < n; at++) {
        size_t j = i;
        while (j < n && units[j].task == units[i].task)
            j++;
        spans[at] = (lbi_span){i, j - i, units[i].start_ns, units[j - 1].end_ns, units[i].task};
        i = j;
    }
}

/* What may be said from the ends alone. `spans` by end. */
static lbi_unusable judge_ends(lbi_progress *p, const lbi_span *spans) {
    uint32_t tasks = p->tasks;
    if (tasks == 1)
        return LBI_ONE_TASK;
    if (p->cores == 1)
        return LBI_ONE_CORE;
    p->first_end = lbi_seconds(spans[0].end);
    p->last_end = lbi_seconds(spans[tasks - 1].end);
    uint32_t cohort = 0;
    const lbi_span *late = NULL;
    for (uint32_t i = 0; i < tasks; i++) {
        if (spans[i].start < spans[0].end)
            cohort++;
        else if (late == NULL || spans[i].start < late->start)
            late = &spans[i];
    }
    if (late != NULL) {
        p->late_start = lbi_seconds(late->start);
        p->late_task = late->number;
    }
    if (cohort < tasks)
        return cohort <= 1 ? LBI_NO_OVERLAP : LBI_LATE_TASK;
    if (tasks <= p->cores)
        return LBI_NEVER_SHARED;
    if (spans[0].end == spans[tasks - 1].end)
        return LBI_ENDED_AT_ONCE;
    return LBI_USABLE;
}

/* The mean CPU time of a unit; 0: some are not known. */
static double mean_cpu_time(const lb_unit *units, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        if (units[i].cpu_ns < 0)
            return 0;
        sum += lbi_seconds(units[i].cpu_ns);
    }
    return sum / (double)n;
}

static void count_observed(lbi_progress *p) {
    size_t count = 0;
    uint32_t first = 0;
    for (size_t k = 0; k < p->bounds; k++) {
        p->observed[k] = count;
        while (first < p->tasks && p->end[first] <= k)
            first++;
        for (uint32_t i = first; i < p->tasks && k + 1 < p->bounds; i++)
            count += lbi_seen(p, i, k, k + 1) > 0;
    }
}

static lb_status fill(lbi_progress *p, const lbi_span *spans, const lb_unit *units,
                      const lbi_durations *durations, double mean_cpu, lb_error *err) {
    bool halved = lbi_need_halves(p);
    if (halved)
        lbi_halve_windows(p);
    p->done = lbi_array_new(p->bounds * p->tasks, sizeof *p->done);
    p->seen = lbi_array_new(p->bounds * p->tasks, sizeof *p->seen);
    p->observed = lbi_array_new(p->bounds, sizeof *p->observed);
    if (p->observed == NULL || p->done == NULL || p->seen == NULL)
        return lbi_error_nomem(err, "progress");
    p->unit_work = mean_cpu > 0 ? mean_cpu : 1;
    p->grain *= GRAIN * p->unit_work;
    p->disorder = (lbi_disorder){.unit_work = p->unit_work, .grain = p->grain};
    size_t block = 0;
    for (uint32_t i = 0; i < p->tasks; i++) {
        lbi_fill_task(p, i, units + spans[i].first, spans[i].count, durations->typical + block,
                      durations, mean_cpu);
        for (size_t at = 0; at < spans[i].count;
             at += lbi_block_length(durations->block, spans[i].count - at))
            block++;
    }
    lb_status status = lbi_measure_spread(p, err);
    if (halved)
        lbi_join_halves(p);
    count_observed(p);
    return status;
}

/* Progress in windows, with the spans of a usable trace. */
static lb_status observe(lbi_progress *p, const lbi_span *spans, const lb_unit *units,
                         double unit_work, lb_error *err) {
    p->number = lbi_array_new(p->tasks, sizeof *p->number);
    p->end = lbi_array_new(p->tasks, sizeof *p->end);
    if (p->number == NULL || p->end == NULL)
        return lbi_error_nomem(err, "tasks");
    for (uint32_t i = 0; i < p->tasks; i++)
        p->number[i] = spans[i].number;
    double mean_cpu = mean_cpu_time(units, p->units);
    lbi_durations durations;
    lb_status status = lbi_durations_measure(p, units, spans, &durations, err);
    if (status == LB_OK)
        status = lbi_place_bounds(p, spans, err);
    if (status == LB_OK)
        status = fill(p, spans, units, &durations, mean_cpu, err);
    lbi_durations_free(&durations);
    return status == LB_OK ? lbi_propose_scales(p, mean_cpu, unit_work, err) : status;
}

lb_status lbi_progress_make(lbi_progress *ret_progress, uint32_t cores, double unit_work,
                            const lb_unit *units, size_t n, lb_error *err) {
    lbi_progress *p = ret_progress;
    *p = (lbi_progress){.cores = cores, .units = n, .least = INFINITY, .factor = 1};
    if (n == 0) {
        p->unusable = LBI_NO_UNITS;
        return LB_OK;
    }
    p->tasks = (uint32_t)count_tasks(units, n);
    lbi_span *spans = lbi_array_new(p->tasks, sizeof *spans);
    if (spans == NULL)
        return lbi_error_nomem(err, "tasks");
    find_spans(units, n, spans);
    qsort(spans, p->tasks, sizeof *spans, by_end);
    p->unusable = judge_ends(p, spans);
    if (p->unusable == LBI_USABLE && (size_t)p->tasks * (p->tasks + 1) > CELLS_MAX)
        p->unusable = LBI_TOO_LARGE;
    lb_status status = LB_OK;
    if (p->unusable == LBI_USABLE)
        status = observe(p, spans, units, unit_work, err);
    free(spans);
    return status;
}

void lbi_progress_free(lbi_progress *progress) {
    free(progress->number);
    free(progress->time);
    free(progress->done);
    free(progress->seen);
    free(progress->end);
    free(progress->observed);
    *progress = (lbi_progress){0};
}
