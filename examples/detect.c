/* SPDX-License-Identifier: BSD-3-Clause */
/* The main job of lbsched, end to end: how does this machine share its cores among processes, and
 * how well does the model that follows predict work which it has not seen? */
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "charts.h"
#include "common.h"
#include "page.h"

static const char usage[] =
    "usage: lbsched-detect [OPTION]...\n"
    "Measures how this machine balances processes among its cores, then predicts a second batch\n"
    "of processes and runs it, to show how far prediction and measurement are apart.\n"
    "\n"
    "      --json         print one JSON object\n"
    "      --trace FILE   save what was measured (docs/trace-format.md; see lbsched-classify)\n"
    "      --plot FILE    draw what was measured to FILE.svg or FILE.png (needs gnuplot)\n"
    "      --chart CHART  what of it: units, their durations over time (default); slices, which\n"
    "                     task ran on which core; profile, durations against running tasks; or\n"
    "                     latency, how long imbalances lasted\n"
    "      --html FILE    write a report to share: one page with verdict, reasons, findings, "
    "tables\n"
    "                     and pictures (without those where gnuplot is not installed)\n"
    "      --budget S     how many seconds the measuring may take, 1 or more (default 15)\n"
    "      --seed N       draw the second batch's works from this number (default: the time)\n"
    "      --measure KIND run another experiment instead and print what it shows: even, profile,\n"
    "                     latency or events (docs/experiments.md)\n"
    "      --self-test    emulate five schedulers instead and see whether each is detected as "
    "itself:\n"
    "                     can verdicts be trusted on this machine? (--budget for each)\n"
    "  -h, --help         print this and exit\n"
    "  -V, --version      print the version and exit\n"
    "\n"
    "Exit status: 0 a policy is the verdict (--self-test: all are right), 3 what was measured "
    "does\n"
    "not decide (one is not), 1 an error, 2 a wrong command line, 130 interrupted (128 and the "
    "signal's number).\n"
    "The machine should be idle otherwise. The scheduling class is inherited: try\n"
    "'chrt -r 1 lbsched-detect' as root.\n";

/* The second batch: this many processes a core, of 0.2 to 2 CPU seconds each. */
enum {
    BATCH_PER_CORE = 3
};
static const double shortest_work = 0.2, longest_work = 2;

struct options {
    bool json, self_test;
    const struct measure *measure;
    const char *trace, *plot, *html;
    enum chart chart;
    uint64_t seed;
    lb_experiment_options experiment;
};

/* Another experiment, and what is to be seen of it. */
static lb_status profile(const lb_trace *trace, lb_table **ret_table, lb_error *err) {
    return lb_trace_profile(trace, NULL, ret_table, err);
}

static const struct measure {
    const char *name;
    lb_experiment_kind kind;
    lb_status (*show)(const lb_trace *trace, lb_table **ret_table, lb_error *err);
} measures[] = {{"even", LB_EXPERIMENT_EVEN, lb_trace_spread},
                {"profile", LB_EXPERIMENT_PROFILE, profile},
                {"latency", LB_EXPERIMENT_LATENCY, lb_trace_latency},
                {"events", LB_EXPERIMENT_EVENTS, lb_trace_events}};

static const struct measure *measure_named(const char *name) {
    for (size_t i = 0; i < sizeof measures / sizeof *measures; i++)
        if (strcmp(measures[i].name, name) == 0)
            return &measures[i];
    return NULL;
}

/* What there is to report; each part NULL until it is known. */
struct findings {
    lb_host *host;
    lb_trace *trace;
    lb_verdict *verdict;
    lb_model *model;
    lb_table *profile;
    lb_trace *batch_trace;
    lb_table *batch;
    double mean_error; /* Of the batch's predictions, percent. */
};

