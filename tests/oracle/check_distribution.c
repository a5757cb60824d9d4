/* SPDX-License-Identifier: BSD-3-Clause */
/* Whole distributions: exact ones against the oracle's outcomes, quantiles and makespan included;
 * sampled ones cut in parts, sent as text and joined again, to the last bit.
 *
 *     check_distribution [PROBLEMS [SEED]]
 */
#include <math.h>
#include <string.h>

#include "cases.h"
#include "check.h"
#include "dice.h"
#include "engine.h"
#include "outcomes.h"
#include "problems.h"

struct weighed {
    long double value, probability;
};

static int by_value(const void *a, const void *b) {
    long double x = ((const struct weighed *)a)->value, y = ((const struct weighed *)b)->value;
    return (x > y) - (x < y);
}

static struct outcomes all;

/* The values of one process, or of the makespan (index n), by outcome; returns how many. */
static size_t values_of(const struct oracle_problem *p, int index, struct weighed *values) {
    for (size_t k = 0; k < all.count; k++) {
        const struct outcome *o = &all.outcome[k];
        long double value = INFINITY;
        if (index < p->n) {
            value = o->duration[index];
        } else {
            for (int i = 0; i < p->n; i++) {
                long double end = p->arrival[i] + o->duration[i];
                if (isfinite(end) && (isinf(value) || end > value))
                    value = end;
            }
        }
        values[k] = (struct weighed){value, o->probability};
    }
    qsort(values, all.count, sizeof *values, by_value);
    return all.count;
}

static bool near(double a, long double b, long double scale) {
    if (isinf(a) || isinf(b))
        return (long double)a == b;
    return fabsl(a - b) <= 1e-9L * scale;
}

/* The least value that is not exceeded with probability `share`; false: rounding decides. */
static bool quantile(const struct weighed *values, size_t n, double share, long double *ret_value) {
    long double sum = 0;
    for (size_t k = 0; k < n; k++) {
        sum += values[k].probability;
        if (fabsl(sum - share) < 1e-9L && k + 1 < n && values[k + 1].value != values[k].value)
            return share == 0;
        if (sum >= share - 1e-9L) {
            *ret_value = values[k].value;
            return true;
        }
    }
    return false;
}

static bool exact_agrees(const struct oracle_problem *p, const lb_distribution *distribution) {
    static struct weighed values[sizeof all.outcome / sizeof *all.outcome];
    static const double shares[] = {0, 0.05, 0.25, 0.5, 0.77, 0.95, 1};
    bool good = true;
    for (int i = 0; i <= p->n; i++) {
        size_t index = i < p->n ? (size_t)i : LB_MAKESPAN, n = values_of(p, i, values);
        double arrival = i < p->n ? p->arrival[i] : 0;
        lb_error err = {0};
        lb_duration duration;
        long double completion = 0, mean = 0;
        for (size_t k = 0; k < n; k++)
            if (isfinite(values[k].value)) {
                completion += values[k].probability;
                mean += values[k].probability * values[k].value;
            }
        engine_must(lb_distribution_duration(distribution, index, &duration, &err), &err,
                    "lb_distribution_duration");
        good &= check(near(duration.completion, completion, 1), "completion of %d: %g, not %Lg", i,
                      duration.completion, completion);
        if (completion > 0)
            good &= check(near(duration.mean, mean / completion, arrival + mean / completion),
                          "mean of %d: %.17g, not %.17Lg", i, duration.mean, mean / completion);
        for (size_t k = 0; k < sizeof shares / sizeof *shares; k++) {
            long double expected;
            double seconds;
            if (!quantile(values, n, shares[k], &expected))
                continue;
            engine_must(lb_distribution_quantile(distribution, index, shares[k], &seconds, &err),
                        &err, "lb_distribution_quantile");
            good &= check(near(seconds, expected, arrival + expected),
                          "quantile %g of %d: %.17g, not %.17Lg", shares[k], i, seconds, expected);
        }
    }
    return good;
}

static char *text_of(const lb_distribution *distribution) {
    char *text = NULL;
    lb_error err = {0};
    engine_must(lb_distribution_format(distribution, &text, &err), &err, "format");
    return text;
}

/* Samples cut at random, drawn by other numbers of threads, each sent as text and joined in another
 * order, must be what one call gives. */
static bool parts_agree(const lb_model *model, const lb_workload *workload, uint64_t *dice) {
    enum {
        SAMPLES = 600,
        PARTS = 4
    };
    lb_estimate_options options;
    lb_distribution *whole = NULL, *joined = NULL, *parts[PARTS];
    lb_error err = {0};
    lb_estimate_options_init(&options, sizeof options);
    options.method = LB_METHOD_SAMPLE;
    options.seed = dice_next(dice);
    options.samples = SAMPLES;
    engine_must(lb_model_distribution(model, workload, &options, &whole, &err), &err, "whole");
    uint64_t first = 0;
    for (int k = 0; k < PARTS; k++) {
        uint64_t left = SAMPLES - first;
        options.first_sample = first;
        options.samples = k + 1 < PARTS ? 1 + (uint64_t)dice_below(dice, (int)left / 2) : left;
        options.threads = 1 + (uint32_t)dice_below(dice, 3);
        first += options.samples;
        lb_distribution *drawn = NULL;
        engine_must(lb_model_distribution(model, workload, &options, &drawn, &err), &err, "part");
        char *text = text_of(drawn);
        engine_must(lb_distribution_parse(text, strlen(text), &parts[k], &err), &err, "parse");
        lb_free(text);
        lb_distribution_free(drawn);
    }
    int begin = dice_below(dice, PARTS);
    joined = parts[begin];
    for (int k = 1; k < PARTS; k++) {
        lb_distribution *part = parts[(begin + k) % PARTS];
        engine_must(lb_distribution_merge(joined, part, &err), &err, "lb_distribution_merge");
        lb_distribution_free(part);
    }
    char *expected = text_of(whole), *text = text_of(joined);
    bool same = strcmp(expected, text) == 0;
    lb_free(expected);
    lb_free(text);
    lb_distribution_free(whole);
    lb_distribution_free(joined);
    return same;
}

int main(int argc, char **argv) {
    long problems = argc > 1 ? atol(argv[1]) : 400;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 8, dice = seed;
    for (long k = 0; k < problems;) {
        struct oracle_problem p;
        struct oracle_result result;
        problem_draw(&dice, &p);
        outcomes_reset(&all, &p);
        if (!oracle_solve(&p, 5000, outcomes_collect, &all, &result) || all.full ||
            result.ambiguous || (result.realisations == 1 && k % 10 != 0))
            continue;
        k++;
        lb_model *model = engine_model(&p);
        lb_workload *workload = engine_workload(&p);
        lb_distribution *distribution = NULL;
        lb_estimate_options options;
        lb_error err = {0};
        lb_estimate_options_init(&options, sizeof options);
        options.method = LB_METHOD_EXACT;
        engine_must(lb_model_distribution(model, workload, &options, &distribution, &err), &err,
                    "exact");
        bool good = exact_agrees(&p, distribution);
        good &= check(parts_agree(model, workload, &dice), "parts joined are not the whole");
        if (!good)
            case_print(stdout, &p);
        lb_distribution_free(distribution);
        lb_workload_free(workload);
        lb_model_free(model);
    }
    printf("%ld problems\n", problems);
    return checks_report();
}
