/* SPDX-License-Identifier: BSD-3-Clause */
/* lb_experiment_workload(): given works, released at one moment or when they arrive. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "experiment/crew.h"
#include "experiment/experiments.h"
#include "experiment/options.h"
#include "model/workload.h"

/* What becomes of a process, in nanoseconds from the release. */
typedef struct course {
    double work; /* CPU seconds that it can use at most */
    int64_t arrival_ns, stop_ns;
    lbi_nap *naps; /* room for one and one for each of its events */
    size_t nap_count;
    bool asleep; /* for ever, unless a wake follows */
} course;

typedef struct plan {
    const lb_host *host;
    const lb_workload *workload;
    const lb_experiment_options *options;
    uint32_t n;
    course *courses;
    lbi_nap *naps;
    size_t *capacities, *nap_counts;
} plan;

/* ---- checks ---- */

static lb_status check_weight(const plan *p, size_t index, lb_error *err) {
    lbi_class any = {0};
    double weight = lbi_workload_weight(p->workload, index);
    if (weight == 1 || lbi_class_weigh(&any, weight))
        return LB_OK;
    return lbi_error(err, LB_ERR_UNSUPPORTED,
                     "the weights of the workload cannot be had: process %zu has %g, and that of a "
                     "nice level (lb_nice_weight(), LB_WEIGHT_IDLE) is expected",
                     index, weight);
}

static lb_status check_process(const plan *p, size_t index, lb_error *err) {
    const course *c = &p->courses[index];
    double budget = p->options->budget;
    uint32_t core = lbi_workload_first_core(p->workload, index);
    if (core != LBI_ANY_CORE && core >= p->host->cores)
        return lbi_error(err, LB_ERR_INVALID,
                         "process %zu has the first core %u: below %u expected", index,
                         (unsigned)core, (unsigned)p->host->cores);
    if (isinf(c->work))
        return lbi_error(err, LB_ERR_INVALID,
                         "process %zu has infinite work: a finite one, or a stop, expected", index);
    if (c->asleep)
        return lbi_error(err, LB_ERR_INVALID,
                         "process %zu falls asleep and is never woken: a wake, or a stop, expected",
                         index);
    if (c->work > budget)
        return lbi_error(err, LB_ERR_TIMEOUT,
                         "process %zu has %g s of work: more than the budget of %g s", index,
                         c->work, budget);
    if ((double)c->arrival_ns / 1e9 > budget)
        return lbi_error(err, LB_ERR_TIMEOUT,
                         "process %zu arrives at %g s: after the budget of %g s", index,
                         (double)c->arrival_ns / 1e9, budget);
    return check_weight(p, index, err);
}

static lb_status check(const plan *p, lb_error *err) {
    double sum = 0;
    for (uint32_t i = 0; i < p->n; i++) {
        lb_status status = check_process(p, i, err);
        if (status != LB_OK)
            return status;
        sum += p->courses[i].work;
    }
    if (sum / p->host->cores > p->options->budget)
        return lbi_error(err, LB_ERR_TIMEOUT,
                         "%g s of work on %u cores take more than the budget of %g s", sum,
                         (unsigned)p->host->cores, p->options->budget);
    return LB_OK;
}

/* ---- planning ---- */

/* Seconds to nanoseconds; what is beyond any budget stays there. */
static int64_t nanoseconds(double time) {
    return time < 9e9 ? (int64_t)llround(time * 1e9) : INT64_C(9000000000000000000);
}

/* By time; at one time, in the order added. */
static int compare_events(const void *a, const void *b) {
    const lbi_event *x = *(const lbi_event *const *)a, *y = *(const lbi_event *const *)b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x < y ? -1 : x > y ? 1 : 0;
}

static void take_event(course *c, const lbi_event *event) {
    int64_t time = nanoseconds(event->time);
    if (time >= c->stop_ns)
        return;
    lbi_nap *last = c->nap_count > 0 ? &c->naps[c->nap_count - 1] : NULL;
    switch (event->kind) {
    case LB_EVENT_STOP:
        c->stop_ns = time;
        c->work = fmin(c->work, (double)(time - c->arrival_ns) / 1e9);
        if (c->asleep)
            last->to_ns = time;
        c->asleep = false;
        return;
    case LB_EVENT_SLEEP:
        /* One that arrives asleep, or that is put to sleep as it wakes, sleeps on. */
        if (!c->asleep && last != NULL && last->to_ns == time)
            last->to_ns = INT64_MAX;
        else if (!c->asleep)
            c->naps[c->nap_count++] = (lbi_nap){.from_ns = time, .to_ns = INT64_MAX};
        c->asleep = true;
        return;
    case LB_EVENT_WAKE:
        if (!c->asleep)
            return;
        last->to_ns = time;
        c->asleep = false;
        /* Only the net effect of one instant counts. */
        if (last->from_ns == time && !last->arrival)
            c->nap_count--;
        return;
    }
}

