/* SPDX-License-Identifier: BSD-3-Clause */
/* The library against the oracle: every moment of every process, and every realisation drawn.
 *
 *     check_engine [PROBLEMS [SEED]]
 */
#include <math.h>
#include <string.h>

#include "cases.h"
#include "check.h"
#include "corners.h"
#include "dice.h"
#include "draws.h"
#include "engine.h"
#include "outcomes.h"
#include "problems.h"

enum {
    LEAVES = 50000
};

static lb_estimate_options method(int32_t how) {
    lb_estimate_options options;
    lb_estimate_options_init(&options, sizeof options);
    options.method = how;
    return options;
}

/* ---- one by one ---- */

/* The largest gap seen, in units of what is allowed. */
static double worst;

static bool near(double a, long double b, long double tolerance) {
    if (isinf(a) || isinf(b) || isnan(a) || isnan(b))
        return (long double)a == b;
    long double gap = fabsl(a - b);
    if (gap > worst * tolerance && tolerance > 0)
        worst = (double)(gap / tolerance);
    return gap <= tolerance;
}

/* The completion times to 1e-9 of themselves, the standard deviation to 1e-6 of the mean one. */
static bool agrees(const lb_duration *a, const struct oracle_duration *b, double arrival) {
    if (!near(a->completion, b->completion, 1e-9L))
        return false;
    if (b->completion == 0)
        return isinf(a->mean) && isnan(a->stddev) && isinf(a->min) && isinf(a->max) &&
               a->mean > 0 && a->min > 0 && a->max > 0;
    return near(a->mean, b->mean, 1e-9L * (arrival + b->mean)) &&
           near(a->min, b->min, 1e-9L * (arrival + b->min)) &&
           near(a->max, b->max, 1e-9L * (arrival + b->max)) &&
           near(a->stddev, b->stddev, 1e-6L * (arrival + b->mean));
}

/* ---- exact ---- */

static long too_large, refused, ambiguous, branching;

static void describe(const struct oracle_problem *p, const struct oracle_result *expected,
                     const lb_duration *durations) {
    case_print(stdout, p);
    printf("         of the library                  of the oracle: mean, stddev, min, max, "
           "completion\n");
    for (int i = 0; i < p->n; i++) {
        const lb_duration *a = &durations[i];
        const struct oracle_duration *b = &expected->duration[i];
        printf("    p%d  %.12g %.9g %.12g %.12g %.9g    %.12Lg %.9Lg %.12Lg %.12Lg %.9Lg%s\n", i,
               a->mean, a->stddev, a->min, a->max, a->completion, b->mean, b->stddev, b->min,
               b->max, b->completion, agrees(a, b, p->arrival[i]) ? "" : "  <--");
    }
}

enum mode {
    QUIETLY,
    COUNTING,
    SHOWING
};

/* Whether the exact answers differ. `user` points to an enum mode. */
static bool exact_differs(const struct oracle_problem *p, void *user) {
    enum mode mode = *(enum mode *)user;
    struct oracle_result expected;
    if (!oracle_solve(p, LEAVES, NULL, NULL, &expected)) {
        too_large += mode == COUNTING;
        return false;
    }
    if (expected.ambiguous) {
        ambiguous += mode == COUNTING;
        return false;
    }
    lb_estimate_options options = method(LB_METHOD_EXACT);
    lb_duration durations[ORACLE_PROCESSES];
    lb_error err = {0};
    lb_status status = engine_durations(p, &options, durations, &err);
    if (status == LB_ERR_LIMIT) {
        refused += mode == COUNTING;
        return false;
    }
    engine_must(status, &err, "lb_model_durations, exact");
    branching += mode == COUNTING && expected.realisations > 1;
    bool same = true;
    for (int i = 0; i < p->n; i++)
        same = same && agrees(&durations[i], &expected.duration[i], p->arrival[i]) &&
               durations[i].exact == 1 && durations[i].standard_error == 0;
    if (!same && mode == SHOWING)
        describe(p, &expected, durations);
    return !same;
}

static void exact_problems(long problems, uint64_t seed) {
    uint64_t dice = seed;
    for (long k = 0; k < problems; k++) {
        struct oracle_problem p;
        problem_draw(&dice, &p);
        enum mode mode = COUNTING;
        if (check(!exact_differs(&p, &mode), "exact: problem %ld of seed %llu; made small:", k,
                  (unsigned long long)seed))
            continue;
        mode = QUIETLY;
        problem_shrink(&p, exact_differs, &mode);
        mode = SHOWING;
        exact_differs(&p, &mode);
    }
    printf("exact: %ld problems (%ld of them with random choices), at most %.1e of the tolerance "
           "apart; left out: %ld beyond the oracle, %ld beyond the library, %ld ambiguous\n",
           problems, branching, worst, too_large, refused, ambiguous);
    check(too_large + refused + ambiguous < problems / 50 + 3, "too many problems left out");
    check(branching > problems / 10, "too few problems with random choices");
}

