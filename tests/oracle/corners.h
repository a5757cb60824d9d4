/* SPDX-License-Identifier: BSD-3-Clause */
/* Small corners of the model, worked out by hand: what each process must take. */
#ifndef TESTS_CORNERS_H
#define TESTS_CORNERS_H

#include "oracle.h"

struct corner {
    const char *why;
    struct oracle_problem problem;
    double expected[4]; /* INFINITY: it never completes */
};

extern const struct corner corners[];
extern const size_t corner_count;

#endif
