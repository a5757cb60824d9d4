/* SPDX-License-Identifier: BSD-3-Clause */
/* How long do processes take that run together on cores which are shared by a policy? */
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "charts.h"
#include "common.h"

static const char usage[] =
    "usage: lbsched-predict --cores N [OPTION]... WORK...\n"
    "       lbsched-predict --cores N [OPTION]... --file FILE\n"
    "Predicts how long processes take that need WORK CPU seconds each (inf: for ever) and run\n"
    "together on N cores.\n"
    "\n"
    "  -c, --cores N            how many cores there are\n"
    "  -p, --policy NAME        how processes are balanced among them: none, lazy, active or\n"
    "                           immediate (default)\n"
    "      --preset NAME        as windows-7, linux-2.6.22 or linux-2.6.31 did it\n"
    "      --first-cores A,B,.. the cores where the processes start, from 0; an empty one and\n"
    "                           those not named go to the core with the fewest\n"
    "      --weights A,B,..     their weights; an empty one and those not named have 1\n"
    "  -f, --file FILE          the processes from a table: a header row of work_s and, as\n"
    "                           needed, first_core, weight and arrival_s, then a row for each\n"
    "                           process, separated by commas (- for standard input)\n"
    "      --group-cores N      active: groups of N cores (sockets, say) are balanced by the\n"
    "                           weight of their processes\n"
    "      --balance-delay S    lazy, active: seconds until an imbalance is acted upon\n"
    "      --rotation-time S    immediate: mean seconds until an uneven share moves on\n"
    "      --exact              weigh every possible course, or fail\n"
    "      --samples N          draw N courses (default: until each mean's standard error\n"
    "                           is 0.1 % of it, 100000 at most)\n"
    "      --seed N             draw from this number (default 0)\n"
    "      --json, --csv        print the table as one JSON object, or as CSV\n"
    "      --trace FILE         write one course, that of the seed, as a trace, to look at or to\n"
    "                           classify\n"
    "      --plot FILE          draw that course to FILE.svg or FILE.png (needs gnuplot)\n"
    "      --chart KIND         what of it: units, their durations over time (default); slices,\n"
    "                           which process ran on which core; profile, durations against\n"
    "                           running processes; or latency, how long imbalances lasted\n"
    "      --unit-work S        CPU seconds of its units (default: a hundredth of the longest "
    "work)\n"
    "      --slice S            with its time slices, of S seconds for a weight of 1\n"
    "  -h, --help               print this and exit\n"
    "  -V, --version            print the version and exit\n"
    "\n"
    "A process's duration, and the makespan (from 0 to the end of the last that ends), is a "
    "random\n"
    "variable where balancing has a choice: mean, stddev, min and max are its own, standard_error\n"
    "that of the mean. exact is 1 where every course was weighed, 0 where courses were drawn.\n"
    "alone_s is what the process would take with the fastest core to itself, slowdown the mean\n"
    "against that, utilisation what is used of all cores until the end.\n"
    "\n"
    "Exit status: 0 predicted, 1 an error, 2 a wrong command line.\n";

/* Distributions are kept whole: this bounds their memory. */
enum {
    SAMPLES_MAX = 100000
};

struct options {
    lb_model_options model;
    lb_estimate_options estimate;
    const char *preset, *first_cores, *weights, *file, *trace, *plot;
    enum chart chart;
    double unit_work, slice; /* of the trace; unit_work 0: by the works */
    lb_format format;
    lb_table *processes;
};

/* ---- what to predict for: a table with a row for each process ---- */

/* The next field of "A,,B", which *list is moved behind; "" when there is none left. */
static const char *next_field(const char **list, char field[64]) {
    size_t length = *list != NULL ? strcspn(*list, ",") : 0;
    snprintf(field, 64, "%.*s", (int)length, *list != NULL ? *list : "");
    *list = *list != NULL && (*list)[length] == ',' ? *list + length + 1 : NULL;
    return field;
}