static void solved_cases(FILE *file) {
    char line[65536];
    int lines = 0;
    while (fgets(line, sizeof line, file) != NULL) {
        struct solved_case c;
        lb_duration durations[ORACLE_PROCESSES];
        lb_estimate_options options = method(LB_METHOD_EXACT);
        lb_error err = {0};
        lines++;
        if (!check(case_parse(line, &c), "line %d is not understood", lines))
            continue;
        engine_must(engine_durations(&c.problem, &options, durations, &err), &err, "solved case");
        for (int i = 0; i < c.problem.n; i++)
            check(agrees(&durations[i], &c.duration[i], c.problem.arrival[i]),
                  "model-cases.jsonl, line %d, process %d", lines, i);
    }
    check(lines == 180, "model-cases.jsonl has %d lines", lines);
}

static void hand_made_corners(void) {
    for (size_t k = 0; k < corner_count; k++) {
        const struct corner *c = &corners[k];
        lb_duration durations[ORACLE_PROCESSES];
        lb_estimate_options options = method(LB_METHOD_EXACT);
        lb_error err = {0};
        engine_must(engine_durations(&c->problem, &options, durations, &err), &err, c->why);
        for (int i = 0; i < c->problem.n; i++) {
            double mean = durations[i].mean;
            check(mean == c->expected[i] || fabs(mean - c->expected[i]) < 1e-11,
                  "%s: p%d %.17g, expected %.17g", c->why, i, mean, c->expected[i]);
        }
    }
}

/* ---- drawn ---- */

/* The sums of the realisations drawn, for one process. */
struct drawn {
    long completed;
    double mean, squares, min, max;
};

static void add_drawn(struct drawn *d, double duration) {
    if (isinf(duration))
        return;
    double delta = duration - d->mean;
    d->mean += delta / (double)++d->completed;
    d->squares += delta * (duration - d->mean);
    d->min = d->completed == 1 || duration < d->min ? duration : d->min;
    d->max = d->completed == 1 || duration > d->max ? duration : d->max;
}

/* Within 5 standard errors, `samples` having been drawn. */
static bool within(double estimate, long double mean, long double stddev, double samples,
                   double scale) {
    return fabsl(estimate - mean) <= 5 * stddev / sqrtl(samples) + 1e-9L * scale;
}

/* Draws `samples` realisations: each must be one of the outcomes, each outcome, and each mean, as
 * frequent as it should be. A chance deviation does not survive eight times as many. */
static bool frequencies(const struct oracle_problem *p, const struct oracle_result *expected,
                        struct outcomes *all, lb_sampler *sampler, uint64_t seed, long samples,
                        struct drawn *drawn) {
    double seconds[ORACLE_PROCESSES];
    lb_error err = {0};
    memset(drawn, 0, ORACLE_PROCESSES * sizeof *drawn);
    for (size_t k = 0; k < all->count; k++)
        all->outcome[k].seen = 0;
    for (long k = 0; k < samples; k++) {
        engine_must(lb_sampler_run(sampler, lb_realisation_seed(seed, (uint64_t)k), seconds, &err),
                    &err, "lb_sampler_run");
        long double durations[ORACLE_PROCESSES];
        for (int i = 0; i < p->n; i++) {
            durations[i] = seconds[i];
            add_drawn(&drawn[i], seconds[i]);
        }
        struct outcome *outcome = outcomes_find(all, durations);
        if (outcome == NULL) {
            printf("realisation %ld of seed %llu cannot be:", k, (unsigned long long)seed);
            for (int i = 0; i < p->n; i++)
                printf(" %.17g", seconds[i]);
            printf("\n");
            return false;
        }
        outcome->seen++;
    }
    bool good = true;
    for (size_t k = 0; k < all->count; k++)
        good = good &&
               outcomes_share(all->outcome[k].seen, all->outcome[k].probability, (double)samples);
    for (int i = 0; i < p->n; i++) {
        const struct oracle_duration *d = &expected->duration[i];
        long completed = drawn[i].completed;
        good = good && outcomes_share(completed, d->completion, (double)samples) &&
               (completed == 0 || within(drawn[i].mean, d->mean, d->stddev, (double)completed,
                                         p->arrival[i] + drawn[i].mean));
    }
    if (!good && samples < 10000)
        return frequencies(p, expected, all, sampler, seed + 1, 8 * samples, drawn);
    return good;
}

static bool same_bits(const lb_duration *a, const lb_duration *b, int n) {
    return memcmp(a, b, (size_t)n * sizeof *a) == 0;
}

