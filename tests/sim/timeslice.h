/* SPDX-License-Identifier: BSD-3-Clause */
/* A time-slice simulator of multicore schedulers, to test classification against. It shares no code
 * with lib/: tasks run units of work on cores that really take turns, slice by slice, and lists are
 * kept as a scheduler keeps them. It hands out what an experiment would record, and beside it the
 * truth that no experiment knows. Seeded and deterministic; prints nothing. */
#ifndef TESTS_SIM_TIMESLICE_H
#define TESTS_SIM_TIMESLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lbsched/lbsched.h"

#define TIMESLICE_CORES_MAX 1024u
/* The background task's number in moves; it is in no trace. */
#define TIMESLICE_BACKGROUND UINT32_MAX

typedef enum timeslice_policy {
    TIMESLICE_NONE,      /* Nobody moves. */
    TIMESLICE_LAZY,      /* A core whose list is empty pulls a task. */
    TIMESLICE_ACTIVE,    /* Lists two or more apart are evened. */
    TIMESLICE_IMMEDIATE, /* Active, and an imbalance of one is rotated (CFS, EEVDF). */
    TIMESLICE_SINGLE     /* One FIFO queue for all cores. */
} timeslice_policy;

typedef enum timeslice_choice {
    TIMESLICE_ANY,    /* Uniformly any list that the policy allows; any task of it. */
    TIMESLICE_LONGEST /* Uniformly any of the longest lists; any task of it. */
} timeslice_choice;

typedef enum timeslice_order {
    TIMESLICE_SORTED,   /* Task 0 ends first, then task 1, .. */
    TIMESLICE_SHUFFLED, /* In random order. */
    TIMESLICE_DESIGNED  /* First all that started on core 0, then the others in random order. */
} timeslice_order;

typedef enum timeslice_end {
    TIMESLICE_END_AFTER_UNIT, /* Told to end, a task finishes the unit that it is at. */
    TIMESLICE_END_AT_ONCE,    /* It ends the next time it is on a core; the unit is lost. */
    TIMESLICE_END_BY_COUNT    /* Nobody tells it: its number of units is fixed beforehand. */
} timeslice_end;

/* timeslice_defaults() fills it in; zero switches an option off unless said. Seconds. */
typedef struct timeslice_config {
    uint64_t seed;
    timeslice_policy policy;    /* Default none. */
    uint32_t cores;             /* Default 2. */
    uint32_t tasks_per_core;    /* Default 3. */
    uint32_t tasks;             /* 0, the default: cores * tasks_per_core. */
    double unit_work;           /* CPU seconds on a core of speed 1. Default 0.01. */
    double slice;               /* The time slice. Default 0.005. */
    double slice_jitter;        /* Each slice is that part longer or shorter at most (uniform). */
    double balance_delay;       /* From an imbalance to the move. */
    timeslice_choice choice;    /* Which list gives. Default any. */
    bool shuffled_start;        /* Tasks are dealt to cores in random order, else task i to core
                                   i mod cores. */
    bool aligned_start;         /* All cores begin a full slice at time 0, else each is somewhere
                                   within one. */
    const uint32_t *first_core; /* `tasks` cores; NULL: dealt. */

    timeslice_end end;      /* Default after unit. */
    timeslice_order order;  /* Default shuffled. */
    double gap;             /* Between one end and the next; 0, the default: from gap_factor. */
    double gap_factor;      /* gap = gap_factor * longer of unit and slice * tasks_per_core +
                               balance_delay. Default 15. */
    double gap_jitter;      /* Each gap is that part longer or shorter at most (uniform). */
    const double *end_time; /* `tasks` times that replace order and gap; NULL: made of them. */
    const uint32_t *count;  /* END_BY_COUNT: `tasks` counts, likewise. */

    /* Immediate: how long one uneven arrangement lasts (Weibull through median and 90th
     * percentile). Also the yardstick of how long lists must be uneven for a rotating scheduler to
     * be ruled out. Default 0.38 and 1.1, as seen on Linux 6.18. */
    double dwell_median;
    double dwell_p90;

    double jitter;         /* Standard deviation of a unit's work, relative to it. */
    double outlier_rate;   /* Part of the units that take outlier_factor times as long. */
    double outlier_factor; /* Default 10. */
    double lost_rate;      /* Part of the units that are not in the trace. */
    bool unit_work_hidden; /* The trace does not tell unit_work. */
    bool cpu_time_hidden;  /* The trace does not tell cpu_ns. */
    bool cores_hidden;     /* The trace does not tell core_start and core_end. */
    bool slices;           /* Record slices too. */
    const double *speeds;  /* `cores` speeds; NULL: all 1. */

    double steal_from, steal_until; /* In between a core does not run at all. */
    uint32_t steal_core;

    double background_from, background_until; /* In between one more task is there. */
    uint32_t background_core;                 /* Where it starts. */
    bool background_pinned;                   /* It never moves. */

    double clock_step_at, clock_step; /* All stamps from then on are that much later. */
} timeslice_config;

