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

static const lb_classify_options defaults = {sizeof defaults, LBI_CONFIDENCE};

void lb_classify_options_init(lb_classify_options *options, size_t size) {
    lbi_options_write(options, size, &defaults, sizeof defaults);
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
        status = lbi_fit_all(&fit, err);
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
        lbi_set_queues(v);
        if (v->policy == LB_POLICY_IMMEDIATE && fit.sharing.rotation_time > 0)
            v->rotation_time = fit.sharing.rotation_time;
        if (!lbi_explain(v, &fit))
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
    size_t n;
    const lb_unit *units = lb_trace_units(trace, &n);
    double foreign = NAN;
    const char *text = lb_trace_meta(trace, "foreign_cpu_percent");
    if (text == NULL || !lbi_parse_number(text, text + strlen(text), &foreign))
        foreign = NAN;
    lb_verdict *v;
    status = lbi_classify_units(lb_trace_cores(trace), lb_trace_unit_work(trace), units, n,
                                o.confidence, foreign, &v, err);
    if (status != LB_OK)
        return status;
    status = lbi_heed_disturbance(v, trace, err);
    if (status == LB_OK)
        *ret_verdict = v;
    else
        lb_verdict_free(v);
    return status;
}
