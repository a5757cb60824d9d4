/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/random.h"

#include <math.h>

#define GOLDEN UINT64_C(0x9e3779b97f4a7c15)

uint64_t lbi_mix(uint64_t value) {
    value = (value ^ (value >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    value = (value ^ (value >> 27)) * UINT64_C(0x94d049bb133111eb);
    return value ^ (value >> 31);
}

void lbi_random_seed(lbi_random *random, uint64_t seed) {
    for (int i = 0; i < 4; i++)
        random->state[i] = lbi_mix(seed += GOLDEN);
}

static uint64_t rotate(uint64_t value, int by) {
    return (value << by) | (value >> (64 - by));
}

uint64_t lbi_random_next(lbi_random *random) {
    uint64_t *s = random->state;
    uint64_t result = rotate(s[0] + s[3], 23) + s[0];
    uint64_t shifted = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = rotate(s[3], 45);
    return result;
}

/* The 128-bit product, without a 128-bit type, which ISO C lacks. */
static uint64_t multiply_high(uint64_t a, uint64_t b, uint64_t *ret_low) {
    uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    uint64_t middle = a1 * b0 + ((a0 * b0) >> 32);
    uint64_t other = a0 * b1 + (uint32_t)middle;
    *ret_low = a * b;
    return a1 * b1 + (middle >> 32) + (other >> 32);
}

uint64_t lbi_random_below(lbi_random *random, uint64_t n) {
    uint64_t low, high = multiply_high(lbi_random_next(random), n, &low);
    if (low < n) {
        uint64_t least = (0 - n) % n;
        while (low < least)
            high = multiply_high(lbi_random_next(random), n, &low);
    }
    return high;
}

double lbi_random_unit(lbi_random *random) {
    return ((double)(lbi_random_next(random) >> 11) + 0.5) * 0x1p-53;
}

double lbi_random_exponential(lbi_random *random, double mean) {
    return -mean * log(lbi_random_unit(random));
}
