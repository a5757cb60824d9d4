/* SPDX-License-Identifier: BSD-3-Clause */
/* The online interface: against the batch model, and its own rules. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "harness.h"

enum {
    MOST = 40,
    EVENTS = 30
};

typedef struct action {
    double time;
    size_t index;
    int kind; /* an lb_event_kind; -1: arrives */
} action;

typedef struct problem {
    lb_model *model;
    uint32_t cores;
    size_t n, event_count;
    double works[MOST], weights[MOST], arrivals[MOST], speeds[8];
    uint32_t first[MOST];
    action events[EVENTS];
} problem;

static lbi_random randomness;

static double unit(void) {
    return lbi_random_unit(&randomness);
}

static uint32_t below(uint32_t n) {
    return (uint32_t)lbi_random_below(&randomness, n);
}

/* Times on a grid, so that many fall together; arrivals in the order of the indices. */
static double grid_time(void) {
    return below(20) * 0.5;
}

static problem random_problem(void) {
    problem p = {.cores = 1 + below(5)};
    p.n = 1 + below(MOST);
    lb_model_options options;
    lb_model_options_init(&options, sizeof options);
    options.cores = p.cores;
    options.policy = LB_POLICY_NONE + (int32_t)below(4);
    options.list_choice = (int32_t)below(2);
    options.process_choice = (int32_t)below(3);
    options.balance_delay = below(3) == 0 ? 0.7 : 0;
    options.rotation_time = below(3) == 0 ? 0.4 : 0;
    for (uint32_t i = 0; i < p.cores; i++)
        p.speeds[i] = 1 + below(3);
    options.core_speeds = below(2) ? p.speeds : NULL;
    lb_error err = {0};
    ASSERT_OK(lb_model_new(&options, &p.model, &err), err);
    bool plain = below(3) == 0, weighted = !plain && below(2), late = !plain && below(2);
    double time = 0;
    for (size_t i = 0; i < p.n; i++) {
        p.works[i] = below(4) == 0 ? below(4) : below(12) == 0 ? INFINITY : 5 * unit();
        p.weights[i] = weighted ? exp(8 * unit() - 4) : 1;
        time += late && below(2) ? 0.25 * below(3) : 0;
        p.arrivals[i] = time;
        p.first[i] = !plain && below(3) == 0 ? below(p.cores) : LB_CORE_ANY;
    }
    p.event_count = plain || below(3) == 0 ? 0 : below(EVENTS);
    for (size_t i = 0; i < p.event_count; i++) {
        action *a = &p.events[i];
        a->index = below((uint32_t)p.n);
        a->kind = (int)below(3);
        a->time = p.arrivals[a->index] + grid_time();
        if (a->kind == LB_EVENT_STOP && below(3))
            a->kind = LB_EVENT_WAKE;
    }
    return p;
}

static void sample(const problem *p, uint64_t seed, double *seconds) {
    lb_workload *workload = NULL;
    lb_error err = {0};
    ASSERT_OK(lb_workload_new(&workload, &err), err);
    ASSERT_OK(lb_workload_add_many(workload, p->works, p->n, NULL, &err), err);
    ASSERT_OK(lb_workload_set_weights(workload, 0, p->weights, p->n, &err), err);
    for (size_t i = 0; i < p->n; i++) {
        if (p->arrivals[i] > 0)
            ASSERT_OK(lb_workload_set_arrival(workload, i, p->arrivals[i], &err), err);
        if (p->first[i] != LB_CORE_ANY)
            ASSERT_OK(lb_workload_set_first_core(workload, i, p->first[i], &err), err);
    }
    for (size_t i = 0; i < p->event_count; i++)
        ASSERT_OK(lb_workload_add_event(workload, p->events[i].index, p->events[i].time,
                                        (lb_event_kind)p->events[i].kind, &err),
                  err);
    ASSERT_OK(lb_model_sample(p->model, workload, seed, seconds, &err), err);
    lb_workload_free(workload);
}

/* ---- the same online ---- */

typedef struct driver {
    const problem *p;
    lb_sim *sim;
    lb_process_id ids[MOST];
    bool arrived[MOST];
    double seconds[MOST];
    uint32_t cores[MOST]; /* followed by the events */
    double last_time;
    size_t migrations;
} driver;

static void poll_all(driver *d) {
    lb_sim_event event;
    while (lb_sim_poll(d->sim, &event) == 1) {
        ck_assert(event.time >= d->last_time && event.time <= lb_sim_now(d->sim));
        ck_assert_uint_eq(event.reserved, 0);
        d->last_time = event.time;
        size_t i = (size_t)event.tag;
        if (event.kind == LB_SIM_COMPLETED) {
            ck_assert(d->seconds[i] == INFINITY);
            d->seconds[i] = event.time - d->p->arrivals[i];
        } else {
            ck_assert(event.from != event.to && event.to < d->p->cores);
            d->migrations++;
        }
    }
}

static void act(driver *d, const action *a) {
    lb_error err = {0};
    const problem *p = d->p;
    size_t i = a->index;
    switch (a->kind) {
    case -1:
        ASSERT_OK(lb_sim_add(d->sim, p->works[i], p->weights[i], p->first[i], i, &d->ids[i], &err),
                  err);
        d->arrived[i] = true;
        break;
    case LB_EVENT_SLEEP: /* what a workload ignores is refused here */
        (void)lb_sim_sleep(d->sim, d->ids[i], &err);
        break;
    case LB_EVENT_WAKE:
        (void)lb_sim_wake(d->sim, d->ids[i], &err);
        break;
    default:
        (void)lb_sim_remove(d->sim, d->ids[i], &err);
    }
}

/* All actions by time; at one time arrivals first, then as added. */
static size_t schedule(const problem *p, action *actions) {
    size_t n = 0;
    for (size_t i = 0; i < p->n; i++)
        actions[n++] = (action){p->arrivals[i], i, -1};
    for (size_t i = 0; i < p->event_count; i++)
        actions[n++] = p->events[i];
    for (size_t i = 1; i < n; i++)
        for (size_t k = i; k > 0 && actions[k - 1].time > actions[k].time; k--) {
            action other = actions[k];
            actions[k] = actions[k - 1];
            actions[k - 1] = other;
        }
    return n;
}

