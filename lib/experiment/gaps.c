/* SPDX-License-Identifier: BSD-3-Clause */
#include "experiment/gaps.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"

static int by_core_and_start(const void *a, const void *b) {
    const lb_slice *x = a, *y = b;
    if (x->core != y->core)
        return x->core < y->core ? -1 : 1;
    return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

/* Of one core, of its slices in order of time. */
static int64_t gaps_of(const lb_slice *slices, size_t n, int64_t from, int64_t to) {
    int64_t sum = 0;
    for (size_t i = 0; i <= n && from < to; i++) {
        int64_t until = i < n && slices[i].start_ns < to ? slices[i].start_ns : to;
        sum += until - from >= LBI_GAP_NS ? until - from : 0;
        if (i < n && slices[i].end_ns > from)
            from = slices[i].end_ns;
    }
    return sum;
}

lb_status lbi_gaps_percent(const lb_trace *trace, uint32_t cores, int64_t from, int64_t to,
                           double *ret_percent, lb_error *err) {
    size_t n, at = 0;
    const lb_slice *slices = lb_trace_slices(trace, &n);
    *ret_percent = NAN;
    if (n == 0)
        return LB_OK;
    lb_slice *sorted = lbi_array_new(n, sizeof *sorted);
    if (sorted == NULL)
        return lbi_error_nomem(err, "the slices");
    memcpy(sorted, slices, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, by_core_and_start);
    int64_t sum = 0;
    for (int64_t core = 0; core < cores; core++) {
        while (at < n && sorted[at].core < core)
            at++;
        size_t first = at;
        while (at < n && sorted[at].core == core)
            at++;
        sum += gaps_of(&sorted[first], at - first, from, to);
    }
    free(sorted);
    *ret_percent = 100 * (double)sum / ((double)(to - from) * cores);
    return LB_OK;
}