typedef struct timeslice_move {
    int64_t time_ns;
    uint32_t task;
    uint32_t from, to;
    bool rotation; /* Of an imbalance of one (immediate). */
} timeslice_move;

/* Something that the lists must answer to: a task's end, or the background task's coming or going.
 */
typedef struct timeslice_event {
    int64_t time_ns;
    uint32_t task;
    uint32_t core;    /* Where it was. */
    uint32_t running; /* Tasks that are left, the background task included. */
} timeslice_event;

/* A kind of deciding moment. */
typedef struct timeslice_moment {
    uint32_t seen;       /* How many there were. */
    uint32_t resolved;   /* How many lasted long enough, undisturbed. */
    int64_t resolved_ns; /* How long those lasted together. */
    int64_t first_ns;    /* When the first resolved one began; -1: none. */
} timeslice_moment;

typedef struct timeslice_truth {
    bool decidable; /* The trace can tell the policy that it was made with from every other. */
    lb_policy policy;
    timeslice_moment none_lazy;   /* A core without a task beside a list of two or more. */
    timeslice_moment lazy_active; /* Lists two or more apart, each core with a task. */
    timeslice_moment uneven;      /* Lists of unequal length, one of them of two or more; a single
                                     queue: more tasks than cores and not a multiple. */
    int64_t end_ns;               /* When the last task ended. */

    timeslice_event *events;
    size_t event_count;
    timeslice_move *moves;
    size_t move_count;
    /* List sizes, the background task included: row i holds from sizes_ns[i] to sizes_ns[i + 1].
     * A single queue: 1 of a core that runs a task, 0 of one that idles. */
    int64_t *sizes_ns;
    uint32_t *sizes; /* size_rows rows of `cores`. */
    size_t size_rows;

    int64_t *task_cpu_ns; /* `tasks`, and behind them the background task. */
    int64_t *core_busy_ns;
    uint32_t *first_core; /* `tasks`: where each started. */
} timeslice_truth;

typedef struct timeslice_result {
    uint32_t cores, tasks;
    double unit_work; /* NAN: hidden. */
    lb_unit *units;   /* By time of completion. */
    size_t unit_count;
    lb_slice *slices; /* By end. */
    size_t slice_count;
    timeslice_truth truth;
} timeslice_result;

typedef enum timeslice_status {
    TIMESLICE_OK,
    TIMESLICE_INVALID, /* The configuration makes no sense. */
    TIMESLICE_NOMEM
} timeslice_status;

void timeslice_defaults(timeslice_config *config);

/* `ret_result` is written on success only; timeslice_free() releases what it holds. */
timeslice_status timeslice_run(const timeslice_config *config, timeslice_result *ret_result);
void timeslice_free(timeslice_result *result);

/* Makes a sealed trace of a result. */
lb_status timeslice_trace(const timeslice_result *result, lb_trace **ret_trace, lb_error *err);

const char *timeslice_policy_name(timeslice_policy policy);
/* The verdict that a policy deserves. */
lb_policy timeslice_verdict(timeslice_policy policy);

#endif
