/* SPDX-License-Identifier: BSD-3-Clause */
#include "classify/idle.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"

lb_status lbi_idle_begin(lbi_idle *idle, const lbi_sightings *s, lb_error *err) {
    *idle = (lbi_idle){.cores = s->cores_seen, .busy = s->slices ? 0 : (double)NAN};
    idle->core_listed = calloc((size_t)s->cores_seen + 1, sizeof *idle->core_listed);
    idle->core_busy = calloc((size_t)s->cores_seen + 1, sizeof *idle->core_busy);
    idle->core_since = calloc((size_t)s->cores_seen + 1, sizeof *idle->core_since);
    if (idle->core_listed == NULL || idle->core_busy == NULL || idle->core_since == NULL)
        return lbi_error_nomem(err, "what cores did");
    for (uint32_t i = 0; i < s->cores_seen; i++)
        idle->core_since[i] = -1;
    return LB_OK;
}

void lbi_idle_free(lbi_idle *idle) {
    free(idle->core_listed);
    free(idle->core_busy);
    free(idle->core_since);
    *idle = (lbi_idle){0};
}

void lbi_idle_pass(lbi_idle *idle, const lbi_occupancy *o, double time) {
    if (time <= idle->at)
        return;
    uint32_t usable = o->awake < o->cores ? o->awake : o->cores;
    idle->wanted += (time - idle->at) * usable;
    idle->listed += (time - idle->at) * (o->cores - o->count[0]);
    idle->at = time;
}

/* A core's time with a list is booked when the list becomes empty, or somebody gets on. */
static void book(lbi_idle *idle, const lbi_occupancy *o, uint32_t core, double time) {
    if (core == LBI_CORE_UNKNOWN)
        return;
    if (idle->core_since[core] >= 0)
        idle->core_listed[core] += time - idle->core_since[core];
    idle->core_since[core] = o->size[core] > 0 ? time : -1;
}

void lbi_idle_look(lbi_idle *idle, const lbi_occupancy *o, const lbi_sighting *s,
                   const lbi_change *change, bool slices) {
    book(idle, o, o->tasks[s->task].core, s->time);
    if (change->moved)
        book(idle, o, change->from, s->time);
    if (s->kind != LBI_SIGHT_RUN || !slices)
        return;
    idle->busy += s->busy;
    idle->core_busy[s->core] += s->busy;
}

double lbi_idle_percent(const lbi_idle *idle, bool shared) {
    if (!(idle->wanted > 0))
        return NAN;
    return 100 * fmax(1 - (shared ? idle->busy : idle->listed) / idle->wanted, 0);
}

double lbi_elsewhere_percent(const lbi_idle *idle) {
    if (!(idle->listed > 0))
        return NAN;
    return 100 * fmax(1 - idle->busy / idle->listed, 0);
}

double lbi_elsewhere_most(const lbi_idle *idle, uint32_t *ret_core) {
    double most = NAN;
    for (uint32_t i = 0; i < idle->cores; i++) {
        double percent = 100 * (1 - idle->core_busy[i] / idle->core_listed[i]);
        if (isnan(idle->busy) || !(idle->core_listed[i] > 0) || percent <= most)
            continue;
        most = fmax(percent, 0);
        *ret_core = i;
    }
    return most;
}
