/* SPDX-License-Identifier: BSD-3-Clause */
#include "charts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"

bool parse_chart(const char *name, enum chart *ret_chart) {
    static const char *const names[] = {"units", "slices", "profile", "latency"};
    for (int chart = CHART_UNITS; chart <= CHART_LATENCY; chart++)
        if (strcmp(name, names[chart]) == 0) {
            *ret_chart = (enum chart)chart;
            return true;
        }
    return false;
}

/* The palette of Okabe and Ito, which the colour-blind can tell apart, without its yellow, which
 * nobody can on white. */
static const char *const colours[] = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                      "#000000", "#E69F00", "#56B4E9"};
/* Gnuplot's points, and dashes, tell apart the tasks which share a colour. */
static const int points[] = {7, 4, 9, 12, 5, 6, 8, 13};
enum {
    COLOURS = sizeof colours / sizeof *colours,
    POINTS = sizeof points / sizeof *points,
    KEYS = 60 /* With more tasks than these a key would leave no room for the picture. */
};

/* Curves have titles without a key too: an SVG shows them under the pointer. */
static void write_key(FILE *gnuplot, uint32_t tasks) {
    if (tasks <= KEYS)
        fprintf(gnuplot, "set key outside right top maxrows 30\n");
    else
        fprintf(gnuplot, "unset key\nset label '%u tasks' at graph 0.99, graph 0.97 right\n",
                tasks);
}

/* ---- units over time ---- */

static void write_ends(FILE *gnuplot, const lb_unit *units, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (i + 1 == n || units[i + 1].task != units[i].task) {
            double end = 1e-9 * (double)units[i].end_ns;
            fprintf(gnuplot,
                    "set arrow from %.9f, graph 0 to %.9f, graph 1 nohead dt 3 lw 1 lc rgb "
                    "'#666666'\n",
                    end, end);
        }
    }
}

static int draw_units(const lb_trace *trace, const char *path) {
    size_t n;
    const lb_unit *units = lb_trace_units(trace, &n);
    if (n == 0)
        return fail("nothing to plot to %s: the trace has no units", path);
    /* Where there are many, lines would hide all. */
    bool few = lb_trace_tasks(trace) <= KEYS;
    FILE *gnuplot = open_plot(path);
    if (gnuplot == NULL)
        return STATUS_ERROR;
    fprintf(gnuplot,
            "set title 'Duration of a unit of work over time%s'\n"
            "set xlabel 'time (s)'\n"
            "set ylabel 'duration of a unit (ms)'\n"
            "set yrange [0:*]\n"
            "set offsets 0, 0, graph 0.03, 0\n",
            few ? "; dotted: a task ended" : "");
    write_key(gnuplot, lb_trace_tasks(trace));
    if (few)
        write_ends(gnuplot, units, n);
    const char *separator = "plot ";
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && units[i].task == units[i - 1].task)
            continue;
        unsigned group = units[i].task / COLOURS;
        fprintf(gnuplot, "%s'-' using 1:2 with %s lc rgb '%s' dt %u pt %d ps 0.4 title 'task %u'",
                separator, few ? "linespoints" : "points", colours[units[i].task % COLOURS],
                1 + group % 5, points[group % POINTS], units[i].task);
        separator = ", ";
    }
    fprintf(gnuplot, "\n");
    for (size_t i = 0; i < n; i++) {
        fprintf(gnuplot, "%.9f %.6f\n", 1e-9 * (double)units[i].end_ns,
                1e-6 * (double)(units[i].end_ns - units[i].start_ns));
        if (i + 1 == n || units[i + 1].task != units[i].task)
            fprintf(gnuplot, "e\n");
    }
    return close_plot(gnuplot, path);
}

/* ---- slices on cores ---- */

/* So much for each core that its row can be told from the next; a picture has an end somewhere. */
static int gantt_height(uint32_t cores) {
    double height = 150 + 12.0 * cores;
    return (int)fmin(fmax(height, 600), 4000);
}

/* Gaps of less than a quarter of a pixel would only make the colours pale: slices that such a gap
 * parts are drawn as one. */
static void write_slices(FILE *gnuplot, const lb_slice *slices, size_t n) {
    int64_t first = INT64_MAX, last = INT64_MIN;
    for (size_t i = 0; i < n; i++) {
        first = slices[i].start_ns < first ? slices[i].start_ns : first;
        last = slices[i].end_ns > last ? slices[i].end_ns : last;
    }
    double smallest = ((double)last - (double)first) / 4000;
    for (size_t i = 0; i < n; i++) {
        const lb_slice *slice = &slices[i];
        while (i + 1 < n && slices[i + 1].task == slice->task &&
               slices[i + 1].core == slice->core &&
               (double)(slices[i + 1].start_ns - slices[i].end_ns) <= smallest)
            i++;
        double start = 1e-9 * (double)slice->start_ns, end = 1e-9 * (double)slices[i].end_ns;
        fprintf(gnuplot, "%.9f %d %.9f %.9f %.2f %.2f\n", start, slice->core, start, end,
                slice->core - 0.4, slice->core + 0.4);
        if (i + 1 == n || slices[i + 1].task != slice->task)
            fprintf(gnuplot, "e\n");
    }
}

