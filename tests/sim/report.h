/* SPDX-License-Identifier: BSD-3-Clause */
/* How verdicts and truths agree: the confusion matrix, tables by machine and by noise, and how far
 * the probabilities can be trusted. */
#ifndef TESTS_SIM_REPORT_H
#define TESTS_SIM_REPORT_H

#include <stdio.h>

#include "timeslice.h"

enum {
    REPORT_TRUTHS = 5,    /* timeslice_policy */
    REPORT_VERDICTS = 5,  /* lb_policy */
    REPORT_SIZES = 6,     /* up to 2, 4, 8, 16, 32, 64 cores */
    REPORT_DENSITIES = 5, /* 2 to 6 tasks a core */
    REPORT_NOISES = 11,   /* none, and each of tests/sim/draw.h */
    REPORT_BINS = 12
};

typedef struct report_tally {
    unsigned traces, decidable;
    unsigned right;         /* Verdict is the truth. */
    unsigned right_decided; /* Of the decidable ones. */
    unsigned wrong;
} report_tally;

/* Of the probabilities that fell into one bin: how high, and how often true. */
typedef struct report_bin {
    double sum;
    unsigned count, true_count;
} report_bin;

typedef struct report {
    unsigned matrix[REPORT_TRUTHS][REPORT_VERDICTS];
    unsigned decidable_matrix[REPORT_TRUTHS][REPORT_VERDICTS];
    report_tally by_policy[REPORT_TRUTHS];
    report_tally by_cell[REPORT_SIZES][REPORT_DENSITIES];
    report_tally by_noise[REPORT_NOISES];
    report_tally all;
    report_bin bins[REPORT_BINS];
    double worst_seconds, seconds; /* CPU time in lb_classify(). */
    uint64_t worst_seed;
} report;

extern const char *const report_verdicts[REPORT_VERDICTS];

/* What became of one trace. */
typedef struct report_row {
    uint64_t seed;
    timeslice_policy policy;
    uint32_t cores, tasks_per_core;
    uint32_t noise; /* the set of tests/sim/draw.h that it was made with */
    bool decidable;
    lb_policy truth, found;
    double probability[REPORT_VERDICTS];
    double seconds; /* CPU time in lb_classify() */
} report_row;

void report_add(report *to, const report_row *row);
void report_print(const report *of);

/* A row as a line of text. False: the file has no further whole line. */
void report_write_row(FILE *file, const report_row *row);
bool report_read_row(FILE *file, report_row *ret_row);

#endif
