/* SPDX-License-Identifier: BSD-3-Clause */
#include "classify/evidence.h"

#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "trace/tasks.h"

/* One sighting, for all that look at them. False: no memory. */
static bool look(lbi_evidence *e, lbi_imbalance_watch *watch, lbi_occupancy *o,
                 const lbi_sighting *s) {
    e->seconds = fmax(e->seconds, fmax(s->time, s->until));
    lbi_idle_pass(&e->waste, o, s->time);
    if (!e->shared_queues)
        lbi_choices_look(&e->choices, o, s);
    lbi_change change = lbi_occupancy_update(o, s);
    lbi_idle_look(&e->waste, o, s, &change, e->slices);
    if (e->shared_queues)
        return true;
    lbi_moves_look(&e->moves, &change);
    return lbi_dwell_look(&e->dwell, o, s, &change) &&
           lbi_imbalance_look(watch, o, s, &change, e->slices);
}

static lb_status summarise(const lbi_imbalances *all, bool idle, lbi_latency *ret, lb_error *err) {
    lbi_wait *waits = lbi_array_new(all->count, sizeof *waits);
    if (waits == NULL)
        return lbi_error_nomem(err, "latencies");
    *ret = (lbi_latency){.balanced = 0};
    size_t n = 0;
    for (size_t i = 0; i < all->count; i++) {
        const lbi_imbalance *item = &all->items[i];
        if (item->idle != idle)
            continue;
        ret->balanced += item->balanced;
        ret->never += !item->balanced;
        ret->watched += item->balanced ? 0 : item->watched;
        waits[n++] = (lbi_wait){item->balanced ? item->latency : item->watched, item->balanced};
    }
    lbi_waits_sort(waits, n);
    ret->p50 = lbi_wait_quantile(waits, n, 0.5);
    ret->p90 = lbi_wait_quantile(waits, n, 0.9);
    ret->p99 = lbi_wait_quantile(waits, n, 0.99);
    free(waits);
    return LB_OK;
}

static lb_status follow(const lb_trace *trace, lbi_sightings *sightings, lbi_evidence *e,
                        lb_error *err) {
    lbi_occupancy o = {0};
    lbi_imbalance_watch watch = {.list = &e->imbalances};
    lb_status status = lbi_structure_find(trace, sightings, &e->structure, err);
    e->shared_queues = e->structure.shared;
    /* Without slices a shared queue leaves nothing else to see. */
    if (status != LB_OK || (e->shared_queues && !e->slices))
        return status;
    lbi_sightings_rewind(sightings, LBI_EACH_STAY);
    status = lbi_idle_begin(&e->waste, sightings, err);
    if (status == LB_OK)
        status = lbi_occupancy_begin(sightings, lb_trace_cores(trace), &o, err);
    bool memory = true;
    for (lbi_sighting s; status == LB_OK && memory && lbi_sightings_next(sightings, &s);)
        memory = look(e, &watch, &o, &s);
    lbi_occupancy_free(&o);
    if (status == LB_OK && !(memory && lbi_imbalance_finish(&watch, e->seconds) &&
                             lbi_dwell_finish(&e->dwell, e->seconds)))
        status = lbi_error_nomem(err, "imbalances");
    return status;
}

static double mean_duration(const lb_trace *trace) {
    size_t n;
    const lb_unit *units = lb_trace_units(trace, &n);
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += lbi_seconds_between(units[i].start_ns, units[i].end_ns);
    return n > 0 ? sum / (double)n : 0;
}

lb_status lbi_evidence_gather(const lb_trace *trace, lbi_evidence *ret_evidence, lb_error *err) {
    lbi_evidence *e = ret_evidence;
    lbi_sightings sightings;
    *e = (lbi_evidence){.origin = 0};
    lbi_dwell_begin(&e->dwell);
    lb_status status = lbi_sightings_begin(trace, &sightings, err);
    e->known = sightings.known;
    e->slices = sightings.slices;
    if (status == LB_OK && sightings.tasks > 0)
        e->origin = lbi_seconds_between(0, sightings.origin_ns);
    if (e->known && !e->slices)
        e->unit_s = mean_duration(trace);
    if (status == LB_OK && e->known)
        status = follow(trace, &sightings, e, err);
    if (status == LB_OK)
        status = summarise(&e->imbalances, true, &e->idle, err);
    if (status == LB_OK)
        status = summarise(&e->imbalances, false, &e->apart, err);
    lbi_sightings_free(&sightings);
    return status;
}

void lbi_evidence_free(lbi_evidence *e) {
    lbi_structure_free(&e->structure);
    free(e->imbalances.items);
    free(e->dwell.waits);
    lbi_idle_free(&e->waste);
    *e = (lbi_evidence){0};
}
