/* SPDX-License-Identifier: BSD-3-Clause */
/* A quota of CPU time, for as long as a program runs: a control group of its own, of version 1
 * or 2. */
#ifndef TESTS_QUOTA_H
#define TESTS_QUOTA_H

#include <stdbool.h>

/* Moves this process into a group that may use so many CPUs; quota_end() moves it back and removes
 * the group, as happens when this process ends, however it ends: a process of its own waits for
 * that. False: *ret_reason tells why it cannot be had, nothing is changed. */
bool quota_begin(double cpus, const char **ret_reason);
void quota_end(void);

#endif
