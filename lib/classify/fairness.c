/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "classify/measures.h"

/* The shares of all that run from one end to the next, `first` being the first that still does. */
static lbi_fair measure(const lbi_progress *p, uint32_t first, size_t from, size_t to) {
    lbi_fair row = {
        .concurrency = p->tasks - first, .seconds = p->time[to] - p->time[from], .least = INFINITY};
    double n = 0, sum = 0, squares = 0;
    for (uint32_t i = first; i < p->tasks; i++) {
        double seen = lbi_seen(p, i, from, to);
        if (!(seen > 0))
            continue;
        double share = lbi_done(p, i, from, to) / seen;
        n++;
        sum += share;
        squares += share * share;
        row.least = fmin(row.least, share);
        row.most = fmax(row.most, share);
    }
    row.mean = sum / n;
    row.deviation = n > 1 ? sqrt(fmax(squares - sum * row.mean, 0) / (n - 1)) / row.mean : 0;
    row.jain = sum * sum / (n * squares);
    return row;
}

lb_status lbi_measure_fairness(const lbi_progress *p, lbi_fair **ret_rows, size_t *ret_n,
                               lb_error *err) {
    lbi_fair *rows = lbi_array_new(p->tasks, sizeof *rows);
    if (rows == NULL)
        return lbi_error_nomem(err, "shares");
    size_t n = 0, from = 0;
    /* Of tasks that end at one bound all but the last end an interval of no length. */
    for (uint32_t i = 0; i < p->tasks; i++) {
        size_t to = p->end[i];
        if (to <= from)
            continue;
        lbi_fair row = measure(p, i, from, to);
        from = to;
        if (row.mean > 0 && isfinite(row.mean))
            rows[n++] = row;
    }
    *ret_rows = rows;
    *ret_n = n;
    return LB_OK;
}
