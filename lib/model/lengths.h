/* SPDX-License-Identifier: BSD-3-Clause */
/* A list grows or shrinks by one: what every instant does, and so inline. The rest is lengths.c. */
#ifndef LBI_MODEL_LENGTHS_H
#define LBI_MODEL_LENGTHS_H

#include "engine.h"

/* The tree is brought up to date when it is asked: under active balancing the shortest list is
 * mostly the only one of its length, and found at the end of by_length. */
static inline void lbi_lengths_note(lbi_engine *engine, uint32_t list) {
    if (engine->lists[list].stale)
        return;
    engine->lists[list].stale = true;
    engine->stale[engine->stale_count++] = list;
}

static inline void lbi_lengths_exchange(lbi_engine *engine, uint32_t list, uint32_t to) {
    uint32_t from = engine->at[list], other = engine->by_length[to];
    engine->by_length[from] = other;
    engine->at[other] = from;
    engine->by_length[to] = list;
    engine->at[list] = to;
}

static inline void lbi_lengths_grown(lbi_engine *engine, uint32_t list) {
    uint32_t length = ++engine->lists[list].length;
    if (length > engine->longest) {
        engine->longest = length;
        engine->longer[length] = 0;
    }
    lbi_lengths_exchange(engine, list, engine->longer[length]++);
    if (engine->shortest == length - 1 && engine->longer[length] == engine->list_count)
        engine->shortest = length;
    if (length == 2)
        engine->busy[list / 64] |= UINT64_C(1) << list % 64;
    lbi_lengths_note(engine, list);
}

static inline void lbi_lengths_shrunk(lbi_engine *engine, uint32_t list) {
    uint32_t length = engine->lists[list].length--;
    lbi_lengths_exchange(engine, list, --engine->longer[length]);
    if (engine->longer[length] == 0)
        engine->longest = length - 1;
    if (length - 1 < engine->shortest)
        engine->shortest = length - 1;
    if (length == 2)
        engine->busy[list / 64] &= ~(UINT64_C(1) << list % 64);
    lbi_lengths_note(engine, list);
}

#endif
