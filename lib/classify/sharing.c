/* SPDX-License-Identifier: BSD-3-Clause */
/* Even sharing. Kernels with a queue per core share evenly by moving the uneven rest of tasks
 * about, so that a task's rate strays from the even share, by as much as lists that differ by one
 * make it, and forgets where it was within the rotation time: an Ornstein-Uhlenbeck process around
 * the even share, whose integral is observed. */
#include <float.h>
#include <math.h>

#include "classify/likelihood.h"

static const double rotation_times[] = {0, 0.02, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6};
static const double log_priors[] = {-1.39, -2.08, -2.08, -2.08, -2.08, -2.08, -2.08, -3.0};
#define TIMES (sizeof rotation_times / sizeof *rotation_times)

typedef struct state {
    double gap;           /* observed minus even progress */
    double wander, stray; /* means: of that gap, and of the rate's deviation */
    double ww, ws, ss;    /* their covariance */
} state;

static double square(double x) {
    return x * x;
}

/* The variance of rates when `tasks` are in lists as even as can be. */
static double uneven(uint32_t tasks, uint32_t cores) {
    if (tasks <= cores)
        return 0;
    double floor_size = tasks / cores, longer = tasks % cores, rate = (double)cores / tasks;
    return (longer / (floor_size + 1) + (cores - longer) / floor_size) / tasks - rate * rate;
}

/* What an end does to its list's mates until others move: their number over all, times the square
 * of what they gain. */
static double kick(uint32_t tasks, uint32_t cores) {
    double size = ceil((double)tasks / cores);
    if (size < 2)
        return 0;
    return (size - 1) / tasks / square(size * (size - 1));
}

static double observe(state *s, const lbi_progress *p, double tau, double stationary, double rate,
                      double length, double done, double seen, bool *ret_unexplained) {
    *ret_unexplained = false;
    double grain = square(p->grain), expected = rate * seen;
    double a = tau > 0 ? exp(-length / tau) : 0;
    double reach = tau * (1 - a) * (length > 0 ? seen / length : 0);
    /* Both means and covariance go forward by the window's length. */
    s->wander += reach * s->stray;
    s->stray *= a;
    double gain = tau > 0 && length > 0 ? square(seen / length) : 0;
    double integral = stationary * tau * (2 * length - tau * (3 - 4 * a + a * a)) * gain;
    double cross = stationary * tau * square(1 - a) * sqrt(gain);
    s->ww += 2 * reach * s->ws + square(reach) * s->ss + fmax(integral, 0) +
             square(LBI_UNIT_SPREAD) * p->unit_work * expected + square(LBI_RATE_SPREAD * expected);
    s->ws = a * (s->ws + reach * s->ss) + cross;
    s->ss = a * a * s->ss + stationary * (1 - a * a);
    if (seen <= 0)
        return 0;
    s->gap += done - expected;
    double spread = s->ww + grain, off = s->gap - s->wander;
    double unexplained = LBI_UNEXPLAINED * exp(lbi_log_unexplained(p, seen));
    double explained =
        (1 - LBI_UNEXPLAINED) * exp(-off * off / (2 * spread)) / sqrt(2 * M_PI * spread);
    if (explained >= unexplained) {
        double kw = s->ww / spread, ks = s->ws / spread;
        s->wander += kw * off;
        s->stray += ks * off;
        s->ss -= ks * s->ws;
        s->ws *= 1 - kw;
        s->ww *= 1 - kw;
    } else {
        *ret_unexplained = true;
        s->wander = s->gap;
        s->ww = grain;
        s->ws = 0;
    }
    return log(explained + unexplained);
}

static double fit_time(const lbi_progress *p, double tau, state *states, double *ret_misfit) {
    double log_likelihood = 0, missed = 0, all = 0;
    uint32_t first = 0; /* tasks are in the order of their ends */
    double before = uneven(p->tasks, p->cores);
    for (uint32_t i = 0; i < p->tasks; i++)
        states[i] = (state){.ww = square(p->grain), .ss = before};
    for (size_t k = 0; k + 1 < p->bounds; k++) {
        uint32_t gone = first;
        while (first < p->tasks && p->end[first] <= k)
            first++;
        uint32_t alive = p->tasks - first;
        double rate = alive > p->cores ? (double)p->cores / alive : 1;
        double stationary = uneven(alive, p->cores), length = p->time[k + 1] - p->time[k];
        double more = first > gone ? (first - gone) * kick(alive + 1, p->cores) : 0;
        for (uint32_t i = first; i < p->tasks; i++) {
            bool unexplained;
            double seen = lbi_seen(p, i, k, k + 1);
            states[i].ss += more;
            log_likelihood += observe(&states[i], p, tau, stationary, rate, length,
                                      lbi_done(p, i, k, k + 1), seen, &unexplained);
            missed += unexplained ? seen : 0;
            all += seen;
        }
    }
    *ret_misfit = all > 0 ? missed / all : 1;
    return log_likelihood;
}

/* How probable it is that no uneven share moved on as long as there were any. */
static double log_still(const lbi_progress *p) {
    double uneven_time = 0, sum = 0;
    uint32_t first = 0;
    for (size_t k = 0; k + 1 < p->bounds; k++) {
        while (first < p->tasks && p->end[first] <= k)
            first++;
        uint32_t alive = p->tasks - first;
        if (alive > p->cores && alive % p->cores != 0)
            uneven_time += p->time[k + 1] - p->time[k];
    }
    for (size_t t = 1; t < TIMES; t++)
        sum += exp(log_priors[t] - uneven_time / rotation_times[t]);
    return log(sum);
}

size_t lbi_sharing_workspace(const lbi_progress *progress) {
    return progress->tasks * (sizeof(state) / sizeof(double));
}

void lbi_sharing_fit(const lbi_progress *progress, double *workspace, lbi_sharing *ret_sharing) {
    state *states = (state *)workspace;
    double logs[TIMES], best = -DBL_MAX, sum = 0;
    for (size_t t = 0; t < TIMES; t++) {
        double misfit;
        logs[t] = fit_time(progress, rotation_times[t], states, &misfit) + log_priors[t];
        if (logs[t] > best) {
            best = logs[t];
            ret_sharing->rotation_time = rotation_times[t];
            ret_sharing->misfit = misfit;
        }
    }
    for (size_t t = 0; t < TIMES; t++)
        sum += exp(logs[t] - best);
    ret_sharing->log_likelihood = best + log(sum);
    ret_sharing->log_still = log_still(progress);
}
