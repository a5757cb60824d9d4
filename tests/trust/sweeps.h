/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of sweeps: one for each exported symbol. */
#ifndef TESTS_SWEEPS_H
#define TESTS_SWEEPS_H

#include "scene.h"

typedef enum sweep_kind {
    SWEEP_NOTHING, /* nothing is allocated in it, so that nothing can fail */
    SWEEP_FAILS,
    SWEEP_SELDOM, /* memory is taken beforehand, so that hardly ever anything can fail */
    SWEEP_RUNS    /* an experiment: each failure costs a run, and needs workers */
} sweep_kind;

typedef struct sweep {
    const char *symbol;
    /* The call under test. What it makes goes into `s`. */
    lb_status (*call)(scene *s);
    object changed;
    size_t stages; /* the object has 0 to stages - 1 entries beforehand */
    sweep_kind kind;
} sweep;

extern const sweep sweeps[];
extern const size_t sweep_count;

/* Where the calls of the table put why they failed. */
lb_error *sweeps_error(void);

#endif
