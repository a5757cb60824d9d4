/* SPDX-License-Identifier: BSD-3-Clause */
/* From what the workers recorded to a trace. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/text.h"
#include "experiment/crew.h"

/* What is known on the way to the trace. */
typedef struct gathering {
    lbi_instant after; /* both clocks, at the end or now */
    double unit_work;  /* CPU seconds */
    bool measured;     /* in the run, not calibrated before */
    uint64_t lost_units, brief_slices;
} gathering;

/* Nanoseconds since the origin. */
static int64_t since_origin(const lbi_crew *crew, const gathering *g, int64_t ticks) {
    return lbi_ticks_to_ns(ticks, crew->before, g->after) - crew->origin_ns;
}

/* A time since the origin that no trace is to tell of. */
static bool after_cutoff(const lbi_crew *crew, int64_t time) {
    return time > crew->cutoff_ns - crew->origin_ns;
}

static size_t kept_units(const lbi_slot *slot) {
    size_t units = atomic_load_explicit(&slot->units, memory_order_acquire);
    return units < slot->capacity ? units : slot->capacity;
}

static lb_status add_units(const lbi_crew *crew, uint32_t worker, lb_trace *trace, gathering *g,
                           lb_error *err) {
    const lbi_slot *slot = &crew->arena->slots[worker];
    const lbi_record *records = crew->arena->records + slot->first_record;
    size_t units = atomic_load_explicit(&slot->units, memory_order_acquire);
    size_t kept = units < slot->capacity ? units : slot->capacity;
    g->lost_units += units - kept;
    for (size_t i = 0; i < kept; i++) {
        const lbi_record *record = &records[i];
        int64_t end = since_origin(crew, g, record->end);
        /* It saw that time pass by the clock; ticks become nanoseconds less exactly. */
        if (i + 1 == units && slot->due_ns != 0 && end < slot->due_ns - crew->origin_ns)
            end = slot->due_ns - crew->origin_ns;
        if (after_cutoff(crew, end))
            break;
        lb_unit unit = {
            .start_ns = since_origin(crew, g, record->start),
            .end_ns = end,
            .cpu_ns = record->cpu_ns,
            .task = worker,
            .index = (uint32_t)i,
            .core_start = lbi_host_core(crew->host, record->cpu_start),
            .core_end = lbi_host_core(crew->host, record->cpu_end),
        };
        lb_status status = lb_trace_add_unit(trace, &unit, err);
        if (status != LB_OK)
            return status;
    }
    return LB_OK;
}

static lb_status add_mark(const lbi_crew *crew, uint32_t worker, lb_mark_kind kind, int64_t time,
                          lb_trace *trace, lb_error *err) {
    if (time == 0 || time == INT64_MAX || time > crew->cutoff_ns)
        return LB_OK;
    lb_mark mark = {.time_ns = time - crew->origin_ns, .task = worker, .kind = kind};
    return lb_trace_add_mark(trace, &mark, err);
}

static lb_status add_worker(const lbi_crew *crew, uint32_t worker, lb_trace *trace, gathering *g,
                            lb_error *err) {
    const lbi_hand *hand = &crew->hands[worker];
    int64_t deadline = atomic_load(&crew->arena->slots[worker].deadline_ns);
    lb_status status = add_units(crew, worker, trace, g, err);
    if (status == LB_OK)
        status = add_mark(crew, worker, LB_MARK_PIN, hand->pinned_ns, trace, err);
    if (status == LB_OK)
        status = add_mark(crew, worker, LB_MARK_UNPIN, hand->unpinned_ns, trace, err);
    if (status == LB_OK)
        status = add_mark(crew, worker, LB_MARK_END, deadline, trace, err);
    return status;
}

/* A span of one reading has no length: it is counted, and left out. */
static lb_status add_slices(const lbi_crew *crew, lb_trace *trace, gathering *g, lb_error *err) {
    const lbi_arena *arena = crew->arena;
    uint32_t used = atomic_load(&arena->used);
    for (uint32_t b = 0; b < used && b < arena->blocks; b++) {
        const lbi_block *block = &arena->pool[b];
        uint32_t spans = atomic_load(&block->spans);
        for (uint32_t i = 0; i < spans; i++) {
            const lbi_span *span = &block->span[i];
            lb_slice slice = {
                .start_ns = since_origin(crew, g, span->start),
                .end_ns = since_origin(crew, g, span->end),
                .task = block->worker,
                .core = lbi_host_core(crew->host, span->cpu),
            };
            if (after_cutoff(crew, slice.start_ns))
                break;
            if (after_cutoff(crew, slice.end_ns))
                slice.end_ns = crew->cutoff_ns - crew->origin_ns;
            if (slice.end_ns <= slice.start_ns || slice.core < 0) {
                g->brief_slices++;
                continue;
            }
            lb_status status = lb_trace_add_slice(trace, &slice, err);
            if (status != LB_OK)
                return status;
        }
    }
    return LB_OK;
}

