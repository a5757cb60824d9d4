/* SPDX-License-Identifier: BSD-3-Clause */
/* What is found about a run, from files that change in mid-run as each test wants it. */
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "experiment/autogroup.h"
#include "experiment/culprits.h"
#include "experiment/monitor.h"
#include "harness.h"
#include "tree.h"

static lb_error err;
static uint32_t numbers[] = {0, 2};
static lb_host machine = {.cores = 2, .physical_cores = 2, .cpus = numbers, .quota = INFINITY};
static const lbi_class other = {.policy = SCHED_OTHER};
static const lbi_class rr = {.policy = SCHED_RR, .priority = 1, .real_time = true};

static void begin(lbi_monitor *m, const lbi_class *class_) {
    ck_assert(lbi_monitor_begin(m, tree_root, &machine, class_));
    ck_assert(lbi_monitor_origin(m));
    /* As if it ran for ten seconds. */
    m->begin_ns -= INT64_C(10000000000);
    m->origin_ns -= INT64_C(10000000000);
}

static void finish(lbi_monitor *m, double foreign) {
    ck_assert(lbi_monitor_finish(m, 6, foreign));
}

#define ASSERT_FINDING(m_, kind_, words_)                                                          \
    do {                                                                                           \
        const char *text_ = lbi_findings_text(&(m_)->findings, kind_);                             \
        ck_assert_msg(text_ != NULL, "no finding of kind %s", lb_finding_name(kind_));             \
        ck_assert_msg(strstr(text_, words_) != NULL, "\"%s\" lacks \"%s\"", text_, words_);        \
    } while (0)

static bool disturbed_by(const lbi_monitor *m, lb_finding_kind kind) {
    return (m->disturbed >> kind & 1) != 0;
}

static void put_stat(unsigned steal) {
    char text[256];
    snprintf(text, sizeof text,
             "cpu 1 1 1 1 1 1 1 1\ncpu0 %u 0 0 0 0 0 0 %u\ncpu1 0 0 0 0 0 0 0 9999\n"
             "cpu2 %u 0 0 0 0 0 0 %u\n",
             1000 - steal, steal, 1000 - steal, steal);
    tree_put("/proc/stat", text);
}

START_TEST(nothing) {
    tree_begin();
    lbi_monitor m;
    begin(&m, &other);
    finish(&m, 0.0199);
    ck_assert_uint_eq(m.findings.count, 0);
    ck_assert_uint_eq(m.disturbed, 0);
    ck_assert(isnan(m.steal_percent));
    lbi_monitor_end(&m);
    begin(&m, &other);
    finish(&m, NAN);
    ASSERT_FINDING(&m, LB_FINDING_UNMEASURED, "does not tell");
    ck_assert_uint_eq(m.disturbed, 0);
    lbi_monitor_end(&m);
    tree_end();
}
END_TEST

START_TEST(throttled) {
    tree_begin();
    tree_put("/proc/self/cgroup", "4:cpu:/a\n0::/b\n");
    tree_put("/proc/self/mountinfo", "1 1 0:1 / /one rw - cgroup c rw,cpu\n"
                                     "2 1 0:2 / /two rw - cgroup2 c rw\n");
    tree_put("/one/a/cpu.stat", "nr_periods 90\nnr_throttled 10\nthrottled_time 5000000000\n");
    tree_put("/two/b/cpu.stat", "usage_usec 1\nnr_throttled 7\nthrottled_usec 4000000\n");
    lbi_monitor m;
    begin(&m, &other);
    finish(&m, 0);
    ck_assert_uint_eq(m.findings.count, 0);
    ck_assert_double_eq(m.throttled_percent, 0);
    lbi_monitor_end(&m);
    /* A second of each, of 20 s that two cores had. */
    begin(&m, &other);
    tree_put("/one/a/cpu.stat", "nr_periods 99\nnr_throttled 12\nthrottled_time 6000000000\n");
    tree_put("/two/b/cpu.stat", "usage_usec 2\nnr_throttled 8\nthrottled_usec 5000000\n");
    finish(&m, 0);
    ASSERT_FINDING(&m, LB_FINDING_THROTTLED, "in 3 periods, for 2 s of the cores' time (10 %)");
    ck_assert(disturbed_by(&m, LB_FINDING_THROTTLED));
    lbi_monitor_end(&m);
    /* For next to no time: told, and no harm. */
    begin(&m, &other);
    tree_put("/one/a/cpu.stat", "nr_periods 99\nnr_throttled 13\nthrottled_time 6100000000\n");
    finish(&m, 0);
    ASSERT_FINDING(&m, LB_FINDING_THROTTLED, "in 1 periods");
    ck_assert(!disturbed_by(&m, LB_FINDING_THROTTLED));
    lbi_monitor_end(&m);
    /* A counter that falls, or goes. */
    begin(&m, &other);
    tree_put("/one/a/cpu.stat", "nr_throttled 1\n");
    tree_put("/two/b/cpu.stat", "");
    finish(&m, 0);
    ck_assert_uint_eq(m.findings.count, 0);
    lbi_monitor_end(&m);
    tree_end();
}
END_TEST

