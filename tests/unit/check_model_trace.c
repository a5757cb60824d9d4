/* SPDX-License-Identifier: BSD-3-Clause */
/* lb_model_trace() against lb_model_sample(), against conservation, and against the classifier. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "harness.h"

static const double nanosecond = 1e-9;

typedef struct problem {
    lb_model *model;
    lb_workload *workload;
} problem;

static problem make(const lb_model_options *options, const double *works, size_t n) {
    problem p = {0};
    lb_error err = {0};
    ASSERT_OK(lb_model_new(options, &p.model, &err), err);
    ASSERT_OK(lb_workload_new(&p.workload, &err), err);
    ASSERT_OK(lb_workload_add_many(p.workload, works, n, NULL, &err), err);
    return p;
}

static problem of_policy(uint32_t cores, lb_policy policy, const double *works, size_t n) {
    lb_model_options options;
    lb_model_options_init(&options, sizeof options);
    options.cores = cores;
    options.policy = policy;
    return make(&options, works, n);
}

static void release(problem p) {
    lb_model_free(p.model);
    lb_workload_free(p.workload);
}

static lb_trace *trace_of(problem p, double unit_work, double slice, uint64_t seed) {
    lb_trace *trace = NULL;
    lb_error err = {0};
    ASSERT_OK(lb_model_trace(p.model, p.workload, unit_work, slice, seed, &trace, &err), err);
    return trace;
}

static void assert_near(double value, double expected, double tolerance) {
    ck_assert_msg(fabs(value - expected) <= tolerance, "%.17g, expected %.17g", value, expected);
}

static void assert_unit(const lb_unit *unit, uint32_t task, uint32_t index, double start,
                        double end, double cpu) {
    ck_assert_uint_eq(unit->task, task);
    ck_assert_uint_eq(unit->index, index);
    assert_near((double)unit->start_ns / 1e9, start, nanosecond);
    assert_near((double)unit->end_ns / 1e9, end, nanosecond);
    assert_near((double)unit->cpu_ns / 1e9, cpu, nanosecond);
}

/* Two on one core: the first has 2.5 s, in units of 1 s, the other 1 s. */
START_TEST(worked_by_hand) {
    static const double works[] = {2.5, 1};
    problem p = of_policy(1, LB_POLICY_NONE, works, 2);
    lb_trace *trace = trace_of(p, 1, 0, 7);
    size_t n;
    const lb_unit *units = lb_trace_units(trace, &n);
    ck_assert_uint_eq(n, 4);
    assert_unit(&units[0], 0, 0, 0, 2, 1);
    assert_unit(&units[1], 0, 1, 2, 3, 1);
    assert_unit(&units[2], 0, 2, 3, 3.5, 0.5);
    assert_unit(&units[3], 1, 0, 0, 2, 1);
    ck_assert_int_eq(units[0].core_start, 0);
    ck_assert_int_eq(units[0].core_end, 0);
    ck_assert(lb_trace_unit_work(trace) == 1);
    ck_assert_str_eq(lb_trace_meta(trace, "experiment"), "predicted");
    ck_assert_str_eq(lb_trace_meta(trace, "policy"), "none");
    ck_assert_str_eq(lb_trace_meta(trace, "seed"), "7");
    lb_trace_slices(trace, &n);
    ck_assert_uint_eq(n, 0);
    lb_trace_free(trace);
    release(p);
}
END_TEST

/* Slices of 0.5 s and, of weight 2, 1 s: 0 1 1 0 1 1 ... until one is done. */
START_TEST(slices_by_hand) {
    static const double works[] = {1, 4};
    problem p = of_policy(1, LB_POLICY_LAZY, works, 2);
    lb_error err = {0};
    ASSERT_OK(lb_workload_set_weight(p.workload, 1, 2, &err), err);
    lb_trace *trace = trace_of(p, 0.5, 0.5, 0);
    size_t n;
    const lb_slice *slices = lb_trace_slices(trace, &n);
    static const double expected[][3] = {{0, 0, 0.5}, {0, 1.5, 2}, {1, 0.5, 1.5}, {1, 2, 5}};
    ck_assert_uint_eq(n, 4);
    for (size_t i = 0; i < n; i++) {
        ck_assert_uint_eq(slices[i].task, (uint32_t)expected[i][0]);
        assert_near((double)slices[i].start_ns / 1e9, expected[i][1], nanosecond);
        assert_near((double)slices[i].end_ns / 1e9, expected[i][2], nanosecond);
        ck_assert_int_eq(slices[i].core, 0);
    }
    lb_trace_free(trace);
    release(p);
}
END_TEST

