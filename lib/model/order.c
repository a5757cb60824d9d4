/* SPDX-License-Identifier: BSD-3-Clause */
#include "order.h"

enum {
    DIGIT = 11,
    VALUES = 1 << DIGIT,
    PASSES = 3,
    FEW = 24
};

static unsigned shift_between(uint64_t least, uint64_t most) {
    unsigned bits = 0;
    for (uint64_t apart = least ^ most; apart != 0; apart >>= 1)
        bits++;
    return bits > 32 ? bits - 32 : 0;
}

unsigned lbi_key_shift(const double *keys, size_t n) {
    uint64_t least = UINT64_MAX, most = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t bits = lbi_key_bits(keys[i]);
        least = bits < least ? bits : least;
        most = bits > most ? bits : most;
    }
    return n == 0 ? 0 : shift_between(least, most);
}

static int precedes(lbi_item a, lbi_item b, const double *keys) {
    double left = keys[lbi_item_index(a)], right = keys[lbi_item_index(b)];
    return left != right ? left < right : lbi_item_index(a) < lbi_item_index(b);
}

static void insert_each(lbi_item *items, size_t n, const double *keys) {
    for (size_t i = 1; i < n; i++) {
        lbi_item item = items[i];
        size_t k = i;
        for (; k > 0 && precedes(item, items[k - 1], keys); k--)
            items[k] = items[k - 1];
        items[k] = item;
    }
}

/* Items that the packed bits do not tell apart: by what lies below these bits. */
static void order_alike(lbi_item *items, lbi_item *scratch, size_t n, const double *keys) {
    if (n <= FEW) {
        insert_each(items, n, keys);
        return;
    }
    uint64_t least = UINT64_MAX, most = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t bits = lbi_key_bits(keys[lbi_item_index(items[i])]);
        least = bits < least ? bits : least;
        most = bits > most ? bits : most;
    }
    if (least == most)
        return; /* the sort before was stable */
    unsigned shift = shift_between(least, most);
    for (size_t i = 0; i < n; i++)
        items[i] = lbi_item_pack(keys[lbi_item_index(items[i])], shift, lbi_item_index(items[i]));
    lbi_order(items, scratch, n, keys);
}

static void distribute(const lbi_item *from, lbi_item *to, size_t n, unsigned shift,
                       uint32_t counts[VALUES]) {
    uint32_t sum = 0;
    for (size_t v = 0; v < VALUES; v++) {
        uint32_t count = counts[v];
        counts[v] = sum;
        sum += count;
    }
    for (size_t i = 0; i < n; i++)
        to[counts[from[i] >> shift & (VALUES - 1)]++] = from[i];
}

void lbi_order(lbi_item *items, lbi_item *scratch, size_t n, const double *keys) {
    if (n <= FEW) {
        insert_each(items, n, keys);
        return;
    }
    uint32_t counts[PASSES][VALUES] = {{0}};
    for (size_t i = 0; i < n; i++) {
        counts[0][items[i] >> 32 & (VALUES - 1)]++;
        counts[1][items[i] >> (32 + DIGIT) & (VALUES - 1)]++;
        counts[2][items[i] >> (32 + 2 * DIGIT) & (VALUES - 1)]++;
    }
    lbi_item *from = items, *to = scratch;
    for (unsigned pass = 0; pass < PASSES; pass++) {
        unsigned shift = 32 + pass * DIGIT;
        if (counts[pass][from[0] >> shift & (VALUES - 1)] == n)
            continue; /* all alike in this digit */
        distribute(from, to, n, shift, counts[pass]);
        lbi_item *other = from;
        from = to;
        to = other;
    }
    if (from != items)
        memcpy(items, from, n * sizeof *items);
    for (size_t first = 0, end; first < n; first = end) {
        end = first + 1;
        while (end < n && items[end] >> 32 == items[first] >> 32)
            end++;
        if (end - first > 1)
            order_alike(items + first, scratch + first, end - first, keys);
    }
}