/* Splitmix64: a number from 0 to 1. */
static double draw(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

/* Processes of random work. Where they begin is set too unless all share all cores anyway. */
static lb_status fill_workload(lb_workload *workload, double *works, uint32_t n, uint64_t seed,
                               const lb_model *model, lb_error *err) {
    for (uint32_t i = 0; i < n; i++)
        works[i] = shortest_work + (longest_work - shortest_work) * draw(&seed);
    lb_status status = lb_workload_add_many(workload, works, n, NULL, err);
    if (lb_model_policy(model) == LB_POLICY_IMMEDIATE)
        return status;
    for (uint32_t i = 0; i < n && status == LB_OK; i++)
        status = lb_workload_set_first_core(workload, i, i % lb_model_cores(model), err);
    return status;
}

/* When each of `n` tasks ended, in seconds: the end of its last unit. */
static void find_ends(const lb_trace *trace, double *ret_ends, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        ret_ends[i] = NAN;
    size_t units;
    const lb_unit *unit = lb_trace_units(trace, &units);
    for (; units > 0; units--, unit++)
        if (unit->task < n)
            ret_ends[unit->task] = 1e-9 * (double)unit->end_ns;
}

static lb_status compare(struct findings *findings, const double *works,
                         const lb_duration *predicted, const double *ends, uint32_t n,
                         lb_error *err) {
    static const char *const columns[] = {"task", "work_s", "predicted_s", "measured_s",
                                          "error_percent"};
    lb_status status = lb_table_new(columns, 5, &findings->batch, err);
    double sum = 0;
    for (uint32_t i = 0; i < n && status == LB_OK; i++) {
        double error = 100 * (predicted[i].mean - ends[i]) / ends[i];
        double row[] = {i, works[i], predicted[i].mean, ends[i], error};
        status = lb_table_add_row(findings->batch, NULL, row, err);
        sum += fabs(error);
    }
    findings->mean_error = sum / n;
    return status;
}

/* Predicts a batch that the verdict has not seen, then runs it. */
static lb_status run_batch(struct findings *findings, const struct options *options,
                           lb_error *err) {
    uint32_t n = BATCH_PER_CORE * lb_host_cores(findings->host);
    double *works = calloc(n, sizeof *works), *ends = calloc(n, sizeof *ends);
    lb_duration *predicted = calloc(n, sizeof *predicted);
    lb_workload *workload = NULL;
    lb_experiment_options experiment = options->experiment;
    experiment.progress_user = "checking ";
    /* It takes seconds on an idle machine; on one that is not, the answer is worth waiting for. */
    experiment.budget *= 4;
    lb_status status = LB_ERR_NOMEM;
    if (works == NULL || ends == NULL || predicted == NULL) {
        snprintf(err->message, sizeof err->message, "no memory for %u processes", n);
        goto done;
    }
    if ((status = lb_workload_new(&workload, err)) != LB_OK ||
        (status = fill_workload(workload, works, n, options->seed, findings->model, err)) !=
            LB_OK ||
        (status = lb_model_durations(findings->model, workload, NULL, predicted, err)) != LB_OK ||
        (status = lb_experiment_workload(findings->host, workload, &experiment,
                                         &findings->batch_trace, err)) != LB_OK)
        goto done;
    find_ends(findings->batch_trace, ends, n);
    status = compare(findings, works, predicted, ends, n, err);
done:
    lb_workload_free(workload);
    free(predicted);
    free(ends);
    free(works);
    return status;
}

/* The experiment, the verdict and, if there is one, the model and what it is worth. */
static lb_status measure(struct findings *findings, const struct options *options, lb_error *err) {
    lb_status status =
        lb_detect(findings->host, &options->experiment, &findings->verdict, &findings->trace, err);
    if (status != LB_OK)
        return status;
    if (lb_verdict_policy(findings->verdict) != LB_POLICY_UNKNOWN) {
        status = lb_verdict_model(findings->verdict, &findings->model, err);
        if (status != LB_OK)
            return status;
    }
    return lb_trace_profile(findings->trace, findings->model, &findings->profile, err);
}

/* ---- reports ---- */

/* Above this the rates that were measured are not the scheduler's doing alone. */
static const double quiet_percent = 2;

static double foreign_percent(const lb_trace *trace) {
    const char *percent = lb_trace_meta(trace, "foreign_cpu_percent");
    return percent != NULL ? strtod(percent, NULL) : NAN;
}

static void print_foreign(const lb_trace *trace) {
    double percent = foreign_percent(trace);
    if (isnan(percent))
        printf("What other programs used of the CPU time meanwhile is not known.\n");
    else
        printf("Other programs used %.1f %% of the CPU time meanwhile%s.\n", percent,
               percent > quiet_percent ? ": try again when the machine is idle" : "");
}

/* What the run was like, as the trace tells: a sentence for each kind of finding. */
static const char *run_finding(const lb_trace *trace, int kind) {
    char key[64];
    snprintf(key, sizeof key, "finding_run_%s", lb_finding_name((lb_finding_kind)kind));
    return lb_trace_meta(trace, key);
}

static void print_host_findings(const lb_host *host) {
    for (size_t i = 0; i < lb_host_finding_count(host); i++)
        printf("- %s\n", lb_host_finding(host, i));
}

static void print_run_findings(const lb_trace *trace) {
    for (int kind = LB_FINDING_NONE; kind <= LB_FINDING_UNMEASURED; kind++)
        if (run_finding(trace, kind) != NULL)
            printf("- %s\n", run_finding(trace, kind));
}

static void print_batch(const struct findings *findings) {
    printf("\na second batch, which the verdict has not seen\n"
           "%8s %10s %12s %12s %9s\n",
           "task", "work", "predicted", "measured", "error");
    const lb_table *batch = findings->batch;
    for (size_t row = 0; row < lb_table_rows(batch); row++)
        printf("%8.0f %8.3f s %10.3f s %10.3f s %+7.1f %%\n", lb_table_get(batch, row, "task"),
               lb_table_get(batch, row, "work_s"), lb_table_get(batch, row, "predicted_s"),
               lb_table_get(batch, row, "measured_s"), lb_table_get(batch, row, "error_percent"));
    printf("mean error of the predictions: %.1f %%\n", findings->mean_error);
}

static int report(struct findings *findings, const struct options *options) {
    lb_error err;
    printf("%s\n", lb_host_description(findings->host));
    print_host_findings(findings->host);
    printf("\n");
    fflush(stdout);
    if (measure(findings, options, &err) != LB_OK)
        return give_up(&err);
    if (print_verdict(findings->verdict, findings->profile) != STATUS_OK)
        return STATUS_ERROR;
    printf("\n");
    print_foreign(findings->trace);
    print_run_findings(findings->trace);
    if (findings->model == NULL)
        return STATUS_UNKNOWN;
    fflush(stdout);
    if (run_batch(findings, options, &err) != LB_OK)
        return give_up(&err);
    print_batch(findings);
    printf("The same batch again: --seed %llu\n", (unsigned long long)options->seed);
    print_foreign(findings->batch_trace);
    print_run_findings(findings->batch_trace);
    return STATUS_OK;
}

static void print_foreign_json(const lb_trace *trace) {
    printf(", \"foreign_cpu_percent\": ");
    print_json_number(foreign_percent(trace));
}

static void print_finding_json(int *count, int kind, const char *sentence) {
    printf("%s{\"kind\": ", (*count)++ == 0 ? "" : ", ");
    print_json_string(lb_finding_name((lb_finding_kind)kind));
    printf(", \"text\": ");
    print_json_string(sentence);
    printf("}");
}

static void print_findings_json(const lb_host *host, const lb_trace *trace) {
    int count = 0;
    printf(", \"quota_cpus\": ");
    print_json_number(lb_host_quota(host));
    printf(", \"host_findings\": [");
    for (size_t i = 0; i < lb_host_finding_count(host); i++)
        print_finding_json(&count, (int)lb_host_finding_kind(host, i), lb_host_finding(host, i));
    printf("], \"run_findings\": [");
    count = 0;
    for (int kind = LB_FINDING_NONE; kind <= LB_FINDING_UNMEASURED; kind++)
        if (run_finding(trace, kind) != NULL)
            print_finding_json(&count, kind, run_finding(trace, kind));
    printf("]");
}

static int report_json(struct findings *findings, const struct options *options) {
    lb_error err;
    char *tasks;
    if (measure(findings, options, &err) != LB_OK ||
        (findings->model != NULL && run_batch(findings, options, &err) != LB_OK))
        return give_up(&err);
    printf("{\"lbsched\": \"%s\", \"machine\": ", lb_version());
    print_json_string(lb_host_description(findings->host));
    printf(", \"cores\": %u, \"physical_cores\": %u", lb_host_cores(findings->host),
           lb_host_physical_cores(findings->host));
    print_foreign_json(findings->trace);
    print_findings_json(findings->host, findings->trace);
    printf(", ");
    if (print_verdict_json(findings->verdict, findings->profile) != STATUS_OK)
        return STATUS_ERROR;
    if (findings->model == NULL) {
        printf(", \"batch\": null}\n");
        return STATUS_UNKNOWN;
    }
    if (lb_table_format(findings->batch, LB_FORMAT_JSON, &tasks, &err) != LB_OK)
        return fail("%s", err.message);
    printf(", \"batch\": {\"seed\": %llu, \"mean_error_percent\": ",
           (unsigned long long)options->seed);
    print_json_number(findings->mean_error);
    print_foreign_json(findings->batch_trace);
    printf(", \"tasks\": ");
    print_json_part(tasks);
    printf("}}\n");
    lb_free(tasks);
    return STATUS_OK;
}

/* Each row of the self-test, and how many were not right. */
static int report_self_test(const lb_host *host, const struct options *options) {
    static const char *const policies[] = {"unknown", "none", "lazy", "active", "immediate"};
    lb_error err;
    lb_table *table = NULL;
    char *text = NULL;
    int status = STATUS_OK;
    if (lb_self_test(host, options->seed, &options->experiment, &table, &err) != LB_OK)
        return give_up(&err);
    if (options->json && lb_table_format(table, LB_FORMAT_JSON, &text, &err) != LB_OK)
        return fail("%s", err.message);
    if (options->json)
        printf("%s\n", text);
    else
        printf("%-14s %-10s %12s %9s %14s\n", "emulated", "detected", "probability", "seconds",
               "foreign CPU");
    for (size_t row = 0; row < lb_table_rows(table); row++) {
        if (lb_table_get(table, row, "right") == 0)
            status = STATUS_UNKNOWN;
        if (!options->json)
            printf("%-14s %-10s %12.4f %9.1f %12.2f %%\n", lb_table_label(table, row),
                   policies[(int)lb_table_get(table, row, "policy")],
                   lb_table_get(table, row, "probability"), lb_table_get(table, row, "seconds"),
                   lb_table_get(table, row, "foreign_percent"));
    }
    lb_free(text);
    lb_table_free(table);
    return status;
}

static int report_measure(struct findings *findings, const struct options *options) {
    lb_error err;
    lb_table *table = NULL;
    char *text = NULL;
    if (lb_experiment_run(findings->host, options->measure->kind, &options->experiment,
                          &findings->trace, &err) != LB_OK)
        return give_up(&err);
    if (options->measure->show(findings->trace, &table, &err) != LB_OK ||
        lb_table_format(table, options->json ? LB_FORMAT_JSON : LB_FORMAT_TEXT, &text, &err) !=
            LB_OK) {
        lb_table_free(table);
        return fail("%s", err.message);
    }
    printf("%s", text);
    lb_free(text);
    lb_table_free(table);
    if (!options->json)
        print_foreign(findings->trace);
    return STATUS_OK;
}

/* ---- a page to share ---- */

static void page_findings(struct page *page, const struct findings *findings) {
    char line[80];
    page_heading(page, "The machine");
    page_text(page, lb_host_description(findings->host));
    for (size_t i = 0; i < lb_host_finding_count(findings->host); i++)
        page_item(page, lb_host_finding(findings->host, i));
    page_heading(page, "While it was measured");
    snprintf(line, sizeof line, "Other programs used %.1f %% of the CPU time.",
             foreign_percent(findings->trace));
    page_text(page, isnan(foreign_percent(findings->trace))
                        ? "What other programs used of the CPU time is not known."
                        : line);
    for (int kind = LB_FINDING_NONE; kind <= LB_FINDING_UNMEASURED; kind++)
        if (run_finding(findings->trace, kind) != NULL)
            page_item(page, run_finding(findings->trace, kind));
}

static void page_chart(struct page *page, const struct findings *findings, enum chart chart,
                       const char *caption) {
    const char *path = page_picture_path(page);
    if (path != NULL)
        page_picture(page, draw_chart(chart, findings->trace, findings->model, path), caption);
}

static bool was_balanced(const lb_trace *trace) {
    lb_table *table;
    bool any = false;
    if (lb_trace_latency(trace, &table, NULL) != LB_OK)
        return false;
    for (size_t row = 0; row < lb_table_rows(table) && !any; row++)
        any = isfinite(lb_table_get(table, row, "latency_s"));
    lb_table_free(table);
    return any;
}

static void page_charts(struct page *page, const struct findings *findings) {
    size_t n;
    page_heading(page, "What was measured");
    if (lb_trace_units(findings->trace, &n) != NULL)
        page_chart(page, findings, CHART_UNITS,
                   "Each task repeats the same unit of work; the steps show who shares with whom.");
    if (lb_table_rows(findings->profile) > 0)
        page_chart(page, findings, CHART_PROFILE,
                   "The mean duration of a unit while so many tasks ran, and what the model says.");
    if (was_balanced(findings->trace))
        page_chart(page, findings, CHART_LATENCY,
                   "How long it took until a core without work was filled, and lists evened.");
    if (lb_trace_slices(findings->trace, &n) != NULL)
        page_chart(page, findings, CHART_SLICES, "Each task's slices on the cores.");
    page_table(page, findings->profile, NULL);
}

static int save_page(const struct findings *findings, const struct options *options) {
    lb_error err;
    char *text, line[120];
    if (lb_verdict_format(findings->verdict, LB_FORMAT_TEXT, &text, &err) != LB_OK)
        return fail("%s", err.message);
    struct page *page = page_new("How this machine shares its cores");
    if (page == NULL) {
        lb_free(text);
        return STATUS_ERROR;
    }
    snprintf(line, sizeof line, "Balancing: %s", policy_name(lb_verdict_policy(findings->verdict)));
    page_lead(page, line);
    page_lines(page, text);
    lb_free(text);
    page_findings(page, findings);
    page_charts(page, findings);
    if (findings->batch != NULL) {
        page_heading(page, "A second batch, which the verdict has not seen");
        page_table(page, findings->batch, NULL);
        snprintf(line, sizeof line, "Mean error of the predictions: %.1f %%", findings->mean_error);
        page_text(page, line);
    }
    return page_save(page, options->html);
}

/* What was asked to be kept of the measurement; returns STATUS_ERROR where that failed. */
static int save(const struct findings *findings, const struct options *options) {
    lb_error err;
    int status = STATUS_OK;
    if (findings->trace == NULL)
        return status;
    if (options->trace != NULL &&
        lb_trace_save(findings->trace, options->trace, LB_TRACE_CSV, &err) != LB_OK)
        status = fail("%s", err.message);
    if (options->plot != NULL &&
        draw_chart(options->chart, findings->trace, findings->model, options->plot) != STATUS_OK)
        status = STATUS_ERROR;
    if (options->html != NULL && findings->profile != NULL &&
        save_page(findings, options) != STATUS_OK)
        status = STATUS_ERROR;
    return status;
}

/* ---- the command line ---- */

/* Returns -1, or the status to exit with. */
static int parse(int argc, char **argv, struct options *ret_options) {
    enum {
        JSON = 256,
        TRACE,
        PLOT,
        CHART,
        HTML,
        BUDGET,
        SEED,
        SELF_TEST,
        MEASURE
    };
    static const struct option long_options[] = {
        {"json", no_argument, NULL, JSON},
        {"trace", required_argument, NULL, TRACE},
        {"plot", required_argument, NULL, PLOT},
        {"chart", required_argument, NULL, CHART},
        {"html", required_argument, NULL, HTML},
        {"budget", required_argument, NULL, BUDGET},
        {"seed", required_argument, NULL, SEED},
        {"help", no_argument, NULL, 'h'},
        {"measure", required_argument, NULL, MEASURE},
        {"version", no_argument, NULL, 'V'},
        {"self-test", no_argument, NULL, SELF_TEST},
        {NULL, 0, NULL, 0},
    };
    *ret_options = (struct options){.seed = (uint64_t)time(NULL)};
    lb_experiment_options_init(&ret_options->experiment, sizeof ret_options->experiment);
    ret_options->experiment.budget = 15;
    ret_options->experiment.progress = show_progress;
    ret_options->experiment.progress_user = "measuring";
    for (int option; (option = getopt_long(argc, argv, "hV", long_options, NULL)) != -1;) {
        switch (option) {
        case JSON:
            ret_options->json = true;
            break;
        case TRACE:
            ret_options->trace = optarg;
            break;
        case PLOT:
            if (!is_plot_path(ret_options->plot = optarg))
                return usage_error("--plot %s: the name must end in .svg or .png", optarg);
            break;
        case CHART:
            if (!parse_chart(optarg, &ret_options->chart))
                return usage_error("--chart %s: units, slices, profile or latency", optarg);
            break;
        case HTML:
            ret_options->html = optarg;
            break;
        case BUDGET:
            if (!parse_number(optarg, 1, 1e6, &ret_options->experiment.budget))
                return usage_error("--budget %s: seconds, 1 to 1000000", optarg);
            break;
        case SEED:
            if (!parse_integer(optarg, 0, UINT64_MAX, &ret_options->seed))
                return usage_error("--seed %s: a whole number, 0 or more", optarg);
            break;
        case MEASURE:
            if ((ret_options->measure = measure_named(optarg)) == NULL)
                return usage_error("--measure %s: even, profile, latency or events", optarg);
            break;
        case SELF_TEST:
            ret_options->self_test = true;
            break;
        case 'h':
            printf("%s", usage);
            return finish(STATUS_OK);
        case 'V':
            printf("lbsched-detect (lbsched) %s\n", lb_version());
            return finish(STATUS_OK);
        default:
            return usage_error("wrong option");
        }
    }
    if (ret_options->html != NULL && (ret_options->self_test || ret_options->measure != NULL))
        return usage_error("--html is a report on a detection, not on --measure or --self-test");
    if (optind != argc)
        return usage_error("%s: no arguments but options are taken", argv[optind]);
    return -1;
}

int main(int argc, char **argv) {
    struct options options;
    int status = parse(argc, argv, &options);
    if (status >= 0)
        return status;
    catch_interrupts();

    lb_error err;
    struct findings findings = {0};
    if (lb_host_open(NULL, &findings.host, &err) != LB_OK)
        return fail("%s", err.message);
    if (options.measure != NULL)
        status = report_measure(&findings, &options);
    else if (options.self_test)
        status = report_self_test(findings.host, &options);
    else
        status = options.json ? report_json(&findings, &options) : report(&findings, &options);
    if (interrupted() == 0 && save(&findings, &options) != STATUS_OK)
        status = STATUS_ERROR;
    lb_table_free(findings.batch);
    lb_trace_free(findings.batch_trace);
    lb_table_free(findings.profile);
    lb_model_free(findings.model);
    lb_verdict_free(findings.verdict);
    lb_trace_free(findings.trace);
    lb_host_free(findings.host);
    return interrupted() != 0 ? 128 + interrupted() : finish(status);
}
