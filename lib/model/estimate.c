/* SPDX-License-Identifier: BSD-3-Clause */
#include "estimate.h"

#include <math.h>

#include "base/options.h"

/* AUTO enumerates up to this many realisations, fewer of many processes. */
enum {
    CHEAP_REALISATIONS = 1024,
    CHEAP_PROCESSES = 1 << 16
};

static const lb_estimate_options defaults = {
    .size = sizeof(lb_estimate_options),
    .max_samples = 1000000,
    .relative_error = 0.001,
    .method = LB_METHOD_AUTO,
    .threads = 1,
};

void lb_estimate_options_init(lb_estimate_options *options, size_t size) {
    lbi_options_write(options, size, &defaults, sizeof defaults);
}

static lb_status check(const lb_estimate_options *options, lb_error *err) {
    if (options->max_samples == 0)
        return lbi_error(err, LB_ERR_INVALID,
                         "lb_estimate_options.max_samples is 0: 1 or more expected");
    if (!(options->relative_error > 0))
        return lbi_error(err, LB_ERR_INVALID,
                         "lb_estimate_options.relative_error is %g: above 0 expected",
                         options->relative_error);
    if (options->method < LB_METHOD_AUTO || options->method > LB_METHOD_SAMPLE)
        return lbi_error(err, LB_ERR_INVALID,
                         "lb_estimate_options.method is %d: an lb_method of %d to %d expected",
                         (int)options->method, LB_METHOD_AUTO, LB_METHOD_SAMPLE);
    if (options->threads == 0)
        return lbi_error(err, LB_ERR_INVALID,
                         "lb_estimate_options.threads is 0: 1 or more expected");
    return LB_OK;
}

static lb_status estimate_by_method(const lbi_estimate *estimate, lb_error *err) {
    const lb_model *model = estimate->plan->model;
    int32_t method = estimate->options->method;
    if (method == LB_METHOD_EXACT && lbi_model_rotates(model))
        return lbi_error(err, LB_ERR_UNSUPPORTED,
                         "LB_METHOD_EXACT of a model with rotation_time %g s: the times of "
                         "rotations are continuous; LB_METHOD_SAMPLE estimates",
                         model->options.rotation_time);
    if (method == LB_METHOD_SAMPLE || lbi_model_rotates(model))
        return lbi_estimate_by_sampling(estimate, err);
    if (method == LB_METHOD_EXACT)
        return lbi_estimate_exactly(estimate, LBI_EXACT_REALISATIONS, err);
    uint64_t cheap = CHEAP_PROCESSES / (estimate->plan->size + 1);
    if (cheap > CHEAP_REALISATIONS)
        cheap = CHEAP_REALISATIONS;
    /* What no chance decides is one realisation, and always cheap. */
    lb_status status = lbi_estimate_exactly(estimate, cheap > 1 ? cheap : 1, err);
    return status == LB_ERR_LIMIT ? lbi_estimate_by_sampling(estimate, err) : status;
}

static lb_status estimate(const lb_model *model, const lb_workload *workload, size_t first,
                          size_t count, const lb_estimate_options *options,
                          lb_duration *ret_durations, lb_error *err) {
    lb_estimate_options wanted = defaults;
    lb_status status = lbi_options_read(options, &wanted, sizeof wanted, sizeof wanted,
                                        "lb_estimate_options", err);
    if (status == LB_OK)
        status = check(&wanted, err);
    if (status != LB_OK)
        return status;
    lbi_plan plan;
    status = lbi_plan_new(&plan, model, workload, err);
    if (status != LB_OK)
        return status;
    lbi_estimate asked = {.plan = &plan,
                          .options = &wanted,
                          .first = first,
                          .count = count,
                          .ret_durations = ret_durations};
    /* The message of an attempt that AUTO makes is not for the caller. */
    lb_error attempt = {0};
    status = estimate_by_method(&asked, &attempt);
    if (status != LB_OK && err != NULL)
        *err = attempt;
    lbi_plan_free(&plan);
    return status;
}

lb_status lb_model_duration(const lb_model *model, const lb_workload *workload, size_t index,
                            const lb_estimate_options *options, lb_duration *ret_duration,
                            lb_error *err) {
    if (index >= lb_workload_size(workload))
        return lbi_error(err, LB_ERR_INVALID, "duration of process %zu: there are %zu processes",
                         index, lb_workload_size(workload));
    return estimate(model, workload, index, 1, options, ret_duration, err);
}

lb_status lb_model_durations(const lb_model *model, const lb_workload *workload,
                             const lb_estimate_options *options, lb_duration *ret_durations,
                             lb_error *err) {
    return estimate(model, workload, 0, lb_workload_size(workload), options, ret_durations, err);
}