/* Naps as they were slept. */
static lb_status add_naps(const lbi_crew *crew, const gathering *g, uint32_t worker,
                          lb_trace *trace, lb_error *err) {
    const lbi_slot *slot = &crew->arena->slots[worker];
    lb_status status = LB_OK;
    for (size_t i = 0; i < slot->naps && status == LB_OK; i++) {
        const lbi_nap *nap = &crew->arena->naps[slot->first_nap + i];
        lb_mark mark = {.task = worker, .kind = LB_MARK_SLEEP};
        if (nap->slept != 0 && !nap->arrival) {
            mark.time_ns = since_origin(crew, g, nap->slept);
            status = lb_trace_add_mark(trace, &mark, err);
        }
        mark.kind = nap->arrival ? LB_MARK_FORK : LB_MARK_WAKE;
        if (nap->woke != 0 && status == LB_OK) {
            mark.time_ns = since_origin(crew, g, nap->woke);
            status = lb_trace_add_mark(trace, &mark, err);
        }
    }
    if (status == LB_OK && slot->stopped)
        status = add_mark(crew, worker, LB_MARK_END, slot->stop_ns, trace, err);
    return status;
}

static int compare(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y ? 1 : 0;
}

/* The CPU time of a unit: what whole ones took at the median, so that a calibration that fell into
 * a moment in which the cores were slower or faster cannot spoil it. Without any, as calibrated. */
static lb_status measure_unit(const lbi_crew *crew, gathering *g, lb_error *err) {
    const lbi_arena *arena = crew->arena;
    size_t n = 0, whole = 0;
    for (uint32_t i = 0; i < crew->made; i++)
        n += kept_units(&arena->slots[i]);
    g->unit_work = crew->unit_work;
    if (n == 0)
        return LB_OK;
    int64_t *times = lbi_array_new(n, sizeof *times);
    if (times == NULL)
        return lbi_error_nomem(err, "the units' times");
    for (uint32_t i = 0; i < crew->made; i++) {
        const lbi_record *records = arena->records + arena->slots[i].first_record;
        size_t kept = kept_units(&arena->slots[i]);
        for (size_t k = 0; k < kept && whole < n; k++)
            if (records[k].whole)
                times[whole++] = records[k].cpu_ns;
    }
    qsort(times, whole, sizeof *times, compare);
    if (whole > 0)
        g->unit_work = (double)(times[(whole - 1) / 2] + times[whole / 2]) / 2e9;
    g->measured = whole > 0;
    free(times);
    return LB_OK;
}

static lb_status set_cpus(const lb_host *host, lb_trace *trace, lb_error *err) {
    lbi_text text = {0};
    for (uint32_t core = 0; core < host->cores; core++)
        lbi_text_printf(&text, "%s%u", core == 0 ? "" : ",", (unsigned)host->cpus[core]);
    char *cpus = lbi_text_take(&text, NULL);
    if (cpus == NULL)
        return lbi_error_nomem(err, "the list of CPUs");
    lb_status status = lb_trace_set_meta(trace, "cpus", cpus, err);
    free(cpus);
    return status;
}

LBI_PRINTF(3, 4)
static lb_status set(lb_trace *trace, const char *key, const char *format, ...) {
    char value[128];
    va_list arguments;
    va_start(arguments, format);
    lbi_vsnprintf(value, sizeof value, format, arguments);
    va_end(arguments);
    return lb_trace_set_meta(trace, key, value, NULL);
}

