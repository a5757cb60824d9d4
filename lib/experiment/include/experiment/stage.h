/* SPDX-License-Identifier: BSD-3-Clause */
/* What the experiments other than DETECT have in common: a crew from its making to its trace, and
 * what is done to it in between. */
#ifndef LBI_EXPERIMENT_STAGE_H
#define LBI_EXPERIMENT_STAGE_H

#include "experiment/start.h"

typedef struct lbi_stage {
    lbi_crew crew;
    lbi_start start;
    uint32_t cores;
    int32_t *core; /* of each worker at the last lbi_stage_look(); -1: it ended, or was told to */
    uint32_t *length; /* workers on each core then, those that sleep aside */
    int64_t end_ns;   /* when the budget asks to come to an end */
} lbi_stage;

/* What an experiment does between calibration and the end of all. */
typedef lb_status (*lbi_play)(lbi_stage *stage, lb_error *err);

/* `workers` at most, of which `made` are there at first, dealt round robin and calibrated when
 * `play` begins. When it returns, what is recorded is cut off and all are ended. */
lb_status lbi_stage_run(const lb_host *host, const lb_experiment_options *options, const char *name,
                        uint32_t workers, uint32_t made, lbi_play play, lb_trace **ret_trace,
                        lb_error *err);

/* tasks_per_core for each core, and so many more; more than there may be where that overflows. */
uint32_t lbi_stage_workers(const lb_host *host, const lb_experiment_options *options,
                           uint32_t more);

/* How long a turn of each in a list of tasks_per_core takes. */
int64_t lbi_stage_round(const lbi_stage *stage);

/* Arranges all evenly, lets them go and records from then on. */
lb_status lbi_stage_begin(lbi_stage *stage, lb_error *err);

/* Waits so long, or until the budget's end. False in *ret_time: that has come. */
lb_status lbi_stage_wait(lbi_stage *stage, int64_t time_ns, bool *ret_time, lb_error *err);

/* Sees where all are. Returns how many are alive and awake. */
uint32_t lbi_stage_look(lbi_stage *stage);
/* The first of the shortest lists that are not empty; of the longest. */
uint32_t lbi_stage_shortest(const lbi_stage *stage);
uint32_t lbi_stage_longest(const lbi_stage *stage);
/* A worker that is awake on a core, by its place among them; UINT32_MAX: none. */
uint32_t lbi_stage_worker(const lbi_stage *stage, uint32_t core, uint32_t place);

/* Tells a worker (UINT32_MAX: none) to end, and waits until it has. */
lb_status lbi_stage_end(lbi_stage *stage, uint32_t worker, lb_error *err);

#endif
