/* SPDX-License-Identifier: BSD-3-Clause */
/* The experiments other than DETECT: what each arranges, and what is counted of their traces. */
#include <stdio.h>
#include <string.h>

#include "harness.h"
#include "surroundings.h"

static lb_host *host;
static lb_error err;
static uint32_t cores;

static void open_machine(void) {
    host = open_two_cores();
    cores = lb_host_cores(host);
}

/* Where others want the machine too, with more of its time. */
static lb_trace *run(lb_experiment_kind kind, double budget) {
    lb_experiment_options options;
    lb_experiment_options_init(&options, sizeof options);
    options.unit_work = 0.001;
    options.budget = budget;
    lb_trace *trace = NULL;
    lb_status status;
    do {
        status = lb_experiment_run(host, kind, &options, &trace, &err);
        options.budget *= 2;
    } while (status == LB_ERR_TIMEOUT && options.budget < 100);
    ASSERT_OK(status, err);
    assert_childless();
    return trace;
}

static size_t count_marks(const lb_trace *trace, lb_mark_kind kind) {
    size_t n, count = 0;
    const lb_mark *marks = lb_trace_marks(trace, &n);
    for (size_t i = 0; i < n; i++)
        count += marks[i].kind == (int32_t)kind && marks[i].time_ns >= 0;
    return count;
}

static double column_sum(const lb_table *table, const char *name) {
    double sum = 0;
    for (size_t row = 0; row < lb_table_rows(table); row++)
        sum += lb_table_get(table, row, name);
    return sum;
}

/* Each has come to a unit; where others have the machine, one that was made late may not have. */
static void assert_tasks(const lb_trace *trace, size_t n, const moment *begin) {
    ck_assert_uint_le(lb_trace_tasks(trace), n);
    if (!missed_beside_others(lb_trace_tasks(trace) == n, "a task came to no unit", begin))
        ck_assert_uint_eq(lb_trace_tasks(trace), n);
}

/* Nothing in the trace is of a task that was to end before. */
static void assert_ends(const lb_trace *trace) {
    size_t n, marks_n;
    const lb_unit *units = lb_trace_units(trace, &n);
    const lb_mark *marks = lb_trace_marks(trace, &marks_n);
    for (size_t m = 0; m < marks_n; m++)
        for (size_t i = 0; i < n && marks[m].kind == LB_MARK_END; i++)
            ck_assert(units[i].task != marks[m].task || units[i].start_ns < marks[m].time_ns);
}

START_TEST(queues) {
    open_machine();
    moment begin = moment_now();
    lb_trace *trace = run(LB_EXPERIMENT_QUEUES, 2);
    ck_assert_str_eq(lb_trace_meta(trace, "experiment"), "queues");
    /* One more than a multiple of the cores, down to one less. */
    assert_tasks(trace, 3 * cores + 1, &begin);
    assert_ends(trace);
    if (!missed_beside_others(count_marks(trace, LB_MARK_END) == 2,
                              "the budget ended before the queues' last number", &begin))
        ck_assert_uint_eq(count_marks(trace, LB_MARK_END), 2);
    lb_trace_free(trace);
    lb_host_free(host);
}
END_TEST

START_TEST(profile) {
    open_machine();
    moment begin = moment_now();
    lb_trace *trace = run(LB_EXPERIMENT_PROFILE, 2);
    ck_assert_str_eq(lb_trace_meta(trace, "experiment"), "profile");
    uint32_t n = 3 * cores;
    assert_tasks(trace, n, &begin);
    assert_ends(trace);
    if (missed_beside_others(count_marks(trace, LB_MARK_END) == n - 1,
                             "the budget ended before the profile", &begin)) {
        lb_trace_free(trace);
        return;
    }
    ck_assert_uint_eq(count_marks(trace, LB_MARK_END), n - 1);
    /* Every number of running tasks was there for the same time, where the controller was. */
    size_t marks_n;
    const lb_mark *marks = lb_trace_marks(trace, &marks_n);
    int64_t before = 0, least = INT64_MAX;
    for (size_t i = 0; i < marks_n; i++)
        if (marks[i].kind == LB_MARK_END) {
            least = marks[i].time_ns - before < least ? marks[i].time_ns - before : least;
            before = marks[i].time_ns;
        }
    bool even = least * (int64_t)n * 3 >= before;
    if (!missed_beside_others(even, "numbers of tasks were there for unequal times", &begin))
        ck_assert(even);
    lb_table *table = NULL;
    ASSERT_OK(lb_trace_profile(trace, NULL, &table, &err), err);
    ck_assert_uint_eq(lb_table_rows(table), n);
    lb_table_free(table);
    lb_trace_free(trace);
    lb_host_free(host);
}
END_TEST

