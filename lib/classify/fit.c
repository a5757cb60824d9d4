/* SPDX-License-Identifier: BSD-3-Clause */
/* Fits every policy to a trace, each with the scale that suits it best. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "classify/classify.h"

#define SCALE_SPREAD 0.05      /* by how much a known scale may be off: standard deviation .. */
#define SCALE_PRIOR_LEAST -8.0 /* .. and log of how probable it is to be off by any amount */

/* A second, wider search is worth it where lists leave a share of time unexplained between these,
 * and bounds times tasks are few enough. */
#define DISTURBED_LEAST 0.004
#define DISTURBED_WINDOWS 4 /* .. or so many windows of tasks */
#define NO_LISTS 1000.0     /* lists so far behind even sharing were not just disturbed */
#define SEARCH_LEAST 0.01
#define SEARCH_MOST 0.25
#define SEARCH_CELLS 50000

static double log_sum(double a, double b) {
    double top = fmax(a, b);
    return top + log(exp(a - top) + exp(b - top));
}

/* Lazy balancing may take from any list or from the longest; which, is not the question. */
static lb_status fit_lazy(const lbi_progress *p, lbi_how how, lbi_pace *pace, lbi_lists *ret_lists,
                          lb_error *err) {
    lbi_lists any, longest;
    how.longest = false;
    lb_status status = lbi_lists_fit(p, LB_POLICY_LAZY, how, pace, &any, err);
    if (status != LB_OK)
        return status;
    how.longest = true;
    status = lbi_lists_fit(p, LB_POLICY_LAZY, how, pace, &longest, err);
    if (status != LB_OK) {
        lbi_lists_free(&any);
        return status;
    }
    bool is_longest = longest.log_likelihood > any.log_likelihood;
    *ret_lists = is_longest ? longest : any;
    ret_lists->log_likelihood = log_sum(any.log_likelihood, longest.log_likelihood) - log(2);
    lbi_lists_free(is_longest ? &any : &longest);
    return LB_OK;
}

/* Nothing is to be freed where it fails. */
static lb_status fit_lists(const lbi_progress *p, lb_policy policy, lbi_how how, lbi_pace *pace,
                           lbi_lists *ret_lists, lb_error *err) {
    if (policy == LB_POLICY_LAZY)
        return fit_lazy(p, how, pace, ret_lists, err);
    return lbi_lists_fit(p, policy, how, pace, ret_lists, err);
}

/* All policies, with `done` as it is scaled now. */
static lb_status fit_policies(lbi_fit *fit, double *workspace, lbi_pace *pace, lb_error *err) {
    const lbi_progress *p = &fit->progress;
    bool *ends = lbi_array_new(p->bounds, sizeof *ends);
    if (ends == NULL)
        return lbi_error_nomem(err, "ends");
    fit->log_likelihood[LB_POLICY_UNKNOWN] = lbi_background_fit(p, ends);
    free(ends);
    lbi_sharing_fit(p, false, workspace, pace, &fit->sharing);
    fit->log_likelihood[LB_POLICY_IMMEDIATE] = fit->sharing.log_likelihood;
    for (int i = LB_POLICY_NONE; i <= LB_POLICY_ACTIVE; i++) {
        lb_status status = fit_lists(p, (lb_policy)i, (lbi_how){0}, pace, &fit->lists[i], err);
        if (status != LB_OK)
            return status;
        fit->log_likelihood[i] = fit->lists[i].log_likelihood;
    }
    return LB_OK;
}

void lbi_free_lists(lbi_lists lists[LBI_POLICIES]) {
    for (int i = 0; i < LBI_POLICIES; i++)
        lbi_lists_free(&lists[i]);
}

/* A known unit of work says what the scale is, but not to the last percent: throttled or shared
 * cores are slower, boosted ones faster. */
double lbi_log_scale_prior(const lbi_progress *p, double scale) {
    double off = log(scale / p->known_scale) / SCALE_SPREAD;
    return isnan(p->known_scale) ? 0 : fmax(-off * off / 2, SCALE_PRIOR_LEAST);
}

/* What makes a log likelihood at a scale one of progress as it is in the trace. */
static double unscaled(const lbi_progress *p, double scale, size_t observations) {
    return (double)observations * log(scale) + lbi_log_scale_prior(p, scale);
}

/* Searches again under one policy, at a scale; the better history is kept. */
static lb_status search_policy(lbi_fit *fit, lb_policy policy, double scale, lbi_how how,
                               lbi_pace *pace, lb_error *err) {
    lbi_progress *p = &fit->progress;
    lbi_lists again;
    lbi_progress_scale(p, scale);
    lb_status status = fit_lists(p, policy, how, pace, &again, err);
    lbi_progress_scale(p, 1 / scale);
    if (status != LB_OK)
        return status;
    double log_likelihood = again.log_likelihood + unscaled(p, scale, fit->observations);
    if (log_likelihood > fit->log_likelihood[policy]) {
        lbi_lists worse = fit->lists[policy];
        fit->lists[policy] = again;
        fit->log_likelihood[policy] = log_likelihood;
        fit->scale[policy] = scale;
        again = worse;
    }
    lbi_lists_free(&again);
    return LB_OK;
}

