/* SPDX-License-Identifier: BSD-3-Clause */
/* The peak of throughput against users, in the rows "users N" of a result. */
#ifndef LBI_EXPERIMENT_PEAK_H
#define LBI_EXPERIMENT_PEAK_H

#include <stdbool.h>

#include "base/error.h"

/* Whether so many users are four times those at the peak, or more. */
bool lbi_peak_passed(const lb_table *table, uint32_t users);
/* Sets peak_jobs_per_minute, peak_deviation_percent, users_at_peak, largest_users and
 * slope_past_peak_percent. */
lb_status lbi_peak_describe(lb_table *table, lb_error *err);

#endif
