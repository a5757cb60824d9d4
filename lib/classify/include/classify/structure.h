/* SPDX-License-Identifier: BSD-3-Clause */
/* Which cores share a run queue: told by where tasks that were displaced ran next. */
#ifndef LBI_CLASSIFY_STRUCTURE_H
#define LBI_CLASSIFY_STRUCTURE_H

#include "classify/occupancy.h"

#define LBI_QUEUES (LB_QUEUES_GROUPED + 1)

typedef struct lbi_structure {
    size_t turns;     /* times that a task was displaced from its core while others waited */
    size_t changes;   /* of these, it ran next on another core */
    size_t odd_turns; /* while tasks were no multiple of cores .. */
    size_t odd_changes;
    uint32_t groups; /* blocks of cores that tasks change within; 1: all, cores: none */
    uint32_t *group; /* [core seen] */
    uint32_t cores_seen;
    double log_likelihood[LBI_QUEUES]; /* tempered; 0 where there are no turns */
    bool shared;                       /* cores rather share queues than not */
} lbi_structure;

/* Reads all sightings; they are to be rewound. Freed with lbi_structure_free() in any case. */
lb_status lbi_structure_find(const lb_trace *trace, lbi_sightings *sightings,
                             lbi_structure *ret_structure, lb_error *err);
void lbi_structure_free(lbi_structure *structure);

#endif
