/* SPDX-License-Identifier: BSD-3-Clause */
/* How much CPU time a unit of progress may be. */
#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "classify/progress_parts.h"

#define SCALE_WAITS 5 /* an interval must last that many waits to tell the scale */
#define SCALE_QUANTILE 0.3
#define SCALE_SAME 0.01

typedef struct share {
    double factor, weight;
} share;

static int by_factor(const void *a, const void *b) {
    const share *x = a, *y = b;
    return (x->factor > y->factor) - (x->factor < y->factor);
}

/* Progress in an interval, all tasks together, if all its time had been observed. */
static double progress_of_all(const lbi_progress *p, uint32_t first, size_t from, size_t to) {
    double work = 0;
    uint32_t known = 0;
    for (uint32_t i = first; i < p->tasks; i++) {
        double seen = lbi_seen(p, i, from, to);
        if (seen <= 0)
            continue;
        work += lbi_done(p, i, from, to) / seen;
        known++;
    }
    uint32_t alive = p->tasks - first;
    return 2 * known < alive ? 0 : work * alive / known * (p->time[to] - p->time[from]);
}

/* Takes a factor for a candidate unless there is one much like it. */
static void propose(lbi_progress *p, double factor) {
    if (!isfinite(factor) || factor <= 0)
        return;
    for (size_t i = 0; i < p->scales; i++)
        if (fabs(p->scale[i] / factor - 1) < SCALE_SAME)
            return;
    p->scale[p->scales++] = factor;
}

/* While every core works, progress adds up to the number of cores. In some intervals a core is idle
 * (or stolen), and these ask for a larger factor than is true: so not the middle one of all
 * intervals' factors counts, but a lower one. */
static double common_factor(const lbi_progress *p, share *shares) {
    size_t count = 0;
    double all = 0, sum = 0;
    for (int coarse = 0; coarse < 2 && count == 0; coarse++)
        for (uint32_t first = 0; first < p->tasks; first++) {
            size_t from = first == 0 ? 0 : p->end[first - 1], to = p->end[first];
            uint32_t alive = p->tasks - first;
            double length = p->time[to] - p->time[from];
            if (length <= 0 || (coarse == 0 && length < SCALE_WAITS * p->wait))
                continue;
            double work = progress_of_all(p, first, from, to);
            double factor = (alive < p->cores ? alive : p->cores) * length / work;
            if (!isfinite(factor) || factor <= 0)
                continue;
            shares[count++] = (share){factor, length};
            all += length;
        }
    qsort(shares, count, sizeof *shares, by_factor);
    for (size_t i = 0; i < count; i++) {
        sum += shares[i].weight;
        if (sum >= SCALE_QUANTILE * all)
            return shares[i].factor;
    }
    return NAN;
}

/* As long as no list can have run dry, if all are of one length: the first so many intervals. */
static double early_factor(const lbi_progress *p) {
    uint32_t ends = p->tasks / p->cores;
    double work = 0, length = 0;
    for (uint32_t first = 0; first < ends; first++) {
        size_t from = first == 0 ? 0 : p->end[first - 1], to = p->end[first];
        work += progress_of_all(p, first, from, to);
        length += p->time[to] - p->time[from];
    }
    return p->cores * length / work;
}

lb_status lbi_propose_scales(lbi_progress *p, double mean_cpu, double unit_work, lb_error *err) {
    share *shares = lbi_array_new(p->tasks, sizeof *shares);
    if (shares == NULL)
        return lbi_error_nomem(err, "progress");
    propose(p, early_factor(p));
    propose(p, common_factor(p, shares));
    p->known_scale = mean_cpu > 0 ? 1 : unit_work / p->unit_work;
    propose(p, p->known_scale);
    if (p->scales == 0)
        p->unusable = LBI_TOO_COARSE;
    free(shares);
    return LB_OK;
}

void lbi_progress_scale(lbi_progress *p, double factor) {
    for (size_t j = 0; j < p->bounds * p->tasks; j++)
        p->done[j] *= factor;
    p->unit_work *= factor;
    p->grain *= factor;
    p->factor *= factor;
}
