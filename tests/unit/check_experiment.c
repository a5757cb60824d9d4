/* SPDX-License-Identifier: BSD-3-Clause */
/* Experiments on the running kernel: what they record, and that nothing is left of them, whatever
 * happens. They assert mechanism, never how long something took. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/random.h"
#include "base/text.h"
#include "experiment/crew.h"
#include "experiment/schedule.h"
#include "harness.h"
#include "surroundings.h"

/* ---- tiny experiments ---- */

static lb_host *host;
static lb_error err;

static lb_experiment_options tiny(void) {
    lb_experiment_options options;
    lb_experiment_options_init(&options, sizeof options);
    options.design = LB_DETECT_FIXED;
    options.tasks_per_core = 3;
    options.unit_work = 0.001;
    options.budget = 1;
    return options;
}

/* Where the machine is so busy with others that the budget does not do, more of it: these tests are
 * not about time. */
static lb_status detect(const lb_experiment_options *options, lb_trace **ret_trace) {
    lb_experiment_options patient = *options;
    lb_status status;
    do {
        status = lb_experiment_run(host, LB_EXPERIMENT_DETECT, &patient, ret_trace, &err);
        patient.budget *= 2;
    } while (status == LB_ERR_TIMEOUT && patient.budget < 100);
    return status;
}

/* Not by strtod(), which under a comma locale reads 0 of "0.00002". */
static double meta_number(const lb_trace *trace, const char *key) {
    const char *text = lb_trace_meta(trace, key);
    double number;
    ck_assert_msg(text != NULL && lbi_parse_number(text, text + strlen(text), &number),
                  "%s is no number: %s", key, text == NULL ? "not there" : text);
    return number;
}

/* What a unit was taken for before the run, in which it was measured. */
static double calibrated_unit(const lb_trace *trace) {
    return lb_trace_unit_work(trace) / (1 + meta_number(trace, "work_drift_percent") / 100);
}

static lb_workload *works(const double *work, size_t n) {
    lb_workload *workload = NULL;
    ASSERT_OK(lb_workload_new(&workload, &err), err);
    ASSERT_OK(lb_workload_add_many(workload, work, n, NULL, &err), err);
    return workload;
}

/* ---- the schedule of ends ---- */

START_TEST(ends_are_apart) {
    lbi_random random;
    lbi_random_seed(&random, 1);
    for (int trial = 0; trial < 300; trial++) {
        uint32_t cores = 2 + (uint32_t)lbi_random_below(&random, 30);
        uint32_t x = 3 + (uint32_t)lbi_random_below(&random, 5), n = cores * x;
        int64_t round = (int64_t)(lbi_random_unit(&random) * 1e9);
        int64_t available = (int64_t)(1e8 + lbi_random_unit(&random) * 3e10);
        int64_t ends[37 * 7];
        bool seen[37 * 7] = {false};
        lbi_schedule_ends(cores, x, round, available, ends);
        ck_assert_int_gt(ends[0], 0);
        ck_assert_int_le(ends[n - 1], available + 1);
        for (uint32_t k = 0; k < n; k++) {
            ck_assert(k == 0 || ends[k] > ends[k - 1]);
            uint32_t victim = lbi_schedule_victim(cores, x, k);
            ck_assert_uint_lt(victim, n);
            ck_assert(!seen[victim]);
            seen[victim] = true;
            /* All of the first core's list end first. */
            ck_assert_int_eq(victim % cores == 0, k < x);
        }
    }
}
END_TEST

/* The intervals that decide are ten rounds long, where there is time. */
START_TEST(deciding_intervals_are_long) {
    for (uint32_t x = 3; x < 8; x++) {
        int64_t ends[14], round = INT64_C(700000000);
        lbi_schedule_ends(2, x, round, INT64_MAX, ends);
        ck_assert_int_ge(ends[1] - ends[0], 10 * round);
        ck_assert_int_ge(ends[2] - ends[1], 7 * round);
        ck_assert_int_ge(ends[x] - ends[x - 1], 10 * round);
    }
    /* The defaults on two cores: within the budget, and never scaled down. */
    int64_t ends[6];
    lbi_schedule_ends(2, 3, INT64_C(300000000), INT64_C(18000000000), ends);
    ck_assert_int_lt(ends[5], INT64_C(14000000000));
}
END_TEST

/* ---- refusals ---- */