/* lb_model_durations() must give what its own realisations give. */
static bool estimate_agrees(const lb_duration *estimate, const struct drawn *d, long samples,
                            double arrival) {
    if (estimate->exact != 0 || estimate->samples != (uint64_t)samples ||
        !near(estimate->completion, (double)d->completed / (double)samples, 1e-12L))
        return false;
    if (d->completed == 0)
        return isinf(estimate->mean) && isnan(estimate->stddev);
    /* Whether squares are divided by n or n - 1 is not said. */
    double n = (double)d->completed, scale = arrival + d->mean;
    double stddev = sqrt(d->squares / n), slack = stddev / n + 1e-6 * scale;
    return near(estimate->mean, d->mean, 1e-11L * scale) && estimate->min == d->min &&
           estimate->max == d->max && near(estimate->stddev, stddev, slack) &&
           (n == 1 ? isinf(estimate->standard_error)
                   : near(estimate->standard_error, stddev / sqrt(n), slack));
}

static void sample_problem(const struct oracle_problem *p, const struct oracle_result *expected,
                           struct outcomes *all, uint64_t seed) {
    enum {
        SAMPLES = 2000
    };
    lb_model *model = engine_model(p);
    lb_workload *workload = engine_workload(p);
    lb_sampler *sampler = NULL;
    lb_error err = {0};
    struct drawn drawn[ORACLE_PROCESSES], again[ORACLE_PROCESSES];
    lb_duration one[ORACLE_PROCESSES], many[ORACLE_PROCESSES], single;
    double seconds[ORACLE_PROCESSES], same[ORACLE_PROCESSES];
    size_t n = (size_t)p->n;
    bool good = true;

    engine_must(lb_sampler_new(model, workload, &sampler, &err), &err, "lb_sampler_new");
    good &= check(frequencies(p, expected, all, sampler, seed, SAMPLES, drawn),
                  "realisations are not what they should be");

    /* The estimate is made of realisations 0 to SAMPLES - 1, and of nothing else. */
    memset(again, 0, sizeof again);
    for (long k = 0; k < SAMPLES; k++) {
        uint64_t of = lb_realisation_seed(seed, (uint64_t)k);
        engine_must(lb_sampler_run(sampler, of, seconds, &err), &err, "lb_sampler_run");
        for (int i = 0; i < p->n; i++)
            add_drawn(&again[i], seconds[i]);
        if (k < 5) {
            engine_must(lb_model_sample(model, workload, of, same, &err), &err, "lb_model_sample");
            good &= check(memcmp(seconds, same, n * sizeof *same) == 0,
                          "lb_model_sample and lb_sampler_run differ");
        }
    }
    lb_estimate_options options = method(LB_METHOD_SAMPLE);
    options.seed = seed;
    options.samples = SAMPLES;
    memset(one, 0, sizeof one);
    engine_must(lb_model_durations(model, workload, &options, one, &err), &err, "sampled");
    for (int i = 0; i < p->n; i++)
        good &= check(estimate_agrees(&one[i], &again[i], SAMPLES, p->arrival[i]),
                      "the estimate of p%d is not that of its realisations", i);
    for (options.threads = 2; options.threads <= 5; options.threads += 1) {
        memset(many, 0, sizeof many);
        engine_must(lb_model_durations(model, workload, &options, many, &err), &err, "threads");
        good &= check(same_bits(one, many, p->n), "%u threads give another answer than 1",
                      options.threads);
    }

    /* Exact and automatic answers do not depend on threads either. */
    for (int32_t how = LB_METHOD_AUTO; how <= LB_METHOD_EXACT; how++) {
        options = method(how);
        options.seed = seed;
        options.max_samples = 20000;
        memset(one, 0, sizeof one);
        memset(many, 0, sizeof many);
        engine_must(lb_model_durations(model, workload, &options, one, &err), &err, "one thread");
        options.threads = 3;
        engine_must(lb_model_durations(model, workload, &options, many, &err), &err, "three");
        good &= check(same_bits(one, many, p->n), "method %d: 3 threads give another answer", how);
        for (int i = 0; i < p->n; i++) {
            const struct oracle_duration *d = &expected->duration[i];
            double completed = (double)one[i].samples * one[i].completion;
            bool right = one[i].exact
                             ? agrees(&one[i], d, p->arrival[i])
                             : completed == 0 || within(one[i].mean, d->mean, d->stddev, completed,
                                                        p->arrival[i] + one[i].mean);
            good &= check(right, "method %d: p%d", how, i);
            memset(&single, 0, sizeof single);
            if (how == LB_METHOD_EXACT) {
                engine_must(lb_model_duration(model, workload, (size_t)i, &options, &single, &err),
                            &err, "lb_model_duration");
                good &= check(agrees(&single, d, p->arrival[i]), "lb_model_duration of p%d", i);
            }
        }
    }
    if (!good)
        case_print(stdout, p);
    lb_sampler_free(sampler);
    lb_workload_free(workload);
    lb_model_free(model);
}

