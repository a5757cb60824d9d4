/* SPDX-License-Identifier: BSD-3-Clause */
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "harness.h"

/* ---- traces by hand ---- */

/* From `time` on, the task runs at this rate (of a core); 0: it has ended. */
typedef struct phase {
    double time, rate;
} phase;

#define WORK 0.01

static lb_trace *new_trace(uint32_t cores) {
    lb_error err;
    lb_trace *trace;
    ASSERT_OK(lb_trace_new(cores, &trace, &err), err);
    return trace;
}

static void add_unit(lb_trace *trace, uint32_t task, uint32_t index, double start, double end) {
    lb_error err;
    lb_unit unit = {
        (int64_t)llround(start * 1e9), (int64_t)llround(end * 1e9), -1, task, index, -1, -1};
    ASSERT_OK(lb_trace_add_unit(trace, &unit, &err), err);
}

/* Units of WORK one after another at the rates that the phases say. */
static void add_task(lb_trace *trace, uint32_t task, const phase *phases) {
    double time = phases[0].time, begun = time, left = WORK;
    uint32_t index = 0;
    for (; phases->rate > 0; phases++)
        while (time < phases[1].time) {
            double step = fmin(left / phases->rate, phases[1].time - time);
            time += step;
            left -= step * phases->rate;
            if (left > 1e-12)
                continue;
            add_unit(trace, task, index++, begun, time);
            begun = time;
            left = WORK;
        }
}
#define TASK(trace_, task_, ...) add_task(trace_, task_, (const phase[]){__VA_ARGS__})

static lb_trace *seal(lb_trace *trace) {
    lb_error err;
    ASSERT_OK(lb_trace_seal(trace, &err), err);
    return trace;
}

static void check_sane(const lb_verdict *v) {
    double sum = 0, queues = 0;
    for (int i = LB_POLICY_UNKNOWN; i <= LB_POLICY_IMMEDIATE; i++) {
        double p = lb_verdict_probability(v, (lb_policy)i);
        ck_assert(p >= 0 && p <= 1);
        sum += p;
    }
    for (int i = LB_QUEUES_UNKNOWN; i <= LB_QUEUES_GROUPED; i++) {
        double p = lb_verdict_queues_probability(v, (lb_queues)i);
        ck_assert(p >= 0 && p <= 1);
        queues += p;
    }
    ck_assert_double_eq_tol(sum, 1, 1e-12);
    ck_assert_double_eq_tol(queues, 1, 1e-12);
    ck_assert(isnan(lb_verdict_probability(v, (lb_policy)5)));
    ck_assert(isnan(lb_verdict_queues_probability(v, (lb_queues)-1)));
    size_t n = lb_verdict_reason_count(v);
    ck_assert_uint_ge(n, 1);
    for (size_t i = 0; i < n; i++)
        ck_assert_uint_gt(strlen(lb_verdict_reason(v, i)), 20);
    ck_assert_ptr_null(lb_verdict_reason(v, n));
}

static lb_verdict *classify(const lb_trace *trace) {
    lb_error err;
    lb_verdict *v;
    ASSERT_OK(lb_classify(trace, NULL, &v, &err), err);
    check_sane(v);
    return v;
}

static bool has_reason(const lb_verdict *v, const char *words) {
    for (size_t i = 0; i < lb_verdict_reason_count(v); i++)
        if (strstr(lb_verdict_reason(v, i), words) != NULL)
            return true;
    return false;
}

#define ASSERT_REASON(v_, words_)                                                                  \
    ck_assert_msg(has_reason(v_, words_), "no reason has \"%s\"; the first is \"%s\"", words_,     \
                  lb_verdict_reason(v_, 0))

/* Classifies, compares, frees both. */
static void expect(lb_trace *trace, lb_policy policy, lb_queues queues, const char *words) {
    lb_verdict *v = classify(trace);
    ck_assert_msg(lb_verdict_policy(v) == policy, "policy %d instead of %d: %s",
                  lb_verdict_policy(v), policy, lb_verdict_reason(v, 0));
    ck_assert_int_eq(lb_verdict_queues(v), queues);
    ASSERT_REASON(v, words);
    lb_verdict_free(v);
    lb_trace_free(trace);
}