static void drive(driver *d, const problem *p, uint64_t seed, bool in_steps) {
    *d = (driver){.p = p};
    for (size_t i = 0; i < p->n; i++)
        d->seconds[i] = INFINITY;
    lb_error err = {0};
    ASSERT_OK(lb_sim_new(p->model, seed, &d->sim, &err), err);
    action actions[MOST + EVENTS];
    size_t n = schedule(p, actions);
    for (size_t i = 0; i < n;) {
        double time = actions[i].time;
        while (in_steps && lb_sim_now(d->sim) < time) {
            double now = lb_sim_now(d->sim), next = lb_sim_next(d->sim);
            ck_assert(next >= now && lb_sim_next(d->sim) == next);
            double to = below(2) ? now + 0.3 * unit() : next;
            if (to >= time)
                break;
            ASSERT_OK(lb_sim_advance(d->sim, to, &err), err);
            poll_all(d);
        }
        ASSERT_OK(lb_sim_begin(d->sim, time, &err), err);
        if (below(2))
            poll_all(d);
        for (; i < n && actions[i].time == time; i++)
            act(d, &actions[i]);
        ASSERT_OK(lb_sim_commit(d->sim, &err), err);
    }
    ASSERT_OK(lb_sim_advance(d->sim, INFINITY, &err), err);
    poll_all(d);
}

START_TEST(online_is_batch) {
    lbi_random_seed(&randomness, 1);
    size_t completed = 0, migrations = 0;
    for (uint64_t k = 0; k < 4000; k++) {
        problem p = random_problem();
        double seconds[MOST];
        sample(&p, k, seconds);
        driver d;
        drive(&d, &p, k, k % 2 == 0);
        for (size_t i = 0; i < p.n; i++) {
            completed += seconds[i] < INFINITY;
            ck_assert_msg(d.seconds[i] == seconds[i] || fabs(d.seconds[i] - seconds[i]) <=
                                                            1e-12 * (p.arrivals[i] + seconds[i]),
                          "problem %d, process %zu: online %.17g, batch %.17g", (int)k, i,
                          d.seconds[i], seconds[i]);
        }
        migrations += d.migrations;
        lb_sim_free(d.sim);
        lb_model_free(p.model);
    }
    printf("%zu completions, %zu migrations alike\n", completed, migrations);
    ck_assert_uint_gt(completed, 30000);
    ck_assert_uint_gt(migrations, 5000);
}
END_TEST

/* The batch model's shortcuts for plain workloads, at sizes where they matter. */
START_TEST(many_plain_processes_online_and_in_batch) {
    enum {
        MANY = 3000
    };
    static double works[MANY], seconds[MANY], online[MANY];
    lbi_random_seed(&randomness, 6);
    lb_error err = {0};
    for (int round = 0; round < 60; round++) {
        lb_model_options options;
        lb_model_options_init(&options, sizeof options);
        double speeds[70];
        options.cores = 1 + below(below(2) ? 4 : 70); /* long lists or many */
        for (uint32_t i = 0; i < options.cores; i++)
            speeds[i] = 1 + below(2);
        options.core_speeds = below(2) ? speeds : NULL;
        options.policy = LB_POLICY_NONE + round % 4;
        options.balance_delay = below(4) == 0 ? 5 : 0;
        size_t n = 1 + below(MANY);
        double grain = below(2) ? 0 : 1;
        for (size_t i = 0; i < n; i++) /* many equal ones; some 0, some without end */
            works[i] = below(500) == 0 ? INFINITY : grain > 0 ? below(30) : -log(unit());
        lb_model *model = NULL;
        lb_workload *workload = NULL;
        lb_sim *sim = NULL;
        ASSERT_OK(lb_model_new(&options, &model, &err), err);
        ASSERT_OK(lb_workload_new(&workload, &err), err);
        ASSERT_OK(lb_workload_add_many(workload, works, n, NULL, &err), err);
        ASSERT_OK(lb_model_sample(model, workload, 9, seconds, &err), err);
        ASSERT_OK(lb_sim_new(model, 9, &sim, &err), err);
        ASSERT_OK(lb_sim_begin(sim, 0, &err), err);
        for (size_t i = 0; i < n; i++) {
            ASSERT_OK(lb_sim_add(sim, works[i], 1, LB_CORE_ANY, i, NULL, &err), err);
            online[i] = INFINITY;
        }
        ASSERT_OK(lb_sim_commit(sim, &err), err);
        ASSERT_OK(lb_sim_advance(sim, INFINITY, &err), err);
        for (lb_sim_event event; lb_sim_poll(sim, &event) == 1;)
            if (event.kind == LB_SIM_COMPLETED)
                online[event.tag] = event.time;
        for (size_t i = 0; i < n; i++)
            ck_assert_msg(online[i] == seconds[i] ||
                              fabs(online[i] - seconds[i]) <= 1e-12 * seconds[i],
                          "round %d, process %zu of %zu: online %.17g, batch %.17g", round, i, n,
                          online[i], seconds[i]);
        lb_sim_free(sim);
        lb_workload_free(workload);
        lb_model_free(model);
    }
}
END_TEST

/* ---- rules ---- */

static lb_sim *new_sim(uint32_t cores, lb_policy policy) {
    lb_model_options options;
    lb_model_options_init(&options, sizeof options);
    options.cores = cores;
    options.policy = policy;
    lb_model *model = NULL;
    lb_sim *sim = NULL;
    lb_error err = {0};
    ASSERT_OK(lb_model_new(&options, &model, &err), err);
    ASSERT_OK(lb_sim_new(model, 1, &sim, &err), err);
    lb_model_free(model); /* the simulation does not need it */
    return sim;
}

static lb_process_id add(lb_sim *sim, double work, double weight, uint32_t core, uint64_t tag) {
    lb_process_id id = 0;
    lb_error err = {0};
    ASSERT_OK(lb_sim_add(sim, work, weight, core, tag, &id, &err), err);
    return id;
}

static void advance(lb_sim *sim, double until) {
    lb_error err = {0};
    ASSERT_OK(lb_sim_advance(sim, until, &err), err);
}

static void expect_completion(lb_sim *sim, lb_process_id id, double time) {
    lb_sim_event event;
    ck_assert_int_eq(lb_sim_poll(sim, &event), 1);
    ck_assert_int_eq(event.kind, LB_SIM_COMPLETED);
    ck_assert_uint_eq(event.id, id);
    ck_assert(fabs(event.time - time) <= 1e-12 * time);
    ck_assert_uint_eq(event.from, LB_CORE_ANY);
    ck_assert_uint_eq(event.to, LB_CORE_ANY);
}

