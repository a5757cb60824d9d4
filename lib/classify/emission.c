/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "classify/likelihood.h"

static double square(double x) {
    return x * x;
}

double lbi_log_unexplained(const lbi_progress *progress, double seen) {
    return -log(seen + 4 * progress->grain);
}

void lbi_track_begin(lbi_track *track, const lbi_progress *progress) {
    *track = (lbi_track){0, 0, square(progress->grain)};
}

double lbi_track_observe(lbi_track *track, const lbi_progress *progress, double rate, double done,
                         double seen, bool *ret_unexplained) {
    *ret_unexplained = false;
    if (seen <= 0)
        return 0;
    double grain = square(progress->grain), expected = rate * seen;
    track->gap += done - expected;
    double variance = track->variance + square(LBI_UNIT_SPREAD) * progress->unit_work * expected +
                      square(LBI_RATE_SPREAD * expected);
    double spread = variance + grain, off = track->gap - track->mean;
    double unexplained = LBI_UNEXPLAINED * exp(lbi_log_unexplained(progress, seen));
    double explained =
        (1 - LBI_UNEXPLAINED) * exp(-off * off / (2 * spread)) / sqrt(2 * M_PI * spread);
    if (explained >= unexplained) {
        track->mean += variance / spread * off;
        track->variance = variance * grain / spread;
    } else {
        *ret_unexplained = true;
        track->mean = track->gap;
        track->variance = grain;
    }
    return log(explained + unexplained);
}
