/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files share that make progress of units. */
#ifndef LBI_CLASSIFY_PROGRESS_PARTS_H
#define LBI_CLASSIFY_PROGRESS_PARTS_H

#include "classify/progress.h"
#include "trace/tasks.h"

#define LBI_CELLS_CUT ((size_t)1 << 20) /* bounds times tasks, up to where intervals are cut */

/* The units of one task. */
typedef struct lbi_span {
    size_t first, count; /* units */
    int64_t start, end;
    uint32_t number;
} lbi_span;

static inline double lbi_seconds(int64_t ns) {
    return (double)ns * 1e-9;
}

static inline double lbi_duration_of(const lb_unit *unit) {
    return lbi_seconds_between(unit->start_ns, unit->end_ns);
}

/* ---- how coarse time is (durations.c) ---- */

/* How many units of a task are judged together, by the size of blocks, where so many are left. */
size_t lbi_block_length(size_t block, size_t left);

/* Blocks are numbered along the spans. */
typedef struct lbi_durations {
    double *typical; /* of each block */
    double *mean;    /* .. of its durations */
    double *values;  /* space for as many */
    size_t blocks;
    size_t block;      /* units in one, but for a task's last */
    bool many_a_slice; /* a task gets through several units at a stretch */
} lbi_durations;

/* `ret` is to be freed in any case. Sets wait, least, and grain as units that a task gets at a
 * stretch. */
lb_status lbi_durations_measure(lbi_progress *p, const lb_unit *units, const lbi_span *spans,
                                lbi_durations *ret, lb_error *err);
void lbi_durations_free(lbi_durations *durations);

/* ---- windows (progress_bounds.c) ---- */

/* At the ends, and between them where an interval is long enough to be cut. */
lb_status lbi_place_bounds(lbi_progress *p, const lbi_span *spans, lb_error *err);
/* Whether too few intervals are cut to tell what halves of them differ by. */
bool lbi_need_halves(const lbi_progress *p);
/* Each window becomes two; and one again, with its progress. */
void lbi_halve_windows(lbi_progress *p);
void lbi_join_halves(lbi_progress *p);

/* Spreads one task's units over the windows (progress_fill.c). `typical`: of each of its
 * blocks. */
void lbi_fill_task(lbi_progress *p, uint32_t task, const lb_unit *units, size_t count,
                   const double *typical, const lbi_durations *durations, double mean_cpu);

/* How much work units of equal length do beside each other: standard deviation over mean
 * (unit_spread.c). */
lb_status lbi_measure_spread(lbi_progress *p, lb_error *err);

/* The scales that are worth a try (progress_scale.c). `unit_work`: what the trace says; NAN. */
lb_status lbi_propose_scales(lbi_progress *p, double mean_cpu, double unit_work, lb_error *err);

#endif
