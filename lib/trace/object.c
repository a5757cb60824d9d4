/* SPDX-License-Identifier: BSD-3-Clause */
#include "object.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "trace/cores.h"
#include "trace/tasks.h"

const char *const lbi_mark_names[LBI_MARK_KINDS] = {"pin", "unpin", "sleep", "wake", "fork", "end"};

lb_status lb_trace_new(uint32_t cores, lb_trace **ret_trace, lb_error *err) {
    if (cores == 0)
        return lbi_error(err, LB_ERR_INVALID, "cores is 0: expected 1 or more");
    lb_trace *trace = calloc(1, sizeof *trace);
    if (trace == NULL)
        return lbi_error_nomem(err, "a trace");
    trace->cores = cores;
    trace->unit_work = NAN;
    trace->sealed = true; /* nothing is out of order */
    *ret_trace = trace;
    return LB_OK;
}

void lb_trace_free(lb_trace *trace) {
    if (trace == NULL)
        return;
    lbi_meta_free(&trace->meta);
    free(trace->units);
    free(trace->slices);
    free(trace->marks);
    free(trace);
}

lb_status lb_trace_set_unit_work(lb_trace *trace, double seconds, lb_error *err) {
    if (!isnan(seconds) && !(seconds > 0 && isfinite(seconds)))
        return lbi_error(err, LB_ERR_INVALID,
                         "unit work is %g s: expected above 0 and finite, or NAN", seconds);
    trace->unit_work = seconds;
    return LB_OK;
}

double lb_trace_unit_work(const lb_trace *trace) {
    return trace->unit_work;
}

lb_status lb_trace_set_meta(lb_trace *trace, const char *key, const char *value, lb_error *err) {
    static const char *const reserved[] = {LBI_KEY_TRACE, LBI_KEY_CORES, LBI_KEY_UNIT_WORK,
                                           LBI_KEY_TABLE};
    for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
        if (strcmp(key, reserved[i]) == 0)
            return lbi_error(err, LB_ERR_INVALID,
                             "metadata key \"%s\" belongs to the file format: expected another",
                             key);
    if (value != NULL) {
        lb_status status = lbi_cores_check(key, value, trace->cores, err);
        if (status != LB_OK)
            return status;
    }
    return lbi_meta_set(&trace->meta, key, value, err);
}

const char *lb_trace_meta(const lb_trace *trace, const char *key) {
    return lbi_meta_get(&trace->meta, key);
}

/* `what` names the thing that the fields are in. */
static lb_status check_task(uint32_t task, const char *what, lb_error *err) {
    if (task > LB_TASK_MAX)
        return lbi_error(err, LB_ERR_INVALID, "%s.task is %lu: expected 0 to %lu", what,
                         (unsigned long)task, (unsigned long)LB_TASK_MAX);
    return LB_OK;
}

static lb_status check_times(int64_t start_ns, int64_t end_ns, const char *what, lb_error *err) {
    if (end_ns < start_ns)
        return lbi_error(err, LB_ERR_INVALID, "%s.end_ns is %lld: expected start_ns, %lld, or more",
                         what, (long long)end_ns, (long long)start_ns);
    return LB_OK;
}

/* `least` is -1 where a core need not be known. */
static lb_status check_core(const lb_trace *trace, int32_t core, int32_t least, const char *what,
                            const char *field, lb_error *err) {
    if (core < least || (core >= 0 && (uint32_t)core >= trace->cores))
        return lbi_error(err, LB_ERR_INVALID, "%s.%s is %ld: expected 0 to %lu%s", what, field,
                         (long)core, (unsigned long)trace->cores - 1,
                         least < 0 ? ", or -1 (not known)" : "");
    return LB_OK;
}

static lb_status check_unit(const lb_trace *trace, const lb_unit *unit, const char *what,
                            lb_error *err) {
    lb_status status = check_task(unit->task, what, err);
    if (status == LB_OK)
        status = check_times(unit->start_ns, unit->end_ns, what, err);
    if (status == LB_OK && unit->cpu_ns < -1)
        status = lbi_error(err, LB_ERR_INVALID, "%s.cpu_ns is %lld: expected 0 or more, or -1",
                           what, (long long)unit->cpu_ns);
    if (status == LB_OK)
        status = check_core(trace, unit->core_start, -1, what, "core_start", err);
    if (status == LB_OK)
        status = check_core(trace, unit->core_end, -1, what, "core_end", err);
    return status;
}