static lb_status sort_events(plan *p, lb_error *err) {
    size_t n;
    const lbi_event *events = lbi_workload_events(p->workload, &n);
    const lbi_event **sorted = lbi_array_new(n, sizeof *sorted);
    if (sorted == NULL)
        return lbi_error_nomem(err, "the workload's events");
    for (size_t i = 0; i < n; i++)
        sorted[i] = &events[i];
    qsort(sorted, n, sizeof *sorted, compare_events);
    for (size_t i = 0; i < n; i++)
        take_event(&p->courses[sorted[i]->index], sorted[i]);
    free(sorted);
    return LB_OK;
}

static void give_room_for_naps(plan *p) {
    size_t n;
    const lbi_event *events = lbi_workload_events(p->workload, &n);
    for (uint32_t i = 0; i < p->n; i++)
        p->nap_counts[i] = 1;
    for (size_t i = 0; i < n; i++)
        p->nap_counts[events[i].index]++;
    lbi_nap *next = p->naps;
    for (uint32_t i = 0; i < p->n; i++) {
        p->courses[i].naps = next;
        next += p->nap_counts[i];
    }
}

static lb_status make_courses(plan *p, lb_error *err) {
    give_room_for_naps(p);
    for (uint32_t i = 0; i < p->n; i++) {
        course *c = &p->courses[i];
        c->work = lbi_workload_work(p->workload, i);
        c->arrival_ns = nanoseconds(lbi_workload_arrival(p->workload, i));
        c->stop_ns = INT64_MAX;
        if (c->arrival_ns > 0)
            c->naps[c->nap_count++] = (lbi_nap){.to_ns = c->arrival_ns, .arrival = true};
    }
    lb_status status = sort_events(p, err);
    if (status == LB_OK)
        status = check(p, err);
    if (status != LB_OK)
        return status;
    for (uint32_t i = 0; i < p->n; i++) {
        const course *c = &p->courses[i];
        /* Whole units, one cut by each nap, and the rest as a shorter one; a chunk may be longer or
         * shorter than it was meant to be, so there is room for more. */
        p->capacities[i] = (size_t)(1.25 * c->work / p->options->unit_work) + 16 + 2 * c->nap_count;
    }
    return LB_OK;
}

static void plan_free(plan *p) {
    free(p->courses);
    free(p->naps);
    free(p->capacities);
    free(p->nap_counts);
}

static lb_status plan_new(plan *p, lb_error *err) {
    size_t n, events;
    n = lb_workload_size(p->workload);
    lbi_workload_events(p->workload, &events);
    p->courses = lbi_array_new(n, sizeof *p->courses);
    p->naps = lbi_array_new(n + events, sizeof *p->naps);
    p->capacities = lbi_array_new(n, sizeof *p->capacities);
    p->nap_counts = lbi_array_new(n, sizeof *p->nap_counts);
    if (p->courses == NULL || p->naps == NULL || p->capacities == NULL || p->nap_counts == NULL)
        return lbi_error_nomem(err, "the workers");
    memset(p->courses, 0, n * sizeof *p->courses);
    return make_courses(p, err);
}

/* ---- running ---- */

/* Whose first core is set waits there, and is let go once it has run. */
static bool is_bound(const plan *p, uint32_t worker) {
    return lbi_workload_first_core(p->workload, worker) != LBI_ANY_CORE;
}

/* Calibrated, each worker still waits, bound to some core: there it stays, is moved to its first
 * core, or is let go. */
static lb_status place(lbi_crew *crew, const plan *p, lb_error *err) {
    double total = 0, longest = 0;
    for (uint32_t i = 0; i < p->n; i++) {
        const course *c = &p->courses[i];
        lbi_slot *slot = &crew->arena->slots[i];
        double weight = lbi_workload_weight(p->workload, i);
        /* By the CPU clock, not by chunks: the cores' speed may change. */
        slot->work_ns = nanoseconds(lbi_workload_work(p->workload, i));
        slot->stop_ns = c->stop_ns;
        /* Nor do those spin who would not let others do so. */
        slot->late = c->arrival_ns > 0 || !lbi_class_shares(&crew->class_);
        slot->naps = c->nap_count;
        memcpy(&crew->arena->naps[slot->first_nap], c->naps, c->nap_count * sizeof *c->naps);
        if (lbi_workload_has_weights(p->workload))
            lbi_class_weigh(&slot->class_, weight);
        total += c->work;
        longest = fmax(longest, (double)c->arrival_ns / 1e9 + c->work);
        lb_status status = lbi_crew_bind(crew, i, lbi_workload_first_core(p->workload, i), err);
        if (status != LB_OK)
            return status;
    }
    total /= crew->host->cores;
    crew->expected_ns = lbi_now() + (int64_t)(fmax(total, longest) * 1e9);
    return LB_OK;
}

