/* SPDX-License-Identifier: BSD-3-Clause */
/* Step 1b: which process moves from which list to which. */
#include "engine.h"

/* Active balancing, which grained processor sharing does too, wants lists within one of each other;
 * lazy balancing wants no list empty beside one of two. So the giver must be this long. */
static uint32_t giver_length(const lbi_engine *engine) {
    switch (engine->model->options.policy) {
    case LB_POLICY_NONE:
        return UINT32_MAX;
    case LB_POLICY_LAZY:
        return engine->shortest == 0 ? 2 : UINT32_MAX;
    default:
        return engine->shortest + 2;
    }
}

bool lbi_balance_is_needed(const lbi_engine *engine) {
    if (lbi_model_is_grouped(engine->model))
        return lbi_groups_need_balance(engine);
    return engine->longest >= giver_length(engine);
}

void lbi_balance_move(lbi_engine *engine, uint32_t from, uint32_t position, uint32_t to) {
    uint32_t slot = lbi_list_entries(engine, from)[position].slot;
    double remaining = lbi_list_take(engine, from, position);
    lbi_list_insert(engine, to, slot, remaining);
    if (engine->moves != NULL)
        engine->moves[engine->move_count++] = (lbi_move){slot, from, to};
}

static uint32_t choose_process(lbi_engine *engine, uint32_t list) {
    const lbi_list *giver = &engine->lists[list];
    switch (engine->model->options.process_choice) {
    case LB_PROCESS_FIRST:
        return lbi_list_position(engine, giver->oldest);
    case LB_PROCESS_LAST:
        return lbi_list_position(engine, giver->newest);
    default:
        return lbi_list_choose(engine, list);
    }
}

void lbi_balance(lbi_engine *engine) {
    if (lbi_model_is_grouped(engine->model)) {
        lbi_groups_balance(engine);
        return;
    }
    for (;;) {
        uint32_t length = giver_length(engine);
        if (engine->longest < length)
            return;
        if (engine->model->options.list_choice == LB_LIST_LONGEST)
            length = engine->longest;
        uint32_t to = lbi_lengths_shortest(engine);
        uint32_t givers = lbi_lengths_at_least(engine, length);
        uint32_t chosen = lbi_engine_choose(engine, givers);
        uint32_t from = length == 2 && engine->shortest == 0 ? lbi_lengths_busy(engine, chosen)
                                                             : engine->by_length[chosen];
        lbi_balance_move(engine, from, choose_process(engine, from), to);
    }
}

/* Random numbers can be looked at ahead. The entries of long lists are in no cache, and to wait for
 * one is a good part of what a move costs. */
void lbi_balance_foresee(lbi_engine *engine) {
    if (engine->longest <= LBI_LONG || engine->longest != engine->shortest + 1 || engine->ordered ||
        engine->model->options.policy != LB_POLICY_ACTIVE || lbi_model_is_grouped(engine->model))
        return;
    uint32_t givers = lbi_lengths_at_least(engine, engine->longest), chosen = 0;
    if (engine->foreseen_draws == engine->draws && engine->foreseen_givers == givers)
        return;
    engine->foreseen_draws = engine->draws;
    engine->foreseen_givers = givers;
    lbi_random random = engine->random;
    if (givers > 1)
        chosen = (uint32_t)lbi_random_below(&random, givers);
    uint32_t from = engine->by_length[chosen];
    uint64_t position = lbi_random_below(&random, lbi_list_extent(&engine->lists[from]));
    __builtin_prefetch(lbi_list_entries(engine, from) + position, 1);
}

void lbi_rotate(lbi_engine *engine) {
    if (engine->longest < 2 || engine->longest != engine->shortest + 1)
        return;
    uint32_t longest = lbi_lengths_at_least(engine, engine->longest);
    uint32_t from = engine->by_length[lbi_engine_choose(engine, longest)];
    uint32_t position = lbi_list_choose(engine, from);
    uint32_t to = longest + lbi_engine_choose(engine, engine->list_count - longest);
    lbi_balance_move(engine, from, position, engine->by_length[to]);
}
