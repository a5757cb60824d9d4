/* SPDX-License-Identifier: BSD-3-Clause */
/* lb_experiment_weights(), for real and short. What it measures is held against the truth in
 * tests/truth/weights.c. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <math.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "harness.h"

static lb_host *two_cores(void) {
    lb_host *host;
    if (lb_host_open(NULL, &host, NULL) != LB_OK || lb_host_cores(host) < 2) {
        printf("skipped: fewer than two cores\n");
        exit(0);
    }
    return host;
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
    lb_host *host = two_cores();
    lb_weights_options o = brief(both, 2);
    double last = 0, cores = lb_host_cores(host);
    lb_table *t;
    o.repeats = 2;
    o.progress = rising;
    o.progress_user = &last;
    ASSERT_OK(lb_experiment_weights(host, &o, &t, &err), err);
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
        /* Nobody can have more than there is; a soaker has less than the normal task. */
        ck_assert(work > 0 && work <= 100 * cores * 1.02);
        ck_assert_double_gt(lb_table_get(t, i, "normal_percent"),
                            lb_table_get(t, i, "soaker_percent"));
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
    lb_host *host = two_cores();
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

/* Forbids SCHED_IDLE to this process. */
static bool forbid_idle(void) {
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sched_setscheduler, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SCHED_IDLE, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof code / sizeof *code, code};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

START_TEST(without_the_right) {
    lb_error err;
    lb_host *host = two_cores();
    lb_weights_options o = brief(both, 2);
    lb_table *t;
    if (!forbid_idle()) {
        printf("skipped: no seccomp filter can be had\n");
        return;
    }
    ASSERT_OK(lb_experiment_weights(host, &o, &t, &err), err);
    ck_assert(isfinite(lb_table_get(t, 0, "idle_percent")));
    ck_assert(isnan(lb_table_get(t, 1, "idle_percent")));
    ck_assert(isnan(lb_table_get(t, 1, "disturbed")));
    ck_assert_double_eq(lb_table_get(t, 1, "weight_ratio"), LB_WEIGHT_IDLE);
    const char *finding = lb_table_meta(t, "finding_not_measured");
    ck_assert_ptr_nonnull(finding);
    ck_assert_ptr_nonnull(strstr(finding, "idle ("));
    ck_assert_ptr_null(strstr(finding, "nice 19"));
    lb_table_free(t);
    lb_host_free(host);
}
END_TEST

START_TEST(no_memory) {
    lb_host *host = two_cores();
    lb_weights_options o = brief(both, 1);
    o.seconds = 0.2;
    int count;
    lb_status status;
    SWEEP_ALLOCATIONS(status, count, {
        lb_table *t = NULL;
        status = lb_experiment_weights(host, &o, &t, NULL);
        lb_table_free(t);
    });
    printf("%d allocations failed\n", count);
    ck_assert_int_gt(count, 10);
    lb_host_free(host);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("weights_run");
    ADD(s, "weights", measures, cancelled, without_the_right, no_memory);
    return s;
}