START_TEST(refused) {
    lb_trace *trace = NULL;
    lb_experiment_options options;
    lb_experiment_options_init(&options, sizeof options);
    ck_assert_uint_eq(options.size, sizeof options);
    ck_assert_uint_eq(options.tasks_per_core, 0);
    ck_assert_double_eq(options.confidence, 0);
    ck_assert_int_eq(options.design, LB_DETECT_ADAPTIVE);
    ck_assert_double_eq(options.unit_work, 0.01);
    ck_assert_double_eq(options.budget, 20);
    ck_assert(options.progress == NULL);
#define REFUSED(field_, value_, words_)                                                            \
    do {                                                                                           \
        lb_experiment_options bad_ = options;                                                      \
        bad_.field_ = value_;                                                                      \
        ASSERT_REFUSED(lb_experiment_run(NULL, LB_EXPERIMENT_DETECT, &bad_, &trace, &err),         \
                       LB_ERR_INVALID, words_, err);                                               \
    } while (0)
    REFUSED(tasks_per_core, 2, "tasks_per_core is 2");
    REFUSED(reserved, 1, "reserved is 1");
    REFUSED(reserved2, 2, "reserved is 2");
    REFUSED(design, 2, "design is 2");
    REFUSED(confidence, 0.49, "confidence is 0.49");
    REFUSED(confidence, 1, "confidence is 1");
    REFUSED(confidence, NAN, "confidence is nan");
    REFUSED(unit_work, 0.0004, "unit_work is 0.0004");
    REFUSED(unit_work, 1.01, "unit_work is 1.01");
    REFUSED(unit_work, NAN, "unit_work is nan");
    REFUSED(budget, 0.9, "budget is 0.9");
    REFUSED(budget, INFINITY, "budget is inf");
    REFUSED(budget, NAN, "budget is nan");
    REFUSED(size, 8, "lb_experiment_options.size is 8");
#undef REFUSED
    ASSERT_REFUSED(lb_experiment_run(NULL, (lb_experiment_kind)6, NULL, &trace, &err),
                   LB_ERR_INVALID, "kind is 6", err);
    lb_verdict *verdict = NULL;
    options.budget = 0;
    ASSERT_REFUSED(lb_detect(NULL, &options, &verdict, &trace, &err), LB_ERR_INVALID, "budget is 0",
                   err);
    ck_assert_ptr_null(verdict);
    ck_assert_ptr_null(trace);
}
END_TEST

START_TEST(workload_refused) {
    host = open_two_cores();
    lb_trace *trace = NULL;
    double work = 0.01;
    lb_workload *workload = works(&work, 1);
    ASSERT_OK(lb_workload_set_first_core(workload, 0, lb_host_cores(host), &err), err);
    ASSERT_REFUSED(lb_experiment_workload(host, workload, NULL, &trace, &err), LB_ERR_INVALID,
                   "first core", err);
    lb_workload_free(workload);
    workload = works(&work, 1);
    ASSERT_OK(lb_workload_set_weight(workload, 0, 2, &err), err);
    ASSERT_REFUSED(lb_experiment_workload(host, workload, NULL, &trace, &err), LB_ERR_UNSUPPORTED,
                   "weights", err);
    lb_workload_free(workload);
    workload = works(&work, 1);
    ASSERT_OK(lb_workload_set_arrival(workload, 0, 1000, &err), err);
    ASSERT_REFUSED(lb_experiment_workload(host, workload, NULL, &trace, &err), LB_ERR_TIMEOUT,
                   "arrives at 1000 s", err);
    lb_workload_free(workload);
    workload = works(&work, 1);
    ASSERT_OK(lb_workload_add_event(workload, 0, 1, LB_EVENT_WAKE, &err), err);
    ASSERT_OK(lb_workload_add_event(workload, 0, 1, LB_EVENT_SLEEP, &err), err);
    ASSERT_REFUSED(lb_experiment_workload(host, workload, NULL, &trace, &err), LB_ERR_INVALID,
                   "never woken", err);
    lb_workload_free(workload);
    work = INFINITY;
    workload = works(&work, 1);
    ASSERT_REFUSED(lb_experiment_workload(host, workload, NULL, &trace, &err), LB_ERR_INVALID,
                   "infinite", err);
    lb_workload_free(workload);
    work = 30;
    workload = works(&work, 1);
    ASSERT_REFUSED(lb_experiment_workload(host, workload, NULL, &trace, &err), LB_ERR_TIMEOUT,
                   "budget", err);
    lb_workload_free(workload);
    /* More than there may be in all, which depends on the cores. */
    lb_experiment_options options;
    lb_experiment_options_init(&options, sizeof options);
    options.tasks_per_core = UINT32_MAX;
    ASSERT_REFUSED(lb_experiment_run(host, LB_EXPERIMENT_DETECT, &options, &trace, &err),
                   LB_ERR_INVALID, "tasks_per_core is 4294967295", err);
    ck_assert_ptr_null(trace);
    lb_host_free(host);
}
END_TEST

/* ---- what is recorded ---- */

static int64_t end_of(const lb_trace *trace, uint32_t task) {
    size_t n;
    int64_t end = 0;
    const lb_unit *units = lb_trace_units(trace, &n);
    for (size_t i = 0; i < n; i++)
        if (units[i].task == task)
            end = units[i].end_ns;
    return end;
}

