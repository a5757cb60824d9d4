/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <string.h>

#include "harness.h"

static lb_model *new_model(uint32_t cores, lb_policy policy) {
    lb_model_options options;
    lb_model_options_init(&options, sizeof options);
    options.cores = cores;
    options.policy = policy;
    lb_model *model = NULL;
    lb_error err = {0};
    ASSERT_OK(lb_model_new(&options, &model, &err), err);
    return model;
}

static lb_workload *one_to(size_t n) {
    lb_workload *workload = NULL;
    lb_error err = {0};
    ASSERT_OK(lb_workload_new(&workload, &err), err);
    for (size_t i = 0; i < n; i++)
        ASSERT_OK(lb_workload_add(workload, 1 + (double)i, NULL, &err), err);
    return workload;
}

static lb_estimate_options sampling(uint64_t first, uint64_t samples, uint32_t threads) {
    lb_estimate_options options;
    lb_estimate_options_init(&options, sizeof options);
    options.method = LB_METHOD_SAMPLE;
    options.seed = 3;
    options.first_sample = first;
    options.samples = samples;
    options.threads = threads;
    return options;
}

static lb_distribution *draw(const lb_model *model, const lb_workload *workload, uint64_t first,
                             uint64_t samples, uint32_t threads) {
    lb_estimate_options options = sampling(first, samples, threads);
    lb_distribution *distribution = NULL;
    lb_error err = {0};
    ASSERT_OK(lb_model_distribution(model, workload, &options, &distribution, &err), err);
    ck_assert_uint_eq(lb_distribution_samples(distribution), samples);
    return distribution;
}

static char *text_of(const lb_distribution *distribution) {
    char *text = NULL;
    lb_error err = {0};
    ASSERT_OK(lb_distribution_format(distribution, &text, &err), err);
    return text;
}

static double quantile(const lb_distribution *distribution, size_t index, double p) {
    double seconds = NAN;
    lb_error err = {0};
    ASSERT_OK(lb_distribution_quantile(distribution, index, p, &seconds, &err), err);
    return seconds;
}

/* p0 alone on core 0, the others on core 1: at 1 s one of three moves. p1 ends at 1 + 11/3 if it is
 * p1, at 7 if p2, at 7.5 if p3. */
static lb_workload *three_ways(void) {
    static const double works[] = {1, 4, 5, 6};
    lb_workload *workload = NULL;
    lb_error err = {0};
    ASSERT_OK(lb_workload_new(&workload, &err), err);
    ASSERT_OK(lb_workload_add_many(workload, works, 4, NULL, &err), err);
    for (size_t i = 0; i < 4; i++)
        ASSERT_OK(lb_workload_set_first_core(workload, i, i > 0, &err), err);
    return workload;
}

static void assert_near(double value, double expected) {
    ck_assert_msg(fabs(value - expected) <= 1e-9 * expected, "%.17g, expected %.17g", value,
                  expected);
}

START_TEST(quantiles) {
    lb_model *model = new_model(2, LB_POLICY_LAZY);
    lb_workload *workload = three_ways();
    lb_distribution *d = NULL;
    lb_error err = {0};
    ASSERT_OK(lb_model_distribution(model, workload, NULL, &d, &err), err);
    lb_duration durations[4], same, makespan;
    ASSERT_OK(lb_model_durations(model, workload, NULL, durations, &err), err);
    for (size_t i = 0; i < 4; i++) {
        ASSERT_OK(lb_distribution_duration(d, i, &same, &err), err);
        ck_assert_int_eq(memcmp(&same, &durations[i], sizeof same), 0);
        ck_assert_double_eq(quantile(d, i, 0), durations[i].min);
        ck_assert_double_eq(quantile(d, i, 1), durations[i].max);
    }
    assert_near(quantile(d, 1, 0.33), 1 + 11.0 / 3);
    assert_near(quantile(d, 1, 1.0 / 3), 1 + 11.0 / 3);
    assert_near(quantile(d, 1, 0.34), 7);
    assert_near(quantile(d, 1, 0.66), 7);
    assert_near(quantile(d, 1, 0.67), 7.5);
    ASSERT_OK(lb_distribution_duration(d, LB_MAKESPAN, &makespan, &err), err);
    ck_assert_int_eq(makespan.exact, 1);
    ck_assert_double_eq(quantile(d, LB_MAKESPAN, 1), makespan.max);
    double last = fmax(durations[2].max, durations[3].max);
    ck_assert_double_eq(makespan.max, last);
    lb_distribution_free(d);
    lb_distribution_free(NULL);
    lb_workload_free(workload);
    lb_model_free(model);
}
END_TEST

