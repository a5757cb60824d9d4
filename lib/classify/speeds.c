/* SPDX-License-Identifier: BSD-3-Clause */
/* The same work takes the longer the slower a core is: medians of the CPU time of units that stayed
 * on a core. */
#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "classify/measures.h"

#define LEAST_UNITS 20   /* on every core */
#define MOST_UNITS 65536 /* looked at in all */
#define ALIKE 0.03       /* cores that differ by less are alike, ... */
#define SIGMAS 5         /* ... as are those that differ by so few standard errors */

typedef struct sample {
    int32_t core;
    double cpu;
} sample;

static int by_core(const void *a, const void *b) {
    const sample *x = a, *y = b;
    if (x->core != y->core)
        return x->core < y->core ? -1 : 1;
    return (x->cpu > y->cpu) - (x->cpu < y->cpu);
}

/* The last unit of a task may be shorter than the others. */
static size_t take(const lb_unit *units, size_t n, sample *samples) {
    size_t stride = 1 + n / MOST_UNITS, taken = 0;
    for (size_t i = 0; i + 1 < n; i += stride) {
        const lb_unit *u = &units[i];
        if (u->cpu_ns > 0 && u->core_start >= 0 && u->core_start == u->core_end &&
            units[i + 1].task == u->task)
            samples[taken++] = (sample){u->core_start, (double)u->cpu_ns};
    }
    qsort(samples, taken, sizeof *samples, by_core);
    return taken;
}

/* Sets the speeds, not yet relative, and the largest relative standard error of a median; false:
 * not every core has units enough. */
static bool medians(const sample *samples, size_t n, uint32_t cores, double *speeds,
                    double *ret_error) {
    size_t at = 0;
    *ret_error = 0;
    for (uint32_t core = 0; core < cores; core++) {
        size_t begin = at;
        while (at < n && samples[at].core == (int32_t)core)
            at++;
        size_t count = at - begin;
        if (count < LEAST_UNITS)
            return false;
        const sample *s = samples + begin;
        double median = s[count / 2].cpu;
        double quartiles = s[count * 3 / 4].cpu - s[count / 4].cpu;
        /* Of a normal distribution: 1.25 standard deviations, each 0.74 of the quartiles' distance.
         */
        double error = 1.25 * 0.74 * quartiles / median / sqrt((double)count);
        *ret_error = fmax(*ret_error, error);
        speeds[core] = 1 / median;
    }
    return true;
}

lb_status lbi_measure_speeds(const lb_trace *trace, double **ret_speeds, lb_error *err) {
    uint32_t cores = lb_trace_cores(trace);
    size_t n;
    const lb_unit *units = lb_trace_units(trace, &n);
    *ret_speeds = NULL;
    if (cores < 2 || n / LEAST_UNITS < cores)
        return LB_OK;
    sample *samples = lbi_array_new(n < MOST_UNITS ? n : MOST_UNITS + 1, sizeof *samples);
    double *speeds = lbi_array_new(cores, sizeof *speeds);
    if (samples == NULL || speeds == NULL) {
        free(samples);
        free(speeds);
        return lbi_error_nomem(err, "speeds");
    }
    double error, fastest = 0, slowest = INFINITY;
    bool measured = medians(samples, take(units, n, samples), cores, speeds, &error);
    free(samples);
    for (uint32_t i = 0; i < cores && measured; i++) {
        fastest = fmax(fastest, speeds[i]);
        slowest = fmin(slowest, speeds[i]);
    }
    if (!measured || slowest / fastest > 1 - fmax(ALIKE, SIGMAS * error)) {
        free(speeds);
        return LB_OK;
    }
    for (uint32_t i = 0; i < cores; i++)
        speeds[i] /= fastest;
    *ret_speeds = speeds;
    return LB_OK;
}