static void assert_sound(const lb_trace *trace, uint32_t tasks) {
    size_t n;
    const lb_unit *units = lb_trace_units(trace, &n);
    ck_assert_uint_eq(lb_trace_tasks(trace), tasks);
    ck_assert_uint_eq(lb_trace_cores(trace), lb_host_cores(host));
    ck_assert_uint_ge(n, tasks);
    for (size_t i = 0; i < n; i++) {
        const lb_unit *unit = &units[i];
        ck_assert_int_ge(unit->cpu_ns, 0);
        ck_assert_int_ge(unit->core_start, 0);
        ck_assert_int_lt(unit->core_start, (int32_t)lb_host_cores(host));
        ck_assert_int_ge(unit->core_end, 0);
        ck_assert_int_lt(unit->core_end, (int32_t)lb_host_cores(host));
        if (unit->index == 0)
            continue;
        ck_assert_uint_eq(unit->task, unit[-1].task);
        ck_assert_uint_eq(unit->index, unit[-1].index + 1);
        ck_assert_int_eq(unit->start_ns, unit[-1].end_ns);
        ck_assert_int_eq(unit->core_start, unit[-1].core_end);
    }
    static const char *const keys[] = {"host",     "cpus",    "experiment", "library",
                                       "kernel",   "class",   "priority",   "nice",
                                       "budget_s", "chunk_s", "origin_s",   "foreign_cpu_percent"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        ck_assert_msg(lb_trace_meta(trace, keys[i]) != NULL, "no %s", keys[i]);
    double foreign = meta_number(trace, "foreign_cpu_percent");
    ck_assert(foreign >= 0 && foreign <= 101);
    ck_assert_ptr_null(lb_trace_meta(trace, "lost_units"));
    ck_assert_ptr_nonnull(strstr(lb_trace_meta(trace, "class"), "SCHED_"));
}

START_TEST(detect_records) {
    host = open_two_cores();
    surroundings before;
    look_around(&before);
    lb_experiment_options options = tiny();
    options.budget = 2;
    lb_trace *trace = NULL;
    ASSERT_OK(detect(&options, &trace), err);
    assert_unchanged(&before);
    assert_childless();
    uint32_t tasks = 3 * lb_host_cores(host);
    assert_sound(trace, tasks);
    ck_assert_str_eq(lb_trace_meta(trace, "experiment"), "detect");
    ck_assert_str_eq(lb_trace_meta(trace, "tasks_per_core"), "3");
    /* The size of every core's list at the start. */
    uint32_t sum = 0, cores = 0;
    for (const char *sizes = lb_trace_meta(trace, "even_start"); *sizes != '\0'; cores++) {
        char *end;
        sum += (uint32_t)strtoul(sizes, &end, 10);
        sizes = *end == ',' ? end + 1 : end;
    }
    ck_assert_uint_eq(sum, tasks);
    ck_assert_uint_eq(cores, lb_host_cores(host));
    /* The unit is a whole number of chunks, and near what was asked for. */
    double chunk = meta_number(trace, "chunk_s"), unit = lb_trace_unit_work(trace);
    ck_assert_double_lt(fabs(unit / chunk - round(unit / chunk)), 1e-3);
    /* It was measured in the run: as calibrated, which is what the drift is from, it is within a
     * chunk of what was asked for. */
    ck_assert_double_lt(fabs(calibrated_unit(trace) - options.unit_work), chunk);
    /* Every task was bound, let go and told to end, and ended no sooner than told. */
    size_t marks_n, kinds[LB_MARK_END + 1] = {0};
    const lb_mark *marks = lb_trace_marks(trace, &marks_n);
    for (size_t i = 0; i < marks_n; i++) {
        kinds[marks[i].kind]++;
        if (marks[i].kind == LB_MARK_END)
            ck_assert_int_ge(end_of(trace, marks[i].task), marks[i].time_ns);
        else
            ck_assert_int_lt(marks[i].time_ns, 0);
    }
    ck_assert_uint_eq(kinds[LB_MARK_PIN], tasks);
    ck_assert_uint_eq(kinds[LB_MARK_UNPIN], tasks);
    ck_assert_uint_eq(kinds[LB_MARK_END], tasks);
    lb_trace_free(trace);
    lb_host_free(host);
}
END_TEST

static double cpu_time(const lb_trace *trace, uint32_t task) {
    size_t n;
    double sum = 0;
    const lb_unit *units = lb_trace_units(trace, &n);
    for (size_t i = 0; i < n; i++)
        sum += units[i].task == task ? (double)units[i].cpu_ns / 1e9 : 0;
    return sum;
}

/* A task's mark of a kind, of which there are `count`; the first. */
static int64_t mark_of(const lb_trace *trace, uint32_t task, lb_mark_kind kind, size_t count) {
    size_t n, found = 0;
    int64_t time = 0;
    const lb_mark *marks = lb_trace_marks(trace, &n);
    for (size_t i = 0; i < n; i++)
        if (marks[i].task == task && marks[i].kind == (int32_t)kind)
            time = found++ == 0 ? marks[i].time_ns : time;
    ck_assert_uint_eq(found, count);
    return time;
}

/* No unit of the task lies in between. */
static void assert_asleep(const lb_trace *trace, uint32_t task, int64_t from, int64_t to) {
    size_t n;
    const lb_unit *units = lb_trace_units(trace, &n);
    for (size_t i = 0; i < n; i++)
        if (units[i].task == task)
            ck_assert(units[i].end_ns <= from || units[i].start_ns >= to);
}

/* The task did not one chunk. */
static void assert_idle(const lb_trace *trace, uint32_t task) {
    size_t n;
    const lb_slice *slices = lb_trace_slices(trace, &n);
    for (size_t i = 0; i < n; i++)
        ck_assert_uint_ne(slices[i].task, task);
}

static int64_t start_of(const lb_trace *trace, uint32_t task) {
    size_t n;
    const lb_unit *units = lb_trace_units(trace, &n);
    for (size_t i = 0; i < n; i++)
        if (units[i].task == task)
            return units[i].start_ns;
    return -1;
}

#define MS INT64_C(1000000)

/* What lb_model_trace() predicts of such a workload: arrivals, sleeps and a stop, marked. */
START_TEST(workload_events) {
    host = open_two_cores();
    surroundings before;
    look_around(&before);
    lb_experiment_options options = tiny();
    options.budget = 20;
    /* Task 2 has so much that it cannot have done it before it sleeps: where a host takes the core
     * away, that is CPU time to the guest. */
    static const double work[] = {0.05, 0.04, 0.3, INFINITY, 0.03, 0.02};
    lb_workload *workload = works(work, 6);
    ASSERT_OK(lb_workload_set_arrival(workload, 1, 0.1, &err), err);
    ASSERT_OK(lb_workload_set_first_core(workload, 1, 1, &err), err);
    ASSERT_OK(lb_workload_add_event(workload, 2, 0.3, LB_EVENT_WAKE, &err), err);
    ASSERT_OK(lb_workload_add_event(workload, 2, 0.005, LB_EVENT_SLEEP, &err), err);
    ASSERT_OK(lb_workload_add_event(workload, 3, 0.15, LB_EVENT_STOP, &err), err);
    /* Arrives asleep. */
    ASSERT_OK(lb_workload_set_arrival(workload, 4, 0.02, &err), err);
    ASSERT_OK(lb_workload_add_event(workload, 4, 0.02, LB_EVENT_SLEEP, &err), err);
    ASSERT_OK(lb_workload_add_event(workload, 4, 0.2, LB_EVENT_WAKE, &err), err);
    /* Asleep from the start until it is stopped. */
    ASSERT_OK(lb_workload_add_event(workload, 5, 0, LB_EVENT_SLEEP, &err), err);
    ASSERT_OK(lb_workload_add_event(workload, 5, 0.1, LB_EVENT_STOP, &err), err);
    lb_trace *trace = NULL;
    ASSERT_OK(run_patiently(host, workload, &options, &trace, &err), err);
    assert_unchanged(&before);
    assert_childless();
    ck_assert_int_ge(mark_of(trace, 1, LB_MARK_FORK, 1), 100 * MS);
    ck_assert_int_ge(start_of(trace, 1), 100 * MS);
    int64_t slept = mark_of(trace, 2, LB_MARK_SLEEP, 1), woke = mark_of(trace, 2, LB_MARK_WAKE, 1);
    ck_assert_int_ge(slept, 5 * MS);
    ck_assert_int_ge(woke, 300 * MS);
    ck_assert_int_ge(end_of(trace, 2), woke);
    assert_asleep(trace, 2, slept, woke);
    ck_assert_int_eq(mark_of(trace, 3, LB_MARK_END, 1), 150 * MS);
    ck_assert_int_ge(end_of(trace, 3), 150 * MS);
    ck_assert_int_ge(start_of(trace, 4), 200 * MS);
    mark_of(trace, 5, LB_MARK_WAKE, 0);
    mark_of(trace, 5, LB_MARK_END, 1);
    assert_idle(trace, 5);
    for (uint32_t task = 0; task < 5; task++)
        if (task != 3)
            ck_assert_double_ge(cpu_time(trace, task),
                                work[task] - 1.5 * meta_number(trace, "chunk_s"));
    lb_trace_free(trace);
    lb_workload_free(workload);
    lb_host_free(host);
}
END_TEST

/* The most workers seen at one time that have nice level 10. */
static int most_of_nice_10(void *user, double fraction) {
    (void)fraction;
    int *most = user, count = 0;
    pid_t workers[64];
    int n = list_workers(workers, 64);
    for (int i = 0; i < n; i++)
        count += getpriority(PRIO_PROCESS, (id_t)workers[i]) == 10;
    *most = count > *most ? count : *most;
    return 0;
}

/* A weight is a share: nice 0 beside nice 10, whose weight is a ninth. */
START_TEST(workload_weights) {
    host = open_two_cores();
    uint32_t cores = lb_host_cores(host);
    lb_experiment_options options = tiny();
    int light_ones = 0;
    options.budget = 30;
    options.progress = most_of_nice_10;
    options.progress_user = &light_ones;
    double work[64];
    lb_workload *workload = NULL;
    uint32_t n = 2 * (cores < 32 ? cores : 32);
    for (uint32_t i = 0; i < n; i++)
        work[i] = 0.3;
    workload = works(work, n);
    for (uint32_t i = 0; i < n / 2; i++)
        ASSERT_OK(lb_workload_set_weight(workload, i, lb_nice_weight(10), &err), err);
    lb_trace *trace = NULL;
    moment begin = moment_now();
    ASSERT_OK(run_patiently(host, workload, &options, &trace, &err), err);
    assert_childless();
    ck_assert_int_eq(light_ones, (int)n / 2);
    /* The light ones are last by far: when the heavy ones end they have a tenth of their work. */
    int64_t heavy = 0, light = INT64_MAX;
    for (uint32_t i = 0; i < n; i++) {
        int64_t end = end_of(trace, i);
        if (i >= n / 2)
            heavy = end > heavy ? end : heavy;
        else
            light = end < light ? end : light;
    }
    if (!missed_beside_others(light > heavy, "the light ones were not last", &begin))
        ck_assert_int_gt(light, heavy);
    ck_assert_int_eq(getpriority(PRIO_PROCESS, 0), 0);
    lb_trace_free(trace);
    lb_workload_free(workload);
    lb_host_free(host);
}
END_TEST

START_TEST(workload_records) {
    host = open_two_cores();
    surroundings before;
    look_around(&before);
    lb_experiment_options options = tiny();
    options.budget = 10;
    /* Whole units, a rest, less than a unit, nothing at all. */
    static const double work[] = {0.02, 0.0305, 0.0004, 0, 0.05};
    lb_workload *workload = works(work, 5);
    ASSERT_OK(lb_workload_set_first_core(workload, 1, 1, &err), err);
    ASSERT_OK(lb_workload_set_first_core(workload, 4, 0, &err), err);
    lb_trace *trace = NULL;
    ASSERT_OK(run_patiently(host, workload, &options, &trace, &err), err);
    assert_unchanged(&before);
    assert_childless();
    assert_sound(trace, 5);
    ck_assert_str_eq(lb_trace_meta(trace, "experiment"), "workload");
    /* As much CPU time as the work says, to half a chunk, and no unit is begun when that is done.
     * What the last took beyond it is the machine's, which may be away for a while. */
    double chunk = meta_number(trace, "chunk_s");
    size_t n;
    const lb_unit *units = lb_trace_units(trace, &n);
    for (uint32_t task = 0; task < 5; task++) {
        double last = 0, used = cpu_time(trace, task);
        for (size_t i = 0; i < n; i++)
            last = units[i].task == task ? (double)units[i].cpu_ns / 1e9 : last;
        ck_assert_double_ge(used, work[task] - 1.5 * chunk);
        ck_assert_double_le(used - last, work[task]);
    }
    lb_trace_free(trace);
    lb_workload_free(workload);
    /* Nobody at all. */
    workload = works(NULL, 0);
    ASSERT_OK(run_patiently(host, workload, &options, &trace, &err), err);
    ck_assert_uint_eq(lb_trace_tasks(trace), 0);
    lb_trace_free(trace);
    lb_workload_free(workload);
    lb_host_free(host);
}
END_TEST

/* Room for four units, where ten come: the trace says how many are missing. */
START_TEST(lost_units) {
    host = open_two_cores();
    lb_experiment_options options = tiny();
    static const size_t capacities[] = {4, 20};
    lbi_crew crew;
    ASSERT_OK(lbi_crew_begin(&crew, host, &options, 2, capacities, &err), err);
    ASSERT_OK(lbi_crew_calibrate(&crew, &err), err);
    for (int i = 0; i < 2; i++)
        crew.arena->slots[i].chunks = 10 * crew.arena->unit_chunks;
    ASSERT_OK(lbi_crew_spin(&crew, &err), err);
    ASSERT_OK(lbi_crew_release(&crew, &err), err);
    ASSERT_OK(lbi_crew_finish(&crew, &err), err);
    lb_trace *trace = NULL;
    ASSERT_OK(lbi_crew_trace(&crew, "test", &trace, &err), err);
    lbi_crew_end(&crew);
    size_t n;
    lb_trace_units(trace, &n);
    ck_assert_uint_eq(n, 14);
    ck_assert_str_eq(lb_trace_meta(trace, "lost_units"), "6");
    lb_trace_free(trace);
    lb_host_free(host);
    assert_childless();
}
END_TEST

/* The smallest units of the longest of tiny runs: none is lost. */
START_TEST(small_units) {
    host = open_two_cores();
    lb_experiment_options options = tiny();
    options.unit_work = 0.0005;
    lb_trace *trace = NULL;
    ASSERT_OK(detect(&options, &trace), err);
    assert_sound(trace, 3 * lb_host_cores(host));
    lb_trace_free(trace);
    lb_host_free(host);
}
END_TEST

/* ---- progress, cancelling, faults ---- */

typedef struct watch {
    pthread_t thread;
    int calls, act_at;
    double fraction;
    int (*act)(void); /* its result is the callback's */
} watch;

static int act_in_time(void *user, double fraction) {
    watch *w = user;
    ck_assert(pthread_equal(pthread_self(), w->thread));
    ck_assert(fraction >= w->fraction && fraction <= 1);
    w->fraction = fraction;
    return w->calls++ == w->act_at && w->act != NULL ? w->act() : 0;
}

static lb_status watched(double budget, int act_at, int (*act)(void), watch *ret_watch) {
    lb_experiment_options options = tiny();
    lb_trace *trace = NULL;
    lb_status status;
    watch w;
    options.budget = budget;
    do {
        w = (watch){.thread = pthread_self(), .act_at = act_at, .act = act};
        options.progress = act_in_time;
        options.progress_user = &w;
        status = lb_experiment_run(host, LB_EXPERIMENT_DETECT, &options, &trace, &err);
        options.budget *= 2;
    } while (status == LB_ERR_TIMEOUT && options.budget < 100);
    assert_answered();
    ck_assert((status == LB_OK) == (trace != NULL));
    lb_trace_free(trace);
    if (ret_watch != NULL)
        *ret_watch = w;
    return status;
}

/* A run that ends by what is done at a call: long enough for that call to come, however late the
 * machine lets them be. */
static lb_status ended_by(int act_at, int (*act)(void)) {
    return watched(4, act_at, act, NULL);
}

START_TEST(progress) {
    host = open_two_cores();
    watch w;
    ASSERT_OK(watched(1, -1, NULL, &w), err);
    ck_assert_int_ge(w.calls, 5);
    ck_assert_double_gt(w.fraction, 0.5);
    lb_host_free(host);
}
END_TEST

static int cancel(void) {
    note_fault();
    return 1;
}

/* Calls at every step of the way, 50 ms apart: while the workers calibrate, are arranged, and run.
 */
static const int steps[] = {0, 1, 2, 3, 5, 9};
#define EACH_STEP(call_) for (size_t call_ = 0; call_ < sizeof steps / sizeof *steps; call_++)

START_TEST(cancelled) {
    host = open_two_cores();
    surroundings before;
    look_around(&before);
    EACH_STEP(i) {
        ASSERT_REFUSED(ended_by(steps[i], cancel), LB_ERR_CANCELLED, "callback", err);
        assert_unchanged(&before);
        assert_childless();
    }
    lb_host_free(host);
}
END_TEST

/* The time within the call is random too. */
static int cancel_after_a_while(void) {
    static uint64_t draw;
    struct timespec pause = {.tv_nsec = (long)(lbi_mix(++draw) % 50000000)};
    nanosleep(&pause, NULL);
    note_fault();
    return 1;
}

START_TEST(cancelled_any_time) {
    host = open_two_cores();
    surroundings before;
    look_around(&before);
    for (int trial = 0; trial < 20; trial++) {
        ASSERT_REFUSED(ended_by(trial % 5, cancel_after_a_while), LB_ERR_CANCELLED, "callback",
                       err);
        assert_unchanged(&before);
        assert_childless();
    }
    lb_host_free(host);
}
END_TEST

static int real_time(void) {
    struct sched_param param = {.sched_priority = 1};
    return sched_setscheduler(0, SCHED_RR, &param);
}

START_TEST(cancelled_real_time) {
    host = open_two_cores();
    if (real_time() != 0) {
        printf("skipped: SCHED_RR: %s\n", strerror(errno));
        return;
    }
    surroundings before;
    look_around(&before);
    ck_assert_int_eq(before.policy, SCHED_RR);
    EACH_STEP(i) {
        ASSERT_REFUSED(ended_by(steps[i], cancel), LB_ERR_CANCELLED, "callback", err);
        assert_unchanged(&before);
        assert_childless();
    }
    lb_host_free(host);
}
END_TEST

static int real_time_runs(void *user, double fraction) {
    (void)fraction;
    pid_t workers[64];
    int n = list_workers(workers, 64);
    struct sched_param param;
    for (int i = 0; i < n; i++)
        if (sched_getscheduler(workers[i]) == SCHED_RR && sched_getparam(workers[i], &param) == 0 &&
            param.sched_priority == 1)
            ++*(int *)user;
    return 0;
}

/* The workers have the caller's class and priority, the controller is above them. */
START_TEST(real_time_class) {
    host = open_two_cores();
    if (real_time() != 0) {
        printf("skipped: SCHED_RR: %s\n", strerror(errno));
        return;
    }
    surroundings before;
    look_around(&before);
    int seen = 0;
    lb_experiment_options options = tiny();
    options.budget = 2;
    options.progress = real_time_runs;
    options.progress_user = &seen;
    lb_trace *trace = NULL;
    ASSERT_OK(detect(&options, &trace), err);
    assert_unchanged(&before);
    assert_childless();
    ck_assert_int_gt(seen, 0);
    ck_assert_str_eq(lb_trace_meta(trace, "class"), "SCHED_RR");
    ck_assert_str_eq(lb_trace_meta(trace, "priority"), "1");
    lb_trace_free(trace);
    /* Whoever runs alone to the end shares with nobody. */
    struct sched_param param = {.sched_priority = 1};
    ck_assert_int_eq(sched_setscheduler(0, SCHED_FIFO, &param), 0);
    ASSERT_REFUSED(lb_experiment_run(host, LB_EXPERIMENT_DETECT, &options, &trace, &err),
                   LB_ERR_UNSUPPORTED, "SCHED_FIFO", err);
    lb_host_free(host);
}
END_TEST

static int signal_to_a_worker(int number) {
    static uint64_t draw;
    pid_t workers[64];
    int n = list_workers(workers, 64);
    if (n > 0)
        kill(workers[lbi_mix(++draw) % (uint64_t)n], number);
    return 0;
}

static int kill_a_worker(void) {
    note_fault();
    return signal_to_a_worker(SIGKILL);
}

static int stop_a_worker(void) {
    note_fault();
    return signal_to_a_worker(SIGSTOP);
}

static int harmless_signals(void) {
    return signal_to_a_worker(SIGINT) | signal_to_a_worker(SIGTERM) | signal_to_a_worker(SIGUSR1);
}

START_TEST(worker_faults) {
    host = open_two_cores();
    surroundings before;
    look_around(&before);
    EACH_STEP(i) {
        ASSERT_REFUSED(ended_by(steps[i], kill_a_worker), LB_ERR_WORKER, "killed by signal 9", err);
        assert_unchanged(&before);
        assert_childless();
        ASSERT_REFUSED(ended_by(steps[i], stop_a_worker), LB_ERR_WORKER, "stopped by signal 19",
                       err);
        assert_unchanged(&before);
        assert_childless();
    }
    lb_host_free(host);
}
END_TEST

/* The caller's handlers do not run in workers, and an interrupt of the whole group ends none. */
static volatile sig_atomic_t handled;

static void handle(int number) {
    (void)number;
    handled++;
}

START_TEST(signals) {
    host = open_two_cores();
    static const int numbers[] = {SIGINT, SIGTERM, SIGUSR1, SIGCHLD};
    struct sigaction action = {.sa_handler = handle};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        sigaction(numbers[i], &action, NULL);
    ASSERT_OK(watched(1, 3, harmless_signals, NULL), err);
    ck_assert_int_eq(handled, 0);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction now;
        sigaction(numbers[i], NULL, &now);
        ck_assert(now.sa_handler == handle);
    }
    lb_host_free(host);
}
END_TEST

