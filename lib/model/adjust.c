/* SPDX-License-Identifier: BSD-3-Clause */
/* What only the online interface does to a running process: other weights, other work; and looks at
 * it between instants. */
#include "engine.h"

void lbi_engine_use_weights(lbi_engine *engine, const double *weights) {
    engine->weights = weights;
    for (uint32_t i = 0; i < engine->list_count; i++) {
        lbi_list *list = &engine->lists[i];
        if (list->length == 0)
            continue;
        lbi_list_sync(engine, i);
        lbi_entry *entries = lbi_list_entries(engine, i);
        double common = weights[entries[0].slot], count = list->length;
        for (uint32_t k = 0; k < lbi_list_extent(list); k++)
            entries[k].tag = ((entries[k].tag - list->virtual.high) - list->virtual.low) / common;
        list->virtual = lbi_twofold_of(0);
        list->weight.high = count * common;
        list->weight.low = fma(count, common, -list->weight.high);
        list->pace *= common; /* until the instant is closed */
    }
    if (engine->shared)
        lbi_sharing_build(engine);
}

void lbi_engine_set_weight(lbi_engine *engine, uint32_t slot, double *weight, double value) {
    uint32_t list = engine->places[slot].list;
    if (engine->shared) {
        double remaining = lbi_sharing_take(engine, slot);
        *weight = value;
        lbi_sharing_insert(engine, slot, remaining);
        return;
    }
    lbi_list_sync(engine, list);
    double remaining = lbi_engine_remaining(engine, slot), before = *weight;
    *weight = value;
    lbi_list_retag(engine, list, lbi_list_position(engine, slot), remaining, before);
}

void lbi_engine_set_work(lbi_engine *engine, uint32_t slot, double remaining) {
    uint32_t list = engine->places[slot].list;
    lbi_list_sync(engine, list);
    lbi_list_retag(engine, list, lbi_list_position(engine, slot), remaining,
                   lbi_list_share(engine, list, slot));
}

double lbi_engine_remaining(const lbi_engine *engine, uint32_t slot) {
    uint32_t index = engine->places[slot].list;
    const lbi_list *list = &engine->lists[index];
    double passed = lbi_twofold_minus(engine->now, list->time);
    double tag = lbi_list_entries(engine, index)[lbi_list_position(engine, slot)].tag;
    double left = (tag - list->virtual.high) - list->virtual.low;
    if (passed > 0)
        left -= passed / list->pace;
    return left > 0 ? left * lbi_list_share(engine, index, slot) : 0;
}

double lbi_engine_rate(const lbi_engine *engine, uint32_t slot) {
    uint32_t list = engine->places[slot].list;
    return lbi_list_share(engine, list, slot) / engine->lists[list].pace;
}
