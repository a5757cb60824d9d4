/* SPDX-License-Identifier: BSD-3-Clause */
/* Progress of a call that does several things one after another: the caller sees one fraction,
 * which never falls. */
#ifndef LBI_MODEL_PROGRESS_H
#define LBI_MODEL_PROGRESS_H

#include "lbsched/lbsched.h"

typedef struct lbi_progress {
    lb_progress_fn fn; /* the caller's; NULL: nobody asks */
    void *user;
    double from, to; /* the part of the whole that is being done */
    double reported;
} lbi_progress;

/* An lb_progress_fn for one of the things, its user an lbi_progress. */
static inline int lbi_progress_report(void *user, double fraction) {
    lbi_progress *p = user;
    double whole = p->from + (p->to - p->from) * fraction;
    if (whole > p->reported)
        p->reported = whole;
    return p->fn(p->user, p->reported);
}

/* Asks as before, but of that part. */
static inline void lbi_progress_part(lbi_progress *p, double from, double to) {
    p->from = from;
    p->to = to;
}

/* Puts the progress between the options and whoever gave them. */
static inline lbi_progress lbi_progress_wrap(const lb_estimate_options *options) {
    return (lbi_progress){options->progress, options->progress_user, 0, 1, 0};
}

static inline void lbi_progress_watch(lb_estimate_options *options, lbi_progress *p) {
    if (p->fn != NULL) {
        options->progress = lbi_progress_report;
        options->progress_user = p;
    }
}

#endif