START_TEST(what_does_not_complete_is_infinite) {
    lb_model *model = new_model(2, LB_POLICY_LAZY);
    lb_workload *workload = three_ways();
    lb_error err = {0};
    ASSERT_OK(lb_workload_add_event(workload, 1, 7.2, LB_EVENT_STOP, &err), err);
    lb_distribution *d = NULL;
    ASSERT_OK(lb_model_distribution(model, workload, NULL, &d, &err), err);
    assert_near(quantile(d, 1, 0.66), 7);
    ck_assert(quantile(d, 1, 0.67) == INFINITY);
    ck_assert(quantile(d, LB_MAKESPAN, 1) < INFINITY); /* of those that complete */
    lb_distribution_free(d);
    lb_workload_free(workload);
    lb_model_free(model);
}
END_TEST

START_TEST(parts_join_to_the_whole) {
    lb_model *model = new_model(3, LB_POLICY_ACTIVE);
    lb_workload *workload = one_to(14);
    lb_error err = {0};
    lb_distribution *whole = draw(model, workload, 10, 500, 1);
    char *expected = text_of(whole);
    static const uint64_t firsts[] = {210, 10, 409, 11}, counts[] = {199, 1, 101, 199};
    lb_distribution *joined = draw(model, workload, firsts[0], counts[0], 2);
    for (int i = 1; i < 4; i++) {
        lb_distribution *part = draw(model, workload, firsts[i], counts[i], 3);
        /* sent as text */
        char *text = text_of(part);
        lb_distribution_free(part);
        ASSERT_OK(lb_distribution_parse(text, strlen(text), &part, &err), err);
        lb_free(text);
        ASSERT_OK(lb_distribution_merge(joined, part, &err), err);
        ASSERT_REFUSED(lb_distribution_merge(joined, part, &err), LB_ERR_INVALID,
                       "is in both distributions", err);
        lb_distribution_free(part);
    }
    char *text = text_of(joined);
    ck_assert_str_eq(text, expected);
    lb_free(text);
    lb_free(expected);
    /* each row is that realisation, and the moments are theirs */
    double seconds[14];
    ASSERT_OK(lb_model_sample(model, workload, lb_realisation_seed(3, 10), seconds, &err), err);
    lb_distribution *first = draw(model, workload, 10, 1, 1);
    for (size_t i = 0; i < 14; i++)
        ck_assert_double_eq(quantile(first, i, 0.3), seconds[i]);
    lb_estimate_options options = sampling(10, 500, 1);
    lb_duration direct, kept;
    ASSERT_OK(lb_model_duration(model, workload, 13, &options, &direct, &err), err);
    ASSERT_OK(lb_distribution_duration(joined, 13, &kept, &err), err);
    ck_assert_double_eq_tol(direct.mean, kept.mean, 1e-12 * kept.mean);
    ck_assert_double_eq_tol(direct.stddev, kept.stddev, 1e-9 * kept.mean);
    ck_assert_uint_eq(kept.samples, 500);
    /* another problem, another seed, an exact one */
    lb_distribution *exact = NULL;
    ASSERT_OK(lb_workload_set_weight(workload, 0, 2, &err), err);
    lb_distribution *other = draw(model, workload, 600, 5, 1);
    ASSERT_REFUSED(lb_distribution_merge(joined, other, &err), LB_ERR_INVALID, "same model", err);
    lb_workload *small = one_to(3);
    ASSERT_OK(lb_model_distribution(model, small, NULL, &exact, &err), err);
    ASSERT_REFUSED(lb_distribution_merge(joined, exact, &err), LB_ERR_INVALID, "exact", err);
    ck_assert_uint_eq(lb_distribution_samples(joined), 500);
    lb_distribution_free(exact);
    lb_distribution_free(other);
    lb_distribution_free(first);
    lb_distribution_free(joined);
    lb_distribution_free(whole);
    lb_workload_free(small);
    lb_workload_free(workload);
    lb_model_free(model);
}
END_TEST

