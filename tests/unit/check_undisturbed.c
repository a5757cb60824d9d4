/* SPDX-License-Identifier: BSD-3-Clause */
/* What only a machine shows that has nothing else to do: this program runs alone. Where something
 * else uses the machine all the same, that is printed. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "harness.h"
#include "surroundings.h"

static lb_host *host;
static lb_error err;

static lb_experiment_options brief(double budget) {
    lb_experiment_options options;
    lb_experiment_options_init(&options, sizeof options);
    options.unit_work = 0.001;
    options.budget = budget;
    return options;
}

/* Whether more of the machine went to others than allowed, or was away, which is printed. */
static bool beside_others(const char *what, const lb_trace *trace, const moment *begin,
                          double allowed) {
    double foreign = 100, all = 100 * foreign_since(begin);
    const char *text = lb_trace_meta(trace, "foreign_cpu_percent");
    if (text != NULL && !lbi_parse_number(text, text + strlen(text), &foreign))
        foreign = 100;
    foreign = all > foreign ? all : foreign;
    if (foreign <= allowed)
        return false;
    printf("skipped: %s beside foreign CPU time of %.2f %%\n", what, foreign);
    return true;
}

/* ---- a single queue ---- */

/* As many run as there are cores: then waiting takes whole slices of 20 ms, and most turns are
 * undisturbed by another worker. */
START_TEST(single_queue) {
    host = open_two_cores();
    lb_experiment_options options = brief(2);
    options.unit_work = 0.002;
    lb_model_options made;
    lb_model *model = NULL;
    lb_trace *trace = NULL;
    lb_model_options_init(&made, sizeof made);
    made.cores = lb_host_cores(host);
    made.policy = LB_POLICY_IMMEDIATE;
    ASSERT_OK(lb_model_new(&made, &model, &err), err);
    moment begin = moment_now();
    lb_status status =
        lb_experiment_emulate(host, model, LB_QUEUES_SINGLE, 1, &options, &trace, &err);
    if (timed_out_beside_others(status, &begin))
        return;
    ASSERT_STATUS(status, LB_OK, err);
    assert_childless();
    ck_assert_str_eq(lb_trace_meta(trace, "emulated"), "single queue");
    size_t n, waited = 0;
    const lb_unit *units = lb_trace_units(trace, &n);
    for (size_t i = 0; i < n; i++)
        waited += units[i].end_ns - units[i].start_ns - units[i].cpu_ns > INT64_C(10000000);
    if (!beside_others("turns of a single queue", trace, &begin, 2)) {
        ck_assert_uint_eq(lb_trace_tasks(trace), 3 * lb_host_cores(host));
        ck_assert_uint_gt(waited, 0);
        ck_assert_uint_lt(waited, n / 2);
    }
    lb_trace_free(trace);
    lb_model_free(model);
    lb_host_free(host);
}
END_TEST

/* ---- equal work ---- */

static double column_sum(const lb_table *table, const char *name) {
    double sum = 0;
    for (size_t row = 0; row < lb_table_rows(table); row++)
        sum += lb_table_get(table, row, name);
    return sum;
}

/* Every task has as many units as any other. */
static void assert_equal_work(const lb_trace *trace) {
    size_t n, count = 0, expected = 0;
    const lb_unit *units = lb_trace_units(trace, &n);
    for (size_t i = 0; i < n; i++) {
        count++;
        if (i + 1 < n && units[i + 1].task == units[i].task)
            continue;
        expected = expected == 0 ? count : expected;
        ck_assert_uint_eq(count, expected);
        count = 0;
    }
}

START_TEST(even) {
    host = open_two_cores();
    uint32_t cores = lb_host_cores(host);
    lb_experiment_options options = brief(2);
    lb_trace *trace = NULL;
    lb_table *table = NULL;
    moment begin = moment_now();
    lb_status status = lb_experiment_run(host, LB_EXPERIMENT_EVEN, &options, &trace, &err);
    if (timed_out_beside_others(status, &begin))
        return;
    ASSERT_STATUS(status, LB_OK, err);
    assert_childless();
    ck_assert_str_eq(lb_trace_meta(trace, "experiment"), "even");
    /* It is cut off where others have had the cores. */
    bool whole = !beside_others("equal work", trace, &begin, 10);
    if (whole)
        assert_equal_work(trace);
    uint32_t tasks = lb_trace_tasks(trace);
    ck_assert(whole ? tasks == 3 * cores : tasks <= 3 * cores);
    ASSERT_OK(lb_trace_spread(trace, &table, &err), err);
    ck_assert_uint_eq(lb_table_rows(table), cores);
    ck_assert_double_eq(column_sum(table, "started"), tasks);
    ck_assert_double_eq(column_sum(table, "ended"), tasks);
    ck_assert_double_gt(column_sum(table, "busy_s"), 0);
    ck_assert_ptr_nonnull(lb_table_meta(table, "duration_stddev_s"));
    lb_table_free(table);
    lb_trace_free(trace);
    lb_host_free(host);
}
END_TEST

