/* SPDX-License-Identifier: BSD-3-Clause */
#include "classify/classify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/options.h"
#include "classify/explain.h"
#include "classify/queues.h"
#include "classify/support.h"
#include "trace/tasks.h"

/* Real traces stray from every model in ways that windows share, so that evidence counts less than
 * if all windows were independent. */
#define TEMPER 0.5
#define SCALE_SPREAD 0.05      /* by how much a known scale may be off: standard deviation .. */
#define SCALE_PRIOR_LEAST -8.0 /* .. and log of how probable it is to be off by any amount */
#define SEARCH_LEAST                                                                               \
    0.01 /* between these shares of unexplained time a search is worth a second .. */
#define SEARCH_MOST 0.25
#define SEARCH_CELLS 50000 /* .. where bounds times tasks are few enough */
#define PRIOR_NONE_OF_THESE 0.04
#define MISFIT                                                                                     \
    0.1 /* a policy that leaves so much of the time unexplained is as likely none of these */
#define LEAD 0.05
#define LISTS_MISFIT 0.04
#define CHANGES_LEAST 50      /* units that waited, to tell one queue from many */
#define CHANGES_PER_CORE 0.15 /* of them come to another core at most, if queues are per core ..   \
                               */
#define CHANGES_SINGLE 0.4    /* .. and at least, if there is one */
#define NEVER_LESS 1e-5       /* no trace is proof: what every policy keeps */

static const lb_classify_options defaults = {sizeof defaults, 0.95};

void lb_classify_options_init(lb_classify_options *options, size_t size) {
    lbi_options_write(options, size, &defaults, sizeof defaults);
}

static double log_sum(double a, double b) {
    double top = fmax(a, b);
    return top + log(exp(a - top) + exp(b - top));
}

