/* SPDX-License-Identifier: BSD-3-Clause */
/* lb_experiment_emulate(): the experiment on a scheduler that is known, because it is the caller's
 * thread. */
#include "experiment/detect.h"
#include "experiment/experiments.h"
#include "experiment/options.h"

#define MILLISECOND INT64_C(1000000)
/* Short against what an experiment watches, and long against what a move costs. */
#define ROTATION_TIME 0.1
#define SLICE_NS (20 * MILLISECOND)

static lb_status check(const lb_host *host, const lb_model *model, lb_queues queues,
                       const lb_experiment_options *options, lb_error *err) {
    if (queues != LB_QUEUES_PER_CORE && queues != LB_QUEUES_SINGLE)
        return lbi_error(err, LB_ERR_INVALID,
                         "queues is %d: LB_QUEUES_PER_CORE or LB_QUEUES_SINGLE expected",
                         (int)queues);
    if (queues == LB_QUEUES_SINGLE && lb_model_policy(model) != LB_POLICY_IMMEDIATE)
        return lbi_error(err, LB_ERR_INVALID,
                         "the model's policy is %d: a single queue is LB_POLICY_IMMEDIATE (%d)",
                         (int)lb_model_policy(model), (int)LB_POLICY_IMMEDIATE);
    if (lb_model_cores(model) != host->cores)
        return lbi_error(err, LB_ERR_INVALID, "the model has %u cores, the host %u",
                         (unsigned)lb_model_cores(model), (unsigned)host->cores);
    if (options->design != LB_DETECT_ADAPTIVE)
        return lbi_error(err, LB_ERR_UNSUPPORTED,
                         "design is LB_DETECT_FIXED: an emulation is adaptive");
    return LB_OK;
}

/* Lists have to rotate, or nothing would share all cores. */
static lb_status with_rotation(const lb_model *model, lb_model **ret_model, lb_error *err) {
    lb_model_options options;
    lb_model_get_options(model, &options, sizeof options);
    if (options.policy == LB_POLICY_IMMEDIATE && options.rotation_time == 0)
        options.rotation_time = ROTATION_TIME;
    options.core_speeds = NULL;
    return lb_model_new(&options, ret_model, err);
}

lb_status lb_experiment_emulate(const lb_host *host, const lb_model *model, lb_queues queues,
                                uint64_t seed, const lb_experiment_options *options,
                                lb_trace **ret_trace, lb_error *err) {
    static const char *const names[] = {"unknown", "none", "lazy", "active", "immediate"};
    lb_experiment_options read;
    lb_host *opened = NULL;
    lb_model *rotating = NULL;
    lb_trace *trace = NULL;
    lb_status status = lbi_experiment_options_read(options, &read, err);
    if (status == LB_OK)
        status = lbi_usable_host(host, &host, &opened, err);
    if (status == LB_OK)
        status = check(host, model, queues, &read, err);
    if (status == LB_OK)
        status = with_rotation(model, &rotating, err);
    if (status == LB_OK) {
        lbi_emulation emulation = {
            .model = rotating, .seed = seed, .queues = queues, .slice_ns = SLICE_NS};
        status = lbi_detect_run(host, &read, &emulation, &trace, err);
        lbi_emulation_end(&emulation);
    }
    if (status == LB_OK)
        status = lb_trace_set_meta(
            trace, "emulated",
            queues == LB_QUEUES_SINGLE ? "single queue" : names[lb_model_policy(model)], err);
    if (status == LB_OK)
        *ret_trace = trace;
    else
        lb_trace_free(trace);
    lb_model_free(rotating);
    lb_host_free(opened);
    return status;
}
