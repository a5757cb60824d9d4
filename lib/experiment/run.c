/* SPDX-License-Identifier: BSD-3-Clause */
/* lb_experiment_run(): checks first, then the experiment. */
#include "base/error.h"
#include "experiment/experiments.h"
#include "experiment/options.h"

lb_status lbi_real_host(const lb_host *host, const lb_host **ret_host, lb_host **ret_opened,
                        lb_error *err) {
    *ret_opened = NULL;
    if (host == NULL) {
        lb_status status = lb_host_open(NULL, ret_opened, err);
        if (status != LB_OK)
            return status;
        host = *ret_opened;
    }
    *ret_host = host;
    if (host->described)
        return lbi_error(err, LB_ERR_UNSUPPORTED,
                         "the host is a description (%s): experiments run on this machine only",
                         host->description);
    return LB_OK;
}

lb_status lbi_usable_host(const lb_host *host, const lb_host **ret_host, lb_host **ret_opened,
                          lb_error *err) {
    lb_status status = lbi_real_host(host, &host, ret_opened, err);
    if (status != LB_OK)
        return status;
    *ret_host = host;
    if (host->cores < 2)
        return lbi_error(err, LB_ERR_UNSUPPORTED,
                         "only one core (CPU %u) may be used: two or more are needed for load "
                         "balancing",
                         (unsigned)host->cpus[0]);
    return LB_OK;
}

lb_status lb_experiment_run(const lb_host *host, lb_experiment_kind kind,
                            const lb_experiment_options *options, lb_trace **ret_trace,
                            lb_error *err) {
    lb_experiment_options read;
    lb_host *opened = NULL;
    static const lbi_experiment experiments[] = {lbi_experiment_even,    lbi_experiment_detect,
                                                 lbi_experiment_queues,  lbi_experiment_profile,
                                                 lbi_experiment_latency, lbi_experiment_events};
    lb_status status = lbi_experiment_options_read(options, &read, err);
    if (status == LB_OK && (unsigned)kind > LB_EXPERIMENT_EVENTS)
        status =
            lbi_error(err, LB_ERR_INVALID, "kind is %d: an lb_experiment_kind expected", (int)kind);
    if (status == LB_OK)
        status = lbi_usable_host(host, &host, &opened, err);
    if (status == LB_OK)
        status = experiments[kind](host, &read, ret_trace, err);
    lb_host_free(opened);
    return status;
}
