/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "object.h"
#include "sort.h"
#include "trace/fixed.h"

#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

static int compare_units(const void *a, const void *b) {
    const lb_unit *x = a, *y = b;
    if (x->task != y->task)
        return ORDER(x->task, y->task);
    if (x->start_ns != y->start_ns)
        return ORDER(x->start_ns, y->start_ns);
    if (x->end_ns != y->end_ns)
        return ORDER(x->end_ns, y->end_ns);
    return ORDER(x->index, y->index);
}

static int compare_slices(const void *a, const void *b) {
    const lb_slice *x = a, *y = b;
    if (x->task != y->task)
        return ORDER(x->task, y->task);
    if (x->start_ns != y->start_ns)
        return ORDER(x->start_ns, y->start_ns);
    return ORDER(x->end_ns, y->end_ns);
}

static int compare_marks(const void *a, const void *b) {
    const lb_mark *x = a, *y = b;
    return ORDER(x->time_ns, y->time_ns);
}

static size_t task_of_unit(const void *unit) {
    return ((const lb_unit *)unit)->task;
}

static size_t task_of_slice(const void *slice) {
    return ((const lb_slice *)slice)->task;
}

/* Recorded as time went on, tasks alternate, yet each of them is in order: then grouping is all
 * that it takes. Memory stays in proportion to the items, whatever numbers tasks have. */
static bool sort_by_task(const lb_trace *trace, void *items, size_t n, size_t size,
                         size_t (*task)(const void *), int (*compare)(const void *, const void *)) {
    if (trace->tasks <= n && !lbi_is_sorted(items, n, size, compare) &&
        !lbi_group(items, n, size, task, trace->tasks))
        return false;
    return lbi_sort(items, n, size, compare);
}

static lbi_conflict overlap_of_units(const lb_trace *trace) {
    const lb_unit *units = trace->units;
    for (size_t i = 1; i < trace->unit_count; i++)
        if (units[i].task == units[i - 1].task && units[i].start_ns < units[i - 1].end_ns)
            return (lbi_conflict){LBI_CONFLICT_UNITS, i - 1, i};
    return (lbi_conflict){0};
}

static lbi_conflict overlap_of_slices(const lb_trace *trace) {
    const lb_slice *slices = trace->slices;
    for (size_t i = 1; i < trace->slice_count; i++)
        if (slices[i].task == slices[i - 1].task && slices[i].start_ns < slices[i - 1].end_ns)
            return (lbi_conflict){LBI_CONFLICT_SLICES, i - 1, i};
    return (lbi_conflict){0};
}

/* By task and number, then place. */
static int compare_numbers(const void *a, const void *b) {
    const lb_unit *x = *(const lb_unit *const *)a, *y = *(const lb_unit *const *)b;
    if (x->task != y->task)
        return ORDER(x->task, y->task);
    return x->index != y->index ? ORDER(x->index, y->index) : ORDER(x, y);
}

/* Numbers need not rise with time, though they do wherever units were recorded. */
static bool numbers_rise(const lb_trace *trace) {
    const lb_unit *units = trace->units;
    for (size_t i = 1; i < trace->unit_count; i++)
        if (units[i].task == units[i - 1].task && units[i].index <= units[i - 1].index)
            return false;
    return true;
}

static bool find_repeated_number(const lb_trace *trace, lbi_conflict *ret_conflict) {
    if (numbers_rise(trace))
        return true;
    const lb_unit **sorted = lbi_array_new(trace->unit_count, sizeof *sorted);
    if (sorted == NULL)
        return false;
    for (size_t i = 0; i < trace->unit_count; i++)
        sorted[i] = &trace->units[i];
    if (!lbi_sort(sorted, trace->unit_count, sizeof *sorted, compare_numbers)) {
        free(sorted);
        return false;
    }
    for (size_t i = 1; i < trace->unit_count; i++) {
        const lb_unit *former = sorted[i - 1], *latter = sorted[i];
        if (former->task != latter->task || former->index != latter->index)
            continue;
        *ret_conflict = (lbi_conflict){LBI_CONFLICT_NUMBERS, (size_t)(former - trace->units),
                                       (size_t)(latter - trace->units)};
        break;
    }
    free(sorted);
    return true;
}