/* What was counted on the way to the trace. */
static bool set_counts(const lbi_crew *crew, const gathering *g, lb_trace *trace) {
    bool kept = true;
    uint64_t lost_slices = 0;
    int64_t stalled = 0;
    for (uint32_t i = 0; i < crew->workers; i++) {
        const lbi_slot *slot = &crew->arena->slots[i];
        lost_slices += slot->lost_spans;
        stalled = slot->stalled_ns > stalled ? slot->stalled_ns : stalled;
    }
    if (g->lost_units > 0)
        kept = kept && set(trace, "lost_units", "%" PRIu64, g->lost_units) == LB_OK;
    if (lost_slices > 0)
        kept = kept && set(trace, "lost_slices", "%" PRIu64, lost_slices) == LB_OK;
    if (g->brief_slices > 0)
        kept = kept && set(trace, "brief_slices", "%" PRIu64, g->brief_slices) == LB_OK;
    if (stalled > 0)
        kept = kept && set(trace, "controller_stalled_s", "%.9g", (double)stalled / 1e9) == LB_OK;
    return kept;
}

static lb_status set_meta(const lbi_crew *crew, const char *experiment, const gathering *g,
                          lb_trace *trace, lb_error *err) {
    char kernel[128];
    lbi_kernel(kernel, sizeof kernel);
    lb_status status = lb_trace_set_meta(trace, "host", crew->host->description, err);
    if (status == LB_OK)
        status = set_cpus(crew->host, trace, err);
    if (status != LB_OK)
        return status;
    /* All that can go wrong with these is memory. */
    bool kept =
        set(trace, "experiment", "%s", experiment) == LB_OK &&
        set(trace, "library", "lbsched %s", lb_version()) == LB_OK &&
        set(trace, "kernel", "%s", kernel) == LB_OK &&
        set(trace, "class", "%s", lbi_class_name(&crew->class_)) == LB_OK &&
        set(trace, "priority", "%d", crew->class_.priority) == LB_OK &&
        set(trace, "nice", "%d", crew->class_.nice) == LB_OK &&
        set(trace, "time_slice_s", "%.9g", (double)crew->slice_ns / 1e9) == LB_OK &&
        set(trace, "budget_s", "%.9g", crew->options.budget) == LB_OK &&
        set(trace, "slice_clock", "%s", crew->arena->tsc ? "tsc" : "monotonic") == LB_OK &&
        set(trace, "chunk_s", "%.9g", g->unit_work / (double)crew->arena->unit_chunks) == LB_OK &&
        set(trace, "origin_s", "%" PRId64 ".%09" PRId64, crew->origin_ns / 1000000000,
            crew->origin_ns % 1000000000) == LB_OK &&
        set_counts(crew, g, trace);
    if (kept && crew->interrupted != LB_OK)
        kept = set(trace, "partial", "%s",
                   crew->interrupted == LB_ERR_CANCELLED ? "cancelled" : "timeout") == LB_OK;
    if (kept && crew->threads)
        kept = set(trace, "workers", "threads") == LB_OK;
    if (kept && g->measured)
        kept = set(trace, "work_drift_percent", "%.2f",
                   100 * (g->unit_work / crew->unit_work - 1)) == LB_OK;
    if (kept && !isnan(crew->foreign))
        kept = set(trace, "foreign_cpu_percent", "%.2f", crew->foreign * 100) == LB_OK;
    return kept ? LB_OK : lbi_error_nomem(err, "the trace's metadata");
}

lb_status lbi_crew_trace(const lbi_crew *crew, const char *experiment, lb_trace **ret_trace,
                         lb_error *err) {
    lb_trace *trace = NULL;
    lb_status status = lb_trace_new(crew->host->cores, &trace, err);
    if (status != LB_OK)
        return status;
    gathering g = {.after = crew->after};
    if (g.after.ticks == 0)
        g.after = lbi_instant_now(crew->arena->tsc);
    status = measure_unit(crew, &g, err);
    if (status == LB_OK)
        status = lb_trace_set_unit_work(trace, g.unit_work, err);
    for (uint32_t i = 0; i < crew->made && status == LB_OK; i++)
        status = add_worker(crew, i, trace, &g, err);
    for (size_t i = 0; i < crew->mark_count && status == LB_OK; i++)
        status = add_mark(crew, crew->marks[i].task, crew->marks[i].kind, crew->marks[i].time_ns,
                          trace, err);
    for (uint32_t i = 0; i < crew->made && status == LB_OK; i++)
        status = add_naps(crew, &g, i, trace, err);
    if (status == LB_OK)
        status = add_slices(crew, trace, &g, err);
    if (status == LB_OK)
        status = set_meta(crew, experiment, &g, trace, err);
    if (status == LB_OK)
        status = lb_trace_seal(trace, err);
    if (status == LB_OK)
        status = lbi_monitor_describe(&crew->monitor, trace, err);
    if (status == LB_OK)
        *ret_trace = trace;
    else
        lb_trace_free(trace);
    return status;
}
