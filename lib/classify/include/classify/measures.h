/* SPDX-License-Identifier: BSD-3-Clause */
/* The numbers that a verdict carries beside its probabilities. */
#ifndef LBI_CLASSIFY_MEASURES_H
#define LBI_CLASSIFY_MEASURES_H

#include "classify/evidence.h"
#include "classify/progress.h"

/* Append only: their names are in files. */
typedef enum lbi_measure {
    LBI_BALANCE_DELAY,
    LBI_IDLE_BALANCED,
    LBI_IDLE_NEVER,
    LBI_IDLE_P50,
    LBI_IDLE_P90,
    LBI_IDLE_P99,
    LBI_APART_BALANCED,
    LBI_APART_NEVER,
    LBI_APART_P50,
    LBI_APART_P90,
    LBI_APART_P99,
    LBI_ROTATIONS,
    LBI_DWELL_P50,
    LBI_DWELL_P90,
    LBI_TURNS,
    LBI_TURN_CHANGES,
    LBI_IDLE_WHILE_WAITING,
    LBI_ELSEWHERE,
    LBI_ELSEWHERE_MOST,
    LBI_ELSEWHERE_CORE,
    LBI_DEVIATION_MULTIPLES,
    LBI_DEVIATION_OTHERS,
    LBI_LIST_CHOICES,
    LBI_LIST_LONGEST,
    LBI_PROCESS_CHOICES,
    LBI_PROCESS_ANY,
    LBI_PROCESS_OLDEST,
    LBI_PROCESS_LATEST,
    LBI_MOVES_FILLING,
    LBI_MOVES_EVENING,
    LBI_MOVES_ROTATING,
    LBI_MOVES_OTHER,
    LBI_FOREIGN,
    LBI_MEASURES
} lbi_measure;

/* Names with units, as files have them. */
extern const char *const lbi_measure_names[LBI_MEASURES];

/* All that `evidence` and the units' durations tell; NAN: not measured, INFINITY: never. */
lb_status lbi_measure_all(const lb_trace *trace, const lbi_evidence *evidence,
                          double measures[LBI_MEASURES], lb_error *err);
/* The delay that the model of a policy needs; NAN: not measured. */
lb_status lbi_measure_delay(const lbi_evidence *evidence, lb_policy policy, double *ret_delay,
                            lb_error *err);

/* How evenly tasks shared the cores while so many were there. */
typedef struct lbi_fair {
    uint32_t concurrency;
    double seconds;
    double mean;      /* share of a core that a task had */
    double deviation; /* of the shares, standard deviation over mean */
    double jain;      /* 1: all alike, 1 / concurrency: one has it all (Jain, Chiu, Hawe 1984) */
    double least, most;
} lbi_fair;

#define LBI_FAIR_NUMBERS 6
/* Names of what follows `concurrency`, as files have them. */
extern const char *const lbi_fair_names[LBI_FAIR_NUMBERS];

/* A row for each number of running tasks, falling. The caller frees *ret_rows. */
lb_status lbi_measure_fairness(const lbi_progress *progress, lbi_fair **ret_rows, size_t *ret_n,
                               lb_error *err);

/* Speeds of the cores relative to the fastest, from the CPU time of units that each did; the caller
 * frees *ret_speeds. NULL: not measured on every core, or alike. */
lb_status lbi_measure_speeds(const lb_trace *trace, double **ret_speeds, lb_error *err);

#endif
