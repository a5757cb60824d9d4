/* SPDX-License-Identifier: BSD-3-Clause */
/* A build without experiments: the symbols are there, and say so. */
#include <math.h>

#include "experiment/options.h"

static lb_status refuse(lb_error *err) {
    return lbi_error(err, LB_ERR_UNSUPPORTED,
                     "this build of lbsched has no experiments (built with "
                     "-Dexperiment=disabled, without hwloc, or for a system without support)");
}

lb_status lb_host_open(const lb_host_options *options, lb_host **ret_host, lb_error *err) {
    (void)options;
    (void)ret_host;
    return refuse(err);
}

/* No host can be had, so these are never called with one. */
void lb_host_free(lb_host *host) {
    (void)host;
}

uint32_t lb_host_cores(const lb_host *host) {
    (void)host;
    return 0;
}

uint32_t lb_host_physical_cores(const lb_host *host) {
    (void)host;
    return 0;
}

uint32_t lb_host_cpu(const lb_host *host, uint32_t core) {
    (void)host;
    (void)core;
    return UINT32_MAX;
}

const char *lb_host_description(const lb_host *host) {
    (void)host;
    return "";
}

void lb_host_groups(const lb_host *host, uint32_t *ret_groups, uint32_t *ret_cores) {
    (void)host;
    *ret_groups = *ret_cores = 0;
}

double lb_host_quota(const lb_host *host) {
    (void)host;
    return INFINITY;
}

size_t lb_host_finding_count(const lb_host *host) {
    (void)host;
    return 0;
}

lb_finding_kind lb_host_finding_kind(const lb_host *host, size_t index) {
    (void)host;
    (void)index;
    return LB_FINDING_NONE;
}

const char *lb_host_finding(const lb_host *host, size_t index) {
    (void)host;
    (void)index;
    return NULL;
}

lb_status lb_experiment_run(const lb_host *host, lb_experiment_kind kind,
                            const lb_experiment_options *options, lb_trace **ret_trace,
                            lb_error *err) {
    (void)host;
    (void)kind;
    (void)options;
    (void)ret_trace;
    return refuse(err);
}

lb_status lb_experiment_workload(const lb_host *host, const lb_workload *workload,
                                 const lb_experiment_options *options, lb_trace **ret_trace,
                                 lb_error *err) {
    (void)host;
    (void)workload;
    (void)options;
    (void)ret_trace;
    return refuse(err);
}

lb_status lb_experiment_weights(const lb_host *host, const lb_weights_options *options,
                                lb_table **ret_table, lb_error *err) {
    (void)host;
    (void)options;
    (void)ret_table;
    return refuse(err);
}

lb_status lb_experiment_throughput(const lb_host *host, const lb_condition *const *conditions,
                                   size_t n, const lb_throughput_options *options,
                                   lb_table **ret_tables, lb_error *err) {
    (void)host;
    (void)conditions;
    (void)n;
    (void)options;
    (void)ret_tables;
    return refuse(err);
}

lb_status lb_experiment_emulate(const lb_host *host, const lb_model *model, lb_queues queues,
                                uint64_t seed, const lb_experiment_options *options,
                                lb_trace **ret_trace, lb_error *err) {
    (void)host;
    (void)model;
    (void)queues;
    (void)seed;
    (void)options;
    (void)ret_trace;
    return refuse(err);
}

lb_status lb_self_test(const lb_host *host, uint64_t seed, const lb_experiment_options *options,
                       lb_table **ret_table, lb_error *err) {
    (void)host;
    (void)seed;
    (void)options;
    (void)ret_table;
    return refuse(err);
}

lb_status lb_detect(const lb_host *host, const lb_experiment_options *options,
                    lb_verdict **ret_verdict, lb_trace **ret_trace, lb_error *err) {
    (void)host;
    (void)options;
    (void)ret_verdict;
    (void)ret_trace;
    return refuse(err);
}
