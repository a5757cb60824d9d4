/* SPDX-License-Identifier: BSD-3-Clause */
/* Is one scheduler better than another under load? Measures a workload under a condition and saves
 * the result; compares two results that were saved, or conditions that it runs in turn. */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "page.h"

static const char usage[] =
    "usage: lbsched-compare [OPTION]... --measure WORKLOAD [-- COMMAND...]\n"
    "       lbsched-compare [OPTION]... BASE OTHER\n"
    "Measures how much work is done under load, and compares: a result that was saved (BASE) with\n"
    "another of the same workload, or conditions that are run in turn.\n"
    "\n"
    "  -m, --measure WORKLOAD    batch (short-lived jobs, or runs of COMMAND), users (a mix of\n"
    "                            jobs) or messages (groups that chat)\n"
    "  -c, --condition LIST      what it runs under: name=TEXT, class=other, batch, idle, rr or\n"
    "                            fifo, nice=N, priority=N, cores=N (the first N), competitors=N\n"
    "                            (that always want a core), competitor=CLASS, parted by commas;\n"
    "                            twice for two conditions, which are then compared\n"
    "  -o, --save FILE           save the result; of two conditions twice\n"
    "  -r, --repeats N           runs of each point (10; of two conditions 20)\n"
    "  -p, --points LIST         processes at a time (all: every job), users, or groups\n"
    "  -j, --jobs N              of a batch (16 a core; 4 a core of COMMAND)\n"
    "  -s, --seconds SECONDS     how long users and messages are counted (0.5)\n"
    "      --transport LIST      sockets, pipes, tcp (all)\n"
    "      --time-limit SECONDS  of one run (60)\n"
    "      --budget SECONDS      of all (no limit)\n"
    "      --seed N              of the order of points (1)\n"
    "      --metric NAME         the column that is compared (jobs_per_minute, messages_per_s)\n"
    "      --csv, --json         the comparison, or the only result, as a table in that form\n"
    "      --plot FILE           throughput against users, as .svg or .png, through gnuplot\n"
    "      --html FILE           a report to share: one page with verdicts, findings, tables and,\n"
    "                            of users, the picture (where gnuplot is installed)\n"
    "  -h, --help                this text\n"
    "  -V, --version             the version of the library\n"
    "\n"
    "Ends with 0, 1 on an error, 2 on a mistake in the command line.\n";

enum {
    OPTION_CSV = 256,
    OPTION_JSON,
    OPTION_PLOT,
    OPTION_HTML,
    OPTION_SEED,
    OPTION_METRIC,
    OPTION_TRANSPORT,
    OPTION_TIME_LIMIT,
    OPTION_BUDGET,
    SIDES = 2,
    MOST_POINTS = 64,
    MOST_CORES = 4096
};

struct options {
    lb_throughput_options throughput;
    bool measure;
    lb_condition conditions[SIDES];
    size_t condition_count;
    uint32_t points[MOST_POINTS];
    const char *save[SIDES];
    size_t save_count;
    const char *metric;
    lb_format format;
    const char *plot, *html;
};

/* ---- the command line ---- */

static bool parse_class(const char *word, int32_t *ret_class) {
    static const char *const names[] = {[LB_SCHEDULING_OTHER] = "other",
                                        [LB_SCHEDULING_BATCH] = "batch",
                                        [LB_SCHEDULING_IDLE] = "idle",
                                        [LB_SCHEDULING_RR] = "rr",
                                        [LB_SCHEDULING_FIFO] = "fifo"};
    for (int32_t i = LB_SCHEDULING_OTHER; i <= LB_SCHEDULING_FIFO; i++)
        if (strcmp(word, names[i]) == 0) {
            *ret_class = i;
            return true;
        }
    return false;
}

/* The first cores, whichever they are. */
static const uint32_t *first_cores(void) {
    static uint32_t cores[MOST_CORES];
    for (uint32_t i = 0; i < MOST_CORES; i++)
        cores[i] = i;
    return cores;
}

