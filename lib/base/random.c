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

double lbi_random_unit(lbi_random *random) {
    return ((double)(lbi_random_next(random) >> 11) + 0.5) * 0x1p-53;
}

double lbi_random_exponential(lbi_random *random, double mean) {
    return -mean * log(lbi_random_unit(random));
}
