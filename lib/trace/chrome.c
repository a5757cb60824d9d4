/* SPDX-License-Identifier: BSD-3-Clause */
/* Chrome trace events: process 1 has a thread for each core, process 2 one for each task. */
#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "object.h"
#include "sort.h"
#include "trace/fixed.h"
#include "trace/tasks.h"

enum {
    CORES = 1,
    TASKS = 2
};

/* An interval on a core's track. */
typedef struct bar {
    int64_t start_ns, end_ns;
    uint32_t task;
    int32_t core;
    size_t lane;
} bar;

typedef struct writer {
    const lb_trace *trace;
    lbi_text *text;
    int64_t origin_ns; /* what is written as 0 */
    bool follows;      /* another event */
} writer;

static int compare_bars(const void *a, const void *b) {
    const bar *x = a, *y = b;
    if (x->core != y->core)
        return x->core < y->core ? -1 : 1;
    return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

/* Slices, or units where there are no slices; those of units whose core is not known are left out.
 */
static bar *make_bars(const lb_trace *trace, size_t *ret_n) {
    bool units = trace->slice_count == 0;
    size_t count = units ? trace->unit_count : trace->slice_count, n = 0;
    bar *bars = lbi_array_new(count, sizeof *bars);
    if (bars == NULL)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        if (!units) {
            const lb_slice *s = &trace->slices[i];
            bars[n++] = (bar){s->start_ns, s->end_ns, s->task, s->core, 0};
            continue;
        }
        const lb_unit *u = &trace->units[i];
        if (u->core_start >= 0)
            bars[n++] = (bar){u->start_ns, u->end_ns, u->task, u->core_start, 0};
    }
    if (!lbi_sort(bars, n, sizeof *bars, compare_bars)) {
        free(bars);
        return NULL;
    }
    *ret_n = n;
    return bars;
}

/* A lane of a core, in a heap by when it is free again. */
typedef struct heap_lane {
    int64_t free_ns;
    size_t number;
} heap_lane;

static bool is_before(const heap_lane *a, const heap_lane *b) {
    return a->free_ns != b->free_ns ? a->free_ns < b->free_ns : a->number < b->number;
}

static void sift_up(heap_lane *heap, size_t at) {
    heap_lane moving = heap[at];
    for (; at > 0 && is_before(&moving, &heap[(at - 1) / 2]); at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = moving;
}

static void sift_down(heap_lane *heap, size_t n) {
    heap_lane moving = heap[0];
    size_t at = 0;
    for (size_t child = 1; child < n; child = 2 * at + 1) {
        if (child + 1 < n && is_before(&heap[child + 1], &heap[child]))
            child++;
        if (!is_before(&heap[child], &moving))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moving;
}

/* Events of one track must not overlap, yet units of tasks that share a core do: a core gets as
 * many lanes as that takes. False: no memory. */
static bool assign_lanes(bar *bars, size_t n) {
    heap_lane *heap = NULL;
    size_t lanes = 0, capacity = 0;
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && bars[i].core != bars[i - 1].core)
            lanes = 0;
        if (lanes > 0 && heap[0].free_ns <= bars[i].start_ns) {
            heap[0].free_ns = bars[i].end_ns;
            bars[i].lane = heap[0].number;
            sift_down(heap, lanes);
            continue;
        }
        if (!lbi_array_reserve(&heap, &capacity, lanes + 1, sizeof *heap)) {
            free(heap);
            return false;
        }
        bars[i].lane = lanes;
        heap[lanes] = (heap_lane){bars[i].end_ns, lanes};
        sift_up(heap, lanes++);
    }
    free(heap);
    return true;
}

static void write_microseconds(lbi_text *text, uint64_t ns) {
    char buffer[LBI_SECONDS_SIZE];
    size_t length = lbi_format_fixed(false, ns, 3, buffer);
    lbi_text_append(text, buffer, length);
}

