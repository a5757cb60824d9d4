/* SPDX-License-Identifier: BSD-3-Clause */
/* Immediate balancing with its grain (rotation_time) against a direct simulation, and against
 * processor sharing, which it must come to as the grain gets finer. */
#include <math.h>
#include <string.h>

#include "cases.h"
#include "check.h"
#include "dice.h"
#include "draws.h"
#include "engine.h"
#include "problems.h"

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
        if (!check(draws_agree(&p, 100 + (uint64_t)problems, 4000),
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
