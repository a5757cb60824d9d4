/* SPDX-License-Identifier: BSD-3-Clause */
/* Tasks whose rates nobody can foretell, but which mostly go on as they were: what a policy must
 * beat. Without the going on, any model that gets half of the rates right would win. */
#include <math.h>

#include "classify/likelihood.h"

#define CHANGE 0.1 /* how often a window's rate has nothing to do with the one before */

static double square(double x) {
    return x * x;
}

static double fit_task(const lbi_progress *p, uint32_t task) {
    double log_likelihood = 0, done_so_far = 0, seen_so_far = 0;
    for (size_t k = 0; k < p->end[task]; k++) {
        double seen = lbi_seen(p, task, k, k + 1), done = lbi_done(p, task, k, k + 1);
        if (seen <= 0)
            continue;
        double anew = exp(lbi_log_unexplained(p, seen)), as_before = 0;
        if (seen_so_far > 0) {
            double ratio = seen / seen_so_far, expected = fmax(done_so_far, 0) * ratio;
            double variance = square(p->grain) * 2 * (1 + square(ratio)) +
                              square(LBI_UNIT_SPREAD) * p->unit_work * expected * (1 + ratio) +
                              square(LBI_RATE_SPREAD * expected);
            as_before = exp(-square(done - expected) / (2 * variance)) / sqrt(2 * M_PI * variance);
        }
        double change = seen_so_far > 0 ? CHANGE : 1;
        log_likelihood += log(change * anew + (1 - change) * as_before);
        if (change * anew > (1 - change) * as_before)
            done_so_far = seen_so_far = 0;
        done_so_far += done;
        seen_so_far += seen;
    }
    return log_likelihood;
}

double lbi_background_fit(const lbi_progress *progress) {
    double log_likelihood = 0;
    for (uint32_t i = 0; i < progress->tasks; i++)
        log_likelihood += fit_task(progress, i);
    return log_likelihood;
}
