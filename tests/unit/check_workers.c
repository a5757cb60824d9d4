/* SPDX-License-Identifier: BSD-3-Clause */
/* What workers can be: processes or threads, of any class, few or thousands. */
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "experiment/crew.h"
#include "harness.h"
#include "surroundings.h"

static lb_host *host;
static lb_error err;

static lb_experiment_options tiny(void) {
    lb_experiment_options options;
    lb_experiment_options_init(&options, sizeof options);
    options.unit_work = 0.001;
    options.budget = 2; /* calibration takes a hundredth */
    return options;
}

static lb_workload *equal_works(double work, size_t n) {
    lb_workload *workload = NULL;
    ASSERT_OK(lb_workload_new(&workload, &err), err);
    for (size_t i = 0; i < n; i++)
        ASSERT_OK(lb_workload_add(workload, work, NULL, &err), err);
    return workload;
}

static double seconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static double used(const lb_trace *trace) {
    size_t n;
    double sum = 0;
    const lb_unit *units = lb_trace_units(trace, &n);
    for (size_t i = 0; i < n; i++)
        sum += (double)units[i].cpu_ns / 1e9;
    return sum;
}

/* Runs `n` works of so much, and leaves all as it was. */
static lb_trace *run(const lb_experiment_options *options, double work, uint32_t n) {
    surroundings before;
    lb_workload *workload = equal_works(work, n);
    lb_trace *trace = NULL;
    look_around(&before);
    ASSERT_OK(run_patiently(host, workload, options, &trace, &err), err);
    assert_unchanged(&before);
    assert_childless();
    ck_assert_uint_eq(lb_trace_tasks(trace), n);
    ck_assert_double_ge(used(trace), n * work * 0.98);
    lb_workload_free(workload);
    return trace;
}

static const char *meta(const lb_trace *trace, const char *key) {
    const char *value = lb_trace_meta(trace, key);
    return value == NULL ? "" : value;
}

/* ---- threads ---- */

START_TEST(threads) {
    host = open_two_cores();
    lb_experiment_options options = tiny();
    options.workers = LB_WORKERS_THREADS;
    lb_trace *trace = run(&options, 0.03, 5);
    ck_assert_str_eq(meta(trace, "workers"), "threads");
    size_t n;
    lb_trace_slices(trace, &n);
    ck_assert_uint_ge(n, 5);
    lb_trace_free(trace);
    moment begin = moment_now();
    lb_status status = lb_experiment_run(host, LB_EXPERIMENT_DETECT, &options, &trace, &err);
    if (timed_out_beside_others(status, &begin))
        return;
    ck_assert_msg(status == LB_OK, "%s", err.message);
    lb_trace_free(trace);
    lb_host_free(host);
}
END_TEST

static int cancel(void *user, double fraction) {
    (void)fraction;
    bool now = --*(int *)user < 0;
    if (now)
        note_fault();
    return now;
}

START_TEST(threads_cancelled) {
    host = open_two_cores();
    lb_experiment_options options = tiny();
    surroundings before;
    lb_workload *workload = equal_works(1, 40);
    lb_trace *trace = NULL;
    options.workers = LB_WORKERS_THREADS;
    options.budget = 60;
    options.progress = cancel;
    for (int calls = 0; calls < 8; calls++) {
        int left = calls;
        options.progress_user = &left;
        look_around(&before);
        ASSERT_REFUSED(lb_experiment_workload(host, workload, &options, &trace, &err),
                       LB_ERR_CANCELLED, "callback", err);
        assert_answered();
        assert_unchanged(&before);
    }
    ck_assert_ptr_null(trace);
    lb_workload_free(workload);
    lb_host_free(host);
}
END_TEST

START_TEST(threads_allocations) {
    host = open_two_cores();
    lb_experiment_options options = tiny();
    options.workers = LB_WORKERS_THREADS;
    lb_workload *workload = equal_works(0.002, 2);
    ASSERT_OK(lb_workload_set_arrival(workload, 1, 0.001, &err), err);
    ASSERT_OK(lb_workload_add_event(workload, 0, 0.001, LB_EVENT_SLEEP, &err), err);
    ASSERT_OK(lb_workload_add_event(workload, 0, 0.002, LB_EVENT_WAKE, &err), err);
    lb_status status;
    size_t count;
    SWEEP_ALLOCATIONS(status, count, {
        lb_trace *trace = NULL;
        status = run_patiently(host, workload, &options, &trace, NULL);
        lb_trace_free(trace);
    });
    ck_assert_uint_ge(count, 8);
    lb_workload_free(workload);
    lb_host_free(host);
}
END_TEST