/* In the order of time: rows of a file may stand in any order. */
static void count_units(lb_trace *trace) {
    lb_unit *units = trace->units;
    for (size_t i = 0; i < trace->unit_count; i++)
        units[i].index = i > 0 && units[i].task == units[i - 1].task ? units[i - 1].index + 1 : 0;
}

bool lbi_trace_order(lb_trace *trace, bool number_units, lbi_conflict *ret_conflict) {
    *ret_conflict = (lbi_conflict){0};
    if (trace->sealed)
        return true;
    if (!sort_by_task(trace, trace->units, trace->unit_count, sizeof *trace->units, task_of_unit,
                      compare_units) ||
        !sort_by_task(trace, trace->slices, trace->slice_count, sizeof *trace->slices,
                      task_of_slice, compare_slices) ||
        !lbi_sort(trace->marks, trace->mark_count, sizeof *trace->marks, compare_marks))
        return false;
    if (number_units)
        count_units(trace);
    *ret_conflict = overlap_of_units(trace);
    if (ret_conflict->kind == LBI_CONFLICT_NONE)
        *ret_conflict = overlap_of_slices(trace);
    if (ret_conflict->kind == LBI_CONFLICT_NONE && !find_repeated_number(trace, ret_conflict))
        return false;
    trace->sealed = ret_conflict->kind == LBI_CONFLICT_NONE;
    return true;
}

static void describe_overlap(const char *what, uint32_t task, int64_t start_ns, int64_t end_ns,
                             char *text, size_t size) {
    char start[LBI_SECONDS_SIZE], end[LBI_SECONDS_SIZE];
    lbi_format_seconds(start_ns, start);
    lbi_format_seconds(end_ns, end);
    lbi_snprintf(text, size,
                 "two %ss of task %lu overlap: one starts at %s s, expected at %s s, when the one "
                 "before ends, or later",
                 what, (unsigned long)task, start, end);
}

void lbi_conflict_describe(const lb_trace *trace, const lbi_conflict *conflict, char *text,
                           size_t size) {
    if (conflict->kind == LBI_CONFLICT_SLICES) {
        const lb_slice *former = &trace->slices[conflict->former];
        const lb_slice *latter = &trace->slices[conflict->latter];
        describe_overlap("slice", latter->task, latter->start_ns, former->end_ns, text, size);
        return;
    }
    const lb_unit *former = &trace->units[conflict->former];
    const lb_unit *latter = &trace->units[conflict->latter];
    if (conflict->kind == LBI_CONFLICT_UNITS) {
        describe_overlap("unit", latter->task, latter->start_ns, former->end_ns, text, size);
        return;
    }
    char start[LBI_SECONDS_SIZE], other[LBI_SECONDS_SIZE];
    lbi_format_seconds(former->start_ns, other);
    lbi_format_seconds(latter->start_ns, start);
    lbi_snprintf(text, size,
                 "two units of task %lu have the number %lu, which start at %s s and %s s: "
                 "expected different numbers",
                 (unsigned long)latter->task, (unsigned long)latter->index, other, start);
}

lb_status lb_trace_seal(lb_trace *trace, lb_error *err) {
    lbi_conflict conflict;
    if (!lbi_trace_order(trace, false, &conflict))
        return lbi_error_nomem(err, "sorting a trace");
    if (conflict.kind == LBI_CONFLICT_NONE)
        return LB_OK;
    char text[200];
    lbi_conflict_describe(trace, &conflict, text, sizeof text);
    return lbi_error(err, LB_ERR_INVALID, "%s", text);
}
