/* SPDX-License-Identifier: BSD-3-Clause */
/* Random configurations: what tests of the classifier run over. */
#ifndef TESTS_SIM_DRAW_H
#define TESTS_SIM_DRAW_H

#include "timeslice.h"

#define DRAW_CORES_MAX 64u
/* A trace is not longer than this (up to 16 cores), so that thousands can be made. */
#define DRAW_UNITS_MAX 200e3
#define DRAW_SLICES_MAX 2e6

/* What disturbs a trace beside the policy's own randomness; a set. */
enum {
    DRAW_CLEAN = 0,
    DRAW_JITTER = 1 << 0,     /* Units differ by up to 5 %. */
    DRAW_OUTLIERS = 1 << 1,   /* One in a hundred takes ten times as long. */
    DRAW_DELAY = 1 << 2,      /* Moves come up to 200 ms late. */
    DRAW_STEAL = 1 << 3,      /* A core is away for a while. */
    DRAW_BACKGROUND = 1 << 4, /* One more task for a while. */
    DRAW_HIDDEN = 1 << 5,     /* unit_work is not known. */
    DRAW_LOST = 1 << 6,       /* Units are missing. */
    DRAW_CLOCK = 1 << 7,      /* The clock is set once. */
    DRAW_SPEEDS = 1 << 8,     /* Cores differ. */
    DRAW_DWELL = 1 << 9,      /* Immediate: uneven shares last 50 ms to 0.8 s (the median). */
    DRAW_ALL = (1 << 10) - 1
};

typedef struct draw {
    timeslice_config config; /* Points into the rest: do not copy the struct. */
    double speeds[DRAW_CORES_MAX];
} draw;

/* What a form (below) may hold: all that acceptance names. */
#define DRAW_FORM                                                                                  \
    (DRAW_JITTER | DRAW_OUTLIERS | DRAW_DELAY | DRAW_STEAL | DRAW_BACKGROUND | DRAW_HIDDEN)

/* Draws policy, size, times and noise from the seed: 2, 4, 8 or 16 cores, 3 to 6 tasks a core. */
void draw_config(uint64_t seed, uint32_t noise, draw *ret_draw);
/* The same on so many cores, up to DRAW_CORES_MAX; 0: as drawn. */
void draw_config_on(uint64_t seed, uint32_t noise, uint32_t cores, draw *ret_draw);

/* A trace of the acceptance form: 2 to 64 cores, 2 to 6 tasks a core, each noise of DRAW_FORM with
 * probability 1/3. Returns the noises. */
uint32_t draw_form(uint64_t seed, draw *ret_draw);

double draw_expected_seconds(const timeslice_config *config);
double draw_expected_units(const timeslice_config *config);

#endif
