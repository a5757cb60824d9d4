/* SPDX-License-Identifier: BSD-3-Clause */
/* What a call that runs an experiment must leave as it was. */
#ifndef TESTS_SURROUNDINGS_H
#define TESTS_SURROUNDINGS_H

#include <sched.h>
#include <signal.h>
#include <sys/types.h>

typedef struct surroundings {
    cpu_set_t affinity;
    sigset_t mask;
    int policy, priority, files, mappings;
} surroundings;

void look_around(surroundings *s);
void assert_unchanged(const surroundings *before);
void assert_childless(void);

/* The children of this thread, workers all. */
int list_workers(pid_t *workers, int max);

#endif
