/* SPDX-License-Identifier: BSD-3-Clause */
/* The library's realisations against the oracle's, where there are too many to weigh. */
#ifndef TESTS_DRAWS_H
#define TESTS_DRAWS_H

#include "oracle.h"

/* Whether `draws` of either have the same means, variances and completions, to 5 standard errors.
 * A chance deviation does not survive ten times as many. Says what differs in the end. */
bool draws_agree(const struct oracle_problem *problem, uint64_t seed, int draws);

#endif
