/* SPDX-License-Identifier: BSD-3-Clause */
/* A winner tree over the times of the lists' next completions. Eight children to a node, which fill
 * a cache line: few levels, and hardly a branch to foresee. */
#ifndef LBI_MODEL_NEXT_TREE_H
#define LBI_MODEL_NEXT_TREE_H

#include <stdint.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* Where it begins; that way every node's children are a cache line. */
enum {
    LBI_NEXT_ROOT = 7
};
static inline uint32_t lbi_next_children(uint32_t node) {
    return 8 * (node - 6);
}
static inline uint32_t lbi_next_parent(uint32_t node) {
    return node / 8 + 6;
}

#ifdef __SSE2__

static inline double lbi_next_least(const double *children) {
    __m128d a = _mm_min_pd(_mm_load_pd(children), _mm_load_pd(children + 2));
    __m128d b = _mm_min_pd(_mm_load_pd(children + 4), _mm_load_pd(children + 6));
    a = _mm_min_pd(a, b);
    return _mm_cvtsd_f64(_mm_min_sd(a, _mm_unpackhi_pd(a, a)));
}

/* A bit for each child that is `limit` or less. */
static inline unsigned lbi_next_due(const double *children, double limit) {
    __m128d most = _mm_set1_pd(limit);
    unsigned due = 0;
    for (int k = 0; k < 8; k += 2)
        due |= (unsigned)_mm_movemask_pd(_mm_cmple_pd(_mm_load_pd(children + k), most)) << k;
    return due;
}

/* By twos, as they are read: a wider load would wait until all stores before it have reached the
 * cache, and some of them miss it. */
static inline void lbi_next_put(double *tree, uint32_t node, double time) {
    __m128d *pair = (__m128d *)(tree + (node & ~1u));
    __m128i odd = _mm_set1_epi32(-(int)(node & 1)), all = _mm_set1_epi32(-1);
    __m128d lane = _mm_castsi128_pd(_mm_unpacklo_epi64(_mm_andnot_si128(odd, all), odd));
    *pair = _mm_or_pd(_mm_and_pd(lane, _mm_set1_pd(time)), _mm_andnot_pd(lane, *pair));
}

#else

static inline double lbi_next_least(const double *children) {
    double least = children[0];
    for (int k = 1; k < 8; k++)
        least = children[k] < least ? children[k] : least;
    return least;
}

static inline unsigned lbi_next_due(const double *children, double limit) {
    unsigned due = 0;
    for (unsigned k = 0; k < 8; k++)
        due |= (unsigned)(children[k] <= limit) << k;
    return due;
}

static inline void lbi_next_put(double *tree, uint32_t node, double time) {
    tree[node] = time;
}

#endif

static inline void lbi_next_set(double *tree, uint32_t node, double time) {
    for (;;) {
        lbi_next_put(tree, node, time);
        if (node <= LBI_NEXT_ROOT)
            return;
        time = lbi_next_least(tree + node / 8 * 8);
        node = lbi_next_parent(node);
    }
}

#endif
