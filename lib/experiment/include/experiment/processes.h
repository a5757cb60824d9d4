/* SPDX-License-Identifier: BSD-3-Clause */
/* All processes and what CPU time they used, as /proc tells. */
#ifndef LBI_EXPERIMENT_PROCESSES_H
#define LBI_EXPERIMENT_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct lbi_process {
    int64_t id, parent, session;
    uint64_t start; /* tells two processes of one id apart */
    uint64_t ticks; /* CPU time, with that of children that were waited for */
    bool runs;      /* on a core, or waiting for one */
    char name[16];
} lbi_process;

typedef struct lbi_processes {
    lbi_process *list; /* by id */
    size_t count, capacity;
} lbi_processes;

/* False: no memory; the list is to be freed in any case. What cannot be read is left out. */
bool lbi_processes_read(const char *root, lbi_processes *ret_processes);
void lbi_processes_free(lbi_processes *processes);
const lbi_process *lbi_processes_find(const lbi_processes *processes, int64_t id);

#endif