static void begin_event(writer *w) {
    lbi_text_string(w->text, w->follows ? ",\n" : "\n");
    w->follows = true;
}

static void write_name(writer *w, const char *kind, int pid, uint64_t tid, const char *name) {
    begin_event(w);
    lbi_text_printf(w->text, "{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%d,\"tid\":%llu,", kind, pid,
                    (unsigned long long)tid);
    lbi_text_printf(w->text, "\"args\":{\"name\":\"%s\"}}", name);
}

static void write_sort_index(writer *w, int pid, uint64_t tid, uint64_t index) {
    begin_event(w);
    lbi_text_printf(w->text,
                    "{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":%d,\"tid\":%llu,"
                    "\"args\":{\"sort_index\":%llu}}",
                    pid, (unsigned long long)tid, (unsigned long long)index);
}

/* The beginning of a complete event, up to its arguments. */
static void begin_bar(writer *w, const char *what, uint32_t number, int pid, uint64_t tid,
                      int64_t start_ns, int64_t end_ns) {
    begin_event(w);
    lbi_text_printf(w->text,
                    "{\"ph\":\"X\",\"name\":\"%s %lu\",\"pid\":%d,\"tid\":%llu,\"ts\":", what,
                    (unsigned long)number, pid, (unsigned long long)tid);
    write_microseconds(w->text, (uint64_t)start_ns - (uint64_t)w->origin_ns);
    lbi_text_string(w->text, ",\"dur\":");
    write_microseconds(w->text, (uint64_t)end_ns - (uint64_t)start_ns);
}

/* The tracks of one core, whose bars are [bars, bars + n), and what is on them. Further lanes get
 * threads from *next_thread on. */
static void write_core(writer *w, const bar *bars, size_t n, uint64_t *next_thread) {
    size_t lanes = 0;
    uint64_t core = (uint64_t)bars[0].core, further = *next_thread;
    for (size_t i = 0; i < n; i++)
        if (bars[i].lane >= lanes)
            lanes = bars[i].lane + 1;
    for (size_t lane = 0; lane < lanes; lane++) {
        char name[64];
        lbi_snprintf(name, sizeof name, lane == 0 ? "core %llu" : "core %llu (%zu)",
                     (unsigned long long)core, lane + 1);
        uint64_t tid = lane == 0 ? core + 1 : further + lane - 1;
        write_name(w, "thread_name", CORES, tid, name);
        write_sort_index(w, CORES, tid, core);
    }
    for (size_t i = 0; i < n; i++) {
        begin_bar(w, "task", bars[i].task, CORES,
                  bars[i].lane == 0 ? core + 1 : further + bars[i].lane - 1, bars[i].start_ns,
                  bars[i].end_ns);
        lbi_text_string(w->text, "}");
    }
    *next_thread += lanes - 1;
}

static lb_status write_cores(writer *w, lb_error *err) {
    size_t n = 0;
    bar *bars = make_bars(w->trace, &n);
    if (bars == NULL || !assign_lanes(bars, n)) {
        free(bars);
        return lbi_error_nomem(err, "the cores' tracks");
    }
    if (n > 0)
        write_name(w, "process_name", CORES, CORES, "cores");
    uint64_t next_thread = n > 0 ? (uint64_t)bars[n - 1].core + 2 : 1;
    for (size_t first = 0, last; first < n; first = last) {
        for (last = first + 1; last < n && bars[last].core == bars[first].core; last++) {
        }
        write_core(w, bars + first, last - first, &next_thread);
    }
    free(bars);
    return LB_OK;
}

