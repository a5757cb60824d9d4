/* SPDX-License-Identifier: BSD-3-Clause */
/* What large weight differences cost: the ideal, the static rule, the dynamic one. */
#include <math.h>
#include <string.h>

#include "harness.h"
#include "model/weights.h"

static lb_weights_options small(void) {
    static const int32_t levels[] = {0, 19};
    lb_weights_options o;
    lb_weights_options_init(&o, sizeof o);
    o.levels = levels;
    o.level_count = 2;
    o.groups = 2;
    o.group_cores = 2;
    o.repeats = 2;
    o.seconds = 2;
    return o;
}

/* design/experiments.md, for four sockets of four cores: 0 % to nice 6, 12.5 % at 7 to 9, 18.75 %
 * from 10. */
START_TEST(static_rule) {
    for (int nice = 0; nice < 20; nice++) {
        lbi_weights_machine m = {4, 4, 1, lb_nice_weight(nice)};
        double expected = nice <= 6 ? 0 : nice <= 9 ? 0.125 : 0.1875;
        ck_assert_double_eq(lbi_weights_static(&m), expected);
    }
}
END_TEST

START_TEST(static_rule_by_hand) {
    /* One group: nobody to give to. Two of one core: a soaker of half the normal task's weight at
     * most moves to the other core, but none of them idles for it. */
    lbi_weights_machine one = {1, 4, 1, 0.01}, even = {2, 1, 1, 0.6}, uneven = {2, 1, 1, 0.4};
    ck_assert_double_eq(lbi_weights_static(&one), 0);
    ck_assert_double_eq(lbi_weights_static(&even), 0);
    ck_assert_double_eq(lbi_weights_static(&uneven), 0);
    /* As many normal tasks as cores: no core can idle. */
    lbi_weights_machine full = {2, 2, 4, 0.01};
    ck_assert_double_eq(lbi_weights_static(&full), 0);
}
END_TEST

/* The duration model of the same machine, its soakers without end. */
static lb_sim *simulate(const lbi_weights_machine *m, double work) {
    lb_error err;
    lb_model_options o;
    lb_model *model;
    lb_sim *sim;
    lb_model_options_init(&o, sizeof o);
    o.cores = m->groups * m->group_cores;
    o.policy = LB_POLICY_ACTIVE;
    o.group_cores = m->group_cores;
    ASSERT_OK(lb_model_new(&o, &model, &err), err);
    ASSERT_OK(lb_sim_new(model, 1, &sim, &err), err);
    lb_model_free(model);
    ASSERT_OK(lb_sim_begin(sim, 0, &err), err);
    for (uint32_t i = 0; i < o.cores; i++)
        ASSERT_OK(lb_sim_add(sim, work, m->ratio, i, 0, NULL, &err), err);
    for (uint32_t i = 0; i < m->normal_tasks; i++) {
        uint32_t core = i % m->groups * m->group_cores + i / m->groups % m->group_cores;
        ASSERT_OK(lb_sim_add(sim, 10, 1, core, 0, NULL, &err), err);
    }
    ASSERT_OK(lb_sim_commit(sim, &err), err);
    return sim;
}

/* The engine of the durations idles as many cores as the static rule says. */
START_TEST(engine_as_static_rule) {
    for (int nice = 0; nice < 20; nice++)
        for (uint32_t groups = 1; groups <= 5; groups++)
            for (uint32_t cores = 1; cores <= 5; cores++)
                for (uint32_t normal = 1; normal <= 3; normal++) {
                    lbi_weights_machine m = {groups, cores, normal, lb_nice_weight(nice)};
                    lb_sim *sim = simulate(&m, INFINITY);
                    uint32_t idle = 0;
                    for (uint32_t i = 0; i < groups * cores; i++)
                        idle += lb_sim_core_load(sim, i) == 0;
                    ck_assert_double_eq(lbi_weights_static(&m), (double)idle / groups / cores);
                    lb_sim_free(sim);
                }
}
END_TEST

/* Two groups of two cores: the normal task has one for itself, two soakers a core share the other,
 * and one core idles. */
START_TEST(engine_by_hand) {
    lb_error err;
    lbi_weights_machine m = {2, 2, 1, lb_nice_weight(19)};
    lb_sim *sim = simulate(&m, 1);
    ck_assert_double_eq_tol(lb_sim_next(sim), 2, 1e-12);
    ASSERT_OK(lb_sim_advance(sim, 2, &err), err);
    ck_assert_uint_eq(lb_sim_count(sim), 1);
    ck_assert_double_eq_tol(lb_sim_next(sim), 10, 1e-12);
    lb_sim_free(sim);
}
END_TEST

