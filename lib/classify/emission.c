/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "classify/likelihood.h"

#define BEHIND 1000.0 /* nobody catches up with that */
#define FAR                                                                                        \
    80.0 /* squared deviations from which on a density is taken for 0 (it is below e^-40)          \
          */
#define FITS_NEITHER 1e-6 /* below that of the unexplained density all rates are equally wrong */

static double square(double x) {
    return x * x;
}

static double normal(double off, double variance) {
    return exp(-off * off / (2 * variance)) / sqrt(2 * M_PI * variance);
}

double lbi_unexplained(const lbi_progress *progress, double seen) {
    return 1 / (seen + 4 * progress->grain);
}

double lbi_log_rate(const lbi_progress *p, uint32_t task, size_t from, size_t to, double rate) {
    double seen = lbi_seen(p, task, from, to), expected = rate * seen;
    if (seen <= 0)
        return 0;
    double variance = 2 * square(p->grain) + square(p->unit_spread) * p->unit_work * expected +
                      square(LBI_RATE_SPREAD * expected);
    return log(normal(lbi_done(p, task, from, to) - expected, variance) +
               FITS_NEITHER * lbi_unexplained(p, seen));
}

void lbi_track_begin(lbi_track *track, const lbi_progress *progress) {
    *track = (lbi_track){0, square(progress->grain)};
}

/* Each way has its own opinion of how far ahead observed progress is then; they are put together to
 * one mean and variance. */
double lbi_track_observe(lbi_track *track, const lbi_progress *progress, lbi_way *ways, size_t n,
                         double done, double seen, bool *ret_unexplained) {
    double weights[LBI_WAYS_MAX];
    *ret_unexplained = false;
    if (seen <= 0)
        return 1;
    double grain = square(progress->grain), total = 0, ahead = 0, squares = 0;
    double wander = square(progress->unit_spread) * progress->unit_work;
    for (size_t i = 0; i < n; i++) {
        double expected = ways[i].rate * seen;
        double variance = track->variance + grain + wander * expected +
                          square(LBI_RATE_SPREAD * expected) + ways[i].variance * square(seen);
        double innovation = done - expected + track->ahead, gain = grain / variance;
        weights[i] = 0;
        if (square(innovation) > FAR * variance)
            continue;
        weights[i] = (1 - LBI_UNEXPLAINED) * ways[i].weight * normal(innovation, variance);
        total += weights[i];
        ahead += weights[i] * gain * innovation;
        squares += weights[i] * (grain - grain * gain + square(gain * innovation));
    }
    double unexplained = LBI_UNEXPLAINED * lbi_unexplained(progress, seen);
    if (total < unexplained) {
        *ret_unexplained = true;
        lbi_track_begin(track, progress);
        return total + unexplained;
    }
    for (size_t i = 0; i < n; i++)
        ways[i].weight = weights[i] / total;
    track->ahead = ahead / total;
    track->variance = fmax(squares / total - square(track->ahead), 0);
    return total + unexplained;
}

void lbi_multiply(lbi_density *product, double factor) {
    product->rest *= factor;
    if (product->rest < 1e-150 || product->rest > 1e150) {
        product->log += log(product->rest);
        product->rest = 1;
    }
}

double lbi_log_of(const lbi_density *product) {
    return product->log + log(product->rest);
}

bool lbi_pace_note(lbi_pace *pace, const lbi_progress *progress, size_t bound,
                   double log_likelihood) {
    double unscaled = log_likelihood + (double)progress->observed[bound] * log(progress->factor);
    if (unscaled > pace->best[bound])
        pace->best[bound] = unscaled;
    return unscaled < pace->best[bound] - BEHIND;
}
