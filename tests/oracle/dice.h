/* SPDX-License-Identifier: BSD-3-Clause */
/* Random numbers of the tests' own: splitmix64. */
#ifndef TESTS_DICE_H
#define TESTS_DICE_H

#include <stdint.h>

static inline uint64_t dice_next(uint64_t *dice) {
    uint64_t z = (*dice += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* Uniform in (0, 1). */
static inline double dice_unit(uint64_t *dice) {
    return ((double)(dice_next(dice) >> 11) + 0.5) / 9007199254740992.0;
}

/* Uniform in 0 .. n - 1, but for a bias of n / 2^53. */
static inline int dice_below(uint64_t *dice, int n) {
    return (int)(dice_unit(dice) * n);
}

/* True once in n times. */
static inline int dice_one_in(uint64_t *dice, int n) {
    return dice_below(dice, n) == 0;
}

#endif
