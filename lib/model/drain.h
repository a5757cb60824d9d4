/* SPDX-License-Identifier: BSD-3-Clause */
/* Shortcuts of the batch model where nothing interferes: processes of equal weight that share a
 * fixed set of cores complete in the order of their works, so that they need no heap but a sort. */
#ifndef LBI_MODEL_DRAIN_H
#define LBI_MODEL_DRAIN_H

#include "engine.h"
#include "order.h"

typedef struct lbi_drain {
    lbi_item *items, *scratch; /* as many as there are processes each */
    uint32_t *first;           /* run lists by rank: where each begins in `items` ... */
    uint32_t *done;            /* ... and how many of it are done */
} lbi_drain;

/* Whether all of the workload, or what happens before a list first runs dry, can be drained. */
bool lbi_drain_applies(const lb_model *model, const lb_workload *workload, const double *weights);
bool lbi_drain_new(lbi_drain *drain, const lb_model *model, size_t processes);
void lbi_drain_free(lbi_drain *drain);
/* Drains all it can into `durations`. Of lazy and active balancing the rest goes on in the engine,
 * which is new and then stands with its instant to be closed; elsewhere it is not looked at. */
void lbi_drain_run(lbi_drain *drain, const lb_model *model, const lb_workload *workload,
                   lbi_engine *engine, double *durations);

#endif
