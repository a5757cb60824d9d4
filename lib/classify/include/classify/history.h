/* SPDX-License-Identifier: BSD-3-Clause */
/* The most probable history under a policy of lists, interval by interval. */
#ifndef LBI_CLASSIFY_HISTORY_H
#define LBI_CLASSIFY_HISTORY_H

#include "classify/likelihood.h"

/* An interval between ends, and what happened at its beginning. */
typedef struct lbi_interval {
    size_t before, from, to; /* bounds: the interval before, and this one, which a guest's coming
                                and going ends too */
    size_t late;             /* from when on what comes late has come, if it comes */
    const lbi_step *step;    /* of the instant `from` */
    size_t steps;
    uint32_t alive;             /* the first task that has not ended */
    uint32_t idle;              /* cores without a task */
    uint16_t shortest, longest; /* lists that are not empty */
} lbi_interval;

typedef struct lbi_history {
    const lbi_progress *p;
    const lbi_lists *lists;
    uint16_t *size;  /* [task], the caller's: its list's length at present .. */
    uint32_t *since; /* .. and the bound since when; NULL where that is not asked for */
    size_t at;       /* steps consumed */
    uint16_t guest;  /* the length of the list of a task that is not in the trace; 0: none */
    lbi_interval now;
} lbi_history;

void lbi_history_begin(lbi_history *history);
/* Goes to the next interval; false: there is none. */
bool lbi_history_next(lbi_history *history);

/* Seconds of the present interval. */
double lbi_length(const lbi_history *history);
/* The first step of a kind at its beginning; NULL: none. */
const lbi_step *lbi_step_of(const lbi_interval *interval, lbi_step_kind kind);
/* The tasks whose lists changed from one length to another at its beginning. Returns how many. */
size_t lbi_changed(const lbi_history *history, uint16_t from, uint16_t to, uint32_t *tasks);
/* The tasks in lists of a length. */
size_t lbi_of_size(const lbi_history *history, uint16_t size, uint32_t *tasks);

/* What the present interval's late part says for lists being of length `is` and not `would_be`, of
 * one task: a difference of log densities, bounded. */
double lbi_gain(const lbi_history *history, uint32_t task, uint16_t is, uint16_t would_be);
/* The same of the time since the task's list got its length, up to the present interval. */
double lbi_gain_before(const lbi_history *history, uint32_t task, size_t since, uint16_t is,
                       uint16_t would_be);

#endif
