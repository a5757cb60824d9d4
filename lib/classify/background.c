/* SPDX-License-Identifier: BSD-3-Clause */
/* "None of these": what a policy must beat. Without rivals that follow the rates, any model that
 * gets half of them right would win. */
#include <float.h>
#include <math.h>

#include "classify/likelihood.h"

#define CHANGE 0.1           /* how often a window's rate has nothing to do with the one before */
#define CHANGE_END 0.08      /* how often a list's length changes at an end .. */
#define CHANGE_REST 2e-3     /* .. and at other times */
#define LENGTHS LBI_WAYS_MAX /* of lists */

static double square(double x) {
    return x * x;
}

/* Tasks whose rates nobody can foretell, but which mostly go on as they were. */
static double fit_any_rates(const lbi_progress *p, uint32_t task) {
    lbi_density product = {1, 0};
    double done_so_far = 0, seen_so_far = 0;
    for (size_t k = 0; k < p->end[task]; k++) {
        double seen = lbi_seen(p, task, k, k + 1), done = lbi_done(p, task, k, k + 1);
        if (seen <= 0)
            continue;
        double anew = lbi_unexplained(p, seen), as_before = 0;
        if (seen_so_far > 0) {
            double ratio = seen / seen_so_far, expected = fmax(done_so_far, 0) * ratio;
            double variance = square(p->grain) * 2 * (1 + square(ratio)) +
                              square(p->unit_spread) * p->unit_work * expected * (1 + ratio) +
                              square(LBI_RATE_SPREAD * expected);
            as_before = exp(-square(done - expected) / (2 * variance)) / sqrt(2 * M_PI * variance);
        }
        double change = seen_so_far > 0 ? CHANGE : 1;
        lbi_multiply(&product, change * anew + (1 - change) * as_before);
        if (change * anew > (1 - change) * as_before)
            done_so_far = seen_so_far = 0;
        done_so_far += done;
        seen_so_far += seen;
    }
    return lbi_log_of(&product);
}

/* Lists whose lengths change for no reason that any policy knows, mostly when a task ends: a policy
 * that is none of ours, or one of ours that other load led astray. */
static double fit_any_lists(const lbi_progress *p, uint32_t task, const bool *ends) {
    lbi_density product = {1, 0};
    lbi_way ways[LENGTHS];
    lbi_track track;
    size_t n = p->tasks / p->cores + 3;
    n = n < LENGTHS ? n : LENGTHS;
    for (size_t i = 0; i < n; i++)
        ways[i] = (lbi_way){1.0 / (double)(i + 1), 0, 1.0 / (double)n};
    lbi_track_begin(&track, p);
    for (size_t k = 0; k < p->end[task]; k++) {
        bool unexplained;
        double change = ends[k] ? CHANGE_END : CHANGE_REST;
        for (size_t i = 0; i < n; i++)
            ways[i].weight += change * (1.0 / (double)n - ways[i].weight);
        lbi_multiply(&product, lbi_track_observe(&track, p, ways, n, lbi_done(p, task, k, k + 1),
                                                 lbi_seen(p, task, k, k + 1), &unexplained));
    }
    return lbi_log_of(&product);
}

double lbi_background_fit(const lbi_progress *progress, bool *ends) {
    double rates = 0, lists = 0;
    for (size_t k = 0; k < progress->bounds; k++)
        ends[k] = false;
    for (uint32_t i = 0; i < progress->tasks; i++)
        ends[progress->end[i]] = true;
    for (uint32_t i = 0; i < progress->tasks; i++) {
        rates += fit_any_rates(progress, i);
        lists += fit_any_lists(progress, i, ends);
    }
    double top = fmax(rates, lists);
    return top + log(exp(rates - top) / 2 + exp(lists - top) / 2);
}