static void expect_migration(lb_sim *sim, lb_process_id id, double time, uint32_t from,
                             uint32_t to) {
    lb_sim_event event;
    ck_assert_int_eq(lb_sim_poll(sim, &event), 1);
    ck_assert_int_eq(event.kind, LB_SIM_MIGRATED);
    ck_assert_uint_eq(event.id, id);
    ck_assert(fabs(event.time - time) <= 1e-12 * time);
    ck_assert_uint_eq(event.from, from);
    ck_assert_uint_eq(event.to, to);
}

static void expect_nothing(lb_sim *sim) {
    lb_sim_event event;
    ck_assert_int_eq(lb_sim_poll(sim, &event), 0);
}

START_TEST(a_life) {
    lb_sim *sim = new_sim(2, LB_POLICY_LAZY);
    ck_assert(lb_sim_next(sim) == INFINITY);
    lb_process_id a = add(sim, 1, 1, LB_CORE_ANY, 10), b = add(sim, 4, 1, LB_CORE_ANY, 11);
    ck_assert_uint_lt(a, b);
    ck_assert_uint_eq(lb_sim_core(sim, a), 0);
    ck_assert_uint_eq(lb_sim_core(sim, b), 1);
    lb_process_id c = add(sim, 4, 1, 1, 12);
    ck_assert_uint_eq(lb_sim_core_load(sim, 1), 2);
    ck_assert_uint_eq(lb_sim_core_load(sim, 2), 0);
    ck_assert_uint_eq(lb_sim_count(sim), 3);
    ck_assert_double_eq(lb_sim_rate(sim, c), 0.5);
    ck_assert_double_eq(lb_sim_next(sim), 1);
    advance(sim, 0.5);
    ck_assert_double_eq(lb_sim_now(sim), 0.5);
    ck_assert_double_eq(lb_sim_remaining(sim, a), 0.5);
    ck_assert_double_eq(lb_sim_remaining(sim, c), 3.75);
    expect_nothing(sim);
    lb_error err = {0};
    ASSERT_OK(lb_sim_sleep(sim, b, &err), err); /* c is alone on core 1 */
    ck_assert_uint_eq(lb_sim_core(sim, b), LB_CORE_ANY);
    ck_assert_double_eq(lb_sim_rate(sim, b), 0);
    ck_assert_double_eq(lb_sim_rate(sim, c), 1);
    ck_assert_uint_eq(lb_sim_count(sim), 2);
    advance(sim, 1);
    ck_assert_double_eq(lb_sim_remaining(sim, a), 0); /* known until polled */
    ck_assert_double_eq(lb_sim_rate(sim, a), 0);
    expect_completion(sim, a, 1);
    ck_assert(isnan(lb_sim_remaining(sim, a)) && isnan(lb_sim_rate(sim, a)));
    ck_assert_uint_eq(lb_sim_core(sim, a), LB_CORE_ANY);
    expect_nothing(sim);
    ASSERT_OK(lb_sim_wake(sim, b, &err), err); /* back on core 1; core 0 is empty: one moves */
    lb_sim_event event;
    ck_assert_int_eq(lb_sim_poll(sim, &event), 1);
    ck_assert_int_eq(event.kind, LB_SIM_MIGRATED);
    ck_assert(event.tag == 11 || event.tag == 12);
    ck_assert_double_eq(lb_sim_rate(sim, b), 1);
    advance(sim, INFINITY);
    expect_completion(sim, c, 1 + 3.75 - 0.5);
    expect_completion(sim, b, 1 + 3.75);
    expect_nothing(sim);
    ck_assert_double_eq(lb_sim_now(sim), 4.75);
    ck_assert_uint_eq(lb_sim_count(sim), 0);
    lb_sim_free(sim);
    lb_sim_free(NULL);
}
END_TEST

START_TEST(an_instant_is_balanced_once) {
    lb_sim *sim = new_sim(2, LB_POLICY_ACTIVE);
    lb_error err = {0};
    lb_process_id ids[4];
    ASSERT_OK(lb_sim_begin(sim, 3, &err), err);
    for (uint64_t i = 0; i < 4; i++)
        ids[i] = add(sim, 8, 1, i < 3 ? 0 : 1, i);
    /* new: no core, no rate, not counted */
    ck_assert_uint_eq(lb_sim_core(sim, ids[0]), LB_CORE_ANY);
    ck_assert_double_eq(lb_sim_rate(sim, ids[0]), 0);
    ck_assert_double_eq(lb_sim_remaining(sim, ids[0]), 8);
    ck_assert_uint_eq(lb_sim_count(sim), 0);
    ck_assert_double_eq(lb_sim_next(sim), 3);
    lb_sim *clone = NULL;
    ASSERT_REFUSED(lb_sim_begin(sim, 3, &err), LB_ERR_INVALID, "open", err);
    ASSERT_REFUSED(lb_sim_advance(sim, 3, &err), LB_ERR_INVALID, "open", err);
    ASSERT_REFUSED(lb_sim_clone(sim, &clone, &err), LB_ERR_INVALID, "open", err);
    ASSERT_OK(lb_sim_remove(sim, ids[3], &err), err);
    ck_assert(isnan(lb_sim_remaining(sim, ids[3])));
    ASSERT_OK(lb_sim_sleep(sim, ids[2], &err), err);
    ASSERT_OK(lb_sim_wake(sim, ids[2], &err), err);
    ASSERT_OK(lb_sim_commit(sim, &err), err);
    ASSERT_REFUSED(lb_sim_commit(sim, &err), LB_ERR_INVALID, "no instant is open", err);
    /* three against none: one moves */
    lb_sim_event event;
    ck_assert_int_eq(lb_sim_poll(sim, &event), 1);
    ck_assert_int_eq(event.kind, LB_SIM_MIGRATED);
    ck_assert_uint_eq(event.to, 1);
    expect_nothing(sim);
    ck_assert_uint_eq(lb_sim_core_load(sim, 0), 2);
    ck_assert_uint_eq(lb_sim_core_load(sim, 1), 1);
    /* at 11 the one on core 1 completes; the same instant removes one of the two others, so that
       nothing is left to balance */
    size_t left = event.id == ids[0] ? 1 : 0;
    ASSERT_OK(lb_sim_begin(sim, 11, &err), err);
    expect_completion(sim, event.id, 11);
    ASSERT_OK(lb_sim_remove(sim, ids[left], &err), err);
    ASSERT_OK(lb_sim_commit(sim, &err), err);
    expect_nothing(sim);
    lb_sim_free(sim);
}
END_TEST