static bool parse_part(char *part, lb_condition *c) {
    char *value = strchr(part, '=');
    uint64_t number;
    if (value == NULL)
        return false;
    *value++ = '\0';
    if (strcmp(part, "name") == 0) {
        c->name = value;
        return true;
    }
    if (strcmp(part, "class") == 0)
        return parse_class(value, &c->scheduling);
    if (strcmp(part, "competitor") == 0)
        return parse_class(value, &c->competitor_scheduling);
    if (strcmp(part, "nice") == 0) {
        bool negative = *value == '-';
        if (!parse_integer(value + negative, 0, 20, &number))
            return false;
        c->nice = negative ? -(int32_t)number : (int32_t)number;
        return true;
    }
    if (!parse_integer(value, 0, MOST_CORES, &number))
        return false;
    if (strcmp(part, "priority") == 0) {
        c->priority = (int32_t)number;
    } else if (strcmp(part, "competitors") == 0) {
        c->competitors = (uint32_t)number;
    } else if (strcmp(part, "cores") == 0 && number > 0) {
        c->cores = first_cores();
        c->core_count = (size_t)number;
    } else {
        return false;
    }
    return true;
}

/* Takes the text apart. */
static bool parse_condition(char *text, struct options *o) {
    if (o->condition_count == SIDES)
        return false;
    lb_condition *c = &o->conditions[o->condition_count++];
    char *rest = NULL;
    for (char *part = strtok_r(text, ",", &rest); part != NULL; part = strtok_r(NULL, ",", &rest))
        if (!parse_part(part, c))
            return false;
    /* A nice level is of a class. */
    if (c->nice != 0 && c->scheduling == LB_SCHEDULING_INHERIT)
        c->scheduling = LB_SCHEDULING_OTHER;
    return true;
}

static bool parse_workload(const char *text, struct options *o) {
    static const char *const names[] = {"batch", "users", "messages"};
    for (int32_t i = 0; i < 3; i++)
        if (strcmp(text, names[i]) == 0) {
            o->throughput.workload = i;
            o->measure = true;
            return true;
        }
    return false;
}

static bool parse_points(char *text, struct options *o) {
    char *rest = NULL;
    size_t n = 0;
    for (char *word = strtok_r(text, ",", &rest); word != NULL; word = strtok_r(NULL, ",", &rest)) {
        uint64_t number = 0;
        if (n == MOST_POINTS ||
            (strcmp(word, "all") != 0 && !parse_integer(word, 1, 4096, &number)))
            return false;
        o->points[n++] = (uint32_t)number;
    }
    o->throughput.points = o->points;
    o->throughput.point_count = n;
    return n > 0;
}

static bool parse_transports(char *text, struct options *o) {
    static const char *const names[] = {"sockets", "pipes", "tcp"};
    char *rest = NULL;
    for (char *word = strtok_r(text, ",", &rest); word != NULL; word = strtok_r(NULL, ",", &rest)) {
        uint32_t i = 0;
        while (i < 3 && strcmp(word, names[i]) != 0)
            i++;
        if (i == 3)
            return false;
        o->throughput.transports |= 1u << i;
    }
    return o->throughput.transports != 0;
}

