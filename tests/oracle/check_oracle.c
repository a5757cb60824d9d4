/* SPDX-License-Identifier: BSD-3-Clause */
/* Is the oracle itself right? The model's worked cases, and problems that somebody else solved. */
#include <math.h>
#include <string.h>

#include "cases.h"
#include "check.h"
#include "corners.h"

static struct oracle_problem equal_problem(enum oracle_policy policy, int cores,
                                           const double *works, int n) {
    struct oracle_problem p = {.policy = policy, .cores = cores, .n = n};
    for (int j = 0; j < cores; j++)
        p.speeds[j] = 1;
    for (int i = 0; i < n; i++) {
        p.work[i] = works[i];
        p.weight[i] = 1;
        p.first_core[i] = -1;
    }
    return p;
}

static void check_means(const char *name, const struct oracle_problem *p, const double *expected) {
    struct oracle_result result;
    check(oracle_solve(p, 1000000, NULL, NULL, &result), "%s: too many realisations", name);
    check(fabsl(result.probability - 1) < 1e-15L, "%s: probability %Lg", name,
          result.probability - 1);
    for (int i = 0; i < p->n; i++)
        check(fabsl(result.duration[i].mean - expected[i]) <= 1e-15L * expected[i],
              "%s: p%d %.17Lg, expected %.17g", name, i, result.duration[i].mean, expected[i]);
}

static void worked_cases(void) {
    const double two_cores[] = {1, 2, 3, 4, 5, 6};
    const double means[][6] = {{3, 6, 7, 10, 9, 12},
                               {3, 6, 7, 9.5, 9, 11.5},
                               {3, 6, 7, 9.5, 9, 11.5},
                               {3, 5.5, 7.5, 9, 10, 11}};
    const char *names[] = {"none", "lazy", "active", "immediate"};
    for (int policy = ORACLE_NONE; policy <= ORACLE_IMMEDIATE; policy++) {
        struct oracle_problem p = equal_problem((enum oracle_policy)policy, 2, two_cores, 6);
        check_means(names[policy], &p, means[policy]);
    }

    const double four_cores[] = {3, 7, 4, 9, 12, 5, 8, 6};
    const double active[] = {6, 12, 8, 15, 15, 10, 12, 12};
    struct oracle_problem p = equal_problem(ORACLE_ACTIVE, 4, four_cores, 8);
    check_means("active, four cores", &p, active);
    struct oracle_result result;
    oracle_solve(&p, 1000, NULL, NULL, &result);
    check(result.realisations == 1, "active, four cores: %zu realisations", result.realisations);

    /* The heavy one runs at 1, the others at 3/7: seen from all ending at once. */
    const double heavy[] = {3, 3, 3, 7, 3, 3, 3, 3};
    const double seven[] = {7, 7, 7, 7, 7, 7, 7, 7};
    p = equal_problem(ORACLE_IMMEDIATE, 4, heavy, 8);
    p.weight[3] = 10000;
    check_means("one heavy process", &p, seven);
}

static void hand_made_corners(void) {
    for (size_t k = 0; k < corner_count; k++) {
        const struct corner *c = &corners[k];
        struct oracle_result result;
        oracle_solve(&c->problem, 1000, NULL, NULL, &result);
        for (int i = 0; i < c->problem.n; i++) {
            long double mean = result.duration[i].mean;
            check(mean == c->expected[i] || fabsl(mean - c->expected[i]) < 1e-11L,
                  "%s: p%d %.17Lg, expected %.17g", c->why, i, mean, c->expected[i]);
        }
    }
}

/* One realisation at a time must come to the same as all of them weighed. */
static void drawing(void) {
    const double works[] = {1, 2, 3, 4, 5, 6, 7};
    enum {
        DRAWS = 20000
    };
    for (int policy = ORACLE_LAZY; policy <= ORACLE_ACTIVE; policy++) {
        struct oracle_problem p = equal_problem((enum oracle_policy)policy, 3, works, 7);
        struct oracle_result result;
        oracle_solve(&p, 100000, NULL, NULL, &result);
        check(result.realisations > 1, "nothing to draw");
        long double sum[7] = {0}, drawn[7];
        uint64_t dice = 1;
        for (int k = 0; k < DRAWS; k++) {
            oracle_draw(&p, &dice, drawn);
            for (int i = 0; i < p.n; i++)
                sum[i] += drawn[i];
        }
        for (int i = 0; i < p.n; i++) {
            struct oracle_duration *d = &result.duration[i];
            check(fabsl(sum[i] / DRAWS - d->mean) <= 5 * d->stddev / sqrtl(DRAWS) + 1e-12L,
                  "drawn p%d: mean %Lg, expected %Lg", i, sum[i] / DRAWS, d->mean);
        }
    }
}

static long double worst;

static bool near(long double a, long double b, long double tolerance) {
    if (isinf(a) || isinf(b))
        return a == b;
    long double gap = fabsl(a - b);
    if (gap / tolerance > worst)
        worst = gap / tolerance;
    return gap <= tolerance;
}

static void solved_cases(FILE *file) {
    char line[65536];
    int lines = 0;
    while (fgets(line, sizeof line, file) != NULL) {
        struct solved_case c;
        lines++;
        if (!check(case_parse(line, &c), "line %d is not understood", lines))
            continue;
        struct oracle_result result;
        check(oracle_solve(&c.problem, 50000000, NULL, NULL, &result),
              "line %d: too many realisations", lines);
        bool good = fabsl(result.probability - 1) < 1e-12L;
        for (int i = 0; i < c.problem.n; i++) {
            struct oracle_duration *a = &result.duration[i], *b = &c.duration[i];
            long double end = c.problem.arrival[i] + (a->completion > 0 ? a->max : 0);
            good = good && near(a->completion, b->completion, 1e-9L);
            if (a->completion == 0)
                good = good && isinf(b->mean) && isnan(a->stddev);
            else
                good = good && near(a->mean, b->mean, 1e-9L * end) &&
                       near(a->min, b->min, 1e-9L * end) && near(a->max, b->max, 1e-9L * end) &&
                       near(a->stddev, b->stddev, 1e-6L * end);
        }
        if (!check(good, "line %d", lines))
            case_print(stdout, &c.problem);
    }
    check(lines == 180, "model-cases.jsonl has %d lines", lines);
    printf("%d solved problems, at most %.1Le of the tolerance apart\n", lines, worst);
}

int main(void) {
    worked_cases();
    hand_made_corners();
    drawing();
    FILE *file = cases_open();
    if (file != NULL) {
        solved_cases(file);
        fclose(file);
    }
    int status = checks_report();
    return status == EXIT_SUCCESS && file == NULL ? 77 : status;
}
