/* SPDX-License-Identifier: BSD-3-Clause */
/* The controller's side: a crew of workers from its making to its end. Whatever happens, after
 * lbi_crew_end() no worker is left and the caller is as it was. */
#ifndef LBI_EXPERIMENT_CREW_H
#define LBI_EXPERIMENT_CREW_H

#include "base/error.h"
#include "experiment/monitor.h"
#include "experiment/worker.h"

/* More workers than this would need more patience than any budget. */
#define LBI_MAX_WORKERS 4096u

typedef struct lbi_hand {
    pid_t process; /* or the number of a thread */
    pthread_t thread;
    bool alive;                     /* not reaped yet */
    bool held;                      /* by lbi_crew_hold() */
    bool let_go;                    /* of its first core, in a workload */
    int64_t pinned_ns, unpinned_ns; /* when last before the origin, of lbi_now(); 0: never */
    uint64_t progress;              /* chunks at the last look */
    int64_t cpu_origin_ns;          /* CPU time at the origin */
    int64_t cpu_ns;                 /* CPU time of its whole life */
} lbi_hand;

typedef struct lbi_crew {
    const lb_host *host;
    lb_experiment_options options;
    const char *experiment;   /* its name, for a trace of what was recorded when it was cut short */
    lb_status interrupted;    /* why it was; LB_OK: it was not */
    lbi_class caller, class_; /* the caller's, and the workers' */
    bool threads;
    int64_t slice_ns; /* of that class; 0: not known */
    int cancel_state; /* the caller's pthread_setcancelstate() */
    lbi_arena *arena;
    size_t bytes;
    lbi_hand *hands;
    uint32_t workers, made, alive; /* at most, so far, now */
    lbi_mask mask;
    int64_t begin_ns, limit_ns, expected_ns; /* expected: the end, for the progress bar */
    int64_t look_ns;                         /* when to look after the workers again */
    double fraction;
    double unit_work, chunk_work; /* CPU seconds, once calibrated */
    lbi_instant before, after;    /* at the origin and at the end: both clocks */
    int64_t origin_ns, busy_ns, own_ns;
    int64_t cutoff_ns; /* what came after is in no trace; INT64_MAX */
    lb_mark *marks;    /* of what was done since the origin; times of lbi_now() */
    size_t mark_count, mark_capacity;
    lbi_monitor monitor;
    double foreign; /* CPU time of others, as a part of what there was; NAN: not known */
} lbi_crew;

/* Makes `workers` workers, each bound to one core (dealt round robin) and waiting. Worker i can
 * keep capacities[i] units. On failure nothing is left, as after lbi_crew_end(). */
lb_status lbi_crew_begin(lbi_crew *ret_crew, const lb_host *host,
                         const lb_experiment_options *options, uint32_t workers,
                         const size_t *capacities, lb_error *err);
/* The same, but only the first `made` of them are there at first; see lbi_crew_fork(). */
lb_status lbi_crew_begin_with(lbi_crew *ret_crew, const lb_host *host,
                              const lb_experiment_options *options, uint32_t workers, uint32_t made,
                              const size_t *capacities, lb_error *err);
/* The same, and worker i can take naps[i] naps (NULL: none). */
lb_status lbi_crew_begin_napping(lbi_crew *ret_crew, const lb_host *host,
                                 const lb_experiment_options *options, uint32_t workers,
                                 uint32_t made, const size_t *capacities, const size_t *naps,
                                 lb_error *err);
void lbi_crew_end(lbi_crew *crew);

/* Waits to `until_ns`, or less. All the while it looks after the workers, the progress callback and
 * the budget; an error is to be followed by lbi_crew_end(). */
lb_status lbi_crew_step(lbi_crew *crew, int64_t until_ns, lb_error *err);

/* Lets one worker a core measure what a chunk takes; sets unit_work and chunk_work. */
lb_status lbi_crew_calibrate(lbi_crew *crew, lb_error *err);

/* Binds a worker to a core, or lets it run on all (UINT32_MAX). */
lb_status lbi_crew_bind(lbi_crew *crew, uint32_t worker, uint32_t core, lb_error *err);

/* Makes the next worker, bound to nothing: the system places it. After lbi_crew_release() it works
 * at once, and there is a mark of it. Its deadline, if any, is absolute. */
lb_status lbi_crew_fork(lbi_crew *crew, lb_error *err);

/* Puts a worker to sleep, or wakes it, as a process that stops and continues: any time, but not one
 * that has ended. */
lb_status lbi_crew_hold(lbi_crew *crew, uint32_t worker, bool held, lb_error *err);

/* Notes what is done to a worker now, once the origin has passed; before it does nothing. */
lb_status lbi_crew_mark(lbi_crew *crew, uint32_t worker, lb_mark_kind kind, lb_error *err);

/* Lets all workers work, and waits until each has. */
lb_status lbi_crew_spin(lbi_crew *crew, lb_error *err);

/* Waits until each worker has run anew, for a second (or four rounds of time slices) at most. */
lb_status lbi_crew_settle(lbi_crew *crew, lb_error *err);

/* The origin: from now on units are recorded. Deadlines, stops, naps and chunks must be set before,
 * times relative to the origin; they are absolute afterwards. */
lb_status lbi_crew_release(lbi_crew *crew, lb_error *err);

/* Waits for the ends of all and measures the foreign CPU time. */
lb_status lbi_crew_finish(lbi_crew *crew, lb_error *err);

/* The core that a worker was last seen on, -1: none of the host's. */
int32_t lbi_crew_core(const lbi_crew *crew, uint32_t worker);

/* The sealed trace of a crew: units, marks of pinning, and the metadata that all experiments share.
 * Before lbi_crew_finish() it is what was recorded so far. */
lb_status lbi_crew_trace(const lbi_crew *crew, const char *experiment, lb_trace **ret_trace,
                         lb_error *err);

#endif
