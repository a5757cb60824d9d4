/* SPDX-License-Identifier: BSD-3-Clause */
/* What the sweeps of check_sweeps.c call the library with: inputs that no call changes, one object
 * that the call under test changes, and what calls make. */
#ifndef TESTS_SCENE_H
#define TESTS_SCENE_H

#include "harness.h"

/* Which object the call changes. */
typedef enum object {
    NOTHING,
    WORKLOAD,
    TRACE,
    TABLE,
    DISTRIBUTION,
    SAMPLER,
    SIM,
    PASSING, /* a simulation, of which all events are told, but not where it stands */
    INSTANT, /* a simulation after lb_sim_begin() */
    MODEL,
    HOST,
    VERDICT,
    TEXT
} object;

typedef struct scene {
    lb_model *model;
    lb_workload *workload;
    lb_trace *trace;
    lb_table *table;
    lb_distribution *distribution;
    lb_sampler *sampler;
    lb_sim *sim;
    lb_verdict *verdict;
    lb_host *host;
    char *text;
} scene;

/* Inputs that stay; those of a machine are NULL where no experiment may run. */
typedef struct inputs {
    scene given;
    lb_distribution *other; /* of the same workload, from other realisations */
    lb_host *machine;
    lb_model *rotating;                        /* two cores, which moves processes without end */
    lb_model *emulated;                        /* with the machine's cores */
    lb_workload *brief;                        /* of milliseconds */
    lb_table *runs;                            /* for lb_compare() */
    lb_estimate_options threaded;              /* four threads, few samples */
    lb_import_options durations;               /* for lb_trace_import() */
    lb_host_options recorded;                  /* a machine of two cores, by hwloc's description */
    lb_experiment_options tiny;                /* the shortest experiment, of processes */
    lb_experiment_options adaptive, cancelled; /* likewise; the second is cancelled early */
    lb_weights_options weights;                /* one short level */
    lb_throughput_options command;             /* one short batch */
    char folder[32];                           /* an empty one, for files */
    char input[64], output[64];                /* files in it; the first holds `given.trace` */
} inputs;

extern inputs in;
/* Of the simulation that scene_make() made last: the second process, and every fourth from it on,
 * sleep. */
extern lb_process_id scene_ids[128];

void inputs_make(void);
void inputs_free(void);

/* The object in its `stage`: with so many processes, rows, entries. */
void scene_make(scene *s, object changed, size_t stage);
void scene_free(scene *s);
/* All that can be told of the object. It may change the object. */
typedef char state[512 * 1024];
void scene_state(scene *s, object changed, state told);

#endif
