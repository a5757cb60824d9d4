/* SPDX-License-Identifier: BSD-3-Clause */
/* What traces show of lists and moves: latencies, by hand and as the model predicts them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "classify/survival.h"
#include "harness.h"

static const double ms = 1e-3;

static lb_trace *new_trace(uint32_t cores) {
    lb_error err;
    lb_trace *trace;
    ASSERT_OK(lb_trace_new(cores, &trace, &err), err);
    return trace;
}

static void add_slice(lb_trace *trace, uint32_t task, int32_t core, double start, double end) {
    lb_error err;
    lb_slice slice = {(int64_t)llround(start * 1e9), (int64_t)llround(end * 1e9), task, core};
    ASSERT_OK(lb_trace_add_slice(trace, &slice, &err), err);
}

static lb_trace *seal(lb_trace *trace) {
    lb_error err;
    ASSERT_OK(lb_trace_seal(trace, &err), err);
    return trace;
}

static lb_table *latency_of(const lb_trace *trace) {
    lb_error err;
    lb_table *table;
    ASSERT_OK(lb_trace_latency(trace, &table, &err), err);
    return table;
}

#define ASSERT_NEAR(actual_, expected_) ck_assert_double_eq_tol(actual_, expected_, 1e-9)

/* ---- by hand ---- */

/* Two cores. Core 0 runs tasks 0 and 1 in turns of 10 ms up to 100 ms; core 1 runs task 2, which
 * ends at 50 ms. Task 1 comes to core 1 `delay` ms later (or never, or is there too soon to tell),
 * and core 0 is left to task 0. */
static lb_trace *idle_core(double delay) {
    lb_trace *t = new_trace(2);
    double comes = (50 + delay) * ms;
    add_slice(t, 2, 1, 0, 50 * ms);
    for (int turn = 0; turn < 10; turn++) {
        double start = turn * 10 * ms, end = start + 10 * ms;
        uint32_t task = turn % 2;
        if (start >= comes && task == 1)
            continue;
        if (task == 1 && end > comes)
            end = comes;
        add_slice(t, task, 0, start, end);
    }
    if (comes < 100 * ms)
        add_slice(t, 1, 1, comes, 120 * ms);
    return seal(t);
}

START_TEST(an_idle_core_is_filled) {
    static const double delays[] = {0, 3, 17, 33.5};
    for (size_t i = 0; i < sizeof delays / sizeof *delays; i++) {
        lb_trace *trace = idle_core(delays[i]);
        lb_table *table = latency_of(trace);
        ck_assert_uint_eq(lb_table_rows(table), 1);
        ck_assert_str_eq(lb_table_label(table, 0), "end");
        ASSERT_NEAR(lb_table_get(table, 0, "time_s"), 50 * ms);
        /* Whoever comes to an idle core runs at once. */
        ASSERT_NEAR(lb_table_get(table, 0, "latency_s"), delays[i] * ms);
        ASSERT_NEAR(lb_table_get(table, 0, "least_s"), delays[i] * ms);
        ASSERT_NEAR(lb_table_get(table, 0, "most_s"), delays[i] * ms);
        ASSERT_NEAR(lb_table_get(table, 0, "idle"), 1);
        ASSERT_NEAR(lb_table_get(table, 0, "longest"), 2);
        ASSERT_NEAR(lb_table_get(table, 0, "shortest"), 0);
        ck_assert_str_eq(lb_table_meta(table, "source"), "slices");
        ck_assert_str_eq(lb_table_meta(table, "idle_balanced"), "1 of 1");
        ck_assert_str_eq(lb_table_meta(table, "apart_p50_s"), "none");
        lb_table_free(table);
        lb_trace_free(trace);
    }
}
END_TEST

START_TEST(never_is_no_number) {
    lb_trace *trace = idle_core(1000);
    lb_table *table = latency_of(trace);
    ck_assert_uint_eq(lb_table_rows(table), 1);
    ck_assert(isnan(lb_table_get(table, 0, "latency_s")));
    ck_assert(isnan(lb_table_get(table, 0, "least_s")));
    ck_assert(isnan(lb_table_get(table, 0, "most_s")));
    /* Task 0's last slice is from 80 to 90 ms: then one is left. */
    ASSERT_NEAR(lb_table_get(table, 0, "watched_s"), 40 * ms);
    ck_assert_str_eq(lb_table_meta(table, "idle_balanced"), "0 of 1");
    ck_assert_str_eq(lb_table_meta(table, "idle_p50_s"), "never");
    lb_table_free(table);
    lb_trace_free(trace);
}
END_TEST