/* ---- two cores, three tasks each: 0 2 4 and 1 3 5; 0 ends, then 2 of the same list ---- */

static lb_trace *two_cores_lazy(void) {
    lb_trace *t = new_trace(2);
    TASK(t, 0, {0, 1. / 3}, {3, 0});
    TASK(t, 2, {0, 1. / 3}, {3, 1. / 2}, {6, 0});
    TASK(t, 4, {0, 1. / 3}, {3, 1. / 2}, {6, 1}, {9, 0});
    /* When 4 ends its core pulls 3 */
    TASK(t, 3, {0, 1. / 3}, {9, 1}, {12, 0});
    TASK(t, 1, {0, 1. / 3}, {9, 1. / 2}, {12, 1}, {14, 0});
    TASK(t, 5, {0, 1. / 3}, {9, 1. / 2}, {12, 1}, {15, 0});
    return seal(t);
}

START_TEST(lazy_by_hand) {
    expect(two_cores_lazy(), LB_POLICY_LAZY, LB_QUEUES_PER_CORE,
           "from 6 to 9 s task 4 took 10 ms a unit (1 to a core) while tasks 1, 3 and 5 took 30 ms "
           "a unit (3 to a core) and nobody moved: not active");
}
END_TEST

START_TEST(none_by_hand) {
    lb_trace *t = new_trace(2);
    TASK(t, 0, {0, 1. / 3}, {3, 0});
    TASK(t, 2, {0, 1. / 3}, {3, 1. / 2}, {6, 0});
    TASK(t, 4, {0, 1. / 3}, {3, 1. / 2}, {6, 1}, {9, 0});
    TASK(t, 3, {0, 1. / 3}, {12, 0});
    TASK(t, 1, {0, 1. / 3}, {12, 1. / 2}, {14, 0});
    TASK(t, 5, {0, 1. / 3}, {12, 1. / 2}, {14, 1}, {15, 0});
    expect(seal(t), LB_POLICY_NONE, LB_QUEUES_PER_CORE,
           "from 9 to 12 s 1 of 2 cores had nothing to run while tasks 1, 3 and 5 took 30 ms");
}
END_TEST

START_TEST(active_by_hand) {
    lb_trace *t = new_trace(2);
    TASK(t, 0, {0, 1. / 3}, {3, 0});
    TASK(t, 2, {0, 1. / 3}, {3, 1. / 2}, {6, 0});
    TASK(t, 4, {0, 1. / 3}, {3, 1. / 2}, {9, 0});
    /* 5 comes to 4 when 2 ends. */
    TASK(t, 5, {0, 1. / 3}, {6, 1. / 2}, {9, 1}, {12, 0});
    TASK(t, 1, {0, 1. / 3}, {6, 1. / 2}, {12, 1}, {14, 0});
    TASK(t, 3, {0, 1. / 3}, {6, 1. / 2}, {12, 1}, {15, 0});
    expect(seal(t), LB_POLICY_ACTIVE, LB_QUEUES_PER_CORE,
           "when task 2 ended at 6 s and left a core with 1 to run beside one with 3, tasks 1, 3 "
           "and 5 sped up from 30 to 20 ms a unit");
}
END_TEST

START_TEST(immediate_by_hand) {
    lb_trace *t = new_trace(2);
    TASK(t, 0, {0, 1. / 3}, {3, 0});
    TASK(t, 2, {0, 1. / 3}, {3, 2. / 5}, {6, 0});
    TASK(t, 4, {0, 1. / 3}, {3, 2. / 5}, {6, 1. / 2}, {9, 0});
    TASK(t, 5, {0, 1. / 3}, {3, 2. / 5}, {6, 1. / 2}, {9, 2. / 3}, {12, 0});
    TASK(t, 1, {0, 1. / 3}, {3, 2. / 5}, {6, 1. / 2}, {9, 2. / 3}, {12, 1}, {14, 0});
    TASK(t, 3, {0, 1. / 3}, {3, 2. / 5}, {6, 1. / 2}, {9, 2. / 3}, {12, 1}, {15, 0});
    /* Whether one queue or two: units alone do not tell. */
    expect(seal(t), LB_POLICY_IMMEDIATE, LB_QUEUES_UNKNOWN, "units alone do not tell");
}
END_TEST

