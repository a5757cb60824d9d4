/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LBI_EXPERIMENT_HOST_H
#define LBI_EXPERIMENT_HOST_H

#include <stdbool.h>

#include "lbsched/lbsched.h"

typedef struct lbi_finding {
    lb_finding_kind kind;
    char *text; /* one sentence */
} lbi_finding;

typedef struct lbi_findings {
    lbi_finding *list;
    size_t count, capacity;
} lbi_findings;

struct lb_host {
    uint32_t cores, physical_cores;
    uint32_t groups, group_cores; /* of one size each; one of all, where there are none */
    uint32_t *cpus;               /* the system's number of each core, ascending */
    char *description;
    bool described; /* read from a file or a text: nothing can run on it */
    double quota;   /* CPUs that a control group allows; INFINITY: all */
    lbi_findings findings;
};

/* The core of a system's number, or -1. */
int32_t lbi_host_core(const lb_host *host, int64_t cpu);

#endif