START_TEST(what_is_out_of_range_is_refused) {
    lb_model *model = new_model(2, LB_POLICY_LAZY);
    lb_workload *workload = one_to(3);
    lb_error err = {0};
    lb_distribution *d = draw(model, workload, 0, 3, 1);
    double seconds = 77;
    lb_duration duration;
    ASSERT_REFUSED(lb_distribution_quantile(d, 3, 0.5, &seconds, &err), LB_ERR_INVALID, "process 3",
                   err);
    ASSERT_REFUSED(lb_distribution_duration(d, 3, &duration, &err), LB_ERR_INVALID, "process 3",
                   err);
    ASSERT_REFUSED(lb_distribution_quantile(d, 0, NAN, &seconds, &err), LB_ERR_INVALID, "p is nan",
                   err);
    ASSERT_REFUSED(lb_distribution_quantile(d, 0, 1.5, &seconds, &err), LB_ERR_INVALID, "p is 1.5",
                   err);
    ck_assert_double_eq(seconds, 77);
    lb_distribution_free(d);
    static const struct {
        const char *text, *words;
    } bad[] = {
        {"", "line 1: \"lbsched-distribution 1\""},
        {"lbsched-distribution 2\n", "line 1"},
        {"lbsched-distribution 1\n", "\"processes\""},
        {"lbsched-distribution 1\nprocesses x\n", "line 2"},
        {"lbsched-distribution 1\nprocesses 1\nproblem -1\n", "line 3"},
        {"lbsched-distribution 1\nprocesses 1\nproblem 1\nexact 2\n", "line 4"},
        {"lbsched-distribution 1\nprocesses 4000000000\nproblem 1\nexact 0\n1,1,1\n", "room"},
        {"lbsched-distribution 1\nprocesses 1\nproblem 1\nexact 0\nx,1,1,1\n", "line 5"},
        {"lbsched-distribution 1\nprocesses 1\nproblem 1\nexact 0\n1,2,1,1\n", "weight of 1"},
        {"lbsched-distribution 1\nprocesses 1\nproblem 1\nexact 1\n1,0,1,1\n", "probability"},
        {"lbsched-distribution 1\nprocesses 1\nproblem 1\nexact 0\n1,1,1\n", "makespan"},
        {"lbsched-distribution 1\nprocesses 1\nproblem 1\nexact 0\n1,1,1,1,1\n", "nothing behind"},
        {"lbsched-distribution 1\nprocesses 1\nproblem 1\nexact 0\n1,1,-1,1\n", "makespan"},
        {"lbsched-distribution 1\nprocesses 1\nproblem 1\nexact 0\n2,1,1,1\n2,1,1,1\n", "line 6"},
        {"lbsched-distribution 1\nprocesses 1\nproblem 1\nexact 0\n\n", "line 5"},
    };
    lb_distribution *parsed = NULL;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ASSERT_REFUSED(lb_distribution_parse(bad[i].text, strlen(bad[i].text), &parsed, &err),
                       LB_ERR_FORMAT, bad[i].words, err);
    ck_assert_ptr_null(parsed);
    lb_workload_free(workload);
    lb_model_free(model);
}
END_TEST

static lb_distribution *distribution_of(const lb_model *model, const lb_workload *workload,
                                        const lb_estimate_options *options) {
    lb_distribution *d = NULL;
    lb_error err;
    ASSERT_OK(lb_model_distribution(model, workload, options, &d, &err), err);
    return d;
}

/* Speeds of 1 and arrivals at 0 that are said are as those that are not. */
START_TEST(parts_of_one_problem_join_however_it_was_said) {
    lb_error err;
    lb_model *plain = new_model(2, LB_POLICY_LAZY), *said;
    static const double ones[] = {1, 1};
    lb_model_options spoken;
    lb_model_get_options(plain, &spoken, sizeof spoken);
    spoken.core_speeds = ones;
    ASSERT_OK(lb_model_new(&spoken, &said, &err), err);
    lb_workload *workload = one_to(6), *other = one_to(6);
    ASSERT_OK(lb_workload_set_arrival(other, 1, 0, &err), err);
    lb_estimate_options options = sampling(0, 5, 1);
    options.method = LB_METHOD_SAMPLE;
    lb_distribution *a = distribution_of(plain, workload, &options);
    options.first_sample = 5;
    lb_distribution *b = distribution_of(said, other, &options);
    ASSERT_OK(lb_distribution_merge(a, b, &err), err);
    lb_distribution_free(a);
    lb_distribution_free(b);
    lb_workload_free(workload);
    lb_workload_free(other);
    lb_model_free(plain);
    lb_model_free(said);
}
END_TEST

