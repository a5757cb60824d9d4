/* SPDX-License-Identifier: BSD-3-Clause */
/* What do large weight differences cost? Measures how much of the machine idles while soakers of a
 * nice level, one a core, meet a normal task; or, with --model, tells what a kernel that balances
 * by group weight would lose. */
#include <getopt.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "page.h"

static const char usage[] =
    "usage: lbsched-weights [OPTION]...\n"
    "Measures what large weight differences cost: how much of the cores idles, and what a normal\n"
    "task gets, while one soaker a core runs at a nice level.\n"
    "\n"
    "  -l, --levels LIST        nice levels, 0 to 19, or idle, parted by commas (all)\n"
    "  -s, --seconds SECONDS    for each level, alone and with the normal tasks (10)\n"
    "  -r, --repeats N          how often each level is looked at (3; modelled 20)\n"
    "  -n, --normal N           how many normal tasks (1)\n"
    "  -m, --model GROUPSxCORES do not measure; tell what Linux 2.6.25 would lose on so many\n"
    "                           sockets of so many cores\n"
    "      --seed N             of the order of levels, and of the model (1)\n"
    "      --csv, --json        the table in that form\n"
    "      --plot FILE          idle share against nice, as .svg or .png, through gnuplot\n"
    "      --html FILE          a report to share: one page with tables, findings and picture\n"
    "                           (without that where gnuplot is not installed)\n"
    "  -h, --help               this text\n"
    "  -V, --version            the version of the library\n"
    "\n"
    "Ends with 0, 1 on an error, 2 on a mistake in the command line.\n";

enum {
    OPTION_CSV = 256,
    OPTION_JSON,
    OPTION_PLOT,
    OPTION_HTML,
    OPTION_SEED,
    MOST_LEVELS = 64
};

struct options {
    lb_weights_options weights;
    int32_t levels[MOST_LEVELS];
    lb_format format;
    const char *plot, *html;
    bool model;
};

static bool parse_levels(const char *text, struct options *o) {
    size_t n = 0;
    for (const char *at = text;; at++) {
        char word[8] = "";
        size_t length = strcspn(at, ",");
        uint64_t level = LB_LEVEL_IDLE;
        if (length >= sizeof word || n == MOST_LEVELS)
            return false;
        memcpy(word, at, length);
        if (strcmp(word, "idle") != 0 && !parse_integer(word, 0, 19, &level))
            return false;
        o->levels[n++] = (int32_t)level;
        at += length;
        if (*at == '\0')
            break;
    }
    o->weights.levels = o->levels;
    o->weights.level_count = n;
    return true;
}

static bool parse_groups(const char *text, lb_weights_options *o) {
    char groups[8];
    uint64_t n, m;
    size_t length = strcspn(text, "x");
    if (text[length] != 'x' || length >= sizeof groups)
        return false;
    memcpy(groups, text, length);
    groups[length] = '\0';
    if (!parse_integer(groups, 1, 4096, &n) || !parse_integer(text + length + 1, 1, 4096 / n, &m))
        return false;
    o->groups = (uint32_t)n;
    o->group_cores = (uint32_t)m;
    return true;
}

