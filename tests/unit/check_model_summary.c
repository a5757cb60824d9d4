/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <string.h>

#include "harness.h"

static lb_model *new_model(uint32_t cores, lb_policy policy, const double *speeds) {
    lb_model_options options;
    lb_model_options_init(&options, sizeof options);
    options.cores = cores;
    options.policy = policy;
    options.core_speeds = speeds;
    lb_model *model = NULL;
    lb_error err = {0};
    ASSERT_OK(lb_model_new(&options, &model, &err), err);
    return model;
}

static lb_workload *with_works(const double *works, size_t n) {
    lb_workload *workload = NULL;
    lb_error err = {0};
    ASSERT_OK(lb_workload_new(&workload, &err), err);
    ASSERT_OK(lb_workload_add_many(workload, works, n, NULL, &err), err);
    return workload;
}

static lb_table *summary_of(const lb_model *model, const lb_workload *workload) {
    lb_table *table = NULL;
    lb_error err = {0};
    ASSERT_OK(lb_model_summary(model, workload, NULL, &table, &err), err);
    ck_assert_uint_eq(lb_table_rows(table), lb_workload_size(workload) + 1);
    ck_assert_str_eq(lb_table_label(table, lb_workload_size(workload)), "makespan");
    return table;
}

static void assert_cell(const lb_table *table, size_t row, const char *name, double expected) {
    double value = lb_table_get(table, row, name);
    if (isnan(expected))
        ck_assert_msg(isnan(value), "%s of %zu is %.17g", name, row, value);
    else
        ck_assert_msg(value == expected || fabs(value - expected) <= 1e-12 * fabs(expected),
                      "%s of %zu is %.17g, expected %.17g", name, row, value, expected);
}

/* 1 to 6 s on two cores end at 3, 6, 7, 9.5, 9 and 11.5 s: 21 s of work in 2 * 11.5 s. */
START_TEST(worked_case) {
    static const double works[] = {1, 2, 3, 4, 5, 6}, ends[] = {3, 6, 7, 9.5, 9, 11.5};
    lb_model *model = new_model(2, LB_POLICY_LAZY, NULL);
    lb_workload *workload = with_works(works, 6);
    lb_table *table = summary_of(model, workload);
    for (size_t i = 0; i < 6; i++) {
        assert_cell(table, i, "work_s", works[i]);
        assert_cell(table, i, "mean_s", ends[i]);
        assert_cell(table, i, "alone_s", works[i]);
        assert_cell(table, i, "slowdown", ends[i] / works[i]);
        assert_cell(table, i, "utilisation", NAN);
    }
    assert_cell(table, 6, "work_s", 21);
    assert_cell(table, 6, "mean_s", 11.5);
    assert_cell(table, 6, "alone_s", NAN);
    assert_cell(table, 6, "slowdown", NAN);
    assert_cell(table, 6, "utilisation", 21 / 23.0);
    ck_assert_str_eq(lb_table_meta(table, "policy"), "lazy");
    ck_assert_str_eq(lb_table_meta(table, "cores"), "2");
    ck_assert_str_eq(lb_table_label(table, 5), "5");
    lb_table_free(table);
    lb_workload_free(workload);
    lb_model_free(model);
}
END_TEST

/* Of three on core 1, one of 2, 4 or 6 s goes to core 0 after 1 s: the makespan is 25/3, 7.5 or
 * 20/3 s, and the mean of 13 / (2 * makespan) is not that of the means. */
START_TEST(utilisation_is_a_mean) {
    static const double works[] = {1, 2, 4, 6};
    lb_model *model = new_model(2, LB_POLICY_LAZY, NULL);
    lb_workload *workload = with_works(works, 4);
    lb_error err = {0};
    for (size_t i = 1; i < 4; i++)
        ASSERT_OK(lb_workload_set_first_core(workload, i, 1, &err), err);
    ASSERT_OK(lb_workload_set_first_core(workload, 0, 0, &err), err);
    lb_table *table = summary_of(model, workload);
    assert_cell(table, 4, "mean_s", 7.5);
    assert_cell(table, 4, "utilisation", 6.5 * (3 / 25.0 + 1 / 7.5 + 3 / 20.0) / 3);
    lb_table_free(table);
    lb_workload_free(workload);
    lb_model_free(model);
}
END_TEST

