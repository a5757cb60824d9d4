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
/* A core that ran something else for so much of the time in which it had tasks hides lists. */
#define ELSEWHERE_MOST 10

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

static double log_answer(lb_policy policy, const lbi_imbalance *i) {
    if (policy == LB_POLICY_UNKNOWN)
        return log(0.5);
    if (acts(policy, i->idle))
        return log(i->balanced ? 1 - ODD : not_yet(i->watched));
    return log(i->balanced ? ODD : 1 - ODD);
}

/* Differences alone matter: the best is 0, and none is further behind than MOST. */
static void bound(double logs[LBI_POLICIES]) {
    double top = -INFINITY;
    for (int i = 0; i < LBI_POLICIES; i++)
        top = fmax(top, logs[i]);
    for (int i = 0; i < LBI_POLICIES; i++)
        logs[i] = fmax(logs[i] - top, -MOST);
}

static void add(double to[LBI_POLICIES], double logs[LBI_POLICIES]) {
    bound(logs);
    for (int i = 0; i < LBI_POLICIES; i++)
        to[i] += logs[i];
}

static void weigh_answers(const lbi_evidence *e, bool idle, double ret[LBI_POLICIES]) {
    double logs[LBI_POLICIES] = {0};
    for (size_t n = 0; n < e->imbalances.count; n++)
        if (e->imbalances.items[n].idle == idle)
            for (int i = 0; i < LBI_POLICIES; i++)
                logs[i] += log_answer((lb_policy)i, &e->imbalances.items[n]);
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
    static const double rotating[] = {0.5, 1, 2, 5, 10, 20, 50}, stray[] = {0.01, 0.05};
    double logs[LBI_POLICIES];
    double passed_on = log_rotations(d, rotating, 7), left = log_rotations(d, stray, 2);
    for (int i = 0; i < LBI_POLICIES; i++)
        logs[i] = i == LB_POLICY_IMMEDIATE ? passed_on : left;
    logs[LB_POLICY_UNKNOWN] = fmax(passed_on, left) - log(2);
    add(ret, logs);
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

void lbi_weigh_evidence(const lbi_evidence *e, double ret_logs[LBI_POLICIES]) {
    uint32_t core;
    for (int i = 0; i < LBI_POLICIES; i++)
        ret_logs[i] = 0;
    if (!e->known)
        return;
    if (e->structure.turns > 0)
        weigh_queues(&e->structure, ret_logs);
    /* Without slices nobody knows how long a task has been where it was seen. */
    if (!e->slices || e->shared_queues || lbi_elsewhere_most(&e->waste, &core) > ELSEWHERE_MOST)
        return;
    weigh_answers(e, true, ret_logs);
    weigh_answers(e, false, ret_logs);
    weigh_rotations(&e->dwell, ret_logs);
}