/* -1: go on; else an exit status. */
static int parse_options(int argc, char **argv, struct options *o) {
    static const struct option long_options[] = {
        {"measure", required_argument, NULL, 'm'},
        {"condition", required_argument, NULL, 'c'},
        {"save", required_argument, NULL, 'o'},
        {"repeats", required_argument, NULL, 'r'},
        {"points", required_argument, NULL, 'p'},
        {"jobs", required_argument, NULL, 'j'},
        {"seconds", required_argument, NULL, 's'},
        {"transport", required_argument, NULL, OPTION_TRANSPORT},
        {"time-limit", required_argument, NULL, OPTION_TIME_LIMIT},
        {"budget", required_argument, NULL, OPTION_BUDGET},
        {"seed", required_argument, NULL, OPTION_SEED},
        {"metric", required_argument, NULL, OPTION_METRIC},
        {"csv", no_argument, NULL, OPTION_CSV},
        {"json", no_argument, NULL, OPTION_JSON},
        {"plot", required_argument, NULL, OPTION_PLOT},
        {"html", required_argument, NULL, OPTION_HTML},
        {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'V'},
        {0},
    };
    lb_throughput_options *t = &o->throughput;
    uint64_t number;
    for (int option;
         (option = getopt_long(argc, argv, "m:c:o:r:p:j:s:hV", long_options, NULL)) != -1;) {
        const char *given = optarg;
        /* Some are taken apart. */
        char *parts = optarg == NULL ? NULL : strdup(optarg);
        switch (option) {
        case 'm':
            if (!parse_workload(given, o))
                return usage_error("--measure %s: batch, users or messages expected", given);
            break;
        case 'c':
            if (!parse_condition(parts, o))
                return usage_error("--condition %s: such as class=idle,cores=1 expected, twice at "
                                   "most",
                                   given);
            parts = NULL; /* names point there */
            break;
        case 'o':
            if (o->save_count == SIDES)
                return usage_error("--save %s: two files at most expected", given);
            o->save[o->save_count++] = given;
            break;
        case 'p':
            if (!parse_points(parts, o))
                return usage_error("--points %s: numbers, 1 to 4096, or all, expected", given);
            break;
        case OPTION_TRANSPORT:
            if (!parse_transports(parts, o))
                return usage_error("--transport %s: sockets, pipes, tcp expected", given);
            break;
        case 'r':
            if (!parse_integer(given, 1, 10000, &number))
                return usage_error("--repeats %s: 1 to 10000 expected", given);
            t->repeats = (uint32_t)number;
            break;
        case 'j':
            if (!parse_integer(given, 1, 1000000, &number))
                return usage_error("--jobs %s: 1 to 1000000 expected", given);
            t->jobs = (uint32_t)number;
            break;
        case 's':
            if (!parse_number(given, 0.05, 3600, &t->seconds))
                return usage_error("--seconds %s: 0.05 to 3600 expected", given);
            break;
        case OPTION_TIME_LIMIT:
            if (!parse_number(given, 0.1, 86400, &t->time_limit))
                return usage_error("--time-limit %s: 0.1 to 86400 expected", given);
            break;
        case OPTION_BUDGET:
            if (!parse_number(given, 1, 1e9, &t->budget))
                return usage_error("--budget %s: 1 or more expected", given);
            break;
        case OPTION_SEED:
            if (!parse_integer(given, 0, UINT64_MAX, &t->seed))
                return usage_error("--seed %s: an integer, 0 or more, expected", given);
            break;
        case OPTION_METRIC:
            o->metric = given;
            break;
        case OPTION_CSV:
            o->format = LB_FORMAT_CSV;
            break;
        case OPTION_JSON:
            o->format = LB_FORMAT_JSON;
            break;
        case OPTION_HTML:
            o->html = given;
            break;
        case OPTION_PLOT:
            o->plot = given;
            if (!is_plot_path(given))
                return usage_error("--plot %s: a name that ends in .svg or .png expected", given);
            break;
        case 'h':
            fputs(usage, stdout);
            return finish(STATUS_OK);
        case 'V':
            printf("lbsched-compare (lbsched) %s\n", lb_version());
            return finish(STATUS_OK);
        default:
            return STATUS_USAGE;
        }
        free(parts);
    }
    return -1;
}

/* What remains of the command line: a command, or two files. */
static int check_rest(int argc, char **argv, struct options *o) {
    int rest = argc - optind;
    size_t sides = o->condition_count == 0 ? 1 : o->condition_count;
    if (!o->measure && rest != 2)
        return usage_error("two files, or --measure, expected");
    if (!o->measure && (o->save_count > 0 || o->condition_count > 0))
        return usage_error("--save and --condition are for --measure");
    if (o->measure && rest > 0 && o->throughput.workload != LB_THROUGHPUT_BATCH)
        return usage_error("unexpected argument %s", argv[optind]);
    if (o->save_count != 0 && o->save_count != sides)
        return usage_error("--save: %zu expected, one for each condition", sides);
    if (o->plot != NULL && o->measure && o->throughput.workload != LB_THROUGHPUT_USERS)
        return usage_error("--plot: it is for users");
    if (o->measure && rest > 0)
        o->throughput.command = (const char *const *)&argv[optind];
    return -1;
}

/* ---- results ---- */

static int load(const char *path, lb_table **ret_table) {
    char *text;
    size_t length;
    lb_error err;
    int status = read_all(path, &text, &length);
    if (status != STATUS_OK)
        return status;
    lb_status parsed = lb_table_parse(text, length, ret_table, &err);
    free(text);
    return parsed == LB_OK ? STATUS_OK : fail("%s: %s", path, err.message);
}

static int save(const char *path, const lb_table *table) {
    lb_error err;
    char *text;
    if (lb_table_format(table, LB_FORMAT_CSV, &text, &err) != LB_OK)
        return fail("%s", err.message);
    errno = 0;
    FILE *file = fopen(path, "w");
    bool good = file != NULL && fputs(text, file) >= 0;
    good = (file == NULL || fclose(file) == 0) && good;
    lb_free(text);
    return good ? STATUS_OK : fail("cannot write %s: %s", path, strerror(errno));
}

