/* SPDX-License-Identifier: BSD-3-Clause */
/* How long an uneven share stays where it is, before another task gets it. */
#ifndef LBI_CLASSIFY_DWELL_H
#define LBI_CLASSIFY_DWELL_H

#include "classify/occupancy.h"
#include "classify/survival.h"

typedef struct lbi_dwell {
    double exposure;  /* seconds that each list one longer than the shortest was so, summed up */
    double seconds;   /* in which there was such a list */
    size_t rotations; /* a task of such a list moved to a shortest one */
    double p50, p90;  /* how long one arrangement lasted; INFINITY: longer than was watched */
    lbi_wait *waits;
    size_t count, capacity;
    double since;    /* the present arrangement; < 0: none */
    double at;       /* exposure is counted up to here .. */
    uint32_t longer; /* .. with that many longer lists */
} lbi_dwell;

void lbi_dwell_begin(lbi_dwell *dwell);
/* Looks at what a sighting changed. False: no memory. */
bool lbi_dwell_look(lbi_dwell *dwell, const lbi_occupancy *occupancy, const lbi_sighting *sighting,
                    const lbi_change *change);
bool lbi_dwell_finish(lbi_dwell *dwell, double time);
/* The mean time after which one longer list gives a task away, as the model's rotation_time; NAN:
 * not seen, INFINITY: never in a time that would have shown it. */
double lbi_dwell_mean(const lbi_dwell *dwell);

#endif
