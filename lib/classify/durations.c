/* SPDX-License-Identifier: BSD-3-Clause */
/* How coarse time is: durations of units, block by block. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "classify/progress_parts.h"

/* Units of one task whose durations are judged together; shorter blocks where each unit holds a
 * wait or more. Less than a quarter of that is judged by the whole trace. */
#define BLOCK 256
#define BLOCK_SHORT 64
#define STRETCH_LONG 2.0   /* units that a task gets at a stretch, from which on few units wait */
#define TYPICAL 0.65       /* of all time passes in units up to the typical duration */
#define WAITED 1.5         /* blocks waited whose units last so many times those .. */
#define ALONE_QUANTILE 0.1 /* .. of the fastest, but for so many */

/* Durations by size, eight classes an octave: the bits of the double above the third of its
 * fraction. */
#define BIN_SHIFT 49
#define BINS 1024
#define BIN_FIRST (UINT64_C(1000) << 3) /* 2^-23 s */

typedef struct histogram {
    double time[BINS]; /* total duration of the units in a class */
    double total;
    unsigned low, high;
} histogram;

static void histogram_clear(histogram *h) {
    if (h->total > 0)
        memset(h->time + h->low, 0, (h->high - h->low + 1) * sizeof *h->time);
    h->total = 0;
    h->low = BINS;
    h->high = 0;
}

static void histogram_add(histogram *h, double duration) {
    uint64_t bits;
    memcpy(&bits, &duration, sizeof bits);
    bits >>= BIN_SHIFT;
    unsigned bin = bits < BIN_FIRST              ? 0
                   : bits - BIN_FIRST > BINS - 1 ? BINS - 1
                                                 : (unsigned)(bits - BIN_FIRST);
    h->time[bin] += duration;
    h->total += duration;
    h->low = bin < h->low ? bin : h->low;
    h->high = bin > h->high ? bin : h->high;
}

/* The duration up to which most of all time passes. Where slices are long against units most units
 * take no wait and few take all of it: those few are what time consists of (half of it where two
 * tasks share a core), while outliers, as rare, are not. */
static double typical_duration(const histogram *h) {
    double sum = 0;
    for (unsigned bin = h->low; bin <= h->high; bin++) {
        sum += h->time[bin];
        if (sum >= h->total * TYPICAL) {
            uint64_t bits = ((uint64_t)bin + BIN_FIRST) << BIN_SHIFT | UINT64_C(1)
                                                                           << (BIN_SHIFT - 1);
            double middle;
            memcpy(&middle, &bits, sizeof middle);
            return middle;
        }
    }
    return 0;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

size_t lbi_block_length(size_t block, size_t left) {
    return left < 2 * block ? left : block;
}

/* The mean duration from which on a block's units must have waited for each other: where tasks run
 * alone nobody sees how long slices are. 0: there are none such, or all are. */
static double waiting_mean(const lbi_durations *c) {
    memcpy(c->values, c->mean, c->blocks * sizeof *c->values);
    qsort(c->values, c->blocks, sizeof *c->values, by_value);
    double limit = WAITED * c->values[(size_t)(ALONE_QUANTILE * (double)c->blocks)];
    return c->values[c->blocks - 1] >= limit ? limit : 0;
}

/* The units of the blocks that waited. */
static void histogram_waiting(const lbi_progress *p, const lb_unit *units, const lbi_span *spans,
                              const lbi_durations *c, double limit, histogram *ret) {
    size_t block = 0;
    histogram_clear(ret);
    for (uint32_t i = 0; i < p->tasks; i++)
        for (size_t at = 0; at < spans[i].count; block++) {
            const lb_unit *u = units + spans[i].first + at;
            size_t length = lbi_block_length(c->block, spans[i].count - at);
            for (size_t j = 0; j < length && c->mean[block] >= limit; j++)
                histogram_add(ret, lbi_duration_of(u + j));
            at += length;
        }
}

/* Units of CPU time that a task gets at a stretch. */
static double typical_stretch(const lbi_durations *c, double limit) {
    size_t count = 0;
    for (size_t b = 0; b < c->blocks; b++) {
        double stretch = c->typical[b] / c->mean[b];
        /* A block without time has no stretch. */
        if (c->mean[b] >= limit && isfinite(stretch))
            c->values[count++] = stretch;
    }
    qsort(c->values, count, sizeof *c->values, by_value);
    return count > 0 ? c->values[count / 2] : 1;
}

static void measure(lbi_progress *p, const lb_unit *units, const lbi_span *spans, histogram *local,
                    histogram *whole, lbi_durations *c) {
    c->blocks = 0;
    histogram_clear(whole);
    for (uint32_t i = 0; i < p->tasks; i++)
        for (size_t at = 0; at < spans[i].count;
             at += lbi_block_length(c->block, spans[i].count - at)) {
            const lb_unit *u = units + spans[i].first + at;
            size_t length = lbi_block_length(c->block, spans[i].count - at);
            histogram_clear(local);
            for (size_t j = 0; j < length; j++) {
                double duration = lbi_duration_of(u + j);
                histogram_add(local, duration);
                histogram_add(whole, duration);
                p->least = fmin(p->least, duration);
            }
            c->typical[c->blocks] = typical_duration(local);
            c->mean[c->blocks++] = local->total / (double)length;
        }
    double limit = waiting_mean(c);
    if (limit > 0)
        histogram_waiting(p, units, spans, c, limit, whole);
    p->wait = typical_duration(whole);
    p->grain = typical_stretch(c, limit);
    size_t block = 0;
    for (uint32_t i = 0; i < p->tasks; i++)
        for (size_t at = 0; at < spans[i].count; block++) {
            size_t length = lbi_block_length(c->block, spans[i].count - at);
            if (length < c->block / 4)
                c->typical[block] = p->wait;
            at += length;
        }
}

lb_status lbi_durations_measure(lbi_progress *p, const lb_unit *units, const lbi_span *spans,
                                lbi_durations *ret, lb_error *err) {
    size_t blocks = p->units / BLOCK_SHORT + p->tasks + 1;
    *ret = (lbi_durations){lbi_array_new(blocks, sizeof *ret->typical),
                           lbi_array_new(blocks, sizeof *ret->mean),
                           lbi_array_new(blocks, sizeof *ret->values), .block = BLOCK};
    histogram *histograms = calloc(2, sizeof *histograms);
    bool ok =
        ret->typical != NULL && ret->mean != NULL && ret->values != NULL && histograms != NULL;
    if (ok) {
        measure(p, units, spans, &histograms[0], &histograms[1], ret);
        ret->many_a_slice = p->grain >= STRETCH_LONG;
        if (!ret->many_a_slice) {
            ret->block = BLOCK_SHORT;
            measure(p, units, spans, &histograms[0], &histograms[1], ret);
        }
    }
    free(histograms);
    return ok ? LB_OK : lbi_error_nomem(err, "durations");
}

void lbi_durations_free(lbi_durations *durations) {
    free(durations->typical);
    free(durations->mean);
    free(durations->values);
    *durations = (lbi_durations){0};
}
