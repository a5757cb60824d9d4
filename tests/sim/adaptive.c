/* SPDX-License-Identifier: BSD-3-Clause */
/* The adaptive experiment on simulated machines: which verdict it comes to, and after how long.
 * A run is simulated anew from the start for each look at it, with the ends decided so far; as the
 * simulator draws nothing for an end to come, what was seen before stays as it was. */
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/adaptive.h"
#include "timeslice.h"

#define HORIZON 0.05 /* all others end that long after the look, in seconds */

typedef struct outcome {
    lb_policy policy;
    double probability, seconds;
    uint32_t ended;
} outcome;

static void fail(const char *what) {
    fprintf(stderr, "adaptive: %s\n", what);
    exit(1);
}

/* The part of a simulated run up to a time, and where each task was then. */
static lb_trace *look(const timeslice_config *config, const timeslice_result *result, double time,
                      const double *ends, int32_t *core) {
    int64_t now = (int64_t)(time * 1e9);
    timeslice_result seen = *result;
    lb_error err;
    lb_trace *trace = NULL;
    size_t slices = 0;
    for (seen.unit_count = 0; seen.unit_count < result->unit_count; seen.unit_count++)
        if (result->units[seen.unit_count].end_ns > now)
            break;
    for (uint32_t i = 0; i < result->tasks; i++)
        core[i] = (int32_t)result->truth.first_core[i];
    seen.slices = calloc(result->slice_count + 1, sizeof *seen.slices);
    for (size_t i = 0; i < result->slice_count; i++) {
        lb_slice slice = result->slices[i];
        if (slice.start_ns >= now)
            continue;
        core[slice.task] = slice.core;
        slice.end_ns = slice.end_ns < now ? slice.end_ns : now;
        seen.slices[slices++] = slice;
    }
    seen.slice_count = config->slices ? slices : 0;
    if (timeslice_trace(&seen, &trace, &err) != LB_OK)
        fail(err.message);
    free(seen.slices);
    for (uint32_t i = 0; i < result->tasks; i++)
        if (ends[i] <= time)
            core[i] = -1;
    return trace;
}

