/* SPDX-License-Identifier: BSD-3-Clause */
#include "classify/classify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/options.h"
#include "classify/disturbed.h"
#include "classify/explain.h"
#include "trace/tasks.h"

/* From so many rotations on their mean time is better than what rates tell. */
#define ROTATIONS_LEAST 5

static const lb_classify_options defaults = {sizeof defaults, LBI_CONFIDENCE};

void lb_classify_options_init(lb_classify_options *options, size_t size) {
    lbi_options_write(options, size, &defaults, sizeof defaults);
}

/* What is measured beside the policy. */
static lb_status measure(lb_verdict *v, const lb_trace *trace, const lbi_fit *fit, lb_error *err) {
    const lbi_evidence *e = fit->evidence;
    lb_status status = lbi_measure_all(trace, e, v->measures, err);
    if (status == LB_OK)
        status = lbi_measure_delay(e, v->policy, &v->measures[LBI_BALANCE_DELAY], err);
    if (status == LB_OK)
        status = lbi_measure_speeds(trace, &v->speeds, err);
    if (status == LB_OK && fit->progress.unusable == LBI_USABLE)
        status = lbi_measure_fairness(&fit->progress, &v->fairness, &v->fairness_count, err);
    if (v->policy != LB_POLICY_IMMEDIATE)
        return status;
    double seen = lbi_dwell_mean(&e->dwell);
    if (e->shared_queues)
        v->rotation_time = NAN;
    else if (e->slices && e->dwell.rotations >= ROTATIONS_LEAST)
        v->rotation_time = seen;
    else if (fit->progress.unusable == LBI_USABLE && fit->sharing.rotation_time > 0)
        v->rotation_time = fit->sharing.rotation_time;
    return status;
}

static lb_status classify(const lb_trace *trace, const lbi_evidence *evidence, double confidence,
                          double foreign_percent, lb_verdict **ret_verdict, lb_error *err) {
    lbi_fit fit = {.foreign_percent = foreign_percent, .evidence = evidence};
    uint32_t cores = lb_trace_cores(trace);
    double unit_work = lb_trace_unit_work(trace);
    size_t n;
    const lb_unit *units = lb_trace_units(trace, &n);
    lb_verdict *v = calloc(1, sizeof *v);
    if (v == NULL)
        return lbi_error_nomem(err, "a verdict");
    lb_status status = lbi_progress_make(&fit.progress, cores, unit_work, units, n, err);
    if (status == LB_OK && fit.progress.unusable == LBI_USABLE)
        status = lbi_fit_all(&fit, err);
    if (status == LB_OK) {
        v->cores = cores;
        v->tasks = fit.progress.tasks;
        v->units = n;
        v->confidence = confidence;
        v->unit_work = NAN;
        v->rotation_time = NAN;
        for (int i = LB_POLICY_NONE; i <= LB_POLICY_ACTIVE; i++)
            v->misfit[i] = fit.lists[i].misfit - fit.lists[i].excused;
        v->misfit[LB_POLICY_IMMEDIATE] = fit.sharing.misfit;
        status = lbi_set_probabilities(v, &fit, err);
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
        lbi_weigh_cores(v, evidence);
        lbi_set_queues(v);
        status = measure(v, trace, &fit, err);
        if (status == LB_OK && !(lbi_explain(v, &fit) && lbi_explain_evidence(v, evidence)))
            status = lbi_error_nomem(err, "reasons");
    }
    lbi_free_lists(fit.lists);
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
    double foreign = NAN;
    const char *text = lb_trace_meta(trace, "foreign_cpu_percent");
    if (text == NULL || !lbi_parse_number(text, text + strlen(text), &foreign))
        foreign = NAN;
    lb_verdict *v = NULL;
    lbi_evidence evidence;
    status = lbi_evidence_gather(trace, &evidence, err);
    if (status == LB_OK)
        status = classify(trace, &evidence, o.confidence, foreign, &v, err);
    lbi_evidence_free(&evidence);
    if (status != LB_OK)
        return status;
    status = lbi_heed_disturbance(v, trace, err);
    if (status == LB_OK)
        *ret_verdict = v;
    else
        lb_verdict_free(v);
    return status;
}