static const char *meta(const lb_table *table, const char *key, const char *otherwise) {
    const char *value = lb_table_meta(table, key);
    return value == NULL ? otherwise : value;
}

static bool is_workload(const lb_table *table, const char *name) {
    return strcmp(meta(table, "workload", ""), name) == 0;
}

static const char *metric_of(const struct options *o, const lb_table *base) {
    if (o->metric != NULL)
        return o->metric;
    return is_workload(base, "messages") ? "messages_per_s" : "jobs_per_minute";
}

static lb_table *compare(const lb_table *base, const lb_table *other, const char *metric,
                         lb_error *err) {
    lb_compare_options options;
    lb_table *table;
    lb_compare_options_init(&options, sizeof options);
    options.metric = metric;
    return lb_compare(base, other, &options, &table, err) == LB_OK ? table : NULL;
}

/* ---- for people ---- */

/* What the seed's tables show of each workload. */
static const struct {
    const char *workload, *title;
    struct {
        const char *metric, *head;
    } columns[5];
} forms[] = {
    {"batch",
     "Job batch",
     {{"elapsed_s", "Elapsed"},
      {"system_s", "System"},
      {"user_s", "User"},
      {"cpu_percent", "CPU"}}},
    {"users",
     "Users",
     {{"jobs_per_minute", "Jobs/min"},
      {"system_s", "System"},
      {"user_s", "User"},
      {"cpu_percent", "CPU"}}},
    {"messages",
     "Messages",
     {{"messages_per_s", "Messages/s"},
      {"wake_p50_us", "Wake p50 us"},
      {"wake_p99_us", "p99 us"},
      {"cpu_percent", "CPU"}}},
};

static const struct {
    const char *metric, *head;
} explaining[] = {{"migrations_per_s", "Migrations/s"},
                  {"mean_slice_ms", "Slice ms"},
                  {"switches_per_s", "Switches/s"},
                  {"idle_waiting_percent", "Idle waiting %"}};

/* The median of a metric with its interval. `side` is 0 of the base. */
static void print_cell(const lb_table *table, size_t row, int side) {
    static const char *const names[2][3] = {
        {"median_base", "median_base_low", "median_base_high"},
        {"median_other", "median_other_low", "median_other_high"}};
    double low = lb_table_get(table, row, names[side][1]);
    double high = lb_table_get(table, row, names[side][2]);
    double median = lb_table_get(table, row, names[side][0]);
    char text[64];
    if (!isfinite(median))
        snprintf(text, sizeof text, "-");
    else if (isfinite(low))
        snprintf(text, sizeof text, "%.4g (%.4g-%.4g)", median, low, high);
    else
        snprintf(text, sizeof text, "%.4g", median);
    printf(" %26s", text);
}

static void print_line(lb_table *const *tables, size_t columns, size_t row, int side,
                       const char *name) {
    printf("%24.24s", name);
    for (size_t i = 0; i < columns; i++)
        print_cell(tables[i], row, side);
    printf("\n");
}

static bool has_column(const lb_table *table, const char *name) {
    for (size_t i = 0; i < lb_table_columns(table); i++)
        if (strcmp(lb_table_name(table, i), name) == 0)
            return true;
    return false;
}

/* A result that was not measured here may lack some. */
static size_t keep_columns(const lb_table *base, const lb_table *other, const char **metrics,
                           const char **heads, size_t columns) {
    size_t kept = 0;
    for (size_t i = 0; i < columns; i++) {
        if (!has_column(base, metrics[i]) || (other != NULL && !has_column(other, metrics[i])))
            continue;
        metrics[kept] = metrics[i];
        heads[kept++] = heads[i];
    }
    return kept;
}

