/* SPDX-License-Identifier: BSD-3-Clause */
/* Slices, which workers record from user space, against the kernel's own record of who ran when and
 * where: the sched_switch events of tracefs, an instance of its own, by the clock that slices have.
 *
 *     truth_switches [PREFIX]     keeps what was compared as PREFIX.csv and PREFIX.txt
 *
 * Expected: a slice's edge within 50 us of the switch for half of the switches, no slice on another
 * core than the kernel's nor while the task was on none, and next to nothing of the time that the
 * kernel gave in no slice. A slice also ends where its core was away for longer than a chunk (an
 * interrupt, time that the host took), which is no switch: counted and printed. tracefs is mounted
 * in a namespace of the test's own, so that nobody else sees it and it ends with the test; the
 * instance is removed by a guard. Exit status 77: cannot be had here, with the reason. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guard.h"
#include "lbsched/lbsched.h"
#include "setting.h"

enum {
    SKIP = 77,
    MAX_TASKS = 256,
    MAX_CPUS = 1024
};
#define MAX_FOREIGN 2.0
#define MAX_EDGE_NS 50000
#define AWAY_NS 1000000
#define WORK 0.6 /* seconds, a task */

static const char tracefs[] = "/sys/kernel/tracing";
static char instance[128];

static int skip(const char *what, const char *reason) {
    printf("skipped: %s: %s\n", what, reason);
    return SKIP;
}

/* ---- tracing ---- */

static bool remove_instance(void) {
    return rmdir(instance) == 0 || errno == ENOENT;
}

/* NULL, or what could not be had; errno tells why. */
static const char *start_tracing(const char **ret_reason) {
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
        return "a mount namespace";
    if (mount("tracefs", tracefs, "tracefs", 0, NULL) != 0 && errno != EBUSY)
        return "tracefs";
    snprintf(instance, sizeof instance, "%s/instances/lbsched-%ld", tracefs, (long)getpid());
    if (!guard_begin(remove_instance, ret_reason))
        return "a guard";
    const char *failed = NULL;
    if (mkdir(instance, 0700) != 0)
        failed = "an instance of tracefs";
    else if (!setting_write(instance, "trace_clock", "mono"))
        failed = "the trace clock mono";
    else if (!setting_write(instance, "buffer_size_kb", "8192") ||
             !setting_write(instance, "events/sched/sched_switch/filter",
                            "prev_comm == \"lbsched-worker\" || next_comm == \"lbsched-worker\"") ||
             !setting_write(instance, "events/sched/sched_switch/enable", "1"))
        failed = "sched_switch";
    if (failed != NULL) {
        *ret_reason = strerror(errno);
        guard_end();
    }
    return failed;
}

/* ---- the run ---- */

typedef struct worker {
    pid_t process;
    size_t turns, first; /* its part of the turns, once sorted */
} worker;

static worker workers[MAX_TASKS];
static size_t tasks;

/* The workers are this process's children, in the order in which they were made. */
static int find_workers(void *user, double fraction) {
    (void)user, (void)fraction;
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%ld/children", syscall(SYS_gettid));
    FILE *file = tasks == 0 || workers[tasks - 1].process == 0 ? fopen(path, "re") : NULL;
    long process;
    if (file == NULL)
        return 0;
    for (size_t i = 0; i < tasks && fscanf(file, "%ld", &process) == 1;) {
        char name[32] = "";
        snprintf(path, sizeof path, "/proc/%ld/comm", process);
        FILE *comm = fopen(path, "re");
        if (comm != NULL) {
            if (fgets(name, sizeof name, comm) != NULL && strcmp(name, "lbsched-worker\n") == 0)
                workers[i++].process = (pid_t)process;
            fclose(comm);
        }
    }
    fclose(file);
    return 0;
}

static lb_trace *run(const lb_host *host) {
    lb_error err;
    lb_trace *trace = NULL;
    lb_workload *workload = NULL;
    lb_experiment_options options;
    lb_experiment_options_init(&options, sizeof options);
    options.budget = 60;
    options.progress = find_workers;
    lb_status status = lb_workload_new(&workload, &err);
    tasks = 2 * lb_host_cores(host) + 1;
    for (size_t i = 0; i < tasks && status == LB_OK; i++)
        status = lb_workload_add(workload, WORK, NULL, &err);
    if (status == LB_OK)
        status = lb_experiment_workload(host, workload, &options, &trace, &err);
    if (status != LB_OK)
        printf("%s: %s\n", lb_status_name(status), err.message);
    lb_workload_free(workload);
    return trace;
}

