/* SPDX-License-Identifier: BSD-3-Clause */
/* Which run lists are how long. Lengths change by one, so a core moves across one boundary between
 * lengths in `by_length`: constant time. The shortest by rank is the winner of a tree. */
#include "lengths.h"

static uint64_t key(const lbi_engine *engine, uint32_t list) {
    uint32_t rank = engine->model->rank == NULL ? list : engine->model->rank[list];
    return (uint64_t)engine->lists[list].length << 32 | rank;
}

static void replay(lbi_engine *engine, uint32_t list) {
    uint64_t *tree = engine->shortest_tree;
    uint32_t node =
        engine->tree_size + (engine->model->rank == NULL ? list : engine->model->rank[list]);
    tree[node] = key(engine, list);
    while (node > 1) {
        uint64_t left = tree[node & ~1u], right = tree[node | 1u];
        uint64_t least = left < right ? left : right;
        node /= 2;
        if (tree[node] == least)
            break;
        tree[node] = least;
    }
}

void lbi_lengths_reset(lbi_engine *engine) {
    uint32_t count = engine->list_count;
    for (uint32_t i = 0; i < count; i++)
        engine->by_length[i] = engine->at[i] = i;
    for (uint32_t i = 0; i < (count + 63) / 64; i++)
        engine->busy[i] = 0;
    engine->longer[0] = count;
    engine->longest = engine->shortest = 0;
    engine->stale_count = 0;
    uint64_t *tree = engine->shortest_tree;
    for (uint32_t i = 0; i < engine->tree_size; i++)
        tree[engine->tree_size + i] = i < count ? i : UINT64_MAX; /* by rank, all empty */
    for (uint32_t i = engine->tree_size - 1; i >= 1; i--)
        tree[i] = tree[2 * i] < tree[2 * i + 1] ? tree[2 * i] : tree[2 * i + 1];
}

void lbi_lengths_even(lbi_engine *engine, uint32_t length) {
    uint32_t count = engine->list_count;
    for (uint32_t rank = 0; rank < count; rank++) {
        uint32_t list = engine->model->by_rank == NULL ? rank : engine->model->by_rank[rank];
        engine->by_length[rank] = list;
        engine->at[list] = rank;
        engine->lists[list].length = length;
        if (length >= 2)
            engine->busy[list / 64] |= UINT64_C(1) << list % 64;
        lbi_lengths_note(engine, list);
    }
    for (uint32_t k = 1; k <= length; k++)
        engine->longer[k] = count;
    engine->longest = engine->shortest = length;
}

uint32_t lbi_lengths_shortest(lbi_engine *engine) {
    if (lbi_lengths_at_least(engine, engine->shortest + 1) == engine->list_count - 1)
        return engine->by_length[engine->list_count - 1];
    for (; engine->stale_count > 0; engine->stale_count--) {
        uint32_t list = engine->stale[engine->stale_count - 1];
        engine->lists[list].stale = false;
        replay(engine, list);
    }
    uint32_t rank = (uint32_t)engine->shortest_tree[1];
    return engine->model->rank == NULL ? rank : engine->model->by_rank[rank];
}

static uint32_t count_bits(uint64_t word) {
    word -= word >> 1 & UINT64_C(0x5555555555555555);
    word = (word & UINT64_C(0x3333333333333333)) + (word >> 2 & UINT64_C(0x3333333333333333));
    word = (word + (word >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    return (uint32_t)(word * UINT64_C(0x0101010101010101) >> 56);
}

uint32_t lbi_lengths_busy(const lbi_engine *engine, uint32_t number) {
    uint32_t at = 0;
    for (uint32_t count; (count = count_bits(engine->busy[at])) <= number; at++)
        number -= count;
    uint64_t word = engine->busy[at];
    for (; number > 0; number--)
        word &= word - 1;
    return 64 * at + count_bits((word & (0 - word)) - 1);
}
