/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LBI_EXPERIMENT_THROUGHPUT_H
#define LBI_EXPERIMENT_THROUGHPUT_H

#include "base/error.h"
#include "experiment/system.h"

/* Reads and checks what the caller asks for (NULL: the defaults). */
lb_status lbi_throughput_options_read(const lb_throughput_options *options,
                                      lb_throughput_options *ret_options, lb_error *err);
lb_status lbi_condition_read(const lb_condition *condition, lb_condition *ret_condition,
                             lb_error *err);

/* Writes into a result's metadata under what condition, on which system it was measured. */
lb_status lbi_condition_describe(const lb_condition *condition, const lb_host *host,
                                 const lbi_class *class_, const lbi_class *competitor_class,
                                 lb_table *table, lb_error *err);

#endif
