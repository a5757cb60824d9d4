/* SPDX-License-Identifier: BSD-3-Clause */
/* How long would work that was measured here take on 4, 8 or 64 cores, under each policy? */
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"

static const char usage[] =
    "usage: lbsched-whatif [OPTION]... WORKS\n"
    "Predicts how long measured tasks would take together on machines of so many cores, under\n"
    "each policy. WORKS (- for standard input) is a trace, a table of task and duration, or\n"
    "recorded sched_switch events. A task's work is the CPU time that was measured; else its\n"
    "units times unit_work_s; else the sum of its durations, which then should have been measured\n"
    "without company.\n"
    "\n"
    "  -c, --cores LIST    numbers of cores (default 4,8,64)\n"
    "  -v, --verdict FILE  what lbsched-detect --json or lbsched-classify --json printed: its\n"
    "                      policy is marked, and has the delays and choices that were measured\n"
    "      --each          a row for each task instead, with its mean duration in seconds under\n"
    "                      each policy\n"
    "      --samples N     draw N courses (default: until each mean's standard error is 0.1 %\n"
    "                      of it, 100000 at most)\n"
    "      --seed N        draw from this number (default 0)\n"
    "      --json, --csv   print the table as one JSON object, or as CSV\n"
    "      --plot FILE     draw makespan / bound against the cores to FILE.svg or FILE.png (needs\n"
    "                      gnuplot)\n"
    "  -h, --help          print this and exit\n"
    "  -V, --version       print the version and exit\n"
    "\n"
    "Columns: mean_s and slowdown are means over the tasks, of their mean durations and of those\n"
    "against running alone; makespan_s is the mean time until all have ended, with its standard\n"
    "deviation, least and most over balancing's random choices; utilisation is what is used of\n"
    "all cores until then; bound_s is what no policy can beat: the longest work, or all work\n"
    "over the cores. verdict is 1 for the policy of the verdict.\n"
    "\n"
    "Cores are taken to be alike, but as many cores as the verdict's have the speeds that were\n"
    "measured.\n"
    "\n"
    "Exit status: 0 predicted, 1 an error, 2 a wrong command line.\n";

enum {
    SAMPLES_MAX = 100000,
    MOST_SIZES = 64
};

struct options {
    uint32_t cores[MOST_SIZES];
    size_t sizes;
    const char *works, *verdict, *plot;
    bool each;
    lb_estimate_options estimate;
    lb_format format;
};

/* What there is to predict for. */
struct problem {
    double *works;
    uint32_t tasks;
    const char *works_from;
    lb_policy policy; /* The verdict's; LB_POLICY_UNKNOWN: none was given, or it is unknown. */
    lb_model *model;  /* The verdict's, or NULL. */
    lb_workload *workload;
};

/* ---- works ---- */

/* What was recorded, whichever form it has; how many cores there were is of no matter here. */
static int import_works(const char *path, lb_trace **ret_trace) {
    lb_error err;
    lb_import_options import;
    char *text;
    size_t length;
    if (read_all(path, &text, &length) != STATUS_OK)
        return STATUS_ERROR;
    lb_import_options_init(&import, sizeof import);
    lb_status status = lb_trace_import_text(text, length, &import, ret_trace, &err);
    if (status == LB_ERR_INVALID) {
        import.cores = 1;
        status = lb_trace_import_text(text, length, &import, ret_trace, &err);
    }
    free(text);
    return status == LB_OK ? STATUS_OK : fail("%s: %s", path, err.message);
}