/* ---- the controller's pace ---- */

typedef struct pace {
    double last, longest;
    int calls;
} pace;

static int keep_pace(void *user, double fraction) {
    (void)fraction;
    pace *p = user;
    double now = moment_now().time;
    if (p->calls++ > 0 && now - p->last > p->longest)
        p->longest = now - p->last;
    p->last = now;
    return 0;
}

static lb_workload *equal_works(double work, size_t n) {
    lb_workload *workload = NULL;
    ASSERT_OK(lb_workload_new(&workload, &err), err);
    for (size_t i = 0; i < n; i++)
        ASSERT_OK(lb_workload_add(workload, work, NULL, &err), err);
    return workload;
}

/* Seconds that the machine takes to end so many processes which do nothing. */
static double time_to_end(uint32_t n) {
    static pid_t processes[1000];
    ck_assert_uint_le(n, sizeof processes / sizeof *processes);
    for (uint32_t i = 0; i < n; i++) {
        processes[i] = fork();
        if (processes[i] == 0) {
            pause();
            _exit(0);
        }
    }
    double begin = moment_now().time;
    for (uint32_t i = 0; i < n; i++)
        if (processes[i] > 0)
            kill(processes[i], SIGKILL);
    for (uint32_t i = 0; i < n; i++)
        if (processes[i] > 0)
            waitpid(processes[i], NULL, 0);
    return moment_now().time - begin;
}

/* More works than the budget can hold: the call ends with it, and calls back all the while. */
static void assert_prompt(int32_t kind, uint32_t n, bool raised) {
    lb_experiment_options options = brief(2);
    pace watch = {0};
    options.workers = kind;
    options.progress = keep_pace;
    options.progress_user = &watch;
    lb_workload *workload = equal_works(1.99 * lb_host_cores(host) / n, n);
    lb_trace *trace = NULL;
    surroundings before;
    look_around(&before);
    moment begin = moment_now();
    lb_status status = lb_experiment_workload(host, workload, &options, &trace, &err);
    double took = moment_now().time - begin.time, foreign = foreign_since(&begin);
    printf("%u %s, %s controller: %s after %.2f s of 2, at most %.0f ms between two calls\n",
           (unsigned)n, kind == LB_WORKERS_THREADS ? "threads" : "processes",
           raised ? "raised" : "unprivileged", lb_status_name(status), took, watch.longest * 1e3);
    ck_assert_int_eq(status, LB_ERR_TIMEOUT);
    assert_unchanged(&before);
    assert_childless();
#ifdef __SANITIZE_ADDRESS__
    raised = false; /* making and ending workers takes many times as long */
#endif
    /* A raised controller is prompt on a loaded machine too, but what it asks of the kernel, to end
     * a thousand processes, is done beside others, and takes a slow machine longer. */
    if (raised && (took >= 3 || watch.longest >= 0.5) && foreign > 0.02) {
        printf("skipped: the pace of the controller beside foreign CPU time of %.1f %%\n",
               100 * foreign);
    } else if (raised && (took >= 3 || watch.longest >= 0.5)) {
        double ending = time_to_end(n);
        printf("the machine takes %.2f s to end %u idle processes\n", ending, (unsigned)n);
        ck_assert_double_lt(took, 2 + fmax(1, 3 * ending));
        ck_assert_double_lt(watch.longest, fmax(0.5, 2 * ending));
    }
    lb_workload_free(workload);
}

START_TEST(pace_of_the_controller) {
    host = open_two_cores();
    bool root = geteuid() == 0;
    assert_prompt(LB_WORKERS_PROCESSES, 130, root);
    assert_prompt(LB_WORKERS_THREADS, 130, root);
    assert_prompt(LB_WORKERS_PROCESSES, 1000, root);
    lb_host_free(host);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("undisturbed");
    ADD(s, "undisturbed", single_queue, even, pace_of_the_controller);
    return s;
}
