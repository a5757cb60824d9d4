/* SPDX-License-Identifier: BSD-3-Clause */
/* What whereabouts say of policies, beside rates. Rates tell how long lists are; slices show it,
 * and who moved when. Each policy answers an imbalance in its own way, so what became of each of
 * them, and how often an uneven share was passed on, is a factor of the policy's posterior. All of
 * it enters there, in lbi_set_probabilities(), and nowhere else. */
#include <math.h>

#include "classify/classify.h"

/* A policy does what it says but for so few cases. */
#define ODD 0.02
/* Cases share their causes (other load, a misread end): no kind of evidence counts for more. */
#define MOST 6.0
/* .. but an uneven share that was never passed on in minutes is no even sharing, whatever the rates
 * look like; and one that was passed on all the time is nothing else. */
#define MOST_ROTATIONS 12.0
/* A core that ran something else for so much of the time in which it had tasks hides lists. */
#define ELSEWHERE_MOST 10

/* Units show a move when the mover's next one ends; and a share that is passed on from one unit to
 * the next, not at all. */
#define LATE_UNITS 3
#define UNIT_MOST 0.1

#define DELAY_LEAST                                                                                \
    1e-3               /* seconds that a policy may take to act: any power of ten is as likely .. */
#define DELAY_MOST 1.0 /* .. up to here */

/* How probable it is that a policy which acts has not acted yet. */
static double not_yet(double watched) {
    double part = log(fmax(watched, DELAY_LEAST) / DELAY_LEAST) / log(DELAY_MOST / DELAY_LEAST);
    return ODD + (1 - ODD) * fmax(1 - part, 0);
}

static bool acts(lb_policy policy, bool idle) {
    switch (policy) {
    case LB_POLICY_LAZY:
        return idle;
    case LB_POLICY_ACTIVE:
    case LB_POLICY_IMMEDIATE:
        return true;
    default:
        return false;
    }
}

/* What was seen `late` seconds after it had happened. */
static double log_answer(lb_policy policy, const lbi_imbalance *i, double late) {
    if (policy == LB_POLICY_UNKNOWN)
        return log(0.5);
    if (acts(policy, i->idle))
        return log(i->balanced ? 1 - ODD : not_yet(i->watched - late));
    return log(i->balanced ? ODD : 1 - ODD);
}

/* Differences alone matter: the best is 0, and none is further behind than `most`. */
static void bound(double logs[LBI_POLICIES], double most) {
    double top = -INFINITY;
    for (int i = 0; i < LBI_POLICIES; i++)
        top = fmax(top, logs[i]);
    for (int i = 0; i < LBI_POLICIES; i++)
        logs[i] = fmax(logs[i] - top, -most);
}

static void add(double to[LBI_POLICIES], double logs[LBI_POLICIES]) {
    bound(logs, MOST);
    for (int i = 0; i < LBI_POLICIES; i++)
        to[i] += logs[i];
}

/* The core that nobody came to for most of the time. Where there are no slices, nobody sees whether
 * it ran something that is not in the trace all the while. */
static uint32_t shunned_core(const lbi_evidence *e) {
    double most = 0;
    uint32_t core = UINT32_MAX;
    for (size_t n = 0; n < e->imbalances.count; n++) {
        uint32_t one = e->imbalances.items[n].core;
        double watched = 0;
        for (size_t m = n; m < e->imbalances.count; m++)
            if (e->imbalances.items[m].core == one && !e->imbalances.items[m].balanced)
                watched += e->imbalances.items[m].watched;
        if (watched > most) {
            most = watched;
            core = one;
        }
    }
    return core;
}

static void weigh_answers(const lbi_evidence *e, bool idle, uint32_t doubtful,
                          double ret[LBI_POLICIES]) {
    double logs[LBI_POLICIES] = {0};
    for (size_t n = 0; n < e->imbalances.count; n++) {
        const lbi_imbalance *item = &e->imbalances.items[n];
        if (item->idle != idle || (!item->balanced && item->core == doubtful))
            continue;
        for (int i = 0; i < LBI_POLICIES; i++)
            logs[i] += log_answer((lb_policy)i, item, LATE_UNITS * e->unit_s);
    }
    add(ret, logs);
}