START_TEST(stolen) {
    static const struct {
        unsigned steal;
        bool told, disturbs;
    } cases[] = {{0, false, false}, {9, false, false}, {30, true, false}, {60, true, true}};
    tree_begin();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lbi_monitor m;
        tree_put("/proc/stat", "cpu0 0 0 0 0 0 0 0 0\ncpu2 0 0 0 0 0 0 0 0\n");
        begin(&m, &other);
        put_stat(cases[i].steal);
        /* Stolen time is in the foreign part, and nobody's here. */
        finish(&m, cases[i].steal / 1000.0);
        ck_assert_double_eq_tol(m.steal_percent, cases[i].steal / 10.0, 1e-9);
        ck_assert_uint_eq(m.findings.count, cases[i].told ? 1 : 0);
        ck_assert(disturbed_by(&m, LB_FINDING_STEAL) == cases[i].disturbs);
        ck_assert(!disturbed_by(&m, LB_FINDING_LOAD));
        lbi_monitor_end(&m);
    }
    /* A core that has gone from the file. */
    lbi_monitor m;
    begin(&m, &other);
    tree_put("/proc/stat", "cpu0 0 0 0 0 0 0 0 500\n");
    finish(&m, 0);
    ck_assert(isnan(m.steal_percent));
    lbi_monitor_end(&m);
    tree_end();
}
END_TEST

START_TEST(hotplug) {
    tree_begin();
    tree_put("/sys/devices/system/cpu/online", "0-2\n");
    lbi_monitor m;
    begin(&m, &other);
    lbi_monitor_look(&m);
    tree_put("/sys/devices/system/cpu/online", "0-1\n");
    lbi_monitor_look(&m);
    /* Back again at the end, but it was away. */
    tree_put("/sys/devices/system/cpu/online", "0-2\n");
    lbi_monitor_look(&m);
    finish(&m, 0);
    ASSERT_FINDING(&m, LB_FINDING_HOTPLUG, "were 0-2 and became 0-1 during");
    ck_assert(disturbed_by(&m, LB_FINDING_HOTPLUG));
    lbi_monitor_end(&m);
    begin(&m, &other);
    unlink_file("/sys/devices/system/cpu/online");
    finish(&m, 0);
    ck_assert_uint_eq(m.findings.count, 0);
    lbi_monitor_end(&m);
    tree_end();
}
END_TEST

/* user is `ticks`, and `reaped` is what children left that were waited for. */
static void put_process(int id, const char *name, int parent, int session, unsigned start,
                        unsigned ticks, unsigned reaped) {
    char path[64], text[256];
    snprintf(path, sizeof path, "/proc/%d/stat", id);
    snprintf(text, sizeof text, "%d (%s) S %d 1 %d 0 -1 0 0 0 0 0 %u 0 %u 0 20 0 1 0 %u 1 1", id,
             name, parent, session, ticks, reaped, start);
    tree_put(path, text);
}

static unsigned ticks_of(double seconds) {
    return (unsigned)(seconds * (double)sysconf(_SC_CLK_TCK));
}

