/* SPDX-License-Identifier: BSD-3-Clause */
#include "classify/support.h"

#include <math.h>

#include "classify/history.h"

#define EVEN_SECONDS 0.5 /* after which an uneven share has typically moved on */
#define EVEN_WAITS 5     /* an interval must last that many waits to tell a rate */
#define ODD 0.02         /* how often a rate is neither */

/* Somebody moved: the mover and its mates run at their new rates. */
static double changes(const lbi_history *h, const lbi_step *move, uint32_t *tasks) {
    double gain = 0;
    size_t n = lbi_changed(h, move->from, move->to, tasks);
    for (size_t i = 0; i < n; i++)
        gain += lbi_gain(h, tasks[i], move->to, move->from);
    if (move->to + 1u == move->from)
        return gain;
    n = lbi_changed(h, move->from, (uint16_t)(move->from - 1), tasks);
    for (size_t i = 0; i < n; i++)
        gain += lbi_gain(h, tasks[i], (uint16_t)(move->from - 1), move->from);
    return gain;
}

static double pulled(const lbi_history *h, uint32_t *tasks) {
    const lbi_step *move = lbi_step_of(&h->now, LBI_STEP_MOVE);
    return move != NULL && move->to == 1 ? changes(h, move, tasks) : 0;
}

/* Without a core being idle, since a task ended or one that is not in the trace came. If the task
 * that ended had been in the giver's list, its mates would have become faster without any move: its
 * rate must contradict that. */
static double pushed(const lbi_history *h, uint32_t *tasks) {
    const lbi_step *move = lbi_step_of(&h->now, LBI_STEP_MOVE);
    const lbi_step *end = lbi_step_of(&h->now, LBI_STEP_END);
    if (move == NULL || move->to == 1)
        return 0;
    if (end == NULL)
        return changes(h, move, tasks);
    return fmin(changes(h, move, tasks),
                lbi_gain_before(h, end->task, h->since[end->task], end->from, move->from));
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

/* A core idle, another with two tasks or more, and nobody moved: one of them, nobody knows which,
 * would run alone. */
static double left_idle(const lbi_history *h) {
    double moved = 0;
    size_t n = 0;
    if (h->now.idle == 0 || h->now.longest < 2)
        return 0;
    for (uint32_t task = h->now.alive; task < h->p->tasks; task++)
        if (h->size[task] >= 2) {
            moved += exp(-lbi_gain(h, task, h->size[task], 1));
            n++;
        }
    return n > 0 ? -log(moved / (double)n) : 0;
}

double lbi_support(const lbi_progress *progress, const lbi_lists *lists, lb_policy policy,
                   lb_policy rival, uint16_t *sizes, uint32_t *tasks) {
    lbi_history h = {
        .p = progress, .lists = lists, .size = sizes, .since = tasks + progress->tasks};
    double sum = 0;
    lbi_history_begin(&h);
    while (lbi_history_next(&h)) {
        if (policy == LB_POLICY_ACTIVE)
            sum += pushed(&h, tasks) + (rival == LB_POLICY_NONE ? pulled(&h, tasks) : 0);
        else if (rival == LB_POLICY_ACTIVE)
            sum += left_uneven(&h, tasks) + (policy == LB_POLICY_NONE ? left_idle(&h) : 0);
        else
            sum += policy == LB_POLICY_NONE ? left_idle(&h) : pulled(&h, tasks);
    }
    return sum;
}

static double square(double x) {
    return x * x;
}

static double normal(double off, double variance) {
    return exp(-off * off / (2 * variance)) / sqrt(2 * M_PI * variance);
}

/* The variance that a rate measured over an interval has by noise. */
static double noise(const lbi_progress *p, double rate, double seen) {
    return (2 * square(p->grain) + square(p->unit_spread) * p->unit_work * rate * seen) /
               square(seen) +
           square(LBI_RATE_SPREAD * rate);
}

static void add_rate(const lbi_progress *p, uint32_t alive, double uneven, double rate, double seen,
                     lbi_evenness *sum) {
    double share = (double)p->cores / alive, lists = 0;
    uint32_t size = alive / p->cores, least = size > 1 ? size - 1 : 1;
    double odd = ODD / (1 + 4 * p->grain / seen);
    for (uint32_t i = least; i <= size + 2; i++)
        lists += normal(rate - 1.0 / i, noise(p, 1.0 / i, seen)) / (size + 3 - least);
    sum->even += log((1 - ODD) * normal(rate - share, noise(p, share, seen) + uneven) + odd);
    sum->lists += log((1 - ODD) * lists + odd);
    sum->rates++;
}

lbi_evenness lbi_measure_evenness(const lbi_progress *p) {
    lbi_evenness sum = {0};
    for (uint32_t first = 0; p->tasks - first > p->cores; first++) {
        size_t from = first == 0 ? 0 : p->end[first - 1], to = p->end[first];
        uint32_t alive = p->tasks - first, size = alive / p->cores, longer = alive % p->cores;
        double length = p->time[to] - p->time[from];
        if (longer == 0 || length < EVEN_WAITS * p->wait)
            continue;
        /* What lists one apart differ by, and what is left of it when they have been rotated. */
        double variance =
            ((double)longer / (size + 1) + (double)(p->cores - longer) / size) / alive -
            square((double)p->cores / alive);
        double uneven = variance * fmin(1, 2 * EVEN_SECONDS / length);
        for (uint32_t i = first; i < p->tasks; i++) {
            double seen = lbi_seen(p, i, from, to);
            if (seen > length / 2)
                add_rate(p, alive, uneven, lbi_done(p, i, from, to) / seen, seen, &sum);
        }
    }
    return sum;
}