/* Two cores with two tasks each: 0 2 and 1 3. */
START_TEST(two_tasks_a_core_cannot_tell_lazy_from_active) {
    lb_trace *t = new_trace(2);
    TASK(t, 0, {0, 1. / 2}, {3, 0});
    TASK(t, 2, {0, 1. / 2}, {3, 1}, {6, 0});
    TASK(t, 1, {0, 1. / 2}, {6, 1}, {9, 0});
    TASK(t, 3, {0, 1. / 2}, {6, 1}, {10, 0});
    lb_verdict *v = classify(seal(t));
    double lazy = lb_verdict_probability(v, LB_POLICY_LAZY);
    double active = lb_verdict_probability(v, LB_POLICY_ACTIVE);
    ck_assert_int_eq(lb_verdict_policy(v), LB_POLICY_UNKNOWN);
    ck_assert_double_eq_tol(lazy, active, 1e-9);
    ck_assert_double_gt(lazy + active, 0.9);
    ASSERT_REASON(v, "with two tasks a core");
    /* Either way each core has its own queue. */
    ck_assert_int_eq(lb_verdict_queues(v), LB_QUEUES_PER_CORE);
    lb_verdict_free(v);
    lb_trace_free(t);
}
END_TEST

/* One end in each list: no core runs dry, no lists are two apart. */
START_TEST(missing_moments_are_named) {
    lb_trace *t = new_trace(2);
    TASK(t, 0, {0, 1. / 3}, {3, 0});
    TASK(t, 1, {0, 1. / 3}, {6, 0});
    TASK(t, 2, {0, 1. / 3}, {3, 1. / 2}, {9, 0});
    TASK(t, 4, {0, 1. / 3}, {3, 1. / 2}, {9, 0});
    TASK(t, 3, {0, 1. / 3}, {6, 1. / 2}, {9, 0});
    TASK(t, 5, {0, 1. / 3}, {6, 1. / 2}, {9, 0});
    lb_verdict *v = classify(seal(t));
    ck_assert_int_eq(lb_verdict_policy(v), LB_POLICY_UNKNOWN);
    ASSERT_REASON(v, "lazy and active");
    ASSERT_REASON(v, "none and lazy");
    ck_assert_double_lt(lb_verdict_probability(v, LB_POLICY_IMMEDIATE), 0.05);
    lb_verdict_free(v);
    lb_trace_free(t);
}
END_TEST

/* ---- run queues, told by cores ---- */

/* Even sharing by hand, with the cores of each unit: the second of every `period` units ends on the
 * other core. */
static lb_trace *with_cores(uint32_t period) {
    lb_error err;
    lb_trace *t = new_trace(2), *plain = new_trace(2);
    TASK(plain, 0, {0, 1. / 3}, {3, 0});
    TASK(plain, 2, {0, 1. / 3}, {3, 2. / 5}, {6, 0});
    TASK(plain, 4, {0, 1. / 3}, {3, 2. / 5}, {6, 1. / 2}, {9, 0});
    TASK(plain, 5, {0, 1. / 3}, {3, 2. / 5}, {6, 1. / 2}, {9, 2. / 3}, {12, 0});
    TASK(plain, 1, {0, 1. / 3}, {3, 2. / 5}, {6, 1. / 2}, {9, 2. / 3}, {12, 1}, {14, 0});
    TASK(plain, 3, {0, 1. / 3}, {3, 2. / 5}, {6, 1. / 2}, {9, 2. / 3}, {12, 1}, {15, 0});
    seal(plain);
    size_t n;
    const lb_unit *units = lb_trace_units(plain, &n);
    for (size_t i = 0; i < n; i++) {
        lb_unit unit = units[i];
        unit.core_start = (int32_t)(unit.task % 2);
        unit.core_end = unit.index % period == 1 ? 1 - unit.core_start : unit.core_start;
        ASSERT_OK(lb_trace_add_unit(t, &unit, &err), err);
    }
    lb_trace_free(plain);
    return seal(t);
}