/* The caller's own children end before, during and after, and are there to be waited for. */
static pid_t end_later(int pause_ms, int status) {
    pid_t child = fork();
    if (child == 0) {
        struct timespec pause = {.tv_nsec = pause_ms * 1000000L};
        nanosleep(&pause, NULL);
        _exit(status);
    }
    return child;
}

START_TEST(other_children) {
    host = open_two_cores();
    static const int pauses[] = {0, 100, 400, 900};
    pid_t children[4];
    for (int i = 0; i < 4; i++)
        children[i] = end_later(pauses[i], 40 + i);
    ASSERT_OK(watched(1, -1, NULL, NULL), err);
    for (int i = 0; i < 4; i++) {
        int status;
        ck_assert_int_eq(waitpid(children[i], &status, 0), children[i]);
        ck_assert(WIFEXITED(status));
        ck_assert_int_eq(WEXITSTATUS(status), 40 + i);
    }
    assert_childless();
    lb_host_free(host);
}
END_TEST

START_TEST(children_ignored) {
    host = open_two_cores();
    signal(SIGCHLD, SIG_IGN);
    surroundings before;
    look_around(&before);
    ASSERT_OK(watched(1, -1, NULL, NULL), err);
    ASSERT_REFUSED(ended_by(4, kill_a_worker), LB_ERR_WORKER, "killed by signal 9", err);
    assert_unchanged(&before);
    assert_childless();
    lb_host_free(host);
}
END_TEST

