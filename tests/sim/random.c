/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "internal.h"

uint64_t random_next(random_stream *random) {
    uint64_t z = random->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

double random_unit(random_stream *random) {
    return ((double)(random_next(random) >> 12) + 0.5) * 0x1p-52;
}

/* The bias of n / 2^53 is far below what any test could see. */
uint32_t random_below(random_stream *random, uint32_t n) {
    return (uint32_t)(random_unit(random) * n);
}

double random_normal(random_stream *random) {
    double radius = sqrt(-2 * log(random_unit(random)));
    return radius * cos(6.283185307179586 * random_unit(random));
}

void random_shuffle(random_stream *random, uint32_t *values, uint32_t n) {
    for (uint32_t i = n; i > 1; i--) {
        uint32_t j = random_below(random, i);
        uint32_t swapped = values[i - 1];
        values[i - 1] = values[j];
        values[j] = swapped;
    }
}

int64_t nanoseconds(double seconds) {
    return (int64_t)llround(seconds * 1e9);
}