/* ---- classes ---- */

/* What the workers are, as seen from outside. */
typedef struct seen {
    int policy, nice, priority, count;
} seen;

static int look_at_workers(void *user, double fraction) {
    (void)fraction;
    seen *s = user;
    pid_t workers[64];
    int n = list_workers(workers, 64);
    for (int i = 0; i < n; i++) {
        struct sched_param param;
        if (sched_getscheduler(workers[i]) == s->policy &&
            sched_getparam(workers[i], &param) == 0 && param.sched_priority == s->priority &&
            getpriority(PRIO_PROCESS, (id_t)workers[i]) == s->nice)
            s->count++;
    }
    return 0;
}

static void assert_class(int32_t scheduling, int32_t nice, int32_t priority, seen expected,
                         const char *name) {
    lb_experiment_options options = tiny();
    options.scheduling = scheduling;
    options.nice = nice;
    options.priority = priority;
    options.progress = look_at_workers;
    options.progress_user = &expected;
    lb_trace *trace = run(&options, 0.15, 4);
    ck_assert_str_eq(meta(trace, "class"), name);
    ck_assert_msg(expected.count > 0, "no worker was seen in %s", name);
    lb_trace_free(trace);
}

START_TEST(classes) {
    host = open_two_cores();
    assert_class(LB_SCHEDULING_OTHER, 5, 0, (seen){.policy = SCHED_OTHER, .nice = 5},
                 "SCHED_OTHER");
    assert_class(LB_SCHEDULING_BATCH, 3, 0, (seen){.policy = SCHED_BATCH, .nice = 3},
                 "SCHED_BATCH");
    assert_class(LB_SCHEDULING_IDLE, 0, 0, (seen){.policy = SCHED_IDLE}, "SCHED_IDLE");
    struct sched_param param = {.sched_priority = 1};
    if (sched_setscheduler(0, SCHED_RR, &param) != 0) {
        lb_experiment_options options = tiny();
        options.scheduling = LB_SCHEDULING_RR;
        lb_trace *trace = NULL;
        ASSERT_REFUSED(lb_experiment_run(host, LB_EXPERIMENT_DETECT, &options, &trace, &err),
                       LB_ERR_PERMISSION, "scheduling class", err);
        printf("skipped: real-time classes: %s\n", strerror(errno));
    } else {
        param.sched_priority = 0;
        sched_setscheduler(0, SCHED_OTHER, &param);
        assert_class(LB_SCHEDULING_RR, 0, 0, (seen){.policy = SCHED_RR, .priority = 1}, "SCHED_RR");
        assert_class(LB_SCHEDULING_RR, 0, 7, (seen){.policy = SCHED_RR, .priority = 7}, "SCHED_RR");
        assert_class(LB_SCHEDULING_FIFO, 0, 2, (seen){.policy = SCHED_FIFO, .priority = 2},
                     "SCHED_FIFO");
    }
    lb_host_free(host);
}
END_TEST

START_TEST(refused_classes) {
    lb_trace *trace = NULL;
    lb_experiment_options options = tiny();
#define REFUSED(words_, ...)                                                                       \
    do {                                                                                           \
        lb_experiment_options bad_ = options;                                                      \
        __VA_ARGS__;                                                                               \
        ASSERT_REFUSED(lb_experiment_run(NULL, LB_EXPERIMENT_DETECT, &bad_, &trace, &err),         \
                       LB_ERR_INVALID, words_, err);                                               \
    } while (0)
    REFUSED("workers is 2", bad_.workers = 2);
    REFUSED("scheduling is 6", bad_.scheduling = 6);
    REFUSED("scheduling is -1", bad_.scheduling = -1);
    REFUSED("nice is 1", bad_.nice = 1);
    REFUSED("nice is 20", bad_.scheduling = LB_SCHEDULING_OTHER, bad_.nice = 20);
    REFUSED("nice is 1", bad_.scheduling = LB_SCHEDULING_RR, bad_.nice = 1);
    REFUSED("priority is 1", bad_.priority = 1);
    REFUSED("priority is 99", bad_.scheduling = LB_SCHEDULING_RR, bad_.priority = 99);
    REFUSED("reserved", bad_.reserved2 = 1);
#undef REFUSED
}
END_TEST

