/* SPDX-License-Identifier: BSD-3-Clause */
/* lb_experiment_throughput(), for real and short: what the three workloads return, in which order
 * conditions run, and that nothing is left however a run ends. */
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "experiment/bench.h"
#include "experiment/peak.h"
#include "experiment/scratch.h"
#include "harness.h"
#include "surroundings.h"

/* ---- surroundings ---- */

/* Temporary files of this test go here, so that one that is left can be told. */
static char folder[64];

static void make_folder(void) {
    snprintf(folder, sizeof folder, "/tmp/check_throughput-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    setenv("TMPDIR", folder, 1);
}

static int count_entries(const char *path) {
    int count = 0;
    DIR *opened = opendir(path);
    const struct dirent *entry;
    while (opened != NULL && (entry = readdir(opened)) != NULL)
        count += entry->d_name[0] != '.';
    if (opened != NULL)
        closedir(opened);
    return count;
}

/* Nothing is in it any more. */
static void remove_folder(void) {
    ck_assert_int_eq(count_entries(folder), 0);
    ck_assert_int_eq(rmdir(folder), 0);
}

/* Processes that have this among their arguments. */
static int count_processes(const char *marker) {
    int count = 0;
    DIR *proc = opendir("/proc");
    const struct dirent *entry;
    while ((entry = readdir(proc)) != NULL) {
        char path[300], text[4096];
        snprintf(path, sizeof path, "/proc/%s/cmdline", entry->d_name);
        FILE *file = entry->d_name[0] >= '1' && entry->d_name[0] <= '9' ? fopen(path, "r") : NULL;
        if (file == NULL)
            continue;
        size_t got = fread(text, 1, sizeof text, file);
        fclose(file);
        count += memmem(text, got, marker, strlen(marker)) != NULL;
    }
    closedir(proc);
    return count;
}

static void nap(double seconds) {
    struct timespec time = {.tv_sec = (time_t)seconds,
                            .tv_nsec = (long)((seconds - floor(seconds)) * 1e9)};
    nanosleep(&time, NULL);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* ---- workloads ---- */

static lb_throughput_options brief(int32_t workload) {
    lb_throughput_options o;
    lb_throughput_options_init(&o, sizeof o);
    o.workload = workload;
    o.repeats = 1;
    o.jobs = 4;
    o.seconds = 0.1;
    return o;
}

static void assert_finite(const lb_table *t, const char *const *names, size_t n) {
    for (size_t i = 0; i < lb_table_rows(t); i++)
        for (size_t k = 0; k < n; k++)
            ck_assert_msg(
                isfinite(lb_table_get(t, i, names[k])) && lb_table_get(t, i, names[k]) >= 0,
                "%s of \"%s\" is %g", names[k], lb_table_label(t, i), lb_table_get(t, i, names[k]));
}

#define ASSERT_FINITE(table_, ...)                                                                 \
    do {                                                                                           \
        const char *const names_[] = {__VA_ARGS__};                                                \
        assert_finite(table_, names_, sizeof names_ / sizeof *names_);                             \
    } while (0)

static lb_table *measure(const lb_throughput_options *o) {
    lb_error err;
    lb_table *t;
    surroundings before;
    look_around(&before);
    ASSERT_OK(lb_experiment_throughput(NULL, NULL, 1, o, &t, &err), err);
    assert_unchanged(&before);
    assert_childless();
    ASSERT_FINITE(t, "elapsed_s", "user_s", "system_s", "cpu_percent", "switches_per_s",
                  "preemptions_per_s", "mean_slice_ms");
    for (size_t i = 0; i < lb_table_rows(t); i++) {
        /* Looked at every 50 ms: a short run may end before the first look. */
        double waiting = lb_table_get(t, i, "idle_waiting_percent");
        ck_assert(isnan(waiting) || (waiting >= 0 && waiting <= 100));
        ck_assert_double_gt(lb_table_get(t, i, "elapsed_s"), 0);
        ck_assert(lb_table_get(t, i, "valid") == 0 || lb_table_get(t, i, "valid") == 1);
        ck_assert(isnan(lb_table_get(t, i, "block")));
    }
    const char *keys[] = {"condition", "kernel",      "kernel_build", "host",        "cores",
                          "class",     "competitors", "file_system",  "io_scheduler"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        ck_assert_msg(lb_table_meta(t, keys[i]) != NULL, "%s is not told", keys[i]);
    return t;
}

static int rising(void *user, double fraction) {
    double *last = user;
    ck_assert(fraction >= *last && fraction <= 1);
    *last = fraction;
    return 0;
}

START_TEST(batch) {
    make_folder();
    lb_throughput_options o = brief(LB_THROUGHPUT_BATCH);
    double last = 0, used = 0;
    struct rusage before, after;
    o.jobs = 16;
    o.progress = rising;
    o.progress_user = &last;
    getrusage(RUSAGE_CHILDREN, &before);
    moment begin = moment_now();
    lb_table *t = measure(&o);
    getrusage(RUSAGE_CHILDREN, &after);
    ck_assert_uint_eq(lb_table_rows(t), 2);
    ck_assert_int_eq(strncmp(lb_table_label(t, 0), "parallel ", 9), 0);
    ck_assert_str_eq(lb_table_label(t, 1), "maximal");
    ck_assert_str_eq(lb_table_meta(t, "workload"), "batch");
    ck_assert_str_eq(lb_table_meta(t, "jobs"), "16");
    ASSERT_FINITE(t, "jobs_per_minute", "job_mean_s", "job_max_s");
    for (size_t i = 0; i < 2; i++) {
        double elapsed = lb_table_get(t, i, "elapsed_s");
        double cpu = lb_table_get(t, i, "user_s") + lb_table_get(t, i, "system_s");
        ck_assert_double_eq_tol(lb_table_get(t, i, "jobs_per_minute"), 60 * 16 / elapsed, 1e-6);
        ck_assert_double_eq_tol(lb_table_get(t, i, "cpu_percent"), 100 * cpu / elapsed, 1e-6);
        ck_assert_double_le(lb_table_get(t, i, "job_mean_s"), lb_table_get(t, i, "job_max_s"));
        ck_assert_double_le(lb_table_get(t, i, "job_max_s"), elapsed);
        used += cpu;
    }
    /* More at a time wait longer for one another. */
    double few = lb_table_get(t, 0, "job_mean_s"), many = lb_table_get(t, 1, "job_mean_s");
    if (!missed_beside_others(many > few, "fewer jobs at a time took longer", &begin))
        ck_assert_double_gt(many, few);
    /* What was told is what came to this process's account, less the keepers'. */
    double account = (double)(after.ru_utime.tv_sec - before.ru_utime.tv_sec) +
                     (double)(after.ru_stime.tv_sec - before.ru_stime.tv_sec) +
                     1e-6 * (double)(after.ru_utime.tv_usec - before.ru_utime.tv_usec) +
                     1e-6 * (double)(after.ru_stime.tv_usec - before.ru_stime.tv_usec);
    ck_assert_double_le(used, account + 1e-4);
    bool most = used >= 0.9 * account - 0.01;
    if (!missed_beside_others(most, "the keepers used much", &begin))
        ck_assert_double_ge(used, 0.9 * account - 0.01);
    lb_table_free(t);
    remove_folder();
}
END_TEST

START_TEST(users) {
    make_folder();
    lb_throughput_options o = brief(LB_THROUGHPUT_USERS);
    uint32_t points[] = {1, 3};
    o.points = points;
    o.point_count = 2;
    o.repeats = 2;
    lb_table *t = measure(&o);
    ck_assert_uint_eq(lb_table_rows(t), 4);
    ck_assert_str_eq(lb_table_label(t, 0), "users 1");
    ck_assert_str_eq(lb_table_label(t, 1), "users 3");
    ck_assert_str_eq(lb_table_meta(t, "largest_users"), "3");
    ck_assert_str_eq(lb_table_meta(t, "runs"), "4");
    for (size_t i = 0; i < 4; i++) {
        ck_assert_double_gt(lb_table_get(t, i, "jobs_per_minute"), 0);
        ck_assert_double_ge(lb_table_get(t, i, "elapsed_s"), 0.1);
    }
    lb_table_free(t);
    remove_folder();
}
END_TEST

START_TEST(messages) {
    make_folder();
    lb_throughput_options o = brief(LB_THROUGHPUT_MESSAGES);
    uint32_t points[] = {1};
    o.points = points;
    o.point_count = 1;
    lb_table *t = measure(&o);
    ck_assert_uint_eq(lb_table_rows(t), 3);
    ck_assert_str_eq(lb_table_label(t, 0), "sockets, groups 1");
    ck_assert_str_eq(lb_table_label(t, 1), "pipes, groups 1");
    ck_assert_str_eq(lb_table_label(t, 2), "tcp, groups 1");
    for (size_t i = 0; i < 3; i++) {
        double last = 0;
        const char *names[] = {"wake_p50_us", "wake_p90_us", "wake_p99_us"};
        ck_assert_double_gt(lb_table_get(t, i, "messages_per_s"), 0);
        for (size_t k = 0; k < 3; k++) {
            ck_assert_double_ge(lb_table_get(t, i, names[k]), last);
            last = lb_table_get(t, i, names[k]);
        }
        ck_assert_double_gt(last, 0);
        ck_assert_double_ge(1.04 * lb_table_get(t, i, "wake_max_us"), last);
    }
    lb_table_free(t);
    o.transports = 1u << LB_TRANSPORT_PIPES;
    t = measure(&o);
    ck_assert_uint_eq(lb_table_rows(t), 1);
    ck_assert_str_eq(lb_table_label(t, 0), "pipes, groups 1");
    lb_table_free(t);
    remove_folder();
}
END_TEST

/* A sweep whose end is not given goes well past the peak, and no further. */
START_TEST(sweep) {
    lb_throughput_options o = brief(LB_THROUGHPUT_USERS);
    o.seconds = 0.05;
    lb_table *t = measure(&o);
    double at = atof(lb_table_meta(t, "users_at_peak"));
    double largest = atof(lb_table_meta(t, "largest_users"));
    ck_assert_str_eq(lb_table_label(t, 0), "users 1");
    ck_assert_double_ge(largest, 4);
    ck_assert(largest >= 4 * at || largest >= 64);
    ck_assert_ptr_nonnull(lb_table_meta(t, "slope_past_peak_percent"));
    lb_table_free(t);
}
END_TEST

START_TEST(interleaved) {
    make_folder();
    lb_throughput_options o = brief(LB_THROUGHPUT_BATCH);
    uint32_t points[] = {2}, one[] = {0};
    lb_condition a, b;
    lb_condition_init(&a, sizeof a);
    lb_condition_init(&b, sizeof b);
    a.name = "both";
    b.cores = one;
    b.core_count = 1;
    b.competitors = 1;
    b.competitor_scheduling = LB_SCHEDULING_IDLE;
    const lb_condition *const conditions[] = {&a, &b};
    lb_table *tables[2];
    lb_error err;
    o.points = points;
    o.point_count = 1;
    o.repeats = 3; /* is made even */
    ASSERT_OK(lb_experiment_throughput(NULL, conditions, 2, &o, tables, &err), err);
    assert_childless();
    ck_assert_str_eq(lb_table_meta(tables[0], "condition"), "both");
    ck_assert_ptr_nonnull(strstr(lb_table_meta(tables[1], "condition"), "2: SCHED_"));
    ck_assert_str_eq(lb_table_meta(tables[1], "competitors"), "1");
    ck_assert_ptr_nonnull(strstr(lb_table_meta(tables[1], "competitor_class"), "SCHED_IDLE"));
    ck_assert_int_eq(strncmp(lb_table_meta(tables[1], "cores"), "1 of ", 5), 0);
    for (size_t i = 0; i < 2; i++) {
        ck_assert_uint_eq(lb_table_rows(tables[i]), 4);
        for (size_t row = 0; row < 4; row++)
            ck_assert_double_eq(lb_table_get(tables[i], row, "block"), (double)(row / 2));
        /* No more CPU time than the cores have. */
        for (size_t row = 0; row < 4 && i == 1; row++)
            ck_assert_double_le(lb_table_get(tables[i], row, "cpu_percent"), 110);
        lb_table_free(tables[i]);
    }
    remove_folder();
}
END_TEST

/* ---- faults ---- */

static lb_throughput_options of_command(const char *const *command) {
    lb_throughput_options o = brief(LB_THROUGHPUT_BATCH);
    o.jobs = 2;
    o.command = command;
    o.time_limit = 10;
    return o;
}

static lb_status run_command(const lb_throughput_options *o, lb_error *err) {
    lb_table *t;
    lb_status status = lb_experiment_throughput(NULL, NULL, 1, o, &t, err);
    if (status == LB_OK)
        lb_table_free(t);
    return status;
}

#define ASSERT_COMMAND(options_, status_, words_)                                                  \
    do {                                                                                           \
        lb_error err_;                                                                             \
        surroundings before_;                                                                      \
        make_folder();                                                                             \
        look_around(&before_);                                                                     \
        ASSERT_REFUSED(run_command(options_, &err_), status_, words_, err_);                       \
        assert_unchanged(&before_);                                                                \
        assert_childless();                                                                        \
        remove_folder();                                                                           \
    } while (0)

START_TEST(command_fails) {
    const char *const exits[] = {"sh", "-c", "touch $TMPDIR/left; echo no luck; exit 3", NULL};
    const char *const dies[] = {"sh", "-c", "kill -11 $$", NULL};
    const char *const missing[] = {"/nonexistent/program", NULL};
    lb_throughput_options o = of_command(exits);
    ASSERT_COMMAND(&o, LB_ERR_WORKER, "exited with status 3; it wrote: no luck");
    o = of_command(dies);
    ASSERT_COMMAND(&o, LB_ERR_WORKER, "killed by signal 11");
    o = of_command(missing);
    ASSERT_COMMAND(&o, LB_ERR_SYSTEM, "cannot run /nonexistent/program");
}
END_TEST

/* Its process group, and those that left it. */
START_TEST(command_hangs) {
    char marker[32], text[160];
    snprintf(marker, sizeof marker, "1000.%07ld", (long)getpid());
    snprintf(text, sizeof text, "touch $TMPDIR/left; setsid sleep %s & (sleep %s &); sleep %s",
             marker, marker, marker);
    const char *const command[] = {"sh", "-c", text, NULL};
    lb_throughput_options o = of_command(command);
    o.time_limit = 0.5;
    double begin = now();
    ASSERT_COMMAND(&o, LB_ERR_TIMEOUT, "time limit of 0.5 s");
    ck_assert_double_ge(now() - begin, 0.5);
    ck_assert_int_eq(count_processes(marker), 0);
}
END_TEST

START_TEST(command_floods) {
    const char *const command[] = {"yes", NULL};
    lb_throughput_options o = of_command(command);
    ASSERT_COMMAND(&o, LB_ERR_LIMIT, "output_limit (1048576 bytes)");
    const char *const brief_one[] = {"echo", "hello", NULL};
    o = of_command(brief_one);
    o.output_limit = 11; /* the first run's 6 bytes and the second's */
    ASSERT_COMMAND(&o, LB_ERR_LIMIT, "output_limit (11 bytes)");
    o.output_limit = 12;
    lb_error err;
    make_folder();
    ASSERT_OK(run_command(&o, &err), err);
    remove_folder();
}
END_TEST

/* Orphans that a command leaves behind do not keep the run. */
START_TEST(command_leaves_orphans) {
    char marker[32], text[96];
    snprintf(marker, sizeof marker, "1001.%07ld", (long)getpid());
    snprintf(text, sizeof text, "setsid sleep %s & sleep %s &", marker, marker);
    const char *const command[] = {"sh", "-c", text, NULL};
    lb_throughput_options o = of_command(command);
    lb_error err;
    make_folder();
    ASSERT_OK(run_command(&o, &err), err);
    ck_assert_int_eq(count_processes(marker), 0);
    remove_folder();
}
END_TEST

static int stop(void *user, double fraction) {
    (void)fraction;
    return --*(int *)user < 0;
}

START_TEST(cancelled) {
    const char *const command[] = {"sleep", "1002", NULL};
    for (int32_t workload = 0; workload < 4; workload++) {
        lb_throughput_options o = workload < 3 ? brief(workload) : of_command(command);
        int looks = 2;
        o.jobs = 1000;
        o.seconds = 5;
        o.progress = stop;
        o.progress_user = &looks;
        ASSERT_COMMAND(&o, LB_ERR_CANCELLED, "progress callback");
    }
}
END_TEST

START_TEST(budget) {
    lb_throughput_options o = brief(LB_THROUGHPUT_USERS);
    o.seconds = 0.4;
    o.repeats = 1000;
    o.budget = 1;
    ASSERT_COMMAND(&o, LB_ERR_TIMEOUT, "the budget of 1 s is spent after ");
}
END_TEST

/* Also when the caller is killed. */
START_TEST(caller_killed) {
    char marker[32];
    snprintf(marker, sizeof marker, "1003.%07ld", (long)getpid());
    const char *const command[] = {"setsid", "sleep", marker, NULL};
    lb_throughput_options o = of_command(command);
    make_folder();
    pid_t caller = fork();
    if (caller == 0) {
        lb_error err;
        run_command(&o, &err);
        _exit(1);
    }
    for (int i = 0; i < 500 && count_processes(marker) < 2; i++)
        nap(0.01);
    ck_assert_int_gt(count_processes(marker), 0);
    kill(caller, SIGKILL);
    waitpid(caller, NULL, 0);
    for (int i = 0; i < 500 && (count_processes(marker) > 0 || count_entries(folder) > 0); i++)
        nap(0.01);
    ck_assert_int_eq(count_processes(marker), 0);
    remove_folder();
}
END_TEST

/* Whatever a program has made of its signals and descriptors. */
START_TEST(odd_callers) {
    const char *const command[] = {"sh", "-c", "read x; test -z \"$x\"", NULL};
    lb_throughput_options o = of_command(command);
    lb_error err;
    signal(SIGCHLD, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    close(0);
    ASSERT_OK(run_command(&o, &err), err);
    int ends[2];
    char byte;
    ck_assert_int_eq(pipe(ends), 0);
    ASSERT_OK(run_command(&o, &err), err);
    close(ends[1]);
    ck_assert_int_eq(read(ends[0], &byte, 1), 0); /* nobody holds the other end */
    close(ends[0]);
}
END_TEST

START_TEST(no_folder) {
    lb_throughput_options o = brief(LB_THROUGHPUT_USERS);
    lb_error err;
    setenv("TMPDIR", "/nonexistent", 1);
    ASSERT_REFUSED(run_command(&o, &err), LB_ERR_IO, "/nonexistent", err);
}
END_TEST

START_TEST(no_memory) {
    lb_throughput_options o = brief(LB_THROUGHPUT_BATCH);
    uint32_t points[] = {1};
    o.points = points;
    o.point_count = 1;
    o.jobs = 1;
    lb_host *host;
    lb_error err;
    ASSERT_OK(lb_host_open(NULL, &host, &err), err);
    make_folder();
    lb_status status;
    size_t count;
    SWEEP_ALLOCATIONS(status, count, {
        lb_table *t = NULL;
        status = lb_experiment_throughput(host, NULL, 1, &o, &t, NULL);
        if (status == LB_OK)
            lb_table_free(t);
    });
    ck_assert_uint_gt(count, 10);
    remove_folder();
    lb_host_free(host);
}
END_TEST

/* ---- what is asked for ---- */

#define REFUSED(change_, words_)                                                                   \
    do {                                                                                           \
        lb_throughput_options o = brief(LB_THROUGHPUT_BATCH);                                      \
        change_;                                                                                   \
        ASSERT_REFUSED(lb_experiment_throughput(NULL, NULL, 1, &o, &t, &err), LB_ERR_INVALID,      \
                       words_, err);                                                               \
    } while (0)

START_TEST(refused_options) {
    lb_table *t;
    lb_error err;
    uint32_t points[] = {0};
    const char *const command[] = {NULL};
    REFUSED(o.workload = 3, "workload is 3");
    REFUSED(o.repeats = 10001, "repeats is 10001");
    REFUSED(o.jobs = 1000001, "jobs is 1000001");
    REFUSED(o.transports = 8, "transports is 0x8");
    REFUSED(o.seconds = 0.01, "seconds is 0.01");
    REFUSED(o.seconds = (double)NAN, "seconds is nan");
    REFUSED(o.time_limit = 0.05, "time_limit is 0.05");
    REFUSED(o.time_limit = 0.1; o.seconds = 0.5, "seconds (0.5) or more");
    REFUSED(o.budget = 0.5, "budget is 0.5");
    REFUSED(o.point_count = 1, "point_count is 1");
    REFUSED(o.points = points; o.point_count = 65, "point_count is 65");
    REFUSED(o.workload = LB_THROUGHPUT_USERS; o.points = points;
            o.point_count = 1, "points[0] is 0: 1 to 4096");
    REFUSED(o.command = command, "command is set");
    REFUSED(o.reserved = 1, "reserved is 1");
    REFUSED(o.size = 8, "lb_throughput_options.size is 8");
    ASSERT_REFUSED(lb_experiment_throughput(NULL, NULL, 2, NULL, &t, &err), LB_ERR_INVALID,
                   "n is 2", err);
    ASSERT_REFUSED(lb_experiment_throughput(NULL, NULL, 0, NULL, &t, &err), LB_ERR_INVALID,
                   "n is 0", err);
}
END_TEST

#define REFUSED_CONDITION(change_, words_)                                                         \
    do {                                                                                           \
        lb_condition c;                                                                            \
        lb_condition_init(&c, sizeof c);                                                           \
        const lb_condition *const list_[] = {&c};                                                  \
        change_;                                                                                   \
        ASSERT_REFUSED(lb_experiment_throughput(NULL, list_, 1, NULL, &t, &err), LB_ERR_INVALID,   \
                       words_, err);                                                               \
    } while (0)

START_TEST(refused_conditions) {
    lb_table *t;
    lb_error err;
    uint32_t cores[] = {100000};
    REFUSED_CONDITION(c.scheduling = 9, "scheduling is 9");
    REFUSED_CONDITION(c.nice = 5, "nice is 5");
    REFUSED_CONDITION(c.priority = 5, "priority is 5");
    REFUSED_CONDITION(c.competitors = 5000, "competitors is 5000");
    REFUSED_CONDITION(c.competitor_scheduling = -1, "scheduling is -1");
    REFUSED_CONDITION(c.cores = cores, "core_count is 0");
    REFUSED_CONDITION(c.core_count = 1, "core_count is 1");
    REFUSED_CONDITION(c.cores = cores; c.core_count = 1, "cores[0] is 100000");
    REFUSED_CONDITION(c.reserved = 1, "reserved is 1");
    REFUSED_CONDITION(c.size = 8, "lb_condition.size is 8");
    lb_host_options described;
    lb_host *host;
    lb_host_options_init(&described, sizeof described);
    described.synthetic = "package:1 core:2 pu:1";
    ASSERT_OK(lb_host_open(&described, &host, &err), err);
    ASSERT_REFUSED(lb_experiment_throughput(host, NULL, 1, NULL, &t, &err), LB_ERR_UNSUPPORTED,
                   "description", err);
    lb_host_free(host);
}
END_TEST

/* ---- parts ---- */

START_TEST(times) {
    lbi_bench *bench = lbi_share(sizeof *bench + 2 * sizeof bench->tally[0]);
    ck_assert_ptr_nonnull(bench);
    bench->tallies = 2;
    ck_assert(isnan(lbi_bench_quantile(bench, 0.5)));
    for (int64_t ns = 1; ns < INT64_C(1) << 42; ns = ns + ns / 7 + 1) {
        memset(&bench->tally[1], 0, sizeof bench->tally[1]);
        lbi_tally_time(&bench->tally[1], ns);
        ck_assert_double_eq_tol(1e9 * lbi_bench_quantile(bench, 0.5), (double)ns,
                                0.032 * (double)ns);
    }
    memset(&bench->tally[1], 0, sizeof bench->tally[1]);
    for (int64_t i = 1; i <= 1000; i++)
        lbi_tally_time(&bench->tally[i & 1], i * 1000);
    ck_assert_double_eq_tol(lbi_bench_quantile(bench, 0.5), 500e-6, 20e-6);
    ck_assert_double_eq_tol(lbi_bench_quantile(bench, 0.99), 990e-6, 40e-6);
    lbi_tally_time(&bench->tally[0], -5);
    lbi_tally_time(&bench->tally[0], INT64_MAX);
    lbi_unshare(bench, sizeof *bench + 2 * sizeof bench->tally[0]);
}
END_TEST

static lb_table *curve(const double *rates, const uint32_t *counts, size_t n) {
    const char *const names[] = {"jobs_per_minute", "valid"};
    lb_table *t;
    ck_assert_int_eq(lb_table_new(names, 2, &t, NULL), LB_OK);
    for (size_t i = 0; i < n; i++) {
        char label[32];
        double good[] = {rates[i], 1}, disturbed[] = {rates[i] * 3, 0};
        snprintf(label, sizeof label, "users %u", (unsigned)counts[i]);
        ck_assert_int_eq(lb_table_add_row(t, label, disturbed, NULL), LB_OK);
        ck_assert_int_eq(lb_table_add_row(t, label, good, NULL), LB_OK);
    }
    return t;
}

/* Of seeds/003: "falls off rapidly as user number increases", against a flat one. */
START_TEST(peaks) {
    const uint32_t counts[] = {1, 2, 4, 8, 16, 32};
    const double falls[] = {50, 100, 90, 80, 70, 60}, flat[] = {50, 99, 100, 100, 99, 100};
    lb_error err;
    lb_table *t = curve(falls, counts, 6);
    ASSERT_OK(lbi_peak_describe(t, &err), err);
    ck_assert_str_eq(lb_table_meta(t, "peak_jobs_per_minute"), "100");
    ck_assert_str_eq(lb_table_meta(t, "users_at_peak"), "2");
    ck_assert_str_eq(lb_table_meta(t, "largest_users"), "32");
    ck_assert_double_eq_tol(atof(lb_table_meta(t, "slope_past_peak_percent")), -10, 1e-6);
    ck_assert(!lbi_peak_passed(t, 7));
    ck_assert(lbi_peak_passed(t, 8));
    lb_table_free(t);
    t = curve(flat, counts, 6);
    ASSERT_OK(lbi_peak_describe(t, &err), err);
    ck_assert_str_eq(lb_table_meta(t, "users_at_peak"), "2");
    ck_assert(fabs(atof(lb_table_meta(t, "slope_past_peak_percent"))) < 0.3);
    lb_table_free(t);
}
END_TEST

START_TEST(scratch) {
    char *path, inner[128];
    lb_error err;
    make_folder();
    ASSERT_OK(lbi_scratch_new(&path, &err), err);
    struct stat about;
    ck_assert_int_eq(stat(path, &about), 0);
    ck_assert_uint_eq(about.st_mode & 0777, 0700);
    for (int i = 0; i < 200; i++) {
        snprintf(inner, sizeof inner, "%s/%s%d", path, "a-name-that-is-longer-than-most-", i);
        ck_assert_int_eq(i % 3 == 0 ? mkdir(inner, 0) : symlink("/", inner), 0);
    }
    lbi_scratch_remove(path);
    ck_assert_int_eq(stat(path, &about), -1);
    ck_assert_int_eq(stat("/", &about), 0);
    lbi_scratch_remove(path);
    free(path);
    remove_folder();
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("throughput");
    ADD(s, "workloads", batch, users, messages, sweep, interleaved);
    ADD(s, "faults", command_fails, command_hangs, command_floods, command_leaves_orphans,
        cancelled, budget, caller_killed, odd_callers, no_folder, no_memory);
    ADD(s, "options", refused_options, refused_conditions);
    ADD(s, "parts", times, peaks, scratch);
    return s;
}
