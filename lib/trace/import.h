/* SPDX-License-Identifier: BSD-3-Clause */
/* Recordings of other programs, made traces. */
#ifndef LBI_TRACE_IMPORT_H
#define LBI_TRACE_IMPORT_H

#include "lbsched/lbsched.h"

/* The options with their defaults filled in and checked; the text's length is not 0. */

/* A table of task and duration. */
lb_status lbi_import_durations(const char *text, size_t length, const lb_import_options *options,
                               lb_trace **ret_trace, lb_error *err);

/* sched_switch events as perf, trace-cmd and the kernel print them. */
lb_status lbi_import_sched(const char *text, size_t length, const lb_import_options *options,
                           lb_trace **ret_trace, lb_error *err);

#endif