/* ---- many ---- */

/* As many as there may be, to the end. Under AddressSanitizer a thread takes 4 ms to make among
 * 1,000 and 19 ms among 3,000. */
#ifdef __SANITIZE_ADDRESS__
#define MOST_THREADS 1024
#else
#define MOST_THREADS 4096
#endif

START_TEST(most) {
    host = open_two_cores();
    lb_experiment_options options = tiny();
    options.budget = 60;
    options.unit_work = 0.0005;
    lb_trace *trace = NULL;
    double start = seconds();
    /* A dozen seconds. */
    if (getenv("LBSCHED_LONG") != NULL) {
        trace = run(&options, 0.0005, 4096);
        printf("4096 processes in %.1f s\n", seconds() - start);
        lb_trace_free(trace);
    }
    options.workers = LB_WORKERS_THREADS;
    start = seconds();
    trace = run(&options, 0.0005, MOST_THREADS);
    printf("%d threads in %.1f s\n", MOST_THREADS, seconds() - start);
    lb_trace_free(trace);
    lb_workload *workload = equal_works(0, 4097);
    ASSERT_REFUSED(lb_experiment_workload(host, workload, &options, &trace, &err), LB_ERR_INVALID,
                   "4097 processes", err);
    lb_workload_free(workload);
    lb_host_free(host);
}
END_TEST

/* ---- cut short ---- */

static void assert_partial(lb_status expected, const char *why) {
    lb_experiment_options options = tiny();
    int left = 12;
    lb_trace *trace = NULL, *partial = (lb_trace *)&left;
    options.budget = 2;
    options.partial = &partial;
    if (expected == LB_ERR_CANCELLED) {
        options.budget = 8; /* however late the calls come */
        options.progress = cancel;
        options.progress_user = &left;
    }
    lb_workload *workload = equal_works(0.4975 * options.budget, 2 * lb_host_cores(host));
    moment begin = moment_now();
    ASSERT_STATUS(lb_experiment_workload(host, workload, &options, &trace, &err), expected, err);
    ck_assert_ptr_null(trace);
    lb_workload_free(workload);
    if (missed_beside_others(partial != NULL, "nothing ran before it was cut short", &begin))
        return;
    ck_assert_ptr_nonnull(partial);
    ck_assert_str_eq(meta(partial, "partial"), why);
    ck_assert_str_eq(meta(partial, "experiment"), "workload");
    size_t units, slices;
    lb_trace_units(partial, &units);
    lb_trace_slices(partial, &slices);
    if (!missed_beside_others(units > 0 && slices > 0, "little ran before it was cut short",
                              &begin))
        ck_assert(units > 0 && slices > 0);
    lb_trace_free(partial);
}

START_TEST(partial) {
    host = open_two_cores();
    assert_partial(LB_ERR_CANCELLED, "cancelled");
    assert_partial(LB_ERR_TIMEOUT, "timeout");
    /* Before the run there is nothing to keep; nor is there where all went well. */
    lb_experiment_options options = tiny();
    int left = 0;
    lb_trace *trace = NULL, *kept = (lb_trace *)&left;
    options.partial = &kept;
    options.progress = cancel;
    options.progress_user = &left;
    ck_assert_int_eq(lb_experiment_run(host, LB_EXPERIMENT_DETECT, &options, &trace, &err),
                     LB_ERR_CANCELLED);
    ck_assert_ptr_null(kept);
    options.progress = NULL;
    kept = (lb_trace *)&left;
    trace = run(&options, 0.01, 2);
    ck_assert_ptr_null(kept);
    ck_assert_str_eq(meta(trace, "partial"), "");
    lb_trace_free(trace);
    lb_host_free(host);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("workers");
    ADD(s, "threads", threads, threads_cancelled, threads_allocations);
    ADD(s, "classes", classes, refused_classes);
    ADD(s, "many", most);
    ADD(s, "partial", partial);
    return s;
}
