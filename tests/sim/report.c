/* SPDX-License-Identifier: BSD-3-Clause */
#include "report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *const report_verdicts[REPORT_VERDICTS] = {"unknown", "none", "lazy", "active",
                                                      "immediate"};
static const char *const noise_names[REPORT_NOISES] = {
    "no noise",   "jitter", "outliers", "late moves", "stolen core", "background",
    "unit_work?", "lost",   "clock",    "speeds",     "dwell times"};
static const double bin_ends[REPORT_BINS] = {0.001, 0.01, 0.05, 0.2,  0.4,   0.6,
                                             0.8,   0.9,  0.95, 0.99, 0.999, 1.01};

static void count(report_tally *to, bool decidable, bool right, bool wrong) {
    to->traces++;
    to->decidable += decidable;
    to->right += right;
    to->right_decided += decidable && right;
    to->wrong += wrong;
}

static void weigh(report *to, const lb_verdict *verdict, lb_policy truth) {
    for (int policy = LB_POLICY_NONE; policy <= LB_POLICY_IMMEDIATE; policy++) {
        double probability = lb_verdict_probability(verdict, (lb_policy)policy);
        size_t i = 0;
        while (i < REPORT_BINS - 1 && probability > bin_ends[i])
            i++;
        to->bins[i].sum += probability;
        to->bins[i].count++;
        to->bins[i].true_count += policy == (int)truth;
    }
}

void report_add(report *to, const timeslice_config *config, uint32_t noise,
                const timeslice_truth *truth, const lb_verdict *verdict, double seconds) {
    lb_policy found = lb_verdict_policy(verdict);
    bool decidable = truth->decidable, right = found == truth->policy;
    bool wrong = !right && found != LB_POLICY_UNKNOWN;
    to->matrix[config->policy][found]++;
    to->decidable_matrix[config->policy][found] += decidable;
    unsigned size = 0;
    while ((2u << size) < config->cores)
        size++;
    count(&to->by_policy[config->policy], decidable, right, wrong);
    count(&to->by_cell[size][config->tasks_per_core - 2], decidable, right, wrong);
    count(&to->all, decidable, right, wrong);
    if (noise == 0)
        count(&to->by_noise[0], decidable, right, wrong);
    for (unsigned i = 1; i < REPORT_NOISES; i++)
        if (noise & (1u << (i - 1)))
            count(&to->by_noise[i], decidable, right, wrong);
    weigh(to, verdict, truth->policy);
    to->seconds += seconds;
    if (seconds > to->worst_seconds) {
        to->worst_seconds = seconds;
        to->worst_seed = config->seed;
    }
}

static double percent(unsigned part, unsigned whole) {
    return whole == 0 ? 100 : 100.0 * part / whole;
}

static void print_tally(const report_tally *of) {
    printf("%7u %9u %7u %7.2f %% %6u\n", of->traces, of->decidable, of->right_decided,
           percent(of->right_decided, of->decidable), of->wrong);
}

void report_print(const report *of) {
    printf("\n%-11s", "truth");
    for (int i = 0; i < REPORT_VERDICTS; i++)
        printf(" %9s", report_verdicts[i]);
    printf("   (decidable traces)\n");
    for (int i = 0; i < REPORT_TRUTHS; i++) {
        printf("%-11s", timeslice_policy_name((timeslice_policy)i));
        for (int j = 0; j < REPORT_VERDICTS; j++)
            printf(" %9u", of->matrix[i][j]);
        printf("   (");
        for (int j = 0; j < REPORT_VERDICTS; j++)
            printf("%s%u", j > 0 ? " " : "", of->decidable_matrix[i][j]);
        printf(")\n");
    }
    printf("\n%-11s  traces decidable decided            wrong\n", "");
    for (int i = 0; i < REPORT_TRUTHS; i++) {
        printf("%-11s ", timeslice_policy_name((timeslice_policy)i));
        print_tally(&of->by_policy[i]);
    }
    for (int i = 0; i < REPORT_NOISES; i++)
        if (of->by_noise[i].traces > 0) {
            printf("%-11s ", noise_names[i]);
            print_tally(&of->by_noise[i]);
        }
    for (int i = 0; i < REPORT_SIZES; i++)
        for (int j = 0; j < REPORT_DENSITIES; j++)
            if (of->by_cell[i][j].traces > 0) {
                printf("%2d x %d      ", 2 << i, j + 2);
                print_tally(&of->by_cell[i][j]);
            }
    printf("%-11s ", "all");
    print_tally(&of->all);
    printf("\nprobability of a policy   mean   true    of\n");
    for (int i = 0; i < REPORT_BINS; i++)
        if (of->bins[i].count > 0)
            printf("up to %-6g             %6.4f %6.4f %5u\n", bin_ends[i] > 1 ? 1 : bin_ends[i],
                   of->bins[i].sum / of->bins[i].count,
                   (double)of->bins[i].true_count / of->bins[i].count, of->bins[i].count);
    printf("\nlb_classify: %.2f ms a trace, at most %.0f ms (seed %" PRIu64 ")\n",
           of->all.traces > 0 ? 1e3 * of->seconds / of->all.traces : 0, 1e3 * of->worst_seconds,
           of->worst_seed);
}

bool report_load(const char *path, report *ret_report) {
    *ret_report = (report){0};
    FILE *file = fopen(path, "rb");
    if (file == NULL && errno == ENOENT)
        return true;
    bool ok = file != NULL && fread(ret_report, sizeof *ret_report, 1, file) == 1;
    if (!ok)
        fprintf(stderr, "%s: cannot be read\n", path);
    if (file != NULL)
        fclose(file);
    return ok;
}

bool report_save(const char *path, const report *of) {
    FILE *file = fopen(path, "wb");
    bool ok = file != NULL && fwrite(of, sizeof *of, 1, file) == 1;
    ok = file != NULL && fclose(file) == 0 && ok;
    if (!ok)
        fprintf(stderr, "%s: cannot be written\n", path);
    return ok;
}
