/* SPDX-License-Identifier: BSD-3-Clause */
/* What an experiment does when the system refuses: each system call that it needs fails once, at
 * its n-th use; files of /proc cannot be opened; its controller is stopped (Ctrl-Z). It must end
 * with an error within a second of the fault, or do without, and leave nothing behind. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "calls.h"
#include "harness.h"
#include "surroundings.h"

static lb_host *host;
static lb_error err;

static double seconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static lb_workload *workload(double work) {
    lb_workload *made = NULL;
    ASSERT_OK(lb_workload_new(&made, &err), err);
    for (uint32_t i = 0; i < 5; i++)
        ASSERT_OK(lb_workload_add(made, work, NULL, &err), err);
    ASSERT_OK(lb_workload_set_first_core(made, 1, 1, &err), err);
    return made;
}

static lb_experiment_options tiny(void) {
    lb_experiment_options options;
    lb_experiment_options_init(&options, sizeof options);
    options.unit_work = 0.001;
    options.budget = 5; /* calibration takes a hundredth */
    return options;
}

/* The n-th of these calls fails, for n = 1, 2, .. until there are no more. */
static void sweep(int32_t kind, long number, int error, lb_status expected, const char *words,
                  int least) {
    lb_experiment_options options = tiny();
    lb_workload *works = workload(0.003);
    surroundings before;
    int n = 1;
    options.workers = kind;
    for (;; n++) {
        lb_trace *trace = NULL;
        look_around(&before);
        calls_arm(number, n, error, false);
        lb_status status = run_patiently(host, works, &options, &trace, &err);
        bool hit = calls_fired();
        if (expected != LB_OK)
            assert_answered();
        lb_trace_free(trace);
        assert_unchanged(&before);
        assert_childless();
        if (!hit) {
            ck_assert_int_eq(status, LB_OK);
            break;
        }
        ck_assert_msg(status == expected, "%ld, %d: %s (%s)", number, n, lb_status_name(status),
                      status == LB_OK ? "" : err.message);
        if (expected != LB_OK) {
            ck_assert_int_eq(err.os_errno,
                             expected == LB_ERR_NOMEM && number == CALL_MMAP ? 0 : error);
            ck_assert_msg(strstr(err.message, words) != NULL, "%s", err.message);
            ck_assert_ptr_null(trace);
        }
    }
    ck_assert_int_gt(n, least);
    lb_workload_free(works);
}

START_TEST(fork_fails) {
    host = open_two_cores();
    sweep(LB_WORKERS_PROCESSES, SYS_clone, EAGAIN, LB_ERR_SYSTEM, "cannot make worker", 5);
    sweep(LB_WORKERS_PROCESSES, SYS_clone, ENOMEM, LB_ERR_NOMEM, "cannot make worker", 5);
    lb_host_free(host);
}
END_TEST

START_TEST(mmap_fails) {
    host = open_two_cores();
    sweep(LB_WORKERS_PROCESSES, CALL_MMAP, ENOMEM, LB_ERR_NOMEM, "no memory", 1);
    sweep(LB_WORKERS_THREADS, CALL_MMAP, ENOMEM, LB_ERR_NOMEM, "no memory", 1);
    lb_host_free(host);
}
END_TEST

START_TEST(affinity_refused) {
    host = open_two_cores();
    sweep(LB_WORKERS_PROCESSES, SYS_sched_setaffinity, EPERM, LB_ERR_PERMISSION, "worker", 10);
    sweep(LB_WORKERS_THREADS, SYS_sched_setaffinity, EINVAL, LB_ERR_SYSTEM, "worker", 10);
    lb_host_free(host);
}
END_TEST

/* The controller may not raise itself: it manages all the same. */
START_TEST(not_raised) {
    host = open_two_cores();
    lb_experiment_options options = tiny();
    lb_workload *works = workload(0.01);
    surroundings before;
    lb_trace *trace = NULL;
    look_around(&before);
    calls_arm(SYS_sched_setattr, 1, EPERM, true);
    ASSERT_OK(run_patiently(host, works, &options, &trace, &err), err);
    ck_assert(calls_fired());
    assert_unchanged(&before);
    lb_trace_free(trace);
    lb_workload_free(works);
    lb_host_free(host);
}
END_TEST

/* Without /proc and /sys there is still a trace; what is not known stays unsaid. */
START_TEST(no_proc) {
    host = open_two_cores();
    lb_experiment_options options = tiny();
    lb_workload *works = workload(0.01);
    lb_trace *trace = NULL;
    calls_arm(CALL_FOPEN, 1, ENOENT, true);
    lb_status status = run_patiently(host, works, &options, &trace, &err);
    calls_fired();
    ck_assert_msg(status == LB_OK, "%s", err.message);
    ck_assert_str_eq(lb_trace_meta(trace, "slice_clock"), "monotonic");
    size_t slices;
    lb_trace_slices(trace, &slices);
    ck_assert_uint_ge(slices, 5);
    lb_trace_free(trace);
    lb_workload_free(works);
    lb_host_free(host);
}
END_TEST

/* The same for real, and for the host as well: an empty folder in the place of /proc, in a mount
 * namespace that ends with this test. */