START_TEST(numbers_of_realisations_do_not_wrap) {
    lb_error err;
    lb_model *model = new_model(2, LB_POLICY_LAZY);
    lb_workload *workload = one_to(6);
    lb_estimate_options options = sampling(0, 10, 1);
    options.method = LB_METHOD_SAMPLE;
    options.first_sample = UINT64_MAX - 9;
    lb_distribution *d = distribution_of(model, workload, &options);
    lb_distribution_free(d);
    options.first_sample++;
    d = NULL;
    ASSERT_REFUSED(lb_model_distribution(model, workload, &options, &d, &err), LB_ERR_INVALID,
                   "first_sample is 18446744073709551607", err);
    ck_assert_ptr_null(d);
    lb_workload_free(workload);
    lb_model_free(model);
}
END_TEST

static int never_falls(void *user, double fraction) {
    double *last = user;
    ck_assert(fraction >= *last && fraction <= 1);
    *last = fraction;
    return 0;
}

/* Drawn until the means are good, then again to be kept: one progress; and no process is one
 * workload too. */
START_TEST(progress_never_falls) {
    lb_error err;
    lb_model *model = new_model(4, LB_POLICY_ACTIVE);
    for (int n = 0; n <= 60; n += 60) {
        lb_workload *workload = one_to(n);
        double last = 0;
        lb_estimate_options options = sampling(0, 0, 2);
        options.method = LB_METHOD_SAMPLE;
        options.max_samples = 20000;
        options.relative_error = 1e-9;
        options.progress = never_falls;
        options.progress_user = &last;
        lb_distribution_free(distribution_of(model, workload, &options));
        last = 0;
        lb_table *table;
        ASSERT_OK(lb_model_summary(model, workload, &options, &table, &err), err);
        lb_table_free(table);
        last = 0;
        lb_duration durations[60];
        ASSERT_OK(lb_model_durations(model, workload, &options, durations, &err), err);
        lb_workload_free(workload);
    }
    lb_model_free(model);
}
END_TEST

START_TEST(distributions_survive_failed_allocations) {
    lb_model *model = new_model(2, LB_POLICY_LAZY);
    lb_workload *workload = one_to(6);
    for (int method = LB_METHOD_AUTO; method <= LB_METHOD_SAMPLE; method++)
        for (uint32_t threads = 1; threads <= 2; threads++) {
            lb_estimate_options options = sampling(0, method == LB_METHOD_SAMPLE ? 20 : 0, threads);
            options.method = method;
            size_t failures;
            lb_status status;
            SWEEP_ALLOCATIONS(status, failures, {
                lb_distribution *d = NULL;
                lb_distribution *parsed = NULL;
                char *text = NULL;
                double seconds;
                status = lb_model_distribution(model, workload, &options, &d, NULL);
                if (status == LB_OK)
                    status = lb_distribution_format(d, &text, NULL);
                if (status == LB_OK)
                    status = lb_distribution_parse(text, strlen(text), &parsed, NULL);
                if (status == LB_OK)
                    status = lb_distribution_quantile(parsed, 5, 0.5, &seconds, NULL);
                if (status == LB_OK && method == LB_METHOD_SAMPLE) {
                    lb_distribution *more = NULL;
                    options.first_sample = 20;
                    status = lb_model_distribution(model, workload, &options, &more, NULL);
                    options.first_sample = 0;
                    if (status == LB_OK)
                        status = lb_distribution_merge(parsed, more, NULL);
                    lb_distribution_free(more);
                }
                lb_free(text);
                lb_distribution_free(parsed);
                lb_distribution_free(d);
            });
            ck_assert_uint_gt(failures, 10);
        }
    lb_workload_free(workload);
    lb_model_free(model);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("model_distribution");
    ADD(s, "answers", quantiles, what_does_not_complete_is_infinite, parts_join_to_the_whole,
        parts_of_one_problem_join_however_it_was_said, progress_never_falls);
    ADD(s, "bad input", what_is_out_of_range_is_refused, numbers_of_realisations_do_not_wrap);
    ADD(s, "memory", distributions_survive_failed_allocations);
    return s;
}
