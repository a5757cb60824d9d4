/* SPDX-License-Identifier: BSD-3-Clause */
/* Detection as it goes, and schedulers that are emulated. On the running kernel these tests assert
 * mechanism; what verdicts are worth is the affair of tests/sim and tests/truth. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "experiment/adaptive.h"
#include "harness.h"
#include "surroundings.h"

static lb_host *host;
static lb_error err;

/* ---- the decisions, without a machine ---- */

#define SECOND INT64_C(1000000000)

static const double nothing_known[] = {0.2, 0.2, 0.2, 0.2, 0.2};
static const double lists[] = {0, 0.5, 0.5, 0, 0};
static const double surely_lazy[] = {0.001, 0.001, 0.996, 0.001, 0.001};

/* Looks on until it decides something; then *ret_task. */
static lbi_decision look_on(lbi_adaptive *adaptive, int64_t *now, const int32_t *core,
                            const double *probability, uint32_t *ret_task) {
    lbi_decision decision = LBI_DECIDED_WAIT;
    while (decision == LBI_DECIDED_WAIT) {
        *now += lbi_adaptive_pause(adaptive);
        lbi_view view = {*now, core, probability};
        decision = lbi_adaptive_decide(adaptive, &view, ret_task);
    }
    return decision;
}

/* Lists that nobody balances: all of one core's tasks are ended first. */
START_TEST(second_victim_from_the_same_list) {
    for (uint32_t cores = 2; cores < 7; cores++) {
        int32_t core[18], seen[18];
        uint32_t sizes[6], n = 3 * cores, task = 0;
        int64_t now = 0;
        for (uint32_t i = 0; i < n; i++)
            core[i] = (int32_t)(i % cores);
        lbi_adaptive adaptive;
        lbi_adaptive_begin(&adaptive, cores, n, SECOND / 100, 100 * SECOND, 0.95, sizes, seen);
        int32_t emptied = -1;
        for (int end = 0; end < 3; end++) {
            ck_assert_int_eq(look_on(&adaptive, &now, core, lists, &task), LBI_DECIDED_END);
            ck_assert_uint_lt(task, n);
            ck_assert_int_ge(core[task], 0);
            ck_assert(emptied < 0 || core[task] == emptied);
            emptied = core[task];
            core[task] = -1;
        }
        /* That core is idle now: the next victim is somebody else's. */
        ck_assert_int_eq(look_on(&adaptive, &now, core, lists, &task), LBI_DECIDED_END);
        ck_assert_int_ge(core[task], 0);
        ck_assert_int_ne(core[task], emptied);
    }
}
END_TEST

/* After the first end a list that is shorter moves on, where something rotates: the next victim is
 * from the list that is short then. */
START_TEST(victims_follow_the_shortest_list) {
    int32_t core[] = {0, 1, 0, 1, 0, 1}, seen[6];
    uint32_t sizes[2], task = 0;
    int64_t now = 0;
    lbi_adaptive adaptive;
    lbi_adaptive_begin(&adaptive, 2, 6, SECOND / 100, 100 * SECOND, 0.95, sizes, seen);
    ck_assert_int_eq(look_on(&adaptive, &now, core, nothing_known, &task), LBI_DECIDED_END);
    int32_t other = 1 - core[task];
    core[task] = -1;
    for (int i = 0; i < 6; i++)
        if (core[i] == other) {
            core[i] = 1 - other;
            break;
        }
    ck_assert_int_eq(look_on(&adaptive, &now, core, nothing_known, &task), LBI_DECIDED_END);
    ck_assert_int_eq(core[task], other);
}
END_TEST

START_TEST(stops_when_sure) {
    int32_t core[] = {0, 1, 0, 1, 0, 1}, seen[6];
    uint32_t sizes[2], task = 0;
    lbi_adaptive adaptive;
    lbi_adaptive_begin(&adaptive, 2, 6, SECOND / 100, 100 * SECOND, 0.95, sizes, seen);
    lbi_view view = {SECOND / 10, core, surely_lazy};
    /* One look may be lucky; a look that says something else starts anew. */
    ck_assert_int_eq(lbi_adaptive_decide(&adaptive, &view, &task), LBI_DECIDED_WAIT);
    view = (lbi_view){SECOND / 5, core, nothing_known};
    ck_assert_int_eq(lbi_adaptive_decide(&adaptive, &view, &task), LBI_DECIDED_WAIT);
    view = (lbi_view){SECOND / 4, core, surely_lazy};
    ck_assert_int_eq(lbi_adaptive_decide(&adaptive, &view, &task), LBI_DECIDED_WAIT);
    view.now_ns += lbi_adaptive_pause(&adaptive);
    ck_assert_int_eq(lbi_adaptive_decide(&adaptive, &view, &task), LBI_DECIDED_STOP);
    ck_assert_str_eq(adaptive.stopped, "confident");
}
END_TEST