static int draw_slices(const lb_trace *trace, const char *path) {
    size_t n;
    const lb_slice *slices = lb_trace_slices(trace, &n);
    if (n == 0)
        return fail("nothing to plot to %s: the trace has no slices", path);
    uint32_t cores = lb_trace_cores(trace);
    FILE *gnuplot = open_tall_plot(path, gantt_height(cores));
    if (gnuplot == NULL)
        return STATUS_ERROR;
    fprintf(gnuplot,
            "set title 'Which task ran on which core'\n"
            "set xlabel 'time (s)'\n"
            "set ylabel 'core'\n"
            "set yrange [%u.5:-0.5]\n"
            "set ytics %u\n"
            "set style fill noborder\n",
            cores - 1, 1 + cores / 65);
    write_key(gnuplot, lb_trace_tasks(trace));
    const char *separator = "plot ";
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && slices[i].task == slices[i - 1].task)
            continue;
        /* Tasks that share a colour differ in its depth. */
        fprintf(gnuplot,
                "%s'-' using 1:2:3:4:5:6 with boxxyerror lc rgb '%s' lw 0.3 fs solid %.2f noborder "
                "title 'task %u'",
                separator, colours[slices[i].task % COLOURS],
                1 - 0.3 * (slices[i].task / COLOURS % 3), slices[i].task);
        separator = ", ";
    }
    fprintf(gnuplot, "\n");
    write_slices(gnuplot, slices, n);
    return close_plot(gnuplot, path);
}

/* ---- duration against concurrency ---- */

static int draw_profile(const lb_trace *trace, const lb_model *model, const char *path) {
    lb_error err;
    lb_table *profile;
    if (lb_trace_profile(trace, model, &profile, &err) != LB_OK)
        return fail("%s", err.message);
    size_t rows = lb_table_rows(profile);
    /* Gnuplot makes room for the points, and not for their bars. */
    double most = 0, top = 0;
    for (size_t row = 0; row < rows; row++) {
        most = fmax(most, lb_table_get(profile, row, "concurrency"));
        top = fmax(top, 1e3 * (lb_table_get(profile, row, "mean_s") +
                               fmax(lb_table_get(profile, row, "stddev_s"), 0)));
        top = fmax(top, 1e3 * lb_table_get(profile, row, "model_s"));
    }
    FILE *gnuplot = NULL;
    int status = STATUS_ERROR;
    if (rows == 0)
        fail("nothing to plot to %s: no unit ran while the number of tasks stayed", path);
    else
        gnuplot = open_plot(path);
    if (gnuplot == NULL)
        goto done;
    fprintf(gnuplot,
            "set title 'Duration of a unit of work against running tasks; bars: its standard "
            "deviation'\n"
            "set xlabel 'running tasks (dotted: multiples of the %u cores)'\n"
            "set ylabel 'duration of a unit (ms)'\n"
            "set xrange [0.5:%.1f]\n"
            "set yrange [0:%.9g]\n"
            "set key left top\n",
            lb_trace_cores(trace), most + 0.5, top > 0 ? 1.05 * top : 1);
    for (double x = lb_trace_cores(trace); x <= most; x += lb_trace_cores(trace))
        fprintf(gnuplot,
                "set arrow from %.0f, graph 0 to %.0f, graph 1 nohead dt 3 lc rgb '#999999'\n", x,
                x);
    fprintf(gnuplot,
            "plot '-' using 1:2:3 with yerrorbars lc rgb '#0072B2' pt 7 title 'measured', "
            "'-' using 1:2 with linespoints lc rgb '#D55E00' pt 4 ps %.1f title 'model'\n",
            rows <= KEYS ? 1.0 : 0.3);
    for (size_t row = 0; row < rows; row++)
        if (isfinite(lb_table_get(profile, row, "mean_s")))
            fprintf(gnuplot, "%.0f %.6f %.6f\n", lb_table_get(profile, row, "concurrency"),
                    1e3 * lb_table_get(profile, row, "mean_s"),
                    1e3 * fmax(lb_table_get(profile, row, "stddev_s"), 0));
    fprintf(gnuplot, "e\n");
    for (size_t row = 0; row < rows; row++)
        if (isfinite(lb_table_get(profile, row, "model_s")))
            fprintf(gnuplot, "%.0f %.6f\n", lb_table_get(profile, row, "concurrency"),
                    1e3 * lb_table_get(profile, row, "model_s"));
    fprintf(gnuplot, "e\n");
    status = close_plot(gnuplot, path);
done:
    lb_table_free(profile);
    return status;
}