/* ---- the kernel's record ---- */

/* A process on a CPU, by the kernel. */
typedef struct turn {
    int64_t in, out; /* CLOCK_MONOTONIC; INT64_MAX: not seen to end */
    size_t task;
    long cpu;
    bool in_known; /* else its beginning was not recorded, and is the earliest that it can be */
} turn;

static turn *turns;
static size_t turn_count, turn_capacity, holes;
static int64_t last_event[MAX_CPUS]; /* of each CPU */

static size_t task_of(long process) {
    size_t i = 0;
    while (i < tasks && workers[i].process != process)
        i++;
    return i;
}

static void begin_turn(size_t task, long cpu, int64_t time, bool known) {
    if (turn_count == turn_capacity) {
        turn_capacity = turn_capacity == 0 ? 1024 : 2 * turn_capacity;
        turns = realloc(turns, turn_capacity * sizeof *turns);
        if (turns == NULL)
            abort();
    }
    turns[turn_count++] =
        (turn){.in = time, .out = INT64_MAX, .task = task, .cpu = cpu, .in_known = known};
}

/* Some kernels leave out switches from certain threads: then who comes next has no beginning. */
static void end_turn(size_t task, long cpu, int64_t time) {
    size_t i = turn_count;
    while (i > 0 && turns[i - 1].task != task)
        i--;
    if (i == 0 || turns[i - 1].out != INT64_MAX) {
        int64_t earliest = last_event[cpu];
        if (i > 0 && turns[i - 1].out > earliest)
            earliest = turns[i - 1].out;
        holes++;
        begin_turn(task, cpu, earliest, false);
        i = turn_count;
    }
    turns[i - 1].out = time;
}

/* "lbsched-worker-12  [001] d..2. 1234.567890: sched_switch: prev_comm=.. prev_pid=12 .." */
static bool read_event(const char *line) {
    const char *event = strstr(line, ": sched_switch: "), *bracket = strchr(line, '[');
    const char *prev = strstr(line, " prev_pid="), *next = strstr(line, " next_pid=");
    if (event == NULL || bracket == NULL || prev == NULL || next == NULL)
        return false;
    const char *time = event;
    while (time > line && time[-1] != ' ')
        time--;
    char *dot;
    long cpu = strtol(bracket + 1, NULL, 10);
    if (cpu < 0 || cpu >= MAX_CPUS)
        return false;
    int64_t ns = strtoll(time, &dot, 10) * 1000000000 + strtoll(dot + 1, NULL, 10) * 1000;
    size_t from = task_of(strtol(prev + 10, NULL, 10)), to = task_of(strtol(next + 10, NULL, 10));
    if (from < tasks)
        end_turn(from, cpu, ns);
    if (to < tasks)
        begin_turn(to, cpu, ns, true);
    last_event[cpu] = ns;
    return true;
}

static int by_task_and_time(const void *a, const void *b) {
    const turn *x = a, *y = b;
    if (x->task != y->task)
        return x->task < y->task ? -1 : 1;
    return x->in < y->in ? -1 : x->in > y->in;
}

/* Sorts the turns by task and time. To be away from a core for less than a chunk cannot be seen. */
static void sort_turns(int64_t chunk_ns) {
    size_t kept = 0;
    qsort(turns, turn_count, sizeof *turns, by_task_and_time);
    for (size_t i = 0; i < turn_count; i++) {
        turn *last = kept > 0 ? &turns[kept - 1] : NULL;
        if (last != NULL && last->task == turns[i].task && last->cpu == turns[i].cpu &&
            turns[i].in - last->out < chunk_ns)
            last->out = turns[i].out;
        else
            turns[kept++] = turns[i];
    }
    turn_count = kept;
    for (size_t i = turn_count; i-- > 0;) {
        workers[turns[i].task].first = i;
        workers[turns[i].task].turns++;
    }
}

/* The number of events; 0: none, or some were lost. */
static size_t read_events(const char *prefix) {
    char path[256], line[512];
    size_t events = 0;
    unsigned long held = 0, written = 0;
    setting_write(instance, "tracing_on", "0");
    snprintf(path, sizeof path, "%s/trace", instance);
    FILE *file = fopen(path, "re"), *copy = NULL;
    if (prefix != NULL) {
        snprintf(path, sizeof path, "%s.txt", prefix);
        copy = fopen(path, "we");
    }
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (copy != NULL)
            fputs(line, copy);
        const char *entries = strstr(line, "entries-in-buffer/entries-written: ");
        if (entries != NULL)
            sscanf(entries, "%*s %lu/%lu", &held, &written);
        events += line[0] != '#' && read_event(line) ? 1 : 0;
    }
    if (file != NULL)
        fclose(file);
    if (copy != NULL)
        fclose(copy);
    printf("%zu events of sched_switch, %lu of %lu kept; %zu turns, %zu without a beginning\n",
           events, held, written, turn_count, holes);
    return held == written ? events : 0;
}

