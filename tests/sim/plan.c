/* SPDX-License-Identifier: BSD-3-Clause */
/* Where tasks start, and when each of them ends. */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

static void place(const timeslice_config *config, uint32_t tasks, random_stream *random,
                  uint32_t *first_core) {
    for (uint32_t i = 0; i < tasks; i++)
        first_core[i] = config->first_core != NULL ? config->first_core[i] : i % config->cores;
    if (config->shuffled_start && config->first_core == NULL)
        random_shuffle(random, first_core, tasks);
}

/* Fills `order` with the tasks in the order of their ends. */
static void put_in_order(const timeslice_config *config, uint32_t tasks, random_stream *random,
                         const uint32_t *first_core, uint32_t *order) {
    for (uint32_t i = 0; i < tasks; i++)
        order[i] = i;
    if (config->order == TIMESLICE_SORTED)
        return;
    random_shuffle(random, order, tasks);
    if (config->order == TIMESLICE_SHUFFLED)
        return;
    for (uint32_t i = 0, victims = 0; i < tasks; i++) {
        uint32_t task = order[i];
        if (first_core[task] != 0)
            continue;
        memmove(order + victims + 1, order + victims, (i - victims) * sizeof *order);
        order[victims++] = task;
    }
}

static double nominal_gap(const timeslice_config *config) {
    if (config->gap > 0)
        return config->gap;
    double longer = config->unit_work > config->slice ? config->unit_work : config->slice;
    return config->gap_factor * longer * config->tasks_per_core + config->balance_delay;
}

static void set_ends(const timeslice_config *config, uint32_t tasks, random_stream *random,
                     const uint32_t *order, plan *made) {
    double gap = nominal_gap(config);
    double time = 0;
    double units = 0;
    for (uint32_t rank = 0; rank < tasks; rank++) {
        uint32_t task = order[rank];
        double stretch = 1 + config->gap_jitter * (2 * random_unit(random) - 1);
        time += gap * stretch;
        /* By count the gaps come out as planned where all share evenly. */
        uint32_t running = tasks - rank;
        double rate = running > config->cores ? (double)config->cores / running : 1;
        units += gap * stretch * rate / config->unit_work;
        made->end_ns[task] = NEVER;
        made->count[task] = UINT32_MAX;
        if (config->end != TIMESLICE_END_BY_COUNT)
            made->end_ns[task] = nanoseconds(config->end_time ? config->end_time[task] : time);
        else if (config->count != NULL)
            made->count[task] = config->count[task];
        else
            made->count[task] = units < 1 ? 1 : (uint32_t)(units + 0.5);
    }
}

bool plan_make(const timeslice_config *config, uint32_t tasks, random_stream *random,
               plan *ret_plan) {
    plan made = {malloc(tasks * sizeof *made.first_core), malloc(tasks * sizeof *made.end_ns),
                 malloc(tasks * sizeof *made.count)};
    uint32_t *order = malloc(tasks * sizeof *order);
    bool ok = made.first_core != NULL && made.end_ns != NULL && made.count != NULL && order != NULL;
    if (ok) {
        place(config, tasks, random, made.first_core);
        put_in_order(config, tasks, random, made.first_core, order);
        set_ends(config, tasks, random, order, &made);
        *ret_plan = made;
    } else {
        plan_free(&made);
    }
    free(order);
    return ok;
}

void plan_free(plan *made) {
    free(made->first_core);
    free(made->end_ns);
    free(made->count);
}
