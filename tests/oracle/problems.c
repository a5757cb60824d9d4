/* SPDX-License-Identifier: BSD-3-Clause */
#include "problems.h"

#include <math.h>

#include "dice.h"

/* A time or a work, up to about `scale` seconds: a multiple of a quarter, or of a thousandth. */
static double draw_time(uint64_t *dice, bool coarse, double scale) {
    if (coarse)
        return (double)dice_below(dice, (int)(4 * scale) + 1) / 4;
    return (double)dice_below(dice, (int)(1000 * scale) + 1) / 1000;
}

static double draw_work(uint64_t *dice, bool coarse) {
    double work = draw_time(dice, coarse, 8);
    return work > 0 ? work : 0.5;
}

static double draw_weight(uint64_t *dice, int how) {
    switch (how) {
    case 0:
        return dice_one_in(dice, 2) ? 1 : 2;
    case 1:
        return 0.25 + dice_below(dice, 1000) / 250.0;
    case 2:
        return pow(1.25, dice_below(dice, 40) - 20);
    default:
        return pow(10, dice_below(dice, 19) - 9);
    }
}

/* From years to nanoseconds: all times of a problem take another unit. */
static void scale(struct oracle_problem *p, double by) {
    for (int i = 0; i < p->n; i++) {
        p->work[i] *= by;
        p->arrival[i] *= by;
    }
    for (int e = 0; e < p->events; e++)
        p->event[e].time *= by;
    p->delay *= by;
}

/* Now and then a time is that at which another process arrives. */
static double at_arrival(uint64_t *dice, const struct oracle_problem *p, double time,
                         double least) {
    double arrival = p->arrival[dice_below(dice, p->n)];
    return dice_one_in(dice, 4) && arrival >= least ? arrival : time;
}

/* Now and then moves a time by less than an instant's window, or a little more. */
static double nudged(uint64_t *dice, double time) {
    if (!dice_one_in(dice, 8))
        return time;
    static const double by[] = {1e-14, 5e-14, 3e-11, 1e-9};
    return time * (1 + by[dice_below(dice, 4)]);
}

static void draw_events(uint64_t *dice, bool coarse, double span, struct oracle_problem *p) {
    int wanted = 1 + dice_below(dice, p->n > 24 ? 40 : 6);
    while (p->events < wanted && p->n > 0) {
        struct oracle_event e = {.process = dice_below(dice, p->n)};
        double arrival = p->arrival[e.process];
        e.time =
            arrival + (dice_one_in(dice, 6) ? 0 : nudged(dice, draw_time(dice, coarse, 12 * span)));
        e.time = at_arrival(dice, p, e.time, arrival);
        e.kind = dice_one_in(dice, 3)   ? ORACLE_STOP
                 : dice_one_in(dice, 3) ? ORACLE_WAKE
                                        : ORACLE_SLEEP;
        p->event[p->events++] = e;
        if (e.kind == ORACLE_SLEEP && !dice_one_in(dice, 5)) {
            e.kind = ORACLE_WAKE;
            e.time += dice_one_in(dice, 6) ? 0 : nudged(dice, draw_time(dice, coarse, 4 * span));
            e.time = at_arrival(dice, p, e.time, arrival);
            p->event[p->events++] = e;
        }
    }
    /* The order added need not be the order of time. */
    if (dice_one_in(dice, 2))
        for (int k = p->events - 1; k > 0; k--) {
            int other = dice_below(dice, k + 1);
            struct oracle_event event = p->event[k];
            p->event[k] = p->event[other];
            p->event[other] = event;
        }
}