static int read_arguments(char **works, int n, const struct options *options, lb_table *table) {
    lb_error err;
    const char *cores = options->first_cores, *weights = options->weights;
    for (int i = 0; i < n; i++) {
        char core[64], weight[64];
        double row[] = {NAN, NAN, NAN};
        if (!parse_number(works[i], 0, INFINITY, &row[0]))
            return usage_error("work %s: seconds, 0 or more, or inf", works[i]);
        if (*next_field(&cores, core) != '\0' && !parse_number(core, 0, UINT32_MAX, &row[1]))
            return usage_error("--first-cores: %s is not the number of a core", core);
        if (*next_field(&weights, weight) != '\0' && !parse_number(weight, 0, 1e300, &row[2]))
            return usage_error("--weights: %s is not a weight", weight);
        if (lb_table_add_row(table, NULL, row, &err) != LB_OK)
            return fail("%s", err.message);
    }
    if (cores != NULL || weights != NULL)
        return usage_error("%s: more than there are processes",
                           cores != NULL ? "--first-cores" : "--weights");
    return STATUS_OK;
}

static int read_table(const char *path, lb_table **ret_table) {
    lb_error err;
    char *text;
    size_t length;
    if (read_all(path, &text, &length) != STATUS_OK)
        return STATUS_ERROR;
    lb_status status = lb_table_parse(text, length, ret_table, &err);
    free(text);
    if (status != LB_OK)
        return fail("%s: %s", path, err.message);
    for (size_t column = 0; column < lb_table_columns(*ret_table); column++) {
        const char *name = lb_table_name(*ret_table, column);
        if (strcmp(name, "work_s") != 0 && strcmp(name, "first_core") != 0 &&
            strcmp(name, "weight") != 0 && strcmp(name, "arrival_s") != 0)
            return fail("%s: column %s is none of work_s, first_core, weight, arrival_s", path,
                        name);
    }
    return STATUS_OK;
}

/* A missing column and an empty field are NAN: not set. */
static int fill_workload(lb_workload *workload, const lb_table *table) {
    lb_error err;
    for (size_t i = 0; i < lb_table_rows(table); i++) {
        double core = lb_table_get(table, i, "first_core");
        double weight = lb_table_get(table, i, "weight");
        double arrival = lb_table_get(table, i, "arrival_s");
        if (!isnan(core) && !(core >= 0 && core <= UINT32_MAX && core == floor(core)))
            return fail("process %zu: first core %g is not the number of a core", i, core);
        if (lb_workload_add(workload, lb_table_get(table, i, "work_s"), NULL, &err) != LB_OK ||
            (!isnan(arrival) && lb_workload_set_arrival(workload, i, arrival, &err) != LB_OK) ||
            (!isnan(core) &&
             lb_workload_set_first_core(workload, i, (uint32_t)core, &err) != LB_OK) ||
            (!isnan(weight) && lb_workload_set_weight(workload, i, weight, &err) != LB_OK))
            return fail("process %zu: %s", i, err.message);
    }
    return STATUS_OK;
}

/* ---- the answer ---- */

/* One course, to a file and as a picture. */
static int save_trace(const lb_model *model, const lb_workload *workload,
                      const struct options *options) {
    lb_error err;
    lb_trace *trace;
    int status = STATUS_OK;
    double unit_work = options->unit_work, longest = 0;
    for (size_t i = 0; i < lb_table_rows(options->processes); i++)
        longest = fmax(longest, lb_table_get(options->processes, i, "work_s"));
    if (unit_work == 0)
        unit_work = longest > 0 && longest < INFINITY ? longest / 100 : 1;
    if (lb_model_trace(model, workload, unit_work, options->slice, options->estimate.seed, &trace,
                       &err) != LB_OK)
        return fail("%s: %s", options->trace != NULL ? "--trace" : "--plot", err.message);
    if (options->trace != NULL && lb_trace_save(trace, options->trace, LB_TRACE_CSV, &err) != LB_OK)
        status = fail("%s", err.message);
    if (options->plot != NULL &&
        draw_chart(options->chart, trace, model, options->plot) != STATUS_OK)
        status = STATUS_ERROR;
    lb_trace_free(trace);
    return status;
}