/* Tasks that come and go are none that stay: the controller believes its eyes. */
START_TEST(not_against_what_was_seen) {
    int32_t core[] = {0, 1, 0, 1, 0, 1}, seen[6];
    uint32_t sizes[2], task = 0;
    lbi_adaptive adaptive;
    lbi_adaptive_begin(&adaptive, 2, 6, SECOND / 100, 100 * SECOND, 0.95, sizes, seen);
    for (int64_t now = SECOND / 10; now < 3 * SECOND; now += lbi_adaptive_pause(&adaptive)) {
        lbi_view view = {now, core, surely_lazy};
        lbi_decision decision = lbi_adaptive_decide(&adaptive, &view, &task);
        ck_assert_int_ne(decision, LBI_DECIDED_STOP);
        if (decision == LBI_DECIDED_END)
            break;
        core[0] = 1 - core[0];
        core[1] = 1 - core[1];
    }
}
END_TEST

START_TEST(stops_without_an_answer) {
    int32_t core[] = {0, 1, 0, 1, 0, 1}, seen[6];
    uint32_t sizes[2], task = 0, ends = 0;
    int64_t now = 0;
    lbi_adaptive adaptive;
    lbi_adaptive_begin(&adaptive, 2, 6, SECOND / 100, 100 * SECOND, 0.95, sizes, seen);
    while (look_on(&adaptive, &now, core, nothing_known, &task) == LBI_DECIDED_END) {
        core[task] = -1;
        ends++;
    }
    /* With a task on each core, or one alone, there is nothing left. */
    ck_assert_uint_ge(ends, 3);
    ck_assert_int_lt(now, 100 * SECOND);
    ck_assert_str_eq(adaptive.stopped, "nothing left to balance");
    int32_t again[] = {0, 1, 0, 1, 0, 1};
    lbi_adaptive_begin(&adaptive, 2, 6, SECOND / 100, 2 * SECOND, 0.95, sizes, seen);
    now = 0;
    while (look_on(&adaptive, &now, again, nothing_known, &task) == LBI_DECIDED_END)
        again[task] = -1;
    ck_assert_str_eq(adaptive.stopped, "budget");
    ck_assert_int_ge(now, 2 * SECOND);
}
END_TEST

/* ---- on this machine ---- */

static lb_experiment_options quick(void) {
    lb_experiment_options options;
    lb_experiment_options_init(&options, sizeof options);
    options.unit_work = 0.002;
    options.budget = 1;
    return options;
}

static void assert_adaptive(const lb_trace *trace, const moment *begin) {
    uint32_t tasks = 3 * lb_host_cores(host);
    size_t n, marks_n;
    const lb_unit *units = lb_trace_units(trace, &n);
    const lb_mark *marks = lb_trace_marks(trace, &marks_n);
    ck_assert_uint_le(lb_trace_tasks(trace), tasks);
    if (!missed_beside_others(lb_trace_tasks(trace) == tasks, "a task came to no unit", begin))
        ck_assert_uint_eq(lb_trace_tasks(trace), tasks);
    ck_assert_str_eq(lb_trace_meta(trace, "experiment"), "detect");
    ck_assert_str_eq(lb_trace_meta(trace, "design"), "adaptive");
    ck_assert_ptr_nonnull(lb_trace_meta(trace, "even_start"));
    ck_assert_ptr_nonnull(lb_trace_meta(trace, "stopped"));
    const char *after = lb_trace_meta(trace, "decided_after_s");
    double seconds;
    ck_assert(after != NULL && lbi_parse_number(after, after + strlen(after), &seconds));
    ck_assert_double_gt(seconds, 0);
    /* A task that was told to end ends with the unit that it is at; of the others the trace has no
     * end, and nothing is in it that came after the decision. */
    int64_t last = 0;
    for (size_t i = 0; i < n; i++)
        last = units[i].end_ns > last ? units[i].end_ns : last;
    ck_assert_double_lt((double)last / 1e9, seconds);
    for (size_t i = 0; i < marks_n; i++) {
        size_t begun = 0;
        if (marks[i].kind != LB_MARK_END)
            continue;
        for (size_t j = 0; j < n; j++)
            begun += units[j].task == marks[i].task && units[j].start_ns >= marks[i].time_ns;
        ck_assert_uint_eq(begun, 0);
        ck_assert_int_le(marks[i].time_ns, last + INT64_C(1000000000));
    }
}