START_TEST(cores_tell_the_queues) {
    expect(with_cores(50), LB_POLICY_IMMEDIATE, LB_QUEUES_PER_CORE, "each core has its own");
    expect(with_cores(2), LB_POLICY_IMMEDIATE, LB_QUEUES_SINGLE, "from a single run queue");
    expect(with_cores(4), LB_POLICY_IMMEDIATE, LB_QUEUES_UNKNOWN, "does not tell");
}
END_TEST

/* ---- the seed's figures ---- */

static lb_trace *load(const char *name) {
    char path[4096];
    lb_error err;
    lb_trace *trace;
    snprintf(path, sizeof path, "%s/tests/data/%s.csv", SOURCE_ROOT, name);
    ASSERT_OK(lb_trace_load(path, &trace, &err), err);
    return trace;
}

START_TEST(windows_7_is_lazy) {
    lb_trace *trace = load("windows-7");
    lb_verdict *v = classify(trace);
    ck_assert_int_eq(lb_verdict_policy(v), LB_POLICY_LAZY);
    ASSERT_REASON(v, "when task 11, the last on its core, ended");
    ASSERT_REASON(v, "task 9 sped up");
    lb_verdict_free(v);
    lb_trace_free(trace);
}
END_TEST

START_TEST(linux_2_6_22_is_active) {
    expect(load("linux-2.6.22"), LB_POLICY_ACTIVE, LB_QUEUES_PER_CORE,
           "when task 3 ended at 114.1 s and left a core with 1 to run beside one with 3, tasks 7, "
           "10 and 11 sped up");
}
END_TEST

START_TEST(linux_2_6_31_is_immediate) {
    expect(load("linux-2.6.31"), LB_POLICY_IMMEDIATE, LB_QUEUES_UNKNOWN, "even sharing predicts");
}
END_TEST

/* ---- garbage ---- */

START_TEST(nothing_to_see) {
    expect(new_trace(4), LB_POLICY_UNKNOWN, LB_QUEUES_UNKNOWN, "no units");

    lb_trace *t = new_trace(1);
    TASK(t, 0, {0, 0.5}, {3, 0});
    TASK(t, 1, {0, 0.5}, {3, 1}, {6, 0});
    expect(seal(t), LB_POLICY_UNKNOWN, LB_QUEUES_UNKNOWN, "one core only");

    t = new_trace(4);
    TASK(t, 7, {0, 1}, {3, 0});
    expect(seal(t), LB_POLICY_UNKNOWN, LB_QUEUES_UNKNOWN, "one task only");

    t = new_trace(4);
    TASK(t, 0, {0, 1}, {3, 0});
    TASK(t, 1, {0, 1}, {6, 0});
    expect(seal(t), LB_POLICY_UNKNOWN, LB_QUEUES_UNKNOWN, "2 tasks on 4 cores");

    t = new_trace(2);
    for (uint32_t i = 0; i < 6; i++)
        TASK(t, i, {0, 1. / 3}, {6, 0});
    expect(seal(t), LB_POLICY_UNKNOWN, LB_QUEUES_UNKNOWN, "ended at once, at 6 s");

    t = new_trace(2);
    for (uint32_t i = 0; i < 6; i++)
        TASK(t, i, {i, 1}, {i + 0.5, 0});
    expect(seal(t), LB_POLICY_UNKNOWN, LB_QUEUES_UNKNOWN, "never ran together");

    t = new_trace(2);
    for (uint32_t i = 0; i < 6; i++)
        TASK(t, i, {i == 4 ? 5 : 0, 1. / 3}, {i + 4, 0});
    expect(seal(t), LB_POLICY_UNKNOWN, LB_QUEUES_UNKNOWN, "task 4 began at 5 s");
}
END_TEST

