/* SPDX-License-Identifier: BSD-3-Clause */
/* How probable a trace's progress is under each policy. All likelihoods are densities of the same
 * numbers (each task's progress in each window in which it was observed), so that they compare. */
#ifndef LBI_CLASSIFY_LIKELIHOOD_H
#define LBI_CLASSIFY_LIKELIHOOD_H

#include "classify/progress.h"

typedef enum lbi_step_kind {
    LBI_STEP_START, /* a list's length at the beginning */
    LBI_STEP_END,   /* a task ended */
    LBI_STEP_MATE,  /* a task's list changed its length */
    LBI_STEP_GUEST, /* a task that is not in the trace is in a list of length `to`; 0: it is gone */
    LBI_STEP_REPAIR, /* its list had its length for a while already: a wrong guess is mended */
    LBI_STEP_MOVE    /* a task, or one of its mates who cannot be told from it, moved */
} lbi_step_kind;

/* One thing that happened in the most probable history under lists. */
typedef struct lbi_step {
    uint32_t parent; /* the step before; UINT32_MAX: none */
    uint32_t bound;
    uint32_t task;
    uint16_t from; /* the length of its list before; 0: it begins */
    uint16_t to;   /* and after; 0: it ended */
    lbi_step_kind kind;
} lbi_step;

/* What a policy of run lists makes of the trace. */
typedef struct lbi_lists {
    double log_likelihood;
    lbi_step *steps; /* of the most probable history, in order of time */
    size_t count;
    double
        misfit; /* the share of observed time in which the history does not explain the rates .. */
    double excused; /* .. of which one core that was away for a while explains so much */
} lbi_lists;

/* How well the best of all fits did up to each bound, so that one which falls far behind is given
 * up. Log likelihoods as if progress were not scaled. */
typedef struct lbi_pace {
    double *best; /* [bound] */
} lbi_pace;

#define LBI_GIVEN_UP -1e100 /* the log likelihood of a fit that was given up */

/* Notes how a fit does up to a bound. True: it is so far behind that it may stop. */
bool lbi_pace_note(lbi_pace *pace, const lbi_progress *progress, size_t bound,
                   double log_likelihood);

/* How a search under run lists goes. */
typedef struct lbi_how {
    bool longest;   /* lazy balancing takes from the longest list, not from any */
    bool wide;      /* takes longer and loses its way less */
    bool disturbed; /* moves may come late, and tasks that are not in the trace may come and go */
} lbi_how;

/* One that falls behind the pace ends early: its misfit is 1. */
lb_status lbi_lists_fit(const lbi_progress *progress, lb_policy policy, lbi_how how, lbi_pace *pace,
                        lbi_lists *ret_lists, lb_error *err);
void lbi_lists_free(lbi_lists *lists);

/* What even sharing makes of it. */
typedef struct lbi_sharing {
    double log_likelihood;
    double rotation_time; /* the most probable: seconds that an uneven share lasts; 0: fluid */
    double misfit;
    double log_still; /* log of how probable it is that nothing was rotated in all the trace */
} lbi_sharing;

/* `disturbed`: a core may be away for a while, or a task that is not in the trace be there. */
void lbi_sharing_fit(const lbi_progress *progress, bool disturbed, double *workspace,
                     lbi_pace *pace, lbi_sharing *ret_sharing);
/* The numbers of double that lbi_sharing_fit() needs. */
size_t lbi_sharing_workspace(const lbi_progress *progress);

/* "None of these". `workspace` has an entry for each bound. */
double lbi_background_fit(const lbi_progress *progress, bool *workspace);

/* ---- emission: one task's progress, observed window by window (emission.c) ---- */

#define LBI_UNEXPLAINED 0.02 /* how often a window may be what no model explains */
#define LBI_RATE_SPREAD 0.03 /* of a share of a core: standard deviation over mean */

/* The density of progress of which nothing is known. */
double lbi_unexplained(const lbi_progress *progress, double seen);

/* The log density of a task's progress from one bound to another at a rate, or unexplained: a rate
 * that fits neither of two says nothing for either. */
double lbi_log_rate(const lbi_progress *progress, uint32_t task, size_t from, size_t to,
                    double rate);

/* Observed progress is off from true progress by the grain, and the next window makes up for it, so
 * that short windows pool to a long one: how far ahead it is at the present bound. A Kalman filter.
 */
typedef struct lbi_track {
    double ahead, variance;
} lbi_track;

#define LBI_WAYS_MAX 32

/* A way in which a task may have spent a window. */
typedef struct lbi_way {
    double rate;     /* progress in a second */
    double variance; /* of the rate, beyond noise */
    double weight;   /* its probability; lbi_track_observe() makes it that after the observation */
} lbi_way;

void lbi_track_begin(lbi_track *track, const lbi_progress *progress);
/* Returns the density of `done` in `seen` (1 where nothing was observed); *ret_unexplained: none of
 * the ways explains it, and the weights stay as they were. */
double lbi_track_observe(lbi_track *track, const lbi_progress *progress, lbi_way *ways, size_t n,
                         double done, double seen, bool *ret_unexplained);

/* A product of many densities, without a logarithm for each. {1, 0} is 1. */
typedef struct lbi_density {
    double rest, log;
} lbi_density;

void lbi_multiply(lbi_density *product, double factor);
double lbi_log_of(const lbi_density *product);

#endif
