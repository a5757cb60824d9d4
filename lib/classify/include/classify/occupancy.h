/* SPDX-License-Identifier: BSD-3-Clause */
/* The lengths of all run lists at present, followed through a trace's sightings. A task is in the
 * list of the core on which it was last seen; that it moved shows when it first runs elsewhere. */
#ifndef LBI_CLASSIFY_OCCUPANCY_H
#define LBI_CLASSIFY_OCCUPANCY_H

#include "classify/sightings.h"

typedef struct lbi_whereabout {
    uint32_t core; /* LBI_CORE_UNKNOWN: not seen yet */
    bool awake;    /* in a list */
    bool bound;    /* to a core: where it goes then is not the scheduler's choice */
    double joined; /* when it came to this list; -INFINITY: before anything happened */
    double seen;   /* until when it was last seen on it */
} lbi_whereabout;

typedef struct lbi_occupancy {
    uint32_t cores;  /* of the trace */
    uint32_t *size;  /* [core seen] */
    uint32_t *count; /* [length]: cores with a list of that length */
    uint32_t shortest, longest;
    uint32_t awake; /* tasks in lists */
    uint32_t seen;  /* cores that were ever seen */
    bool eventful;  /* something has happened since all came */
    lbi_whereabout *tasks;
    uint32_t task_count;
} lbi_occupancy;

/* What a sighting changed. */
typedef struct lbi_change {
    bool moved;           /* a task is now on another list .. */
    uint32_t from, to;    /* .. of these cores .. */
    double last_seen;     /* .. having last been seen on the former then .. */
    bool filled;          /* .. and the latter was empty */
    uint32_t before_from; /* their lengths before */
    uint32_t before_to;
    bool event; /* a task ended, fell asleep, woke, was let go, or came late */
} lbi_change;

/* Freed with lbi_occupancy_free() in any case. */
lb_status lbi_occupancy_begin(const lbi_sightings *sightings, uint32_t cores,
                              lbi_occupancy *ret_occupancy, lb_error *err);
lbi_change lbi_occupancy_update(lbi_occupancy *occupancy, const lbi_sighting *sighting);
void lbi_occupancy_free(lbi_occupancy *occupancy);

/* A core has nothing to run beside a list of two or more. */
static inline bool lbi_one_idles(const lbi_occupancy *o) {
    return o->shortest == 0 && o->longest >= 2;
}

/* Every core has something to run, and two lists differ by more than one. */
static inline bool lbi_lists_apart(const lbi_occupancy *o) {
    return o->shortest > 0 && o->longest >= o->shortest + 2;
}

/* Lists differ by exactly one, and the longer ones share their cores: what cannot be balanced. */
static inline bool lbi_one_uneven(const lbi_occupancy *o) {
    return o->longest >= 2 && o->longest == o->shortest + 1;
}

#endif