START_TEST(events_of_one_instant_are_in_order) {
    lb_model_options options;
    lb_model_options_init(&options, sizeof options);
    options.cores = 3;
    options.policy = LB_POLICY_LAZY;
    options.process_choice = LB_PROCESS_FIRST;
    lb_model *model = NULL;
    lb_sim *sim = NULL;
    lb_error err = {0};
    ASSERT_OK(lb_model_new(&options, &model, &err), err);
    ASSERT_OK(lb_sim_new(model, 1, &sim, &err), err);
    lb_process_id ids[6];
    static const uint32_t cores[] = {2, 2, 2, 1, 0, LB_CORE_ANY};
    static const double works[] = {9, 9, 9, 2, 2, 0};
    ASSERT_OK(lb_sim_begin(sim, 0, &err), err);
    for (size_t i = 0; i < 6; i++)
        ids[i] = add(sim, works[i], 1, cores[i], i);
    ASSERT_OK(lb_sim_commit(sim, &err), err);
    expect_completion(sim, ids[5], 0); /* of zero work */
    advance(sim, 2);
    expect_completion(sim, ids[3], 2);
    expect_completion(sim, ids[4], 2);
    expect_migration(sim, ids[0], 2, 2, 0);
    expect_migration(sim, ids[1], 2, 2, 1);
    expect_nothing(sim);
    /* work set to 0 in an open instant: among the others by id */
    ASSERT_OK(lb_sim_begin(sim, 3, &err), err);
    lb_process_id late = add(sim, 0, 1, LB_CORE_ANY, 6);
    ASSERT_OK(lb_sim_sleep(sim, ids[1], &err), err);
    ASSERT_OK(lb_sim_set_work(sim, ids[2], 0, &err), err);
    ASSERT_OK(lb_sim_set_work(sim, ids[1], 0, &err), err); /* a sleeper too */
    ASSERT_REFUSED(lb_sim_wake(sim, ids[1], &err), LB_ERR_INVALID, "completed", err);
    expect_completion(sim, ids[1], 3);
    lb_process_id again = add(sim, 5, 1, LB_CORE_ANY, 7); /* in the place that it left */
    ASSERT_OK(lb_sim_commit(sim, &err), err);
    expect_completion(sim, ids[2], 3);
    expect_completion(sim, late, 3);
    expect_nothing(sim);
    ck_assert_uint_eq(lb_sim_core(sim, again), 1);
    advance(sim, INFINITY);
    expect_completion(sim, again, 8);
    expect_completion(sim, ids[0], 2 + 9 - 2.0 / 3);
    lb_sim_free(sim);
    lb_model_free(model);
}
END_TEST

START_TEST(weights_too_small_for_the_work) {
    for (int policy = LB_POLICY_NONE; policy <= LB_POLICY_IMMEDIATE; policy++) {
        lb_sim *sim = new_sim(1, (lb_policy)policy);
        lb_error err;
        lb_process_id a = add(sim, 1e10, 1, LB_CORE_ANY, 0);
        lb_process_id b = add(sim, 1, 1, LB_CORE_ANY, 0);
        ASSERT_REFUSED(lb_sim_add(sim, 1, 1e-320, LB_CORE_ANY, 0, NULL, &err), LB_ERR_INVALID,
                       "work of 1 s over it", err);
        ASSERT_REFUSED(lb_sim_set_weight(sim, a, 1e-300, &err), LB_ERR_INVALID, "over it", err);
        ASSERT_OK(lb_sim_set_weight(sim, b, 1e-300, &err), err);
        ASSERT_REFUSED(lb_sim_set_work(sim, b, 1e10, &err), LB_ERR_INVALID,
                       "weight is 1e-300: work of 1e+10 s", err);
        ASSERT_OK(lb_sim_set_work(sim, b, INFINITY, &err), err);
        ck_assert_uint_eq(lb_sim_count(sim), 2);
        ck_assert(lb_sim_remaining(sim, a) == 1e10);
        lb_sim_free(sim);
    }
}
END_TEST

START_TEST(weights_and_works_change) {
    lb_error err = {0};
    for (int policy = LB_POLICY_NONE; policy <= LB_POLICY_IMMEDIATE; policy++) {
        lb_sim *sim = new_sim(1, (lb_policy)policy);
        lb_process_id a = add(sim, 10, 2, 0, 0), b = add(sim, 10, 2, 0, 1);
        advance(sim, 4); /* 8 left of each */
        ASSERT_OK(lb_sim_set_weight(sim, a, 6, &err), err);
        ck_assert_double_eq_tol(lb_sim_rate(sim, a), 0.75, 1e-15);
        ck_assert_double_eq_tol(lb_sim_rate(sim, b), 0.25, 1e-15);
        ck_assert_double_eq_tol(lb_sim_remaining(sim, b), 8, 1e-14);
        advance(sim, 8); /* 5 and 7 left */
        ck_assert_double_eq_tol(lb_sim_remaining(sim, a), 5, 1e-14);
        ASSERT_OK(lb_sim_set_work(sim, a, 6, &err), err);
        lb_process_id c = add(sim, 3, 1, 0, 2); /* 2/3, 2/9, 1/9 */
        ck_assert_double_eq_tol(lb_sim_rate(sim, c), 1.0 / 9, 1e-15);
        ASSERT_OK(lb_sim_sleep(sim, c, &err), err);
        ASSERT_OK(lb_sim_set_weight(sim, c, 2, &err), err);
        ASSERT_OK(lb_sim_set_work(sim, c, INFINITY, &err), err);
        advance(sim, INFINITY); /* a at 16, b has 5 left */
        expect_completion(sim, a, 16);
        expect_completion(sim, b, 21);
        ASSERT_OK(lb_sim_wake(sim, c, &err), err);
        ck_assert(lb_sim_next(sim) == INFINITY);
        ASSERT_OK(lb_sim_set_work(sim, c, 1, &err), err);
        ck_assert_double_eq_tol(lb_sim_next(sim), 22, 1e-12);
        ASSERT_OK(lb_sim_set_work(sim, c, INFINITY, &err), err);
        ck_assert(lb_sim_next(sim) == INFINITY);
        ASSERT_OK(lb_sim_set_work(sim, c, 0, &err), err);
        expect_completion(sim, c, 21);
        lb_sim_free(sim);
    }
}
END_TEST

