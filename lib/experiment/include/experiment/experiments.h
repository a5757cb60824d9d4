/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LBI_EXPERIMENT_EXPERIMENTS_H
#define LBI_EXPERIMENT_EXPERIMENTS_H

#include "experiment/host.h"

/* The host to run on: the caller's, or where that is NULL one that is opened and also goes to
 * *ret_opened, even on failure, for the caller to free. */
lb_status lbi_real_host(const lb_host *host, const lb_host **ret_host, lb_host **ret_opened,
                        lb_error *err);
/* The same, of two cores or more: one has nothing to balance. */
lb_status lbi_usable_host(const lb_host *host, const lb_host **ret_host, lb_host **ret_opened,
                          lb_error *err);

/* The experiments of lb_experiment_run(), one a file; host and options are checked. */
typedef lb_status (*lbi_experiment)(const lb_host *host, const lb_experiment_options *options,
                                    lb_trace **ret_trace, lb_error *err);
lb_status lbi_experiment_even(const lb_host *host, const lb_experiment_options *options,
                              lb_trace **ret_trace, lb_error *err);
lb_status lbi_experiment_detect(const lb_host *host, const lb_experiment_options *options,
                                lb_trace **ret_trace, lb_error *err);
lb_status lbi_experiment_queues(const lb_host *host, const lb_experiment_options *options,
                                lb_trace **ret_trace, lb_error *err);
lb_status lbi_experiment_profile(const lb_host *host, const lb_experiment_options *options,
                                 lb_trace **ret_trace, lb_error *err);
lb_status lbi_experiment_latency(const lb_host *host, const lb_experiment_options *options,
                                 lb_trace **ret_trace, lb_error *err);
lb_status lbi_experiment_events(const lb_host *host, const lb_experiment_options *options,
                                lb_trace **ret_trace, lb_error *err);

#endif
