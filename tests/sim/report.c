/* SPDX-License-Identifier: BSD-3-Clause */
#include "report.h"

#include <inttypes.h>

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

static void weigh(report *to, const report_row *row) {
    for (int policy = LB_POLICY_NONE; policy <= LB_POLICY_IMMEDIATE; policy++) {
        double probability = row->probability[policy];
        size_t i = 0;
        while (i < REPORT_BINS - 1 && probability > bin_ends[i])
            i++;
        to->bins[i].sum += probability;
        to->bins[i].count++;
        to->bins[i].true_count += policy == (int)row->truth;
    }
}

void report_add(report *to, const report_row *row) {
    bool decidable = row->decidable, right = row->found == row->truth;
    bool wrong = !right && row->found != LB_POLICY_UNKNOWN;
    to->matrix[row->policy][row->found]++;
    to->decidable_matrix[row->policy][row->found] += decidable;
    unsigned size = 0;
    while ((2u << size) < row->cores)
        size++;
    count(&to->by_policy[row->policy], decidable, right, wrong);
    count(&to->by_cell[size][row->tasks_per_core - 2], decidable, right, wrong);
    count(&to->all, decidable, right, wrong);
    if (row->noise == 0)
        count(&to->by_noise[0], decidable, right, wrong);
    for (unsigned i = 1; i < REPORT_NOISES; i++)
        if (row->noise & (1u << (i - 1)))
            count(&to->by_noise[i], decidable, right, wrong);
    weigh(to, row);
    to->seconds += row->seconds;
    if (row->seconds > to->worst_seconds) {
        to->worst_seconds = row->seconds;
        to->worst_seed = row->seed;
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

void report_write_row(FILE *file, const report_row *row) {
    fprintf(file, "%" PRIu64 " %d %u %u %u %d %d %d", row->seed, (int)row->policy, row->cores,
            row->tasks_per_core, row->noise, row->decidable, (int)row->truth, (int)row->found);
    for (int i = 0; i < REPORT_VERDICTS; i++)
        fprintf(file, " %.6g", row->probability[i]);
    fprintf(file, " %.4f\n", row->seconds);
}

static bool within(int value, int count) {
    return value >= 0 && value < count;
}

bool report_read_row(FILE *file, report_row *ret_row) {
    report_row row;
    int policy, decidable, truth, found;
    double *p = row.probability;
    char newline;
    if (fscanf(file, "%" SCNu64 " %d %u %u %u %d %d %d %lf %lf %lf %lf %lf %lf%c", &row.seed,
               &policy, &row.cores, &row.tasks_per_core, &row.noise, &decidable, &truth, &found,
               &p[0], &p[1], &p[2], &p[3], &p[4], &row.seconds, &newline) != 15 ||
        newline != '\n')
        return false;
    if (!within(policy, REPORT_TRUTHS) || !within(truth, REPORT_VERDICTS) ||
        !within(found, REPORT_VERDICTS) || row.cores < 2 || row.cores > (1u << REPORT_SIZES) ||
        row.tasks_per_core < 2 || row.tasks_per_core > REPORT_DENSITIES + 1)
        return false;
    row.policy = (timeslice_policy)policy;
    row.decidable = decidable != 0;
    row.truth = (lb_policy)truth;
    row.found = (lb_policy)found;
    *ret_row = row;
    return true;
}