/* However short its turns are. */
START_TEST(alone_is_one_slice) {
    static const double works[] = {5};
    problem p = of_policy(1, LB_POLICY_LAZY, works, 1);
    lb_trace *trace = trace_of(p, 0.5, 1e-300, 0);
    size_t n;
    const lb_slice *slices = lb_trace_slices(trace, &n);
    ck_assert_uint_eq(n, 1);
    ck_assert_int_eq(slices[0].end_ns - slices[0].start_ns, 5000000000);
    lb_trace_free(trace);
    release(p);
}
END_TEST

/* Asleep from 0.5 to 2; stopped at 3, with 0.5 s of its second unit done. */
START_TEST(sleeping_leaves_a_gap) {
    static const double works[] = {5, 0};
    problem p = of_policy(2, LB_POLICY_IMMEDIATE, works, 2);
    lb_error err = {0};
    ASSERT_OK(lb_workload_add_event(p.workload, 0, 0.5, LB_EVENT_SLEEP, &err), err);
    ASSERT_OK(lb_workload_add_event(p.workload, 0, 2, LB_EVENT_WAKE, &err), err);
    ASSERT_OK(lb_workload_add_event(p.workload, 0, 3.25, LB_EVENT_STOP, &err), err);
    lb_trace *trace = trace_of(p, 1, 0, 0);
    size_t n;
    const lb_unit *units = lb_trace_units(trace, &n);
    ck_assert_uint_eq(n, 4);
    assert_unit(&units[0], 0, 0, 0, 0.5, 0.5);
    assert_unit(&units[1], 0, 1, 2, 3, 1);
    assert_unit(&units[2], 0, 2, 3, 3.25, 0.25);
    assert_unit(&units[3], 1, 0, 0, 0, 0);
    ck_assert_int_eq(units[0].core_start, -1);
    const lb_mark *marks = lb_trace_marks(trace, &n);
    ck_assert_uint_eq(n, 3);
    ck_assert_int_eq(marks[0].kind, LB_MARK_SLEEP);
    ck_assert_int_eq(marks[1].kind, LB_MARK_WAKE);
    ck_assert_int_eq(marks[2].kind, LB_MARK_END);
    lb_trace_free(trace);
    release(p);
}
END_TEST

/* ---- random problems ---- */

static uint64_t state;

static double draw(void) { /* 0 to 1 */
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 11) / 9007199254740992.0;
}

static problem draw_problem(double *works, size_t *ret_n, double *arrivals) {
    static double speeds[5];
    lb_model_options options;
    lb_model_options_init(&options, sizeof options);
    options.cores = 1 + (uint32_t)(draw() * 5);
    options.policy = LB_POLICY_NONE + (int32_t)(draw() * 4);
    options.balance_delay = draw() < 0.3 ? draw() : 0;
    options.rotation_time = draw() < 0.3 ? 0.2 + draw() : 0;
    options.list_choice = draw() < 0.5;
    options.process_choice = (int32_t)(draw() * 3);
    for (int i = 0; i < 5; i++)
        speeds[i] = 0.5 + draw();
    if (draw() < 0.3)
        options.core_speeds = speeds;
    size_t n = *ret_n = (size_t)(draw() * 12);
    for (size_t i = 0; i < n; i++)
        works[i] = draw() < 0.1 ? 0 : draw() < 0.3 ? floor(draw() * 8) / 4 : 5 * draw();
    problem p = make(&options, works, n);
    lb_error err = {0};
    bool weighted = draw() < 0.5, arriving = draw() < 0.5, sleeping = draw() < 0.5;
    bool cored = draw() < 0.5;
    for (size_t i = 0; i < n; i++) {
        arrivals[i] = arriving ? floor(draw() * 8) / 2 : 0;
        if (weighted)
            ASSERT_OK(lb_workload_set_weight(p.workload, i, exp(6 * draw() - 3), &err), err);
        if (arriving)
            ASSERT_OK(lb_workload_set_arrival(p.workload, i, arrivals[i], &err), err);
        if (cored && draw() < 0.3)
            ASSERT_OK(
                lb_workload_set_first_core(p.workload, i, (uint32_t)(draw() * options.cores), &err),
                err);
        for (double time = arrivals[i]; sleeping && draw() < 0.7;)
            ASSERT_OK(lb_workload_add_event(p.workload, i, time += 2 * draw(),
                                            (lb_event_kind)(draw() < 0.1   ? LB_EVENT_STOP
                                                            : draw() < 0.4 ? LB_EVENT_WAKE
                                                                           : LB_EVENT_SLEEP),
                                            &err),
                      err);
    }
    return p;
}

