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

static inline uint64_t lbi_rotate_left(uint64_t value, int by) {
    return (value << by) | (value >> (64 - by));
}

static inline uint64_t lbi_random_next(lbi_random *random) {
    uint64_t *s = random->state;
    uint64_t result = lbi_rotate_left(s[0] + s[3], 23) + s[0];
    uint64_t shifted = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = lbi_rotate_left(s[3], 45);
    return result;
}

/* The 128-bit product, without a 128-bit type, which ISO C lacks. */
static inline uint64_t lbi_multiply_high(uint64_t a, uint64_t b, uint64_t *ret_low) {
    uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    uint64_t middle = a1 * b0 + ((a0 * b0) >> 32);
    uint64_t other = a0 * b1 + (uint32_t)middle;
    *ret_low = a * b;
    return a1 * b1 + (middle >> 32) + (other >> 32);
}

/* Uniform in 0 .. n - 1, exactly (Lemire's method); n > 0. */
static inline uint64_t lbi_random_below(lbi_random *random, uint64_t n) {
    uint64_t low, high = lbi_multiply_high(lbi_random_next(random), n, &low);
    if (low < n) {
        uint64_t least = (0 - n) % n;
        while (low < least)
            high = lbi_multiply_high(lbi_random_next(random), n, &low);
    }
    return high;
}

/* Uniform in the open interval (0, 1). */
double lbi_random_unit(lbi_random *random);
/* Exponential with that mean. */
double lbi_random_exponential(lbi_random *random, double mean);

#endif
