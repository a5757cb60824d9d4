/* SPDX-License-Identifier: BSD-3-Clause */
/* Switches between tasks, as recorded by the kernel, become slices; the CPU time that a task used
 * is cut into units, so that what is known of units holds for recordings too. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/text.h"
#include "import.h"
#include "object.h"
#include "sched_line.h"
#include "sort.h"
#include "trace/csv.h"

#define DEFAULT_UNIT_WORK 0.01
#define IDLE_PID 0
/* So that memory stays in proportion to the text, whatever times are in it. */
#define MAX_UNITS(events) (100000 + 100 * (events))

typedef struct event {
    int64_t time_ns;
    size_t line;
    lbi_sched_task former, next; /* of a wake-up: next is the one woken */
    uint32_t cpu;                /* as recorded, then its core */
    bool wakeup, ready;
} event;

/* A slice before it is known whose task gets a number, or a sleep (core -1, no length). */
typedef struct stay {
    int64_t start_ns, end_ns;
    const char *comm;
    size_t comm_length;
    uint32_t pid;
    int32_t core;
    bool wakes; /* no slice: the task woke */
} stay;

typedef struct recording {
    event *events;
    size_t event_count, event_capacity;
    uint32_t *cpus; /* sorted: the core of each is its place */
    size_t cpu_count;
    stay *runs;
    size_t run_count, run_capacity;
    size_t lost; /* intervals of which a switch is missing */
    int64_t first_ns, last_ns;
    lb_error *err;
} recording;

static lb_status nomem(const recording *r) {
    return lbi_error_nomem(r->err, "a recording");
}

static lb_status read_events(recording *r, const char *text, size_t length) {
    lbi_csv lines;
    lbi_csv_begin(&lines, text, length);
    while (lines.at < lines.end) {
        const char *begin, *end;
        size_t number = lines.line;
        lbi_csv_line(&lines, &begin, &end);
        lbi_sched_line line;
        if (!lbi_sched_line_split(begin, end, &line))
            continue;
        event e = {.time_ns = line.time_ns, .line = number, .cpu = line.cpu};
        e.wakeup = line.kind == LBI_SCHED_WAKEUP;
        if (e.wakeup ? !lbi_sched_read_wakeup(&line, end, &e.next)
                     : !lbi_sched_read_switch(&line, end, &e.former, &e.ready, &e.next)) {
            char shown[LBI_EXCERPT_SIZE];
            return lbi_error(r->err, LB_ERR_FORMAT,
                             "line %zu: expected the tasks of a %s, got \"%s\"", number,
                             e.wakeup ? "wake-up" : "switch",
                             lbi_excerpt(line.payload, (size_t)(end - line.payload), shown));
        }
        if (!lbi_array_reserve(&r->events, &r->event_capacity, r->event_count + 1, sizeof e))
            return nomem(r);
        r->events[r->event_count++] = e;
    }
    if (r->event_count == 0)
        return lbi_error(r->err, LB_ERR_FORMAT,
                         "line %zu: expected a sched_switch event, the text ends", lines.line);
    return LB_OK;
}

