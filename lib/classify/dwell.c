/* SPDX-License-Identifier: BSD-3-Clause */
#include "classify/dwell.h"

#include <math.h>

#include "base/array.h"

void lbi_dwell_begin(lbi_dwell *d) {
    *d = (lbi_dwell){.since = -1, .p50 = NAN, .p90 = NAN};
}

static bool end_arrangement(lbi_dwell *d, double time, bool rotated) {
    if (d->since < 0)
        return true;
    if (!lbi_array_reserve(&d->waits, &d->capacity, d->count + 1, sizeof *d->waits))
        return false;
    d->waits[d->count++] = (lbi_wait){time - d->since, rotated};
    d->rotations += rotated;
    d->since = -1;
    return true;
}

static void count_up_to(lbi_dwell *d, double time) {
    if (d->since >= 0 && time > d->at) {
        d->exposure += (time - d->at) * d->longer;
        d->seconds += time - d->at;
    }
    d->at = time;
}

bool lbi_dwell_look(lbi_dwell *d, const lbi_occupancy *o, const lbi_sighting *s,
                    const lbi_change *change) {
    bool binds = s->kind == LBI_SIGHT_PIN;
    if (!change->event && !change->moved && !binds)
        return true;
    count_up_to(d, s->time);
    bool rotated = change->moved && change->before_from == change->before_to + 1;
    if (!end_arrangement(d, s->time, rotated))
        return false;
    if (!binds && lbi_one_uneven(o) && o->eventful) {
        d->since = s->time;
        d->longer = o->count[o->longest];
    }
    return true;
}

bool lbi_dwell_finish(lbi_dwell *d, double time) {
    count_up_to(d, time);
    if (!end_arrangement(d, time, false))
        return false;
    lbi_waits_sort(d->waits, d->count);
    d->p50 = lbi_wait_quantile(d->waits, d->count, 0.5);
    d->p90 = lbi_wait_quantile(d->waits, d->count, 0.9);
    return true;
}

double lbi_dwell_mean(const lbi_dwell *d) {
    if (d->rotations > 0)
        return d->exposure / (double)d->rotations;
    return d->exposure > 0 ? (double)INFINITY : (double)NAN;
}
