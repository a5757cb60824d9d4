/* SPDX-License-Identifier: BSD-3-Clause */
/* The main job in one call. */
#include "experiment/options.h"
#include "experiment/repeat.h"

lb_status lb_detect(const lb_host *host, const lb_experiment_options *options,
                    lb_verdict **ret_verdict, lb_trace **ret_trace, lb_error *err) {
    lb_trace *trace = NULL;
    lb_experiment_options read;
    lb_classify_options classify;
    lb_classify_options_init(&classify, sizeof classify);
    lb_status status = lbi_experiment_options_read(options, &read, err);
    if (status == LB_OK)
        status = lbi_run_undisturbed(host, LB_EXPERIMENT_DETECT, &read, &trace, err);
    if (status == LB_OK) {
        classify.confidence = read.confidence;
        status = lb_classify(trace, &classify, ret_verdict, err);
    }
    if (status == LB_OK && ret_trace != NULL)
        *ret_trace = trace;
    else
        lb_trace_free(trace);
    return status;
}