START_TEST(latency) {
    open_machine();
    moment begin = moment_now();
    lb_trace *trace = run(LB_EXPERIMENT_LATENCY, 4);
    ck_assert_str_eq(lb_trace_meta(trace, "experiment"), "latency");
    size_t pinned = count_marks(trace, LB_MARK_PIN), let_go = count_marks(trace, LB_MARK_UNPIN);
    if (missed_beside_others(count_marks(trace, LB_MARK_END) > 0,
                             "the budget ended before the first task", &begin)) {
        lb_trace_free(trace);
        return;
    }
    ck_assert_uint_eq(pinned, 4 * 3 * cores);
    ck_assert_uint_eq(let_go, pinned);
    ck_assert_uint_gt(count_marks(trace, LB_MARK_END), 0);
    assert_ends(trace);
    lb_table *table = NULL;
    bool unpinned = false;
    ASSERT_OK(lb_trace_latency(trace, &table, &err), err);
    for (size_t row = 0; row < lb_table_rows(table); row++)
        unpinned = unpinned || strcmp(lb_table_label(table, row), "unpin") == 0;
    ck_assert(unpinned);
    lb_table_free(table);
    lb_trace_free(trace);
    lb_host_free(host);
}
END_TEST

/* Whether a mark of that kind lies in the time that slices cover. */
static bool within_slices(const lb_trace *trace, lb_mark_kind kind) {
    size_t n;
    int64_t last = 0;
    const lb_slice *slices = lb_trace_slices(trace, &n);
    for (size_t i = 0; i < n; i++)
        last = slices[i].end_ns > last ? slices[i].end_ns : last;
    bool found = false;
    const lb_mark *marks = lb_trace_marks(trace, &n);
    for (size_t i = 0; i < n; i++)
        found = found || (marks[i].kind == (int32_t)kind && marks[i].time_ns >= 0 &&
                          marks[i].time_ns < last);
    return found;
}

START_TEST(events) {
    open_machine();
    moment begin = moment_now();
    lb_trace *trace = run(LB_EXPERIMENT_EVENTS, 8);
    ck_assert_str_eq(lb_trace_meta(trace, "experiment"), "events");
    assert_ends(trace);
    size_t asleep = count_marks(trace, LB_MARK_SLEEP);
    if (!missed_beside_others(asleep >= 1, "the budget ended before anybody slept", &begin))
        ck_assert_uint_ge(asleep, 1);
    ck_assert_uint_eq(count_marks(trace, LB_MARK_WAKE), asleep);
    assert_tasks(trace, 3 * cores + count_marks(trace, LB_MARK_FORK), &begin);
    lb_table *table = NULL;
    ASSERT_OK(lb_trace_events(trace, &table, &err), err);
    static const char *const names[] = {"end", "sleep", "wake", "fork", "unpin"};
    static const lb_mark_kind kinds[] = {LB_MARK_END, LB_MARK_SLEEP, LB_MARK_WAKE, LB_MARK_FORK,
                                         LB_MARK_UNPIN};
    ck_assert_uint_eq(lb_table_rows(table), 5);
    for (size_t i = 0; i < 5; i++) {
        /* On a slow machine the budget may end before the last kinds came. */
        size_t marks = count_marks(trace, kinds[i]);
        double counted = lb_table_get(table, i, "events");
        ck_assert_str_eq(lb_table_label(table, i), names[i]);
        ck_assert_double_le(counted, (double)marks);
        ck_assert_int_eq(counted > 0, within_slices(trace, kinds[i]));
    }
    lb_table_free(table);
    lb_trace_free(trace);
    lb_host_free(host);
}
END_TEST

