/* SPDX-License-Identifier: BSD-3-Clause */
#include "plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static int earlier(const void *left, const void *right) {
    const lbi_action *a = left, *b = right;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    if (a->index != b->index)
        return a->index < b->index ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

/* How many actions may be one instant at most. */
static size_t widest_instant(const lbi_action *actions, size_t count) {
    size_t widest = 0;
    for (size_t first = 0, end = 0; first < count; first++) {
        while (end < count && actions[end].time <= actions[first].time * (1 + 2 * LBI_WINDOW))
            end++;
        if (end - first > widest)
            widest = end - first;
    }
    return widest;
}

static void mark_crowded(lbi_action *actions, size_t count) {
    for (size_t i = count; i-- > 1;) {
        lbi_action *action = &actions[i - 1], *next = &actions[i];
        action->crowded = next->time == action->time
                              ? next->crowded
                              : next->time <= action->time + LBI_WINDOW * action->time;
    }
}

static lb_status plan_actions(lbi_plan *plan, lb_error *err) {
    const lb_workload *workload = plan->workload;
    size_t arrivals = workload->arriving ? workload->size : 0;
    plan->action_count = arrivals + workload->event_count;
    if (plan->action_count == 0)
        return LB_OK;
    if (plan->action_count > INT32_MAX - 1)
        return lbi_error_nomem(err, "a workload's events");
    plan->actions = lbi_array_new(plan->action_count, sizeof *plan->actions);
    if (plan->actions == NULL)
        return lbi_error_nomem(err, "a workload's events");
    for (size_t i = 0; i < arrivals; i++)
        plan->actions[i] = (lbi_action){.time = workload->arrivals[i], .index = (uint32_t)i};
    for (size_t i = 0; i < workload->event_count; i++)
        plan->actions[arrivals + i] = (lbi_action){.time = workload->events[i].time,
                                                   .index = workload->events[i].index,
                                                   .order = (uint32_t)(i + 1) & INT32_MAX};
    qsort(plan->actions, plan->action_count, sizeof *plan->actions, earlier);
    mark_crowded(plan->actions, plan->action_count);
    plan->widest = widest_instant(plan->actions, plan->action_count);
    return LB_OK;
}

static lb_status check_weights(const lb_workload *workload, lb_error *err) {
    double sum = 0;
    for (size_t i = 0; i < workload->size; i++) {
        double weight = workload->weights[i];
        if (!lbi_is_heavy_enough(weight, workload->works[i]))
            return lbi_error(err, LB_ERR_INVALID,
                             "weight of process %zu is %g: work of %g s over it exceeds a double",
                             i, weight, workload->works[i]);
        sum += weight;
    }
    if (!(sum < INFINITY))
        return lbi_error(err, LB_ERR_INVALID, "the sum of %zu weights exceeds a double",
                         workload->size);
    return LB_OK;
}

static lb_status check_works(const lb_model *model, const lb_workload *workload, lb_error *err) {
    for (size_t i = 0; model->speeds != NULL && i < workload->size; i++)
        if (!lbi_model_is_fast_enough(model, workload->works[i]))
            return lbi_error(err, LB_ERR_INVALID,
                             "work of process %zu is %g s: the time that it takes on the slowest "
                             "core exceeds a double",
                             i, workload->works[i]);
    return LB_OK;
}

lb_status lbi_plan_new(lbi_plan *plan, const lb_model *model, const lb_workload *workload,
                       lb_error *err) {
    *plan = (lbi_plan){.model = model, .workload = workload, .size = workload->size};
    for (size_t i = 0; workload->cored && i < workload->size; i++)
        if (workload->first_cores[i] != LBI_ANY_CORE &&
            workload->first_cores[i] >= model->options.cores)
            return lbi_error(err, LB_ERR_INVALID,
                             "first core of process %zu is %u: the model has %u cores", i,
                             (unsigned)workload->first_cores[i], (unsigned)model->options.cores);
    lb_status status = check_works(model, workload, err);
    if (status == LB_OK && workload->weighted)
        status = check_weights(workload, err);
    if (status != LB_OK)
        return status;
    for (size_t i = 1; workload->weighted && i < workload->size && plan->weights == NULL; i++)
        if (workload->weights[i] != workload->weights[0])
            plan->weights = workload->weights;
    plan->drains = lbi_drain_applies(model, workload, plan->weights);
    return plan_actions(plan, err);
}

void lbi_plan_free(lbi_plan *plan) {
    free(plan->actions);
    plan->actions = NULL;
}

/* ---- one realisation ---- */

lb_status lbi_run_new(lbi_run *run, const lbi_plan *plan, lb_error *err) {
    *run = (lbi_run){.plan = plan};
    lbi_engine_needs needs = {.processes = plan->size,
                              .tracked = plan->workload->event_count > 0,
                              .weighted = plan->weights != NULL};
    if (plan->drains && !lbi_drain_new(&run->drain, plan->model, plan->size)) {
        lbi_run_free(run);
        return lbi_error_nomem(err, "the state of a realisation");
    }
    if (plan->drains && !lbi_model_is_random(plan->model))
        return LB_OK;
    lb_status status = lbi_engine_new(&run->engine, plan->model, needs, err);
    if (status != LB_OK) {
        lbi_run_free(run);
        return status;
    }
    run->engine.weights = plan->weights;
    run->joined = lbi_array_new(plan->widest, sizeof *run->joined);
    if (run->joined == NULL) {
        lbi_run_free(run);
        return lbi_error_nomem(err, "a workload's events");
    }
    return LB_OK;
}

void lbi_run_free(lbi_run *run) {
    lbi_drain_free(&run->drain);
    lbi_engine_free(&run->engine);
    free(run->joined);
    run->joined = NULL;
}

