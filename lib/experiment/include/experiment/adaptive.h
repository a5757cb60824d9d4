/* SPDX-License-Identifier: BSD-3-Clause */
/* LB_EXPERIMENT_DETECT as it goes: whom to end when, from what is known so far. It touches no
 * system, so that simulated machines can be asked too. */
#ifndef LBI_EXPERIMENT_ADAPTIVE_H
#define LBI_EXPERIMENT_ADAPTIVE_H

#include <stdbool.h>

#include "lbsched/lbsched.h"

typedef struct lbi_adaptive {
    uint32_t cores, tasks;
    int64_t
        turn_ns; /* how long a task holds its core against others: the longer of unit and slice */
    int64_t end_ns; /* when there is no more time */
    double confidence;
    /* Since lbi_adaptive_begin(): */
    uint32_t *sizes; /* of the cores' lists at the last look */
    int32_t *core;   /* of the tasks, likewise */
    bool looked;
    uint32_t moves;       /* of tasks to another core, as seen from look to look */
    uint32_t ended;       /* tasks told to end */
    int64_t since_ns;     /* when the last was */
    int64_t sure_ns;      /* since when `favourite` has the confidence; INT64_MAX: it has not */
    int64_t very_sure_ns; /* and more than that */
    int favourite;
    int64_t seen_ns, uneven_ns; /* the last look, and how long tasks were no multiple of cores */
    const char *stopped;        /* why, once it did */
} lbi_adaptive;

/* What is seen at one moment. */
typedef struct lbi_view {
    int64_t now_ns;            /* since the origin */
    const int32_t *core;       /* of each task; -1: it has ended, or was told to */
    const double *probability; /* by lb_policy, of the trace so far */
} lbi_view;

typedef enum lbi_decision {
    LBI_DECIDED_WAIT,
    LBI_DECIDED_END, /* one task */
    LBI_DECIDED_STOP /* the experiment */
} lbi_decision;

/* `sizes` has room for `cores`, `core` for `tasks`. */
void lbi_adaptive_begin(lbi_adaptive *ret_adaptive, uint32_t cores, uint32_t tasks, int64_t turn_ns,
                        int64_t end_ns, double confidence, uint32_t *sizes, int32_t *core);
lbi_decision lbi_adaptive_decide(lbi_adaptive *adaptive, const lbi_view *view, uint32_t *ret_task);

/* How long until the next look is worth it. */
int64_t lbi_adaptive_pause(const lbi_adaptive *adaptive);

#endif
