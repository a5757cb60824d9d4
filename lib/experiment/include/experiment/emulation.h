/* SPDX-License-Identifier: BSD-3-Clause */
/* Balancing as a model says, by moving workers that are bound to one core each; or as a single run
 * queue would, by letting as many workers run as there are cores, in turns. */
#ifndef LBI_EXPERIMENT_EMULATION_H
#define LBI_EXPERIMENT_EMULATION_H

#include "experiment/crew.h"

typedef struct lbi_emulation {
    const lb_model *model;
    uint64_t seed;
    lb_queues queues;
    int64_t slice_ns; /* of a single queue */
    uint64_t moves;   /* of workers to another core, so far */
    /* Since lbi_emulation_begin(): */
    lbi_crew *crew;
    bool *gone;            /* workers whose end has been answered */
    lb_sim *sim;           /* lists: the model that is asked .. */
    lb_process_id *id;     /* .. and its name for each worker */
    uint32_t *queue;       /* a single queue: the workers that wait .. */
    uint32_t waiting;      /* .. so many */
    uint32_t *runs;        /* the worker on each core; UINT32_MAX: none .. */
    int64_t *slice_end_ns; /* .. and until when, if somebody waits */
} lbi_emulation;

/* At the origin, with all workers bound and dealt round robin. lbi_emulation_end() in any case. */
lb_status lbi_emulation_begin(lbi_emulation *emulation, lbi_crew *crew, lb_error *err);
/* Does what is due. *ret_next_ns: when to be called again at the latest, of lbi_now(). */
lb_status lbi_emulation_act(lbi_emulation *emulation, int64_t *ret_next_ns, lb_error *err);
/* Lets all run: they are to end. */
void lbi_emulation_finish(lbi_emulation *emulation);
void lbi_emulation_end(lbi_emulation *emulation);

#endif
