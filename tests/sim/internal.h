/* SPDX-License-Identifier: BSD-3-Clause */
/* What the simulator's files share. */
#ifndef TESTS_SIM_INTERNAL_H
#define TESTS_SIM_INTERNAL_H

#include "timeslice.h"

#define NEVER INT64_MAX

/* splitmix64 (Steele, Lea, Flood 2014). One stream for each use, so that an option which draws more
 * of one leaves the others as they were. */
typedef struct random_stream {
    uint64_t state;
} random_stream;

uint64_t random_next(random_stream *random);
double random_unit(random_stream *random); /* In the open interval (0, 1). */
uint32_t random_below(random_stream *random, uint32_t n);
double random_normal(random_stream *random);
void random_shuffle(random_stream *random, uint32_t *values, uint32_t n);

int64_t nanoseconds(double seconds);

/* Where tasks start and when they end, made of the configuration. */
typedef struct plan {
    uint32_t *first_core;
    int64_t *end_ns; /* When each is told to end; NEVER: by count. */
    uint32_t *count; /* How many units each runs; UINT32_MAX: until told. */
} plan;

bool plan_make(const timeslice_config *config, uint32_t tasks, random_stream *random,
               plan *ret_plan);
void plan_free(plan *made);

/* Watches the lists and finds the deciding moments. */
typedef struct watch {
    const timeslice_config *config;
    timeslice_truth *truth;
    int64_t grain_ns; /* Ten times the longer of unit and slice. */
    int64_t delay_ns;
    int64_t since_ns;           /* When the present interval began. */
    uint32_t shortest, longest; /* Of the lists then, before anything was balanced. */
} watch;

void watch_init(watch *watcher, const timeslice_config *config, timeslice_truth *truth);
/* An interval between events ends (with the lists as they are by now); another begins. */
void watch_end_interval(watch *watcher, int64_t now, const uint32_t *sizes, uint32_t running);
void watch_begin_interval(watch *watcher, int64_t now, const uint32_t *sizes);
void watch_finish(watch *watcher, int64_t now);

#endif