/* alone_s against the model itself with one process on the fastest core. */
START_TEST(alone_is_what_the_model_says_of_one) {
    static const double speeds[] = {0.5, 2, 1}, works[] = {4, 4, 4, 4, 0, 3, INFINITY};
    static const struct {
        size_t index;
        double time;
        lb_event_kind kind;
    } events[] = {
        {0, 1, LB_EVENT_SLEEP},   {0, 2, LB_EVENT_SLEEP},  {0, 5, LB_EVENT_WAKE},
        {0, 6, LB_EVENT_WAKE},    {1, 0.5, LB_EVENT_STOP}, {2, 1, LB_EVENT_SLEEP},
        {3, 2.5, LB_EVENT_SLEEP}, {3, 4.5, LB_EVENT_STOP}, {4, 0, LB_EVENT_STOP},
        {5, 4, LB_EVENT_SLEEP},   {5, 7, LB_EVENT_WAKE},
    };
    static const double expected[] = {6, INFINITY, INFINITY, 2, 0, 4.5, INFINITY};
    lb_model *model = new_model(3, LB_POLICY_ACTIVE, speeds);
    lb_model *one_core = new_model(1, LB_POLICY_NONE, speeds + 1);
    lb_workload *workload = with_works(works, 7);
    lb_error err = {0};
    ASSERT_OK(lb_workload_set_arrival(workload, 3, 0.5, &err), err);
    ASSERT_OK(lb_workload_set_arrival(workload, 5, 4, &err), err);
    for (size_t i = 0; i < sizeof events / sizeof *events; i++)
        ASSERT_OK(
            lb_workload_add_event(workload, events[i].index, events[i].time, events[i].kind, &err),
            err);
    lb_table *table = summary_of(model, workload);
    for (size_t i = 0; i < 7; i++) {
        lb_workload *single = with_works(works + i, 1);
        if (i == 3 || i == 5)
            ASSERT_OK(lb_workload_set_arrival(single, 0, i == 3 ? 0.5 : 4, &err), err);
        for (size_t k = 0; k < sizeof events / sizeof *events; k++)
            if (events[k].index == i)
                ASSERT_OK(lb_workload_add_event(single, 0, events[k].time, events[k].kind, &err),
                          err);
        double duration = NAN;
        ASSERT_OK(lb_model_sample(one_core, single, 0, &duration, &err), err);
        assert_cell(table, i, "alone_s", duration);
        assert_cell(table, i, "alone_s", expected[i]);
        lb_workload_free(single);
    }
    assert_cell(table, 1, "slowdown", NAN); /* it would not complete alone either */
    assert_cell(table, 4, "slowdown", 1);
    assert_cell(table, 7, "utilisation", NAN);
    lb_table_free(table);
    lb_workload_free(workload);
    lb_model_free(model);
    lb_model_free(one_core);
}
END_TEST

START_TEST(nobody) {
    lb_model *model = new_model(2, LB_POLICY_IMMEDIATE, NULL);
    lb_workload *workload = with_works(NULL, 0);
    lb_table *table = summary_of(model, workload);
    assert_cell(table, 0, "work_s", 0);
    assert_cell(table, 0, "mean_s", INFINITY);
    ck_assert(isnan(lb_table_get(table, 0, "utilisation")));
    lb_table_free(table);
    lb_workload_free(workload);
    lb_model_free(model);
}
END_TEST

START_TEST(bad_input) {
    static const double works[] = {1, 2};
    lb_model *model = new_model(2, LB_POLICY_IMMEDIATE, NULL);
    lb_workload *workload = with_works(works, 2);
    lb_table *none = NULL;
    lb_error err = {0};
    lb_estimate_options options;
    lb_estimate_options_init(&options, sizeof options);
    options.threads = 0;
    ASSERT_REFUSED(lb_model_summary(model, workload, &options, &none, &err), LB_ERR_INVALID,
                   "threads", err);
    ASSERT_OK(lb_workload_set_first_core(workload, 1, 2, &err), err);
    ASSERT_REFUSED(lb_model_summary(model, workload, NULL, &none, &err), LB_ERR_INVALID,
                   "first core", err);
    ck_assert_ptr_null(none);
    lb_workload_free(workload);
    lb_model_free(model);
}
END_TEST

START_TEST(without_memory) {
    static const double works[] = {1, 2, 3, 4, 5, 6};
    lb_model *model = new_model(2, LB_POLICY_LAZY, NULL);
    lb_workload *workload = with_works(works, 6);
    lb_error err = {0};
    ASSERT_OK(lb_workload_add_event(workload, 0, 0.5, LB_EVENT_SLEEP, &err), err);
    ASSERT_OK(lb_workload_add_event(workload, 0, 1, LB_EVENT_WAKE, &err), err);
    lb_status status = LB_OK;
    size_t failures;
    SWEEP_ALLOCATIONS(status, failures, {
        lb_table *table = NULL;
        status = lb_model_summary(model, workload, NULL, &table, NULL);
        lb_table_free(table);
    });
    ck_assert_uint_ge(failures, 20);
    lb_workload_free(workload);
    lb_model_free(model);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("model_summary");
    ADD(s, "summary", worked_case, utilisation_is_a_mean, alone_is_what_the_model_says_of_one,
        nobody);
    ADD(s, "bad", bad_input, without_memory);
    return s;
}
