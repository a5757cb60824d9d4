/* SPDX-License-Identifier: BSD-3-Clause */
/* From likelihoods to probabilities: what is believed of them, and how far. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "classify/classify.h"
#include "classify/explain.h"
#include "classify/support.h"

/* Real traces stray from every model in ways that windows share, so that evidence counts less than
 * if all windows were independent. */
#define TEMPER 0.5
#define PRIOR_NONE_OF_THESE 0.04
#define LOST 0.0125     /* traces of a policy that look like none of these */
#define NEVER_LESS 1e-5 /* no trace is proof: what every policy keeps */

/* A policy that leaves so much of the time unexplained is as likely none of these; less where other
 * load is known to have been there. */
#define MISFIT 0.1
#define MISFIT_FOREIGN 0.085

/* Even sharing is as likely none of these if it is ahead of that by so little for each observation,
 * or if a policy of lists leaves so little of the time unexplained. */
#define LEAD 0.05
#define LISTS_MISFIT 0.04
#define LEAD_LISTS 20.0 /* .. unless it is so much ahead of them and explains nearly all */
#define LEAD_MISFIT 0.01
#define LEAD_CORES 3.0   /* .. or cores show that uneven shares were passed on */
#define LEAD_SHORT 300.0 /* active, with late moves and outliers, was once 221 behind */

/* With so many units that waited, queues are per core if at most the first part of them came to
 * another core, and there is one queue if at least the second part did. Simulated: at most 0.05,
 * and 0.5 to 1 (0.28 where units are hardly longer than slices). */
#define CHANGES_LEAST 50
#define CHANGES_PER_CORE 0.15
#define CHANGES_SINGLE 0.4
#define CHANGES_ODDS 0.005 /* of every other structure then */

/* By so much one search under lists may be ahead of another by luck: 68 were seen. */
#define LEAD_SEARCH 100.0

static double log_sum(double a, double b) {
    double top = fmax(a, b);
    return top + log(exp(a - top) + exp(b - top));
}

/* What speaks for one policy of lists against another must be moments in which they differ. */
static lb_status weigh_moments(lbi_fit *fit, double logs[LBI_POLICIES], lb_error *err) {
    lbi_progress *p = &fit->progress;
    int best = LB_POLICY_NONE;
    for (int i = LB_POLICY_NONE; i <= LB_POLICY_ACTIVE; i++)
        best = logs[i] > logs[best] ? i : best;
    uint16_t *sizes = lbi_array_new(p->tasks, sizeof *sizes);
    uint32_t *tasks = lbi_array_new(2 * (size_t)p->tasks, sizeof *tasks);
    lb_status status = LB_OK;
    if (sizes == NULL || tasks == NULL)
        status = lbi_error_nomem(err, "moments");
    if (status == LB_OK) {
        lbi_progress_scale(p, fit->scale[best]);
        for (int i = LB_POLICY_NONE; i <= LB_POLICY_ACTIVE; i++) {
            double support =
                lbi_support(p, &fit->lists[best], (lb_policy)best, (lb_policy)i, sizes, tasks);
            /* Moments that contradict a search are not outweighed by how far it came. */
            if (support > 0)
                support +=
                    fmax(fit->log_likelihood[best] - fit->log_likelihood[i] - LEAD_SEARCH, 0);
            if (i != best)
                logs[i] = fmax(logs[i], logs[best] - fmax(TEMPER * support, 0));
        }
        lbi_progress_scale(p, 1 / fit->scale[best]);
    }
    free(sizes);
    free(tasks);
    return status;
}

/* The best of four may still be wrong. How much to believe a policy that leaves so much of the time
 * unexplained: right ones left 0.05 at most in simulated traces without foreign load. */
static double trust(double misfit, double foreign_percent) {
    double most = foreign_percent > LBI_FOREIGN_PERCENT ? MISFIT_FOREIGN : MISFIT;
    return 1 / (1 + pow(misfit / most, 6));
}

/* By how much even sharing is ahead of all that follows lists. */
static double lead_of_sharing(const lbi_fit *fit) {
    double rival = fit->log_likelihood[LB_POLICY_UNKNOWN];
    for (int i = LB_POLICY_NONE; i <= LB_POLICY_ACTIVE; i++)
        rival = fmax(rival, fit->log_likelihood[i]);
    return fit->log_likelihood[LB_POLICY_IMMEDIATE] - rival;
}

