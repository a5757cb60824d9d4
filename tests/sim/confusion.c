/* SPDX-License-Identifier: BSD-3-Clause */
/* Classifies random simulated traces and prints how verdict and truth agree: the confusion matrix,
 * a table by machine size and one of how far the probabilities can be trusted. With --require it
 * fails where a verdict is wrong, or where of the traces of any policy that hold their deciding
 * moment fewer than nine in ten are decided. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "draw.h"
#include "timeslice.h"

#define TRUTHS 5    /* timeslice_policy */
#define VERDICTS 5  /* lb_policy */
#define SIZES 6     /* 2, 4, 8, 16, 32, 64 cores */
#define DENSITIES 4 /* 3 to 6 tasks a core */
#define BINS 12

static const char *const verdict_names[VERDICTS] = {"unknown", "none", "lazy", "active",
                                                    "immediate"};
static const double bin_ends[BINS] = {0.001, 0.01, 0.05, 0.2,  0.4,   0.6,
                                      0.8,   0.9,  0.95, 0.99, 0.999, 1.01};

typedef struct tally {
    unsigned traces, decidable;
    unsigned right;         /* Verdict is the truth. */
    unsigned right_decided; /* Of the decidable ones. */
    unsigned wrong;
} tally;

/* Of the probabilities that fell into one bin: how high, and how often true. */
typedef struct bin {
    double sum;
    unsigned count, true_count;
} bin;

typedef struct report {
    unsigned matrix[TRUTHS][VERDICTS];
    unsigned decidable_matrix[TRUTHS][VERDICTS];
    tally by_policy[TRUTHS];
    tally by_cell[SIZES][DENSITIES];
    tally all;
    bin bins[BINS];
    double worst_seconds, seconds; /* In lb_classify(). */
    uint64_t worst_seed;
} report;

typedef struct options {
    uint64_t first, count;
    uint32_t noise;
    uint32_t cores; /* 0: drawn */
    bool one;       /* Of the noises, each trace has one. */
    bool require, verbose;
} options;

