/* SPDX-License-Identifier: BSD-3-Clause */
/* Where tasks were when, by the slices of a trace. */
#ifndef LBI_CLASSIFY_WHEREABOUTS_H
#define LBI_CLASSIFY_WHEREABOUTS_H

#include <stdbool.h>

#include "base/error.h"

typedef struct lbi_whereabouts {
    const lb_slice *slices; /* the trace's: by task, then start */
    const lb_mark *marks;
    size_t slice_count, mark_count;
    uint32_t tasks, cores;
    size_t *first; /* [tasks + 1] each task's first slice */
} lbi_whereabouts;

/* Of a sealed trace, which must live on. Freed with lbi_whereabouts_free(). */
lb_status lbi_whereabouts_make(const lb_trace *trace, lbi_whereabouts *ret_where, lb_error *err);
void lbi_whereabouts_free(lbi_whereabouts *where);

/* The slice that a task was in at a time, or the last one before; SIZE_MAX: it had not begun, or
 * had its last behind it. */
size_t lbi_whereabouts_at(const lbi_whereabouts *where, uint32_t task, int64_t time);
/* Since when a slice's task has been on its core. */
int64_t lbi_whereabouts_since(const lbi_whereabouts *where, size_t slice);
/* The last mark of a task at or before a time whose kind is one of two; -1: none. */
int lbi_whereabouts_mark(const lbi_whereabouts *where, uint32_t task, int64_t time,
                         lb_mark_kind one, lb_mark_kind other);

#endif
