/* SPDX-License-Identifier: BSD-3-Clause */
/* Where tasks were seen, and what happened to them, in the order of time: the trace's slices, or
 * the cores of its units where there are no slices. */
#ifndef LBI_CLASSIFY_SIGHTINGS_H
#define LBI_CLASSIFY_SIGHTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lbsched/lbsched.h"

#define LBI_CORE_UNKNOWN UINT32_MAX
#define LBI_SIGHT_CORES_MAX 65536u /* traces that name cores beyond show no whereabouts */

/* At one time they come in this order: who leaves makes room for who comes. */
typedef enum lbi_sight {
    LBI_SIGHT_END,
    LBI_SIGHT_SLEEP,
    LBI_SIGHT_PIN,
    LBI_SIGHT_UNPIN,
    LBI_SIGHT_WAKE,
    LBI_SIGHT_BEGIN,
    LBI_SIGHT_RUN /* it ran on `core` from `time` to `until`, or no more is known of that time */
} lbi_sight;

typedef struct lbi_sighting {
    lbi_sight kind;
    double time, until; /* seconds since the first of all; `until` of a run */
    double busy;        /* of a run: seconds in which the task ran, in all */
    uint32_t task;      /* counted from 0 in the order of the trace's numbers */
    uint32_t core;      /* of a run; of BEGIN and WAKE: where the task runs first thereafter */
} lbi_sighting;

/* How much of a task's runs on one core, one after another, is one sighting. */
typedef enum lbi_grain {
    LBI_NO_RUNS, /* none: only what happened to tasks */
    LBI_EACH_RUN,
    LBI_EACH_STAY /* all of them, until it sleeps: for who does not ask when others came between */
} lbi_grain;

/* A task, and how far it has been read. */
typedef struct lbi_cursor {
    const lb_unit *units;
    const lb_slice *slices;
    size_t unit_count, slice_count;
    size_t unit; /* the next unit to look at for sleep */
    size_t run;  /* the next slice; or unit, twice counted: its start and its end */
    bool begun, sleeping, done;
    uint32_t number;
    lbi_sighting next;
} lbi_cursor;

typedef struct lbi_entry {
    double time; /* of the next sighting; INFINITY: the task has ended */
    uint32_t kind, task;
} lbi_entry;

typedef struct lbi_sightings {
    bool slices;         /* they come from slices, not from units */
    bool known;          /* every task is seen somewhere, and cores are not too many */
    uint32_t tasks;      /* that have units or slices */
    uint32_t cores_seen; /* the highest core seen, and 1 */
    int64_t origin_ns;   /* the time that is 0 */
    lbi_cursor *cursors;
    lbi_grain grain;
    /* A tournament of the tasks' next sightings. A node has the loser of the match below it, node 0
     * the winner of all; the leaves are the nodes from `tasks` on. */
    lbi_entry *match;
    const lb_mark *marks;
    size_t mark_count, mark;
} lbi_sightings;

/* `trace` is sealed and outlives *ret_sightings. Freed with lbi_sightings_free() in any case. */
lb_status lbi_sightings_begin(const lb_trace *trace, lbi_sightings *ret_sightings, lb_error *err);
/* From the first sighting again. */
void lbi_sightings_rewind(lbi_sightings *sightings, lbi_grain grain);
/* False: there are no more. */
bool lbi_sightings_next(lbi_sightings *sightings, lbi_sighting *ret_sighting);
/* The next of one task alone; false: it has ended. Rewind before lbi_sightings_next() again. */
bool lbi_sightings_next_of(lbi_sightings *sightings, uint32_t task, lbi_sighting *ret_sighting);
void lbi_sightings_free(lbi_sightings *sightings);

#endif