START_TEST(units_of_no_time) {
    lb_trace *t = new_trace(2);
    for (uint32_t task = 0; task < 6; task++)
        for (uint32_t i = 0; i < 3; i++)
            add_unit(t, task, i, task * 0.001 + i * 0.1, task * 0.001 + i * 0.1);
    lb_verdict *v = classify(seal(t));
    ck_assert_int_eq(lb_verdict_policy(v), LB_POLICY_UNKNOWN);
    lb_verdict_free(v);
    lb_trace_free(t);
}
END_TEST

START_TEST(times_at_the_ends_of_the_world) {
    lb_error err;
    lb_trace *t = new_trace(2);
    for (uint32_t task = 0; task < 5; task++) {
        lb_unit unit = {INT64_MIN + task, INT64_MAX - task, -1, task, 0, -1, -1};
        ASSERT_OK(lb_trace_add_unit(t, &unit, &err), err);
    }
    lb_verdict *v = classify(seal(t));
    ck_assert_int_eq(lb_verdict_policy(v), LB_POLICY_UNKNOWN);
    lb_verdict_free(v);
    lb_trace_free(t);
}
END_TEST

/* Durations that have nothing to do with who else runs. */
START_TEST(random_numbers_are_none_of_these) {
    for (uint64_t seed = 0; seed < 60; seed++) {
        lbi_random random;
        lbi_random_seed(&random, seed);
        lb_trace *t = new_trace(2 + (uint32_t)lbi_random_below(&random, 7));
        uint32_t tasks = 3 * lb_trace_cores(t);
        for (uint32_t task = 0; task < tasks; task++) {
            double time = 0;
            uint64_t units = 5 + lbi_random_below(&random, 300);
            for (uint32_t i = 0; i < units; i++) {
                double length = seed % 2 == 0 ? lbi_random_unit(&random)
                                              : lbi_random_exponential(&random, 0.03);
                add_unit(t, task, i, time, time + length);
                time += length;
            }
        }
        lb_verdict *v = classify(seal(t));
        ck_assert_msg(lb_verdict_policy(v) == LB_POLICY_UNKNOWN, "seed %d: policy %d: %s",
                      (int)seed, lb_verdict_policy(v), lb_verdict_reason(v, 0));
        lb_verdict_free(v);
        lb_trace_free(t);
    }
}
END_TEST

/* All begin, and then nothing for as long as the trace lasts. */
START_TEST(frozen_machine) {
    lb_trace *t = new_trace(2);
    for (uint32_t task = 0; task < 6; task++) {
        for (uint32_t i = 0; i < 5; i++)
            add_unit(t, task, i, i * 0.03, (i + 1) * 0.03);
        add_unit(t, task, 5, 0.15, 60 + task);
    }
    lb_verdict *v = classify(seal(t));
    ck_assert_int_eq(lb_verdict_policy(v), LB_POLICY_UNKNOWN);
    lb_verdict_free(v);
    lb_trace_free(t);
}
END_TEST

/* ---- what must not matter ---- */

/* The same trace under other numbers, and with all times shifted. */
START_TEST(numbers_and_origin_do_not_matter) {
    lb_error err;
    lb_trace *a = load("windows-7"), *b = new_trace(4);
    size_t n;
    const lb_unit *units = lb_trace_units(a, &n);
    for (size_t i = 0; i < n; i++) {
        lb_unit unit = units[i];
        unit.task = (unit.task * 7 + 3) % 13 + 100;
        unit.start_ns -= INT64_C(5000000000000);
        unit.end_ns -= INT64_C(5000000000000);
        ASSERT_OK(lb_trace_add_unit(b, &unit, &err), err);
    }
    lb_verdict *v = classify(a), *w = classify(seal(b));
    ck_assert_int_eq(lb_verdict_policy(w), LB_POLICY_LAZY);
    for (int i = LB_POLICY_UNKNOWN; i <= LB_POLICY_IMMEDIATE; i++)
        ck_assert_double_eq_tol(lb_verdict_probability(v, (lb_policy)i),
                                lb_verdict_probability(w, (lb_policy)i), 1e-6);
    lb_verdict_free(v);
    lb_verdict_free(w);
    lb_trace_free(a);
    lb_trace_free(b);
}
END_TEST