static void check_units(const lb_trace *trace, problem p, const double *works,
                        const double *arrivals, const double *durations, double unit_work) {
    lb_model_options options;
    lb_model_get_options(p.model, &options, sizeof options);
    bool cpu_known = options.core_speeds == NULL;
    size_t n, count = lb_workload_size(p.workload), at = 0;
    const lb_unit *units = lb_trace_units(trace, &n);
    for (size_t i = 0; i < count; i++) {
        double cpu = 0, last = 0, tolerance = 2 * nanosecond;
        size_t mine = 0;
        for (; at < n && units[at].task == i; at++, mine++) {
            double start = (double)units[at].start_ns / 1e9, end = (double)units[at].end_ns / 1e9;
            ck_assert_uint_eq(units[at].index, mine);
            ck_assert(mine == 0 || start >= last);
            ck_assert(start >= arrivals[i] - nanosecond);
            last = end;
            cpu += (double)units[at].cpu_ns / 1e9;
            tolerance += nanosecond;
            if (cpu_known)
                ck_assert(units[at].cpu_ns <= (int64_t)(unit_work * 1e9) + 1);
        }
        if (durations[i] < INFINITY) {
            ck_assert_uint_ge(mine, 1);
            assert_near(last, arrivals[i] + durations[i], 2 * nanosecond);
            if (cpu_known)
                assert_near(cpu, works[i], tolerance);
        } else if (cpu_known)
            ck_assert(cpu <= works[i] + tolerance);
    }
    ck_assert_uint_eq(at, n);
}

static int by_core(const void *left, const void *right) {
    const lb_slice *a = left, *b = right;
    if (a->core != b->core)
        return a->core < b->core ? -1 : 1;
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns ? -1 : 1;
    return (a->end_ns > b->end_ns) - (a->end_ns < b->end_ns);
}

/* A core has one task at a time; all of them together work as much as the units say. */
static void check_slices(const lb_trace *trace, bool cpu_known) {
    size_t n, unit_count;
    const lb_slice *slices = lb_trace_slices(trace, &n);
    const lb_unit *units = lb_trace_units(trace, &unit_count);
    lb_slice *sorted = malloc((n + 1) * sizeof *sorted);
    double busy = 0, cpu = 0;
    for (size_t i = 0; i < n; i++) {
        sorted[i] = slices[i];
        busy += (double)(slices[i].end_ns - slices[i].start_ns) / 1e9;
    }
    qsort(sorted, n, sizeof *sorted, by_core);
    for (size_t i = 1; i < n; i++)
        ck_assert(sorted[i].core != sorted[i - 1].core ||
                  sorted[i].start_ns >= sorted[i - 1].end_ns);
    for (size_t i = 0; i < unit_count; i++)
        cpu += (double)units[i].cpu_ns / 1e9;
    if (cpu_known)
        assert_near(busy, cpu, (double)(n + unit_count + 2) * nanosecond);
    free(sorted);
}

START_TEST(agrees_with_the_sample) {
    double works[12], arrivals[12], durations[12];
    state = 4711;
    for (uint64_t round = 0; round < 4000; round++) {
        size_t n = 0;
        problem p = draw_problem(works, &n, arrivals);
        double unit_work = draw() < 0.5 ? 0.25 : 0.05 + draw();
        lb_error err = {0};
        lb_model_options options;
        lb_model_get_options(p.model, &options, sizeof options);
        bool lists = options.policy != LB_POLICY_IMMEDIATE || options.rotation_time > 0;
        ASSERT_OK(lb_model_sample(p.model, p.workload, round, durations, &err), err);
        lb_trace *trace = trace_of(p, unit_work, lists ? 0.02 + draw() : 0, round);
        check_units(trace, p, works, arrivals, durations, unit_work);
        if (lists)
            check_slices(trace, options.core_speeds == NULL || options.cores == 1);
        lb_trace_free(trace);
        release(p);
    }
}
END_TEST

/* The same where lists are long, and where sampling takes shortcuts. */
START_TEST(long_lists_agree_too) {
    enum {
        MANY = 6000
    };
    static double works[MANY], arrivals[MANY], durations[MANY];
    for (size_t i = 0; i < MANY; i++)
        works[i] = 0.5 + draw();
    for (lb_policy policy = LB_POLICY_NONE; policy <= LB_POLICY_IMMEDIATE; policy++) {
        problem p = of_policy(3, policy, works, MANY);
        lb_error err = {0};
        ASSERT_OK(lb_model_sample(p.model, p.workload, 5, durations, &err), err);
        lb_trace *trace = trace_of(p, 0.3, policy == LB_POLICY_IMMEDIATE ? 0 : 0.1, 5);
        check_units(trace, p, works, arrivals, durations, 0.3);
        check_slices(trace, policy != LB_POLICY_IMMEDIATE);
        lb_trace_free(trace);
        release(p);
    }
}
END_TEST