/* ---- comparison ---- */

typedef struct comparison {
    int64_t *distances; /* of switches from the nearest edge of a slice; ns */
    size_t switches, slices, elsewhere, nowhere, pauses;
    double slice_s, turn_s, pause_s; /* pauses: between slices, without a switch */
    double away_s;                   /* in pauses that no interrupt takes */
} comparison;

/* The slices of one task. */
typedef struct course {
    const lb_slice *slices;
    size_t n;
    int64_t origin, begin, end;
    const turn *first, *last; /* last: past the end */
} course;

static void compare_switch(comparison *c, const course *k, int64_t time, bool in) {
    int64_t least = INT64_MAX;
    for (const lb_slice *s = k->slices; s < k->slices + k->n; s++) {
        int64_t distance = llabs((in ? s->start_ns : s->end_ns) + k->origin - time);
        least = distance < least ? distance : least;
    }
    c->distances[c->switches++] = least;
}

/* How long the kernel had the task on a CPU (-1: any) in between. */
static int64_t time_on(const course *k, long cpu, int64_t from, int64_t to) {
    int64_t sum = 0;
    for (const turn *t = k->first; t < k->last; t++) {
        int64_t in = t->in > from ? t->in : from, out = t->out < to ? t->out : to;
        sum += out > in && (cpu < 0 || t->cpu == cpu) ? out - in : 0;
    }
    return sum;
}

/* The kernel's times are whole microseconds, cut off. */
static void compare_slice(comparison *c, const course *k, const lb_host *host, const lb_slice *s) {
    int64_t start = s->start_ns + k->origin, end = s->end_ns + k->origin;
    int64_t here = time_on(k, (long)lb_host_cpu(host, (uint32_t)s->core), start, end);
    int64_t there = time_on(k, -1, start, end) - here;
    c->elsewhere += there > 2000;
    c->nowhere += here == 0 && there == 0;
    c->slices++;
    c->slice_s += 1e-9 * (double)(end - start);
    if (s + 1 == k->slices + k->n)
        return;
    int64_t next = s[1].start_ns + k->origin;
    if (s[1].core == s->core && next - end - time_on(k, -1, end, next) < 2000) {
        c->pauses++;
        c->pause_s += 1e-9 * (double)(next - end);
        c->away_s += next - end >= AWAY_NS ? 1e-9 * (double)(next - end) : 0;
    }
}

/* Switches before the first slice and after the last one lie outside what was recorded. */
static void compare(comparison *c, const course *k, const lb_host *host) {
    for (const lb_slice *s = k->slices; s < k->slices + k->n; s++)
        compare_slice(c, k, host, s);
    for (const turn *t = k->first; t < k->last; t++) {
        if (t->in > k->begin && t->in < k->end && t->in_known)
            compare_switch(c, k, t->in, true);
        if (t->out > k->begin && t->out < k->end)
            compare_switch(c, k, t->out, false);
    }
    c->turn_s += 1e-9 * (double)time_on(k, -1, k->begin, k->end);
}