/* A number that no unit of the trace has is a task without work, and is left out. */
static int read_works(const char *path, struct problem *problem) {
    lb_trace *trace;
    size_t n;
    if (import_works(path, &trace) != STATUS_OK)
        return STATUS_ERROR;
    int status = STATUS_OK;
    const lb_unit *units = lb_trace_units(trace, &n);
    double unit_work = lb_trace_unit_work(trace);
    bool cpu_known = n > 0;
    for (size_t i = 0; i < n; i++)
        cpu_known = cpu_known && units[i].cpu_ns >= 0;
    problem->works_from = cpu_known ? "CPU time" : !isnan(unit_work) ? "units" : "durations";
    problem->works = calloc((size_t)lb_trace_tasks(trace) + 1, sizeof *problem->works);
    if (problem->works == NULL)
        status = fail("no memory for %u tasks", lb_trace_tasks(trace));
    for (size_t i = 0; i < n && status == STATUS_OK; i++) {
        if (i == 0 || units[i].task != units[i - 1].task)
            problem->tasks++;
        problem->works[problem->tasks - 1] +=
            cpu_known           ? 1e-9 * (double)units[i].cpu_ns
            : !isnan(unit_work) ? unit_work
                                : 1e-9 * ((double)units[i].end_ns - (double)units[i].start_ns);
    }
    if (status == STATUS_OK && problem->tasks == 0)
        status = fail("%s: no task is in it", path);
    lb_trace_free(trace);
    return status;
}

/* ---- the verdict ---- */

/* The verdict's own object: detect and classify print it as the member "verdict" of theirs. */
static const char *find_verdict(const char *text, size_t *length) {
    static const char member[] = "\"verdict\":";
    char *at = memmem(text, *length, member, strlen(member));
    if (at == NULL)
        return text;
    at += strcspn(at, "{");
    int depth = 0;
    bool quoted = false;
    const char *end = at;
    for (; *end != '\0'; end++) {
        if (quoted && *end == '\\' && end[1] != '\0')
            end++;
        else if (*end == '"')
            quoted = !quoted;
        else if (!quoted && *end == '{')
            depth++;
        else if (!quoted && *end == '}' && --depth == 0)
            break;
    }
    *length = (size_t)(end - at) + (*end == '}');
    return at;
}

static int read_verdict(const char *path, struct problem *problem) {
    lb_error err;
    lb_verdict *verdict = NULL;
    char *text = NULL;
    size_t length;
    if (read_all(path, &text, &length) != STATUS_OK)
        return STATUS_ERROR;
    char *terminated = realloc(text, length + 1);
    if (terminated == NULL) {
        free(text);
        return fail("no memory for %s", path);
    }
    terminated[length] = '\0';
    const char *own = find_verdict(terminated, &length);
    lb_status status = lb_verdict_parse(own, length, &verdict, &err);
    if (status == LB_OK) {
        problem->policy = lb_verdict_policy(verdict);
        if (problem->policy != LB_POLICY_UNKNOWN)
            status = lb_verdict_model(verdict, &problem->model, &err);
    }
    free(terminated);
    lb_verdict_free(verdict);
    return status == LB_OK ? STATUS_OK : fail("%s: %s", path, err.message);
}

/* ---- predictions ---- */

/* The machine with other cores and another policy: delays and choices are the verdict's where the
 * policy is, since they were measured of no other. */
static lb_status make_model(const struct problem *problem, uint32_t cores, lb_policy policy,
                            lb_model **ret_model, lb_error *err) {
    lb_model_options options;
    lb_model_options_init(&options, sizeof options);
    if (problem->model != NULL && policy == problem->policy)
        lb_model_get_options(problem->model, &options, sizeof options);
    options.core_speeds = NULL;
    if (problem->model != NULL && cores == lb_model_cores(problem->model)) {
        lb_model_options measured;
        lb_model_options_init(&measured, sizeof measured);
        lb_model_get_options(problem->model, &measured, sizeof measured);
        options.core_speeds = measured.core_speeds;
    }
    options.cores = cores;
    options.policy = policy;
    return lb_model_new(&options, ret_model, err);
}

static lb_status summarise(const struct problem *problem, const struct options *options,
                           uint32_t cores, lb_policy policy, lb_table **ret_summary,
                           lb_error *err) {
    lb_model *model = NULL;
    lb_status status = make_model(problem, cores, policy, &model, err);
    if (status == LB_OK)
        status = lb_model_summary(model, problem->workload, &options->estimate, ret_summary, err);
    lb_model_free(model);
    return status;
}