/* Moves that a policy never makes: any of none, and of lazy those to a core that has a task. */
static void weigh_moves(const lbi_moves *m, double ret[LBI_POLICIES]) {
    double logs[LBI_POLICIES] = {0};
    double pushes = (double)(m->evening + m->rotating + m->other);
    logs[LB_POLICY_NONE] = ((double)m->filling + pushes) * log(ODD);
    logs[LB_POLICY_LAZY] = pushes * log(ODD);
    logs[LB_POLICY_UNKNOWN] = pushes + (double)m->filling > 0 ? log(0.5) : 0;
    add(ret, logs);
}

/* Rotations in the time that lists were uneven, at one of several rates, each as likely. */
static double log_rotations(const lbi_dwell *d, const double *rates, int n) {
    double top = -INFINITY, sum = 0, logs[8];
    for (int i = 0; i < n; i++) {
        logs[i] = (double)d->rotations * log(rates[i]) - d->exposure * rates[i];
        top = fmax(top, logs[i]);
    }
    for (int i = 0; i < n; i++)
        sum += exp(logs[i] - top);
    return top + log(sum / n);
}

static void weigh_rotations(const lbi_dwell *d, double ret[LBI_POLICIES]) {
    static const double rotating[] = {0.5, 1, 2, 5, 10, 20, 50}, stray[] = {0.01, 0.05, 0.2};
    double logs[LBI_POLICIES];
    double passed_on = log_rotations(d, rotating, 7), left = log_rotations(d, stray, 3);
    for (int i = 0; i < LBI_POLICIES; i++)
        logs[i] = i == LB_POLICY_IMMEDIATE ? passed_on : left;
    logs[LB_POLICY_UNKNOWN] = fmax(passed_on, left) - log(2);
    bound(logs, MOST_ROTATIONS);
    for (int i = 0; i < LBI_POLICIES; i++)
        ret[i] += logs[i];
}

/* The queues that a policy may have, before anything is seen. */
static const double queues_prior[LBI_POLICIES][LBI_QUEUES] = {
    [LB_POLICY_UNKNOWN] = {0.1, 0.4, 0.4, 0.1},   [LB_POLICY_NONE] = {0, 0.99, 0, 0.01},
    [LB_POLICY_LAZY] = {0, 0.99, 0, 0.01},        [LB_POLICY_ACTIVE] = {0, 0.99, 0, 0.01},
    [LB_POLICY_IMMEDIATE] = {0, 0.45, 0.45, 0.1},
};

double lbi_queues_joint(lb_policy policy, const double logs[LBI_QUEUES], double ret[LBI_QUEUES]) {
    double top = -INFINITY, sum = 0;
    for (int i = 0; i < LBI_QUEUES; i++)
        top = fmax(top, logs[i]);
    for (int i = 0; i < LBI_QUEUES; i++)
        sum += ret[i] = queues_prior[policy][i] * exp(logs[i] - top);
    for (int i = 0; i < LBI_QUEUES; i++)
        ret[i] = sum > 0 ? ret[i] / sum : queues_prior[policy][i];
    return log(fmax(sum, 1e-30)) + top;
}

static void weigh_queues(const lbi_structure *s, double ret[LBI_POLICIES]) {
    double logs[LBI_POLICIES], parts[LBI_QUEUES];
    for (int i = 0; i < LBI_POLICIES; i++)
        logs[i] = lbi_queues_joint((lb_policy)i, s->log_likelihood, parts);
    add(ret, logs);
}

void lbi_weigh_evidence(const lbi_evidence *e, double ret_logs[LBI_POLICIES],
                        double ret_rotations[LBI_POLICIES]) {
    uint32_t core;
    for (int i = 0; i < LBI_POLICIES; i++)
        ret_logs[i] = ret_rotations[i] = 0;
    if (!e->known)
        return;
    if (e->structure.turns > 0)
        weigh_queues(&e->structure, ret_logs);
    if (e->shared_queues || lbi_elsewhere_most(&e->waste, &core) > ELSEWHERE_MOST)
        return;
    uint32_t doubtful = e->slices ? UINT32_MAX : shunned_core(e);
    weigh_answers(e, true, doubtful, ret_logs);
    weigh_answers(e, false, doubtful, ret_logs);
    if (e->unit_s <= UNIT_MOST)
        weigh_rotations(&e->dwell, ret_rotations);
    if (!e->slices)
        weigh_moves(&e->moves, ret_logs);
}