START_TEST(load) {
    tree_begin();
    tree_put("/proc/sys/kernel/sched_autogroup_enabled", "1\n");
    put_process(10, "burn", 1, 10, 5, ticks_of(100), 0);
    put_process(11, "make", 1, 11, 5, 0, ticks_of(50));
    put_process(12, "cc1", 11, 11, 6, ticks_of(7), 0);
    put_process(13, "mail", 1, 13, 5, 0, 0);
    put_process(14, "gone", 99, 14, 5, ticks_of(5), 0);
    lbi_monitor m;
    begin(&m, &other);
    /* One burns; a child of another ended and left it 7 s of before and 4 s of since; a third
     * hardly runs; a number was given anew; what this process reaped were its workers. */
    put_process(10, "burn", 1, 10, 5, ticks_of(109), 0);
    put_process(11, "make", 1, 11, 5, 0, ticks_of(61));
    unlink_file("/proc/12/stat");
    put_process(13, "mail", 1, 13, 5, ticks_of(0.1), 0);
    put_process(14, "new", 1, 14, 900, ticks_of(1), 0);
    put_process((int)getpid(), "self", 1, 15, 5, 0, ticks_of(500));
    finish(&m, 0.5);
    ASSERT_FINDING(&m, LB_FINDING_LOAD, "others used 1 of 2 cores (50 %)");
    ASSERT_FINDING(&m, LB_FINDING_LOAD,
                   ": burn (process 10) 0.9, make (process 11) 0.4, new (process 14) 0.1; rates");
    ck_assert(disturbed_by(&m, LB_FINDING_LOAD));
    ASSERT_FINDING(&m, LB_FINDING_AUTOGROUP,
                   "against each of 2 other busy sessions: that left them 1 of 2 cores, where "
                   "counted by process 6 workers beside 2 would have had 1.5");
    lbi_monitor_end(&m);
    tree_end();
}
END_TEST

/* A process that is always there is one in somebody's list, however many cores there are. */
START_TEST(load_of_one) {
    tree_begin();
    lbi_monitor m;
    put_process(10, "burn", 1, 10, 5, 0, 0);
    begin(&m, &other);
    put_process(10, "burn", 1, 10, 5, ticks_of(2.6), 0);
    finish(&m, 0.004);
    ASSERT_FINDING(&m, LB_FINDING_LOAD, "burn (process 10) 0.26");
    ck_assert(disturbed_by(&m, LB_FINDING_LOAD));
    ck_assert_ptr_null(lbi_findings_text(&m.findings, LB_FINDING_AUTOGROUP));
    lbi_monitor_end(&m);
    /* A real-time class passes over it, .. */
    put_process(10, "burn", 1, 10, 5, 0, 0);
    begin(&m, &rr);
    put_process(10, "burn", 1, 10, 5, ticks_of(2.6), 0);
    finish(&m, 0.05);
    ASSERT_FINDING(&m, LB_FINDING_LOAD, "(5 %)");
    ck_assert_uint_eq(m.disturbed, 0);
    lbi_monitor_end(&m);
    /* .. but not over what takes so much. */
    begin(&m, &rr);
    finish(&m, 0.11);
    ck_assert(disturbed_by(&m, LB_FINDING_LOAD));
    lbi_monitor_end(&m);
    tree_end();
}
END_TEST

START_TEST(real_time) {
    tree_begin();
    tree_put("/proc/sys/kernel/sched_rt_period_us", "1000000\n");
    tree_put("/proc/sys/kernel/sched_rt_runtime_us", "900000\n");
    lbi_monitor m;
    begin(&m, &other);
    finish(&m, 0);
    ck_assert_uint_eq(m.findings.count, 0);
    lbi_monitor_end(&m);
    begin(&m, &rr);
    finish(&m, 0);
    ASSERT_FINDING(&m, LB_FINDING_REAL_TIME, "90 % of a core at most");
    ck_assert_uint_eq(m.disturbed, 0);
    lbi_monitor_end(&m);
    tree_end();
}
END_TEST

START_TEST(speeds) {
    tree_begin();
    lbi_monitor m;
    static const double equal[] = {20e-6, 20.9e-6}, unequal[] = {30e-6, 20e-6};
    begin(&m, &other);
    ck_assert(lbi_monitor_calibrated(&m, equal));
    finish(&m, 0);
    ck_assert_uint_eq(m.findings.count, 0);
    lbi_monitor_end(&m);
    begin(&m, &other);
    ck_assert(lbi_monitor_calibrated(&m, unequal));
    finish(&m, 0);
    ASSERT_FINDING(&m, LB_FINDING_SPEEDS,
                   "core 0 (CPU 0) was measured to work at 0.667 of the speed of core 1 (CPU 2)");
    ck_assert_uint_eq(m.disturbed, 0);
    lbi_monitor_end(&m);
    tree_end();
}
END_TEST

static lb_trace *drifted(const char *percent) {
    lb_trace *trace = NULL;
    ASSERT_OK(lb_trace_new(2, &trace, &err), err);
    ASSERT_OK(lb_trace_set_meta(trace, "work_drift_percent", percent, &err), err);
    ASSERT_OK(lb_trace_seal(trace, &err), err);
    return trace;
}