/* Three tasks on core 0 of two, a fourth on core 1 from 40 ms on. At 80 ms somebody binds one of
 * the three to core 1: lists are even then, and no scheduler has done it. */
START_TEST(binding_is_no_balancing) {
    lb_error err;
    lb_trace *t = new_trace(2);
    for (int turn = 0; turn < 9; turn++)
        add_slice(t, turn % 3, 0, turn * 10 * ms, (turn + 1) * 10 * ms);
    for (int turn = 0; turn < 4; turn++)
        add_slice(t, turn % 2, 0, (90 + turn * 10) * ms, (100 + turn * 10) * ms);
    add_slice(t, 3, 1, 0, 90 * ms);
    add_slice(t, 2, 1, 90 * ms, 110 * ms);
    add_slice(t, 3, 1, 110 * ms, 130 * ms);
    static const lb_mark marks[] = {{40000000, 3, LB_MARK_UNPIN}, {80000000, 2, LB_MARK_PIN}};
    for (int i = 0; i < 2; i++)
        ASSERT_OK(lb_trace_add_mark(t, &marks[i], &err), err);
    lb_table *table = latency_of(seal(t));
    ck_assert_uint_eq(lb_table_rows(table), 1);
    ASSERT_NEAR(lb_table_get(table, 0, "time_s"), 40 * ms);
    ck_assert(isnan(lb_table_get(table, 0, "latency_s")));
    ASSERT_NEAR(lb_table_get(table, 0, "watched_s"), 40 * ms);
    ck_assert_str_eq(lb_table_meta(table, "apart_balanced"), "0 of 1");
    lb_table_free(table);
    lb_trace_free(t);
}
END_TEST

/* Tasks 0 to 2 are bound to core 0 of two, 3 to none and on core 1; they are let go at 30 ms. */
START_TEST(unpinning_is_an_event) {
    lb_error err;
    lb_trace *t = new_trace(2);
    for (int turn = 0; turn < 12; turn++)
        if (turn % 3 != 2 || turn < 3)
            add_slice(t, turn % 3, 0, turn * 10 * ms, (turn + 1) * 10 * ms);
    for (int turn = 0; turn < 4; turn++)
        add_slice(t, 3, 1, turn * 10 * ms, (turn + 1) * 10 * ms);
    add_slice(t, 2, 1, 45 * ms, 90 * ms);
    add_slice(t, 3, 1, 90 * ms, 125 * ms);
    for (uint32_t task = 0; task < 3; task++) {
        lb_mark mark = {(int64_t)(30 * ms * 1e9), task, LB_MARK_UNPIN};
        ASSERT_OK(lb_trace_add_mark(t, &mark, &err), err);
    }
    lb_table *table = latency_of(seal(t));
    ck_assert_uint_eq(lb_table_rows(table), 1);
    ck_assert_str_eq(lb_table_label(table, 0), "unpin");
    ASSERT_NEAR(lb_table_get(table, 0, "time_s"), 30 * ms);
    /* Last seen on core 0 at 30 ms; on core 1 from 45 ms on, having waited there, or not. */
    ASSERT_NEAR(lb_table_get(table, 0, "least_s"), 0);
    ASSERT_NEAR(lb_table_get(table, 0, "most_s"), 15 * ms);
    ASSERT_NEAR(lb_table_get(table, 0, "idle"), 0);
    lb_table_free(table);
    lb_trace_free(t);
}
END_TEST

