/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "classify/likelihood.h"

#define FITS_NEITHER 1e-6 /* below that of the unexplained density all rates are equally wrong */

static double square(double x) {
    return x * x;
}

static double normal(double off, double variance) {
    return exp(-off * off / (2 * variance)) / sqrt(2 * M_PI * variance);
}

double lbi_log_unexplained(const lbi_progress *progress, double seen) {
    return -log(seen + 4 * progress->grain);
}

double lbi_log_rate(const lbi_progress *p, uint32_t task, size_t from, size_t to, double rate) {
    double seen = lbi_seen(p, task, from, to), expected = rate * seen;
    if (seen <= 0)
        return 0;
    double variance = 2 * square(p->grain) + square(p->unit_spread) * p->unit_work * expected +
                      square(LBI_RATE_SPREAD * expected);
    return log(normal(lbi_done(p, task, from, to) - expected, variance) +
               FITS_NEITHER * exp(lbi_log_unexplained(p, seen)));
}

void lbi_track_begin(lbi_track *track, const lbi_progress *progress) {
    *track = (lbi_track){0, square(progress->grain)};
}

/* Each way has its own opinion of how far ahead observed progress is then; they are put together to
 * one mean and variance. */
double lbi_track_observe(lbi_track *track, const lbi_progress *progress, lbi_way *ways, size_t n,
                         double done, double seen, bool *ret_unexplained) {
    *ret_unexplained = false;
    if (seen <= 0)
        return 0;
    double grain = square(progress->grain), total = 0, ahead = 0, squares = 0;
    double wander = square(progress->unit_spread) * progress->unit_work;
    for (size_t i = 0; i < n; i++) {
        double expected = ways[i].rate * seen;
        double variance = track->variance + grain + wander * expected +
                          square(LBI_RATE_SPREAD * expected) + ways[i].variance * square(seen);
        double innovation = done - expected + track->ahead, gain = grain / variance;
        double weight = (1 - LBI_UNEXPLAINED) * ways[i].weight * normal(innovation, variance);
        total += weight;
        ahead += weight * gain * innovation;
        squares += weight * (grain - grain * gain + square(gain * innovation));
    }
    double unexplained = LBI_UNEXPLAINED * exp(lbi_log_unexplained(progress, seen));
    if (total < unexplained) {
        *ret_unexplained = true;
        lbi_track_begin(track, progress);
        return log(total + unexplained);
    }
    for (size_t i = 0; i < n; i++) {
        double expected = ways[i].rate * seen;
        double variance = track->variance + grain + wander * expected +
                          square(LBI_RATE_SPREAD * expected) + ways[i].variance * square(seen);
        ways[i].weight *=
            (1 - LBI_UNEXPLAINED) * normal(done - expected + track->ahead, variance) / total;
    }
    track->ahead = ahead / total;
    track->variance = fmax(squares / total - square(track->ahead), 0);
    return log(total + unexplained);
}
