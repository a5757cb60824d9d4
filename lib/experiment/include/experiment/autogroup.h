/* SPDX-License-Identifier: BSD-3-Clause */
/* Autogroup: Linux gives each session an equal share, however many processes it runs. */
#ifndef LBI_EXPERIMENT_AUTOGROUP_H
#define LBI_EXPERIMENT_AUTOGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether it is on for this process: not where a control group shares instead. False: no memory. */
bool lbi_autogroup_is_on(const char *root, bool *ret_on);

/* A session other than the workers'. */
typedef struct lbi_session {
    int64_t id;
    double demand; /* cores that it would use if it could */
} lbi_session;

/* Of `cores` cores, how many those who want all are left by sessions that share evenly with them:
 * none gets more than it demands. `sessions` are sorted by demand. */
double lbi_fair_share(double cores, lbi_session *sessions, size_t n);

#endif
