/* SPDX-License-Identifier: BSD-3-Clause */
#include "draws.h"

#include <math.h>
#include <stdio.h>

#include "engine.h"

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

static bool agree(const struct oracle_problem *p, uint64_t seed, int draws, bool last) {
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
        if (!same && last)
            printf("p%d: mean %.9Lg, variance %.9Lg, %ld completed; directly %.9Lg, %.9Lg, %ld\n",
                   i, library[i].mean, variance(&library[i]), library[i].n, direct[i].mean,
                   variance(&direct[i]), direct[i].n);
        good = good && same;
    }
    return good;
}

bool draws_agree(const struct oracle_problem *p, uint64_t seed, int draws) {
    return agree(p, seed, draws, false) || agree(p, seed + 1, 10 * draws, true);
}
