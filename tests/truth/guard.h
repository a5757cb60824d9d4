/* SPDX-License-Identifier: BSD-3-Clause */
/* What a test changes in the machine is put back however the test ends: by a process of its own,
 * which waits for the last copy of a pipe to close. Killed, interrupted or crashed makes no
 * difference. One at a time. */
#ifndef TESTS_TRUTH_GUARD_H
#define TESTS_TRUTH_GUARD_H

#include <stdbool.h>

/* To be called before the change: `undo` may find nothing to undo. False: with the reason, and
 * nothing to end. */
bool guard_begin(bool (*undo)(void), const char **ret_reason);

/* Lets it undo now, and waits for that. */
void guard_end(void);

#endif
