/* SPDX-License-Identifier: BSD-3-Clause */
#include "drain.h"

#include <stdlib.h>

#include "base/array.h"

bool lbi_drain_applies(const lb_model *model, const lb_workload *workload, const double *weights) {
    if (weights != NULL || lbi_model_is_grouped(model) || workload->arriving || workload->cored ||
        workload->event_count > 0)
        return false;
    switch (model->options.policy) {
    case LB_POLICY_NONE:
        return true;
    case LB_POLICY_LAZY: /* who came when, or was how long, is not kept here */
    case LB_POLICY_ACTIVE:
        return model->options.process_choice == LB_PROCESS_RANDOM &&
               model->options.list_choice == LB_LIST_RANDOM;
    case LB_POLICY_IMMEDIATE:
        return model->options.rotation_time == 0;
    default:
        return false;
    }
}

bool lbi_drain_new(lbi_drain *drain, const lb_model *model, size_t processes) {
    bool shared = model->options.policy == LB_POLICY_IMMEDIATE;
    drain->items = lbi_array_new(processes, sizeof *drain->items);
    drain->scratch = lbi_array_new(processes, sizeof *drain->scratch);
    drain->first =
        lbi_array_new(shared ? 1 : (size_t)model->options.cores + 1, sizeof *drain->first);
    drain->done = lbi_array_new(shared ? 0 : model->options.cores, sizeof *drain->done);
    return drain->items != NULL && drain->scratch != NULL && drain->first != NULL &&
           drain->done != NULL;
}

void lbi_drain_free(lbi_drain *drain) {
    free(drain->items);
    free(drain->scratch);
    free(drain->first);
    free(drain->done);
    *drain = (lbi_drain){0};
}

/* How far a set of processes has come: virtual time is the work done of each. */
typedef struct progress {
    lbi_twofold time;
    double virtual;
    size_t done;
} progress;

/* Processes in the order of their works share cores, of which the m fastest do speeds[m] together
 * (NULL: m), until `end` or all are done. */
static progress drain_until(const lbi_item *items, size_t n, const double *works, size_t cores,
                            const double *speeds, double end, double *durations) {
    progress p = {{0, 0}, 0, 0};
    while (p.done < n) {
        size_t left = n - p.done, m = left < cores ? left : cores;
        double pace = (double)left / (speeds == NULL ? (double)m : speeds[m]);
        double work = works[lbi_item_index(items[p.done])];
        lbi_twofold time = lbi_twofold_plus(p.time, (work - p.virtual) * pace);
        if (!(time.high < end))
            break;
        p.time = time;
        p.virtual = work;
        /* Those within the window are of this instant. */
        double window = LBI_WINDOW * time.high;
        do {
            if (p.done + 16 < n) {
                uint32_t ahead = lbi_item_index(items[p.done + 16]);
                __builtin_prefetch(&works[ahead]);
                __builtin_prefetch(&durations[ahead], 1);
            }
            durations[lbi_item_index(items[p.done++])] = time.high;
        } while (p.done < n && (works[lbi_item_index(items[p.done])] - work) * pace <= window);
    }
    return p;
}

static void drain_shared(lbi_drain *drain, const lb_model *model, const double *works, size_t n,
                         double *durations) {
    unsigned shift = lbi_key_shift(works, n);
    for (size_t i = 0; i < n; i++)
        drain->items[i] = lbi_item_pack(works[i], shift, (uint32_t)i);
    lbi_order(drain->items, drain->scratch, n, works);
    drain_until(drain->items, n, works, model->options.cores, model->fastest, INFINITY, durations);
}

/* ---- run lists ---- */

static uint32_t core_of_rank(const lb_model *model, uint32_t rank) {
    return model->by_rank == NULL ? rank : model->by_rank[rank];
}

