/* SPDX-License-Identifier: BSD-3-Clause */
/* Sorting indices by the doubles that they stand for: radix sort of packed words. */
#ifndef LBI_MODEL_ORDER_H
#define LBI_MODEL_ORDER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* An index, and above it the 32 bits of its key in which keys differ first. */
typedef uint64_t lbi_item;

static inline uint32_t lbi_item_index(lbi_item item) {
    return (uint32_t)item;
}

/* Keys are 0 or more, so that their bits are in the order of their values. */
static inline uint64_t lbi_key_bits(double key) {
    uint64_t bits;
    key += 0.0; /* -0 becomes 0 */
    memcpy(&bits, &key, sizeof bits);
    return bits;
}

static inline lbi_item lbi_item_pack(double key, unsigned shift, uint32_t index) {
    return (lbi_key_bits(key) >> shift) << 32 | index;
}

/* By how much to shift a key's bits so that its low 32 tell most keys apart. */
unsigned lbi_key_shift(const double *keys, size_t n);

/* Sorts packed items by their keys, equal keys by index. `scratch` has room for n. */
void lbi_order(lbi_item *items, lbi_item *scratch, size_t n, const double *keys);

#endif