static void draw(uint64_t *dice, bool large, struct oracle_problem *ret_problem) {
    struct oracle_problem p = {0};
    bool coarse = dice_one_in(dice, 2);
    /* The policies that choose at random have most to show. */
    static const enum oracle_policy policies[] = {ORACLE_NONE,   ORACLE_LAZY,   ORACLE_LAZY,
                                                  ORACLE_ACTIVE, ORACLE_ACTIVE, ORACLE_IMMEDIATE};
    p.policy = policies[dice_below(dice, 6)];
    p.cores = 1 + dice_below(dice, large ? ORACLE_CORES : 4);
    if (large)
        p.n = 25 + dice_below(dice, ORACLE_PROCESSES - 25);
    else
        p.n = dice_one_in(dice, 4) ? dice_below(dice, 6) : 5 + dice_below(dice, 8);
    double span = large ? p.n / (3.0 * p.cores) : 1; /* while how much happens */

    /* The plainest may be solved in ways of their own. */
    bool plain = dice_one_in(dice, 4);
    bool speeds = dice_one_in(dice, 3), weights = !plain && dice_one_in(dice, 3);
    bool arrivals = !plain && dice_one_in(dice, 3);
    bool first_cores = !plain && dice_one_in(dice, 3);
    bool zeros = dice_one_in(dice, 10), infinite = dice_one_in(dice, 10);
    bool equal = dice_one_in(dice, 8);
    int weighing = dice_below(dice, 4);
    for (int j = 0; j < p.cores; j++)
        p.speeds[j] = speeds ? (1 + dice_below(dice, coarse ? 4 : 40)) / (coarse ? 2.0 : 10.0) : 1;
    for (int i = 0; i < p.n; i++) {
        p.work[i] = equal && i > 0 ? p.work[0] : draw_work(dice, coarse);
        if (zeros && dice_one_in(dice, 3))
            p.work[i] = 0;
        if (infinite && dice_one_in(dice, 3))
            p.work[i] = INFINITY;
        p.weight[i] = weights ? draw_weight(dice, weighing) : 1;
        p.arrival[i] = arrivals ? nudged(dice, draw_time(dice, coarse, 6 * span)) : 0;
        p.first_core[i] = first_cores && !dice_one_in(dice, 3) ? dice_below(dice, p.cores) : -1;
    }
    if (!plain && dice_one_in(dice, 2))
        draw_events(dice, coarse, span, &p);
    if (dice_one_in(dice, 3))
        p.delay = nudged(dice, draw_time(dice, coarse, 3));
    p.longest = dice_one_in(dice, 3);
    p.process = !dice_one_in(dice, 3)  ? ORACLE_RANDOM
                : dice_one_in(dice, 2) ? ORACLE_FIRST
                                       : ORACLE_LAST;
    if (p.policy == ORACLE_ACTIVE && p.cores > 1 && dice_one_in(dice, 3)) {
        /* A group of all cores, pairs, or single cores. */
        p.group = p.cores % 2 == 0 && dice_one_in(dice, 2) ? 2 : dice_one_in(dice, 2) ? 1 : p.cores;
        p.longest = false;
        p.process = ORACLE_RANDOM;
    }
    if (dice_one_in(dice, 8))
        scale(&p, pow(10, dice_below(dice, 19) - 9));
    *ret_problem = p;
}

void problem_draw(uint64_t *dice, struct oracle_problem *ret_problem) {
    draw(dice, false, ret_problem);
}

void problem_draw_large(uint64_t *dice, struct oracle_problem *ret_problem) {
    draw(dice, true, ret_problem);
}

static void drop_event(struct oracle_problem *p, int e) {
    p->events--;
    for (; e < p->events; e++)
        p->event[e] = p->event[e + 1];
}

void problem_drop(struct oracle_problem *p, int i) {
    for (int e = p->events - 1; e >= 0; e--) {
        if (p->event[e].process == i)
            drop_event(p, e);
        else if (p->event[e].process > i)
            p->event[e].process--;
    }
    p->n--;
    for (; i < p->n; i++) {
        p->work[i] = p->work[i + 1];
        p->weight[i] = p->weight[i + 1];
        p->arrival[i] = p->arrival[i + 1];
        p->first_core[i] = p->first_core[i + 1];
    }
}

/* The k-th way to make a problem plainer; false: there are no more. */
static bool plainer(struct oracle_problem *p, int k) {
    if (k < p->n) {
        problem_drop(p, k);
        return true;
    }
    k -= p->n;
    if (k < p->events) {
        drop_event(p, k);
        return true;
    }
    k -= p->events;
    if (k < 5 * p->n) {
        int i = k / 5;
        double whole = isfinite(p->work[i]) ? ceil(p->work[i]) : 1;
        switch (k % 5) {
        case 0:
            p->work[i] = whole;
            break;
        case 1:
            p->weight[i] = 1;
            break;
        case 2:
            p->first_core[i] = -1;
            break;
        case 3:
            for (int e = 0; e < p->events; e++)
                if (p->event[e].process == i)
                    p->event[e].time -= p->arrival[i];
            p->arrival[i] = 0;
            break;
        default:
            for (int e = 0; e < p->events; e++)
                if (p->event[e].process == i)
                    p->event[e].time = ceil(p->event[e].time);
            break;
        }
        return true;
    }
    k -= 5 * p->n;
    if (k < p->cores) {
        p->speeds[k] = 1;
        return true;
    }
    switch (k - p->cores) {
    case 0:
        if (p->cores > 1)
            p->cores -= p->group > 0 && p->group < p->cores ? p->group : 1;
        p->group = p->group > p->cores ? p->cores : p->group;
        for (int i = 0; i < p->n; i++)
            if (p->first_core[i] >= p->cores)
                p->first_core[i] = -1;
        return true;
    case 1:
        p->delay = 0;
        return true;
    case 2:
        p->delay = ceil(p->delay);
        return true;
    case 3:
        p->longest = false;
        return true;
    case 4:
        p->process = ORACLE_RANDOM;
        return true;
    case 5:
        p->group = 0;
        return true;
    default:
        return false;
    }
}

void problem_shrink(struct oracle_problem *problem, problem_fails fails, void *user) {
    /* A plainer problem may have equal bytes: only rounds that changed something go on, and no more
     * than there is to take away. */
    for (int round = 0; round < 200; round++) {
        bool changed = false;
        struct oracle_problem next = *problem;
        for (int k = 0; plainer(&next, k); k++, next = *problem) {
            bool smaller =
                next.n < problem->n || next.events < problem->events || next.cores < problem->cores;
            if (fails(&next, user)) {
                *problem = next;
                if (smaller) {
                    changed = true;
                    break;
                }
            }
        }
        if (!changed)
            return;
    }
}