/* Once all have run, those that were bound are let go too: then they are released at once. */
static lb_status start(lbi_crew *crew, const plan *p, lb_error *err) {
    lb_status status = lbi_crew_spin(crew, err);
    for (uint32_t i = 0; i < p->n && status == LB_OK; i++)
        if (is_bound(p, i) && p->courses[i].arrival_ns == 0) {
            crew->hands[i].let_go = true;
            status = lbi_crew_bind(crew, i, UINT32_MAX, err);
        }
    return status == LB_OK ? lbi_crew_release(crew, err) : status;
}

static bool has_begun(const lbi_crew *crew, uint32_t worker) {
    const lbi_hand *hand = &crew->hands[worker];
    return !hand->alive || atomic_load(&crew->arena->slots[worker].progress) >= hand->progress + 2;
}

/* Those that arrive later on a first core are let go as soon as they have run there. */
static lb_status let_go(lbi_crew *crew, const plan *p, lb_error *err) {
    lb_status status = LB_OK;
    bool wait = true;
    while (wait && status == LB_OK) {
        wait = false;
        for (uint32_t i = 0; i < p->n && status == LB_OK; i++) {
            if (!is_bound(p, i) || crew->hands[i].let_go)
                continue;
            crew->hands[i].let_go = has_begun(crew, i);
            if (crew->hands[i].let_go && crew->hands[i].alive)
                status = lbi_crew_bind(crew, i, UINT32_MAX, err);
            wait = wait || !crew->hands[i].let_go;
        }
        if (wait && status == LB_OK)
            status = lbi_crew_step(crew, lbi_now() + 1000000, err);
    }
    return status;
}

static lb_status run(lbi_crew *crew, const plan *p, lb_trace **ret_trace, lb_error *err) {
    lb_status status = lbi_crew_calibrate(crew, err);
    if (status == LB_OK)
        status = place(crew, p, err);
    if (status == LB_OK)
        status = start(crew, p, err);
    if (status == LB_OK)
        status = let_go(crew, p, err);
    if (status == LB_OK)
        status = lbi_crew_finish(crew, err);
    return status == LB_OK ? lbi_crew_trace(crew, "workload", ret_trace, err) : status;
}

static lb_status empty_trace(const lb_host *host, lb_trace **ret_trace, lb_error *err) {
    lb_trace *trace = NULL;
    lb_status status = lb_trace_new(host->cores, &trace, err);
    if (status == LB_OK)
        status = lb_trace_seal(trace, err);
    if (status == LB_OK)
        *ret_trace = trace;
    else
        lb_trace_free(trace);
    return status;
}

static lb_status run_workload(const lb_host *host, const lb_workload *workload,
                              const lb_experiment_options *options, lb_trace **ret_trace,
                              lb_error *err) {
    size_t n = lb_workload_size(workload);
    if (n > LBI_MAX_WORKERS)
        return lbi_error(err, LB_ERR_INVALID, "the workload has %zu processes: %u at most", n,
                         LBI_MAX_WORKERS);
    if (n == 0)
        return empty_trace(host, ret_trace, err);
    plan p = {.host = host, .workload = workload, .options = options, .n = (uint32_t)n};
    lbi_crew crew;
    lb_status status = plan_new(&p, err);
    if (status == LB_OK)
        status =
            lbi_crew_begin_napping(&crew, host, options, p.n, p.n, p.capacities, p.nap_counts, err);
    if (status == LB_OK) {
        crew.experiment = "workload";
        status = run(&crew, &p, ret_trace, err);
        lbi_crew_end(&crew);
    }
    plan_free(&p);
    return status;
}

lb_status lb_experiment_workload(const lb_host *host, const lb_workload *workload,
                                 const lb_experiment_options *options, lb_trace **ret_trace,
                                 lb_error *err) {
    lb_experiment_options read;
    lb_host *opened = NULL;
    lb_status status = lbi_experiment_options_read(options, &read, err);
    if (status == LB_OK)
        status = lbi_usable_host(host, &host, &opened, err);
    if (status == LB_OK)
        status = run_workload(host, workload, &read, ret_trace, err);
    lb_host_free(opened);
    return status;
}