/* ---- latency ---- */

/* An imbalance: balanced after so long, or seen for so long and never. */
struct wait {
    double seconds;
    bool balanced;
};

static int by_seconds(const void *a, const void *b) {
    const struct wait *x = a, *y = b;
    /* What was balanced at the very end of another's watch was balanced while that was watched. */
    return x->seconds != y->seconds ? (x->seconds > y->seconds) - (x->seconds < y->seconds)
                                    : (int)y->balanced - (int)x->balanced;
}

/* The part that is balanced within each time: the product-limit estimate, as "never" means not
 * while it was watched. */
static void write_latencies(FILE *gnuplot, const lb_table *table, double idle, struct wait *waits) {
    size_t n = 0;
    for (size_t row = 0; row < lb_table_rows(table); row++)
        if (lb_table_get(table, row, "idle") == idle) {
            double latency = lb_table_get(table, row, "latency_s");
            waits[n].balanced = isfinite(latency);
            waits[n++].seconds =
                isfinite(latency) ? latency : lb_table_get(table, row, "watched_s");
        }
    qsort(waits, n, sizeof *waits, by_seconds);
    double left = 1;
    for (size_t i = 0; i < n; i++)
        if (waits[i].balanced) {
            left *= 1 - 1.0 / (double)(n - i);
            fprintf(gnuplot, "%.6f %.6f\n", fmax(1e3 * waits[i].seconds, 1e-3), 100 * (1 - left));
        }
    fprintf(gnuplot, "e\n");
}

/* A decade around a single time, of which gnuplot would complain. */
static void write_range(FILE *gnuplot, const lb_table *table) {
    double least = INFINITY, most = 0;
    for (size_t row = 0; row < lb_table_rows(table); row++)
        if (isfinite(lb_table_get(table, row, "latency_s"))) {
            double ms = fmax(1e3 * lb_table_get(table, row, "latency_s"), 1e-3);
            least = fmin(least, ms);
            most = fmax(most, ms);
        }
    if (!(most > least))
        fprintf(gnuplot, "set xrange [%.9g:%.9g]\n", least / sqrt(10), least * sqrt(10));
}

static size_t count_balanced(const lb_table *table, double idle) {
    size_t n = 0;
    for (size_t row = 0; row < lb_table_rows(table); row++)
        n += lb_table_get(table, row, "idle") == idle &&
             isfinite(lb_table_get(table, row, "latency_s"));
    return n;
}

static int draw_latency(const lb_trace *trace, const char *path) {
    lb_error err;
    lb_table *table;
    if (lb_trace_latency(trace, &table, &err) != LB_OK)
        return fail("%s", err.message);
    static const char *const curves[] = {
        "'-' with steps lc rgb '#0072B2' lw 2 notitle, "
        "'-' with points lc rgb '#0072B2' pt 7 title 'lists two apart'",
        "'-' with steps lc rgb '#D55E00' lw 2 notitle, "
        "'-' with points lc rgb '#D55E00' pt 4 title 'a core idle'"};
    bool there[] = {count_balanced(table, 0) > 0, count_balanced(table, 1) > 0};
    struct wait *waits = calloc(lb_table_rows(table) + 1, sizeof *waits);
    FILE *gnuplot = NULL;
    int status = STATUS_ERROR;
    if (waits == NULL)
        fail("no memory");
    else if (!there[0] && !there[1])
        fail("nothing to plot to %s: no imbalance was seen to be balanced", path);
    else
        gnuplot = open_plot(path);
    if (gnuplot == NULL)
        goto done;
    write_range(gnuplot, table);
    fprintf(gnuplot,
            "set title 'How many imbalances were balanced within which time'\n"
            "set xlabel 'time since the imbalance arose (ms)'\n"
            "set ylabel 'balanced (%%)'\n"
            "set logscale x\n"
            "set yrange [0:102]\n"
            "set key right bottom\n"
            "plot %s%s%s\n",
            there[0] ? curves[0] : "", there[0] && there[1] ? ", " : "", there[1] ? curves[1] : "");
    for (int idle = 0; idle <= 1; idle++)
        for (int k = 0; there[idle] && k < 2; k++)
            write_latencies(gnuplot, table, idle, waits);
    status = close_plot(gnuplot, path);
done:
    free(waits);
    lb_table_free(table);
    return status;
}

int draw_chart(enum chart chart, const lb_trace *trace, const lb_model *model, const char *path) {
    switch (chart) {
    case CHART_UNITS:
        return draw_units(trace, path);
    case CHART_SLICES:
        return draw_slices(trace, path);
    case CHART_PROFILE:
        return draw_profile(trace, model, path);
    case CHART_LATENCY:
        return draw_latency(trace, path);
    }
    return fail("no such chart");
}
