/* SPDX-License-Identifier: BSD-3-Clause */
#include "classify/whereabouts.h"

#include <stdlib.h>

#include "base/array.h"

lb_status lbi_whereabouts_make(const lb_trace *trace, lbi_whereabouts *ret_where, lb_error *err) {
    lbi_whereabouts where = {.tasks = lb_trace_tasks(trace), .cores = lb_trace_cores(trace)};
    where.slices = lb_trace_slices(trace, &where.slice_count);
    where.marks = lb_trace_marks(trace, &where.mark_count);
    where.first = lbi_array_new((size_t)where.tasks + 1, sizeof *where.first);
    if (where.first == NULL)
        return lbi_error_nomem(err, "where tasks were");
    size_t slice = 0;
    for (uint32_t task = 0; task <= where.tasks; task++) {
        while (slice < where.slice_count && where.slices[slice].task < task)
            slice++;
        where.first[task] = slice;
    }
    *ret_where = where;
    return LB_OK;
}

void lbi_whereabouts_free(lbi_whereabouts *where) {
    free(where->first);
    *where = (lbi_whereabouts){0};
}

size_t lbi_whereabouts_at(const lbi_whereabouts *w, uint32_t task, int64_t time) {
    size_t low = w->first[task], high = w->first[task + 1];
    if (low == high || w->slices[low].start_ns > time || w->slices[high - 1].end_ns < time)
        return SIZE_MAX;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (w->slices[middle].start_ns <= time)
            low = middle;
        else
            high = middle;
    }
    return low;
}

int64_t lbi_whereabouts_since(const lbi_whereabouts *w, size_t slice) {
    size_t first = w->first[w->slices[slice].task];
    while (slice > first && w->slices[slice - 1].core == w->slices[slice].core)
        slice--;
    return w->slices[slice].start_ns;
}

int lbi_whereabouts_mark(const lbi_whereabouts *w, uint32_t task, int64_t time, lb_mark_kind one,
                         lb_mark_kind other) {
    int kind = -1;
    for (size_t i = 0; i < w->mark_count && w->marks[i].time_ns <= time; i++)
        if (w->marks[i].task == task &&
            (w->marks[i].kind == (int32_t)one || w->marks[i].kind == (int32_t)other))
            kind = w->marks[i].kind;
    return kind;
}
