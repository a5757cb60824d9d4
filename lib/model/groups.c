/* SPDX-License-Identifier: BSD-3-Clause */
/* Step 1b where groups of cores are balanced by weight: first among the groups, then within each by
 * length. No process moves twice in an instant: it goes from a group above the mean to one below,
 * and there to a shortest list. */
#include "engine.h"

/* imbalance_pct of SD_CPU_INIT, Linux v2.6.25, include/linux/topology.h. */
#define IMBALANCE 1.25
/* Weights that differ by less are the same. */
#define SLACK 1e-9

typedef struct imbalance {
    uint32_t groups, from, to;
    double heaviest, lightest, all;
} imbalance;

static double weight_of_list(const lbi_engine *engine, uint32_t list) {
    const lbi_list *l = &engine->lists[list];
    return engine->weights == NULL ? l->length : l->weight.high;
}

static double weight_of_group(const lbi_engine *engine, uint32_t group) {
    uint32_t size = engine->model->options.group_cores;
    double sum = 0;
    for (uint32_t i = group * size; i < (group + 1) * size; i++)
        sum += weight_of_list(engine, i);
    return sum;
}

/* Which group weighs most, and which least; the first one on a tie. */
static imbalance look(const lbi_engine *engine) {
    imbalance b = {.groups = engine->list_count / engine->model->options.group_cores,
                   .lightest = INFINITY};
    for (uint32_t i = 0; i < b.groups; i++) {
        double weight = weight_of_group(engine, i);
        b.all += weight;
        if (weight > b.heaviest + SLACK * weight) {
            b.heaviest = weight;
            b.from = i;
        }
        if (weight < b.lightest - SLACK * weight) {
            b.lightest = weight;
            b.to = i;
        }
    }
    return b;
}

/* Whether a process of that weight is to go from the heaviest to the lightest. */
static bool may_go(const imbalance *b, double weight) {
    double least = b->groups * weight * (1 - SLACK);
    return b->heaviest > IMBALANCE * b->lightest * (1 + SLACK) &&
           b->groups * b->heaviest - b->all >= least && b->all - b->groups * b->lightest >= least;
}

/* Of those in the heaviest group that may go, how many there are; or where the one of a number is.
 */
static uint32_t find(const lbi_engine *engine, const imbalance *b, uint32_t number,
                     uint32_t *ret_list, uint32_t *ret_position) {
    uint32_t size = engine->model->options.group_cores, count = 0;
    for (uint32_t i = b->from * size; i < (b->from + 1) * size; i++) {
        const lbi_entry *entries = lbi_list_entries(engine, i);
        for (uint32_t k = 0; k < lbi_list_extent(&engine->lists[i]); k++) {
            uint32_t slot = entries[k].slot;
            if (slot == LBI_DEAD || !may_go(b, lbi_list_share(engine, i, slot)))
                continue;
            if (count++ == number) {
                *ret_list = i;
                *ret_position = k;
            }
        }
    }
    return count;
}

static uint32_t shortest(const lbi_engine *engine, uint32_t group) {
    uint32_t size = engine->model->options.group_cores, best = group * size;
    const uint32_t *rank = engine->model->rank;
    for (uint32_t i = best + 1; i < (group + 1) * size; i++) {
        uint32_t length = engine->lists[i].length, least = engine->lists[best].length;
        if (length < least || (length == least && rank != NULL && rank[i] < rank[best]))
            best = i;
    }
    return best;
}

/* Of a group's lists of that length or more, how many there are; or which is the one of a number.
 */
static uint32_t find_giver(const lbi_engine *engine, uint32_t group, uint32_t length,
                           uint32_t number, uint32_t *ret_list) {
    uint32_t size = engine->model->options.group_cores, count = 0;
    for (uint32_t i = group * size; i < (group + 1) * size; i++)
        if (engine->lists[i].length >= length && count++ == number)
            *ret_list = i;
    return count;
}

bool lbi_groups_need_balance(const lbi_engine *engine) {
    imbalance b = look(engine);
    uint32_t list, position;
    if (find(engine, &b, 0, &list, &position) > 0)
        return true;
    for (uint32_t i = 0; i < b.groups; i++)
        if (find_giver(engine, i, engine->lists[shortest(engine, i)].length + 2, 0, &list) > 0)
            return true;
    return false;
}

void lbi_groups_balance(lbi_engine *engine) {
    imbalance b = look(engine);
    uint32_t list = 0, position = 0, count;
    while ((count = find(engine, &b, 0, &list, &position)) > 0) {
        find(engine, &b, lbi_engine_choose(engine, count), &list, &position);
        lbi_balance_move(engine, list, position, shortest(engine, b.to));
        b = look(engine);
    }
    for (uint32_t i = 0; i < b.groups; i++)
        for (;;) {
            uint32_t to = shortest(engine, i), length = engine->lists[to].length + 2;
            count = find_giver(engine, i, length, 0, &list);
            if (count == 0)
                break;
            find_giver(engine, i, length, lbi_engine_choose(engine, count), &list);
            lbi_balance_move(engine, list, lbi_list_choose(engine, list), to);
        }
}