/* The parent is killed: its workers die with it. This process adopts and counts them. */
static int keep_going(void *user, double fraction) {
    int *pipe_ = user;
    if (fraction > 0.03 && *pipe_ >= 0) {
        pid_t workers[64];
        int n = list_workers(workers, 64);
        ck_assert_int_eq(write(*pipe_, workers, (size_t)n * sizeof *workers),
                         n * (ssize_t)sizeof *workers);
        close(*pipe_);
        *pipe_ = -1;
    }
    return 0;
}

START_TEST(parent_killed) {
    host = open_two_cores();
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    pid_t parent = fork();
    if (parent == 0) {
        lb_experiment_options options = tiny();
        options.budget = 60;
        options.progress = keep_going;
        options.progress_user = &ends[1];
        lb_trace *trace;
        lb_experiment_run(host, LB_EXPERIMENT_DETECT, &options, &trace, NULL);
        _exit(0);
    }
    close(ends[1]);
    pid_t workers[64];
    ssize_t bytes = read(ends[0], workers, sizeof workers);
    /* Workers hold none of the parent's files: else the pipe would not end here. */
    char more;
    ck_assert_int_eq(read(ends[0], &more, 1), 0);
    close(ends[0]);
    ck_assert_int_ge(bytes, 2 * (ssize_t)sizeof *workers);
    kill(parent, SIGKILL);
    note_fault();
    int status, killed = 0;
    pid_t child;
    while ((child = waitpid(-1, &status, __WALL)) > 0) {
        ck_assert(WIFSIGNALED(status));
        ck_assert_int_eq(WTERMSIG(status), SIGKILL);
        for (ssize_t i = 0; i < bytes / (ssize_t)sizeof *workers; i++)
            killed += workers[i] == child ? 1 : 0;
    }
    assert_answered();
    ck_assert_int_eq(killed, bytes / (ssize_t)sizeof *workers);
    lb_host_free(host);
}
END_TEST

