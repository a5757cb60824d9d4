/* SPDX-License-Identifier: BSD-3-Clause */
/* Time slices: those on a core's list take turns, in the order they came. */
#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "predicted_trace.h"

#define NOBODY UINT32_MAX

typedef struct ring {
    lbi_writer *writer;
    uint32_t core;
    double slice;
    uint32_t *next, *before; /* of every process that is in it */
    uint32_t head;           /* has the core; NOBODY: the core is idle */
    double left;             /* of its turn */
    double time;
    uint32_t last; /* who ran from `since` to `until`, not yet written; NOBODY */
    double since, until;
} ring;

static double turn_of(const ring *r, uint32_t slot) {
    const lb_workload *workload = r->writer->timeline->plan->workload;
    return r->slice * (workload->weighted ? workload->weights[slot] : 1);
}

static void flush(ring *r) {
    lbi_writer *writer = r->writer;
    uint32_t task = r->last;
    r->last = NOBODY;
    /* Turns too short to advance the time count too, or they would never end. */
    if (task == NOBODY || !lbi_writer_count(writer) || r->until <= r->since)
        return;
    lb_slice slice = {.start_ns = lbi_writer_time(writer, r->since),
                      .end_ns = lbi_writer_time(writer, r->until),
                      .task = task,
                      .core = (int32_t)r->core};
    if (writer->status == LB_OK)
        writer->status = lb_trace_add_slice(writer->trace, &slice, writer->err);
}

/* The head runs for a while; alone, it goes on with the slice it has. */
static void use(ring *r, double until) {
    if (r->last != r->head || r->until != r->time) {
        flush(r);
        r->last = r->head;
        r->since = r->time;
    }
    r->time = r->until = until;
}

static void advance(ring *r, double until) {
    while (r->head != NOBODY && r->time < until && r->writer->status == LB_OK) {
        bool alone = r->next[r->head] == r->head;
        if (alone || r->left > until - r->time) {
            r->left -= alone ? 0 : until - r->time;
            use(r, until);
            return;
        }
        use(r, r->time + r->left);
        r->head = r->next[r->head];
        r->left = turn_of(r, r->head);
    }
    r->time = until;
}

static void enter(ring *r, uint32_t slot) {
    if (r->head == NOBODY) {
        r->head = r->next[slot] = r->before[slot] = slot;
        r->left = turn_of(r, slot);
        return;
    }
    r->next[slot] = r->head;
    r->before[slot] = r->before[r->head];
    r->next[r->before[slot]] = slot;
    r->before[r->head] = slot;
}

static void leave(ring *r, uint32_t slot) {
    uint32_t next = r->next[slot];
    r->next[r->before[slot]] = next;
    r->before[next] = r->before[slot];
    if (slot != r->head)
        return;
    r->head = next == slot ? NOBODY : next;
    if (r->head != NOBODY)
        r->left = turn_of(r, r->head);
}

static void write_core(ring *r) {
    const lbi_timeline *timeline = r->writer->timeline;
    r->head = r->last = NOBODY;
    r->time = 0;
    for (size_t i = timeline->first_of_list[r->core]; i < timeline->first_of_list[r->core + 1];
         i++) {
        const lbi_hop *hop = &timeline->by_list[i];
        advance(r, hop->time);
        if (hop->enters)
            enter(r, hop->slot);
        else
            leave(r, hop->slot);
    }
    flush(r);
}

void lbi_write_slices(lbi_writer *writer, double slice) {
    const lbi_plan *plan = writer->timeline->plan;
    ring r = {.writer = writer, .slice = slice};
    r.next = lbi_array_new(plan->size, sizeof *r.next);
    r.before = lbi_array_new(plan->size, sizeof *r.before);
    if (r.next == NULL || r.before == NULL)
        writer->status = lbi_error_nomem(writer->err, "a predicted trace");
    for (; writer->status == LB_OK && r.core < plan->model->options.cores; r.core++)
        write_core(&r);
    free(r.next);
    free(r.before);
}
