/* SPDX-License-Identifier: BSD-3-Clause */
#include "classify/occupancy.h"

#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"

lb_status lbi_occupancy_begin(const lbi_sightings *s, uint32_t cores, lbi_occupancy *ret_occupancy,
                              lb_error *err) {
    lbi_occupancy *o = ret_occupancy;
    *o = (lbi_occupancy){.cores = cores, .seen = s->cores_seen, .task_count = s->tasks};
    o->size = calloc((size_t)o->seen + 1, sizeof *o->size);
    o->count = calloc((size_t)s->tasks + 1, sizeof *o->count);
    o->tasks = lbi_array_new(s->tasks, sizeof *o->tasks);
    if (o->size == NULL || o->count == NULL || o->tasks == NULL)
        return lbi_error_nomem(err, "run lists");
    for (uint32_t i = 0; i < s->tasks; i++)
        o->tasks[i] = (lbi_whereabout){.core = LBI_CORE_UNKNOWN};
    o->count[0] = cores;
    return LB_OK;
}

void lbi_occupancy_free(lbi_occupancy *o) {
    free(o->size);
    free(o->count);
    free(o->tasks);
    *o = (lbi_occupancy){0};
}

static void resize(lbi_occupancy *o, uint32_t core, uint32_t size) {
    uint32_t before = o->size[core];
    o->size[core] = size;
    o->count[before]--;
    o->count[size]++;
    if (size > o->longest)
        o->longest = size;
    if (size < o->shortest)
        o->shortest = size;
    while (o->longest > 0 && o->count[o->longest] == 0)
        o->longest--;
    while (o->count[o->shortest] == 0)
        o->shortest++;
}

static void enter(lbi_occupancy *o, lbi_whereabout *w, uint32_t core, double time) {
    w->core = core;
    w->awake = true;
    w->joined = o->eventful ? time : -INFINITY;
    w->seen = time;
    resize(o, core, o->size[core] + 1);
    o->awake++;
}

static void leave(lbi_occupancy *o, lbi_whereabout *w) {
    w->awake = false;
    resize(o, w->core, o->size[w->core] - 1);
    o->awake--;
}

static void ran(lbi_occupancy *o, lbi_whereabout *w, const lbi_sighting *s, lbi_change *change) {
    if (s->core == w->core) {
        w->seen = s->until;
        return;
    }
    if (!w->bound)
        *change = (lbi_change){.moved = true,
                               .from = w->core,
                               .to = s->core,
                               .last_seen = w->seen,
                               .before_from = o->size[w->core],
                               .before_to = o->size[s->core],
                               .filled = o->size[s->core] == 0};
    leave(o, w);
    enter(o, w, s->core, s->time);
    w->seen = s->until;
}

lbi_change lbi_occupancy_update(lbi_occupancy *o, const lbi_sighting *s) {
    lbi_whereabout *w = &o->tasks[s->task];
    lbi_change change = {.moved = false};
    switch (s->kind) {
    case LBI_SIGHT_BEGIN:
    case LBI_SIGHT_WAKE:
        if (w->awake)
            break;
        if (s->core != LBI_CORE_UNKNOWN)
            enter(o, w, s->core, s->time);
        else if (w->core != LBI_CORE_UNKNOWN)
            enter(o, w, w->core, s->time);
        change.event = s->kind == LBI_SIGHT_WAKE || o->eventful;
        break;
    case LBI_SIGHT_END:
    case LBI_SIGHT_SLEEP:
        change.event = true;
        if (w->awake)
            leave(o, w);
        break;
    case LBI_SIGHT_PIN:
        w->bound = true;
        break;
    case LBI_SIGHT_UNPIN:
        w->bound = false;
        change.event = true;
        break;
    case LBI_SIGHT_RUN:
        if (w->awake)
            ran(o, w, s, &change);
        break;
    }
    o->eventful = o->eventful || change.event;
    return change;
}