/* Shares that may be uneven for a while can be bent to much. Right ones were ahead of "none of
 * these" by 0.35 for each observation and more in simulated traces. */
static double trust_sharing(const lbi_fit *fit, double lead_of_cores) {
    double least = INFINITY;
    for (int i = LB_POLICY_NONE; i <= LB_POLICY_ACTIVE; i++)
        least = fmin(least, fit->lists[i].misfit);
    double not_lists = 1 / (1 + pow(LISTS_MISFIT / fmax(least, 1e-6), 8));
    if (lead_of_sharing(fit) > LEAD_LISTS && fit->sharing.misfit < LEAD_MISFIT)
        not_lists = 1;
    if (lead_of_cores > LEAD_CORES)
        not_lists = 1;
    double lead = fit->log_likelihood[LB_POLICY_IMMEDIATE] - fit->log_likelihood[LB_POLICY_UNKNOWN];
    lead /= (double)fit->observations;
    return lead > 0 ? not_lists / (1 + pow(LEAD / lead, 6)) : 0;
}

/* What speaks for even sharing must be rates that are even, or change between ends; where ends come
 * faster than shares even out, lists that nobody touches must be far behind instead. */
static double evenness(lbi_fit *fit) {
    lbi_progress *p = &fit->progress;
    double even = 0, lists = -INFINITY;
    for (size_t i = 0; i < p->scales; i++) {
        double scale = p->scale[i];
        lbi_progress_scale(p, scale);
        lbi_evenness e = lbi_measure_evenness(p);
        lbi_progress_scale(p, 1 / scale);
        double rescale = (double)e.rates * log(scale) + lbi_log_scale_prior(p, scale);
        lists = fmax(lists, e.lists + rescale);
        if (scale == fit->scale[LB_POLICY_IMMEDIATE])
            even = e.even + rescale;
    }
    return even - lists + fmax(lead_of_sharing(fit) - LEAD_SHORT, 0);
}

/* Where even sharing explains all and lists do not, lists must be ahead by more than their search
 * may be by luck. */
static void believe_sharing(const lbi_fit *fit, double logs[LBI_POLICIES]) {
    for (int i = LB_POLICY_NONE; i <= LB_POLICY_ACTIVE; i++) {
        double luck = fit->log_likelihood[i] - fit->log_likelihood[LB_POLICY_IMMEDIATE];
        if (fit->lists[i].misfit < fit->sharing.misfit + LEAD_MISFIT || luck > LEAD_LISTS)
            continue;
        logs[LB_POLICY_IMMEDIATE] = fmax(logs[LB_POLICY_IMMEDIATE], logs[i]);
    }
}

/* What looks like none of these, and surely, is at times a policy whose trace a noise made unlike
 * any: so simulated traces of each do in one of 80, and "none of these" is the less probable
 * beforehand. A little of it beside a policy is but doubt of that. */
static void share_lost(double probability[LBI_POLICIES]) {
    double odds = LOST * (1 - PRIOR_NONE_OF_THESE) / (LBI_POLICIES - 1) / PRIOR_NONE_OF_THESE;
    double each = odds * probability[LB_POLICY_UNKNOWN] * probability[LB_POLICY_UNKNOWN];
    double sum = 1 + (LBI_POLICIES - 1) * each;
    for (int i = 0; i < LBI_POLICIES; i++)
        probability[i] = (probability[i] + (i == LB_POLICY_UNKNOWN ? 0 : each)) / sum;
}