/* -1: go on; else an exit status. */
static int parse_options(int argc, char **argv, struct options *o) {
    static const struct option long_options[] = {
        {"levels", required_argument, NULL, 'l'},
        {"seconds", required_argument, NULL, 's'},
        {"repeats", required_argument, NULL, 'r'},
        {"normal", required_argument, NULL, 'n'},
        {"model", required_argument, NULL, 'm'},
        {"seed", required_argument, NULL, OPTION_SEED},
        {"csv", no_argument, NULL, OPTION_CSV},
        {"json", no_argument, NULL, OPTION_JSON},
        {"plot", required_argument, NULL, OPTION_PLOT},
        {"html", required_argument, NULL, OPTION_HTML},
        {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'V'},
        {0},
    };
    uint64_t number;
    for (int option; (option = getopt_long(argc, argv, "l:s:r:n:m:hV", long_options, NULL)) != -1;)
        switch (option) {
        case 'l':
            if (!parse_levels(optarg, o))
                return usage_error("--levels %s: nice levels, 0 to 19, or idle, expected", optarg);
            break;
        case 's':
            if (!parse_number(optarg, 0.2, 3600, &o->weights.seconds))
                return usage_error("--seconds %s: 0.2 to 3600 expected", optarg);
            break;
        case 'r':
            if (!parse_integer(optarg, 1, 1000, &number))
                return usage_error("--repeats %s: 1 to 1000 expected", optarg);
            o->weights.repeats = (uint32_t)number;
            break;
        case 'n':
            if (!parse_integer(optarg, 1, 4096, &number))
                return usage_error("--normal %s: 1 to 4096 expected", optarg);
            o->weights.normal_tasks = (uint32_t)number;
            break;
        case 'm':
            o->model = true;
            if (!parse_groups(optarg, &o->weights))
                return usage_error("--model %s: such as 4x4, 4096 cores at most, expected", optarg);
            break;
        case OPTION_SEED:
            if (!parse_integer(optarg, 0, UINT64_MAX, &o->weights.seed))
                return usage_error("--seed %s: an integer, 0 or more, expected", optarg);
            break;
        case OPTION_CSV:
            o->format = LB_FORMAT_CSV;
            break;
        case OPTION_JSON:
            o->format = LB_FORMAT_JSON;
            break;
        case OPTION_PLOT:
            o->plot = optarg;
            if (!is_plot_path(optarg))
                return usage_error("--plot %s: a name that ends in .svg or .png expected", optarg);
            break;
        case OPTION_HTML:
            o->html = optarg;
            break;
        case 'h':
            fputs(usage, stdout);
            return finish(STATUS_OK);
        case 'V':
            printf("lbsched-weights (lbsched) %s\n", lb_version());
            return finish(STATUS_OK);
        default:
            return STATUS_USAGE;
        }
    return optind < argc ? usage_error("unexpected argument %s", argv[optind]) : -1;
}

static void plot_curve(FILE *gnuplot, const lb_table *table, const char *column) {
    for (size_t i = 0; i < lb_table_rows(table); i++) {
        double value = lb_table_get(table, i, column);
        const char *label = lb_table_label(table, i);
        if (isfinite(value))
            fprintf(gnuplot, "%d %.6f\n",
                    strcmp(label, "idle") == 0 ? LB_LEVEL_IDLE : atoi(label + strlen("nice ")),
                    value);
    }
    fprintf(gnuplot, "e\n");
}

/* `measured` may be NULL. */
static int plot(const char *path, const lb_table *measured, const lb_table *modelled) {
    FILE *gnuplot = open_plot(path);
    if (gnuplot == NULL)
        return STATUS_ERROR;
    fprintf(gnuplot, "set title 'Cores that idle while work waits'\n"
                     "set xlabel 'nice level of the soakers (20: SCHED\\_IDLE)'\n"
                     "set ylabel 'idle (%%)'\n"
                     "set xrange [-0.5:20.5]\n"
                     "set yrange [-0.5:*]\n"
                     "set key outside right top\n"
                     "plot ");
    if (measured != NULL)
        fprintf(gnuplot, "'-' with linespoints lc rgb '#0072B2' pt 7 title 'measured', ");
    fprintf(gnuplot, "'-' with lines dt 3 lc rgb '#000000' title 'ideal', "
                     "'-' with linespoints lc rgb '#D55E00' pt 4 title 'modelled', "
                     "'-' with lines dt 2 lc rgb '#009E73' title 'static rule'\n");
    if (measured != NULL)
        plot_curve(gnuplot, measured, "idle_percent");
    plot_curve(gnuplot, modelled, "ideal_idle_percent");
    plot_curve(gnuplot, modelled, "idle_percent");
    plot_curve(gnuplot, modelled, "static_idle_percent");
    return close_plot(gnuplot, path);
}

/* What the machine is like, and why what is missing was not measured. */
static void page_machine(struct page *page, const lb_table *measured) {
    lb_host *host;
    page_heading(page, "The machine");
    if (lb_host_open(NULL, &host, NULL) == LB_OK) {
        page_text(page, lb_host_description(host));
        for (size_t i = 0; i < lb_host_finding_count(host); i++)
            page_item(page, lb_host_finding(host, i));
        lb_host_free(host);
    }
    if (lb_table_meta(measured, "finding_not_measured") != NULL)
        page_item(page, lb_table_meta(measured, "finding_not_measured"));
}