/* ---- resources ---- */

START_TEST(no_room) {
#ifdef __SANITIZE_ADDRESS__
    return; /* its allocator ends the program where there is no room */
#endif
    host = open_two_cores();
    surroundings before;
    look_around(&before);
    lb_experiment_options options = tiny();
    lb_trace *trace = NULL;
    struct rlimit limit, none = {.rlim_cur = 1 << 20, .rlim_max = RLIM_INFINITY};
    ck_assert_int_eq(getrlimit(RLIMIT_AS, &limit), 0);
    none.rlim_max = limit.rlim_max;
    ck_assert_int_eq(setrlimit(RLIMIT_AS, &none), 0);
    lb_status status = lb_experiment_run(host, LB_EXPERIMENT_DETECT, &options, &trace, &err);
    ck_assert_int_eq(setrlimit(RLIMIT_AS, &limit), 0);
    ck_assert_int_eq(status, LB_ERR_NOMEM);
    ck_assert_ptr_null(trace);
    assert_unchanged(&before);
    assert_childless();
    lb_host_free(host);
}
END_TEST

static bool write_text(const char *folder, const char *name, long value) {
    char path[192], text[32];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    int length = snprintf(text, sizeof text, "%ld", value);
    int file = open(path, O_WRONLY);
    bool ok = file >= 0 && write(file, text, (size_t)length) == length;
    if (file >= 0)
        close(file);
    return ok;
}

