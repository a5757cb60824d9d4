/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether units follow each other as if their durations were drawn by chance. */
#ifndef LBI_CLASSIFY_DISORDER_H
#define LBI_CLASSIFY_DISORDER_H

#include <stdbool.h>
#include <stddef.h>

/* So many units, one after another, between two ends. */
typedef struct lbi_stretch {
    double work, time;
} lbi_stretch;

typedef struct lbi_disorder {
    double unit_work, grain; /* of the trace, as lbi_progress has them */
    size_t pairs;            /* of neighbouring stretches of a task .. */
    size_t irregular;        /* .. whose units differ by more than turns of time slices leave */
    double log_odds;         /* summed over these: chance against turns */
    double squares;          /* of what the halves of such pairs differ by .. */
    double by_chance;        /* .. as chance would have it .. */
    double by_turns;         /* .. and as turns would */
    /* The pair that is being read. */
    lbi_stretch half[2];
    double durations; /* squares of (duration / work) */
    size_t length, units;
    int which;
} lbi_disorder;

/* Zero-initialise but for unit_work and grain. A stretch is to have so many units from here on; a
 * pair that has begun is dropped. */
void lbi_disorder_restart(lbi_disorder *disorder, size_t length);
/* The next unit; no end may lie between it and the one before unless restarted. */
void lbi_disorder_unit(lbi_disorder *disorder, double duration, double work);
/* What that says for chance, as a log likelihood ratio; 0: nothing. */
double lbi_disorder_log(const lbi_disorder *disorder);

#endif