START_TEST(the_same_twice) {
    lb_error err;
    lb_trace *trace = load("linux-2.6.22");
    lb_verdict *v = classify(trace), *w = classify(trace);
    char *a, *b;
    ASSERT_OK(lb_verdict_format(v, LB_FORMAT_JSON, &a, &err), err);
    ASSERT_OK(lb_verdict_format(w, LB_FORMAT_JSON, &b, &err), err);
    ck_assert_str_eq(a, b);
    lb_free(a);
    lb_free(b);
    lb_verdict_free(v);
    lb_verdict_free(w);
    lb_trace_free(trace);
}
END_TEST

/* ---- options, formats, models ---- */

START_TEST(options) {
    lb_error err;
    lb_verdict *v = NULL;
    lb_trace *trace = two_cores_lazy();
    lb_classify_options o;
    lb_classify_options_init(&o, sizeof o);
    ck_assert_double_eq(o.confidence, 0.95);
    double bad[] = {0.49, 1, NAN, -1, INFINITY};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        o.confidence = bad[i];
        ASSERT_REFUSED(lb_classify(trace, &o, &v, &err), LB_ERR_INVALID, "confidence", err);
        ck_assert_ptr_null(v);
    }
    o.confidence = 0.5;
    o.size = 4;
    ASSERT_REFUSED(lb_classify(trace, &o, &v, &err), LB_ERR_INVALID, "size", err);
    ck_assert_ptr_null(v);
    /* A confidence that no such trace reaches. */
    o.size = sizeof o;
    o.confidence = 1 - 1e-16;
    ASSERT_OK(lb_classify(trace, &o, &v, &err), err);
    check_sane(v);
    ck_assert_int_eq(lb_verdict_policy(v), LB_POLICY_UNKNOWN);
    /* Then the reasons are not that a moment were missing, but what it shows and how sure it is. */
    ck_assert_ptr_nonnull(strstr(lb_verdict_reason(v, 0), "lazy is probable at 99."));
    ck_assert_ptr_nonnull(strstr(lb_verdict_reason(v, 0), "below the 99.99999999999999 % asked"));
    for (size_t i = 0; i < lb_verdict_reason_count(v); i++)
        ck_assert_ptr_null(strstr(lb_verdict_reason(v, i), "has no such moment"));
    lb_verdict_free(v);
    lb_trace_free(trace);
}
END_TEST

START_TEST(unsealed_is_refused) {
    lb_error err;
    lb_verdict *v = NULL;
    lb_trace *t = new_trace(2);
    add_unit(t, 0, 0, 0, 1);
    ASSERT_REFUSED(lb_classify(t, NULL, &v, &err), LB_ERR_INVALID, "sealed", err);
    ck_assert_ptr_null(v);
    lb_trace_free(t);
}
END_TEST

START_TEST(foreign_load_is_named) {
    lb_error err;
    lb_trace *t = two_cores_lazy();
    ASSERT_OK(lb_trace_set_meta(t, "foreign_cpu_percent", "4.9", &err), err);
    lb_verdict *v = classify(t);
    ck_assert(!has_reason(v, "foreign"));
    lb_verdict_free(v);
    ASSERT_OK(lb_trace_set_meta(t, "foreign_cpu_percent", "12.5", &err), err);
    v = classify(t);
    ASSERT_REASON(v, "foreign_cpu_percent is 12.5");
    lb_verdict_free(v);
    ASSERT_OK(lb_trace_set_meta(t, "foreign_cpu_percent", "much", &err), err);
    v = classify(t);
    ck_assert(!has_reason(v, "foreign"));
    lb_verdict_free(v);
    lb_trace_free(t);
}
END_TEST