static double mean_of(const lb_table *summary, const char *column, uint32_t tasks) {
    double sum = 0;
    for (uint32_t i = 0; i < tasks; i++)
        sum += lb_table_get(summary, i, column);
    return sum / tasks;
}

/* What no policy can beat on cores that are alike. */
static double bound(const struct problem *problem, uint32_t cores) {
    double sum = 0, longest = 0;
    for (uint32_t i = 0; i < problem->tasks; i++) {
        sum += problem->works[i];
        longest = fmax(longest, problem->works[i]);
    }
    return fmax(longest, sum / cores);
}

static lb_status add_summary(const struct problem *problem, uint32_t cores, lb_policy policy,
                             const lb_table *summary, lb_table *table, lb_error *err) {
    size_t last = problem->tasks;
    double row[] = {cores,
                    policy == problem->policy,
                    mean_of(summary, "mean_s", problem->tasks),
                    mean_of(summary, "slowdown", problem->tasks),
                    lb_table_get(summary, last, "mean_s"),
                    lb_table_get(summary, last, "stddev_s"),
                    lb_table_get(summary, last, "min_s"),
                    lb_table_get(summary, last, "max_s"),
                    bound(problem, cores),
                    lb_table_get(summary, last, "utilisation"),
                    lb_table_get(summary, last, "exact")};
    return lb_table_add_row(table, policy_name(policy), row, err);
}

static lb_status predict_all(const struct problem *problem, const struct options *options,
                             lb_table **ret_table, lb_error *err) {
    static const char *const columns[] = {"cores",          "verdict",        "mean_s",
                                          "slowdown",       "makespan_s",     "makespan_stddev_s",
                                          "makespan_min_s", "makespan_max_s", "bound_s",
                                          "utilisation",    "exact"};
    lb_status status = lb_table_new(columns, sizeof columns / sizeof *columns, ret_table, err);
    for (size_t i = 0; i < options->sizes && status == LB_OK; i++)
        for (int policy = LB_POLICY_NONE; policy <= LB_POLICY_IMMEDIATE && status == LB_OK;
             policy++) {
            lb_table *summary = NULL;
            status =
                summarise(problem, options, options->cores[i], (lb_policy)policy, &summary, err);
            if (status == LB_OK)
                status = add_summary(problem, options->cores[i], (lb_policy)policy, summary,
                                     *ret_table, err);
            lb_table_free(summary);
        }
    return status;
}

static lb_status add_each(const struct problem *problem, uint32_t cores, lb_table *const *summaries,
                          lb_table *table, lb_error *err) {
    lb_status status = LB_OK;
    for (uint32_t task = 0; task < problem->tasks && status == LB_OK; task++) {
        double row[] = {cores, problem->works[task], NAN, NAN, NAN, NAN};
        char label[32];
        snprintf(label, sizeof label, "task %u", task);
        for (int i = 0; i < 4; i++)
            row[2 + i] = lb_table_get(summaries[i], task, "mean_s");
        status = lb_table_add_row(table, label, row, err);
    }
    return status;
}

static lb_status predict_each(const struct problem *problem, const struct options *options,
                              lb_table **ret_table, lb_error *err) {
    static const char *const columns[] = {"cores",  "work_s",   "none_s",
                                          "lazy_s", "active_s", "immediate_s"};
    lb_status status = lb_table_new(columns, 6, ret_table, err);
    for (size_t i = 0; i < options->sizes && status == LB_OK; i++) {
        lb_table *summaries[4] = {NULL};
        for (int k = 0; k < 4 && status == LB_OK; k++)
            status = summarise(problem, options, options->cores[i], (lb_policy)(LB_POLICY_NONE + k),
                               &summaries[k], err);
        if (status == LB_OK)
            status = add_each(problem, options->cores[i], summaries, *ret_table, err);
        for (int k = 0; k < 4; k++)
            lb_table_free(summaries[k]);
    }
    return status;
}

