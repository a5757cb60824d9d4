/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LBI_EXPERIMENT_REALTIME_H
#define LBI_EXPERIMENT_REALTIME_H

/* The part of a core's time that real-time processes may use; 1: all. */
double lbi_real_time_limit(const char *root);

#endif
