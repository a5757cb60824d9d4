/* SPDX-License-Identifier: BSD-3-Clause */
/* Imbalances that events left behind, and what became of them. */
#ifndef LBI_CLASSIFY_IMBALANCE_H
#define LBI_CLASSIFY_IMBALANCE_H

#include "classify/occupancy.h"
#include "classify/survival.h"

typedef struct lbi_imbalance {
    lbi_sight cause; /* the event that it arose from; LBI_SIGHT_BEGIN: a task that came late */
    bool idle;       /* a core had nothing to run beside a list of two; else: lists two apart */
    uint32_t longest, shortest;
    uint32_t core; /* the first whose list was shortest */
    double time;
    bool balanced;      /* by moves, after .. */
    double least, most; /* .. this long: the mover was last seen elsewhere, first seen there */
    double latency;     /* the best guess between them */
    double watched;     /* until it was balanced, or an event ended it, or the trace */
} lbi_imbalance;

typedef struct lbi_imbalances {
    lbi_imbalance *items;
    size_t count, capacity;
} lbi_imbalances;

/* Follows those that are there at present. Zero-initialise but for `list`. */
typedef struct lbi_imbalance_watch {
    lbi_imbalances *list;
    lbi_imbalance open[2]; /* lists apart, an idle core; watched < 0: none */
    lbi_sight cause;
    double time; /* of the last event */
    bool began;
} lbi_imbalance_watch;

/* Looks at what a sighting changed; false: no memory. */
bool lbi_imbalance_look(lbi_imbalance_watch *watch, const lbi_occupancy *occupancy,
                        const lbi_sighting *sighting, const lbi_change *change, bool slices);
/* At the end of the trace. */
bool lbi_imbalance_finish(lbi_imbalance_watch *watch, double time);

/* The constant delay that agrees with most of the balanced ones among `n`, and of several such the
 * least; NAN: there are none. `workspace` has 2 n entries; *ret_part is
 * the part that agrees. */
double lbi_constant_delay(const lbi_imbalance *items, size_t n, double *workspace,
                          double *ret_part);

#endif
