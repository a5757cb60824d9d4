/* SPDX-License-Identifier: BSD-3-Clause */
/* What the laboratory asks of lbsched beside detect: is the model right for a scheduler of a policy
 * that is known, what is the machine, and how long did balancing take in a trace? */
#include <lbsched/lbsched.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: probe model POLICY N SEED   runs N random workloads; how far off is the model of that\n"
    "                                   policy, and how far processor sharing?\n"
    "       probe host                  the machine and the findings about it\n"
    "       probe latency TRACE         lb_trace_latency() of a trace file\n"
    "Each prints one JSON object.\n";

static int fail(const lb_error *err) {
    fprintf(stderr, "probe: %s\n", err->message);
    return 1;
}

/* Splitmix64: a number from 0 to 1. */
static double draw(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

/* ---- the model against a scheduler ---- */

enum {
    MOST_TASKS = 256
};

typedef struct experiment {
    lb_host *host;
    lb_model *policy, *sharing;
    lb_workload *workload;
    uint64_t seed;
} experiment;

static void find_ends(const lb_trace *trace, double *ret_ends, uint32_t n) {
    size_t units;
    const lb_unit *unit = lb_trace_units(trace, &units);
    for (; units > 0; units--, unit++)
        if (unit->task < n)
            ret_ends[unit->task] = 1e-9 * (double)unit->end_ns;
}

/* The mean of the differences between predicted and measured ends, in percent. */
static lb_status mean_error(const experiment *e, const lb_model *model, const double *ends,
                            uint32_t n, double *ret_percent, lb_error *err) {
    static lb_duration predicted[MOST_TASKS];
    lb_status status = lb_model_durations(model, e->workload, NULL, predicted, err);
    double sum = 0;
    for (uint32_t i = 0; i < n && status == LB_OK; i++)
        sum += 100 * fabs(predicted[i].mean - ends[i]) / ends[i];
    *ret_percent = sum / n;
    return status;
}

/* 1.5 to 4 tasks a core, of 0.1 to 0.8 s, dealt to the cores in turn. */
static lb_status run_workload(experiment *e, lb_error *err) {
    static double ends[MOST_TASKS];
    uint32_t cores = lb_host_cores(e->host);
    uint32_t n = (uint32_t)(cores * (1.5 + 2.5 * draw(&e->seed)));
    if (n > MOST_TASKS)
        n = MOST_TASKS;
    lb_workload_clear(e->workload);
    for (uint32_t i = 0; i < n; i++) {
        lb_status status = lb_workload_add(e->workload, 0.1 + 0.7 * draw(&e->seed), NULL, err);
        if (status == LB_OK)
            status = lb_workload_set_first_core(e->workload, i, i % cores, err);
        if (status != LB_OK)
            return status;
    }
    lb_experiment_options options;
    lb_experiment_options_init(&options, sizeof options);
    options.budget = 60;
    lb_trace *trace = NULL;
    lb_status status = lb_experiment_workload(e->host, e->workload, &options, &trace, err);
    if (status != LB_OK)
        return status;
    find_ends(trace, ends, n);
    double policy, sharing;
    if ((status = mean_error(e, e->policy, ends, n, &policy, err)) == LB_OK &&
        (status = mean_error(e, e->sharing, ends, n, &sharing, err)) == LB_OK)
        printf("{\"tasks\": %u, \"policy_error_percent\": %.3f, "
               "\"sharing_error_percent\": %.3f}",
               (unsigned)n, policy, sharing);
    lb_trace_free(trace);
    return status;
}

static lb_status new_model(uint32_t cores, const char *policy, lb_model **ret_model,
                           lb_error *err) {
    lb_model_options options;
    lb_model_options_init(&options, sizeof options);
    options.cores = cores;
    options.policy = strcmp(policy, "none") == 0     ? LB_POLICY_NONE
                     : strcmp(policy, "lazy") == 0   ? LB_POLICY_LAZY
                     : strcmp(policy, "active") == 0 ? LB_POLICY_ACTIVE
                                                     : LB_POLICY_IMMEDIATE;
    return lb_model_new(&options, ret_model, err);
}

static int compare_models(const char *policy, int n, uint64_t seed) {
    lb_error err;
    experiment e = {.seed = seed};
    lb_status status = lb_host_open(NULL, &e.host, &err);
    if (status == LB_OK)
        status = lb_workload_new(&e.workload, &err);
    if (status == LB_OK)
        status = new_model(lb_host_cores(e.host), policy, &e.policy, &err);
    if (status == LB_OK)
        status = new_model(lb_host_cores(e.host), "immediate", &e.sharing, &err);
    printf("{\"policy\": \"%s\", \"workloads\": [", policy);
    for (int i = 0; i < n && status == LB_OK; i++) {
        printf(i > 0 ? ",\n" : "\n");
        status = run_workload(&e, &err);
    }
    printf("\n]}\n");
    lb_model_free(e.sharing);
    lb_model_free(e.policy);
    lb_workload_free(e.workload);
    lb_host_free(e.host);
    return status == LB_OK ? 0 : fail(&err);
}

/* ---- the machine ---- */

static int show_host(void) {
    lb_error err;
    lb_host *host;
    if (lb_host_open(NULL, &host, &err) != LB_OK)
        return fail(&err);
    printf("{\"machine\": \"%s\", \"cores\": %u, \"physical_cores\": %u, \"findings\": [",
           lb_host_description(host), (unsigned)lb_host_cores(host),
           (unsigned)lb_host_physical_cores(host));
    for (size_t i = 0; i < lb_host_finding_count(host); i++)
        printf("%s\n{\"kind\": \"%s\", \"sentence\": \"%s\"}", i > 0 ? "," : "",
               lb_finding_name(lb_host_finding_kind(host, i)), lb_host_finding(host, i));
    printf("]}\n");
    lb_host_free(host);
    return 0;
}

/* ---- latency ---- */

static int show_latency(const char *path) {
    lb_error err;
    lb_trace *trace;
    lb_table *table = NULL;
    char *text = NULL;
    if (lb_trace_load(path, &trace, &err) != LB_OK)
        return fail(&err);
    lb_status status = lb_trace_latency(trace, &table, &err);
    if (status == LB_OK)
        status = lb_table_format(table, LB_FORMAT_JSON, &text, &err);
    if (status == LB_OK)
        printf("%s\n", text);
    lb_free(text);
    lb_table_free(table);
    lb_trace_free(trace);
    return status == LB_OK ? 0 : fail(&err);
}

int main(int argc, char **argv) {
    if (argc == 5 && strcmp(argv[1], "model") == 0)
        return compare_models(argv[2], atoi(argv[3]), strtoull(argv[4], NULL, 10));
    if (argc == 2 && strcmp(argv[1], "host") == 0)
        return show_host();
    if (argc == 3 && strcmp(argv[1], "latency") == 0)
        return show_latency(argv[2]);
    fprintf(stderr, "%s", usage);
    return 2;
}