/* Unit ends of one process against a sample of which its work up to there is all the work. */
START_TEST(units_end_as_the_fluid_does) {
    static const double works[] = {1, 2, 3, 4, 5, 6};
    for (lb_policy policy = LB_POLICY_NONE; policy <= LB_POLICY_IMMEDIATE; policy++) {
        problem p = of_policy(2, policy, works, 6);
        lb_trace *trace = trace_of(p, 1, 0, 0);
        size_t n;
        const lb_unit *units = lb_trace_units(trace, &n);
        ck_assert_uint_eq(n, 21);
        for (size_t i = 0; i < n; i++) {
            /* Longer ones only finish later: to there all runs the same for policies of no chance.
             */
            if (policy == LB_POLICY_LAZY || policy == LB_POLICY_ACTIVE)
                continue;
            double shorter[6], durations[6];
            memcpy(shorter, works, sizeof works);
            shorter[units[i].task] = units[i].index + 1;
            problem q = of_policy(2, policy, shorter, 6);
            lb_error err = {0};
            ASSERT_OK(lb_model_sample(q.model, q.workload, 0, durations, &err), err);
            assert_near((double)units[i].end_ns / 1e9, durations[units[i].task], nanosecond);
            release(q);
        }
        lb_trace_free(trace);
        release(p);
    }
}
END_TEST

START_TEST(classifies_as_what_it_is) {
    for (uint64_t seed = 0; seed < 8; seed++)
        for (lb_policy policy = LB_POLICY_NONE; policy <= LB_POLICY_IMMEDIATE; policy++) {
            /* Four cores with three each that end one by one; those of the first core first. */
            double works[12];
            for (size_t i = 0; i < 12; i++)
                works[i] = i % 4 == 0 ? 0.3 + 0.05 * (double)i : 1.5 + 0.11 * (double)(i * 7 % 12);
            problem p = of_policy(4, policy, works, 12);
            lb_trace *trace = trace_of(p, 0.01, 0, seed);
            lb_verdict *verdict = NULL;
            lb_error err = {0};
            ASSERT_OK(lb_classify(trace, NULL, &verdict, &err), err);
            ck_assert_msg(lb_verdict_policy(verdict) == policy, "seed %u: %d, expected %d: %s",
                          (unsigned)seed, (int)lb_verdict_policy(verdict), (int)policy,
                          lb_verdict_reason(verdict, 0));
            lb_verdict_free(verdict);
            lb_trace_free(trace);
            release(p);
        }
}
END_TEST

START_TEST(a_file_reads_back) {
    static const double works[] = {1, 2, 3, 4, 5, 6};
    problem p = of_policy(2, LB_POLICY_ACTIVE, works, 6);
    lb_trace *trace = trace_of(p, 0.1, 0.05, 3), *again = NULL;
    lb_trace *same = trace_of(p, 0.1, 0.05, 3);
    char *text = NULL, *text_again = NULL;
    size_t length;
    lb_error err = {0};
    ASSERT_OK(lb_trace_format(trace, LB_TRACE_CSV, &text, &length, &err), err);
    ASSERT_OK(lb_trace_parse(text, length, &again, &err), err);
    ASSERT_OK(lb_trace_format(again, LB_TRACE_CSV, &text_again, NULL, &err), err);
    ck_assert_str_eq(text, text_again);
    lb_free(text_again);
    ASSERT_OK(lb_trace_format(same, LB_TRACE_CSV, &text_again, NULL, &err), err);
    ck_assert_str_eq(text, text_again);
    lb_free(text);
    lb_free(text_again);
    lb_trace_free(trace);
    lb_trace_free(again);
    lb_trace_free(same);
    release(p);
}
END_TEST

