/* SPDX-License-Identifier: BSD-3-Clause */
#include "moments.h"

#include <math.h>

void lbi_moments_clear(lbi_moments *moments, size_t count) {
    for (size_t i = 0; i < count; i++)
        moments[i] = (lbi_moments){.min = INFINITY, .max = -INFINITY};
}

void lbi_moments_add(lbi_moments *moments, const double *durations, size_t count, double weight) {
    for (size_t i = 0; i < count; i++) {
        lbi_moments *m = &moments[i];
        double duration = durations[i];
        if (duration == INFINITY) {
            m->missed += weight;
            continue;
        }
        /* West's update: exact where all durations are the same. */
        double delta = duration - m->mean;
        m->weight += weight;
        double step = delta * (weight / m->weight);
        m->mean = m->weight == weight ? duration : m->mean + step;
        m->square += weight * delta * (duration - m->mean);
        m->min = duration < m->min ? duration : m->min;
        m->max = duration > m->max ? duration : m->max;
    }
}

void lbi_moments_join(lbi_moments *into, const lbi_moments *from, size_t count) {
    for (size_t i = 0; i < count; i++) {
        lbi_moments *a = &into[i];
        const lbi_moments *b = &from[i];
        a->missed += b->missed;
        if (b->weight == 0)
            continue;
        double delta = b->mean - a->mean, weight = a->weight + b->weight;
        a->square += b->square + delta * delta * (a->weight * (b->weight / weight));
        a->mean = a->weight == 0 ? b->mean : a->mean + delta * (b->weight / weight);
        a->weight = weight;
        a->min = b->min < a->min ? b->min : a->min;
        a->max = b->max > a->max ? b->max : a->max;
    }
}

lb_duration lbi_moments_duration(const lbi_moments *m, uint64_t samples, int exact) {
    lb_duration duration = {.mean = INFINITY,
                            .stddev = NAN,
                            .min = INFINITY,
                            .max = INFINITY,
                            .standard_error = exact ? 0 : INFINITY,
                            .samples = samples,
                            .exact = exact};
    if (m->weight == 0)
        return duration;
    double variance = 0;
    if (m->min < m->max) /* else the mean may be off by a rounding */
        variance = exact ? m->square / m->weight : m->square / (m->weight - 1);
    duration.mean = m->mean < m->min ? m->min : m->mean > m->max ? m->max : m->mean;
    duration.stddev = sqrt(variance);
    duration.min = m->min;
    duration.max = m->max;
    if (!exact && m->weight > 1)
        duration.standard_error = duration.stddev / sqrt(m->weight);
    duration.completion = m->missed == 0 ? 1 : m->weight / (m->weight + m->missed);
    return duration;
}