/* The n-th worker cannot be made: a pids cgroup (v1, root) that has room for n - 1. */
START_TEST(no_process) {
    host = open_two_cores();
    char folder[128];
    snprintf(folder, sizeof folder, "/sys/fs/cgroup/pids/lbsched-check-%ld", (long)getpid());
    if (mkdir(folder, 0755) != 0) {
        printf("skipped: no pids cgroup of version 1 can be made: %s\n", strerror(errno));
        return;
    }
    surroundings before;
    look_around(&before);
    lb_experiment_options options = tiny();
    lb_trace *trace = NULL;
    for (long room = 1; room < 6; room += 2) {
        ck_assert(write_text(folder, "pids.max", room));
        ck_assert(write_text(folder, "tasks", getpid()));
        lb_status status = lb_experiment_run(host, LB_EXPERIMENT_DETECT, &options, &trace, &err);
        ck_assert(write_text("/sys/fs/cgroup/pids", "tasks", getpid()));
        ck_assert_int_eq(status, LB_ERR_SYSTEM);
        ck_assert_int_eq(err.os_errno, EAGAIN);
        ck_assert_ptr_nonnull(strstr(err.message, "cannot make worker"));
        assert_unchanged(&before);
        assert_childless();
    }
    ck_assert_int_eq(rmdir(folder), 0);
    lb_host_free(host);
}
END_TEST