/* A trace that its maker calls disturbed leaves the verdict unknown, and says what would be. */
START_TEST(disturbed_is_unknown) {
    lb_error err;
    char *text = NULL;
    lb_trace *t = two_cores_lazy();
    lb_verdict *v = classify(t);
    double before = lb_verdict_probability(v, LB_POLICY_LAZY);
    ck_assert_int_eq(lb_verdict_policy(v), LB_POLICY_LAZY);
    ASSERT_OK(lb_verdict_format(v, LB_FORMAT_JSON, &text, &err), err);
    ck_assert_ptr_nonnull(strstr(text, "\"disturbed\": null"));
    lb_free(text);
    lb_verdict_free(v);
    ASSERT_OK(lb_trace_set_meta(t, "disturbed", "load,,steal,x", &err), err);
    ASSERT_OK(lb_trace_set_meta(t, "finding_run_load", "others used 1 of 2 cores", &err), err);
    ASSERT_OK(lb_trace_set_meta(t, "attempts", "3", &err), err);
    lb_classify_options o;
    lb_classify_options_init(&o, sizeof o);
    o.confidence = 0.5;
    ASSERT_OK(lb_classify(t, &o, &v, &err), err);
    check_sane(v);
    ck_assert_int_eq(lb_verdict_policy(v), LB_POLICY_UNKNOWN);
    ck_assert_int_eq(lb_verdict_queues(v), LB_QUEUES_UNKNOWN);
    ck_assert_double_lt(lb_verdict_probability(v, LB_POLICY_LAZY), before / 2);
    ck_assert_str_eq(lb_verdict_reason(v, 1), "others used 1 of 2 cores");
    ck_assert_ptr_nonnull(strstr(lb_verdict_reason(v, 0), "disturbed (load,,steal,x)"));
    ck_assert_ptr_nonnull(strstr(lb_verdict_reason(v, 0), "so were all of 3 attempts"));
    ck_assert_ptr_nonnull(strstr(lb_verdict_reason(v, 0), "they look like lazy (99."));
    lb_model *model = NULL;
    ASSERT_REFUSED(lb_verdict_model(v, &model, &err), LB_ERR_UNSUPPORTED, "unknown", err);
    ASSERT_OK(lb_verdict_format(v, LB_FORMAT_JSON, &text, &err), err);
    ck_assert_ptr_nonnull(strstr(text, "\"disturbed\": \"load,,steal,x\""));
    lb_free(text);
    lb_verdict_free(v);
    lb_status status;
    size_t count;
    SWEEP_ALLOCATIONS(status, count, {
        v = NULL;
        status = lb_classify(t, NULL, &v, NULL);
        lb_verdict_free(v);
    });
    ck_assert_uint_ge(count, 10);
    lb_trace_free(t);
}
END_TEST

START_TEST(formats) {
    lb_error err;
    char *text = NULL, *comma;
    lb_trace *t = two_cores_lazy();
    lb_verdict *v = classify(t);
    ASSERT_OK(lb_verdict_format(v, LB_FORMAT_TEXT, &text, &err), err);
    ck_assert_ptr_nonnull(strstr(text, "Balancing policy: lazy"));
    ck_assert_ptr_nonnull(strstr(text, "Because:\n- "));
    lb_free(text);
    ASSERT_OK(lb_verdict_format(v, LB_FORMAT_JSON, &text, &err), err);
    ck_assert_int_eq(
        strncmp(text, "{\"lbsched_verdict\": 1, \"policy\": \"lazy\", \"probabilities\": {", 59),
        0);
    ck_assert_ptr_nonnull(strstr(text, "\"queues\": \"per_core\""));
    ck_assert_ptr_nonnull(strstr(text, "\"rotation_time_s\": null"));
    /* A comma as the decimal point changes nothing. */
    if (setlocale(LC_ALL, "de_DE.UTF-8") != NULL) {
        lb_verdict *w = classify(t);
        ASSERT_OK(lb_verdict_format(w, LB_FORMAT_JSON, &comma, &err), err);
        setlocale(LC_ALL, "C");
        ck_assert_str_eq(text, comma);
        lb_free(comma);
        lb_verdict_free(w);
    }
    lb_free(text);
    text = NULL;
    ASSERT_REFUSED(lb_verdict_format(v, LB_FORMAT_CSV, &text, &err), LB_ERR_INVALID, "format", err);
    ck_assert_ptr_null(text);
    lb_verdict_free(v);
    lb_trace_free(t);
}
END_TEST