START_TEST(adaptive_records) {
    host = open_two_cores();
    lb_experiment_options options = quick();
    lb_trace *trace = NULL;
    moment begin = moment_now();
    lb_status status = lb_experiment_run(host, LB_EXPERIMENT_DETECT, &options, &trace, &err);
    if (timed_out_beside_others(status, &begin))
        return;
    ASSERT_STATUS(status, LB_OK, err);
    assert_childless();
    assert_adaptive(trace, &begin);
    ck_assert_ptr_null(lb_trace_meta(trace, "emulated"));
    lb_trace_free(trace);
    lb_host_free(host);
}
END_TEST

static lb_status emulate(lb_policy policy, lb_queues queues, const lb_experiment_options *options,
                         lb_trace **ret_trace) {
    lb_model_options made;
    lb_model *model = NULL;
    lb_model_options_init(&made, sizeof made);
    made.cores = lb_host_cores(host);
    made.policy = policy;
    ASSERT_OK(lb_model_new(&made, &model, &err), err);
    lb_status status = lb_experiment_emulate(host, model, queues, 1, options, ret_trace, &err);
    lb_model_free(model);
    return status;
}

/* On how many units a task came to another core. */
static size_t count_changes(const lb_trace *trace) {
    size_t n, changes = 0;
    const lb_unit *units = lb_trace_units(trace, &n);
    for (size_t i = 0; i < n; i++)
        changes += units[i].core_start != units[i].core_end;
    return changes;
}

START_TEST(emulated_lists) {
    host = open_two_cores();
    lb_experiment_options options = quick();
    for (int policy = LB_POLICY_NONE; policy <= LB_POLICY_IMMEDIATE; policy++) {
        lb_trace *trace = NULL;
        moment begin = moment_now();
        lb_status status = emulate((lb_policy)policy, LB_QUEUES_PER_CORE, &options, &trace);
        if (timed_out_beside_others(status, &begin))
            continue;
        ASSERT_STATUS(status, LB_OK, err);
        assert_childless();
        assert_adaptive(trace, &begin);
        ck_assert_ptr_nonnull(lb_trace_meta(trace, "emulated"));
        size_t n, changes = count_changes(trace);
        const lb_unit *units = lb_trace_units(trace, &n);
        /* Where nobody moves, everybody stays where it was dealt to; lists that share evenly move
         * their tasks all the time. */
        for (size_t i = 0; i < n && policy == LB_POLICY_NONE; i++)
            ck_assert_int_eq(units[i].core_end, (int32_t)(units[i].task % lb_host_cores(host)));
        if (!missed_beside_others(policy != LB_POLICY_IMMEDIATE || changes > 0,
                                  "no list was evened within the budget", &begin))
            ck_assert(policy != LB_POLICY_IMMEDIATE || changes > 0);
        ck_assert(policy == LB_POLICY_IMMEDIATE || changes <= lb_trace_tasks(trace));
        lb_trace_free(trace);
    }
    lb_host_free(host);
}
END_TEST

START_TEST(refused) {
    host = open_two_cores();
    lb_trace *trace = NULL;
    lb_table *table = NULL;
    lb_experiment_options options = quick();
    ASSERT_REFUSED(emulate(LB_POLICY_LAZY, LB_QUEUES_GROUPED, &options, &trace), LB_ERR_INVALID,
                   "queues is 3", err);
    ASSERT_REFUSED(emulate(LB_POLICY_LAZY, LB_QUEUES_SINGLE, &options, &trace), LB_ERR_INVALID,
                   "policy is 2", err);
    lb_model *model = NULL;
    ASSERT_OK(lb_model_preset("windows-7", lb_host_cores(host) + 1, &model, &err), err);
    ASSERT_REFUSED(
        lb_experiment_emulate(host, model, LB_QUEUES_PER_CORE, 1, &options, &trace, &err),
        LB_ERR_INVALID, "cores", err);
    lb_model_free(model);
    options.design = LB_DETECT_FIXED;
    ASSERT_REFUSED(emulate(LB_POLICY_LAZY, LB_QUEUES_PER_CORE, &options, &trace),
                   LB_ERR_UNSUPPORTED, "LB_DETECT_FIXED", err);
    options.budget = 0;
    ASSERT_REFUSED(lb_self_test(host, 1, &options, &table, &err), LB_ERR_INVALID, "budget is 0",
                   err);
    ck_assert_ptr_null(trace);
    ck_assert_ptr_null(table);
    lb_host_free(host);
}
END_TEST

