/* SPDX-License-Identifier: BSD-3-Clause */
/* Load balancing off, for as long as a program runs: the root cpuset's sched_load_balance of
 * cgroup v1. */
#ifndef TESTS_BALANCING_H
#define TESTS_BALANCING_H

#include <stdbool.h>

/* Switches it off; on again by balancing_restore(), or when this process ends, however it ends: a
 * process of its own waits for that. False: *ret_reason tells why it cannot be had, nothing is
 * changed. */
bool balancing_off(const char **ret_reason);
void balancing_restore(void);

#endif