/* Weights that come and go against rates computed anew by the rule's definition. */
START_TEST(processor_sharing_follows_its_definition) {
    lbi_random_seed(&randomness, 3);
    lb_error err = {0};
    for (int round = 0; round < 200; round++) {
        uint32_t cores = 1 + below(6);
        double speeds[6], weights[64];
        for (uint32_t i = 0; i < cores; i++)
            speeds[i] = 1 + below(3);
        lb_model_options options;
        lb_model_options_init(&options, sizeof options);
        options.cores = cores;
        options.core_speeds = speeds;
        lb_model *model = NULL;
        lb_sim *sim = NULL;
        ASSERT_OK(lb_model_new(&options, &model, &err), err);
        ASSERT_OK(lb_sim_new(model, 1, &sim, &err), err);
        for (uint32_t i = 1; i < cores; i++) /* fastest first */
            for (uint32_t k = i; k > 0 && speeds[k - 1] < speeds[k]; k--) {
                double other = speeds[k];
                speeds[k] = speeds[k - 1];
                speeds[k - 1] = other;
            }
        lb_process_id ids[64];
        size_t n = 0;
        for (int step = 0; step < 60; step++) {
            uint32_t what = below(4);
            if (n == 0 || (what < 2 && n < 64)) {
                weights[n] = round % 2 ? exp(20 * unit() - 10) : 1 + below(2);
                ids[n] = add(sim, INFINITY, weights[n], LB_CORE_ANY, 0);
                n++;
            } else if (what == 2) {
                size_t i = below((uint32_t)n);
                ASSERT_OK(lb_sim_remove(sim, ids[i], &err), err);
                ids[i] = ids[--n];
                weights[i] = weights[n];
            } else {
                size_t i = below((uint32_t)n);
                weights[i] = exp(20 * unit() - 10);
                ASSERT_OK(lb_sim_set_weight(sim, ids[i], weights[i], &err), err);
            }
            size_t m = n < cores ? n : cores;
            double total = 0, sum = 0;
            for (size_t i = 0; i < m; i++)
                total += speeds[i];
            /* lambda by bisection on its logarithm */
            double low = -60, high = 60;
            for (int k = 0; k < 200; k++) {
                double lambda = exp((low + high) / 2);
                sum = 0;
                for (size_t i = 0; i < n; i++)
                    sum += fmin(total / (double)m, lambda * weights[i]);
                *(sum < total * (1 - 1e-14) ? &low : &high) = (low + high) / 2;
            }
            sum = 0;
            for (size_t i = 0; i < n; i++) {
                double expected = fmin(total / (double)m, exp(high) * weights[i]);
                double rate = lb_sim_rate(sim, ids[i]);
                sum += rate;
                ck_assert_msg(fabs(rate - expected) <= 1e-9 * expected,
                              "round %d, %zu processes: %.17g, expected %.17g", round, n, rate,
                              expected);
            }
            ck_assert(fabs(sum - total) <= 1e-12 * total);
        }
        lb_sim_free(sim);
        lb_model_free(model);
    }
}
END_TEST

/* ---- long lists, which are kept otherwise than short ones ---- */

typedef struct one_core { /* a walk over all processes */
    double left[3000], weight[3000];
    lb_process_id id[3000];
    bool awake[3000], there[3000];
    size_t n;
} one_core;

static void walk(one_core *c, double passed) {
    for (;;) {
        double sum = 0, first = INFINITY;
        for (size_t i = 0; i < c->n; i++)
            if (c->there[i] && c->awake[i]) {
                sum += c->weight[i];
                first = fmin(first, c->left[i] / c->weight[i]);
            }
        double step = fmin(passed / sum, first);
        for (size_t i = 0; sum > 0 && i < c->n; i++)
            if (c->there[i] && c->awake[i]) {
                c->left[i] -= step * c->weight[i];
                c->there[i] = c->left[i] > 1e-10;
            }
        if (!(sum > 0) || first >= passed / sum)
            return;
        passed -= first * sum;
    }
}

static void change_one(one_core *c, lb_sim *sim, bool weighted) {
    lb_error err = {0};
    size_t i = below((uint32_t)c->n);
    uint32_t what = below(weighted ? 6 : 5);
    if (what == 0 || !c->there[i]) {
        i = c->n++;
        c->left[i] = 100 * unit();
        c->weight[i] = 1;
        c->awake[i] = c->there[i] = true;
        c->id[i] = add(sim, c->left[i], 1, LB_CORE_ANY, i);
    } else if (what <= 2) {
        ASSERT_OK(c->awake[i] ? lb_sim_sleep(sim, c->id[i], &err)
                              : lb_sim_wake(sim, c->id[i], &err),
                  err);
        c->awake[i] = !c->awake[i];
    } else if (what == 3) {
        ASSERT_OK(lb_sim_remove(sim, c->id[i], &err), err);
        c->there[i] = false;
    } else if (what == 4 && below(50) == 0) {
        c->left[i] = 100 * unit();
        ASSERT_OK(lb_sim_set_work(sim, c->id[i], c->left[i], &err), err);
    } else if (what == 5 && below(50) == 0) {
        c->weight[i] = 0.5 + unit();
        ASSERT_OK(lb_sim_set_weight(sim, c->id[i], c->weight[i], &err), err);
    }
}

