/* SPDX-License-Identifier: BSD-3-Clause */
/* Which balancing policy made a trace? The verdict of detect.c from a file, without experiment. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "charts.h"
#include "common.h"

static const char usage[] =
    "usage: lbsched-classify [OPTION]... TRACE\n"
    "Infers from a trace file (- for standard input) how tasks were balanced among cores. TRACE "
    "is\n"
    "one of lbsched's own, a table of task and duration, or the sched_switch events that\n"
    "`perf sched script` or `trace-cmd report` print.\n"
    "\n"
    "  -c, --confidence P  how probable a policy must be to be the verdict, 0.5 to below 1\n"
    "                      (default 0.95)\n"
    "      --cores N       how many cores there were, where the recording does not say\n"
    "      --comm NAME     of sched_switch events: only tasks of this name\n"
    "      --unit-work S   CPU seconds of a unit; events are cut into such units (default 0.01)\n"
    "      --json          print one JSON object\n"
    "      --plot FILE     draw the trace to FILE.svg or FILE.png (needs gnuplot)\n"
    "      --chart KIND    what of it: units, their durations over time (default); slices, which\n"
    "                      task ran on which core; profile, durations against running tasks; or\n"
    "                      latency, how long imbalances lasted\n"
    "  -h, --help          print this and exit\n"
    "  -V, --version       print the version and exit\n"
    "\n"
    "Exit status: 0 a policy is the verdict, 3 the trace does not decide, 1 an error, 2 a wrong\n"
    "command line. docs/trace-format.md describes the file.\n";

int main(int argc, char **argv) {
    enum {
        JSON = 256,
        PLOT,
        CHART,
        CORES,
        COMM,
        UNIT_WORK
    };
    static const struct option long_options[] = {
        {"confidence", required_argument, NULL, 'c'},
        {"json", no_argument, NULL, JSON},
        {"plot", required_argument, NULL, PLOT},
        {"chart", required_argument, NULL, CHART},
        {"cores", required_argument, NULL, CORES},
        {"comm", required_argument, NULL, COMM},
        {"unit-work", required_argument, NULL, UNIT_WORK},
        {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'V'},
        {NULL, 0, NULL, 0},
    };
    lb_classify_options options;
    lb_classify_options_init(&options, sizeof options);
    lb_import_options import;
    lb_import_options_init(&import, sizeof import);
    bool json = false;
    const char *plot = NULL;
    enum chart chart = CHART_UNITS;
    double cores;
    for (int option; (option = getopt_long(argc, argv, "c:hV", long_options, NULL)) != -1;) {
        switch (option) {
        case 'c':
            if (!parse_number(optarg, 0.5, 1, &options.confidence) || options.confidence == 1)
                return usage_error("--confidence %s: 0.5 to below 1", optarg);
            break;
        case JSON:
            json = true;
            break;
        case PLOT:
            if (!is_plot_path(plot = optarg))
                return usage_error("--plot %s: the name must end in .svg or .png", optarg);
            break;
        case CHART:
            if (!parse_chart(optarg, &chart))
                return usage_error("--chart %s: units, slices, profile or latency", optarg);
            break;
        case CORES:
            if (!parse_number(optarg, 1, UINT32_MAX, &cores) || cores != (uint32_t)cores)
                return usage_error("--cores %s: 1 to 4294967295", optarg);
            import.cores = (uint32_t)cores;
            break;
        case COMM:
            import.comm = optarg;
            break;
        case UNIT_WORK:
            if (!parse_number(optarg, 1e-9, 1e6, &import.unit_work))
                return usage_error("--unit-work %s: 1e-9 to 1e6", optarg);
            break;
        case 'h':
            printf("%s", usage);
            return finish(STATUS_OK);
        case 'V':
            printf("lbsched-classify (lbsched) %s\n", lb_version());
            return finish(STATUS_OK);
        default:
            return usage_error("wrong option");
        }
    }
    if (argc - optind != 1)
        return usage_error("one trace file is needed");
    const char *path = strcmp(argv[optind], "-") == 0 ? "/dev/stdin" : argv[optind];

    lb_error err;
    lb_trace *trace = NULL;
    lb_verdict *verdict = NULL;
    lb_model *model = NULL;
    lb_table *profile = NULL;
    int status = STATUS_ERROR;
    bool known = false;
    if (lb_trace_import(path, &import, &trace, &err) != LB_OK) {
        bool cores_missing = strncmp(err.message, "cores is 0", 10) == 0;
        /* Of a malformed line the message has the number, of anything else the path. */
        if (err.status == LB_ERR_FORMAT)
            fail("%s: %s", argv[optind], err.message);
        else
            fail("%s%s", err.message, cores_missing ? " (--cores)" : "");
        goto done;
    }
    if (lb_trace_tasks(trace) == 0) {
        fail("%s: no task is in it", argv[optind]);
        goto done;
    }
    if (lb_classify(trace, &options, &verdict, &err) != LB_OK) {
        fail("%s", err.message);
        goto done;
    }
    /* A verdict that is unknown has no model; the profile then stands beside processor sharing. */
    known = lb_verdict_policy(verdict) != LB_POLICY_UNKNOWN;
    if ((known && lb_verdict_model(verdict, &model, &err) != LB_OK) ||
        lb_trace_profile(trace, model, &profile, &err) != LB_OK) {
        fail("%s", err.message);
        goto done;
    }
    if (json) {
        printf("{");
        status = print_verdict_json(verdict, profile);
        printf("}\n");
    } else {
        status = print_verdict(verdict, profile);
    }
    if (plot != NULL && draw_chart(chart, trace, model, plot) != STATUS_OK)
        status = STATUS_ERROR;
    if (status == STATUS_OK && !known)
        status = STATUS_UNKNOWN;
done:
    lb_table_free(profile);
    lb_model_free(model);
    lb_verdict_free(verdict);
    lb_trace_free(trace);
    return finish(status);
}