START_TEST(no_proc_at_all) {
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("none", "/proc", "tmpfs", 0, NULL) != 0) {
        printf("skipped: no folder can be mounted in the place of /proc: %s\n", strerror(errno));
        return;
    }
    host = open_two_cores();
    lb_experiment_options options = tiny();
    lb_workload *works = workload(0.01);
    lb_trace *trace = NULL;
    ASSERT_OK(run_patiently(host, works, &options, &trace, &err), err);
    size_t slices;
    lb_trace_slices(trace, &slices);
    ck_assert_uint_ge(slices, 5);
    ck_assert_ptr_null(lb_trace_meta(trace, "foreign_cpu_percent"));
    assert_childless();
    lb_trace_free(trace);
    lb_workload_free(works);
    lb_host_free(host);
    /* LeakSanitizer looks into it at the end. */
    ck_assert_int_eq(umount2("/proc", MNT_DETACH), 0);
}
END_TEST

/* ---- the controller is stopped ---- */

static int tell(void *user, double fraction) {
    int *pipe_ = user;
    if (fraction > 0.25 && *pipe_ >= 0) {
        pid_t workers[64];
        int n = list_workers(workers, 64);
        if (write(*pipe_, workers, (size_t)n * sizeof *workers) < 0)
            return 1;
        close(*pipe_);
        *pipe_ = -1;
    }
    return 0;
}

/* CPU seconds that these processes have used, by their CPU clocks. */
static double cpu_of(const pid_t *workers, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        clockid_t clock;
        struct timespec time;
        if (clock_getcpuclockid(workers[i], &clock) == 0 && clock_gettime(clock, &time) == 0)
            sum += (double)time.tv_sec + (double)time.tv_nsec / 1e9;
    }
    return sum;
}

static void sleep_for(double time) {
    struct timespec pause = {.tv_sec = (time_t)time,
                             .tv_nsec = (long)((time - (double)(time_t)time) * 1e9)};
    while (nanosleep(&pause, &pause) != 0 && errno == EINTR) {
    }
}

START_TEST(controller_stopped) {
    host = open_two_cores();
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    pid_t controller = fork();
    if (controller == 0) {
        lb_experiment_options options = tiny();
        options.budget = 60;
        options.progress = tell;
        options.progress_user = &ends[1];
        lb_trace *trace = NULL;
        lb_status status = lb_experiment_workload(host, workload(0.4), &options, &trace, &err);
        if (status != LB_OK)
            fprintf(stderr, "%s: %s\n", lb_status_name(status), err.message);
        _exit(status == LB_OK && lb_trace_meta(trace, "controller_stalled_s") != NULL ? 0 : 1);
    }
    close(ends[1]);
    pid_t workers[64];
    ssize_t bytes = read(ends[0], workers, sizeof workers);
    close(ends[0]);
    ck_assert_int_ge(bytes, 2 * (ssize_t)sizeof *workers);
    size_t n = (size_t)bytes / sizeof *workers;
    kill(controller, SIGSTOP);
    /* A second later no worker runs any more. What the machine takes from one that looks up is on
     * its account: so in most of the parts of that time. */
    sleep_for(1);
    int quiet = 0;
    double all = cpu_of(workers, n), before = all;
    for (int i = 0; i < 10; i++) {
        sleep_for(0.05);
        double now = cpu_of(workers, n);
        quiet += now - before < 0.005;
        before = now;
    }
    printf("%zu workers of a stopped controller used %.4f s in 0.5 s, little in %d of 10 parts\n",
           n, before - all, quiet);
    ck_assert_int_gt(quiet, 5);
    /* It goes on, and the trace tells. */
    kill(controller, SIGCONT);
    int status;
    ck_assert_int_eq(waitpid(controller, &status, 0), controller);
    ck_assert_int_eq(status, 0);
    assert_childless();
    lb_host_free(host);
}
END_TEST

/* ---- a thousand in a row ---- */

START_TEST(thousand) {
    host = open_two_cores();
    int runs = getenv("LBSCHED_LONG") != NULL ? 1000 : 20;
    lb_experiment_options options = tiny();
    lb_workload *works = workload(0.001);
    surroundings before;
    look_around(&before);
    double start = seconds();
    for (int i = 0; i < runs; i++) {
        lb_trace *trace = NULL;
        options.workers = i % 2 == 0 ? LB_WORKERS_PROCESSES : LB_WORKERS_THREADS;
        ASSERT_OK(run_patiently(host, works, &options, &trace, &err), err);
        lb_trace_free(trace);
    }
    printf("%d experiments in %.1f s\n", runs, seconds() - start);
    assert_unchanged(&before);
    assert_childless();
    lb_workload_free(works);
    lb_host_free(host);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("faults");
    ADD(s, "refused", fork_fails, mmap_fails, affinity_refused, not_raised, no_proc,
        no_proc_at_all);
    ADD(s, "stopped", controller_stopped);
    TCase *row = tcase_create("row");
    tcase_set_timeout(row, 1200);
    tcase_add_test(row, thousand);
    suite_add_tcase(s, row);
    return s;
}
