/* SPDX-License-Identifier: BSD-3-Clause */
/* What the experiments need of an operating system, and all that is known of one. Functions that
 * can fail return 0 or the system's error number. Those marked AS are called between fork and exit
 * in a process that may have had threads: they are async-signal-safe. */
#ifndef LBI_EXPERIMENT_SYSTEM_H
#define LBI_EXPERIMENT_SYSTEM_H

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "experiment/host.h"

/* ---- time ---- */
int64_t lbi_now(void);        /* AS; nanoseconds of a clock that never steps */
int64_t lbi_thread_cpu(void); /* AS; CPU nanoseconds of the calling thread */
int lbi_cpu_of(pid_t worker, bool thread, int64_t *ret_ns); /* CPU nanoseconds of it */
void lbi_sleep_until(int64_t time_ns); /* returns early when a signal handler ran */

/* ---- scheduling class ---- */
typedef struct lbi_class {
    int policy, priority, nice;
    bool real_time;
} lbi_class;

int lbi_class_get(lbi_class *ret_class);    /* the calling thread's */
int lbi_class_set(const lbi_class *class_); /* AS; of the calling thread */
/* The class that the options ask for, or `caller`. */
lbi_class lbi_class_chosen(const lb_experiment_options *options, const lbi_class *caller);
/* Gives a class the nice level of a weight, or SCHED_IDLE; false: no level has it. */
bool lbi_class_weigh(lbi_class *class_, double weight);
/* Lifts the calling thread, which is in `caller`, above workers, as far as it may: a real-time
 * priority, else a short time slice, which brings its turn forward. */
void lbi_class_raise(const lbi_class *caller, const lbi_class *workers);
void lbi_class_restore(const lbi_class *caller);
const char *lbi_class_name(const lbi_class *class_);
bool lbi_class_inherits(const lbi_class *class_); /* children can have it */
bool lbi_class_shares(const lbi_class *class_);   /* and take turns in it */
int64_t lbi_class_slice(void); /* AS; the calling thread's time slice, 0: not known */

/* ---- cores ---- */
int lbi_cpu(void); /* AS; the system's number of the core it runs on, -1: not known */

typedef struct lbi_mask {
    unsigned long *bits;
    size_t words;
} lbi_mask;

/* Room for all the host's cores; bits is NULL: no memory. */
lbi_mask lbi_mask_new(const lb_host *host);
void lbi_mask_free(lbi_mask *mask);
/* Lets a process run on one core, or on all the host's (UINT32_MAX), alone. */
int lbi_bind(pid_t process, const lb_host *host, uint32_t core, lbi_mask *mask);

/* ---- processes ---- */
/* The child (0) has all signals blocked, and its end brings its parent no signal. */
int lbi_spawn(pid_t *ret_process);
/* AS; the calling child is killed when `parent`'s thread ends, also where it has ended already. */
void lbi_die_with(pid_t parent);
/* AS; lets go of what was inherited: open files keep pipes of the caller from ending. */
void lbi_disinherit(void);

/* A thread with all signals blocked. */
int lbi_thread_start(pthread_t *ret_thread, void *(*life)(void *), void *argument);
/* AS; names the calling thread, and returns its number, which serves where a process's does. */
pid_t lbi_thread_number(void);

typedef enum lbi_fate {
    LBI_FATE_RUNS,
    LBI_FATE_STOPPED, /* `detail` is the signal */
    LBI_FATE_KILLED,  /* likewise; reaped */
    LBI_FATE_EXITED,  /* `detail` is the exit status; reaped */
    LBI_FATE_LOST     /* somebody else reaped it */
} lbi_fate;

/* Asks without waiting; `ret_cpu_ns` is the whole CPU time of one that was reaped. */
lbi_fate lbi_fate_of(pid_t process, int *ret_detail, int64_t *ret_cpu_ns);
void lbi_kill(pid_t process);
void lbi_stop(pid_t process); /* it runs no further until lbi_continue() */
void lbi_continue(pid_t process);
void lbi_reap(pid_t process); /* waits */

/* ---- shared memory ---- */
void *lbi_share(size_t bytes); /* zeroed, shared with processes spawned later; NULL: errno */
void lbi_unshare(void *memory, size_t bytes);
/* AS; while it has that value, to that time (INT64_MAX: for ever), or less */
void lbi_word_wait_until(_Atomic uint32_t *word, uint32_t value, int64_t time_ns);
void lbi_word_wake(_Atomic uint32_t *word); /* all that wait */

/* ---- the machine ---- */
/* CPU nanoseconds that the host's cores have spent busy since the system began. */
int lbi_busy(const lb_host *host, int64_t *ret_ns);
/* "Linux 6.18.44" */
void lbi_kernel(char *ret_text, size_t size);

#endif