static lb_status describe(const struct problem *problem, const struct options *options,
                          lb_table *table, lb_error *err) {
    char tasks[16];
    snprintf(tasks, sizeof tasks, "%u", problem->tasks);
    lb_status status = lb_table_set_meta(table, "tasks", tasks, err);
    if (status == LB_OK)
        status = lb_table_set_meta(table, "works_from", problem->works_from, err);
    if (status == LB_OK && options->verdict != NULL)
        status = lb_table_set_meta(table, "verdict", policy_name(problem->policy), err);
    return status;
}

/* ---- the picture ---- */

/* Makespans of different sizes lie so far apart that policies would fall together: what is drawn is
 * how much longer than the bound they are. */
static int plot(const char *path, const lb_table *table) {
    static const char *const looks[] = {"lc rgb '#D55E00' pt 4", "lc rgb '#0072B2' pt 7",
                                        "lc rgb '#009E73' pt 9", "lc rgb '#CC79A7' pt 12"};
    if (!(lb_table_get(table, 0, "bound_s") > 0))
        return fail("nothing to plot to %s: no task has work", path);
    FILE *gnuplot = open_plot(path);
    if (gnuplot == NULL)
        return STATUS_ERROR;
    fprintf(gnuplot,
            "set title 'Time until all tasks have ended, against what no policy can beat'\n"
            "set xlabel 'cores'\n"
            "set ylabel 'makespan / bound'\n"
            "set logscale x\n"
            "set xrange [*<%.1f:*]\n"
            "set yrange [*<0.95:1.1<*]\n"
            "set offsets 0, 0, graph 0.03, 0\n"
            "set grid ytics lc rgb '#dddddd'\n"
            "set key outside right top\n"
            "set xtics (",
            0.9 * lb_table_get(table, 0, "cores"));
    size_t rows = lb_table_rows(table);
    for (size_t row = 0; row < rows; row += 4)
        fprintf(gnuplot, "%s%.0f", row > 0 ? ", " : "", lb_table_get(table, row, "cores"));
    fprintf(gnuplot, ")\nplot ");
    for (int k = 0; k < 4; k++)
        fprintf(gnuplot, "%s'-' with linespoints %s lw 2 ps 1.2 title '%s%s'", k > 0 ? ", " : "",
                looks[k], policy_name((lb_policy)(LB_POLICY_NONE + k)),
                lb_table_get(table, (size_t)k, "verdict") == 1 ? " (the verdict)" : "");
    fprintf(gnuplot, "\n");
    for (size_t curve = 0; curve < 4; curve++) {
        for (size_t row = curve; row < rows; row += 4)
            fprintf(gnuplot, "%.0f %.9f\n", lb_table_get(table, row, "cores"),
                    lb_table_get(table, row, "makespan_s") / lb_table_get(table, row, "bound_s"));
        fprintf(gnuplot, "e\n");
    }
    return close_plot(gnuplot, path);
}

/* ---- the command line ---- */

static bool parse_cores(const char *text, struct options *options) {
    options->sizes = 0;
    for (;; text++) {
        char word[16] = "";
        size_t length = strcspn(text, ",");
        uint64_t cores;
        if (length >= sizeof word || options->sizes == MOST_SIZES)
            return false;
        memcpy(word, text, length);
        if (!parse_integer(word, 1, 1000000, &cores))
            return false;
        options->cores[options->sizes++] = (uint32_t)cores;
        text += length;
        if (*text == '\0')
            return true;
    }
}

