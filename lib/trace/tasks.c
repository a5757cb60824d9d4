/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/tasks.h"

bool lbi_trace_next_task(const lb_trace *trace, lbi_task *task) {
    size_t unit_count, slice_count, unit = task->next_unit, slice = task->next_slice;
    const lb_unit *units = lb_trace_units(trace, &unit_count);
    const lb_slice *slices = lb_trace_slices(trace, &slice_count);
    bool has_unit = unit < unit_count, has_slice = slice < slice_count;
    if (!has_unit && !has_slice)
        return false;
    uint32_t number = has_unit ? units[unit].task : slices[slice].task;
    if (has_slice && slices[slice].task < number)
        number = slices[slice].task;
    while (unit < unit_count && units[unit].task == number)
        unit++;
    while (slice < slice_count && slices[slice].task == number)
        slice++;
    *task = (lbi_task){
        .units = has_unit ? units + task->next_unit : NULL,
        .unit_count = unit - task->next_unit,
        .slices = has_slice ? slices + task->next_slice : NULL,
        .slice_count = slice - task->next_slice,
        .task = number,
        .next_unit = unit,
        .next_slice = slice,
    };
    return true;
}

int64_t lbi_task_start_ns(const lbi_task *task) {
    int64_t start = INT64_MAX;
    if (task->unit_count > 0)
        start = task->units[0].start_ns;
    if (task->slice_count > 0 && task->slices[0].start_ns < start)
        start = task->slices[0].start_ns;
    return start;
}

int64_t lbi_task_end_ns(const lbi_task *task) {
    /* Nothing overlaps, so what starts last ends last. */
    int64_t end = INT64_MIN;
    if (task->unit_count > 0)
        end = task->units[task->unit_count - 1].end_ns;
    if (task->slice_count > 0 && task->slices[task->slice_count - 1].end_ns > end)
        end = task->slices[task->slice_count - 1].end_ns;
    return end;
}

double lbi_seconds_between(int64_t from_ns, int64_t to_ns) {
    if (to_ns < from_ns)
        return -lbi_seconds_between(to_ns, from_ns);
    return (double)((uint64_t)to_ns - (uint64_t)from_ns) * 1e-9;
}
