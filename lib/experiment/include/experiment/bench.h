/* SPDX-License-Identifier: BSD-3-Clause */
/* One run of a real workload, made of real processes. The controller (the calling thread) makes a
 * keeper, the keeper a master, and the master does the work with processes of its own. The keeper
 * outlasts them all: whatever happens, it ends every process below it, empties the scratch folder
 * and takes no part in the work, so that the master's CPU times are those of the work. */
#ifndef LBI_EXPERIMENT_BENCH_H
#define LBI_EXPERIMENT_BENCH_H

#include "experiment/system.h"

/* What is to run; read by all, changed by nobody while they run. */
typedef struct lbi_task {
    int32_t workload;     /* an lb_throughput_workload */
    uint32_t size;        /* of it: processes at a time (0: all), users, groups */
    int32_t transport;    /* of messages, an lb_transport */
    uint32_t jobs;        /* of a batch */
    int64_t window_ns;    /* how long users and messages are counted */
    char *const *command; /* of a batch; NULL: its own jobs */
    char *const *environment;
    lbi_class class_, competitor_class;
    uint32_t competitors;
    const lbi_mask *mask; /* where all of them may run */
    char *scratch;        /* a folder of their own */
} lbi_task;

typedef enum lbi_fault_kind {
    LBI_FAULT_NONE,
    LBI_FAULT_SYSTEM, /* `what` did not work, for the reason `error` */
    LBI_FAULT_CLASS,  /* the scheduling class was refused: `error` */
    LBI_FAULT_RUN,    /* the program `what` (NULL: the command) cannot be run: `error` */
    LBI_FAULT_EXITED, /* job `index` exited with status `error` */
    LBI_FAULT_KILLED  /* job `index` was killed by signal `error` */
} lbi_fault_kind;

typedef struct lbi_fault {
    _Atomic uint32_t kind;  /* the first that happened */
    _Atomic uint32_t ready; /* the rest of it is written */
    int error;
    uint32_t index;
    const char *what; /* a text of the library: at one address in all */
} lbi_fault;

/* Times by powers of two, 16 steps each: to within 3.2 %. */
enum {
    LBI_TIME_STEPS = 16,
    LBI_TIMES = 44 * LBI_TIME_STEPS
};

/* What one process counted. */
typedef struct lbi_tally {
    _Alignas(128) _Atomic uint64_t count; /* jobs, messages */
    uint64_t wake_ups;
    int64_t longest_ns;
    uint32_t times[LBI_TIMES]; /* of its wake-ups */
} lbi_tally;

typedef struct lbi_bench {
    size_t bytes;
    const lbi_task *task;
    pid_t controller;
    int64_t limit_ns; /* all is ended then, whatever the controller does */
    _Atomic pid_t master;
    _Atomic uint32_t gate;  /* 1: those that wait begin; 2: they end */
    _Atomic uint32_t ready; /* wait at the gate */
    _Atomic uint32_t done;
    lbi_fault fault;
    /* Written by the master. */
    int64_t begin_ns, end_ns;
    uint64_t count; /* within that time */
    double job_s, longest_job_s;
    int64_t migrations; /* -1: not known */
    /* Written by the keeper, of the master and of all that it waited for. */
    int64_t user_ns, system_ns;
    int64_t switches, preemptions; /* waited by itself, had to give way */
    uint32_t tallies;
    lbi_tally tally[];
} lbi_bench;

/* AS; notes what went wrong, unless something did before. */
void lbi_bench_fail(lbi_bench *bench, lbi_fault_kind kind, int error, uint32_t index,
                    const char *what);
/* AS; makes a process that dies with its parent; 0: this is it. */
pid_t lbi_bench_fork(lbi_bench *bench);
/* AS; a process of the work waits for the beginning. */
void lbi_bench_wait(lbi_bench *bench);
/* AS; the master lets them begin, once so many wait, and ends them after the window; the sum of
 * their counts within it goes to the bench. */
void lbi_bench_count(lbi_bench *bench, uint32_t processes);
/* AS; waits for the master's children; false: there is none left. */
bool lbi_bench_reap(lbi_bench *bench, uint32_t index);

/* The workloads: what the master does. AS */
void lbi_batch(lbi_bench *bench);
void lbi_users(lbi_bench *bench);
void lbi_messages(lbi_bench *bench);

/* How many tallies a task needs. */
uint32_t lbi_task_tallies(const lbi_task *task);
/* AS */
void lbi_tally_time(lbi_tally *tally, int64_t ns);
/* Of all tallies; NAN: no times. */
double lbi_bench_quantile(const lbi_bench *bench, double p);

/* The keeper's whole life, in a process of its own; `output` is what a command writes to. AS */
int lbi_keeper(lbi_bench *bench, int output);

#endif