/* The level that costs most. */
static void page_worst(struct page *page, const lb_table *table) {
    size_t worst = 0;
    char line[160];
    for (size_t i = 1; i < lb_table_rows(table); i++)
        if (lb_table_get(table, i, "idle_percent") > lb_table_get(table, worst, "idle_percent"))
            worst = i;
    snprintf(line, sizeof line, "At most %.2f %% of the cores idle while work waits (soakers: %s).",
             lb_table_get(table, worst, "idle_percent"), lb_table_label(table, worst));
    if (isfinite(lb_table_get(table, worst, "idle_percent")))
        page_lead(page, line);
}

static int save_page(const char *path, const lb_table *measured, const lb_table *modelled) {
    static const char *const columns[] = {"weight_ratio",
                                          "idle_percent",
                                          "idle_stddev",
                                          "control_idle_percent",
                                          "normal_percent",
                                          "ideal_normal_percent",
                                          "soaker_percent",
                                          "ideal_soaker_percent",
                                          "foreign_percent",
                                          "disturbed",
                                          NULL};
    struct page *page = page_new("What large weight differences cost");
    if (page == NULL)
        return STATUS_ERROR;
    page_worst(page, measured != NULL ? measured : modelled);
    page_text(page, "One soaker a core runs at a nice level, and normal tasks beside them. Ideally "
                    "no core idles.");
    const char *picture = page_picture_path(page);
    if (picture != NULL)
        page_picture(page, plot(picture, measured, modelled),
                     "The part of the cores that idles, against the soakers' nice level.");
    if (measured != NULL) {
        page_machine(page, measured);
        page_heading(page, "Measured");
        page_table(page, measured, columns);
    }
    page_heading(page, "Modelled: Linux 2.6.25");
    page_table(page, modelled, NULL);
    return page_save(page, path);
}

/* What Linux 2.6.25 would lose on the machine that was measured. */
static lb_status model_host(const lb_host *host, struct options *o, lb_table **ret_table,
                            lb_error *err) {
    lb_host_groups(host, &o->weights.groups, &o->weights.group_cores);
    o->weights.repeats = 0;
    return lb_model_weights(&o->weights, ret_table, err);
}

static lb_status make(struct options *o, lb_table **ret_measured, lb_table **ret_modelled,
                      lb_error *err) {
    if (o->model)
        return lb_model_weights(&o->weights, ret_modelled, err);
    lb_host *host = NULL;
    lb_status status = lb_host_open(NULL, &host, err);
    if (status == LB_OK)
        status = lb_experiment_weights(host, &o->weights, ret_measured, err);
    if (status == LB_OK && (o->plot != NULL || o->html != NULL))
        status = model_host(host, o, ret_modelled, err);
    lb_host_free(host);
    return status;
}

static int print_table(const struct options *o, const lb_table *table) {
    lb_error err;
    char *text;
    if (lb_table_format(table, o->format, &text, &err) != LB_OK)
        return fail("%s", err.message);
    fputs(text, stdout);
    lb_free(text);
    return finish(STATUS_OK);
}

int main(int argc, char **argv) {
    struct options o = {.format = LB_FORMAT_TEXT};
    lb_weights_options_init(&o.weights, sizeof o.weights);
    int status = parse_options(argc, argv, &o);
    if (status >= 0)
        return status;
    catch_interrupts();
    o.weights.progress = show_progress;
    o.weights.progress_user = o.model ? "modelling" : "measuring";
    lb_table *measured = NULL, *modelled = NULL;
    lb_error err;
    if (make(&o, &measured, &modelled, &err) != LB_OK) {
        status = give_up(&err);
    } else {
        status = print_table(&o, o.model ? modelled : measured);
        if (o.plot != NULL && plot(o.plot, measured, modelled) != STATUS_OK)
            status = STATUS_ERROR;
        if (o.html != NULL && save_page(o.html, measured, modelled) != STATUS_OK)
            status = STATUS_ERROR;
    }
    lb_table_free(measured);
    lb_table_free(modelled);
    return status;
}
