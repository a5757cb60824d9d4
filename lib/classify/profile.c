/* SPDX-License-Identifier: BSD-3-Clause */
/* The duration of a unit against the number of tasks that run at the same time. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/text.h"
#include "trace/tasks.h"

/* Units of one concurrency: running sums of powers of the deviations from the mean (Pebay, 2008).
 */
typedef struct row {
    size_t units;
    double mean, squares, cubes, fourths;
    bool occurred;
} row;

/* A task comes or goes. */
typedef struct event {
    int64_t time;
    int change;
} event;

/* Between two events: so many tasks run from here on. */
typedef struct stretch {
    int64_t from;
    uint32_t running;
} stretch;

static int by_time(const void *a, const void *b) {
    const event *x = a, *y = b;
    return (x->time > y->time) - (x->time < y->time);
}

static size_t count_tasks(const lb_unit *units, size_t n) {
    size_t tasks = n > 0;
    for (size_t i = 1; i < n; i++)
        tasks += units[i].task != units[i - 1].task;
    return tasks;
}

static void list_events(const lb_unit *units, size_t n, event *events) {
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || units[i].task != units[i - 1].task)
            *events++ = (event){units[i].start_ns, 1};
        if (i + 1 == n || units[i].task != units[i + 1].task)
            *events++ = (event){units[i].end_ns, -1};
    }
}

/* Events of one time make one change. */
static size_t make_stretches(const event *events, size_t n, stretch *stretches, row *rows) {
    size_t count = 0;
    uint32_t running = 0;
    for (size_t i = 0; i < n;) {
        int64_t time = events[i].time;
        int change = 0;
        for (; i < n && events[i].time == time; i++)
            change += events[i].change;
        running = (uint32_t)((int64_t)running + change);
        stretches[count++] = (stretch){time, running};
        rows[running].occurred = true;
    }
    return count;
}

/* The last stretch that begins at or before `time`; there is one. */
static size_t find(const stretch *stretches, size_t n, int64_t time) {
    size_t low = 0, high = n;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (stretches[middle].from <= time)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static void add_unit(row *r, double duration) {
    double before = (double)r->units++, count = (double)r->units;
    double off = duration - r->mean, step = off / count, square = off * step * before;
    r->mean += step;
    r->fourths += square * step * step * (count * count - 3 * count + 3) +
                  6 * step * step * r->squares - 4 * step * r->cubes;
    r->cubes += square * step * (count - 2) - 3 * step * r->squares;
    r->squares += square;
}

static void add_units(const lb_unit *units, size_t n, const stretch *stretches, size_t count,
                      row *rows) {
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || units[i].task != units[i - 1].task)
            at = find(stretches, count, units[i].start_ns);
        while (at + 1 < count && stretches[at + 1].from <= units[i].start_ns)
            at++;
        if (at + 1 < count && units[i].end_ns > stretches[at + 1].from)
            continue;
        row *r = &rows[stretches[at].running];
        double duration = lbi_seconds_between(units[i].start_ns, units[i].end_ns);
        add_unit(r, duration);
    }
}

/* What the cores of a model do together while `running` tasks are there: as many of the fastest as
 * there are tasks work. By Little's law a unit then takes unit_work * running / throughput on
 * average, whichever of the policies shares them. */
typedef struct machine {
    double *speeds; /* descending; NULL: all 1 */
    uint32_t cores;
} machine;