/* ---- counting, on a trace made by hand ---- */

static void add_slice(lb_trace *trace, uint32_t task, int32_t core, int64_t from, int64_t to) {
    lb_slice slice = {from * 1000000, to * 1000000, task, core};
    ASSERT_OK(lb_trace_add_slice(trace, &slice, &err), err);
}

static void add_mark(lb_trace *trace, uint32_t task, lb_mark_kind kind, int64_t time) {
    lb_mark mark = {time * 1000000, task, (int32_t)kind};
    ASSERT_OK(lb_trace_add_mark(trace, &mark, &err), err);
}

/* Milliseconds. Tasks 0, 2, 4 on core 0, 1 and 3 on core 1. At 100 task 1 ends, at 110 task 2, the
 * one in the middle, comes to core 1. At 200 task 3 sleeps and at 210 it is still there; task 4
 * comes at 290, in the second half. At 300 task 3 wakes, and itself goes to core 0. */
static lb_trace *by_hand(void) {
    lb_trace *trace = NULL;
    ASSERT_OK(lb_trace_new(2, &trace, &err), err);
    add_slice(trace, 0, 0, 0, 400);
    add_slice(trace, 1, 1, 1, 100);
    add_slice(trace, 2, 0, 2, 105);
    add_slice(trace, 2, 1, 110, 400);
    add_slice(trace, 3, 1, 3, 200);
    add_slice(trace, 3, 0, 301, 400);
    add_slice(trace, 4, 0, 4, 280);
    add_slice(trace, 4, 1, 290, 400);
    add_mark(trace, 1, LB_MARK_END, 100);
    add_mark(trace, 3, LB_MARK_SLEEP, 200);
    add_mark(trace, 3, LB_MARK_WAKE, 300);
    ASSERT_OK(lb_trace_seal(trace, &err), err);
    return trace;
}