static void sampled_problems(long problems, uint64_t seed) {
    static struct outcomes all;
    uint64_t dice = seed;
    for (long k = 0; k < problems;) {
        struct oracle_problem p;
        struct oracle_result expected;
        problem_draw(&dice, &p);
        outcomes_reset(&all, &p);
        if (!oracle_solve(&p, 5000, outcomes_collect, &all, &expected) || all.full ||
            expected.ambiguous)
            continue;
        /* Those without random choices are of interest too, but need not be half of all. */
        if (expected.realisations == 1 && k % 10 != 0)
            continue;
        sample_problem(&p, &expected, &all, seed + (uint64_t)k);
        k++;
    }
    printf("sampled: %ld problems\n", problems);
}

/* ---- larger ones ---- */

static bool is_random(const struct oracle_problem *p) {
    if (p->policy == ORACLE_NONE || p->policy == ORACLE_IMMEDIATE)
        return false;
    return p->cores > 2 || p->process == ORACLE_RANDOM;
}

static void large_problems(long problems, uint64_t seed) {
    uint64_t dice = seed;
    long drawn = 0;
    for (long k = 0; k < problems; k++) {
        struct oracle_problem p;
        enum mode mode = COUNTING;
        problem_draw_large(&dice, &p);
        if (!is_random(&p)) {
            if (check(!exact_differs(&p, &mode), "large problem %ld of seed %llu; made small:", k,
                      (unsigned long long)seed))
                continue;
            mode = QUIETLY;
            problem_shrink(&p, exact_differs, &mode);
            mode = SHOWING;
            exact_differs(&p, &mode);
        } else if (k % 20 == 0) {
            drawn++;
            if (!check(draws_agree(&p, seed + (uint64_t)k, 200), "large problem %ld, drawn:", k))
                case_print(stdout, &p);
        }
    }
    printf("large: %ld problems of up to %d processes, %ld of them drawn 200 times\n", problems,
           ORACLE_PROCESSES, drawn);
}

/* ---- what must be without effect ---- */

/* Options that a policy does not use, and events that are ignored, must not change a realisation.
 */
static void without_effect(long problems, uint64_t seed) {
    uint64_t dice = seed;
    for (long k = 0; k < problems; k++) {
        struct oracle_problem p, q;
        problem_draw(&dice, &p);
        q = p;
        if (p.policy == ORACLE_NONE || p.policy == ORACLE_IMMEDIATE) {
            q.delay = 1;
            q.longest = !p.longest;
            q.process = p.process == ORACLE_LAST ? ORACLE_FIRST : ORACLE_LAST;
        }
        if (p.policy != ORACLE_IMMEDIATE)
            q.rotation = 0.125;
        for (int i = 0; i < p.n; i++) {
            bool sleeps = false;
            for (int e = 0; e < p.events; e++)
                sleeps = sleeps || (p.event[e].process == i && p.event[e].kind != ORACLE_WAKE);
            if (!sleeps && q.events < ORACLE_EVENTS)
                q.event[q.events++] =
                    (struct oracle_event){p.arrival[i] + 3 * dice_unit(&dice), ORACLE_WAKE, i, 0};
        }
        struct oracle_result result;
        if (!oracle_solve(&p, LEAVES, NULL, NULL, &result) || result.ambiguous)
            continue;
        lb_model *models[2] = {engine_model(&p), engine_model(&q)};
        lb_workload *workloads[2] = {engine_workload(&p), engine_workload(&q)};
        bool good = true;
        for (uint64_t draw = 0; draw < 20; draw++) {
            double a[ORACLE_PROCESSES], b[ORACLE_PROCESSES];
            lb_error err = {0};
            engine_must(lb_model_sample(models[0], workloads[0], draw, a, &err), &err, "plain");
            engine_must(lb_model_sample(models[1], workloads[1], draw, b, &err), &err, "more");
            for (int i = 0; i < p.n; i++)
                good = good && outcomes_same_time(p.arrival[i], a[i], b[i]);
        }
        if (!check(good, "what must be without effect has one; the first is right:")) {
            case_print(stdout, &p);
            case_print(stdout, &q);
        }
        for (int m = 0; m < 2; m++) {
            lb_workload_free(workloads[m]);
            lb_model_free(models[m]);
        }
    }
}

int main(int argc, char **argv) {
    long problems = argc > 1 ? atol(argv[1]) : 10000;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    FILE *file = cases_open();
    if (file != NULL) {
        solved_cases(file);
        fclose(file);
    }
    hand_made_corners();
    exact_problems(problems, seed);
    large_problems(problems / 10, seed + 3000000);
    sampled_problems(problems / 25, seed + 1000000);
    without_effect(problems / 10, seed + 2000000);
    return checks_report();
}