static int sleep_long(void *user, double fraction) {
    (void)user;
    (void)fraction;
    struct timespec pause = {.tv_sec = 1, .tv_nsec = 100000000};
    nanosleep(&pause, NULL);
    return 0;
}

/* The budget is spent while the callback dawdles before the start. */
START_TEST(out_of_time) {
    host = open_two_cores();
    surroundings before;
    look_around(&before);
    lb_experiment_options options = tiny();
    options.progress = sleep_long;
    lb_trace *trace = NULL;
    ASSERT_REFUSED(lb_experiment_run(host, LB_EXPERIMENT_DETECT, &options, &trace, &err),
                   LB_ERR_TIMEOUT, "budget", err);
    ck_assert_ptr_null(trace);
    assert_unchanged(&before);
    assert_childless();
    lb_host_free(host);
}
END_TEST

START_TEST(allocations) {
    host = open_two_cores();
    lb_experiment_options options = tiny();
    options.budget = 2;
    static const double work[] = {0.002, 0.003};
    lb_workload *workload = works(work, 2);
    lb_status status;
    size_t count;
    SWEEP_ALLOCATIONS(status, count, {
        lb_trace *trace = NULL;
        status = run_patiently(host, workload, &options, &trace, NULL);
        lb_trace_free(trace);
    });
    ck_assert_uint_ge(count, 8);
    assert_childless();
    lb_workload_free(workload);
    lb_host_free(host);
}
END_TEST

/* Once the workers are there a failure costs a whole run, and the trace's and the verdict's own
 * allocations have sweeps elsewhere: so a few of them. */
START_TEST(allocations_detect) {
    host = open_two_cores();
    lb_experiment_options options = tiny();
    size_t n = 1;
    bool fired = true;
    while (fired) {
        lb_trace *trace = NULL;
        lb_verdict *verdict = NULL;
        long live = faults_live();
        faults_arm(n);
        lb_status status = lb_detect(NULL, &options, &verdict, &trace, NULL);
        bool failed = faults_fired();
        lb_trace_free(trace);
        lb_verdict_free(verdict);
        live -= faults_live(); /* before Check allocates on its own account */
        ck_assert_int_eq(live, 0);
        assert_childless();
        if (status == LB_ERR_TIMEOUT && options.budget < 100) {
            options.budget *= 2; /* others are busy: once more, with more time */
            continue;
        }
        ck_assert_int_eq(status, failed ? LB_ERR_NOMEM : LB_OK);
        fired = failed;
        n += n < 14 ? 1 : n / 2;
    }
    lb_host_free(host);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("experiment");
    ADD(s, "schedule", ends_are_apart, deciding_intervals_are_long);
    ADD(s, "refusals", refused, workload_refused);
    ADD(s, "records", detect_records, workload_records, workload_events, workload_weights,
        lost_units, small_units);
    ADD(s, "progress", progress, cancelled, cancelled_any_time, cancelled_real_time,
        real_time_class);
    ADD(s, "faults", worker_faults, signals, other_children, children_ignored, parent_killed);
    ADD(s, "resources", no_room, no_process, out_of_time, allocations, allocations_detect);
    return s;
}