START_TEST(where_nothing_is_seen) {
    lb_error err;
    lb_trace *t = new_trace(4);
    lb_table *table = latency_of(t);
    ck_assert_uint_eq(lb_table_rows(table), 0);
    ck_assert_str_eq(lb_table_meta(table, "source"), "none");
    lb_table_free(table);
    lb_unit unit = {0, 1000000000, -1, 7, 0, -1, -1};
    ASSERT_OK(lb_trace_add_unit(t, &unit, &err), err);
    ASSERT_REFUSED(lb_trace_latency(t, &table, &err), LB_ERR_INVALID, "not sealed", err);
    table = latency_of(seal(t));
    ck_assert_uint_eq(lb_table_rows(table), 0);
    ck_assert_str_eq(lb_table_meta(table, "source"), "none");
    lb_table_free(table);
    lb_trace_free(t);
    /* Cores and times at their limits. */
    t = new_trace(UINT32_MAX);
    lb_slice far[] = {{INT64_MIN, INT64_MIN + 5, 0, INT32_MAX}, {INT64_MAX - 9, INT64_MAX, 1, 0}};
    for (size_t i = 0; i < 2; i++)
        ASSERT_OK(lb_trace_add_slice(t, &far[i], &err), err);
    table = latency_of(seal(t));
    ck_assert_str_eq(lb_table_meta(table, "source"), "none");
    lb_table_free(table);
    lb_trace_free(t);
}
END_TEST

/* ---- as the model predicts ---- */

static lb_trace *predicted(lb_policy policy, uint32_t cores, double delay, double slice) {
    lb_error err;
    lb_model_options options;
    lb_model *model;
    lb_workload *workload;
    lb_trace *trace;
    lb_model_options_init(&options, sizeof options);
    options.cores = cores;
    options.policy = (int32_t)policy;
    options.balance_delay = delay;
    ASSERT_OK(lb_model_new(&options, &model, &err), err);
    ASSERT_OK(lb_workload_new(&workload, &err), err);
    /* Those dealt to core 0 end first, then one after another of the others. */
    for (uint32_t i = 0; i < 4 * cores; i++)
        ASSERT_OK(
            lb_workload_add(workload, i % cores == 0 ? 0.05 + 0.05 * i : 1 + 0.1 * i, NULL, &err),
            err);
    ASSERT_OK(lb_model_trace(model, workload, 0.005, slice, 7, &trace, &err), err);
    lb_workload_free(workload);
    lb_model_free(model);
    return trace;
}

/* Rows with that `idle`, and how many of them were balanced within bounds that hold the delay. */
static void count_rows(const lb_table *table, double idle, double delay, size_t *ret_rows,
                       size_t *ret_balanced, size_t *ret_within) {
    *ret_rows = *ret_balanced = *ret_within = 0;
    for (size_t i = 0; i < lb_table_rows(table); i++) {
        if (lb_table_get(table, i, "idle") != idle)
            continue;
        double latency = lb_table_get(table, i, "latency_s");
        ++*ret_rows;
        if (isnan(latency))
            continue;
        ++*ret_balanced;
        double least = lb_table_get(table, i, "least_s"), most = lb_table_get(table, i, "most_s");
        ck_assert(least <= latency && latency <= most);
        *ret_within += least <= delay + 1e-6 && most >= delay - 1e-6;
    }
}

START_TEST(predictions_are_seen_again) {
    static const double delays[] = {0, 0.004, 0.03};
    for (size_t i = 0; i < 3; i++)
        for (int policy = LB_POLICY_NONE; policy <= LB_POLICY_ACTIVE; policy++)
            for (uint32_t cores = 2; cores <= 8; cores *= 2) {
                lb_trace *trace = predicted((lb_policy)policy, cores, delays[i], 0.002);
                lb_table *table = latency_of(trace);
                size_t idle, idle_balanced, idle_within, apart, apart_balanced, apart_within;
                count_rows(table, 1, delays[i], &idle, &idle_balanced, &idle_within);
                count_rows(table, 0, delays[i], &apart, &apart_balanced, &apart_within);
                if (policy == LB_POLICY_NONE)
                    ck_assert_uint_eq(idle_balanced + apart_balanced, 0);
                if (policy == LB_POLICY_LAZY)
                    ck_assert_uint_eq(apart_balanced, 0);
                if (policy != LB_POLICY_ACTIVE) {
                    ck_assert_uint_gt(idle, 0);
                    ck_assert_uint_gt(apart, 0);
                }
                if (policy == LB_POLICY_LAZY)
                    ck_assert_uint_eq(idle_balanced, idle);
                if (policy == LB_POLICY_ACTIVE)
                    ck_assert_uint_gt(apart_balanced, 0);
                ck_assert_uint_eq(idle_within, idle_balanced);
                ck_assert_uint_eq(apart_within, apart_balanced);
                lb_table_free(table);
                lb_trace_free(trace);
            }
}
END_TEST

/* ---- distributions that hold "never" ---- */

