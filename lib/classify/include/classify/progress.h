/* SPDX-License-Identifier: BSD-3-Clause */
/* How much work each task had done, and for how much time that is known, at each of a row of
 * instants: all that the likelihoods see of a trace. */
#ifndef LBI_CLASSIFY_PROGRESS_H
#define LBI_CLASSIFY_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "classify/disorder.h"
#include "lbsched/lbsched.h"

/* Why a trace says nothing about policies. */
typedef enum lbi_unusable {
    LBI_USABLE = 0,
    LBI_NO_UNITS,      /* empty, or slices alone */
    LBI_ONE_CORE,      /* nothing to balance */
    LBI_ONE_TASK,      /* nobody to share with */
    LBI_NEVER_SHARED,  /* fewer tasks than cores + 1 at any time */
    LBI_NO_OVERLAP,    /* the tasks never ran all at once before the first ended */
    LBI_ENDED_AT_ONCE, /* no time between the first end and the last */
    LBI_LATE_TASK,     /* a task began after another had ended */
    LBI_TOO_COARSE,    /* units so long that no interval holds one */
    LBI_TOO_LARGE      /* more tasks than can be followed */
} lbi_unusable;

/* Tasks are indexed by their ends (`number` has the trace's numbers), so that nothing depends on
 * how they were numbered. A window is the time between two bounds; every end is a bound. */
typedef struct lbi_progress {
    lbi_unusable unusable;
    uint32_t cores, tasks;
    uint32_t *number; /* of the trace */
    size_t bounds;
    double *time;     /* of each bound, seconds of the trace */
    double *done;     /* [bound][task] CPU seconds so far */
    double *seen;     /* [bound][task] seconds in which that was observed */
    uint32_t *end;    /* the bound at which a task ends; never falls with the index */
    size_t *observed; /* [bound] windows of tasks before it in which progress was observed */
    double unit_work; /* CPU seconds of a unit; 1 where that is not known */
    double factor;    /* what `done` is multiplied with at present */
    double scale[3];  /* what `done` may have to be multiplied with to be CPU seconds */
    size_t scales;
    double known_scale; /* the one that the trace's unit_work says; NAN: it does not tell */
    double unit_spread; /* of a unit's work: standard deviation over mean */
    double grain;       /* standard deviation of `done`: units and time slices are not fluid */
    double wait;        /* the unit duration in which half of all time passes: how coarse time is */
    double least;       /* the shortest unit's duration */
    size_t units, dropped; /* units much longer than the others around them tell no rate */
    lbi_disorder disorder; /* as units are before `done` is scaled */
    double first_end, last_end, late_start;
    uint32_t late_task;
} lbi_progress;

static inline double lbi_done(const lbi_progress *p, uint32_t task, size_t from, size_t to) {
    return p->done[to * p->tasks + task] - p->done[from * p->tasks + task];
}

static inline double lbi_seen(const lbi_progress *p, uint32_t task, size_t from, size_t to) {
    return p->seen[to * p->tasks + task] - p->seen[from * p->tasks + task];
}

/* Units by task, then start, as lb_trace_units() has them; `unit_work` may be NAN. An unusable
 * trace is LB_OK. Freed with lbi_progress_free() in any case. */
lb_status lbi_progress_make(lbi_progress *ret_progress, uint32_t cores, double unit_work,
                            const lb_unit *units, size_t n, lb_error *err);
void lbi_progress_scale(lbi_progress *progress, double factor);
void lbi_progress_free(lbi_progress *progress);

#endif
