/* SPDX-License-Identifier: BSD-3-Clause */
/* Tasks that take turns make up for a long unit soon: who had to wait is next, so that the progress
 * of two neighbouring stretches differs by a slice or so, however much single units differ. Of
 * units that are drawn by chance the progress differs as much as the units do. */
#include "classify/disorder.h"

#include <math.h>

#define TURNS 4.0     /* times the grain squared, two stretches of turns differ by (squared) */
#define PAIR_MOST 1.5 /* no pair counts for more: some stretches were disturbed */
#define MOST 50.0     /* .. and all together: ends may tell more */
/* Tasks that take turns are far on their side with so many pairs. Pairs that are undecided are odd
 * for them: each irregular one counts so much for chance, up to a bound. */
#define UNDECIDED 0.15
#define UNDECIDED_MOST 4.0
/* Progress that differs by so many standard errors less than by chance is no chance, though it be
 * more than turns leave: tasks in other turns, moves, stolen cores. */
#define ERRORS 4.0
#define WEIGHT 2.0 /* against the tempered likelihoods of policies */

void lbi_disorder_restart(lbi_disorder *d, size_t length) {
    d->half[0] = d->half[1] = (lbi_stretch){0, 0};
    d->durations = 0;
    d->length = length;
    d->units = 0;
    d->which = 0;
}

static void count_pair(lbi_disorder *d) {
    double work = d->half[0].work + d->half[1].work, time = d->half[0].time + d->half[1].time;
    double off = 2 * (d->half[0].work * d->half[1].time - d->half[1].work * d->half[0].time) / time;
    double mean = time / work, units = 2 * (double)d->length;
    double variance = d->durations / units / (mean * mean) - 1; /* of a unit, relative */
    double chance = variance * d->unit_work * work, turns = TURNS * d->grain * d->grain;
    d->pairs++;
    if (!(chance > turns && isfinite(chance)))
        return;
    double log_odds = (log(turns / chance) + off * off * (1 / turns - 1 / chance)) / 2;
    d->irregular++;
    d->log_odds += fmin(fmax(log_odds, -PAIR_MOST), PAIR_MOST);
    d->squares += off * off;
    d->by_chance += chance;
    d->by_turns += turns;
}

void lbi_disorder_unit(lbi_disorder *d, double duration, double work) {
    lbi_stretch *half = &d->half[d->which];
    half->work += work;
    half->time += duration;
    d->durations += (duration / work) * (duration / work);
    if (++d->units < d->length)
        return;
    d->units = 0;
    if (d->which++ == 0)
        return;
    count_pair(d);
    lbi_disorder_restart(d, d->length);
}

double lbi_disorder_log(const lbi_disorder *d) {
    /* A few irregular stretches are no disorder. */
    double n = (double)d->irregular;
    if (2 * d->irregular < d->pairs || d->squares < (1 - ERRORS * sqrt(2 / n)) * d->by_chance)
        return 0;
    double undecided = fmin(UNDECIDED * n, UNDECIDED_MOST);
    return fmin(fmax(WEIGHT * (d->log_odds + undecided), 0), MOST);
}