START_TEST(events_counted) {
    lb_trace *trace = by_hand();
    lb_table *table = NULL;
    ASSERT_OK(lb_trace_events(trace, &table, &err), err);
    ck_assert_str_eq(lb_table_meta(table, "source"), "slices");
    static const struct {
        size_t row;
        const char *column;
        double value;
    } expected[] = {
        {0, "events", 1},       {0, "followed", 1}, {0, "control", 0}, {0, "moves", 1},
        {0, "from_longest", 1}, {0, "to_idle", 0},  {0, "neither", 1}, {0, "first", 0},
        {1, "events", 1},       {1, "followed", 0}, {1, "control", 1}, {1, "moves", 0},
        {2, "events", 1},       {2, "followed", 0}, {2, "placed", 1},  {2, "moves", 0},
        {3, "events", 0},       {4, "events", 0},   {4, "moves", 0},
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        ck_assert_msg(lb_table_get(table, expected[i].row, expected[i].column) == expected[i].value,
                      "row %zu, %s: %g", expected[i].row, expected[i].column,
                      lb_table_get(table, expected[i].row, expected[i].column));
    lb_table_free(table);
    /* Bound, nobody moves of his own accord. */
    add_mark(trace, 2, LB_MARK_PIN, 50);
    ASSERT_OK(lb_trace_seal(trace, &err), err);
    ASSERT_OK(lb_trace_events(trace, &table, &err), err);
    ck_assert_double_eq(lb_table_get(table, 0, "followed"), 0);
    lb_table_free(table);
    lb_trace_free(trace);
}
END_TEST

START_TEST(spread_counted) {
    lb_trace *trace = by_hand();
    lb_table *table = NULL;
    ASSERT_OK(lb_trace_spread(trace, &table, &err), err);
    ck_assert_uint_eq(lb_table_rows(table), 2);
    ck_assert_double_eq(lb_table_get(table, 0, "started"), 3);
    ck_assert_double_eq(lb_table_get(table, 1, "started"), 2);
    ck_assert_double_eq(lb_table_get(table, 0, "ended"), 2);
    ck_assert_double_eq(lb_table_get(table, 0, "came"), 1);
    ck_assert_double_eq(lb_table_get(table, 1, "came"), 2);
    ck_assert_double_eq_tol(lb_table_get(table, 0, "busy_s"), 0.878, 1e-9);
    ck_assert_str_eq(lb_table_meta(table, "tasks"), "5");
    lb_table_free(table);
    lb_trace_free(trace);
}
END_TEST

/* Nothing at all, and units alone. */
START_TEST(little_to_count) {
    lb_trace *trace = NULL;
    lb_table *table = NULL;
    ASSERT_OK(lb_trace_new(3, &trace, &err), err);
    ASSERT_OK(lb_trace_spread(trace, &table, &err), err);
    ck_assert_uint_eq(lb_table_rows(table), 3);
    ck_assert_str_eq(lb_table_meta(table, "source"), "none");
    ck_assert_str_eq(lb_table_meta(table, "tasks"), "0");
    lb_table_free(table);
    lb_unit unit = {.end_ns = 50, .cpu_ns = 40, .core_start = 0, .core_end = 2};
    ASSERT_OK(lb_trace_add_unit(trace, &unit, &err), err);
    ASSERT_REFUSED(lb_trace_events(trace, &table, &err), LB_ERR_INVALID, "not sealed", err);
    ASSERT_REFUSED(lb_trace_spread(trace, &table, &err), LB_ERR_INVALID, "not sealed", err);
    ASSERT_OK(lb_trace_seal(trace, &err), err);
    ASSERT_OK(lb_trace_spread(trace, &table, &err), err);
    ck_assert_str_eq(lb_table_meta(table, "source"), "units");
    ck_assert_double_eq(lb_table_get(table, 0, "started"), 1);
    ck_assert_double_eq(lb_table_get(table, 2, "came"), 1);
    lb_table_free(table);
    ASSERT_OK(lb_trace_events(trace, &table, &err), err);
    ck_assert_str_eq(lb_table_meta(table, "source"), "none");
    ck_assert_double_eq(column_sum(table, "events"), 0);
    lb_table_free(table);
    lb_trace_free(trace);
}
END_TEST

START_TEST(allocations) {
    lb_trace *trace = by_hand();
    lb_status status;
    size_t count;
    SWEEP_ALLOCATIONS(status, count, {
        lb_table *table = NULL;
        status = lb_trace_events(trace, &table, NULL);
        lb_table_free(table);
    });
    ck_assert_uint_ge(count, 4);
    SWEEP_ALLOCATIONS(status, count, {
        lb_table *table = NULL;
        status = lb_trace_spread(trace, &table, NULL);
        lb_table_free(table);
    });
    ck_assert_uint_ge(count, 4);
    lb_trace_free(trace);
}
END_TEST

/* Early in each experiment: later failures are those of the trace, which has its own sweeps. */
START_TEST(allocations_run) {
    open_machine();
    lb_experiment_options options;
    lb_experiment_options_init(&options, sizeof options);
    options.budget = 1;
    for (int kind = LB_EXPERIMENT_EVEN; kind <= LB_EXPERIMENT_EVENTS; kind++)
        for (size_t n = 1; n <= 8; n++) {
            lb_trace *trace = NULL;
            long live = faults_live();
            faults_arm(n);
            lb_status status =
                lb_experiment_run(host, (lb_experiment_kind)kind, &options, &trace, NULL);
            bool failed = faults_fired();
            lb_trace_free(trace);
            live -= faults_live();
            ck_assert_int_eq(live, 0);
            ck_assert(failed ? status == LB_ERR_NOMEM
                             : status == LB_OK || status == LB_ERR_TIMEOUT);
            assert_childless();
        }
    lb_host_free(host);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("kinds");
    ADD(s, "run", queues, profile, latency, events);
    ADD(s, "counted", events_counted, spread_counted, little_to_count);
    ADD(s, "resources", allocations, allocations_run);
    return s;
}