static void die(const char *what, const lb_error *err) {
    fprintf(stderr, "confusion: %s%s%s\n", what, err ? ": " : "", err ? err->message : "");
    exit(2);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void count(tally *to, bool decidable, bool right, bool wrong) {
    to->traces++;
    to->decidable += decidable;
    to->right += right;
    to->right_decided += decidable && right;
    to->wrong += wrong;
}

static void weigh(report *all, const lb_verdict *verdict, lb_policy truth) {
    for (int policy = LB_POLICY_NONE; policy <= LB_POLICY_IMMEDIATE; policy++) {
        double probability = lb_verdict_probability(verdict, (lb_policy)policy);
        size_t i = 0;
        while (i < BINS - 1 && probability > bin_ends[i])
            i++;
        all->bins[i].sum += probability;
        all->bins[i].count++;
        all->bins[i].true_count += policy == (int)truth;
    }
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
    printf("%s: --draw %u --seed %" PRIu64 ": %s%s on %u x %u, unit %g, slice %g, delay %g%s: "
           "verdict %s (none %.4f, lazy %.4f, active %.4f, immediate %.4f); resolved none/lazy %u, "
           "lazy/active %u, uneven %.3g s\n",
           what, noise, seed, timeslice_policy_name(config->policy),
           truth->decidable ? ", decidable," : ", not decidable,", config->cores,
           config->tasks_per_core, config->unit_work, config->slice, config->balance_delay,
           config->cpu_time_hidden ? ", no CPU times" : "",
           verdict_names[lb_verdict_policy(verdict)],
           lb_verdict_probability(verdict, LB_POLICY_NONE),
           lb_verdict_probability(verdict, LB_POLICY_LAZY),
           lb_verdict_probability(verdict, LB_POLICY_ACTIVE),
           lb_verdict_probability(verdict, LB_POLICY_IMMEDIATE), truth->none_lazy.resolved,
           truth->lazy_active.resolved, (double)truth->uneven.resolved_ns / 1e9);
    for (size_t i = 0; chosen->verbose && i < lb_verdict_reason_count(verdict); i++)
        printf("    %s\n", lb_verdict_reason(verdict, i));
}

static void classify(report *all, uint64_t seed, const options *chosen) {
    static draw drawn;
    uint32_t noise = chosen->one ? one_of(chosen->noise, seed) : chosen->noise;
    draw_config_on(seed, noise, chosen->cores, &drawn);
    const timeslice_config *config = &drawn.config;
    timeslice_result result;
    if (timeslice_run(config, &result) != TIMESLICE_OK)
        die("the simulation failed", NULL);
    lb_error err = {0};
    lb_trace *trace;
    if (timeslice_trace(&result, &trace, &err) != LB_OK)
        die("no trace", &err);
    double before = now();
    lb_verdict *verdict;
    if (lb_classify(trace, NULL, &verdict, &err) != LB_OK)
        die("no verdict", &err);
    double took = now() - before;
    all->seconds += took;
    if (took > all->worst_seconds) {
        all->worst_seconds = took;
        all->worst_seed = seed;
    }
    lb_policy found = lb_verdict_policy(verdict), truth = result.truth.policy;
    bool decidable = result.truth.decidable;
    bool right = found == truth;
    bool wrong = !right && found != LB_POLICY_UNKNOWN;
    all->matrix[config->policy][found]++;
    all->decidable_matrix[config->policy][found] += decidable;
    count(&all->by_policy[config->policy], decidable, right, wrong);
    unsigned size = 0;
    while ((2u << size) < config->cores)
        size++;
    count(&all->by_cell[size][config->tasks_per_core - 3], decidable, right, wrong);
    count(&all->all, decidable, right, wrong);
    weigh(all, verdict, truth);
    if (wrong)
        explain(seed, noise, chosen, config, &result, verdict, "WRONG");
    else if (!right && decidable && chosen->verbose)
        explain(seed, noise, chosen, config, &result, verdict, "undecided");
    lb_verdict_free(verdict);
    lb_trace_free(trace);
    timeslice_free(&result);
}

static double percent(unsigned part, unsigned whole) {
    return whole == 0 ? 100 : 100.0 * part / whole;
}

static void print_tally(const tally *of) {
    printf("%5u %5u %8u %6.1f %% %6u\n", of->traces, of->decidable, of->right_decided,
           percent(of->right_decided, of->decidable), of->wrong);
}

static void print(const report *all) {
    printf("\n%-10s", "truth");
    for (int i = 0; i < VERDICTS; i++)
        printf(" %9s", verdict_names[i]);
    printf("   (decidable traces)\n");
    for (int i = 0; i < TRUTHS; i++) {
        printf("%-10s", timeslice_policy_name((timeslice_policy)i));
        for (int j = 0; j < VERDICTS; j++)
            printf(" %9u", all->matrix[i][j]);
        printf("   (");
        for (int j = 0; j < VERDICTS; j++)
            printf("%s%u", j > 0 ? " " : "", all->decidable_matrix[i][j]);
        printf(")\n");
    }
    printf("\n%-10s traces decidable decided        wrong\n", "");
    for (int i = 0; i < TRUTHS; i++) {
        printf("%-10s ", timeslice_policy_name((timeslice_policy)i));
        print_tally(&all->by_policy[i]);
    }
    for (int i = 0; i < SIZES; i++)
        for (int j = 0; j < DENSITIES; j++) {
            if (all->by_cell[i][j].traces == 0)
                continue;
            printf("%2d x %d     ", 2 << i, j + 3);
            print_tally(&all->by_cell[i][j]);
        }
    printf("%-10s ", "all");
    print_tally(&all->all);
    printf("\nprobability of a policy   mean   true    of\n");
    for (int i = 0; i < BINS; i++)
        if (all->bins[i].count > 0)
            printf("up to %-6g             %6.4f %6.4f %5u\n", bin_ends[i] > 1 ? 1 : bin_ends[i],
                   all->bins[i].sum / all->bins[i].count,
                   (double)all->bins[i].true_count / all->bins[i].count, all->bins[i].count);
    printf("\nlb_classify: %.2f ms a trace, at most %.0f ms (seed %" PRIu64 ")\n",
           1e3 * all->seconds / all->all.traces, 1e3 * all->worst_seconds, all->worst_seed);
}

static void usage(void) {
    fprintf(stderr, "usage: confusion [--first SEED] [--count N] [--noise clean|all|NUMBER] "
                    "[--cores 2|4|8|16|32|64] [--one] [--require] [--verbose]\n");
    exit(2);
}

int main(int argc, char **argv) {
    static const struct option known[] = {
        {"first", required_argument, NULL, 'f'}, {"count", required_argument, NULL, 'c'},
        {"noise", required_argument, NULL, 'n'}, {"require", no_argument, NULL, 'r'},
        {"cores", required_argument, NULL, 'p'}, {"one", no_argument, NULL, 'o'},
        {"verbose", no_argument, NULL, 'v'},     {NULL, 0, NULL, 0},
    };
    options chosen = {.count = 1000, .noise = DRAW_CLEAN};
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
        case 'r':
            chosen.require = true;
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
    if (optind < argc || chosen.count == 0 || !known_size)
        usage();
    static report all;
    for (uint64_t i = 0; i < chosen.count; i++)
        classify(&all, chosen.first + i, &chosen);
    print(&all);
    /* A run in which nothing could be decided would pass for nothing. */
    bool passed = all.all.wrong == 0;
    for (int i = 0; i < TRUTHS; i++) {
        const tally *of = &all.by_policy[i];
        passed = passed && of->decidable > 0 && 10 * of->right_decided >= 9 * of->decidable;
    }
    return chosen.require && !passed;
}
