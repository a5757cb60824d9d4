/* SPDX-License-Identifier: BSD-3-Clause */
/* Immediate balancing with its grain (rotation_time) against a direct simulation, and against
 * processor sharing, which it must come to as the grain gets finer. */
#include <math.h>
#include <string.h>

#include "cases.h"
#include "check.h"
#include "dice.h"
#include "engine.h"
#include "problems.h"

enum {
    DRAWS = 4000
};

struct mean {
    long n;
    long double mean, squares;
};

static void add(struct mean *m, long double value) {
    if (isinf(value))
        return;
    long double delta = value - m->mean;
    m->mean += delta / (long double)++m->n;
    m->squares += delta * (value - m->mean);
}

static long double variance(const struct mean *m) {
    return m->n > 0 ? m->squares / (long double)m->n : 0;
}

/* Whether two samples can have one mean and one spread: 5 standard errors of the difference. The
 * standard error of a variance is taken from the normal distribution, and trebled for what is not
 * normal. */
static bool alike(const struct mean *a, const struct mean *b) {
    if (a->n < 30 || b->n < 30)
        return true;
    long double error = sqrtl(variance(a) / (long double)a->n + variance(b) / (long double)b->n);
    long double both = variance(a) + variance(b);
    return fabsl(a->mean - b->mean) <= 5 * error + 1e-9L * a->mean &&
           fabsl(variance(a) - variance(b)) <=
               3 * 5 * both * sqrtl(1 / (long double)a->n + 1 / (long double)b->n) +
                   1e-9L * a->mean;
}

static bool draws_agree(const struct oracle_problem *p, uint64_t seed, int draws) {
    struct mean direct[ORACLE_PROCESSES] = {{0}}, library[ORACLE_PROCESSES] = {{0}};
    lb_model *model = engine_model(p);
    lb_workload *workload = engine_workload(p);
    lb_sampler *sampler = NULL;
    lb_error err = {0};
    uint64_t dice = seed;
    engine_must(lb_sampler_new(model, workload, &sampler, &err), &err, "lb_sampler_new");
    for (int k = 0; k < draws; k++) {
        long double durations[ORACLE_PROCESSES];
        double seconds[ORACLE_PROCESSES];
        oracle_draw(p, &dice, durations);
        engine_must(lb_sampler_run(sampler, lb_realisation_seed(seed, (uint64_t)k), seconds, &err),
                    &err, "lb_sampler_run");
        for (int i = 0; i < p->n; i++) {
            add(&direct[i], durations[i]);
            add(&library[i], seconds[i]);
        }
    }
    lb_sampler_free(sampler);
    lb_workload_free(workload);
    lb_model_free(model);
    bool good = true;
    for (int i = 0; i < p->n; i++) {
        double n = draws, gap = (double)(direct[i].n - library[i].n);
        bool same = alike(&direct[i], &library[i]) && fabs(gap) <= 5 * sqrt(n / 2);
        /* A chance deviation does not survive more draws. */
        if (!same && draws == DRAWS)
            return draws_agree(p, seed + 1, 10 * DRAWS);
        if (!same)
            printf("p%d: mean %.9Lg, variance %.9Lg, %ld completed; directly %.9Lg, %.9Lg, %ld\n",
                   i, library[i].mean, variance(&library[i]), library[i].n, direct[i].mean,
                   variance(&direct[i]), direct[i].n);
        good = good && same;
    }
    return good;
}

static void against_simulation(void) {
    uint64_t dice = 11;
    int problems = 0;
    while (problems < 60) {
        struct oracle_problem p;
        problem_draw(&dice, &p);
        p.policy = ORACLE_IMMEDIATE;
        struct oracle_result result;
        if (p.n <= p.cores || !oracle_solve(&p, 1, NULL, NULL, &result) || result.ambiguous)
            continue;
        double span = 0;
        for (int i = 0; i < p.n; i++)
            if (result.duration[i].completion > 0)
                span = fmax(span, (double)result.duration[i].max);
        if (span == 0)
            continue;
        p.rotation = span * (0.01 + 0.2 * dice_unit(&dice));
        if (!check(draws_agree(&p, 100 + (uint64_t)problems, DRAWS),
                   "rotation_time %g:", p.rotation))
            case_print(stdout, &p);
        problems++;
    }
    printf("%d problems against a direct simulation\n", problems);
}