static void changed(lb_trace *trace, uint32_t task) {
    trace->sealed = false;
    if (task >= trace->tasks)
        trace->tasks = task + 1;
}

bool lbi_trace_append_unit(lb_trace *trace, const lb_unit *unit) {
    if (!lbi_array_reserve(&trace->units, &trace->unit_capacity, trace->unit_count + 1,
                           sizeof *unit))
        return false;
    trace->units[trace->unit_count++] = *unit;
    changed(trace, unit->task);
    return true;
}

bool lbi_trace_append_slice(lb_trace *trace, const lb_slice *slice) {
    if (!lbi_array_reserve(&trace->slices, &trace->slice_capacity, trace->slice_count + 1,
                           sizeof *slice))
        return false;
    trace->slices[trace->slice_count++] = *slice;
    changed(trace, slice->task);
    return true;
}

bool lbi_trace_append_mark(lb_trace *trace, const lb_mark *mark) {
    if (!lbi_array_reserve(&trace->marks, &trace->mark_capacity, trace->mark_count + 1,
                           sizeof *mark))
        return false;
    trace->marks[trace->mark_count++] = *mark;
    changed(trace, mark->task);
    return true;
}

lb_status lb_trace_add_unit(lb_trace *trace, const lb_unit *unit, lb_error *err) {
    lb_status status = check_unit(trace, unit, "unit", err);
    if (status != LB_OK)
        return status;
    return lbi_trace_append_unit(trace, unit) ? LB_OK : lbi_error_nomem(err, "a unit");
}

lb_status lb_trace_add_units(lb_trace *trace, const lb_unit *units, size_t n, lb_error *err) {
    for (size_t i = 0; i < n; i++) {
        char what[40];
        lb_status status = check_unit(trace, &units[i], "unit", NULL);
        if (status == LB_OK)
            continue;
        lbi_snprintf(what, sizeof what, "units[%zu]", i);
        return check_unit(trace, &units[i], what, err);
    }
    if (n > SIZE_MAX - trace->unit_count ||
        !lbi_array_reserve(&trace->units, &trace->unit_capacity, trace->unit_count + n,
                           sizeof *units))
        return lbi_error_nomem(err, "units");
    for (size_t i = 0; i < n; i++)
        lbi_trace_append_unit(trace, &units[i]);
    return LB_OK;
}

lb_status lb_trace_add_slice(lb_trace *trace, const lb_slice *slice, lb_error *err) {
    lb_status status = check_task(slice->task, "slice", err);
    if (status == LB_OK)
        status = check_times(slice->start_ns, slice->end_ns, "slice", err);
    if (status == LB_OK)
        status = check_core(trace, slice->core, 0, "slice", "core", err);
    if (status != LB_OK)
        return status;
    return lbi_trace_append_slice(trace, slice) ? LB_OK : lbi_error_nomem(err, "a slice");
}

lb_status lb_trace_add_mark(lb_trace *trace, const lb_mark *mark, lb_error *err) {
    lb_status status = check_task(mark->task, "mark", err);
    if (status != LB_OK)
        return status;
    if (mark->kind < 0 || mark->kind >= LBI_MARK_KINDS)
        return lbi_error(err, LB_ERR_INVALID, "mark.kind is %ld: expected an lb_mark_kind, 0 to %d",
                         (long)mark->kind, LBI_MARK_KINDS - 1);
    return lbi_trace_append_mark(trace, mark) ? LB_OK : lbi_error_nomem(err, "a mark");
}

uint32_t lb_trace_cores(const lb_trace *trace) {
    return trace->cores;
}

uint32_t lb_trace_tasks(const lb_trace *trace) {
    return trace->tasks;
}

bool lbi_trace_sealed(const lb_trace *trace) {
    return trace->sealed;
}

const lb_unit *lb_trace_units(const lb_trace *trace, size_t *ret_n) {
    *ret_n = trace->sealed ? trace->unit_count : 0;
    return *ret_n > 0 ? trace->units : NULL;
}

const lb_slice *lb_trace_slices(const lb_trace *trace, size_t *ret_n) {
    *ret_n = trace->sealed ? trace->slice_count : 0;
    return *ret_n > 0 ? trace->slices : NULL;
}

const lb_mark *lb_trace_marks(const lb_trace *trace, size_t *ret_n) {
    *ret_n = trace->sealed ? trace->mark_count : 0;
    return *ret_n > 0 ? trace->marks : NULL;
}