START_TEST(long_lists_are_as_a_walk_over_all) {
    static one_core c;
    lbi_random_seed(&randomness, 11);
    for (int round = 0; round < 6; round++) {
        lb_sim *sim = new_sim(1, round % 2 ? LB_POLICY_ACTIVE : LB_POLICY_IMMEDIATE);
        c.n = 1000;
        lb_error err = {0};
        ASSERT_OK(lb_sim_begin(sim, 0, &err), err);
        for (size_t i = 0; i < c.n; i++) {
            c.left[i] = 100 * unit();
            c.weight[i] = 1;
            c.awake[i] = c.there[i] = true;
            c.id[i] = add(sim, c.left[i], 1, LB_CORE_ANY, i);
        }
        ASSERT_OK(lb_sim_commit(sim, &err), err);
        for (double time = 0; c.n < 1400; time += 300) {
            for (int k = 0; k < 20; k++)
                change_one(&c, sim, round >= 4);
            advance(sim, time + 300);
            walk(&c, 300);
            for (lb_sim_event event; lb_sim_poll(sim, &event) == 1;)
                ck_assert(!c.there[event.tag]);
            for (size_t i = 0; i < c.n; i++)
                if (c.there[i])
                    ck_assert_msg(fabs(lb_sim_remaining(sim, c.id[i]) - c.left[i]) <= 1e-8,
                                  "round %d, %g s, process %zu: %.17g left, expected %.17g", round,
                                  time, i, lb_sim_remaining(sim, c.id[i]), c.left[i]);
        }
        lb_sim_free(sim);
    }
}
END_TEST

START_TEST(long_lists_choose_evenly) {
    enum {
        EACH = 1000,
        FIRST = 700,
        GONE = 200
    };
    size_t moved = 0, counts[10] = {0};
    for (uint64_t seed = 0; seed < 60; seed++) {
        lb_sim *sim = new_sim(2, LB_POLICY_ACTIVE);
        lb_sim_reseed(sim, seed);
        lb_error err = {0};
        lb_process_id ids[2 * EACH];
        ASSERT_OK(lb_sim_begin(sim, 0, &err), err);
        for (size_t i = 0; i < 2 * EACH; i++) {
            if (i == 2 * FIRST) { /* the rest are newcomers */
                ASSERT_OK(lb_sim_commit(sim, &err), err);
                ASSERT_OK(lb_sim_begin(sim, 1, &err), err);
            }
            ids[i] = add(sim, 1e6 + (double)(i / 2), 1, (uint32_t)(i % 2), i);
        }
        ASSERT_OK(lb_sim_commit(sim, &err), err);
        for (size_t i = 1; i < 2 * GONE; i += 2)
            ASSERT_OK(lb_sim_remove(sim, ids[i], &err), err);
        for (lb_sim_event event; lb_sim_poll(sim, &event) == 1; moved++) {
            ck_assert_int_eq(event.kind, LB_SIM_MIGRATED);
            ck_assert_uint_eq(event.from, 0);
            counts[event.tag / 2 * 10 / EACH]++;
        }
        ck_assert_uint_le(lb_sim_core_load(sim, 0) - lb_sim_core_load(sim, 1), 1);
        lb_sim_free(sim);
    }
    ck_assert_uint_gt(moved, 5000);
    double expected = (double)moved / 10;
    for (size_t k = 0; k < 10; k++)
        ck_assert_msg(fabs((double)counts[k] - expected) < 5 * sqrt(expected),
                      "tenth %zu: %zu of %zu", k, counts[k], moved);
}
END_TEST

static void run_out(lb_sim *sim, double *ends, size_t n) {
    for (size_t i = 0; i < n; i++)
        ends[i] = NAN;
    advance(sim, INFINITY);
    lb_sim_event event;
    while (lb_sim_poll(sim, &event) == 1)
        if (event.kind == LB_SIM_COMPLETED)
            ends[event.tag] = event.time;
}

START_TEST(clones_go_the_same_way_until_reseeded) {
    enum {
        N = 30
    };
    int differing = 0;
    for (int policy = LB_POLICY_LAZY; policy <= LB_POLICY_IMMEDIATE; policy++)
        for (int weighted = 0; weighted < 2; weighted++) {
            lb_sim *sim = new_sim(4, (lb_policy)policy);
            lbi_random_seed(&randomness, 5);
            lb_error err = {0};
            lb_process_id slept = 0;
            for (uint64_t i = 0; i < N; i++) {
                lb_process_id id =
                    add(sim, 1 + 9 * unit(), weighted ? 1 + unit() : 1, LB_CORE_ANY, i);
                if (i == 7)
                    ASSERT_OK(lb_sim_sleep(sim, slept = id, &err), err);
            }
            advance(sim, 3);
            lb_sim *same = NULL, *other = NULL;
            ASSERT_OK(lb_sim_clone(sim, &same, &err), err);
            ASSERT_OK(lb_sim_clone(same, &other, &err), err);
            lb_sim_reseed(other, 99);
            double ends[3][N];
            lb_sim *sims[] = {sim, same, other};
            for (int i = 0; i < 3; i++) {
                ASSERT_OK(lb_sim_wake(sims[i], slept, &err), err);
                run_out(sims[i], ends[i], N);
                lb_sim_free(sims[i]);
            }
            ck_assert_int_eq(memcmp(ends[0], ends[1], sizeof ends[0]), 0);
            differing += memcmp(ends[0], ends[2], sizeof ends[0]) != 0;
        }
    ck_assert_int_eq(differing, 4); /* lazy and active */
}
END_TEST

