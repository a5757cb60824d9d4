/* SPDX-License-Identifier: BSD-3-Clause */
/* The duration model once more, by brute force: written from the model's description alone, sharing
 * no line with lib/. Clear, exact to the last digits of a long double, and slow. */
#ifndef TESTS_ORACLE_H
#define TESTS_ORACLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ORACLE_CORES 8
#define ORACLE_PROCESSES 256
#define ORACLE_EVENTS 48

enum oracle_policy {
    ORACLE_NONE,
    ORACLE_LAZY,
    ORACLE_ACTIVE,
    ORACLE_IMMEDIATE
};
enum oracle_kind {
    ORACLE_STOP,
    ORACLE_SLEEP,
    ORACLE_WAKE,
    ORACLE_WEIGH, /* another weight, and other work: online only */
    ORACLE_WORK
};

struct oracle_event {
    double time;
    enum oracle_kind kind;
    int process;
    double value; /* the weight, or the work */
};

struct oracle_problem {
    int cores;
    enum oracle_policy policy;
    double speeds[ORACLE_CORES];
    int group; /* cores of a group that is balanced by weight; active; 0: none. Both choices random
                */
    double delay;    /* balance_delay; lazy and active */
    double rotation; /* rotation_time; immediate, and oracle_draw() alone */
    bool longest;    /* the giver: one of the longest lists, else any that may give */
    enum {
        ORACLE_RANDOM,
        ORACLE_FIRST,
        ORACLE_LAST
    } process;

    int n;
    double work[ORACLE_PROCESSES];
    double weight[ORACLE_PROCESSES];
    double arrival[ORACLE_PROCESSES];
    int first_core[ORACLE_PROCESSES]; /* -1: not set */

    int events;
    struct oracle_event event[ORACLE_EVENTS]; /* in the order added */
};

struct oracle_duration {
    long double mean, stddev, min, max, completion;
};

/* Called for each realisation: its probability and every process's duration (INFINITY: never). */
typedef void (*oracle_leaf_fn)(void *user, long double probability, const long double *durations);

struct oracle_result {
    struct oracle_duration duration[ORACLE_PROCESSES];
    long double probability; /* of all realisations: 1, to rounding */
    size_t realisations;
    /* Rounding of doubles decides, and no two implementations need agree: two events were neither
     * well inside nor well outside the window of one instant, or two weights neither alike nor well
     * apart, or next to nothing was left of a work
     * that a far heavier one then held up. */
    bool ambiguous;
};

/* Weighs every realisation. False: there are more than `limit`. `leaf` may be NULL. */
bool oracle_solve(const struct oracle_problem *problem, size_t limit, oracle_leaf_fn leaf,
                  void *user, struct oracle_result *result);

/* Draws one realisation with numbers made from *random; also with rotation. */
void oracle_draw(const struct oracle_problem *problem, uint64_t *random, long double *durations);

#endif