static void write_unit(writer *w, const lb_unit *unit) {
    begin_bar(w, "unit", unit->index, TASKS, (uint64_t)unit->task + 1, unit->start_ns,
              unit->end_ns);
    lbi_text_string(w->text, ",\"args\":{");
    const char *comma = "";
    if (unit->cpu_ns >= 0) {
        lbi_text_string(w->text, "\"cpu_us\":");
        write_microseconds(w->text, (uint64_t)unit->cpu_ns);
        comma = ",";
    }
    if (unit->core_start >= 0) {
        lbi_text_printf(w->text, "%s\"core_start\":%ld", comma, (long)unit->core_start);
        comma = ",";
    }
    if (unit->core_end >= 0)
        lbi_text_printf(w->text, "%s\"core_end\":%ld", comma, (long)unit->core_end);
    lbi_text_string(w->text, "}}");
}

static void write_mark(writer *w, const lb_mark *mark) {
    begin_event(w);
    lbi_text_printf(w->text,
                    "{\"ph\":\"i\",\"name\":\"%s\",\"s\":\"t\",\"pid\":%d,\"tid\":%lu,\"ts\":",
                    lbi_mark_names[mark->kind], TASKS, (unsigned long)mark->task + 1);
    write_microseconds(w->text, (uint64_t)mark->time_ns - (uint64_t)w->origin_ns);
    lbi_text_string(w->text, "}");
}

static void write_tasks(writer *w) {
    const lb_trace *trace = w->trace;
    if (trace->unit_count + trace->mark_count == 0)
        return;
    write_name(w, "process_name", TASKS, TASKS, "tasks");
    lbi_task task = {0};
    while (lbi_trace_next_task(trace, &task)) {
        char name[32];
        if (task.unit_count == 0)
            continue;
        lbi_snprintf(name, sizeof name, "task %lu", (unsigned long)task.task);
        write_name(w, "thread_name", TASKS, (uint64_t)task.task + 1, name);
        for (size_t i = 0; i < task.unit_count; i++)
            write_unit(w, &task.units[i]);
    }
    for (size_t i = 0; i < trace->mark_count; i++)
        write_mark(w, &trace->marks[i]);
}

/* Perfetto drops what is before 0, so times are written since the first one where that is negative.
 */
static int64_t find_origin(const lb_trace *trace) {
    int64_t origin = 0;
    for (size_t i = 0; i < trace->unit_count; i++)
        if (trace->units[i].start_ns < origin)
            origin = trace->units[i].start_ns;
    for (size_t i = 0; i < trace->slice_count; i++)
        if (trace->slices[i].start_ns < origin)
            origin = trace->slices[i].start_ns;
    if (trace->mark_count > 0 && trace->marks[0].time_ns < origin)
        origin = trace->marks[0].time_ns;
    return origin;
}

static void write_other_data(const writer *w) {
    const lb_trace *trace = w->trace;
    lbi_text_printf(w->text, "\"otherData\":{\"" LBI_KEY_CORES "\":\"%lu\"",
                    (unsigned long)trace->cores);
    if (!isnan(trace->unit_work)) {
        lbi_text_string(w->text, ",\"" LBI_KEY_UNIT_WORK "\":\"");
        lbi_text_number(w->text, trace->unit_work);
        lbi_text_string(w->text, "\"");
    }
    if (w->origin_ns != 0) { /* metadata have no ':' in their keys */
        lbi_text_string(w->text, ",\"lbsched:start_us\":\"-");
        write_microseconds(w->text, 0 - (uint64_t)w->origin_ns);
        lbi_text_string(w->text, "\"");
    }
    lbi_meta_write_json(&trace->meta, w->text, true);
    lbi_text_string(w->text, "}");
}

lb_status lbi_trace_write_chrome(const lb_trace *trace, lbi_text *text, lb_error *err) {
    writer w = {trace, text, find_origin(trace), false};
    lbi_text_string(text, "{\"traceEvents\":[");
    lb_status status = write_cores(&w, err);
    if (status != LB_OK)
        return status;
    write_tasks(&w);
    lbi_text_string(text, "\n],");
    write_other_data(&w);
    lbi_text_string(text, "}\n");
    return LB_OK;
}