START_TEST(drift) {
    tree_begin();
    lbi_monitor m;
    begin(&m, &other);
    finish(&m, 0);
    lb_trace *trace = drifted("-4.90");
    ASSERT_OK(lbi_monitor_describe(&m, trace, &err), err);
    ck_assert_ptr_null(lb_trace_meta(trace, "finding_run_drift"));
    lb_trace_free(trace);
    trace = drifted("37.0");
    ASSERT_OK(lbi_monitor_describe(&m, trace, &err), err);
    ck_assert_ptr_nonnull(strstr(lb_trace_meta(trace, "finding_run_drift"), "took 1.37 times"));
    ck_assert_ptr_null(lb_trace_meta(trace, "disturbed"));
    lb_trace_free(trace);
    trace = drifted("far");
    ASSERT_OK(lbi_monitor_describe(&m, trace, &err), err);
    ck_assert_ptr_null(lb_trace_meta(trace, "finding_run_drift"));
    lb_trace_free(trace);
    lbi_monitor_end(&m);
    tree_end();
}
END_TEST

START_TEST(described) {
    tree_begin();
    lbi_monitor m;
    lbi_text text = {0};
    static const double times[] = {30e-6, 20e-6};
    lbi_text_string(&text, "a sentence");
    ck_assert(lbi_findings_add(&machine.findings, LB_FINDING_SMT, &text));
    machine.quota = 1.5;
    tree_put("/proc/stat", "cpu0 0 0 0 0 0 0 0 0\ncpu2 0 0 0 0 0 0 0 0\n");
    begin(&m, &other);
    ck_assert(lbi_monitor_calibrated(&m, times));
    put_stat(100);
    finish(&m, 0.5);
    lb_trace *trace = drifted(NULL);
    ASSERT_OK(lbi_monitor_describe(&m, trace, &err), err);
    ck_assert_str_eq(lb_trace_meta(trace, "finding_host_smt"), "a sentence");
    ck_assert_ptr_nonnull(lb_trace_meta(trace, "finding_run_steal"));
    ck_assert_ptr_nonnull(lb_trace_meta(trace, "finding_run_load"));
    ck_assert_ptr_nonnull(lb_trace_meta(trace, "finding_run_speeds"));
    ck_assert_str_eq(lb_trace_meta(trace, "disturbed"), "load,steal");
    ck_assert_str_eq(lb_trace_meta(trace, "core_speeds"), "0.667,1");
    ck_assert_str_eq(lb_trace_meta(trace, "quota_cpus"), "1.5");
    ck_assert_str_eq(lb_trace_meta(trace, "steal_percent"), "10");
    /* It is as sealed as it was, and reads back. */
    char *form = NULL;
    ASSERT_OK(lb_trace_format(trace, LB_TRACE_CSV, &form, NULL, &err), err);
    lb_free(form);
    /* What is found, written and given back: every allocation fails once. */
    lb_status status;
    size_t count;
    lbi_monitor_end(&m);
    SWEEP_ALLOCATIONS(status, count, {
        bool ok = lbi_monitor_begin(&m, tree_root, &machine, &other) &&
                  lbi_monitor_calibrated(&m, times) && lbi_monitor_origin(&m) &&
                  lbi_monitor_finish(&m, 6, 0.5);
        status = ok ? lbi_monitor_describe(&m, trace, NULL) : LB_ERR_NOMEM;
        lbi_monitor_end(&m);
    });
    ck_assert_uint_ge(count, 10);
    lb_trace_free(trace);
    lbi_findings_free(&machine.findings);
    machine.quota = INFINITY;
    tree_end();
}
END_TEST

START_TEST(shares) {
    lbi_session sessions[] = {{1, 20}, {2, 1}, {3, 0.2}};
    ck_assert_double_eq(lbi_fair_share(2, NULL, 0), 2);
    ck_assert_double_eq_tol(lbi_fair_share(8, sessions, 3), (8 - 1.2) / 2, 1e-12);
    lbi_session one[] = {{1, 1}};
    ck_assert_double_eq(lbi_fair_share(2, one, 1), 1);
    ck_assert_double_eq(lbi_fair_share(1, one, 1), 0.5);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("monitor");
    ADD(s, "monitor", nothing, throttled, stolen, hotplug, load, load_of_one, real_time, speeds,
        drift, described, shares);
    return s;
}