/* A block for each point, a line for each condition. */
static int print_block(const lb_table *base, const lb_table *other, const char *title,
                       const char **metrics, const char **heads, size_t columns) {
    lb_table *tables[8] = {0};
    lb_error err;
    int status = STATUS_OK;
    columns = keep_columns(base, other, metrics, heads, columns);
    if (columns == 0)
        return STATUS_OK;
    for (size_t i = 0; i < columns && status == STATUS_OK; i++) {
        tables[i] = compare(base, other == NULL ? base : other, metrics[i], &err);
        if (tables[i] == NULL)
            status = fail("%s", err.message);
    }
    for (size_t row = 0; status == STATUS_OK && row < lb_table_rows(tables[0]); row++) {
        printf("%s: %s\n%24s", title, lb_table_label(tables[0], row), "");
        for (size_t i = 0; i < columns; i++)
            printf(" %26s", heads[i]);
        printf("\n");
        print_line(tables, columns, row, 0, meta(base, "condition", "base"));
        if (other != NULL)
            print_line(tables, columns, row, 1, meta(other, "condition", "other"));
        printf("\n");
    }
    for (size_t i = 0; i < columns; i++)
        lb_table_free(tables[i]);
    return status;
}

static int print_forms(const lb_table *base, const lb_table *other) {
    const char *metrics[8], *heads[8];
    size_t n = 0;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (is_workload(base, forms[i].workload)) {
            for (; forms[i].columns[n].metric != NULL; n++) {
                metrics[n] = forms[i].columns[n].metric;
                heads[n] = forms[i].columns[n].head;
            }
            int status = print_block(base, other, forms[i].title, metrics, heads, n);
            if (status != STATUS_OK)
                return status;
        }
    if (n == 0)
        return STATUS_OK; /* a result from elsewhere */
    for (n = 0; n < sizeof explaining / sizeof *explaining; n++) {
        metrics[n] = explaining[n].metric;
        heads[n] = explaining[n].head;
    }
    return print_block(base, other, "What may explain it", metrics, heads, n);
}

/* As SDET's results are given. */
static void print_relative(const lb_table *compared, const char *metric, const lb_table *base,
                           const lb_table *other) {
    printf("Relative to %s: %s\n%24s %12s %12s\n", meta(base, "condition", "base"), metric, "",
           "Throughput", "Std. Dev");
    for (size_t row = 0; row < lb_table_rows(compared); row++) {
        printf("%s\n%24.24s %11.1f%% %11.1f%%\n", lb_table_label(compared, row),
               meta(base, "condition", "base"), 100.0,
               lb_table_get(compared, row, "stddev_base_percent"));
        printf("%24.24s %11.1f%% %11.1f%%\n", meta(other, "condition", "other"),
               lb_table_get(compared, row, "relative_percent"),
               lb_table_get(compared, row, "relative_stddev_percent"));
    }
    printf("\n");
}

/* As reaim's results are given; Pct is of the first line's, in both. */
static void print_peaks(const lb_table *base, const lb_table *other) {
    double first = atof(meta(base, "peak_jobs_per_minute", "nan"));
    printf("%24s %10s %8s %8s %8s %10s %7s\n", "", "Max JPM", "Dev %", "at User", "Max User",
           "Slope %", "Pct");
    for (const lb_table *t = base; t != NULL; t = t == base ? other : NULL)
        printf("%24.24s %10.2f %8.2f %8s %8s %10.2f %7.2f\n", meta(t, "condition", "result"),
               atof(meta(t, "peak_jobs_per_minute", "nan")),
               atof(meta(t, "peak_deviation_percent", "nan")), meta(t, "users_at_peak", "-"),
               meta(t, "largest_users", "-"), atof(meta(t, "slope_past_peak_percent", "nan")),
               100 * (atof(meta(t, "peak_jobs_per_minute", "nan")) / first - 1));
    printf("Pct: of the first line's Max JPM, above it. Slope: change in percent of the peak when "
           "users double.\n\n");
}

/* A line's difference in words. */
static void tell_verdict(const lb_table *compared, size_t row, const char *metric, char *line,
                         size_t size) {
    double difference = lb_table_get(compared, row, "difference");
    char interval[64] = "";
    if (isfinite(lb_table_get(compared, row, "ratio_low")))
        snprintf(interval, sizeof interval, " (%.3f to %.3f)",
                 lb_table_get(compared, row, "ratio_low"),
                 lb_table_get(compared, row, "ratio_high"));
    snprintf(line, size, "%s: %s times %.3f%s, p %.3g adjusted: %s", lb_table_label(compared, row),
             metric, lb_table_get(compared, row, "ratio"), interval,
             lb_table_get(compared, row, "p_adjusted"),
             difference > 0    ? "larger"
             : difference < 0  ? "smaller"
             : difference == 0 ? "no difference worth naming"
                               : "not decided");
}

