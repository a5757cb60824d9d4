/* SPDX-License-Identifier: BSD-3-Clause */
/* Random numbers: xoshiro256++ (Blackman and Vigna, 2019), seeded through splitmix64. */
#ifndef LBI_BASE_RANDOM_H
#define LBI_BASE_RANDOM_H

#include <stdint.h>

typedef struct lbi_random {
    uint64_t state[4];
} lbi_random;

/* A bijection of 64 bits that leaves no pattern (splitmix64's finaliser). */
uint64_t lbi_mix(uint64_t value);

void lbi_random_seed(lbi_random *random, uint64_t seed);
uint64_t lbi_random_next(lbi_random *random);
/* Uniform in 0 .. n - 1, exactly (Lemire's method); n > 0. */
uint64_t lbi_random_below(lbi_random *random, uint64_t n);
/* Uniform in the open interval (0, 1). */
double lbi_random_unit(lbi_random *random);
/* Exponential with that mean. */
double lbi_random_exponential(lbi_random *random, double mean);

#endif
