/* SPDX-License-Identifier: BSD-3-Clause */
/* What the controller and its workers share: one mapping, made before the workers. It holds an
 * arena, the slots (one a worker), each worker's units and naps, and a pool of spans for all. */
#ifndef LBI_EXPERIMENT_WORKER_H
#define LBI_EXPERIMENT_WORKER_H

#include "experiment/reading.h"
#include "experiment/system.h"

/* What all workers do now; only ever counts up. */
enum lbi_phase {
    LBI_PHASE_HOLD,      /* wait */
    LBI_PHASE_CALIBRATE, /* those that calibrate do, the others wait */
    LBI_PHASE_SPIN,      /* work, and record nothing */
    LBI_PHASE_RUN,       /* work, and record units and slices */
    LBI_PHASE_QUIT       /* leave */
};

/* How far a worker has come. */
enum lbi_state {
    LBI_STATE_NEW,
    LBI_STATE_READY,
    LBI_STATE_CALIBRATED,
    LBI_STATE_RUNS,
    LBI_STATE_ENDED,
    LBI_STATE_OVERTIME, /* the budget's end came first */
    LBI_STATE_FAILED    /* `error` tells why */
};

/* A unit as it was timed. */
typedef struct lbi_record {
    int64_t start, end; /* ticks */
    int64_t cpu_ns;
    int32_t cpu_start, cpu_end; /* the system's numbers */
    bool whole;                 /* unit_chunks of work, without a nap */
} lbi_record;

/* A slice as it was read: the worker ran at both ends for certain, and up to a chunk more. */
typedef struct lbi_span {
    int64_t start, end; /* ticks; the end moves with every chunk */
    int32_t cpu;
} lbi_span;

/* Spans come from one pool, so that it is the machine that needs room, not each worker. A worker
 * takes a block at a time. */
enum {
    LBI_BLOCK_SPANS = 42
};
typedef struct lbi_block {
    uint32_t worker;
    _Atomic uint32_t spans;
    lbi_span span[LBI_BLOCK_SPANS];
} lbi_block;

/* A time to sleep. */
typedef struct lbi_nap {
    int64_t from_ns, to_ns; /* of lbi_now(), once released; INT64_MAX: for ever */
    int64_t slept, woke;    /* ticks; 0: not yet */
    bool arrival;           /* from before it is there */
} lbi_nap;

typedef struct lbi_slot {
    /* Written by the controller. */
    _Alignas(128) _Atomic int64_t deadline_ns; /* ends with the first unit that passes it */
    uint64_t chunks;                           /* ends after so many */
    int64_t work_ns;                           /* ends after so much CPU time */
    int64_t stop_ns;                           /* ends at once then */
    size_t first_record, capacity;             /* its part of the records */
    struct lbi_arena *arena;
    size_t first_nap, naps; /* its naps, by time */
    lbi_class class_;       /* its own, from LBI_PHASE_SPIN on */
    bool calibrates, late;  /* late: waits for LBI_PHASE_RUN, does not spin */
    /* Written by the worker. */
    _Alignas(128) _Atomic uint64_t progress; /* chunks done */
    _Atomic int32_t cpu;                     /* where it did the last one */
    _Atomic uint32_t state;
    _Atomic pid_t number; /* once it is there */
    int error;
    _Atomic size_t units; /* more than `capacity`: the last ones are lost */
    int64_t slice_ns;     /* its time slice */
    bool stopped;         /* by stop_ns */
    int64_t due_ns;       /* when it was to end, and did; 0: it was not told to */
    uint64_t lost_spans;
    int64_t stalled_ns; /* waited for the controller */
    int64_t cpu_ns;     /* CPU time of its whole life */
    double chunk_ns;    /* CPU time of one chunk */
    uint64_t value;     /* keeps the arithmetic from being optimised away */
    lbi_span unseen;    /* in the place of spans that are not recorded */
} lbi_slot;

typedef struct lbi_arena {
    size_t bytes; /* of all that is shared, this included */
    _Atomic uint32_t phase;
    pid_t parent;
    lbi_class class_;
    bool tsc;
    uint64_t chunk_rounds;    /* of arithmetic in a chunk */
    int64_t chunk_ticks;      /* about what it takes */
    uint64_t unit_chunks;     /* set before LBI_PHASE_RUN */
    double chunk_ns;          /* CPU time of a chunk, likewise */
    int64_t warm_up_ns;       /* of one that calibrates */
    int64_t doze_ns;          /* likewise, afterwards */
    uint64_t repeats, repeat; /* so many measurements, of so many chunks each */
    int64_t limit_ns;         /* all leave then, whatever the controller does */
    double ticks_per_ns;      /* about */
    _Atomic int64_t heard_ns; /* the controller's last sign of life */
    _Atomic uint32_t used;    /* blocks */
    uint32_t blocks, workers;
    lbi_slot *slots;
    lbi_nap *naps;
    lbi_record *records;
    lbi_block *pool;
} lbi_arena;

/* Two that first touch a page of shared memory at once wait for each other, asleep, for some tenths
 * of a millisecond: an idle core then pulls somebody as if a task had ended. So the controller,
 * then every worker meets the pages before anybody is observed; beyond a bound that is left to
 * chance. AS
 */
void lbi_touch_pages(const lbi_arena *arena);

/* Finds chunk_rounds, for chunks of about `chunk_ns`, and chunk_ticks, on the calling thread. */
void lbi_size_chunks(lbi_arena *arena, int64_t chunk_ns);

/* The arithmetic alone, for comparison. AS */
uint64_t lbi_arithmetic(uint64_t value, uint64_t rounds);

/* The last part of a worker's life: units and spans, until it is time to end. AS */
void lbi_run(lbi_arena *arena, uint32_t index);

/* A worker's whole life. Returns an exit status. AS */
int lbi_worker(lbi_arena *arena, uint32_t index);

#endif
