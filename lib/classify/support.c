/* SPDX-License-Identifier: BSD-3-Clause */
#include "classify/support.h"

#include <math.h>

#include "classify/history.h"

/* Somebody moved: the mover and its mates run at their new rates. */
static double moved(const lbi_history *h, bool to_idle, uint32_t *tasks) {
    const lbi_step *move = lbi_step_of(&h->now, LBI_STEP_MOVE);
    if (move == NULL || (move->to == 1) != to_idle)
        return 0;
    double gain = 0;
    size_t n = lbi_changed(h, move->from, move->to, tasks);
    for (size_t i = 0; i < n; i++)
        gain += lbi_gain(h, tasks[i], move->to, move->from);
    if (move->to + 1u != move->from) {
        n = lbi_changed(h, move->from, (uint16_t)(move->from - 1), tasks);
        for (size_t i = 0; i < n; i++)
            gain += lbi_gain(h, tasks[i], (uint16_t)(move->from - 1), move->from);
    }
    return gain;
}

/* The mean over the tasks in lists of a length, times that length: what one such list says. */
static double one_list(const lbi_history *h, uint16_t size, uint16_t would_be, uint32_t *tasks) {
    double gain = 0;
    size_t n = lbi_of_size(h, size, tasks);
    for (size_t i = 0; i < n; i++)
        gain += lbi_gain(h, tasks[i], size, would_be);
    return n > 0 ? gain * size / (double)n : 0;
}

/* A list two shorter than another, no core idle, and nobody moved: a balancer would have made the
 * short one longer and a long one shorter. */
static double left_uneven(const lbi_history *h, uint32_t *tasks) {
    uint16_t a = h->now.shortest, b = h->now.longest;
    if (h->now.idle > 0 || b < a + 2)
        return 0;
    return one_list(h, a, (uint16_t)(a + 1), tasks) + one_list(h, b, (uint16_t)(b - 1), tasks);
}

/* A core idle, another with two tasks or more, and nobody moved: one of them would run alone. */
static double left_idle(const lbi_history *h) {
    double least = INFINITY;
    if (h->now.idle == 0 || h->now.longest < 2)
        return 0;
    for (uint32_t task = h->now.alive; task < h->p->tasks; task++)
        if (h->size[task] >= 2)
            least = fmin(least, lbi_gain(h, task, h->size[task], 1));
    return isfinite(least) ? least : 0;
}

double lbi_support(const lbi_progress *progress, const lbi_lists *lists, lb_policy policy,
                   lb_policy rival, uint16_t *sizes, uint32_t *tasks) {
    lbi_history h = {.p = progress, .lists = lists, .size = sizes};
    double sum = 0;
    lbi_history_begin(&h);
    while (lbi_history_next(&h)) {
        if (policy == LB_POLICY_ACTIVE)
            sum += moved(&h, false, tasks) + (rival == LB_POLICY_NONE ? moved(&h, true, tasks) : 0);
        else if (rival == LB_POLICY_ACTIVE)
            sum += left_uneven(&h, tasks) + (policy == LB_POLICY_NONE ? left_idle(&h) : 0);
        else
            sum += policy == LB_POLICY_NONE ? left_idle(&h) : moved(&h, true, tasks);
    }
    return sum;
}