static void print_verdicts(const lb_table *compared, const char *metric) {
    char line[256];
    for (size_t row = 0; row < lb_table_rows(compared); row++) {
        tell_verdict(compared, row, metric, line, sizeof line);
        printf("%s\n", line);
        double base = lb_table_get(compared, row, "self_base_percent");
        double other = lb_table_get(compared, row, "self_other_percent");
        if (isfinite(base) && isfinite(other))
            printf("%*sone run and the next of the same condition are %.1f and %.1f %% apart\n", 4,
                   "", base, other);
    }
}

/* Runs that something else disturbed are in the tables, and out of the statistics. */
static void print_disturbed(const lb_table *table) {
    const char *disturbed = meta(table, "disturbed_runs", "0");
    if (strcmp(disturbed, "0") != 0)
        printf("%s: %s of %s runs were disturbed and left out (%s)\n",
               meta(table, "condition", "a result"), disturbed, meta(table, "runs", "?"),
               meta(table, "disturbed_by", "it does not say by what"));
}

static int print_table(const struct options *o, const lb_table *table) {
    lb_error err;
    char *text;
    if (lb_table_format(table, o->format, &text, &err) != LB_OK)
        return fail("%s", err.message);
    fputs(text, stdout);
    lb_free(text);
    return STATUS_OK;
}

/* `compared` and `other` are NULL of one result. */
static int print_text(const struct options *o, const lb_table *base, const lb_table *other,
                      const lb_table *compared) {
    int status = print_forms(base, other);
    if (status != STATUS_OK)
        return status;
    if (is_workload(base, "users"))
        print_peaks(base, other);
    if (compared != NULL) {
        print_relative(compared, metric_of(o, base), base, other);
        print_verdicts(compared, metric_of(o, base));
    }
    print_disturbed(base);
    if (other != NULL)
        print_disturbed(other);
    return STATUS_OK;
}

/* ---- plot ---- */

static void plot_points(FILE *gnuplot, const lb_table *compared, int side) {
    static const char *const names[2][3] = {
        {"median_base", "median_base_low", "median_base_high"},
        {"median_other", "median_other_low", "median_other_high"}};
    for (size_t row = 0; row < lb_table_rows(compared); row++) {
        const char *label = lb_table_label(compared, row);
        double median = lb_table_get(compared, row, names[side][0]);
        double low = lb_table_get(compared, row, names[side][1]);
        double high = lb_table_get(compared, row, names[side][2]);
        if (strncmp(label, "users ", strlen("users ")) != 0 || !isfinite(median))
            continue;
        fprintf(gnuplot, "%d %.6f %.6f %.6f\n", atoi(label + strlen("users ")), median,
                isfinite(low) ? low : median, isfinite(high) ? high : median);
    }
    fprintf(gnuplot, "e\n");
}

/* Names come from files: only what gnuplot takes literally. */
static void print_name(FILE *gnuplot, const char *name) {
    for (; *name != '\0'; name++)
        fputc(strchr("'\\{}_^@&~", *name) == NULL ? *name : ' ', gnuplot);
}

static int plot(const char *path, const lb_table *base, const lb_table *other) {
    static const char *const colours[] = {"#0072B2", "#D55E00"};
    lb_error err;
    lb_table *compared = compare(base, other == NULL ? base : other, "jobs_per_minute", &err);
    if (compared == NULL)
        return fail("%s", err.message);
    FILE *gnuplot = open_plot(path);
    int status = STATUS_ERROR;
    if (gnuplot != NULL) {
        fprintf(gnuplot, "set title 'Throughput against users: medians, 95 %% intervals'\n"
                         "set xlabel 'users'\nset ylabel 'jobs per minute'\n"
                         "set logscale x 2\nset yrange [0:*]\nset key bottom right\n"
                         "set offsets graph 0.03, graph 0.03, graph 0.03, 0\nplot ");
        for (int side = 0; side < (other == NULL ? 1 : 2); side++) {
            fprintf(gnuplot, "%s'-' with yerrorlines lc rgb '%s' pt %d title '",
                    side == 0 ? "" : ", ", colours[side], side == 0 ? 7 : 4);
            print_name(gnuplot, meta(side == 0 ? base : other, "condition", "result"));
            fprintf(gnuplot, "'");
        }
        fprintf(gnuplot, "\n");
        for (int side = 0; side < (other == NULL ? 1 : 2); side++)
            plot_points(gnuplot, compared, side);
        status = close_plot(gnuplot, path);
    }
    lb_table_free(compared);
    return status;
}