lb_status lbi_set_probabilities(lb_verdict *v, lbi_fit *fit, lb_error *err) {
    double logs[LBI_POLICIES] = {0}, top = -INFINITY, sum = 0;
    double evidence[LBI_POLICIES], rotations[LBI_POLICIES];
    lbi_weigh_evidence(fit->evidence, evidence, rotations);
    if (fit->progress.unusable == LBI_USABLE) {
        for (int i = 0; i < LBI_POLICIES; i++)
            logs[i] = TEMPER * fit->log_likelihood[i];
        lb_status status = weigh_moments(fit, logs, err);
        if (status != LB_OK)
            return status;
        logs[LB_POLICY_UNKNOWN] = fmax(logs[LB_POLICY_UNKNOWN],
                                       logs[LB_POLICY_IMMEDIATE] - TEMPER * fmax(evenness(fit), 0));
        believe_sharing(fit, logs);
        logs[LB_POLICY_UNKNOWN] += lbi_disorder_log(&fit->progress.disorder);
    }
    for (int i = 0; i < LBI_POLICIES; i++)
        logs[i] += rotations[i];
    /* As long as nothing was rotated, immediate looks like active, to rates and to cores. */
    if (fit->progress.unusable == LBI_USABLE)
        logs[LB_POLICY_IMMEDIATE] =
            log_sum(logs[LB_POLICY_IMMEDIATE], logs[LB_POLICY_ACTIVE] + fit->sharing.log_still);
    for (int i = 0; i < LBI_POLICIES; i++) {
        logs[i] += evidence[i];
        logs[i] += log(i == LB_POLICY_UNKNOWN ? PRIOR_NONE_OF_THESE
                                              : (1 - PRIOR_NONE_OF_THESE) / (LBI_POLICIES - 1));
        top = fmax(top, logs[i]);
    }
    for (int i = 0; i < LBI_POLICIES; i++)
        sum += exp(logs[i] - top);
    double believed = 0;
    for (int i = LB_POLICY_NONE; i < LBI_POLICIES; i++) {
        v->probability[i] = exp(logs[i] - top) / sum * trust(v->misfit[i], fit->foreign_percent);
        if (i == LB_POLICY_IMMEDIATE && fit->progress.unusable == LBI_USABLE)
            v->probability[i] *=
                trust_sharing(fit, rotations[LB_POLICY_IMMEDIATE] - rotations[LB_POLICY_ACTIVE]);
        believed += v->probability[i];
    }
    v->probability[LB_POLICY_UNKNOWN] = 1 - believed;
    share_lost(v->probability);
    for (int i = 0; i < LBI_POLICIES; i++)
        v->probability[i] = NEVER_LESS + (1 - LBI_POLICIES * NEVER_LESS) * v->probability[i];
    v->policy = LB_POLICY_UNKNOWN;
    for (int i = LB_POLICY_NONE; i < LBI_POLICIES; i++)
        if (v->probability[i] >= v->confidence)
            v->policy = (lb_policy)i;
    return LB_OK;
}

/* What the units' cores tell of queues, where there are no slices. */
static void weigh_changes(const lbi_changes *changes, double logs[LBI_QUEUES]) {
    for (int i = 0; i < LBI_QUEUES; i++)
        logs[i] = 0;
    if (changes->waits < CHANGES_LEAST)
        return;
    double part = (double)changes->changes / (double)changes->waits;
    bool per_core = part<CHANGES_PER_CORE, single = part> CHANGES_SINGLE;
    for (int i = 0; i < LBI_QUEUES && (per_core || single); i++)
        if (i != (per_core ? LB_QUEUES_PER_CORE : LB_QUEUES_SINGLE))
            logs[i] = log(CHANGES_ODDS);
}

void lbi_weigh_cores(lb_verdict *v, const lbi_evidence *evidence) {
    if (evidence->structure.turns == 0)
        weigh_changes(&v->changes, v->queues_log);
    else
        memcpy(v->queues_log, evidence->structure.log_likelihood, sizeof v->queues_log);
}

/* None, lazy and active imply a queue for each core; even sharing comes from either structure,
 * unless cores tell. */
void lbi_set_queues(lb_verdict *v) {
    double parts[LBI_QUEUES], *probability = v->queues_probability;
    bool cores_tell = false;
    for (int i = 0; i < LBI_QUEUES; i++)
        cores_tell = cores_tell || v->queues_log[i] != v->queues_log[LB_QUEUES_UNKNOWN];
    for (int i = 0; i < LBI_QUEUES; i++)
        probability[i] = 0;
    for (int policy = 0; policy < LBI_POLICIES; policy++) {
        lbi_queues_joint((lb_policy)policy, v->queues_log, parts);
        /* Where neither policy nor cores tell, nothing does. */
        if (policy == LB_POLICY_UNKNOWN && !cores_tell)
            memcpy(parts, (const double[LBI_QUEUES]){[LB_QUEUES_UNKNOWN] = 1}, sizeof parts);
        for (int i = 0; i < LBI_QUEUES; i++)
            probability[i] += v->probability[policy] * parts[i];
    }
    v->queues = LB_QUEUES_UNKNOWN;
    for (int i = LB_QUEUES_PER_CORE; i < LBI_QUEUES; i++)
        if (probability[i] >= v->confidence)
            v->queues = (lb_queues)i;
}
