/* SPDX-License-Identifier: BSD-3-Clause */
/* What cores did while tasks were there: idle beside tasks that wait, or busy with something else.
 */
#ifndef LBI_CLASSIFY_IDLE_H
#define LBI_CLASSIFY_IDLE_H

#include "classify/occupancy.h"

typedef struct lbi_idle {
    double wanted; /* core seconds that could have been used: as many cores as there are tasks */
    double listed; /* .. in which a core had a list that was not empty */
    double busy;   /* .. in which it ran a task; NAN: not known */
    double at;
    double *core_listed, *core_busy, *core_since; /* [core seen] */
    uint32_t cores;
} lbi_idle;

lb_status lbi_idle_begin(lbi_idle *idle, const lbi_sightings *sightings, lb_error *err);
/* Before a sighting: time passes up to it. */
void lbi_idle_pass(lbi_idle *idle, const lbi_occupancy *occupancy, double time);
/* After it. */
void lbi_idle_look(lbi_idle *idle, const lbi_occupancy *occupancy, const lbi_sighting *sighting,
                   const lbi_change *change, bool slices);
void lbi_idle_free(lbi_idle *idle);

/* Percent of the wanted time in which cores had nothing to run; where queues are shared: ran
 * nothing.
 */
double lbi_idle_percent(const lbi_idle *idle, bool shared);
/* Percent of the time in which a core had tasks to run, that it ran none of them; of all cores, and
 * of the core where it is most (*ret_core). NAN: not known. */
double lbi_elsewhere_percent(const lbi_idle *idle);
double lbi_elsewhere_most(const lbi_idle *idle, uint32_t *ret_core);

#endif
