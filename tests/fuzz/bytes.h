/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers out of the bytes that a fuzzing program is given; 0 once they are used up. */
#ifndef TESTS_FUZZ_BYTES_H
#define TESTS_FUZZ_BYTES_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

typedef struct bytes {
    const uint8_t *next, *end;
} bytes;

static inline uint8_t take_byte(bytes *from) {
    return from->next < from->end ? *from->next++ : 0;
}

/* 0 to 31.75 in quarters, so that instants meet; or whatever is between, from two bytes more. */
static inline double take_time(bytes *from) {
    uint8_t b = take_byte(from);
    if (b < 128)
        return b / 4.0;
    return ldexp(1 + take_byte(from) / 256.0 + take_byte(from) / 65536.0, b % 16 - 10);
}

/* Works: as times, and now and then one without end. */
static inline double take_work(bytes *from) {
    if (from->next < from->end && *from->next == 255) {
        from->next++;
        return INFINITY;
    }
    return take_time(from);
}

/* 1 mostly, else a power of two within what is exact. */
static inline double take_weight(bytes *from) {
    uint8_t b = take_byte(from);
    return b < 128 ? 1 : ldexp(1 + b % 4 / 4.0, (b >> 2) % 32 - 16);
}

#endif