static outcome run(timeslice_config config, double budget, bool slices, bool verbose) {
    static double ends[TIMESLICE_CORES_MAX * 8];
    static int32_t core[TIMESLICE_CORES_MAX * 8];
    static int32_t seen_core[TIMESLICE_CORES_MAX * 8];
    static uint32_t sizes[TIMESLICE_CORES_MAX];
    uint32_t n = config.cores * config.tasks_per_core;
    double turn = config.unit_work > config.slice ? config.unit_work : config.slice;
    outcome got = {LB_POLICY_UNKNOWN, 0, 0, 0};
    lbi_adaptive adaptive;
    lbi_adaptive_begin(&adaptive, config.cores, n, (int64_t)(turn * 1e9), (int64_t)(budget * 1e9),
                       0.95, sizes, seen_core);
    for (uint32_t i = 0; i < n; i++)
        ends[i] = 1e8;
    for (double time = 0; adaptive.ended < n;) {
        time += (double)lbi_adaptive_pause(&adaptive) / 1e9;
        double until[TIMESLICE_CORES_MAX];
        for (uint32_t i = 0; i < n; i++)
            until[i] = ends[i] < time ? ends[i] : time + HORIZON;
        config.end_time = until;
        config.slices = true; /* to know where tasks are */
        timeslice_result result;
        if (timeslice_run(&config, &result) != TIMESLICE_OK)
            fail("the simulation is refused");
        config.slices = slices;
        lb_trace *trace = look(&config, &result, time, ends, core);
        timeslice_free(&result);
        lb_verdict *verdict = NULL;
        lb_error err;
        if (lb_classify(trace, NULL, &verdict, &err) != LB_OK)
            fail(err.message);
        double probability[LB_POLICY_IMMEDIATE + 1];
        for (int p = 0; p <= LB_POLICY_IMMEDIATE; p++)
            probability[p] = lb_verdict_probability(verdict, (lb_policy)p);
        got.policy = lb_verdict_policy(verdict);
        got.probability = probability[timeslice_verdict(config.policy)];
        got.seconds = time;
        lbi_view view = {(int64_t)(time * 1e9), core, probability};
        uint32_t task = 0;
        lbi_decision decision = lbi_adaptive_decide(&adaptive, &view, &task);
        if (verbose) {
            printf("  %.2f", time);
            for (uint32_t c = 0; c < config.cores && c < 16; c++)
                printf(" %u", sizes[c]);
            for (int p = 0; p <= LB_POLICY_IMMEDIATE; p++)
                printf(" %.4f", probability[p]);
            printf(decision == LBI_DECIDED_END ? " end %u\n" : "\n", task);
            if (decision == LBI_DECIDED_STOP)
                for (size_t i = 0; i < lb_verdict_reason_count(verdict); i++)
                    printf("    %s\n", lb_verdict_reason(verdict, i));
        }
        lb_verdict_free(verdict);
        lb_trace_free(trace);
        if (decision == LBI_DECIDED_STOP)
            break;
        if (decision == LBI_DECIDED_END)
            ends[task] = time;
    }
    got.ended = adaptive.ended;
    return got;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

int main(int argc, char **argv) {
    static const struct option options[] = {{"cores", required_argument, NULL, 'c'},
                                            {"count", required_argument, NULL, 'n'},
                                            {"first", required_argument, NULL, 'f'},
                                            {"slice", required_argument, NULL, 's'},
                                            {"budget", required_argument, NULL, 'b'},
                                            {"tasks-per-core", required_argument, NULL, 'x'},
                                            {"policy", required_argument, NULL, 'p'},
                                            {"jitter", required_argument, NULL, 'j'},
                                            {"outliers", required_argument, NULL, 'o'},
                                            {"delay", required_argument, NULL, 'd'},
                                            {"slices", no_argument, NULL, 'S'},
                                            {"verbose", no_argument, NULL, 'v'},
                                            {"require", no_argument, NULL, 'r'},
                                            {NULL, 0, NULL, 0}};
    timeslice_config config;
    timeslice_defaults(&config);
    config.slice = 0.003;
    config.slice_jitter = 0.2;
    config.jitter = 0.003;
    config.outlier_rate = 0.002;
    config.outlier_factor = 3;
    uint64_t first = 0, count = 10;
    double budget = 17;
    int only = -1;
    bool slices = false, verbose = false, require = false, good = true;
    for (int o; (o = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        switch (o) {
        case 'c':
            config.cores = (uint32_t)atoi(optarg);
            break;
        case 'n':
            count = (uint64_t)atoi(optarg);
            break;
        case 'f':
            first = (uint64_t)atoi(optarg);
            break;
        case 's':
            config.slice = strtod(optarg, NULL);
            break;
        case 'b':
            budget = strtod(optarg, NULL);
            break;
        case 'x':
            config.tasks_per_core = (uint32_t)atoi(optarg);
            break;
        case 'p':
            only = atoi(optarg);
            break;
        case 'j':
            config.jitter = strtod(optarg, NULL);
            break;
        case 'o':
            config.outlier_rate = strtod(optarg, NULL);
            break;
        case 'd':
            config.balance_delay = strtod(optarg, NULL);
            break;
        case 'S':
            slices = true;
            break;
        case 'v':
            verbose = true;
            break;
        case 'r':
            require = true;
            break;
        default:
            return 2;
        }
    }
    for (int policy = 0; policy <= TIMESLICE_SINGLE; policy++) {
        if (only >= 0 && policy != only)
            continue;
        double *seconds = calloc(count, sizeof *seconds);
        unsigned right = 0, unknown = 0, wrong = 0;
        config.policy = (timeslice_policy)policy;
        for (uint64_t i = 0; i < count; i++) {
            config.seed = first + i;
            if (verbose)
                printf("seed %llu\n", (unsigned long long)config.seed);
            outcome got = run(config, budget, slices, verbose);
            seconds[i] = got.seconds;
            if (got.policy == timeslice_verdict(config.policy))
                right++;
            else if (got.policy == LB_POLICY_UNKNOWN)
                unknown++, printf("  unknown: seed %llu, %.4f after %.1f s\n",
                                  (unsigned long long)config.seed, got.probability, got.seconds);
            else
                wrong++, printf("  wrong (%d): seed %llu, %.4f after %.1f s\n", got.policy,
                                (unsigned long long)config.seed, got.probability, got.seconds);
        }
        qsort(seconds, count, sizeof *seconds, ascending);
        printf("%2u cores, %-9s: %3u right, %2u unknown, %2u wrong; %.1f s, %.1f at the median, "
               "%.1f s\n",
               config.cores, timeslice_policy_name(config.policy), right, unknown, wrong,
               seconds[0], seconds[count / 2], seconds[count - 1]);
        fflush(stdout);
        free(seconds);
        good = good && wrong == 0 && unknown * 20 <= count;
    }
    if (require && !good)
        fail("a wrong verdict, or more than 1 in 20 unknown");
    return 0;
}