/* Lazy balancing may take from any list or from the longest; which, is not the question. */
static lb_status fit_lazy(const lbi_progress *p, bool wide, lbi_lists *ret_lists, lb_error *err) {
    lbi_lists any, longest;
    lb_status status = lbi_lists_fit(p, LB_POLICY_LAZY, false, wide, &any, err);
    if (status != LB_OK)
        return status;
    status = lbi_lists_fit(p, LB_POLICY_LAZY, true, wide, &longest, err);
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
static lb_status fit_lists(const lbi_progress *p, lb_policy policy, bool wide, lbi_lists *ret_lists,
                           lb_error *err) {
    if (policy == LB_POLICY_LAZY)
        return fit_lazy(p, wide, ret_lists, err);
    return lbi_lists_fit(p, policy, false, wide, ret_lists, err);
}

/* All policies, with `done` as it is scaled now. */
static lb_status fit_policies(lbi_fit *fit, double *workspace, lb_error *err) {
    const lbi_progress *p = &fit->progress;
    bool *ends = lbi_array_new(p->bounds, sizeof *ends);
    if (ends == NULL)
        return lbi_error_nomem(err, "ends");
    fit->log_likelihood[LB_POLICY_UNKNOWN] = lbi_background_fit(p, ends);
    free(ends);
    lbi_sharing_fit(p, workspace, &fit->sharing);
    fit->log_likelihood[LB_POLICY_IMMEDIATE] = fit->sharing.log_likelihood;
    for (int i = LB_POLICY_NONE; i <= LB_POLICY_ACTIVE; i++) {
        lb_status status = fit_lists(p, (lb_policy)i, false, &fit->lists[i], err);
        if (status != LB_OK)
            return status;
        fit->log_likelihood[i] = fit->lists[i].log_likelihood;
    }
    return LB_OK;
}

static void free_lists(lbi_lists lists[LBI_POLICIES]) {
    for (int i = 0; i < LBI_POLICIES; i++)
        lbi_lists_free(&lists[i]);
}

static size_t count_observations(const lbi_progress *p) {
    size_t count = 0;
    for (uint32_t i = 0; i < p->tasks; i++)
        for (size_t k = 0; k < p->end[i]; k++)
            count += lbi_seen(p, i, k, k + 1) > 0;
    return count;
}

/* A known unit of work says what the scale is, but not to the last percent: throttled or shared
 * cores are slower, boosted ones faster. */
static double log_scale_prior(const lbi_progress *p, double scale) {
    double off = log(scale / p->known_scale) / SCALE_SPREAD;
    return isnan(p->known_scale) ? 0 : fmax(-off * off / 2, SCALE_PRIOR_LEAST);
}

/* Lists that explain most of the trace and not all of it may be the right ones after a wrong turn
 * of the search. */
static lb_status search_again(lbi_fit *fit, lb_error *err) {
    lbi_progress *p = &fit->progress;
    int best = LB_POLICY_NONE;
    for (int i = LB_POLICY_NONE; i <= LB_POLICY_ACTIVE; i++)
        best = fit->log_likelihood[i] > fit->log_likelihood[best] ? i : best;
    lbi_lists wide, *lists = &fit->lists[best];
    if (p->bounds * p->tasks > SEARCH_CELLS || lists->misfit < SEARCH_LEAST ||
        lists->misfit > SEARCH_MOST)
        return LB_OK;
    lbi_progress_scale(p, fit->scale[best]);
    lb_status status = fit_lists(p, (lb_policy)best, true, &wide, err);
    lbi_progress_scale(p, 1 / fit->scale[best]);
    if (status != LB_OK)
        return status;
    if (wide.log_likelihood > lists->log_likelihood) {
        fit->log_likelihood[best] += wide.log_likelihood - lists->log_likelihood;
        lbi_lists better = wide;
        wide = *lists;
        *lists = better;
    }
    lbi_lists_free(&wide);
    return LB_OK;
}

/* Each policy with the scale that suits it best. Densities are those of scaled progress, so each
 * observation's has to be scaled back. */
static lb_status fit_all(lbi_fit *fit, lb_error *err) {
    lbi_fit best = {.progress = fit->progress, .foreign_percent = fit->foreign_percent};
    lbi_progress *p = &best.progress;
    double scale = 1;
    best.observations = count_observations(p);
    double *workspace = lbi_array_new(lbi_sharing_workspace(p), sizeof *workspace);
    lb_status status = workspace != NULL ? LB_OK : lbi_error_nomem(err, "rates");
    for (int j = 0; j < LBI_POLICIES; j++)
        best.log_likelihood[j] = -INFINITY;
    for (size_t i = 0; i < p->scales && status == LB_OK; i++) {
        lbi_progress_scale(p, p->scale[i] / scale);
        scale = p->scale[i];
        lbi_fit one = {.progress = *p};
        status = fit_policies(&one, workspace, err);
        double rescale = (double)best.observations * log(scale) + log_scale_prior(p, scale);
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
        free_lists(one.lists);
    }
    free(workspace);
    lbi_progress_scale(p, 1 / scale);
    if (status == LB_OK)
        status = search_again(&best, err);
    *fit = best;
    return status;
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
static double trust(double misfit) {
    return 1 / (1 + pow(misfit / MISFIT, 6));
}

/* Shares that may be uneven for a while can be bent to much. Right ones were ahead of "none of
 * these" by 0.35 for each observation and more in simulated traces. */
static double trust_sharing(const lbi_fit *fit) {
    double least = INFINITY;
    for (int i = LB_POLICY_NONE; i <= LB_POLICY_ACTIVE; i++)
        least = fmin(least, fit->lists[i].misfit);
    double not_lists = 1 / (1 + pow(LISTS_MISFIT / fmax(least, 1e-6), 8));
    double lead = fit->log_likelihood[LB_POLICY_IMMEDIATE] - fit->log_likelihood[LB_POLICY_UNKNOWN];
    lead /= (double)fit->observations;
    return lead > 0 ? not_lists / (1 + pow(LEAD / lead, 6)) : 0;
}

/* What speaks for even sharing must be rates that are even, or change between ends. */
static double evenness(lbi_fit *fit) {
    lbi_progress *p = &fit->progress;
    double even = 0, lists = -INFINITY;
    for (size_t i = 0; i < p->scales; i++) {
        double scale = p->scale[i];
        lbi_progress_scale(p, scale);
        lbi_evenness e = lbi_measure_evenness(p);
        lbi_progress_scale(p, 1 / scale);
        double rescale = (double)e.rates * log(scale) + log_scale_prior(p, scale);
        lists = fmax(lists, e.lists + rescale);
        if (scale == fit->scale[LB_POLICY_IMMEDIATE])
            even = e.even + rescale;
    }
    return even - lists;
}

static lb_status set_probabilities(lb_verdict *v, lbi_fit *fit, lb_error *err) {
    double logs[LBI_POLICIES] = {0}, top = -INFINITY, sum = 0;
    if (fit->progress.unusable == LBI_USABLE) {
        for (int i = 0; i < LBI_POLICIES; i++)
            logs[i] = TEMPER * fit->log_likelihood[i];
        lb_status status = weigh_moments(fit, logs, err);
        if (status != LB_OK)
            return status;
        logs[LB_POLICY_UNKNOWN] = fmax(logs[LB_POLICY_UNKNOWN],
                                       logs[LB_POLICY_IMMEDIATE] - TEMPER * fmax(evenness(fit), 0));
        /* As long as nothing was rotated, immediate looks like active. */
        logs[LB_POLICY_IMMEDIATE] =
            log_sum(logs[LB_POLICY_IMMEDIATE], logs[LB_POLICY_ACTIVE] + fit->sharing.log_still);
    }
    for (int i = 0; i < LBI_POLICIES; i++) {
        logs[i] += log(i == LB_POLICY_UNKNOWN ? PRIOR_NONE_OF_THESE
                                              : (1 - PRIOR_NONE_OF_THESE) / (LBI_POLICIES - 1));
        top = fmax(top, logs[i]);
    }
    for (int i = 0; i < LBI_POLICIES; i++)
        sum += exp(logs[i] - top);
    double believed = 0;
    for (int i = LB_POLICY_NONE; i < LBI_POLICIES; i++) {
        v->probability[i] = exp(logs[i] - top) / sum * trust(v->misfit[i]);
        if (i == LB_POLICY_IMMEDIATE && fit->progress.unusable == LBI_USABLE)
            v->probability[i] *= trust_sharing(fit);
        believed += v->probability[i];
    }
    v->probability[LB_POLICY_UNKNOWN] = 1 - believed;
    for (int i = 0; i < LBI_POLICIES; i++)
        v->probability[i] = NEVER_LESS + (1 - LBI_POLICIES * NEVER_LESS) * v->probability[i];
    v->policy = LB_POLICY_UNKNOWN;
    for (int i = LB_POLICY_NONE; i < LBI_POLICIES; i++)
        if (v->probability[i] >= v->confidence)
            v->policy = (lb_policy)i;
    return LB_OK;
}

/* None, lazy and active imply a queue for each core; even sharing comes from either structure,
 * unless the units' cores tell. */
static void set_queues(lb_verdict *v, const lbi_changes *changes) {
    double even = v->probability[LB_POLICY_IMMEDIATE], per_core = 0.45, single = 0.45;
    if (changes->waits >= CHANGES_LEAST) {
        double part = (double)changes->changes / (double)changes->waits;
        if (part < CHANGES_PER_CORE) {
            per_core = 0.98;
            single = 0.005;
        } else if (part > CHANGES_SINGLE) {
            per_core = 0.005;
            single = 0.98;
        }
    }
    v->queues_probability[LB_QUEUES_UNKNOWN] = v->probability[LB_POLICY_UNKNOWN];
    v->queues_probability[LB_QUEUES_PER_CORE] = v->probability[LB_POLICY_NONE] +
                                                v->probability[LB_POLICY_LAZY] +
                                                v->probability[LB_POLICY_ACTIVE] + per_core * even;
    v->queues_probability[LB_QUEUES_SINGLE] = single * even;
    v->queues_probability[LB_QUEUES_GROUPED] = (1 - per_core - single) * even;
    v->queues = LB_QUEUES_UNKNOWN;
    for (int i = LB_QUEUES_PER_CORE; i < LBI_QUEUES; i++)
        if (v->queues_probability[i] >= v->confidence)
            v->queues = (lb_queues)i;
}

lb_status lbi_classify_units(uint32_t cores, double unit_work, const lb_unit *units, size_t n,
                             double confidence, double foreign_percent, lb_verdict **ret_verdict,
                             lb_error *err) {
    lbi_fit fit = {.foreign_percent = foreign_percent};
    lb_verdict *v = calloc(1, sizeof *v);
    if (v == NULL)
        return lbi_error_nomem(err, "a verdict");
    lb_status status = lbi_progress_make(&fit.progress, cores, unit_work, units, n, err);
    if (status == LB_OK && fit.progress.unusable == LBI_USABLE)
        status = fit_all(&fit, err);
    if (status == LB_OK) {
        v->cores = cores;
        v->tasks = fit.progress.tasks;
        v->units = n;
        v->confidence = confidence;
        v->unit_work = NAN;
        v->rotation_time = NAN;
        for (int i = LB_POLICY_NONE; i <= LB_POLICY_ACTIVE; i++)
            v->misfit[i] = fit.lists[i].misfit;
        v->misfit[LB_POLICY_IMMEDIATE] = fit.sharing.misfit;
        status = set_probabilities(v, &fit, err);
    }
    if (status == LB_OK) {
        if (fit.progress.unusable == LBI_USABLE) {
            int best = LB_POLICY_NONE;
            for (int i = LB_POLICY_NONE; i < LBI_POLICIES; i++)
                best = v->probability[i] > v->probability[best] ? i : best;
            lbi_progress_scale(&fit.progress, fit.scale[best]);
            v->unit_work = fit.progress.unit_work;
            v->changes = lbi_count_changes(&fit.progress, units, n);
        }
        set_queues(v, &v->changes);
        if (v->policy == LB_POLICY_IMMEDIATE && fit.sharing.rotation_time > 0)
            v->rotation_time = fit.sharing.rotation_time;
        if (!lbi_explain(v, &fit))
            status = lbi_error_nomem(err, "reasons");
    }
    free_lists(fit.lists);
    lbi_progress_free(&fit.progress);
    if (status != LB_OK) {
        lb_verdict_free(v);
        return status;
    }
    *ret_verdict = v;
    return LB_OK;
}

static lb_status read_options(const lb_classify_options *options, lb_classify_options *ret,
                              lb_error *err) {
    *ret = defaults;
    lb_status status = lbi_options_read(options, ret, sizeof defaults, sizeof defaults,
                                        "lb_classify_options", err);
    if (status != LB_OK)
        return status;
    if (!(ret->confidence >= 0.5 && ret->confidence < 1))
        return lbi_error(err, LB_ERR_INVALID, "confidence is %g: 0.5 to 1, 1 excluded, expected",
                         ret->confidence);
    return LB_OK;
}

lb_status lb_classify(const lb_trace *trace, const lb_classify_options *options,
                      lb_verdict **ret_verdict, lb_error *err) {
    lb_classify_options o;
    lb_status status = read_options(options, &o, err);
    if (status != LB_OK)
        return status;
    if (!lbi_trace_sealed(trace))
        return lbi_error(err, LB_ERR_INVALID,
                         "the trace is not sealed: call lb_trace_seal() first");
    size_t n;
    const lb_unit *units = lb_trace_units(trace, &n);
    double foreign = NAN;
    const char *text = lb_trace_meta(trace, "foreign_cpu_percent");
    if (text == NULL || !lbi_parse_number(text, text + strlen(text), &foreign))
        foreign = NAN;
    return lbi_classify_units(lb_trace_cores(trace), lb_trace_unit_work(trace), units, n,
                              o.confidence, foreign, ret_verdict, err);
}
