/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LBI_EXPERIMENT_OPTIONS_H
#define LBI_EXPERIMENT_OPTIONS_H

#include "base/error.h"

/* Reads and checks the caller's options (NULL: the defaults). */
lb_status lbi_experiment_options_read(const lb_experiment_options *options,
                                      lb_experiment_options *ret_options, lb_error *err);
lb_status lbi_host_options_read(const lb_host_options *options, lb_host_options *ret_options,
                                lb_error *err);

#endif
