/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "classify/progress_parts.h"

#define SPREAD_COUNT 14  /* fewer pairs of windows do not tell */
#define SPREAD_LEAST 0.1 /* of a unit's work: standard deviation over mean */
#define SPREAD_MOST 3.0
#define SPREAD_ROOM ((size_t)1 << 16)

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* By how much two halves of a stretch of time differ, in which a task did `done`, as if single
 * units differed and nothing else. */
static double spread_of(const lbi_progress *p, double off, double done) {
    return (off * off - 6 * p->grain * p->grain) / (p->unit_work * done);
}

/* Neighbouring windows of one interval. Returns how many. */
static size_t window_spreads(const lbi_progress *p, double *values, size_t room) {
    size_t count = 0;
    uint32_t ended = 0;
    for (size_t k = 0; k + 2 < p->bounds; k++) {
        while (ended < p->tasks && p->end[ended] <= k)
            ended++;
        if (ended < p->tasks && p->end[ended] == k + 1)
            continue;
        double first = p->time[k + 1] - p->time[k], second = p->time[k + 2] - p->time[k + 1];
        if (fabs(first / second - 1) > 1e-6)
            continue;
        for (uint32_t i = 0; i < p->tasks && count < room; i++) {
            double done = lbi_done(p, i, k, k + 2), seen = lbi_seen(p, i, k, k + 2);
            if (p->end[i] < k + 2 || seen < 0.9 * (first + second) || done <= 0)
                continue;
            double off = lbi_done(p, i, k + 1, k + 2) - lbi_done(p, i, k, k + 1);
            values[count++] = spread_of(p, off, done);
        }
    }
    return count;
}

/* How much work units of equal length do beside each other: neighbouring windows of one interval
 * tell. Rotation moves some of them apart, so that a low quantile is taken. */
static double unit_spread(const lbi_progress *p, double *values, size_t room) {
    size_t count = window_spreads(p, values, room);
    if (count < SPREAD_COUNT)
        return SPREAD_LEAST;
    qsort(values, count, sizeof *values, by_value);
    double variance = values[(size_t)(0.4 * (double)count)] / 0.275;
    return fmin(fmax(sqrt(fmax(variance, 0)), SPREAD_LEAST), SPREAD_MOST);
}

lb_status lbi_measure_spread(lbi_progress *p, lb_error *err) {
    double *values = lbi_array_new(SPREAD_ROOM, sizeof *values);
    if (values == NULL)
        return lbi_error_nomem(err, "progress");
    p->unit_spread = unit_spread(p, values, SPREAD_ROOM);
    free(values);
    return LB_OK;
}