/* ---- a page to share ---- */

static void page_findings(struct page *page, const lb_table *result) {
    static const char *const whens[] = {"host", "run"};
    page_heading(page, meta(result, "condition", "The result"));
    for (int when = 0; when < 2; when++)
        for (int kind = LB_FINDING_NONE; kind <= LB_FINDING_UNMEASURED; kind++) {
            char key[64];
            snprintf(key, sizeof key, "finding_%s_%s", whens[when],
                     lb_finding_name((lb_finding_kind)kind));
            if (lb_table_meta(result, key) != NULL)
                page_item(page, lb_table_meta(result, key));
        }
    page_table(page, result, NULL);
}

static int save_page(const struct options *o, const lb_table *base, const lb_table *other,
                     const lb_table *compared) {
    char line[256];
    snprintf(line, sizeof line, "Under load: %s", meta(base, "workload", "two results"));
    struct page *page = page_new(line);
    if (page == NULL)
        return STATUS_ERROR;
    if (other != NULL) {
        snprintf(line, sizeof line, "%s against %s", meta(other, "condition", "other"),
                 meta(base, "condition", "base"));
        page_lead(page, line);
    }
    for (size_t row = 0; compared != NULL && row < lb_table_rows(compared); row++) {
        tell_verdict(compared, row, metric_of(o, base), line, sizeof line);
        page_item(page, line);
    }
    const char *picture = is_workload(base, "users") ? page_picture_path(page) : NULL;
    if (picture != NULL)
        page_picture(page, plot(picture, base, other),
                     "Throughput against users: medians with intervals of 95 %.");
    if (compared != NULL)
        page_table(page, compared, NULL);
    page_findings(page, base);
    if (other != NULL)
        page_findings(page, other);
    return page_save(page, o->html);
}

/* ---- all of it ---- */

static int measure(const struct options *o, lb_table **ret_tables) {
    const lb_condition *conditions[SIDES] = {&o->conditions[0], &o->conditions[1]};
    size_t n = o->condition_count == 0 ? 1 : o->condition_count;
    lb_error err;
    if (lb_experiment_throughput(NULL, conditions, n, &o->throughput, ret_tables, &err) != LB_OK)
        return give_up(&err);
    int status = STATUS_OK;
    for (size_t i = 0; i < o->save_count && status == STATUS_OK; i++)
        status = save(o->save[i], ret_tables[i]);
    return status;
}

static int show(const struct options *o, const lb_table *base, const lb_table *other) {
    lb_table *compared = NULL;
    lb_error err;
    if (other != NULL && (compared = compare(base, other, metric_of(o, base), &err)) == NULL)
        return fail("%s", err.message);
    int status = o->format == LB_FORMAT_TEXT ? print_text(o, base, other, compared)
                                             : print_table(o, compared == NULL ? base : compared);
    status = finish(status);
    if (o->plot != NULL && plot(o->plot, base, other) != STATUS_OK)
        status = STATUS_ERROR;
    if (o->html != NULL && save_page(o, base, other, compared) != STATUS_OK)
        status = STATUS_ERROR;
    lb_table_free(compared);
    return status;
}

int main(int argc, char **argv) {
    struct options o = {.format = LB_FORMAT_TEXT};
    lb_throughput_options_init(&o.throughput, sizeof o.throughput);
    for (size_t i = 0; i < SIDES; i++)
        lb_condition_init(&o.conditions[i], sizeof o.conditions[i]);
    int status = parse_options(argc, argv, &o);
    if (status < 0)
        status = check_rest(argc, argv, &o);
    if (status >= 0)
        return status;
    catch_interrupts();
    o.throughput.progress = show_progress;
    o.throughput.progress_user = "measuring";
    lb_table *tables[SIDES] = {NULL, NULL};
    if (o.measure) {
        status = measure(&o, tables);
    } else {
        status = load(argv[optind], &tables[0]);
        if (status == STATUS_OK)
            status = load(argv[optind + 1], &tables[1]);
    }
    /* What was measured is shown, wherever it could not be saved. */
    if (status == STATUS_OK || (o.measure && tables[0] != NULL)) {
        int shown = show(&o, tables[0], tables[1]);
        status = status == STATUS_OK ? shown : status;
    }
    for (size_t i = 0; i < SIDES; i++)
        lb_table_free(tables[i]);
    return status;
}
