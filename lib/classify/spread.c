/* SPDX-License-Identifier: BSD-3-Clause */
/* lb_trace_spread(): how tasks were spread over the cores. */
#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/text.h"
#include "trace/tasks.h"

enum {
    CORE,
    STARTED,
    ENDED,
    CAME,
    BUSY,
    COLUMNS
};
static const char *const columns[COLUMNS] = {"core", "started", "ended", "came", "busy_s"};

typedef struct durations {
    size_t n;
    double sum, squares, least, most;
} durations;

static void add_duration(durations *d, int64_t start, int64_t end) {
    double seconds = lbi_seconds_between(start, end);
    d->least = d->n == 0 || seconds < d->least ? seconds : d->least;
    d->most = d->n == 0 || seconds > d->most ? seconds : d->most;
    d->sum += seconds;
    d->squares += seconds * seconds;
    d->n++;
}

static void count(double *values, int32_t core, int column, double amount) {
    if (core >= 0)
        values[(size_t)core * COLUMNS + (size_t)column] += amount;
}

static void spread_slices(const lb_slice *slices, size_t n, double *values, durations *d) {
    int64_t start = 0;
    for (size_t i = 0; i < n; i++) {
        const lb_slice *slice = &slices[i];
        bool first = i == 0 || slice[-1].task != slice->task;
        bool last = i + 1 == n || slice[1].task != slice->task;
        start = first ? slice->start_ns : start;
        count(values, slice->core, STARTED, first);
        count(values, slice->core, ENDED, last);
        count(values, slice->core, CAME, !first && slice->core != slice[-1].core);
        count(values, slice->core, BUSY, lbi_seconds_between(slice->start_ns, slice->end_ns));
        if (last)
            add_duration(d, start, slice->end_ns);
    }
}

static void spread_units(const lb_unit *units, size_t n, double *values, durations *d) {
    int64_t start = 0;
    for (size_t i = 0; i < n; i++) {
        const lb_unit *unit = &units[i];
        bool first = i == 0 || unit[-1].task != unit->task;
        bool last = i + 1 == n || unit[1].task != unit->task;
        start = first ? unit->start_ns : start;
        count(values, unit->core_start, STARTED, first);
        count(values, unit->core_end, ENDED, last);
        count(values, unit->core_end, CAME, unit->core_end != unit->core_start);
        count(values, unit->core_end, BUSY, unit->cpu_ns > 0 ? (double)unit->cpu_ns / 1e9 : 0);
        if (last)
            add_duration(d, start, unit->end_ns);
    }
}

static lb_status set(lb_table *table, const char *key, double value, lb_error *err) {
    char number[LBI_NUMBER_SIZE];
    lbi_format_number(value, number);
    return lb_table_set_meta(table, key, number, err);
}

static lb_status set_durations(lb_table *table, const durations *d, lb_error *err) {
    double n = (double)d->n, mean = d->sum / n;
    lb_status status = set(table, "tasks", n, err);
    if (status != LB_OK || d->n == 0)
        return status;
    double variance = d->n > 1 ? (d->squares - n * mean * mean) / (n - 1) : 0;
    status = set(table, "duration_mean_s", mean, err);
    if (status == LB_OK)
        status = set(table, "duration_stddev_s", sqrt(fmax(0, variance)), err);
    if (status == LB_OK)
        status = set(table, "duration_min_s", d->least, err);
    return status == LB_OK ? set(table, "duration_max_s", d->most, err) : status;
}

lb_status lb_trace_spread(const lb_trace *trace, lb_table **ret_table, lb_error *err) {
    if (!lbi_trace_sealed(trace))
        return lbi_error(err, LB_ERR_INVALID,
                         "the trace is not sealed: call lb_trace_seal() first");
    uint32_t cores = lb_trace_cores(trace);
    durations d = {0};
    lb_table *table = NULL;
    double *values = calloc(cores, COLUMNS * sizeof *values);
    lb_status status = values == NULL ? lbi_error_nomem(err, "the spread") : LB_OK;
    if (status == LB_OK)
        status = lb_table_new(columns, COLUMNS, &table, err);
    if (status == LB_OK) {
        size_t slices_n, units_n;
        const lb_slice *slices = lb_trace_slices(trace, &slices_n);
        const lb_unit *units = lb_trace_units(trace, &units_n);
        if (slices_n > 0)
            spread_slices(slices, slices_n, values, &d);
        else
            spread_units(units, units_n, values, &d);
        status = lb_table_set_meta(table, "source",
                                   slices_n > 0  ? "slices"
                                   : units_n > 0 ? "units"
                                                 : "none",
                                   err);
    }
    for (uint32_t core = 0; core < cores && status == LB_OK; core++) {
        values[(size_t)core * COLUMNS + CORE] = core;
        status = lb_table_add_row(table, NULL, values + (size_t)core * COLUMNS, err);
    }
    if (status == LB_OK)
        status = set_durations(table, &d, err);
    if (status == LB_OK)
        *ret_table = table;
    else
        lb_table_free(table);
    free(values);
    return status;
}