START_TEST(what_is_out_of_range_is_refused) {
    lb_sim *sim = new_sim(2, LB_POLICY_LAZY);
    lb_error err = {0};
    lb_process_id id = 77;
    const double bad_works[] = {-1, NAN}, bad_weights[] = {0, -1, NAN, INFINITY};
    for (int i = 0; i < 2; i++)
        ASSERT_REFUSED(lb_sim_add(sim, bad_works[i], 1, 0, 0, &id, &err), LB_ERR_INVALID,
                       i == 0 ? "work is -1" : "work is nan", err);
    for (int i = 0; i < 4; i++)
        ASSERT_REFUSED(lb_sim_add(sim, 1, bad_weights[i], 0, 0, &id, &err), LB_ERR_INVALID,
                       "weight is", err);
    ASSERT_REFUSED(lb_sim_add(sim, 1, 1, 2, 0, &id, &err), LB_ERR_INVALID,
                   "core is 2: the model has 2 cores", err);
    ck_assert_uint_eq(id, 77);
    ck_assert_uint_eq(lb_sim_count(sim), 0);
    id = add(sim, 5, 1, LB_CORE_ANY, 0);
    for (int i = 0; i < 4; i++)
        ASSERT_REFUSED(lb_sim_set_weight(sim, id, bad_weights[i], &err), LB_ERR_INVALID,
                       "weight is", err);
    for (int i = 0; i < 2; i++)
        ASSERT_REFUSED(lb_sim_set_work(sim, id, bad_works[i], &err), LB_ERR_INVALID, "work is",
                       err);
    advance(sim, 2);
    ASSERT_REFUSED(lb_sim_advance(sim, 1, &err), LB_ERR_INVALID, "advance to 1 s", err);
    ASSERT_REFUSED(lb_sim_advance(sim, NAN, &err), LB_ERR_INVALID, "advance to nan", err);
    ASSERT_REFUSED(lb_sim_begin(sim, 1, &err), LB_ERR_INVALID, "begin to 1 s", err);
    ASSERT_REFUSED(lb_sim_begin(sim, NAN, &err), LB_ERR_INVALID, "nan", err);
    ASSERT_REFUSED(lb_sim_begin(sim, INFINITY, &err), LB_ERR_INVALID, "inf", err);
    ck_assert_double_eq(lb_sim_now(sim), 2);
    ASSERT_REFUSED(lb_sim_wake(sim, id, &err), LB_ERR_INVALID, "it is awake", err);
    ASSERT_OK(lb_sim_sleep(sim, id, &err), err);
    ASSERT_REFUSED(lb_sim_sleep(sim, id, &err), LB_ERR_INVALID, "it is asleep", err);
    ASSERT_OK(lb_sim_wake(sim, id, &err), err);
    ck_assert_double_eq(lb_sim_remaining(sim, id), 3);
    advance(sim, 9);
    static lb_status (*const calls[])(lb_sim *, lb_process_id,
                                      lb_error *) = {lb_sim_sleep, lb_sim_wake, lb_sim_remove};
    for (int i = 0; i < 3; i++) {
        ASSERT_REFUSED(calls[i](sim, id, &err), LB_ERR_INVALID, "has completed", err);
        ASSERT_REFUSED(calls[i](sim, id + 1, &err), LB_ERR_INVALID, "is not known", err);
    }
    ASSERT_REFUSED(lb_sim_set_weight(sim, id, 2, &err), LB_ERR_INVALID, "has completed", err);
    ASSERT_REFUSED(lb_sim_set_work(sim, id, 2, &err), LB_ERR_INVALID, "has completed", err);
    expect_completion(sim, id, 5);
    ASSERT_REFUSED(lb_sim_set_work(sim, id, 2, &err), LB_ERR_INVALID, "is not known", err);
    ck_assert(isnan(lb_sim_remaining(sim, 0)) && isnan(lb_sim_rate(sim, UINT64_MAX)));
    lb_sim_free(sim);
}
END_TEST

START_TEST(completion_wins_over_a_call_at_its_instant) {
    lb_error err = {0};
    lb_sim *sim = new_sim(1, LB_POLICY_NONE);
    lb_process_id id = add(sim, 2 * (1 + 4e-13), 1, 0, 0);
    advance(sim, 2 * (1 - 4e-13)); /* within the window of its end, but not at it */
    ck_assert_double_eq(lb_sim_now(sim), 2 * (1 - 4e-13));
    lb_sim_event event;
    ck_assert_int_eq(lb_sim_poll(sim, &event), 1);
    ck_assert_uint_eq(event.id, id);
    id = add(sim, 2e-13, 1, 0, 0);
    ASSERT_OK(lb_sim_sleep(sim, id, &err), err);
    ck_assert_int_eq(lb_sim_poll(sim, &event), 1);
    ck_assert_int_eq(event.kind, LB_SIM_COMPLETED);
    ck_assert_uint_eq(event.id, id);
    lb_sim_free(sim);
}
END_TEST

START_TEST(errors_do_not_grow_over_a_million_events) {
    /* A closed system: each completion brings the next. Busy all the time, it does c seconds of
       work a second: the works handed out less what is left must be the time passed. */
    enum {
        CORES = 4,
        SHORT = 64,
        LONG = 4000,
        COMPLETIONS = 500000
    };
    static lb_process_id ids[LONG];
    for (int k = 2 * LB_POLICY_LAZY; k <= 2 * LB_POLICY_IMMEDIATE + 1; k++) {
        int policy = k / 2;
        /* Lists of 1000 too, which are kept in another way than those of 16. */
        uint64_t alive = k % 2 ? LONG : SHORT;
        lb_sim *sim = new_sim(CORES, (lb_policy)policy);
        lbi_random_seed(&randomness, 8);
        double given = 0, carry = 0;
        for (uint64_t i = 0; i < alive + COMPLETIONS; i++) {
            double work = 0.001 + unit(), term = work - carry, sum = given + term;
            carry = (sum - given) - term;
            given = sum;
            uint64_t tag = i;
            if (i >= alive) {
                lb_sim_event event;
                do {
                    if (lb_sim_poll(sim, &event) == 0) {
                        advance(sim, lb_sim_next(sim));
                        continue;
                    }
                    if (event.kind == LB_SIM_COMPLETED)
                        break;
                } while (true);
                tag = event.tag;
            }
            ids[tag] = add(sim, work, 1, LB_CORE_ANY, tag);
        }
        double left = 0;
        for (uint64_t i = 0; i < alive; i++)
            left += isnan(lb_sim_remaining(sim, ids[i])) ? 0 : lb_sim_remaining(sim, ids[i]);
        double error = (given - left) / CORES / lb_sim_now(sim) - 1;
        ck_assert_msg(fabs(error) < 1e-12, "policy %d, %d alive: %g", policy, (int)alive, error);
        lb_sim_free(sim);
    }
}
END_TEST

/* ---- memory ---- */

/* No assertions inside: they allocate too. */
static lb_status live(lb_sim *sim) {
    lb_process_id ids[60];
    lb_status status = LB_OK;
    for (uint64_t i = 0; i < 60 && status == LB_OK; i++)
        status = lb_sim_add(sim, 1 + (double)(i * 7 % 11), 1 + (double)(i % 3), LB_CORE_ANY, i,
                            &ids[i], NULL);
    for (size_t i = 0; i < 60 && status == LB_OK; i += 5)
        status = lb_sim_sleep(sim, ids[i], NULL);
    if (status == LB_OK)
        status = lb_sim_set_weight(sim, ids[1], 4, NULL);
    if (status == LB_OK)
        status = lb_sim_set_work(sim, ids[2], 4, NULL);
    if (status == LB_OK)
        status = lb_sim_remove(sim, ids[3], NULL);
    if (status == LB_OK)
        status = lb_sim_begin(sim, 2, NULL);
    for (size_t i = 0; i < 60 && status == LB_OK; i += 5)
        status = lb_sim_wake(sim, ids[i], NULL);
    if (status == LB_OK)
        status = lb_sim_commit(sim, NULL);
    if (status == LB_OK)
        status = lb_sim_advance(sim, INFINITY, NULL);
    return status;
}

