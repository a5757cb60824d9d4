/* SPDX-License-Identifier: BSD-3-Clause */
/* Random small problems over all that the model has, and smaller ones of a kind. */
#ifndef TESTS_PROBLEMS_H
#define TESTS_PROBLEMS_H

#include "oracle.h"

/* Half of them on a coarse grid of times, so that many things happen at one instant. */
void problem_draw(uint64_t *dice, struct oracle_problem *ret_problem);
/* The same with 25 processes to as many as there can be: too many to weigh their choices. */
void problem_draw_large(uint64_t *dice, struct oracle_problem *ret_problem);

/* Makes a problem on which `fails` as small and plain as it can, and keeps it failing. */
typedef bool (*problem_fails)(const struct oracle_problem *problem, void *user);
void problem_shrink(struct oracle_problem *problem, problem_fails fails, void *user);

/* Takes process i and its events out. */
void problem_drop(struct oracle_problem *problem, int i);

#endif