START_TEST(ideal) {
    double normal, soaker;
    lbi_weights_ideal(2, 1, 1, &normal, &soaker);
    ck_assert_double_eq_tol(normal, 2.0 / 3, 1e-15);
    ck_assert_double_eq_tol(soaker, 2.0 / 3, 1e-15);
    lbi_weights_ideal(2, 1, 0.25, &normal, &soaker);
    ck_assert_double_eq(normal, 1);
    ck_assert_double_eq(soaker, 0.5);
    lbi_weights_ideal(2, 3, 0.5, &normal, &soaker);
    ck_assert_double_eq(normal, 0.5);
    ck_assert_double_eq(soaker, 0.25);
}
END_TEST

START_TEST(dynamic_is_repeatable) {
    lb_error err;
    lb_weights_options o = small();
    lb_table *a, *b;
    ASSERT_OK(lb_model_weights(&o, &a, &err), err);
    o.levels++;
    o.level_count = 1;
    ASSERT_OK(lb_model_weights(&o, &b, &err), err);
    ck_assert_uint_eq(lb_table_rows(a), 2);
    ck_assert_str_eq(lb_table_label(a, 1), "nice 19");
    ck_assert_str_eq(lb_table_meta(a, "groups"), "2x2");
    for (size_t i = 0; i < lb_table_columns(a); i++)
        ck_assert_double_eq(lb_table_value(a, 1, i), lb_table_value(b, 0, i));
    lb_table_free(a);
    lb_table_free(b);
}
END_TEST

/* Of equal weights nobody idles; of a single group neither, whatever the weights: an idle core
 * finds a busiest one. */
START_TEST(dynamic_wastes_nothing_without_cause) {
    lb_error err;
    lb_weights_options o = small();
    lb_table *t;
    ASSERT_OK(lb_model_weights(&o, &t, &err), err);
    ck_assert_double_le(lb_table_get(t, 0, "idle_percent"), 0.01);
    lb_table_free(t);
    o.groups = 1;
    o.group_cores = 4;
    ASSERT_OK(lb_model_weights(&o, &t, &err), err);
    ck_assert_double_le(lb_table_get(t, 1, "idle_percent"), 0.5);
    lb_table_free(t);
}
END_TEST

static int stop(void *user, double fraction) {
    (void)fraction;
    return ++*(int *)user == 2;
}

START_TEST(refused) {
    lb_error err;
    lb_table *t = NULL;
    int32_t bad = 21;
    lb_weights_options o = small();
    o.levels = &bad;
    o.level_count = 1;
    ASSERT_REFUSED(lb_model_weights(&o, &t, &err), LB_ERR_INVALID, "levels[0] is 21", err);
    o.level_count = 0;
    ASSERT_REFUSED(lb_model_weights(&o, &t, &err), LB_ERR_INVALID, "level_count is 0", err);
    o = small();
    o.groups = 0;
    ASSERT_REFUSED(lb_model_weights(&o, &t, &err), LB_ERR_INVALID, "groups is 0", err);
    o.groups = 4096;
    ASSERT_REFUSED(lb_model_weights(&o, &t, &err), LB_ERR_INVALID, "group_cores is 2", err);
    o = small();
    o.normal_tasks = 0;
    ASSERT_REFUSED(lb_model_weights(&o, &t, &err), LB_ERR_INVALID, "normal_tasks is 0", err);
    o = small();
    o.repeats = 1001;
    ASSERT_REFUSED(lb_model_weights(&o, &t, &err), LB_ERR_INVALID, "repeats is 1001", err);
    o = small();
    o.seconds = NAN;
    ASSERT_REFUSED(lb_model_weights(&o, &t, &err), LB_ERR_INVALID, "seconds is nan", err);
    o = small();
    int calls = 0;
    o.progress = stop;
    o.progress_user = &calls;
    ASSERT_REFUSED(lb_model_weights(&o, &t, &err), LB_ERR_CANCELLED, "progress", err);
    ck_assert_ptr_null(t);
}
END_TEST

START_TEST(no_memory) {
    lb_weights_options o = small();
    o.repeats = 1;
    o.seconds = 1;
    int count;
    lb_status status;
    SWEEP_ALLOCATIONS(status, count, {
        lb_table *t = NULL;
        status = lb_model_weights(&o, &t, NULL);
        lb_table_free(t);
    });
    ck_assert_int_gt(count, 8);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("weights");
    ADD(s, "weights", static_rule, static_rule_by_hand, engine_as_static_rule, engine_by_hand,
        ideal, dynamic_is_repeatable, dynamic_wastes_nothing_without_cause, refused, no_memory);
    return s;
}
