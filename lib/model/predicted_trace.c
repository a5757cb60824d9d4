/* SPDX-License-Identifier: BSD-3-Clause */
/* lb_model_trace(): one realisation as an experiment would have recorded it. */
#include "predicted_trace.h"

#include <math.h>

#include "base/text.h"

/* An amount below this part of a unit is rounding, and no unit. */
#define SLIVER 1e-9

int64_t lbi_writer_time(lbi_writer *writer, double seconds) {
    double ns = seconds * 1e9;
    if (ns < 9.2e18)
        return llround(ns);
    if (writer->status == LB_OK)
        writer->status = lbi_error(writer->err, LB_ERR_LIMIT,
                                   "it takes %g s: a trace holds 9.2e9 s at most", seconds);
    return 0;
}

bool lbi_writer_count(lbi_writer *writer) {
    if (writer->status == LB_OK && ++writer->count > LBI_TRACE_MAX)
        writer->status = lbi_error(writer->err, LB_ERR_LIMIT,
                                   "more than %u units and slices: a larger unit_work or slice "
                                   "expected",
                                   (unsigned)LBI_TRACE_MAX);
    return writer->status == LB_OK;
}

/* ---- units ---- */

typedef struct task { /* one process, from its first unit on */
    lbi_writer *writer;
    uint32_t slot, index; /* the next unit's number */
    double unit_work;
    double begin;        /* of the unit at hand */
    uint32_t core_start; /* likewise */
    double done;         /* work, in all */
    double cut, whole;   /* before the first of the units in one piece, and how many are done */
    double cpu;          /* seconds used for the unit at hand; NAN: not known */
} task;

static double unit_start(const task *t) {
    return t->cut + t->whole * t->unit_work;
}

static int32_t core_of(const task *t, uint32_t list) {
    return t->writer->timeline->shared ? -1 : (int32_t)list;
}

/* The speed of those who are on a list, while they run. */
static double speed_of(const task *t, uint32_t list) {
    const lb_model *model = t->writer->timeline->plan->model;
    if (model->speeds == NULL)
        return 1;
    return t->writer->timeline->shared ? NAN : model->speeds[list];
}

static void end_unit(task *t, double time, uint32_t list) {
    lbi_writer *writer = t->writer;
    if (!lbi_writer_count(writer))
        return;
    lb_unit unit = {.start_ns = lbi_writer_time(writer, t->begin),
                    .end_ns = lbi_writer_time(writer, time),
                    .cpu_ns = t->cpu < 9.2e9 ? llround(t->cpu * 1e9) : -1,
                    .task = t->slot,
                    .index = t->index++,
                    .core_start = core_of(t, t->core_start),
                    .core_end = core_of(t, list)};
    if (writer->status == LB_OK)
        writer->status = lb_trace_add_unit(writer->trace, &unit, writer->err);
    t->begin = time;
    t->core_start = list;
    t->cpu = 0;
}

static void cut_unit(task *t, double time, uint32_t list) {
    if (t->done - unit_start(t) > SLIVER * t->unit_work)
        end_unit(t, time, list);
    t->cut = t->done;
    t->whole = 0;
}

static void mark(task *t, double time, lb_mark_kind kind) {
    lbi_writer *writer = t->writer;
    lb_mark mark = {.time_ns = lbi_writer_time(writer, time), .task = t->slot, .kind = kind};
    if (writer->status == LB_OK)
        writer->status = lb_trace_add_mark(writer->trace, &mark, writer->err);
}

/* What it does on one list; `work` is what it has done when it leaves that, where that is known
 * better than from the list's virtual time. */
static void stay(task *t, const lbi_hop *enter, double until, double work) {
    const lbi_timeline *timeline = t->writer->timeline;
    uint32_t list = enter->list;
    double share = lbi_timeline_share(timeline, list, t->slot), speed = speed_of(t, list);
    double from = lbi_timeline_virtual(timeline, list, enter->time), before = t->done;
    double after = before + share * (lbi_timeline_virtual(timeline, list, until) - from);
    double whole = after;
    if (work < INFINITY) { /* the rest is the last unit */
        after = work;
        whole = work - SLIVER * t->unit_work;
    }
    double at = before;
    for (double end; t->writer->status == LB_OK && (end = unit_start(t) + t->unit_work) <= whole;) {
        double time = lbi_timeline_time(timeline, list, from + (end - before) / share);
        time = time < t->begin ? t->begin : time > until ? until : time;
        t->cpu += (end > at ? end - at : 0) / speed;
        at = end > at ? end : at;
        end_unit(t, time, list);
        t->whole++;
    }
    t->cpu += (after > at ? after - at : 0) / speed;
    t->done = after > before ? after : before;
}