static int cancel_late(void *user, double fraction) {
    double *last = user;
    ck_assert_double_ge(fraction, *last);
    *last = fraction;
    return fraction > 0.25;
}

/* In the second of five experiments. */
START_TEST(self_test_cancelled) {
    host = open_two_cores();
    lb_experiment_options options = quick();
    lb_table *table = NULL;
    double last = 0;
    options.progress = cancel_late;
    options.progress_user = &last;
    moment begin = moment_now();
    lb_status status = lb_self_test(host, 1, &options, &table, &err);
    if (timed_out_beside_others(status, &begin))
        return;
    ASSERT_STATUS(status, LB_ERR_CANCELLED, err);
    ck_assert_double_gt(last, 0.25);
    ck_assert_ptr_null(table);
    assert_childless();
    lb_host_free(host);
}
END_TEST

START_TEST(self_test_table) {
    host = open_two_cores();
    lb_experiment_options options = quick();
    lb_table *table = NULL;
    moment begin = moment_now();
    lb_status status = lb_self_test(host, 1, &options, &table, &err);
    if (timed_out_beside_others(status, &begin))
        return;
    ASSERT_STATUS(status, LB_OK, err);
    assert_childless();
    static const char *const rows[] = {"none", "lazy", "active", "immediate", "single queue"};
    ck_assert_uint_eq(lb_table_rows(table), 5);
    for (size_t i = 0; i < 5; i++) {
        ck_assert_str_eq(lb_table_label(table, i), rows[i]);
        double right = lb_table_get(table, i, "right"), p = lb_table_get(table, i, "probability");
        ck_assert(right == 0 || right == 1);
        ck_assert(p >= 0 && p <= 1);
        ck_assert(right == 0 || p >= 0.95);
        ck_assert_double_gt(lb_table_get(table, i, "seconds"), 0);
    }
    lb_table_free(table);
    lb_host_free(host);
}
END_TEST

static lb_status emulate_quietly(const lb_model *model, const lb_experiment_options *options,
                                 lb_trace **ret_trace) {
    return lb_experiment_emulate(host, model, LB_QUEUES_PER_CORE, 1, options, ret_trace, NULL);
}

/* A failure late in a run costs all of that run: so not every one. */
START_TEST(allocations) {
    host = open_two_cores();
    lb_experiment_options options = quick();
    options.budget = 1;
    lb_model *model = NULL;
    ASSERT_OK(lb_model_preset("windows-7", lb_host_cores(host), &model, &err), err);
    size_t n = 1;
    bool fired = true;
    while (fired) {
        lb_trace *trace = NULL;
        long live = faults_live();
        faults_arm(n);
        lb_status status = emulate_quietly(model, &options, &trace);
        bool failed = faults_fired();
        lb_trace_free(trace);
        live -= faults_live();
        ck_assert_int_eq(live, 0);
        assert_childless();
        if (status == LB_ERR_TIMEOUT && options.budget < 100) {
            options.budget *= 2;
            continue;
        }
        ck_assert_int_eq(status, failed ? LB_ERR_NOMEM : LB_OK);
        fired = failed;
        n += n < 12 ? 1 : n;
    }
    lb_model_free(model);
    lb_host_free(host);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("detect");
    ADD(s, "decisions", second_victim_from_the_same_list, victims_follow_the_shortest_list,
        stops_when_sure, not_against_what_was_seen, stops_without_an_answer);
    ADD(s, "records", adaptive_records, emulated_lists);
    ADD(s, "self-test", self_test_table, self_test_cancelled);
    ADD(s, "refusals", refused);
    ADD(s, "resources", allocations);
    return s;
}