START_TEST(bad_input) {
    static const double works[] = {1, 2}, huge[] = {1e9, 1e-9}, endless[] = {INFINITY};
    lb_error err = {0};
    lb_trace *none = NULL;
    problem p = of_policy(2, LB_POLICY_IMMEDIATE, works, 2);
    static const double bad[] = {0, -1, NAN, INFINITY};
    for (size_t i = 0; i < 4; i++)
        ASSERT_REFUSED(lb_model_trace(p.model, p.workload, bad[i], 0, 0, &none, &err),
                       LB_ERR_INVALID, "unit_work", err);
    for (size_t i = 1; i < 4; i++)
        ASSERT_REFUSED(lb_model_trace(p.model, p.workload, 1, bad[i], 0, &none, &err),
                       LB_ERR_INVALID, "slice", err);
    ASSERT_REFUSED(lb_model_trace(p.model, p.workload, 1, 0.1, 0, &none, &err), LB_ERR_UNSUPPORTED,
                   "slices", err);
    ASSERT_REFUSED(lb_model_trace(p.model, p.workload, 1e-300, 0, 0, &none, &err), LB_ERR_LIMIT,
                   "units", err);
    ASSERT_OK(lb_workload_set_first_core(p.workload, 1, 2, &err), err);
    ASSERT_REFUSED(lb_model_trace(p.model, p.workload, 1, 0, 0, &none, &err), LB_ERR_INVALID,
                   "first core", err);
    release(p);
    p = of_policy(2, LB_POLICY_NONE, huge, 2);
    ASSERT_REFUSED(lb_model_trace(p.model, p.workload, 1, 0, 0, &none, &err), LB_ERR_LIMIT, "1e+09",
                   err);
    ASSERT_OK(lb_workload_set_arrival(p.workload, 0, 1e10, &err), err);
    ASSERT_REFUSED(lb_model_trace(p.model, p.workload, 1e8, 0, 0, &none, &err), LB_ERR_LIMIT,
                   "9.2e9", err);
    release(p);
    p = of_policy(1, LB_POLICY_NONE, works, 2);
    ASSERT_REFUSED(lb_model_trace(p.model, p.workload, 1, 1e-9, 0, &none, &err), LB_ERR_LIMIT,
                   "slices", err);
    ASSERT_REFUSED(lb_model_trace(p.model, p.workload, 1, 1e-300, 0, &none, &err), LB_ERR_LIMIT,
                   "slices", err);
    for (size_t i = 0; i < 2; i++) /* where a turn is too short to advance the time */
        ASSERT_OK(lb_workload_set_arrival(p.workload, i, 1, &err), err);
    ASSERT_REFUSED(lb_model_trace(p.model, p.workload, 1, 1e-300, 0, &none, &err), LB_ERR_LIMIT,
                   "slices", err);
    release(p);
    p = of_policy(1, LB_POLICY_NONE, endless, 1);
    ASSERT_REFUSED(lb_model_trace(p.model, p.workload, 1, 0, 0, &none, &err), LB_ERR_LIMIT,
                   "infinite", err);
    release(p);
    ck_assert_ptr_null(none);
}
END_TEST

START_TEST(no_processes) {
    problem p = of_policy(3, LB_POLICY_ACTIVE, NULL, 0);
    lb_trace *trace = trace_of(p, 1, 1, 0);
    size_t n;
    ck_assert_uint_eq(lb_trace_cores(trace), 3);
    lb_trace_units(trace, &n);
    ck_assert_uint_eq(n, 0);
    lb_trace_free(trace);
    release(p);
}
END_TEST

START_TEST(without_memory) {
    static const double works[] = {1, 2, 3, 4, 5, 6};
    for (lb_policy policy = LB_POLICY_ACTIVE; policy <= LB_POLICY_IMMEDIATE; policy++) {
        problem p = of_policy(2, policy, works, 6);
        lb_error err = {0};
        ASSERT_OK(lb_workload_set_weight(p.workload, 1, 2, &err), err);
        ASSERT_OK(lb_workload_set_arrival(p.workload, 1, 0.5, &err), err);
        lb_status status = LB_OK;
        size_t failures;
        SWEEP_ALLOCATIONS(status, failures, {
            lb_trace *trace = NULL;
            status = lb_model_trace(p.model, p.workload, 0.5, policy == LB_POLICY_ACTIVE ? 0.1 : 0,
                                    0, &trace, NULL);
            lb_trace_free(trace);
        });
        ck_assert_uint_ge(failures, 10);
        release(p);
    }
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("model_trace");
    ADD(s, "worked", worked_by_hand, slices_by_hand, alone_is_one_slice, sleeping_leaves_a_gap,
        no_processes);
    ADD(s, "random", agrees_with_the_sample, long_lists_agree_too, units_end_as_the_fluid_does);
    ADD(s, "round trip", classifies_as_what_it_is, a_file_reads_back);
    ADD(s, "bad", bad_input, without_memory);
    return s;
}
