/* SPDX-License-Identifier: BSD-3-Clause */
/* All that a trace shows beside its rates: where tasks ran, and when they moved. */
#ifndef LBI_CLASSIFY_EVIDENCE_H
#define LBI_CLASSIFY_EVIDENCE_H

#include "classify/choices.h"
#include "classify/dwell.h"
#include "classify/idle.h"
#include "classify/imbalance.h"
#include "classify/moves.h"
#include "classify/structure.h"

/* How long imbalances of one kind lasted; "never" is apart from any number. */
typedef struct lbi_latency {
    size_t balanced, never;
    double p50, p90, p99; /* seconds; INFINITY: never, NAN: there were no imbalances */
    double watched;       /* seconds in which those that were never balanced were watched */
} lbi_latency;

typedef struct lbi_evidence {
    bool known;         /* the trace shows where tasks ran */
    bool slices;        /* exactly; else by the cores of units */
    bool shared_queues; /* cores share queues, so that there are no lists to tell of */
    double origin;      /* seconds of the trace at which all times here are 0 */
    double seconds;     /* from then to the end */
    double unit_s;      /* a unit's mean duration: where there are no slices, sightings of a task
                           are so far apart */
    lbi_structure structure;
    lbi_imbalances imbalances;
    lbi_latency idle, apart;
    lbi_dwell dwell;
    lbi_choices choices;
    lbi_moves moves;
    lbi_idle waste;
} lbi_evidence;

/* Freed with lbi_evidence_free() in any case. */
lb_status lbi_evidence_gather(const lb_trace *trace, lbi_evidence *ret_evidence, lb_error *err);
void lbi_evidence_free(lbi_evidence *evidence);

#endif
