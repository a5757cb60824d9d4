/* SPDX-License-Identifier: BSD-3-Clause */
/* Processor sharing: of n processes on c cores, with m = min(c, n) and S the sum of the m highest
 * speeds, each runs at min(S/m, lambda * weight), and the rates sum to S.
 *
 * List 0 holds those below the cap, whose rates follow their weights, list 1 those at the cap. Of k
 * at the cap, one of weight w belongs there too if w * (m - k) exceeds the weights below. Two heaps
 * by weight tell who is next to cross: at the cap the lightest, below it the heaviest. */
#include "engine.h"

enum {
    BELOW = 0,
    CAPPED = 1
};

/* ---- the heaps by weight ---- */

static uint32_t *cell(const lbi_engine *engine, uint32_t list, size_t position) {
    return &engine->by_weight[list == CAPPED ? position : engine->capacity - 1 - position];
}

static bool precedes(const lbi_engine *engine, uint32_t list, uint32_t a, uint32_t b) {
    double left = engine->weights[a], right = engine->weights[b];
    return list == CAPPED ? left < right : left > right;
}

static void set(lbi_engine *engine, uint32_t list, size_t position, uint32_t slot) {
    *cell(engine, list, position) = slot;
    engine->places[slot].either.weight_position = (uint32_t)position;
}

static void sift_up(lbi_engine *engine, uint32_t list, size_t position, uint32_t slot) {
    while (position > 0) {
        uint32_t parent = *cell(engine, list, (position - 1) / 2);
        if (!precedes(engine, list, slot, parent))
            break;
        set(engine, list, position, parent);
        position = (position - 1) / 2;
    }
    set(engine, list, position, slot);
}

static void sift_down(lbi_engine *engine, uint32_t list, size_t length, size_t position,
                      uint32_t slot) {
    for (size_t child; (child = 2 * position + 1) < length; position = child) {
        if (child + 1 < length &&
            precedes(engine, list, *cell(engine, list, child + 1), *cell(engine, list, child)))
            child++;
        if (!precedes(engine, list, *cell(engine, list, child), slot))
            break;
        set(engine, list, position, *cell(engine, list, child));
    }
    set(engine, list, position, slot);
}

/* ---- joining and leaving ---- */

static void join(lbi_engine *engine, uint32_t list, uint32_t slot, double remaining) {
    lbi_list_insert(engine, list, slot, remaining);
    if (engine->weights != NULL)
        sift_up(engine, list, engine->lists[list].length - 1, slot);
}

void lbi_sharing_insert(lbi_engine *engine, uint32_t slot, double remaining) {
    join(engine, BELOW, slot, remaining);
}

void lbi_sharing_forget(lbi_engine *engine, uint32_t list, uint32_t slot) {
    if (engine->weights == NULL)
        return;
    size_t length = engine->lists[list].length; /* without it already */
    uint32_t last = *cell(engine, list, length);
    if (last == slot)
        return;
    size_t position = engine->places[slot].either.weight_position;
    sift_up(engine, list, position, last);
    sift_down(engine, list, length, engine->places[last].either.weight_position, last);
}

double lbi_sharing_take(lbi_engine *engine, uint32_t slot) {
    uint32_t list = engine->places[slot].list;
    double remaining = lbi_list_take(engine, list, lbi_list_position(engine, slot));
    lbi_sharing_forget(engine, list, slot);
    return remaining;
}

void lbi_sharing_build(lbi_engine *engine) {
    for (uint32_t list = BELOW; list <= CAPPED; list++)
        for (uint32_t i = 0, alive = 0; alive < engine->lists[list].length; i++) {
            uint32_t slot = lbi_list_entries(engine, list)[i].slot;
            if (slot != LBI_DEAD)
                sift_up(engine, list, alive++, slot);
        }
}

static void cross(lbi_engine *engine, uint32_t from, uint32_t to) {
    uint32_t slot = *cell(engine, from, 0);
    double remaining = lbi_sharing_take(engine, slot);
    join(engine, to, slot, remaining);
}

/* ---- rates ---- */

void lbi_sharing_settle(lbi_engine *engine) {
    lbi_list *below = &engine->lists[BELOW], *capped = &engine->lists[CAPPED];
    size_t n = (size_t)below->length + capped->length;
    size_t m = n < engine->model->options.cores ? n : engine->model->options.cores;
    if (engine->weights != NULL) {
        /* First those that no longer belong at the cap: each that comes down only lowers the
         * threshold, as does each that goes up, so one pass each way is enough. The margin keeps
         * rounding from sending the same one up and down. */
        while (capped->length > 0) {
            double weight = engine->weights[*cell(engine, CAPPED, 0)];
            if (weight * (double)(m - capped->length + 1) > below->weight.high + weight)
                break;
            cross(engine, CAPPED, BELOW);
        }
        while (below->length > 0) {
            double weight = engine->weights[*cell(engine, BELOW, 0)];
            if (!(weight * (double)(m - capped->length) > below->weight.high * (1 + 1e-15)))
                break;
            cross(engine, BELOW, CAPPED);
        }
    }
    double speed = engine->model->fastest == NULL ? (double)m : engine->model->fastest[m];
    /* Both change with every process that comes or goes. */
    double cap = m == 0 ? 1 : speed / (double)m;
    double weight = engine->weights == NULL ? (double)below->length : below->weight.high;
    double above = (double)capped->length;
    if (below->length > 0 || below->changed) {
        lbi_list_sync(engine, BELOW);
        lbi_list_settle(engine, BELOW, weight / (cap * ((double)m - above)));
    }
    if (capped->length > 0 || capped->changed) {
        lbi_list_sync(engine, CAPPED);
        lbi_list_settle(engine, CAPPED, 1 / cap);
    }
}
