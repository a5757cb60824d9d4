/* SPDX-License-Identifier: BSD-3-Clause */
/* The windows in which progress is observed. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "classify/progress_parts.h"

#define WINDOW_WAITS 12 /* an interval is cut into windows of at least so many waits .. */
#define WINDOWS_MAX 6   /* .. and at most so many windows */
#define PAIRS_LEAST 28  /* of windows, that tell how much units differ */

lb_status lbi_place_bounds(lbi_progress *p, const lbi_span *spans, lb_error *err) {
    double start = -DBL_MAX;
    for (uint32_t i = 0; i < p->tasks; i++)
        if (lbi_seconds(spans[i].start) > start)
            start = lbi_seconds(spans[i].start);
    bool cut = (size_t)p->tasks * p->tasks * 2 <= LBI_CELLS_CUT;
    p->time = lbi_array_new(2 * (size_t)p->tasks * (cut ? WINDOWS_MAX : 1) + 1, sizeof *p->time);
    if (p->time == NULL)
        return lbi_error_nomem(err, "bounds");
    p->time[0] = start;
    p->bounds = 1;
    for (uint32_t i = 0; i < p->tasks; i++) {
        double before = p->time[p->bounds - 1], end = lbi_seconds(spans[i].end),
               length = end - before;
        double parts =
            cut && length > 0 ? fmin(floor(length / (WINDOW_WAITS * p->wait)), WINDOWS_MAX) : 1;
        if ((size_t)p->tasks * (p->bounds + WINDOWS_MAX) > LBI_CELLS_CUT)
            parts = 1;
        for (int part = 1; part < parts; part++)
            p->time[p->bounds++] = before + length * part / parts;
        if (end > before)
            p->time[p->bounds++] = end;
        p->end[i] = (uint32_t)(p->bounds - 1);
    }
    return LB_OK;
}

bool lbi_need_halves(const lbi_progress *p) {
    size_t cuts = p->bounds - 1 - p->tasks;
    return cuts * p->tasks < PAIRS_LEAST && p->bounds * p->tasks * 2 <= LBI_CELLS_CUT;
}

/* `time` has room for that. */
void lbi_halve_windows(lbi_progress *p) {
    for (size_t k = p->bounds; k-- > 0;) {
        p->time[2 * k] = p->time[k];
        if (k + 1 < p->bounds)
            p->time[2 * k + 1] = (p->time[2 * k] + p->time[2 * k + 2]) / 2;
    }
    for (uint32_t i = 0; i < p->tasks; i++)
        p->end[i] *= 2;
    p->bounds = 2 * p->bounds - 1;
}

void lbi_join_halves(lbi_progress *p) {
    size_t row = p->tasks * sizeof *p->done;
    p->bounds = (p->bounds + 1) / 2;
    for (size_t k = 0; k < p->bounds; k++) {
        p->time[k] = p->time[2 * k];
        memmove(p->done + k * p->tasks, p->done + 2 * k * p->tasks, row);
        memmove(p->seen + k * p->tasks, p->seen + 2 * k * p->tasks, row);
    }
    for (uint32_t i = 0; i < p->tasks; i++)
        p->end[i] /= 2;
}