START_TEST(product_limit) {
    /* Of five, two were lost from sight: at 2, and at 6. */
    lbi_wait waits[] = {{3, true}, {6, false}, {1, true}, {2, false}, {4, true}};
    lbi_waits_sort(waits, 5);
    /* 1 - 4/5 = 0.2 at 1; 1 - 4/5 * 2/3 = 0.4667 at 3; 1 - 4/5 * 2/3 * 1/2 = 0.7333 at 4. */
    ck_assert_double_eq(lbi_wait_quantile(waits, 5, 0.2), 1);
    ck_assert_double_eq(lbi_wait_quantile(waits, 5, 0.21), 3);
    ck_assert_double_eq(lbi_wait_quantile(waits, 5, 0.46), 3);
    ck_assert_double_eq(lbi_wait_quantile(waits, 5, 0.5), 4);
    ck_assert_double_eq(lbi_wait_quantile(waits, 5, 0.73), 4);
    ck_assert(isinf(lbi_wait_quantile(waits, 5, 0.74)));
    ck_assert(isnan(lbi_wait_quantile(waits, 0, 0.5)));
    lbi_wait all[] = {{1, true}, {2, true}, {3, true}};
    ck_assert_double_eq(lbi_wait_quantile(all, 3, 1), 3);
}
END_TEST

START_TEST(without_memory) {
    lb_trace *trace = predicted(LB_POLICY_LAZY, 2, 0.01, 0.002);
    lb_status status;
    lb_table *table = NULL;
    size_t failures;
    SWEEP_ALLOCATIONS(status, failures, {
        status = lb_trace_latency(trace, &table, NULL);
        if (status == LB_OK)
            lb_table_free(table);
    });
    ck_assert_uint_gt(failures, 20);
    lb_trace_free(trace);
}
END_TEST

/* ---- queues ---- */

/* Cores of `width` share a FIFO queue of one task more; all take turns of 10 ms. (With half as many
 * more, turns in lockstep would look like groups of two, as nobody ever comes to the others.) */
static lb_trace *queues_of(uint32_t cores, uint32_t width, int turns) {
    lb_trace *t = new_trace(cores);
    for (uint32_t first = 0; first < cores; first += width)
        for (int turn = 0; turn < turns; turn++)
            for (uint32_t core = 0; core < width; core++) {
                /* A multiple would tell nothing of queues per core. */
                uint32_t tasks = width + 1 + (width == 1 && first == 0);
                uint32_t task = ((uint32_t)turn * width + core) % tasks;
                add_slice(t, first * 3 + task, (int32_t)(first + core), turn * 10 * ms,
                          (turn + 1) * 10 * ms);
            }
    return seal(t);
}

START_TEST(queues_are_told_by_slices) {
    static const struct {
        uint32_t cores, width;
        lb_queues queues;
    } cases[] = {{4, 4, LB_QUEUES_SINGLE},   {2, 2, LB_QUEUES_SINGLE},  {8, 8, LB_QUEUES_SINGLE},
                 {4, 2, LB_QUEUES_GROUPED},  {8, 2, LB_QUEUES_GROUPED}, {8, 4, LB_QUEUES_GROUPED},
                 {2, 1, LB_QUEUES_PER_CORE}, {8, 1, LB_QUEUES_PER_CORE}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lb_error err;
        lb_verdict *v;
        lb_table *table;
        lb_trace *trace = queues_of(cases[i].cores, cases[i].width, 200);
        ASSERT_OK(lb_classify(trace, NULL, &v, &err), err);
        ck_assert_msg(lb_verdict_queues(v) == cases[i].queues, "case %zu: %d", i,
                      lb_verdict_queues(v));
        /* Shared queues have no lists to balance. */
        ASSERT_OK(lb_trace_latency(trace, &table, &err), err);
        ck_assert((lb_table_meta(table, "queues") != NULL) ==
                  (cases[i].queues != LB_QUEUES_PER_CORE));
        lb_table_free(table);
        lb_verdict_free(v);
        lb_trace_free(trace);
    }
}
END_TEST

Suite *suite(void) {
    Suite *made = suite_create("evidence");
    ADD(made, "latency", an_idle_core_is_filled, never_is_no_number, unpinning_is_an_event,
        binding_is_no_balancing, where_nothing_is_seen, predictions_are_seen_again, without_memory);
    ADD(made, "survival", product_limit);
    ADD(made, "queues", queues_are_told_by_slices);
    return made;
}
