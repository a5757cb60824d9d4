/* SPDX-License-Identifier: BSD-3-Clause */
/* A model and a workload, prepared for many realisations; and one realisation of it. */
#ifndef LBI_MODEL_PLAN_H
#define LBI_MODEL_PLAN_H

#include <stdatomic.h>

#include "drain.h"
#include "engine.h"

typedef struct lbi_action {
    double time;
    uint32_t index;
    uint32_t order : 31;  /* 0: the arrival; else 1 and the number of the event */
    uint32_t crowded : 1; /* its instant would join actions of a later time */
} lbi_action;

typedef struct lbi_plan {
    const lb_model *model; /* both borrowed */
    const lb_workload *workload;
    size_t size;
    const double *weights; /* NULL: all equal */
    /* By time, index, order. Without arrivals all arrive at 0, which is not listed here. */
    lbi_action *actions;
    size_t action_count;
    bool drains;   /* see drain.h */
    size_t widest; /* the most actions that one instant can join */
} lbi_plan;

lb_status lbi_plan_new(lbi_plan *plan, const lb_model *model, const lb_workload *workload,
                       lb_error *err);
void lbi_plan_free(lbi_plan *plan);

typedef struct lbi_run {
    const lbi_plan *plan;
    lbi_engine engine; /* not made where draining is all */
    lbi_drain drain;
    lbi_action *joined; /* the actions of one instant, by index and order */
    size_t next_action;
    bool begun;
    double *durations; /* the caller's: INFINITY until complete */
} lbi_run;

lb_status lbi_run_new(lbi_run *run, const lbi_plan *plan, lb_error *err);
void lbi_run_free(lbi_run *run);
/* The following three are the general way, which is there unless the plan drains. */
void lbi_run_begin(lbi_run *run, uint64_t seed, double *durations);
/* To the next instant, up to where it must be balanced. False: nothing more completes. */
bool lbi_run_open(lbi_run *run);
void lbi_run_close(lbi_run *run);
/* One whole realisation; false: cancelled. */
bool lbi_run_all(lbi_run *run, uint64_t seed, double *durations, const atomic_bool *cancelled);

#endif