/* As the grain gets finer, the durations draw near to processor sharing, and their spread to 0. */
static void towards_sharing(void) {
    static const struct {
        int cores, n;
        double work[8];
    } inputs[] = {
        {2, 3, {1, 1, 1}},
        {2, 5, {1, 2, 3, 4, 5}},
        {4, 7, {3, 1, 4, 1.5, 5, 9, 2.5}},
    };
    for (size_t k = 0; k < sizeof inputs / sizeof *inputs; k++) {
        struct oracle_problem p = {
            .policy = ORACLE_IMMEDIATE, .cores = inputs[k].cores, .n = inputs[k].n};
        for (int j = 0; j < p.cores; j++)
            p.speeds[j] = 1;
        for (int i = 0; i < p.n; i++) {
            p.work[i] = inputs[k].work[i];
            p.weight[i] = 1;
            p.first_core[i] = -1;
        }
        struct oracle_result sharing;
        oracle_solve(&p, 1, NULL, NULL, &sharing);
        double before = INFINITY;
        for (double tau = 1; tau > 1e-4; tau /= 10) {
            p.rotation = tau;
            lb_estimate_options options;
            lb_estimate_options_init(&options, sizeof options);
            options.method = LB_METHOD_SAMPLE;
            options.samples = 1000;
            lb_duration durations[ORACLE_PROCESSES];
            lb_error err = {0};
            engine_must(engine_durations(&p, &options, durations, &err), &err, "rotation");
            /* The root mean square distance of a realisation, relative to the duration. */
            double far = 0;
            for (int i = 0; i < p.n; i++) {
                double mean = (double)sharing.duration[i].mean;
                far = fmax(far, hypot(durations[i].mean - mean, durations[i].stddev) / mean);
            }
            check(far < before, "rotation_time %g: %g away from processor sharing, %g before", tau,
                  far, before);
            before = far;
            printf("%d processes, %d cores, rotation_time %g: at most %.2e from sharing\n", p.n,
                   p.cores, tau, far);
        }
        check(before < 0.01, "%g away from processor sharing in the end", before);
    }
}

/* Where there is no grain to see, it must not be seen; and no exact answer exists. */
static void corners(void) {
    struct oracle_problem p = {.policy = ORACLE_IMMEDIATE,
                               .cores = 2,
                               .speeds = {1, 1},
                               .rotation = 0.5,
                               .n = 4,
                               .work = {2, 2, 3, 3},
                               .weight = {1, 1, 1, 1},
                               .first_core = {-1, -1, -1, -1}};
    lb_estimate_options options;
    lb_estimate_options_init(&options, sizeof options);
    options.method = LB_METHOD_EXACT;
    lb_duration durations[ORACLE_PROCESSES];
    lb_error err = {0};
    check(engine_durations(&p, &options, durations, &err) == LB_ERR_UNSUPPORTED,
          "an exact answer with rotation");
    /* Two equal lists all the time: 4, 4, then 5, 5, nothing rotates. */
    options.method = LB_METHOD_SAMPLE;
    options.samples = 100;
    engine_must(engine_durations(&p, &options, durations, &err), &err, "even lists");
    for (int i = 0; i < 4; i++)
        check(fabs(durations[i].mean - (i < 2 ? 4 : 5)) < 1e-9 && durations[i].stddev < 1e-6,
              "even lists: p%d %g +- %g", i, durations[i].mean, durations[i].stddev);
}

int main(void) {
    corners();
    against_simulation();
    towards_sharing();
    return checks_report();
}