static int compare_times(const void *a, const void *b) {
    const event *x = a, *y = b;
    return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

static int compare_numbers(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Keeps one of each; the numbers are sorted. */
static size_t unique(uint32_t *numbers, size_t n) {
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (i == 0 || numbers[i] != numbers[kept - 1])
            numbers[kept++] = numbers[i];
    return kept;
}

static size_t place_of(const uint32_t *sorted, size_t n, uint32_t number) {
    const uint32_t *found = bsearch(&number, sorted, n, sizeof number, compare_numbers);
    return found == NULL ? n : (size_t)(found - sorted);
}

/* CPUs become cores by their order. A wake-up may name a CPU on which nothing was ever switched. */
static lb_status find_cores(recording *r) {
    r->cpus = lbi_array_new(r->event_count, sizeof *r->cpus);
    if (r->cpus == NULL)
        return nomem(r);
    for (size_t i = 0; i < r->event_count; i++)
        r->cpus[i] = r->events[i].cpu;
    qsort(r->cpus, r->event_count, sizeof *r->cpus, compare_numbers);
    r->cpu_count = unique(r->cpus, r->event_count);
    for (size_t i = 0; i < r->event_count; i++)
        r->events[i].cpu = (uint32_t)place_of(r->cpus, r->cpu_count, r->events[i].cpu);
    return LB_OK;
}

/* What is known of a core while the recording is gone through. */
typedef struct core_state {
    lbi_sched_task task;
    int64_t since_ns;
    bool known; /* which task runs */
} core_state;

static bool add_run(recording *r, const lbi_sched_task *task, int64_t start_ns, int64_t end_ns,
                    int32_t core, bool wakes) {
    if (task->pid == IDLE_PID)
        return true;
    if (!lbi_array_reserve(&r->runs, &r->run_capacity, r->run_count + 1, sizeof *r->runs))
        return false;
    r->runs[r->run_count++] =
        (stay){start_ns, end_ns, task->comm, task->comm_length, task->pid, core, wakes};
    return true;
}

static bool add_switch(recording *r, const event *e, core_state *core) {
    /* Before its first switch a core ran that task all the time. */
    bool agrees = !core->known || core->task.pid == e->former.pid;
    if (!agrees)
        r->lost++;
    if (agrees && !add_run(r, &e->former, core->since_ns, e->time_ns, (int32_t)e->cpu, false))
        return false;
    if (!e->ready && !add_run(r, &e->former, e->time_ns, e->time_ns, -1, false))
        return false;
    *core = (core_state){e->next, e->time_ns, true};
    return true;
}

static lb_status find_runs(recording *r) {
    /* perf prints its buffers one after another where it could not put them in order. */
    if (!lbi_sort(r->events, r->event_count, sizeof *r->events, compare_times))
        return nomem(r);
    r->first_ns = r->events[0].time_ns;
    r->last_ns = r->events[r->event_count - 1].time_ns;
    core_state *cores = lbi_array_new(r->cpu_count, sizeof *cores);
    if (cores == NULL)
        return nomem(r);
    for (size_t i = 0; i < r->cpu_count; i++)
        cores[i] = (core_state){.since_ns = r->first_ns};
    bool kept = true;
    for (size_t i = 0; i < r->event_count && kept; i++) {
        const event *e = &r->events[i];
        kept = e->wakeup ? add_run(r, &e->next, e->time_ns, e->time_ns, -1, true)
                         : add_switch(r, e, &cores[e->cpu]);
    }
    for (size_t i = 0; i < r->cpu_count && kept; i++)
        if (cores[i].known)
            kept = add_run(r, &cores[i].task, cores[i].since_ns, r->last_ns, (int32_t)i, false);
    free(cores);
    return kept ? LB_OK : nomem(r);
}

/* By task; of equal start, what has no length first: it fell asleep there before it ran again. */
static int compare_runs(const void *a, const void *b) {
    const stay *x = a, *y = b;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return (x->core >= 0) - (y->core >= 0);
}

/* A task's runs, sorted. */
typedef struct task_runs {
    stay *runs;
    size_t count;
    int64_t used_ns;
} task_runs;

/* Clocks of two CPUs differ by some microseconds: a slice begins when the one before has ended. */
static void untangle(task_runs *task) {
    int64_t last_ns = INT64_MIN;
    task->used_ns = 0;
    for (size_t i = 0; i < task->count; i++) {
        stay *run = &task->runs[i];
        if (run->core < 0)
            continue;
        if (run->start_ns < last_ns)
            run->start_ns = last_ns;
        if (run->end_ns < run->start_ns)
            run->end_ns = run->start_ns;
        last_ns = run->end_ns;
        task->used_ns += run->end_ns - run->start_ns;
    }
}

typedef struct unit_cutter {
    lb_trace *trace;
    int64_t work_ns, done_ns, start_ns;
    uint32_t task, index;
    int32_t core_start;
    bool begun;
} unit_cutter;

/* Cuts a slice into units; what is left at its end goes on in the next one. */
static bool cut_units(unit_cutter *c, const stay *run) {
    int64_t at = run->start_ns;
    while (at < run->end_ns) {
        if (!c->begun) {
            c->begun = true;
            c->done_ns = 0;
            c->start_ns = at;
            c->core_start = run->core;
        }
        int64_t needed = c->work_ns - c->done_ns;
        if (run->end_ns - at < needed) {
            c->done_ns += run->end_ns - at;
            return true;
        }
        at += needed;
        lb_unit unit = {c->start_ns, at, c->work_ns, c->task, c->index++, c->core_start, run->core};
        if (!lbi_trace_append_unit(c->trace, &unit))
            return false;
        /* It stays ready, so the next one begins here though it may have to wait. */
        c->done_ns = 0;
        c->start_ns = at;
        c->core_start = run->core;
    }
    return true;
}

/* A unit in which the task slept is lost, as its duration tells nothing of sharing. */
static bool add_task(const recording *r, lb_trace *trace, const task_runs *task, uint32_t number,
                     int64_t work_ns) {
    unit_cutter cutter = {.trace = trace, .work_ns = work_ns, .task = number};
    for (size_t i = 0; i < task->count; i++) {
        const stay *run = &task->runs[i];
        if (run->core < 0) {
            lb_mark mark = {run->start_ns - r->first_ns, number,
                            run->wakes ? LB_MARK_WAKE : LB_MARK_SLEEP};
            if (!lbi_trace_append_mark(trace, &mark))
                return false;
            cutter.index += cutter.begun && !run->wakes && cutter.done_ns > 0;
            cutter.begun = cutter.begun && run->wakes;
            continue;
        }
        stay moved = *run;
        moved.start_ns -= r->first_ns;
        moved.end_ns -= r->first_ns;
        lb_slice slice = {moved.start_ns, moved.end_ns, number, moved.core};
        if (slice.end_ns > slice.start_ns && !lbi_trace_append_slice(trace, &slice))
            return false;
        if (!cut_units(&cutter, &moved))
            return false;
    }
    return true;
}

static bool is_wanted(const task_runs *task, const lb_import_options *options, int64_t work_ns) {
    const stay *last = &task->runs[task->count - 1];
    if (options->comm == NULL)
        return task->used_ns >= work_ns;
    return task->used_ns > 0 && last->comm_length == strlen(options->comm) &&
           memcmp(last->comm, options->comm, last->comm_length) == 0;
}

static lb_status name_task(const recording *r, lb_trace *trace, const task_runs *task,
                           uint32_t number) {
    const stay *last = &task->runs[task->count - 1];
    char key[32], value[96], comm[LBI_EXCERPT_SIZE];
    lbi_snprintf(key, sizeof key, "task_%lu", (unsigned long)number);
    lbi_snprintf(value, sizeof value, "pid %lu %s", (unsigned long)last->pid,
                 lbi_excerpt(last->comm, last->comm_length, comm));
    for (size_t n = strlen(value); n > 0 && value[n - 1] == ' '; n--)
        value[n - 1] = '\0';
    if (!lbi_meta_append(&trace->meta, key, strlen(key), value, strlen(value)))
        return nomem(r);
    return LB_OK;
}

static lb_status check_units(const recording *r, double used_ns, double unit_work) {
    double most = (double)MAX_UNITS(r->event_count);
    if (used_ns / 1e9 / unit_work <= most)
        return LB_OK;
    return lbi_error(
        r->err, LB_ERR_FORMAT,
        "line %zu: expected at most %.0f units of unit_work, %g s; choose a larger one",
        r->events[r->event_count - 1].line, most, unit_work);
}

/* Tasks are numbered by pid. */
static lb_status add_tasks(recording *r, lb_trace *trace, const lb_import_options *options,
                           double unit_work) {
    if (!lbi_sort(r->runs, r->run_count, sizeof *r->runs, compare_runs))
        return nomem(r);
    int64_t work_ns = (int64_t)(unit_work * 1e9 + 0.5), others_ns = 0;
    double used_ns = 0;
    uint32_t number = 0;
    for (size_t i = 0, next; i < r->run_count; i = next) {
        for (next = i; next < r->run_count && r->runs[next].pid == r->runs[i].pid; next++)
            ;
        task_runs task = {&r->runs[i], next - i, 0};
        untangle(&task);
        if (!is_wanted(&task, options, work_ns)) {
            others_ns += task.used_ns;
            continue;
        }
        if (number > LB_TASK_MAX)
            return lbi_error(r->err, LB_ERR_FORMAT,
                             "line %zu: expected at most %lu tasks; choose some by comm",
                             r->events[r->event_count - 1].line, (unsigned long)LB_TASK_MAX + 1);
        used_ns += (double)task.used_ns;
        lb_status status = check_units(r, used_ns, unit_work);
        if (status == LB_OK)
            status = name_task(r, trace, &task, number);
        if (status != LB_OK)
            return status;
        if (!add_task(r, trace, &task, number++, work_ns))
            return nomem(r);
    }
    if (number == 0)
        return lbi_error(r->err, LB_ERR_FORMAT,
                         options->comm == NULL
                             ? "line %zu: expected a task that used a unit of CPU time, %g s; "
                               "choose a smaller unit_work"
                             : "line %zu: expected a task of that name that used CPU time",
                         r->events[r->event_count - 1].line, unit_work);
    char text[LBI_NUMBER_SIZE];
    lbi_format_number((double)others_ns / 1e9, text);
    return lb_trace_set_meta(trace, "others_cpu_s", text, r->err);
}

static lb_status add_meta(const recording *r, lb_trace *trace) {
    char lost[24];
    lbi_snprintf(lost, sizeof lost, "%zu", r->lost);
    lb_status status = lb_trace_set_meta(trace, "imported", "sched_switch", r->err);
    if (status == LB_OK)
        status = lb_trace_set_meta(trace, "lost_switches", lost, r->err);
    if (status != LB_OK || trace->cores != r->cpu_count)
        return status;
    lbi_text cpus = {0};
    for (size_t i = 0; i < r->cpu_count; i++)
        lbi_text_printf(&cpus, "%s%lu", i == 0 ? "" : ",", (unsigned long)r->cpus[i]);
    char *list = lbi_text_take(&cpus, NULL);
    if (list == NULL)
        return nomem(r);
    status = lb_trace_set_meta(trace, "cpus", list, r->err);
    free(list);
    return status;
}

static lb_status make_trace(recording *r, const lb_import_options *options, lb_trace **ret_trace) {
    double unit_work = isnan(options->unit_work) ? DEFAULT_UNIT_WORK : options->unit_work;
    if (options->cores > 0 && options->cores < r->cpu_count)
        return lbi_error(r->err, LB_ERR_INVALID,
                         "cores is %lu: expected %zu or more, as so many CPUs are in the recording",
                         (unsigned long)options->cores, r->cpu_count);
    if ((uint64_t)r->last_ns - (uint64_t)r->first_ns > INT64_MAX)
        return lbi_error(r->err, LB_ERR_FORMAT, "line %zu: expected times within 9.2e9 s",
                         r->events[r->event_count - 1].line);
    lb_trace *trace;
    lb_status status =
        lb_trace_new(options->cores > 0 ? options->cores : (uint32_t)r->cpu_count, &trace, r->err);
    if (status != LB_OK)
        return status;
    status = add_tasks(r, trace, options, unit_work);
    if (status == LB_OK)
        status = lb_trace_set_unit_work(trace, unit_work, r->err);
    if (status == LB_OK)
        status = add_meta(r, trace);
    if (status == LB_OK)
        status = lb_trace_seal(trace, r->err);
    if (status == LB_OK)
        *ret_trace = trace;
    else
        lb_trace_free(trace);
    return status;
}

lb_status lbi_import_sched(const char *text, size_t length, const lb_import_options *options,
                           lb_trace **ret_trace, lb_error *err) {
    recording r = {.err = err};
    lb_status status = read_events(&r, text, length);
    if (status == LB_OK)
        status = find_cores(&r);
    if (status == LB_OK)
        status = find_runs(&r);
    if (status == LB_OK)
        status = make_trace(&r, options, ret_trace);
    free(r.events);
    free(r.cpus);
    free(r.runs);
    return status;
}