static int ascending(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static double number(const lb_trace *trace, const char *key) {
    const char *text = lb_trace_meta(trace, key);
    return text == NULL ? (double)NAN : strtod(text, NULL);
}

/* To the nanosecond, which a double could not hold. */
static int64_t origin_of(const lb_trace *trace) {
    char *dot;
    int64_t seconds = strtoll(lb_trace_meta(trace, "origin_s"), &dot, 10);
    return seconds * 1000000000 + strtoll(dot + 1, NULL, 10);
}

static int expect(bool held, const char *what) {
    if (!held)
        printf("FAILED: %s\n", what);
    return held ? 0 : 1;
}

static int compare_slices(const void *a, const void *b) {
    const lb_slice *x = a, *y = b;
    if (x->task != y->task)
        return x->task < y->task ? -1 : 1;
    return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

static bool compare_all(comparison *c, const lb_host *host, const lb_trace *trace) {
    size_t n;
    const lb_slice *slices = lb_trace_slices(trace, &n);
    lb_slice *sorted = calloc(n + 1, sizeof *sorted);
    c->distances = calloc(2 * turn_count + 1, sizeof *c->distances);
    if (sorted == NULL || c->distances == NULL)
        return false;
    memcpy(sorted, slices, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, compare_slices);
    for (size_t i = 0, next; i < n; i = next) {
        for (next = i; next < n && sorted[next].task == sorted[i].task; next++)
            continue;
        const worker *w = &workers[sorted[i].task];
        course k = {.slices = sorted + i,
                    .n = next - i,
                    .origin = origin_of(trace),
                    .first = turns + w->first,
                    .last = turns + w->first + w->turns};
        k.begin = sorted[i].start_ns + k.origin;
        k.end = sorted[next - 1].end_ns + k.origin;
        compare(c, &k, host);
    }
    qsort(c->distances, c->switches, sizeof *c->distances, ascending);
    free(sorted);
    return true;
}

static int judge(const lb_host *host, const lb_trace *trace) {
    comparison c = {0};
    sort_turns((int64_t)(1e9 * number(trace, "chunk_s")));
    if (!compare_all(&c, host, trace))
        return EXIT_FAILURE;
    double foreign = number(trace, "foreign_cpu_percent");
    double covered = (c.slice_s + c.pause_s) / c.turn_s;
    int64_t median = c.distances[c.switches / 2];
    printf("%zu switches, by %s, chunks of %.1f us: a slice's edge %.1f us away at the median, "
           "%.1f at the 90th percentile, %.1f at most\n",
           c.switches, lb_trace_meta(trace, "slice_clock"), 1e6 * number(trace, "chunk_s"),
           1e-3 * (double)median, 1e-3 * (double)c.distances[c.switches * 9 / 10],
           1e-3 * (double)c.distances[c.switches > 0 ? c.switches - 1 : 0]);
    printf(
        "%zu slices: %zu on another core than the kernel's, %zu while the kernel had the task on "
        "none; %zu ended without a switch, for %.1f us at the mean; %.2f %% of the kernel's time "
        "is in slices, %.2f %% with those pauses; foreign CPU time %.2f %%\n",
        c.slices, c.elsewhere, c.nowhere, c.pauses,
        c.pauses > 0 ? 1e6 * c.pause_s / (double)c.pauses : 0, 100 * c.slice_s / c.turn_s,
        100 * covered, foreign);
    free(c.distances);
    int failures = expect(c.switches > 100, "more than 100 switches") +
                   expect(c.elsewhere == 0, "every slice's core is the kernel's") +
                   expect(c.nowhere == 0, "in every slice the kernel had the task on a core");
    if (failures > 0)
        return EXIT_FAILURE;
    if (!(foreign <= MAX_FOREIGN))
        return skip("edges are not judged", "others used CPU time too");
    printf("the cores were away for %.2f %%\n", 100 * c.away_s / c.turn_s);
    if (100 * c.away_s > MAX_FOREIGN * c.turn_s)
        return skip("edges are not judged", "the cores were away");
    failures =
        expect(median <= MAX_EDGE_NS, "half of the switches are within 50 us of an edge") +
        expect(fabs(covered - 1) < 0.05, "slices cover the time that the kernel gave, within 5 %");
    return failures > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

static void keep(const lb_trace *trace, const char *prefix) {
    char path[256];
    lb_error err;
    snprintf(path, sizeof path, "%s.csv", prefix);
    if (lb_trace_save(trace, path, LB_TRACE_CSV, &err) != LB_OK)
        printf("%s\n", err.message);
}

static int check(const lb_host *host, const char *prefix) {
    lb_trace *trace = run(host);
    int status = EXIT_FAILURE;
    if (trace == NULL)
        return status;
    if (prefix != NULL)
        keep(trace, prefix);
    if (read_events(prefix) == 0)
        printf("FAILED: no event was recorded, or some were lost\n");
    else if (workers[tasks - 1].process == 0)
        printf("FAILED: the workers' numbers were not found\n");
    else
        status = judge(host, trace);
    lb_trace_free(trace);
    free(turns);
    return status;
}

int main(int argc, char **argv) {
    lb_error err;
    lb_host *host = NULL;
    const char *reason = NULL;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (lb_host_open(NULL, &host, &err) != LB_OK)
        return skip("the host", err.message);
    if (2 * lb_host_cores(host) + 1 > MAX_TASKS) {
        lb_host_free(host);
        return skip("the host", "more cores than this test has room for");
    }
    const char *failed = start_tracing(&reason);
    if (failed != NULL) {
        lb_host_free(host);
        return skip(failed, reason != NULL ? reason : strerror(errno));
    }
    int status = check(host, argc > 1 ? argv[1] : NULL);
    guard_end();
    lb_host_free(host);
    return status;
}
