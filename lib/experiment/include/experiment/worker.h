/* SPDX-License-Identifier: BSD-3-Clause */
/* What the controller and its workers share: one mapping, made before the workers. It holds an
 * arena, the slots (one a worker), and each worker's records. */
#ifndef LBI_EXPERIMENT_WORKER_H
#define LBI_EXPERIMENT_WORKER_H

#include "experiment/system.h"

/* What all workers do now; only ever counts up. */
enum lbi_phase {
    LBI_PHASE_HOLD,      /* wait */
    LBI_PHASE_CALIBRATE, /* those that calibrate do, the others wait */
    LBI_PHASE_SPIN,      /* work, and record nothing */
    LBI_PHASE_RUN        /* work, and record units */
};

/* How far a worker has come. */
enum lbi_state {
    LBI_STATE_NEW,
    LBI_STATE_READY,
    LBI_STATE_CALIBRATED,
    LBI_STATE_RUNS,
    LBI_STATE_ENDED,
    LBI_STATE_FAILED /* `error` tells why */
};

/* A unit as it was timed. */
typedef struct lbi_record {
    int64_t start_ns, end_ns, cpu_ns; /* times of lbi_now() */
    int32_t cpu_start, cpu_end;       /* the system's numbers */
} lbi_record;

typedef struct lbi_slot {
    /* Written by the controller. */
    _Alignas(128) _Atomic int64_t deadline_ns; /* ends with the first unit that passes it */
    uint64_t chunks;                           /* ends after so many */
    size_t first_record, capacity;             /* its part of the records */
    bool calibrates;
    /* Written by the worker. */
    _Alignas(128) _Atomic uint64_t progress; /* chunks done */
    _Atomic int32_t cpu;                     /* where it did the last one */
    _Atomic uint32_t state;
    int error;
    _Atomic size_t units; /* so far; more than `capacity`: the last ones are lost */
    double chunk_ns;      /* CPU time of one chunk */
    uint64_t value;       /* keeps the arithmetic from being optimised away */
} lbi_slot;

typedef struct lbi_arena {
    _Atomic uint32_t phase;
    pid_t parent;
    lbi_class class_;
    uint64_t chunk_rounds;    /* of arithmetic in a chunk */
    uint64_t unit_chunks;     /* set before LBI_PHASE_RUN */
    int64_t warm_up_ns;       /* of one that calibrates */
    uint64_t repeats, repeat; /* so many measurements, of so many chunks each */
    uint32_t workers;
    lbi_slot *slots;
    lbi_record *records;
} lbi_arena;

/* How many rounds of the arithmetic take about `chunk_ns`, measured on the calling thread. */
uint64_t lbi_chunk_rounds(int64_t chunk_ns);

/* A worker's whole life, between fork and exit. */
_Noreturn void lbi_worker(lbi_arena *arena, uint32_t index);

#endif