static int predict(const lb_model *model, const struct options *options) {
    lb_error err;
    lb_workload *workload = NULL;
    lb_table *result = NULL;
    char *text = NULL;
    int status = STATUS_ERROR;
    if (lb_workload_new(&workload, &err) != LB_OK) {
        fail("%s", err.message);
        goto done;
    }
    if (fill_workload(workload, options->processes) != STATUS_OK)
        goto done;
    if (lb_model_summary(model, workload, &options->estimate, &result, &err) != LB_OK ||
        lb_table_format(result, options->format, &text, &err) != LB_OK) {
        fail("%s", err.message);
        goto done;
    }
    printf("%s", text);
    status = options->trace == NULL && options->plot == NULL ? STATUS_OK
                                                             : save_trace(model, workload, options);
done:
    lb_free(text);
    lb_table_free(result);
    lb_workload_free(workload);
    return status;
}

/* ---- the command line ---- */

/* Returns -1, or the status to exit with. */
static int parse(int argc, char **argv, struct options *ret_options) {
    enum {
        PRESET = 256,
        FIRST_CORES,
        WEIGHTS,
        GROUPS,
        DELAY,
        ROTATION,
        EXACT,
        SAMPLES,
        SEED,
        JSON,
        CSV,
        TRACE,
        UNIT_WORK,
        SLICE,
        PLOT,
        CHART
    };
    static const struct option long_options[] = {
        {"cores", required_argument, NULL, 'c'},
        {"policy", required_argument, NULL, 'p'},
        {"preset", required_argument, NULL, PRESET},
        {"first-cores", required_argument, NULL, FIRST_CORES},
        {"weights", required_argument, NULL, WEIGHTS},
        {"file", required_argument, NULL, 'f'},
        {"group-cores", required_argument, NULL, GROUPS},
        {"balance-delay", required_argument, NULL, DELAY},
        {"rotation-time", required_argument, NULL, ROTATION},
        {"exact", no_argument, NULL, EXACT},
        {"samples", required_argument, NULL, SAMPLES},
        {"seed", required_argument, NULL, SEED},
        {"json", no_argument, NULL, JSON},
        {"csv", no_argument, NULL, CSV},
        {"trace", required_argument, NULL, TRACE},
        {"unit-work", required_argument, NULL, UNIT_WORK},
        {"slice", required_argument, NULL, SLICE},
        {"plot", required_argument, NULL, PLOT},
        {"chart", required_argument, NULL, CHART},
        {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'V'},
        {NULL, 0, NULL, 0},
    };
    uint64_t number;
    bool own_model = false, exact = false;
    *ret_options = (struct options){.format = LB_FORMAT_TEXT};
    lb_model_options *model = &ret_options->model;
    lb_model_options_init(model, sizeof *model);
    model->cores = 0;
    lb_estimate_options *estimate = &ret_options->estimate;
    lb_estimate_options_init(estimate, sizeof *estimate);
    estimate->max_samples = SAMPLES_MAX;
    estimate->progress = show_progress;
    estimate->progress_user = "drawing";
    for (int option; (option = getopt_long(argc, argv, "c:p:f:hV", long_options, NULL)) != -1;) {
        switch (option) {
        case 'c':
            if (!parse_integer(optarg, 1, UINT32_MAX, &number))
                return usage_error("--cores %s: a whole number, 1 or more", optarg);
            model->cores = (uint32_t)number;
            break;
        case 'p':
            own_model = true;
            model->policy = LB_POLICY_NONE;
            while (model->policy <= LB_POLICY_IMMEDIATE &&
                   strcmp(optarg, policy_name((lb_policy)model->policy)) != 0)
                model->policy++;
            if (model->policy > LB_POLICY_IMMEDIATE)
                return usage_error("--policy %s: none, lazy, active or immediate", optarg);
            break;
        case PRESET:
            ret_options->preset = optarg;
            break;
        case FIRST_CORES:
            ret_options->first_cores = optarg;
            break;
        case WEIGHTS:
            ret_options->weights = optarg;
            break;
        case 'f':
            ret_options->file = optarg;
            break;
        case GROUPS:
            own_model = true;
            if (!parse_integer(optarg, 1, UINT32_MAX, &number))
                return usage_error("--group-cores %s: a whole number, 1 or more", optarg);
            model->group_cores = (uint32_t)number;
            break;
        case DELAY:
            own_model = true;
            if (!parse_number(optarg, 0, 1e300, &model->balance_delay))
                return usage_error("--balance-delay %s: seconds, 0 or more", optarg);
            break;
        case ROTATION:
            own_model = true;
            if (!parse_number(optarg, 0, 1e300, &model->rotation_time))
                return usage_error("--rotation-time %s: seconds, 0 or more", optarg);
            break;
        case EXACT:
            exact = true;
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
        case TRACE:
            ret_options->trace = optarg;
            break;
        case UNIT_WORK:
            if (!parse_number(optarg, 1e-300, 1e300, &ret_options->unit_work))
                return usage_error("--unit-work %s: seconds, above 0", optarg);
            break;
        case SLICE:
            if (!parse_number(optarg, 1e-300, 1e300, &ret_options->slice))
                return usage_error("--slice %s: seconds, above 0", optarg);
            break;
        case PLOT:
            if (!is_plot_path(ret_options->plot = optarg))
                return usage_error("--plot %s: the name must end in .svg or .png", optarg);
            break;
        case CHART:
            if (!parse_chart(optarg, &ret_options->chart))
                return usage_error("--chart %s: units, slices, profile or latency", optarg);
            break;
        case 'h':
            printf("%s", usage);
            return finish(STATUS_OK);
        case 'V':
            printf("lbsched-predict (lbsched) %s\n", lb_version());
            return finish(STATUS_OK);
        default:
            return usage_error("wrong option");
        }
    }
    if (model->cores == 0)
        return usage_error("--cores is needed");
    if ((ret_options->file != NULL) == (optind < argc))
        return usage_error("either works or a --file are needed");
    if (ret_options->file != NULL &&
        (ret_options->first_cores != NULL || ret_options->weights != NULL))
        return usage_error("with a --file first cores and weights stand in it");
    if (ret_options->preset != NULL && own_model)
        return usage_error(
            "--preset says the policy; delays, rotation and groups have no part in it");
    if (ret_options->trace == NULL && ret_options->plot == NULL &&
        (ret_options->unit_work != 0 || ret_options->slice != 0))
        return usage_error("--unit-work and --slice say what is in a --trace or --plot");
    if (ret_options->chart == CHART_SLICES && ret_options->slice == 0)
        return usage_error("--chart slices: how long they are says --slice");
    if (exact && estimate->samples != 0)
        return usage_error("--exact and --samples exclude each other");
    if (exact)
        estimate->method = LB_METHOD_EXACT;
    return -1;
}

int main(int argc, char **argv) {
    static const char *const columns[] = {"work_s", "first_core", "weight"};
    struct options options;
    int status = parse(argc, argv, &options);
    if (status >= 0)
        return status;

    lb_error err;
    lb_model *model;
    lb_table **table = &options.processes;
    if ((options.preset != NULL ? lb_model_preset(options.preset, options.model.cores, &model, &err)
                                : lb_model_new(&options.model, &model, &err)) != LB_OK)
        return fail("%s", err.message);
    if (options.file != NULL)
        status = read_table(options.file, table);
    else if (lb_table_new(columns, 3, table, &err) != LB_OK)
        status = fail("%s", err.message);
    else
        status = read_arguments(argv + optind, argc - optind, &options, *table);
    if (status == STATUS_OK)
        status = predict(model, &options);
    lb_table_free(*table);
    lb_model_free(model);
    return finish(status);
}