START_TEST(models) {
    lb_error err;
    lb_model *model = NULL;
    lb_trace *t = two_cores_lazy();
    lb_verdict *v = classify(t);
    ASSERT_OK(lb_verdict_model(v, &model, &err), err);
    ck_assert_uint_eq(lb_model_cores(model), 2);
    ck_assert_int_eq(lb_model_policy(model), LB_POLICY_LAZY);
    lb_model_free(model);
    lb_verdict_free(v);
    lb_trace_free(t);

    model = NULL;
    t = new_trace(2);
    v = classify(t);
    ASSERT_REFUSED(lb_verdict_model(v, &model, &err), LB_ERR_UNSUPPORTED, "unknown", err);
    ck_assert_ptr_null(model);
    lb_verdict_free(v);
    lb_trace_free(t);

    /* An immediate verdict's model predicts, rotation or not. */
    t = load("linux-2.6.31");
    v = classify(t);
    ASSERT_OK(lb_verdict_model(v, &model, &err), err);
    lb_workload *w;
    lb_duration d[5];
    double works[] = {1, 1, 1, 1, 1};
    ASSERT_OK(lb_workload_new(&w, &err), err);
    ASSERT_OK(lb_workload_add_many(w, works, 5, NULL, &err), err);
    ASSERT_OK(lb_model_durations(model, w, NULL, d, &err), err);
    ck_assert_double_eq_tol(d[0].mean, 1.25, 0.1);
    lb_workload_free(w);
    lb_model_free(model);
    lb_verdict_free(v);
    lb_trace_free(t);
}
END_TEST

START_TEST(memory_runs_out) {
    lb_error err;
    lb_status status;
    size_t failures;
    lb_trace *t = load("linux-2.6.22");
    bool untouched = true;
    SWEEP_ALLOCATIONS(status, failures, {
        lb_verdict *v = NULL;
        status = lb_classify(t, NULL, &v, &err);
        untouched = untouched && (status == LB_OK) == (v != NULL);
        lb_verdict_free(v);
    });
    ck_assert(untouched);
    ck_assert_uint_gt(failures, 30);
    lb_verdict *v = classify(t);
    SWEEP_ALLOCATIONS(status, failures, {
        char *text = NULL;
        status = lb_verdict_format(v, LB_FORMAT_JSON, &text, &err);
        lb_free(text);
    });
    ck_assert_uint_ge(failures, 1);
    SWEEP_ALLOCATIONS(status, failures, {
        lb_model *model = NULL;
        status = lb_verdict_model(v, &model, &err);
        lb_model_free(model);
    });
    ck_assert_uint_ge(failures, 1);
    lb_verdict_free(v);
    lb_trace_free(t);
    lb_trace *empty = new_trace(2);
    SWEEP_ALLOCATIONS(status, failures, {
        v = NULL;
        status = lb_classify(empty, NULL, &v, &err);
        lb_verdict_free(v);
    });
    ck_assert_uint_ge(failures, 2);
    lb_trace_free(empty);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("classify");
    ADD(s, "by hand", lazy_by_hand, none_by_hand, active_by_hand, immediate_by_hand,
        two_tasks_a_core_cannot_tell_lazy_from_active, missing_moments_are_named);
    ADD(s, "queues", cores_tell_the_queues);
    ADD(s, "figures", windows_7_is_lazy, linux_2_6_22_is_active, linux_2_6_31_is_immediate);
    ADD(s, "garbage", nothing_to_see, units_of_no_time, times_at_the_ends_of_the_world,
        random_numbers_are_none_of_these, frozen_machine);
    ADD(s, "invariance", numbers_and_origin_do_not_matter, the_same_twice);
    ADD(s, "interface", options, unsealed_is_refused, foreign_load_is_named, disturbed_is_unknown,
        formats, models, memory_runs_out);
    return s;
}
