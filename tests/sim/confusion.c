/* SPDX-License-Identifier: BSD-3-Clause */
/* Classifies random simulated traces and prints how verdict and truth agree: the confusion matrix,
 * a table by machine size and one of how far the probabilities can be trusted. With --require it
 * fails where a verdict is wrong, or where of the traces of any policy that hold their deciding
 * moment fewer than nine in ten are decided. */
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "draw.h"
#include "report.h"

typedef struct options {
    uint64_t first, count;
    uint32_t noise;
    uint32_t cores;   /* 0: drawn */
    bool one;         /* Of the noises, each trace has one. */
    bool form;        /* The acceptance form. */
    const char *rows; /* The file with a row for each trace, those of earlier runs too; NULL. */
    double seconds;   /* No trace is begun after that time. */
    bool require, require_form, verbose;
} options;

static void die(const char *what, const lb_error *err) {
    fprintf(stderr, "confusion: %s%s%s\n", what, err ? ": " : "", err ? err->message : "");
    exit(2);
}

static double seconds_by(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* One noise of the set, in turn. */
static uint32_t one_of(uint32_t noises, uint64_t seed) {
    uint32_t count = 0;
    for (uint32_t left = noises; left != 0; left &= left - 1)
        count++;
    if (count == 0)
        return 0;
    for (uint64_t skip = seed % count; skip > 0; skip--)
        noises &= noises - 1;
    return noises & (~noises + 1);
}

static void explain(uint64_t seed, uint32_t noise, const options *chosen,
                    const timeslice_config *config, const timeslice_result *result,
                    const lb_verdict *verdict, const char *what) {
    const timeslice_truth *truth = &result->truth;
    printf("%s: %s%u --seed %" PRIu64 ": %s%s on %u x %u, unit %g, slice %g, delay %g%s: "
           "verdict %s (none %.4f, lazy %.4f, active %.4f, immediate %.4f); resolved none/lazy %u, "
           "lazy/active %u, uneven %.3g s\n",
           what, chosen->form ? "--form, noise " : "--draw ", noise, seed,
           timeslice_policy_name(config->policy),
           truth->decidable ? ", decidable," : ", not decidable,", config->cores,
           config->tasks_per_core, config->unit_work, config->slice, config->balance_delay,
           config->cpu_time_hidden ? ", no CPU times" : "",
           report_verdicts[lb_verdict_policy(verdict)],
           lb_verdict_probability(verdict, LB_POLICY_NONE),
           lb_verdict_probability(verdict, LB_POLICY_LAZY),
           lb_verdict_probability(verdict, LB_POLICY_ACTIVE),
           lb_verdict_probability(verdict, LB_POLICY_IMMEDIATE), truth->none_lazy.resolved,
           truth->lazy_active.resolved, (double)truth->uneven.resolved_ns / 1e9);
    for (size_t i = 0; chosen->verbose && i < lb_verdict_reason_count(verdict); i++)
        printf("    %s\n", lb_verdict_reason(verdict, i));
}

static report_row classify(uint64_t seed, const options *chosen) {
    static draw drawn;
    uint32_t noise = chosen->one ? one_of(chosen->noise, seed) : chosen->noise;
    if (chosen->form)
        noise = draw_form(seed, &drawn);
    else
        draw_config_on(seed, noise, chosen->cores, &drawn);
    const timeslice_config *config = &drawn.config;
    timeslice_result result;
    if (timeslice_run(config, &result) != TIMESLICE_OK)
        die("the simulation failed", NULL);
    lb_error err = {0};
    lb_trace *trace;
    if (timeslice_trace(&result, &trace, &err) != LB_OK)
        die("no trace", &err);
    /* Not the time on the wall: others use the machine. */
    double before = seconds_by(CLOCK_PROCESS_CPUTIME_ID);
    lb_verdict *verdict;
    if (lb_classify(trace, NULL, &verdict, &err) != LB_OK)
        die("no verdict", &err);
    lb_policy found = lb_verdict_policy(verdict);
    report_row row = {.seed = seed,
                      .policy = config->policy,
                      .cores = config->cores,
                      .tasks_per_core = config->tasks_per_core,
                      .noise = noise,
                      .decidable = result.truth.decidable,
                      .truth = result.truth.policy,
                      .found = found,
                      .seconds = seconds_by(CLOCK_PROCESS_CPUTIME_ID) - before};
    for (int i = 0; i < REPORT_VERDICTS; i++)
        row.probability[i] = lb_verdict_probability(verdict, (lb_policy)i);
    bool right = found == result.truth.policy;
    bool wrong = !right && found != LB_POLICY_UNKNOWN;
    if (wrong)
        explain(seed, noise, chosen, config, &result, verdict, "WRONG");
    else if (!right && result.truth.decidable && chosen->verbose)
        explain(seed, noise, chosen, config, &result, verdict, "undecided");
    lb_verdict_free(verdict);
    lb_trace_free(trace);
    timeslice_free(&result);
    return row;
}

/* Rows of earlier runs go into the report, and are not made again. A last line that was cut off
 * stays behind, and its trace is made again. */
static FILE *take_up(const char *path, uint64_t first, uint64_t count, bool *done, report *all) {
    FILE *file = fopen(path, "a+");
    if (file == NULL)
        die(path, NULL);
    report_row row;
    rewind(file);
    long whole = 0;
    for (; report_read_row(file, &row); whole = ftell(file)) {
        report_add(all, &row);
        if (row.seed >= first && row.seed - first < count)
            done[row.seed - first] = true;
    }
    if (fflush(file) != 0 || ftruncate(fileno(file), whole) != 0 || fseek(file, 0, SEEK_END) != 0)
        die(path, NULL);
    return file;
}

static void run(report *all, const options *chosen) {
    bool *done = calloc(chosen->count + 1, sizeof *done);
    if (done == NULL)
        die("no memory", NULL);
    double begin = seconds_by(CLOCK_MONOTONIC);
    FILE *rows = NULL;
    if (chosen->rows != NULL)
        rows = take_up(chosen->rows, chosen->first, chosen->count, done, all);
    for (uint64_t i = 0; i < chosen->count; i++) {
        if (done[i])
            continue;
        if (seconds_by(CLOCK_MONOTONIC) - begin >= chosen->seconds)
            break;
        report_row row = classify(chosen->first + i, chosen);
        report_add(all, &row);
        if (rows == NULL)
            continue;
        report_write_row(rows, &row);
        if (fflush(rows) != 0)
            die(chosen->rows, NULL);
    }
    if (rows != NULL && fclose(rows) != 0)
        die(chosen->rows, NULL);
    free(done);
}

static void usage(void) {
    fprintf(stderr,
            "usage: confusion [--first SEED] [--count N] [--noise clean|all|NUMBER] "
            "[--cores 2|4|8|16|32|64] [--one] [--form] [--rows FILE] [--require] [--require-form] "
            "[--verbose]\n");
    exit(2);
}

int main(int argc, char **argv) {
    static const struct option known[] = {
        {"first", required_argument, NULL, 'f'},   {"count", required_argument, NULL, 'c'},
        {"noise", required_argument, NULL, 'n'},   {"require", no_argument, NULL, 'r'},
        {"cores", required_argument, NULL, 'p'},   {"one", no_argument, NULL, 'o'},
        {"verbose", no_argument, NULL, 'v'},       {"form", no_argument, NULL, 'F'},
        {"require-form", no_argument, NULL, 'R'},  {"rows", required_argument, NULL, 'a'},
        {"seconds", required_argument, NULL, 's'}, {NULL, 0, NULL, 0},
    };
    options chosen = {.count = 1000, .noise = DRAW_CLEAN, .seconds = INFINITY};
    int option;
    while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
        switch (option) {
        case 'f':
            chosen.first = strtoull(optarg, NULL, 10);
            break;
        case 'c':
            chosen.count = strtoull(optarg, NULL, 10);
            break;
        case 'n':
            chosen.noise = strcmp(optarg, "clean") == 0 ? DRAW_CLEAN
                           : strcmp(optarg, "all") == 0 ? DRAW_ALL
                                                        : (uint32_t)strtoul(optarg, NULL, 0);
            break;
        case 'p':
            chosen.cores = (uint32_t)strtoul(optarg, NULL, 10);
            break;
        case 'o':
            chosen.one = true;
            break;
        case 'R':
            chosen.require_form = true;
            break;
        case 'r':
            chosen.require = true;
            break;
        case 'F':
            chosen.form = true;
            break;
        case 'a':
            chosen.rows = optarg;
            break;
        case 's':
            chosen.seconds = strtod(optarg, NULL);
            break;
        case 'v':
            chosen.verbose = true;
            break;
        default:
            usage();
        }
    }
    bool known_size = chosen.cores == 0 || (chosen.cores >= 2 && chosen.cores <= DRAW_CORES_MAX &&
                                            (chosen.cores & (chosen.cores - 1)) == 0);
    if (optind < argc || (chosen.count == 0 && chosen.rows == NULL) || !known_size)
        usage();
    static report all;
    run(&all, &chosen);
    report_print(&all);
    /* A run in which nothing could be decided would pass for nothing. */
    bool passed = all.all.wrong == 0;
    for (int i = 0; i < REPORT_TRUTHS; i++) {
        const report_tally *of = &all.by_policy[i];
        passed = passed && of->decidable > 0 && 10 * of->right_decided >= 9 * of->decidable;
    }
    bool form = 1000 * all.all.wrong <= all.all.traces && all.all.decidable > 0 &&
                100 * all.all.right_decided >= 99 * all.all.decidable;
    return (chosen.require && !passed) || (chosen.require_form && !form);
}