/* Returns -1, or the status to exit with. */
static int parse(int argc, char **argv, struct options *ret_options) {
    enum {
        EACH = 256,
        SAMPLES,
        SEED,
        JSON,
        CSV,
        PLOT
    };
    static const struct option long_options[] = {
        {"cores", required_argument, NULL, 'c'},
        {"verdict", required_argument, NULL, 'v'},
        {"each", no_argument, NULL, EACH},
        {"samples", required_argument, NULL, SAMPLES},
        {"seed", required_argument, NULL, SEED},
        {"json", no_argument, NULL, JSON},
        {"csv", no_argument, NULL, CSV},
        {"plot", required_argument, NULL, PLOT},
        {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'V'},
        {NULL, 0, NULL, 0},
    };
    *ret_options = (struct options){.cores = {4, 8, 64}, .sizes = 3, .format = LB_FORMAT_TEXT};
    lb_estimate_options *estimate = &ret_options->estimate;
    lb_estimate_options_init(estimate, sizeof *estimate);
    estimate->max_samples = SAMPLES_MAX;
    estimate->progress = show_progress;
    estimate->progress_user = "drawing";
    for (int option; (option = getopt_long(argc, argv, "c:v:hV", long_options, NULL)) != -1;) {
        switch (option) {
        case 'c':
            if (!parse_cores(optarg, ret_options))
                return usage_error("--cores %s: up to %d numbers, 1 to 1000000, such as 4,8,64",
                                   optarg, MOST_SIZES);
            break;
        case 'v':
            ret_options->verdict = optarg;
            break;
        case EACH:
            ret_options->each = true;
            break;
        case SAMPLES:
            if (!parse_integer(optarg, 1, UINT64_MAX, &estimate->samples))
                return usage_error("--samples %s: a whole number, 1 or more", optarg);
            estimate->method = LB_METHOD_SAMPLE;
            break;
        case SEED:
            if (!parse_integer(optarg, 0, UINT64_MAX, &estimate->seed))
                return usage_error("--seed %s: a whole number, 0 or more", optarg);
            break;
        case JSON:
            ret_options->format = LB_FORMAT_JSON;
            break;
        case CSV:
            ret_options->format = LB_FORMAT_CSV;
            break;
        case PLOT:
            if (!is_plot_path(ret_options->plot = optarg))
                return usage_error("--plot %s: the name must end in .svg or .png", optarg);
            break;
        case 'h':
            printf("%s", usage);
            return finish(STATUS_OK);
        case 'V':
            printf("lbsched-whatif (lbsched) %s\n", lb_version());
            return finish(STATUS_OK);
        default:
            return usage_error("wrong option");
        }
    }
    if (argc - optind != 1)
        return usage_error("one file of works is needed");
    if (ret_options->each && ret_options->plot != NULL)
        return usage_error("--plot draws makespans, of which --each has none");
    ret_options->works = argv[optind];
    return -1;
}

static int answer(struct problem *problem, const struct options *options) {
    lb_error err;
    lb_table *table = NULL;
    char *text = NULL;
    int status = STATUS_ERROR;
    if (lb_workload_new(&problem->workload, &err) != LB_OK ||
        lb_workload_add_many(problem->workload, problem->works, problem->tasks, NULL, &err) !=
            LB_OK ||
        (options->each ? predict_each : predict_all)(problem, options, &table, &err) != LB_OK ||
        describe(problem, options, table, &err) != LB_OK ||
        lb_table_format(table, options->format, &text, &err) != LB_OK) {
        fail("%s", err.message);
    } else {
        printf("%s", text);
        status = options->plot == NULL ? STATUS_OK : plot(options->plot, table);
    }
    lb_free(text);
    lb_table_free(table);
    return status;
}

int main(int argc, char **argv) {
    struct options options;
    struct problem problem = {.policy = LB_POLICY_UNKNOWN};
    int status = parse(argc, argv, &options);
    if (status >= 0)
        return status;
    status = read_works(options.works, &problem);
    if (status == STATUS_OK && options.verdict != NULL)
        status = read_verdict(options.verdict, &problem);
    if (status == STATUS_OK)
        status = answer(&problem, &options);
    lb_workload_free(problem.workload);
    lb_model_free(problem.model);
    free(problem.works);
    return finish(status);
}