static void clear(double *durations, size_t n) {
    for (size_t i = 0; i < n; i++)
        durations[i] = INFINITY;
}

void lbi_run_begin(lbi_run *run, uint64_t seed, double *durations) {
    lbi_engine_reset(&run->engine, seed);
    run->next_action = 0;
    run->begun = false;
    run->durations = durations;
    run->engine.expected = (const char *)durations;
    run->engine.expected_size = sizeof *durations;
    clear(durations, run->plan->size);
}

static lb_event_kind kind_of(const lbi_run *run, const lbi_action *action) {
    return (lb_event_kind)run->plan->workload->events[action->order - 1].kind;
}

/* Whether an event meets a process that it does not change; it is no instant then, unless what
 * that instant would join may take effect before it. */
static bool is_ignored(const lbi_run *run, const lbi_action *action) {
    if (action->order == 0 || action->crowded)
        return false;
    uint8_t state = run->engine.state[action->index];
    switch (kind_of(run, action)) {
    case LB_EVENT_SLEEP:
        return state != LBI_RUNNING;
    case LB_EVENT_WAKE:
        return state != LBI_ASLEEP;
    default:
        return state == LBI_ABSENT;
    }
}

static void arrive(lbi_run *run, uint32_t index) {
    const lb_workload *workload = run->plan->workload;
    if (!lbi_engine_arrive(&run->engine, index, workload->works[index],
                           lbi_workload_first_core(workload, index)))
        run->durations[index] = 0;
}

static void act(lbi_run *run, const lbi_action *action) {
    if (action->order == 0) {
        arrive(run, action->index);
        return;
    }
    switch (kind_of(run, action)) {
    case LB_EVENT_SLEEP:
        lbi_engine_sleep(&run->engine, action->index);
        break;
    case LB_EVENT_WAKE:
        lbi_engine_wake(&run->engine, action->index);
        break;
    default:
        lbi_engine_stop(&run->engine, action->index);
    }
}

/* The actions of an instant may differ in time by what the window allows; within it only index and
 * order count. */
static void act_all(lbi_run *run, double limit) {
    size_t count = 0, rest = run->plan->action_count - run->next_action;
    if (rest == 0)
        return; /* a plan without actions has no array either, to which C adds not even 0 */
    const lbi_action *actions = run->plan->actions + run->next_action;
    while (count < rest && actions[count].time <= limit)
        count++;
    run->next_action += count;
    if (count > 0 && actions[0].time != actions[count - 1].time) {
        for (size_t i = 0; i < count; i++) {
            size_t j = i;
            for (; j > 0 && (run->joined[j - 1].index > actions[i].index ||
                             (run->joined[j - 1].index == actions[i].index &&
                              run->joined[j - 1].order > actions[i].order));
                 j--)
                run->joined[j] = run->joined[j - 1];
            run->joined[j] = actions[i];
        }
        actions = run->joined;
    }
    for (size_t i = 0; i < count; i++)
        act(run, &actions[i]);
}

static void note_completions(lbi_run *run) {
    const lb_workload *workload = run->plan->workload;
    const lbi_engine *engine = &run->engine;
    for (size_t i = 0; i < engine->done_count; i++) {
        uint32_t slot = engine->done[i];
        double arrival = workload->arriving ? workload->arrivals[slot] : 0;
        /* The instant may be a little before the arrival that it joined. */
        run->durations[slot] = engine->now.high > arrival ? engine->now.high - arrival : 0;
    }
}

/* Everyone at time 0, and the events at that time. */
static void open_first(lbi_run *run) {
    lbi_engine_open(&run->engine, 0);
    for (size_t i = 0; i < run->plan->size; i++)
        arrive(run, (uint32_t)i);
    act_all(run, 0);
}

bool lbi_run_open(lbi_run *run) {
    const lbi_plan *plan = run->plan;
    if (!run->begun && !plan->workload->arriving && plan->size > 0) {
        open_first(run);
    } else {
        while (run->next_action < plan->action_count &&
               is_ignored(run, &plan->actions[run->next_action]))
            run->next_action++;
        bool acting = run->next_action < plan->action_count;
        /* Rotation and the like go on for ever where only infinite works run. */
        if (!acting && run->engine.finite == 0)
            return false;
        double time = lbi_engine_next(&run->engine);
        if (acting && plan->actions[run->next_action].time < time)
            time = plan->actions[run->next_action].time;
        if (time == INFINITY)
            return false;
        lbi_engine_open(&run->engine, time);
        note_completions(run);
        if (acting)
            act_all(run, time + LBI_WINDOW * time);
    }
    run->begun = true;
    lbi_engine_place(&run->engine);
    return true;
}

void lbi_run_close(lbi_run *run) {
    lbi_engine_close(&run->engine);
}

bool lbi_run_all(lbi_run *run, uint64_t seed, double *durations, const atomic_bool *cancelled) {
    const lbi_plan *plan = run->plan;
    if (plan->drains && !lbi_model_is_random(plan->model)) {
        clear(durations, plan->size);
        lbi_drain_run(&run->drain, plan->model, plan->workload, NULL, durations);
        return true;
    }
    lbi_run_begin(run, seed, durations);
    if (plan->drains) {
        lbi_drain_run(&run->drain, plan->model, plan->workload, &run->engine, durations);
        lbi_run_close(run);
        run->begun = true;
    }
    for (unsigned instants = 0; lbi_run_open(run); instants++) {
        lbi_engine_balance(&run->engine);
        lbi_run_close(run);
        if (cancelled != NULL && instants % 256 == 255 &&
            atomic_load_explicit(cancelled, memory_order_relaxed))
            return false;
    }
    return true;
}
