/* SPDX-License-Identifier: BSD-3-Clause */
/* lb_experiment_weights(), for real and short. What it measures is held against the truth in
 * tests/truth/weights.c. */
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "harness.h"
#include "surroundings.h"

/* The class that the system refuses to give (--wrap in meson.build), as a security policy may;
 * workers inherit it. */
static bool refuses_idle;
static int refused_nice;

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);

static bool refuses(long number, long second) {
    struct {
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
    } wanted;
    if (number != SYS_sched_setattr)
        return false;
    memcpy(&wanted, (const void *)second, sizeof wanted);
    return (refuses_idle && wanted.policy == SCHED_IDLE) ||
           (refused_nice != 0 && wanted.nice == refused_nice);
}

/* It reads as many arguments as a call may have, also those that were not passed. */
__attribute__((no_sanitize_address)) long __wrap_syscall(long number, ...) {
    va_list list;
    long a[6];
    va_start(list, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(list, long);
    va_end(list);
    if (refuses(number, a[1])) {
        errno = EPERM;
        return -1;
    }
    return __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

static lb_weights_options brief(const int32_t *levels, size_t n) {
    lb_weights_options o;
    lb_weights_options_init(&o, sizeof o);
    o.levels = levels;
    o.level_count = n;
    o.repeats = 1;
    o.seconds = 0.3;
    return o;
}

static const int32_t both[] = {19, LB_LEVEL_IDLE};

static int rising(void *user, double fraction) {
    double *last = user;
    ck_assert(fraction >= *last && fraction <= 1);
    *last = fraction;
    return 0;
}

START_TEST(measures) {
    lb_error err;
    lb_host *host = open_two_cores();
    lb_weights_options o = brief(both, 2);
    double last = 0, cores = lb_host_cores(host);
    lb_table *t;
    o.repeats = 2;
    o.progress = rising;
    o.progress_user = &last;
    moment begin = moment_now();
    lb_status status = lb_experiment_weights(host, &o, &t, &err);
    if (timed_out_beside_others(status, &begin))
        return;
    ASSERT_STATUS(status, LB_OK, err);
    ck_assert_double_gt(last, 0.5);
    ck_assert_uint_eq(lb_table_rows(t), 2);
    ck_assert_str_eq(lb_table_label(t, 0), "nice 19");
    ck_assert_str_eq(lb_table_label(t, 1), "idle");
    ck_assert_ptr_null(lb_table_meta(t, "finding_not_measured"));
    for (size_t i = 0; i < 2; i++) {
        const char *parts[] = {"idle_percent", "user", "nice",    "system",
                               "iowait",       "irq",  "softirq", "steal"};
        double sum = 0, work = lb_table_get(t, i, "normal_percent") +
                               cores * lb_table_get(t, i, "soaker_percent");
        for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
            sum += lb_table_get(t, i, parts[k]);
        ck_assert_double_eq_tol(sum, 100, 1e-6);
        ck_assert_double_gt(work, 0);
        /* Nobody can have more than there is; a soaker has less than the normal task. Clocks are
         * read one after another, and the machine may be away in between. */
        bool held = work <= 100 * cores * 1.02 &&
                    lb_table_get(t, i, "normal_percent") > lb_table_get(t, i, "soaker_percent");
        if (!missed_beside_others(held, "the shares were not as the weights", &begin))
            ck_assert(held);
        ck_assert(isfinite(lb_table_get(t, i, "idle_waiting_percent")));
        ck_assert(isfinite(lb_table_get(t, i, "control_idle_percent")));
    }
    lb_table_free(t);
    lb_host_free(host);
}
END_TEST

static int stop(void *user, double fraction) {
    (void)user;
    return fraction > 0.3;
}

START_TEST(cancelled) {
    lb_error err;
    lb_host *host = open_two_cores();
    lb_weights_options o = brief(both, 2);
    lb_table *t = NULL;
    o.progress = stop;
    ASSERT_REFUSED(lb_experiment_weights(host, &o, &t, &err), LB_ERR_CANCELLED, "progress", err);
    ck_assert_ptr_null(t);
    o.normal_tasks = 4096;
    ASSERT_REFUSED(lb_experiment_weights(host, &o, &t, &err), LB_ERR_INVALID, "normal_tasks", err);
    lb_host_free(host);
}
END_TEST

/* A process of nice 5 that may not go back to 0, where the normal task belongs: nothing can be
 * measured, and that is said, not an error. */
static bool give_up_the_right(void) {
    struct rlimit none = {0, 0};
    return setpriority(PRIO_PROCESS, 0, 5) == 0 && setrlimit(RLIMIT_NICE, &none) == 0 &&
           (getuid() != 0 || setresuid(65534, 65534, 65534) == 0);
}

START_TEST(without_the_right) {
    lb_error err;
    lb_host *host = open_two_cores();
    lb_weights_options o = brief(both, 2);
    lb_table *t;
    moment begin = moment_now();
    if (!give_up_the_right()) {
        printf("skipped: the user cannot be changed\n");
        return;
    }
    lb_status status = lb_experiment_weights(host, &o, &t, &err);
    if (timed_out_beside_others(status, &begin))
        return;
    ASSERT_STATUS(status, LB_OK, err);
    for (size_t i = 0; i < 2; i++) {
        ck_assert(isnan(lb_table_get(t, i, "idle_percent")));
        ck_assert(isnan(lb_table_get(t, i, "normal_percent")));
        ck_assert(isnan(lb_table_get(t, i, "disturbed")));
        ck_assert(isfinite(lb_table_get(t, i, "ideal_normal_percent")));
    }
    ck_assert_double_eq(lb_table_get(t, 1, "weight_ratio"), LB_WEIGHT_IDLE);
    const char *finding = lb_table_meta(t, "finding_not_measured");
    ck_assert_ptr_nonnull(finding);
    ck_assert_ptr_nonnull(strstr(finding, "nice 19 ("));
    ck_assert_ptr_nonnull(strstr(finding, "idle ("));
    lb_table_free(t);
    lb_host_free(host);
}
END_TEST

static void assert_unmeasured(const lb_table *t, size_t row, bool unmeasured) {
    static const char *const measured[] = {"idle_percent",   "idle_stddev",     "user",
                                           "normal_percent", "foreign_percent", "disturbed"};
    for (size_t i = 0; i < sizeof measured / sizeof *measured; i++)
        ck_assert_int_eq(isnan(lb_table_get(t, row, measured[i])) != 0, unmeasured);
    ck_assert(isfinite(lb_table_get(t, row, "ideal_normal_percent")));
    ck_assert(isfinite(lb_table_get(t, row, "weight_ratio")));
}

/* What can be had is measured, and what cannot is named, once however often it was asked for. */
START_TEST(some_refused) {
    static const int32_t levels[] = {10, LB_LEVEL_IDLE, 19};
    lb_error err;
    lb_host *host = open_two_cores();
    lb_weights_options o = brief(levels, 3);
    o.repeats = 2;
    o.seconds = 0.2;
    lb_table *t;
    refuses_idle = true;
    refused_nice = 10;
    moment begin = moment_now();
    lb_status status = lb_experiment_weights(host, &o, &t, &err);
    if (timed_out_beside_others(status, &begin))
        return;
    ASSERT_STATUS(status, LB_OK, err);
    assert_unmeasured(t, 0, true);
    assert_unmeasured(t, 1, true);
    assert_unmeasured(t, 2, false);
    const char *finding = lb_table_meta(t, "finding_not_measured");
    ck_assert_ptr_nonnull(finding);
    const char *nice = strstr(finding, "nice 10 ("), *idle = strstr(finding, "idle (");
    ck_assert(nice != NULL && idle != NULL);
    ck_assert_ptr_null(strstr(nice + 1, "nice 10 ("));
    ck_assert_ptr_null(strstr(idle + 1, "idle ("));
    ck_assert_ptr_null(strstr(finding, "nice 19"));
    lb_table_free(t);
    lb_host_free(host);
}
END_TEST

/* The first ones are before any waiting. After that each run takes most of a second, and only every
 * twenty-fifth is failed, unless there is time (LBSCHED_LONG). */
START_TEST(no_memory) {
    static const int32_t level = 0; /* low weights get nowhere beside other load */
    enum {
        QUICK = 40
    };
    size_t step = getenv("LBSCHED_LONG") != NULL ? 1 : 25;
    lb_host *host = open_two_cores();
    lb_weights_options o = brief(&level, 1);
    o.seconds = 0.2;
    int failed = 0;
    bool fired = true;
    for (size_t n = 1; fired; n += n < QUICK ? 1 : step) {
        lb_table *t = NULL;
        moment begin = moment_now();
        long live = faults_live();
        faults_arm(n);
        lb_status status = lb_experiment_weights(host, &o, &t, NULL);
        fired = faults_fired();
        lb_table_free(t);
        ck_assert_int_eq(faults_live(), live);
        if (timed_out_beside_others(status, &begin))
            return;
        ck_assert_int_eq(status, fired ? LB_ERR_NOMEM : LB_OK);
        failed += fired;
    }
    ck_assert_int_gt(failed, QUICK);
    lb_host_free(host);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("weights_run");
    ADD(s, "weights", measures, cancelled, without_the_right, some_refused, no_memory);
    return s;
}