static void write_task(lbi_writer *writer, uint32_t slot, double unit_work) {
    const lbi_timeline *timeline = writer->timeline;
    const lb_workload *workload = timeline->plan->workload;
    const lbi_hop *hops = timeline->by_slot;
    size_t first = timeline->first_of_slot[slot], end = timeline->first_of_slot[slot + 1];
    double arrival = workload->arriving ? workload->arrivals[slot] : 0;
    bool completes = timeline->durations[slot] < INFINITY;
    task t = {.writer = writer, .slot = slot, .unit_work = unit_work, .begin = arrival};
    if (arrival > 0)
        mark(&t, arrival, LB_MARK_FORK);
    if (first == end) { /* it had no work, or was never placed */
        if (completes) {
            lb_unit unit = {.start_ns = lbi_writer_time(writer, arrival),
                            .end_ns = lbi_writer_time(writer, arrival),
                            .task = slot,
                            .core_start = -1,
                            .core_end = -1};
            if (lbi_writer_count(writer))
                writer->status = lb_trace_add_unit(writer->trace, &unit, writer->err);
        }
        return;
    }
    t.begin = hops[first].time;
    t.core_start = hops[first].list;
    for (size_t i = first; i + 1 < end && writer->status == LB_OK; i += 2) {
        double until = hops[i + 1].time;
        bool last = i + 2 >= end, sleeps = !last && hops[i + 2].time > until;
        stay(&t, &hops[i], until, last && completes ? workload->works[slot] : INFINITY);
        if (last && completes)
            end_unit(&t, until, hops[i].list);
        else if (last || sleeps)
            cut_unit(&t, until, hops[i].list);
        if (sleeps) {
            mark(&t, until, LB_MARK_SLEEP);
            mark(&t, hops[i + 2].time, LB_MARK_WAKE);
            t.begin = hops[i + 2].time;
            t.core_start = hops[i + 2].list;
        } else if (last && !completes)
            mark(&t, until, timeline->asleep[slot] ? LB_MARK_SLEEP : LB_MARK_END);
    }
}

/* ---- the whole ---- */

LBI_PRINTF(3, 4)
static void set(lbi_writer *writer, const char *key, const char *format, ...) {
    char value[96];
    va_list arguments;
    va_start(arguments, format);
    lbi_vsnprintf(value, sizeof value, format, arguments);
    va_end(arguments);
    if (writer->status == LB_OK)
        writer->status = lb_trace_set_meta(writer->trace, key, value, writer->err);
}

static void write_meta(lbi_writer *writer, double slice, uint64_t seed) {
    const lb_model_options *options = &writer->timeline->plan->model->options;
    set(writer, "experiment", "predicted");
    set(writer, "library", "lbsched %s", lb_version());
    set(writer, "policy", "%s", lbi_model_policy_names[options->policy]);
    if (options->balance_delay > 0)
        set(writer, "balance_delay_s", "%.9g", options->balance_delay);
    if (options->rotation_time > 0)
        set(writer, "rotation_time_s", "%.9g", options->rotation_time);
    if (slice > 0)
        set(writer, "time_slice_s", "%.9g", slice);
    set(writer, "seed", "%llu", (unsigned long long)seed);
}

static lb_status check(const lb_model *model, const lb_workload *workload, double unit_work,
                       double slice, lb_error *err) {
    if (!(unit_work > 0 && isfinite(unit_work)))
        return lbi_error(err, LB_ERR_INVALID, "unit_work is %g s: above 0 and finite expected",
                         unit_work);
    if (!(slice >= 0 && isfinite(slice)))
        return lbi_error(err, LB_ERR_INVALID, "slice is %g s: 0 or more and finite expected",
                         slice);
    if (slice > 0 && lbi_model_is_shared(model))
        return lbi_error(err, LB_ERR_UNSUPPORTED,
                         "slices of a model without lists: policy immediate shares all cores");
    if (workload->size > LB_TASK_MAX + 1u)
        return lbi_error(err, LB_ERR_LIMIT, "%zu processes: a trace holds %u tasks at most",
                         workload->size, (unsigned)LB_TASK_MAX + 1u);
    double units = 0;
    for (size_t i = 0; i < workload->size; i++) {
        if (workload->works[i] == INFINITY)
            return lbi_error(err, LB_ERR_LIMIT, "process %zu has infinite work: a trace is finite",
                             i);
        units += ceil(workload->works[i] / unit_work);
    }
    if (workload->event_count == 0 && units > LBI_TRACE_MAX)
        return lbi_error(err, LB_ERR_LIMIT, "%g units of %g s: %u at most", units, unit_work,
                         (unsigned)LBI_TRACE_MAX);
    return LB_OK;
}

static lb_status write_trace(const lbi_timeline *timeline, double unit_work, double slice,
                             uint64_t seed, lb_trace **ret_trace, lb_error *err) {
    lbi_writer writer = {.timeline = timeline, .err = err};
    writer.status = lb_trace_new(timeline->plan->model->options.cores, &writer.trace, err);
    if (writer.status == LB_OK)
        writer.status = lb_trace_set_unit_work(writer.trace, unit_work, err);
    if (writer.status == LB_OK)
        write_meta(&writer, slice, seed);
    for (size_t i = 0; writer.status == LB_OK && i < timeline->plan->size; i++)
        write_task(&writer, (uint32_t)i, unit_work);
    if (writer.status == LB_OK && slice > 0)
        lbi_write_slices(&writer, slice);
    if (writer.status == LB_OK)
        writer.status = lb_trace_seal(writer.trace, err);
    if (writer.status == LB_OK)
        *ret_trace = writer.trace;
    else
        lb_trace_free(writer.trace);
    return writer.status;
}

lb_status lb_model_trace(const lb_model *model, const lb_workload *workload, double unit_work,
                         double slice, uint64_t seed, lb_trace **ret_trace, lb_error *err) {
    lbi_plan plan;
    lbi_timeline timeline;
    lb_status status = check(model, workload, unit_work, slice, err);
    if (status == LB_OK)
        status = lbi_plan_new(&plan, model, workload, err);
    if (status != LB_OK)
        return status;
    plan.drains = false; /* that would leave out most of what happens */
    status = lbi_timeline_new(&timeline, &plan, seed, LBI_TRACE_MAX, slice > 0, err);
    if (status == LB_OK) {
        status = write_trace(&timeline, unit_work, slice, seed, ret_trace, err);
        lbi_timeline_free(&timeline);
    }
    lbi_plan_free(&plan);
    return status;
}