/* At the end of what a double holds. */
START_TEST(the_largest_numbers) {
    lb_error err;
    lb_model_options options;
    lb_model_options_init(&options, sizeof options);
    lb_model *model;
    lb_sim *sim;
    ASSERT_OK(lb_model_new(&options, &model, &err), err);
    ASSERT_OK(lb_sim_new(model, 0, &sim, &err), err);
    ASSERT_REFUSED(lb_sim_add(sim, 1, 1.1e298, LB_CORE_ANY, 0, NULL, &err), LB_ERR_INVALID,
                   "at most 1e298", err);
    ASSERT_OK(lb_sim_add(sim, 1.797e308, 1, LB_CORE_ANY, 0, NULL, &err), err);
    ASSERT_OK(lb_sim_advance(sim, INFINITY, &err), err);
    ck_assert_uint_eq(lb_sim_count(sim), 0);
    lb_sim_free(sim);
    lb_model_free(model);

    static const double fast[] = {1.7e308, 1.7e308}, slow[] = {1, 1e-300};
    options.cores = 2;
    options.core_speeds = fast;
    ASSERT_REFUSED(lb_model_new(&options, &model, &err), LB_ERR_INVALID, "core_speeds[1]", err);
    options.core_speeds = slow;
    ASSERT_OK(lb_model_new(&options, &model, &err), err);
    ASSERT_OK(lb_sim_new(model, 0, &sim, &err), err);
    ASSERT_REFUSED(lb_sim_add(sim, 1e10, 1, LB_CORE_ANY, 0, NULL, &err), LB_ERR_INVALID,
                   "slowest core", err);
    lb_workload *workload;
    double seconds;
    ASSERT_OK(lb_workload_new(&workload, &err), err);
    ASSERT_OK(lb_workload_add(workload, 1e10, NULL, &err), err);
    ASSERT_REFUSED(lb_model_sample(model, workload, 0, &seconds, &err), LB_ERR_INVALID,
                   "work of process 0", err);
    lb_workload_free(workload);
    lb_sim_free(sim);
    lb_model_free(model);
}
END_TEST

START_TEST(simulations_survive_failed_allocations) {
    lb_error err = {0};
    for (int policy = LB_POLICY_NONE; policy <= LB_POLICY_IMMEDIATE; policy++) {
        lb_model_options options;
        lb_model_options_init(&options, sizeof options);
        options.cores = 3;
        options.policy = policy;
        options.process_choice = LB_PROCESS_LAST;
        lb_model *model = NULL;
        ASSERT_OK(lb_model_new(&options, &model, &err), err);
        size_t failures;
        lb_status status;
        SWEEP_ALLOCATIONS(status, failures, {
            lb_sim *sim = NULL;
            lb_sim *clone = NULL;
            status = lb_sim_new(model, 1, &sim, &err);
            if (status == LB_OK)
                status = live(sim);
            if (status == LB_OK)
                status = lb_sim_reserve(sim, 500, &err);
            if (status == LB_OK)
                status = lb_sim_clone(sim, &clone, &err);
            lb_sim_free(clone);
            lb_sim_free(sim);
        });
        ck_assert_uint_gt(failures, 30);
        /* after a reservation nothing is asked for */
        lb_sim *sim = NULL;
        ASSERT_OK(lb_sim_new(model, 1, &sim, &err), err);
        ASSERT_OK(lb_sim_reserve(sim, 60, &err), err);
        faults_arm(1);
        status = live(sim);
        ck_assert(!faults_fired());
        ck_assert_int_eq(status, LB_OK);
        lb_sim_free(sim);
        lb_model_free(model);
    }
}
END_TEST

/* An advance that fails half way goes on as if nothing had been. */
START_TEST(a_failed_advance_stands_whole) {
    enum {
        N = 40
    };
    lb_model_options options;
    lb_model_options_init(&options, sizeof options);
    options.cores = 3;
    options.rotation_time = 0.05; /* many events */
    lb_model *model = NULL;
    lb_error err = {0};
    ASSERT_OK(lb_model_new(&options, &model, &err), err);
    double whole[N], broken[N];
    int failures = 0;
    for (int failing = 0; failing < 2; failing++) {
        lb_sim *sim = NULL;
        ASSERT_OK(lb_sim_new(model, 4, &sim, &err), err);
        for (uint64_t i = 0; i < N; i++)
            add(sim, 1 + (double)(i % 7), 1, LB_CORE_ANY, i);
        double *ends = failing ? broken : whole;
        for (bool done = false; failing && !done;) {
            double before = lb_sim_now(sim);
            faults_arm(1);
            lb_status status = lb_sim_advance(sim, INFINITY, NULL);
            faults_fired();
            ck_assert(lb_sim_now(sim) >= before);
            done = status == LB_OK;
            failures += !done;
            if (!done) { /* one step without the fault, then the next */
                double next = lb_sim_next(sim);
                ck_assert(next > lb_sim_now(sim));
                ASSERT_OK(lb_sim_advance(sim, next, &err), err);
            }
        }
        run_out(sim, ends, N);
        lb_sim_free(sim);
    }
    ck_assert_int_gt(failures, 2);
    ck_assert_int_eq(memcmp(whole, broken, sizeof whole), 0);
    lb_model_free(model);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("model_sim");
    ADD(s, "batch", online_is_batch, many_plain_processes_online_and_in_batch);
    ADD(s, "rules", a_life, an_instant_is_balanced_once, events_of_one_instant_are_in_order,
        weights_and_works_change, weights_too_small_for_the_work,
        processor_sharing_follows_its_definition, clones_go_the_same_way_until_reseeded,
        completion_wins_over_a_call_at_its_instant, errors_do_not_grow_over_a_million_events);
    ADD(s, "long lists", long_lists_are_as_a_walk_over_all, long_lists_choose_evenly);
    ADD(s, "bad input", what_is_out_of_range_is_refused, the_largest_numbers);
    ADD(s, "memory", simulations_survive_failed_allocations, a_failed_advance_stands_whole);
    return s;
}