/* Round robin, the fastest core first; what has no work is never placed. */
static void deal(lbi_drain *drain, const lb_model *model, const double *works, size_t n,
                 double *durations) {
    uint32_t cores = model->options.cores;
    unsigned shift = lbi_key_shift(works, n);
    size_t placed = 0;
    for (size_t i = 0; i < n; i++)
        placed += works[i] > 0;
    for (uint32_t rank = 0; rank <= cores; rank++)
        drain->first[rank] =
            (uint32_t)(placed / cores * rank + (rank < placed % cores ? rank : placed % cores));
    uint32_t rank = 0;
    for (size_t i = 0; i < n; i++) {
        if (!(works[i] > 0)) {
            durations[i] = 0;
            continue;
        }
        drain->items[drain->first[rank]++] = lbi_item_pack(works[i], shift, (uint32_t)i);
        rank = rank + 1 == cores ? 0 : rank + 1;
    }
    for (rank = cores; rank > 0; rank--) /* each was moved to the end of its list */
        drain->first[rank] = drain->first[rank - 1];
    drain->first[0] = 0;
}

/* When the first list runs dry, less a margin for rounding. */
static double first_dry(const lbi_drain *drain, const lb_model *model, const double *works) {
    double first = INFINITY;
    for (uint32_t rank = 0; rank < model->options.cores; rank++) {
        double work = 0;
        for (size_t i = drain->first[rank]; i < drain->first[rank + 1]; i++)
            work += works[lbi_item_index(drain->items[i])];
        double speed = model->speeds == NULL ? 1 : model->speeds[core_of_rank(model, rank)];
        first = work / speed < first ? work / speed : first;
    }
    return first * (1 - 1e-9);
}

/* What is left goes to the engine in the order in which it was dealt, since what the engine draws
 * may depend on the order in which lists grew. While all grow that is the order of the ranks,
 * however long: such rows go list by list. */
static void hand_over(const lbi_drain *drain, const lb_model *model, const double *works,
                      lbi_engine *engine) {
    uint32_t cores = model->options.cores, even = UINT32_MAX;
    for (uint32_t rank = 0; rank < cores; rank++) {
        uint32_t left = drain->first[rank + 1] - drain->first[rank] - drain->done[rank];
        even = left < even ? left : even;
    }
    even -= even > 0; /* the last of them sets up the lengths */
    for (uint32_t rank = 0; even > 0 && rank < cores; rank++)
        lbi_list_append_many(engine, core_of_rank(model, rank),
                             drain->items + drain->first[rank] + drain->done[rank], even, works);
    if (even > 0)
        lbi_lengths_even(engine, even);
    for (uint32_t row = even, left = cores; left > 0; row++) {
        left = 0;
        for (uint32_t rank = 0; rank < cores; rank++) {
            uint32_t at = drain->first[rank] + drain->done[rank] + row;
            if (at >= drain->first[rank + 1])
                continue;
            left++;
            if (at + 2 < drain->first[rank + 1])
                __builtin_prefetch(&works[lbi_item_index(drain->items[at + 2])]);
            uint32_t slot = lbi_item_index(drain->items[at]);
            lbi_list_append(engine, core_of_rank(model, rank), slot, works[slot]);
        }
    }
}

void lbi_drain_run(lbi_drain *drain, const lb_model *model, const lb_workload *workload,
                   lbi_engine *engine, double *durations) {
    const double *works = workload->works;
    size_t n = workload->size;
    if (model->options.policy == LB_POLICY_IMMEDIATE) {
        drain_shared(drain, model, works, n, durations);
        return;
    }
    deal(drain, model, works, n, durations);
    /* Active balancing may step in at the first completion: its lists are sorted here, no more. */
    bool random = model->options.policy != LB_POLICY_NONE;
    double end = INFINITY;
    if (random)
        end = model->options.policy == LB_POLICY_LAZY ? first_dry(drain, model, works) : 0;
    for (uint32_t rank = 0; rank < model->options.cores; rank++) {
        lbi_item *items = drain->items + drain->first[rank];
        size_t length = drain->first[rank + 1] - drain->first[rank];
        uint32_t core = core_of_rank(model, rank);
        double speeds[] = {0, model->speeds == NULL ? 1 : model->speeds[core]};
        lbi_order(items, drain->scratch, length, works);
        progress p = drain_until(items, length, works, 1, speeds, end, durations);
        drain->done[rank] = (uint32_t)p.done;
        if (random) {
            engine->lists[core].virtual = lbi_twofold_of(p.virtual);
            engine->lists[core].time = p.time;
        }
    }
    if (!random)
        return;
    hand_over(drain, model, works, engine);
    engine->now = lbi_twofold_of(end < INFINITY ? end : 0);
}