static lb_policy best_lists(const lbi_fit *fit) {
    int best = LB_POLICY_NONE;
    for (int i = LB_POLICY_NONE; i <= LB_POLICY_ACTIVE; i++)
        best = fit->log_likelihood[i] > fit->log_likelihood[best] ? i : best;
    return (lb_policy)best;
}

static int best_of_all(const lbi_fit *fit) {
    int best = best_lists(fit);
    if (fit->log_likelihood[LB_POLICY_UNKNOWN] > fit->log_likelihood[best])
        best = LB_POLICY_UNKNOWN;
    if (fit->log_likelihood[LB_POLICY_IMMEDIATE] > fit->log_likelihood[best])
        best = LB_POLICY_IMMEDIATE;
    return best;
}

static void share_again(lbi_fit *fit, double *workspace, lbi_pace *pace) {
    lbi_progress *p = &fit->progress;
    double scale = fit->scale[LB_POLICY_IMMEDIATE];
    lbi_sharing again;
    lbi_progress_scale(p, scale);
    lbi_sharing_fit(p, true, workspace, pace, &again);
    lbi_progress_scale(p, 1 / scale);
    if (again.log_likelihood <= fit->sharing.log_likelihood)
        return;
    fit->sharing = again;
    fit->log_likelihood[LB_POLICY_IMMEDIATE] =
        again.log_likelihood + unscaled(p, scale, fit->observations);
}

/* Lists that explain much of the trace and not all of it may be the right ones, with something that
 * disturbed them, or after a wrong turn of the search. */
static lb_status search_again(lbi_fit *fit, double *workspace, lbi_pace *pace, lb_error *err) {
    const lbi_progress *p = &fit->progress;
    lb_policy best = best_lists(fit);
    lbi_how how = {.disturbed = true};
    double even = fit->log_likelihood[LB_POLICY_IMMEDIATE];
    if (even > fit->log_likelihood[best] + NO_LISTS &&
        even > fit->log_likelihood[LB_POLICY_UNKNOWN] && fit->sharing.misfit < DISTURBED_LEAST)
        return LB_OK;
    double missed = fit->lists[best].misfit * (double)fit->observations;
    if (fit->lists[best].misfit < DISTURBED_LEAST && missed < DISTURBED_WINDOWS &&
        fit->log_likelihood[best] > fit->log_likelihood[LB_POLICY_UNKNOWN])
        return LB_OK;
    share_again(fit, workspace, pace);
    /* A search that went astray may have preferred a wrong scale: that of the best is tried too. */
    double scale = fit->scale[best_of_all(fit)];
    for (int i = LB_POLICY_NONE; i <= LB_POLICY_ACTIVE; i++) {
        double own = fit->scale[i];
        lb_status status = search_policy(fit, (lb_policy)i, own, how, pace, err);
        if (status == LB_OK && scale != own)
            status = search_policy(fit, (lb_policy)i, scale, how, pace, err);
        if (status != LB_OK)
            return status;
    }
    best = best_lists(fit);
    how.wide = true;
    if (p->bounds * p->tasks > SEARCH_CELLS || fit->lists[best].misfit < SEARCH_LEAST ||
        fit->lists[best].misfit > SEARCH_MOST)
        return LB_OK;
    return search_policy(fit, best, fit->scale[best], how, pace, err);
}

/* Each policy with the scale that suits it best. Densities are those of scaled progress, so each
 * observation's has to be scaled back. */
lb_status lbi_fit_all(lbi_fit *fit, lb_error *err) {
    lbi_fit best = {.progress = fit->progress,
                    .foreign_percent = fit->foreign_percent,
                    .evidence = fit->evidence};
    lbi_progress *p = &best.progress;
    double scale = 1;
    best.observations = p->observed[p->bounds - 1];
    double *workspace = lbi_array_new(lbi_sharing_workspace(p), sizeof *workspace);
    lbi_pace pace = {lbi_array_new(p->bounds, sizeof *pace.best)};
    lb_status status =
        workspace != NULL && pace.best != NULL ? LB_OK : lbi_error_nomem(err, "rates");
    for (size_t k = 0; k < p->bounds && status == LB_OK; k++)
        pace.best[k] = -INFINITY;
    for (int j = 0; j < LBI_POLICIES; j++)
        best.log_likelihood[j] = -INFINITY;
    for (size_t i = 0; i < p->scales && status == LB_OK; i++) {
        lbi_progress_scale(p, p->scale[i] / scale);
        scale = p->scale[i];
        lbi_fit one = {.progress = *p};
        status = fit_policies(&one, workspace, &pace, err);
        double rescale = unscaled(p, scale, best.observations);
        for (int j = 0; j < LBI_POLICIES && status == LB_OK; j++) {
            if (one.log_likelihood[j] + rescale <= best.log_likelihood[j])
                continue;
            lbi_lists worse = best.lists[j];
            best.log_likelihood[j] = one.log_likelihood[j] + rescale;
            best.scale[j] = scale;
            best.lists[j] = one.lists[j];
            one.lists[j] = worse;
            if (j == LB_POLICY_IMMEDIATE)
                best.sharing = one.sharing;
        }
        lbi_free_lists(one.lists);
    }
    lbi_progress_scale(p, 1 / scale);
    if (status == LB_OK)
        status = search_again(&best, workspace, &pace, err);
    free(workspace);
    free(pace.best);
    *fit = best;
    return status;
}