static int by_speed(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

static double throughput(const machine *m, size_t running) {
    size_t working = running < m->cores ? running : m->cores;
    if (m->speeds == NULL)
        return (double)working;
    double sum = 0;
    for (size_t i = 0; i < working; i++)
        sum += m->speeds[i];
    return sum;
}

static lb_status machine_make(machine *m, uint32_t cores, const lb_model *model, lb_error *err) {
    lb_model_options options = {.core_speeds = NULL};
    m->cores = cores;
    if (model != NULL)
        lb_model_get_options(model, &options, sizeof options);
    if (options.core_speeds == NULL)
        return LB_OK;
    m->speeds = lbi_array_new(cores, sizeof *m->speeds);
    if (m->speeds == NULL)
        return lbi_error_nomem(err, "core speeds");
    memcpy(m->speeds, options.core_speeds, cores * sizeof *m->speeds);
    qsort(m->speeds, cores, sizeof *m->speeds, by_speed);
    return LB_OK;
}

/* Without a known unit_work: what the rows of lowest concurrency say. */
static double unit_work(const lb_trace *trace, const row *rows, size_t count, const machine *m) {
    double known = lb_trace_unit_work(trace);
    if (!isnan(known))
        return known;
    for (size_t n = 1; n < count; n++)
        if (rows[n].units > 0)
            return rows[n].mean * throughput(m, n) / (double)n;
    return NAN;
}

static double deviation_of(const row *r) {
    return r->units > 1 ? sqrt(r->squares / (double)(r->units - 1)) : (double)NAN;
}

/* Of the standard deviation, whatever the distribution: from the fourth moment, for many units. */
static double deviation_error(const row *r) {
    double n = (double)r->units, variance = r->squares / n;
    if (r->units < 2 || !(variance > 0))
        return r->units < 2 ? (double)NAN : 0;
    return sqrt(fmax(r->fourths / n - variance * variance, 0) / n / variance) / 2;
}

/* The deviation relative to the mean, over several concurrencies. */
typedef struct pool {
    double units, squares, errors;
} pool;

static void add_to_pool(pool *to, const row *r) {
    double n = (double)r->units, relative = deviation_of(r) / r->mean;
    double error = deviation_error(r) / r->mean;
    if (!isfinite(relative))
        return;
    to->units += n;
    to->squares += n * relative * relative;
    to->errors += n * n * relative * relative * error * error;
}

static lb_status set_number(lb_table *table, const char *key, double value, lb_error *err) {
    char text[LBI_NUMBER_SIZE];
    lbi_format_number(value, text);
    return isfinite(value) ? lb_table_set_meta(table, key, text, err) : LB_OK;
}

/* The seed's question: is the deviation lower where tasks are a multiple of the cores? */
static lb_status compare_multiples(lb_table *table, const row *rows, size_t count, uint32_t cores,
                                   lb_error *err) {
    static const char *const names[2][2] = {
        {"deviation_others", "deviation_others_stderr"},
        {"deviation_multiples", "deviation_multiples_stderr"},
    };
    pool pools[2] = {{.units = 0}, {.units = 0}};
    for (size_t n = cores; n < count; n++)
        if (rows[n].units > 1)
            add_to_pool(&pools[n % cores == 0], &rows[n]);
    lb_status status = LB_OK;
    for (int i = 0; i < 2 && status == LB_OK; i++) {
        double relative = sqrt(pools[i].squares / pools[i].units);
        double error = relative > 0 ? sqrt(pools[i].errors) / pools[i].units / relative : relative;
        status = set_number(table, names[i][0], relative, err);
        if (status == LB_OK)
            status = set_number(table, names[i][1], error, err);
    }
    return status;
}

static lb_status fill_table(const lb_trace *trace, const row *rows, size_t count, const machine *m,
                            lb_table **ret_table, lb_error *err) {
    static const char *const names[] = {"concurrency", "mean_s",  "stddev_s",        "stderr_s",
                                        "units",       "model_s", "stddev_stderr_s", "modulo"};
    lb_table *table;
    lb_status status = lb_table_new(names, sizeof names / sizeof *names, &table, err);
    if (status != LB_OK)
        return status;
    double work = unit_work(trace, rows, count, m);
    for (size_t n = 1; n < count && status == LB_OK; n++) {
        const row *r = &rows[n];
        if (!r->occurred)
            continue;
        double deviation = deviation_of(r);
        double values[] = {(double)n,          r->units > 0 ? r->mean : (double)NAN,
                           deviation,          deviation / sqrt((double)r->units),
                           (double)r->units,   work * (double)n / throughput(m, n),
                           deviation_error(r), (double)(n % m->cores)};
        status = lb_table_add_row(table, NULL, values, err);
    }
    if (status == LB_OK)
        status = compare_multiples(table, rows, count, m->cores, err);
    if (status != LB_OK) {
        lb_table_free(table);
        return status;
    }
    *ret_table = table;
    return LB_OK;
}

lb_status lb_trace_profile(const lb_trace *trace, const lb_model *model, lb_table **ret_table,
                           lb_error *err) {
    if (!lbi_trace_sealed(trace))
        return lbi_error(err, LB_ERR_INVALID,
                         "the trace is not sealed: call lb_trace_seal() first");
    uint32_t cores = lb_trace_cores(trace);
    if (model != NULL && lb_model_cores(model) != cores)
        return lbi_error(err, LB_ERR_INVALID, "the model has %u cores, the trace %u",
                         lb_model_cores(model), cores);
    size_t n;
    const lb_unit *units = lb_trace_units(trace, &n);
    size_t tasks = count_tasks(units, n);
    machine m = {0};
    event *events = lbi_array_new(2 * tasks, sizeof *events);
    stretch *stretches = lbi_array_new(2 * tasks, sizeof *stretches);
    row *rows = calloc(tasks + 1, sizeof *rows);
    lb_status status;
    if (events == NULL || stretches == NULL || rows == NULL)
        status = lbi_error_nomem(err, "a profile");
    else
        status = machine_make(&m, cores, model, err);
    if (status == LB_OK) {
        list_events(units, n, events);
        qsort(events, 2 * tasks, sizeof *events, by_time);
        size_t count = make_stretches(events, 2 * tasks, stretches, rows);
        add_units(units, n, stretches, count, rows);
        status = fill_table(trace, rows, tasks + 1, &m, ret_table, err);
    }
    free(m.speeds);
    free(rows);
    free(stretches);
    free(events);
    return status;
}
