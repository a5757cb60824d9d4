/* SPDX-License-Identifier: BSD-3-Clause */
/* The worked cases of the model and what single rules of it mean. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "../../lib/model/engine.h"
#include "base/random.h"
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

static lb_workload *new_workload(const double *works, size_t n) {
    lb_workload *workload = NULL;
    lb_error err = {0};
    ASSERT_OK(lb_workload_new(&workload, &err), err);
    ASSERT_OK(lb_workload_add_many(workload, works, n, NULL, &err), err);
    return workload;
}

#define WORKLOAD(...)                                                                              \
    new_workload((const double[]){__VA_ARGS__},                                                    \
                 sizeof((const double[]){__VA_ARGS__}) / sizeof(double))

static void arrives(lb_workload *workload, size_t index, double time) {
    lb_error err = {0};
    ASSERT_OK(lb_workload_set_arrival(workload, index, time, &err), err);
}

static void event(lb_workload *workload, size_t index, double time, lb_event_kind kind) {
    lb_error err = {0};
    ASSERT_OK(lb_workload_add_event(workload, index, time, kind, &err), err);
}

static void starts(lb_workload *workload, size_t index, uint32_t core) {
    lb_error err = {0};
    ASSERT_OK(lb_workload_set_first_core(workload, index, core, &err), err);
}

static void weighs(lb_workload *workload, size_t index, double weight) {
    lb_error err = {0};
    ASSERT_OK(lb_workload_set_weight(workload, index, weight, &err), err);
}

/* The exact means; frees both. */
#define ASSERT_MEANS(model_, workload_, ...)                                                       \
    assert_means(model_, workload_, (const double[]){__VA_ARGS__},                                 \
                 sizeof((const double[]){__VA_ARGS__}) / sizeof(double))

static void assert_means(lb_model *model, lb_workload *workload, const double *means, size_t n) {
    lb_duration durations[64];
    lb_estimate_options options;
    lb_estimate_options_init(&options, sizeof options);
    options.method = LB_METHOD_EXACT;
    lb_error err = {0};
    ck_assert_uint_eq(lb_workload_size(workload), n);
    ASSERT_OK(lb_model_durations(model, workload, &options, durations, &err), err);
    for (size_t i = 0; i < n; i++)
        if (means[i] == INFINITY)
            ck_assert_msg(durations[i].mean == INFINITY && durations[i].completion == 0,
                          "process %zu completes after %.17g", i, durations[i].mean);
        else
            ck_assert_msg(fabs(durations[i].mean - means[i]) <= 1e-9 * means[i],
                          "process %zu: %.17g, expected %.17g", i, durations[i].mean, means[i]);
    lb_workload_free(workload);
    lb_model_free(model);
}

/* ---- the worked cases of the model's description ---- */

START_TEST(two_cores_six_works) {
    ASSERT_MEANS(new_model(2, LB_POLICY_NONE), WORKLOAD(1, 2, 3, 4, 5, 6), 3, 6, 7, 10, 9, 12);
    ASSERT_MEANS(new_model(2, LB_POLICY_LAZY), WORKLOAD(1, 2, 3, 4, 5, 6), 3, 6, 7, 9.5, 9, 11.5);
    ASSERT_MEANS(new_model(2, LB_POLICY_ACTIVE), WORKLOAD(1, 2, 3, 4, 5, 6), 3, 6, 7, 9.5, 9, 11.5);
    ASSERT_MEANS(new_model(2, LB_POLICY_IMMEDIATE), WORKLOAD(1, 2, 3, 4, 5, 6), 3, 5.5, 7.5, 9, 10,
                 11);
}
END_TEST

START_TEST(four_cores_active_without_chance) {
    lb_model *model = new_model(4, LB_POLICY_ACTIVE);
    lb_workload *workload = WORKLOAD(3, 7, 4, 9, 12, 5, 8, 6);
    lb_duration durations[8];
    lb_error err = {0};
    ASSERT_OK(lb_model_durations(model, workload, NULL, durations, &err), err);
    ck_assert_uint_eq(durations[0].samples, 1);
    ck_assert_int_eq(durations[0].exact, 1);
    ASSERT_MEANS(model, workload, 6, 12, 8, 15, 15, 10, 12, 12);
}
END_TEST

START_TEST(a_heavy_process_gets_one_core_and_no_more) {
    /* until the heavy one is done at 3 s the others run at 3/7, from then on at 4/7 */
    lb_workload *workload = WORKLOAD(3, 3, 3, 3, 3, 3, 3, 3);
    weighs(workload, 7, 10000);
    double others = 3 + (3 - 3 * 3.0 / 7) / (4.0 / 7);
    ASSERT_MEANS(new_model(4, LB_POLICY_IMMEDIATE), workload, others, others, others, others,
                 others, others, others, 3);
}
END_TEST

START_TEST(the_seeds_profile_of_linux_2_6_31) {
    /* data/seed-profile-linux-2.6.31.csv: mean duration in ms of a 1000 ms unit, 4 cores */
    static const double measured[] = {1004.10, 1003.91, 1003.94, 1006.18, 1257.03, 1511.71,
                                      1758.99, 2011.40, 2262.19, 2512.40, 2764.91, 3019.13};
    lb_model *model = NULL;
    lb_error err = {0};
    ASSERT_OK(lb_model_preset("linux-2.6.31", 4, &model, &err), err);
    double worst = 0;
    for (size_t n = 1; n <= 12; n++) {
        double works[12];
        for (size_t i = 0; i < n; i++)
            works[i] = measured[0] / 1000;
        lb_workload *workload = new_workload(works, n);
        lb_duration duration;
        ASSERT_OK(lb_model_duration(model, workload, 0, NULL, &duration, &err), err);
        double error = fabs(duration.mean * 1000 / measured[n - 1] - 1);
        worst = error > worst ? error : worst;
        lb_workload_free(workload);
    }
    printf("seed profile: at most %.3f %% off\n", 100 * worst);
    ck_assert_double_lt(worst, 0.004);
    lb_model_free(model);
}
END_TEST

START_TEST(presets_are_the_seeds_three_systems) {
    static const struct {
        const char *name;
        lb_policy policy;
    } presets[] = {{"windows-7", LB_POLICY_LAZY},
                   {"linux-2.6.22", LB_POLICY_ACTIVE},
                   {"linux-2.6.31", LB_POLICY_IMMEDIATE}};
    lb_error err = {0};
    for (int i = 0; i < 3; i++) {
        lb_model *model = NULL;
        ASSERT_OK(lb_model_preset(presets[i].name, 7, &model, &err), err);
        ck_assert_uint_eq(lb_model_cores(model), 7);
        ck_assert_int_eq(lb_model_policy(model), presets[i].policy);
        lb_model_free(model);
    }
    lb_model *model = NULL;
    ASSERT_REFUSED(lb_model_preset("windows-8", 7, &model, &err), LB_ERR_INVALID, "\"windows-8\"",
                   err);
    ASSERT_REFUSED(lb_model_preset("windows-7", 0, &model, &err), LB_ERR_INVALID, "cores is 0",
                   err);
    ck_assert_ptr_null(model);
}
END_TEST

START_TEST(nice_weights_are_linuxs) {
    ck_assert_double_eq(lb_nice_weight(0), 1);
    ck_assert_double_eq(lb_nice_weight(-20), 88761 / 1024.0);
    ck_assert_double_eq(lb_nice_weight(19), 15 / 1024.0);
    ck_assert_double_eq(lb_nice_weight(5), 335 / 1024.0);
    ck_assert(isnan(lb_nice_weight(-21)) && isnan(lb_nice_weight(20)));
    for (int nice = -20; nice < 19; nice++) {
        double ratio = lb_nice_weight(nice) / lb_nice_weight(nice + 1);
        ck_assert_msg(ratio > 1.18 && ratio < 1.30, "nice %d to %d: %g", nice, nice + 1, ratio);
    }
    /* seeds/001: the ratios of its table, nice 0 to 19 */
    static const double ratios[] = {1,         0.800781,  0.639648,  0.513672,  0.413086,
                                    0.327148,  0.265625,  0.209961,  0.167969,  0.133789,
                                    0.107422,  0.0849609, 0.0683594, 0.0546875, 0.0439453,
                                    0.0351562, 0.0283203, 0.0224609, 0.0175781, 0.0146484};
    for (int nice = 0; nice < 20; nice++)
        ck_assert_double_eq_tol(lb_nice_weight(nice), ratios[nice], 1e-6);
}
END_TEST

/* ---- single rules ---- */

START_TEST(fast_cores_come_first) {
    lb_model_options options;
    lb_model_options_init(&options, sizeof options);
    double speeds[] = {1, 4, 2};
    options.cores = 3;
    options.core_speeds = speeds;
    options.policy = LB_POLICY_NONE;
    lb_model *model = NULL;
    lb_error err = {0};
    ASSERT_OK(lb_model_new(&options, &model, &err), err);
    speeds[0] = 100; /* it was copied */
    lb_model_options back;
    lb_model_get_options(model, &back, sizeof back);
    ck_assert_double_eq(back.core_speeds[0], 1);
    ck_assert_uint_eq(back.size, sizeof back);
    /* the fastest core first, then each next fastest, then the fastest again */
    ASSERT_MEANS(model, WORKLOAD(8, 8, 8, 8), 4, 4, 8, 4);

    speeds[0] = 1;
    options.policy = LB_POLICY_IMMEDIATE;
    ASSERT_OK(lb_model_new(&options, &model, &err), err);
    /* one: 4; two: (4 + 2) / 2 each */
    ASSERT_MEANS(model, WORKLOAD(6, 12), 2, 2 + 6.0 / 4);
}
END_TEST

START_TEST(a_late_check_acts_late) {
    lb_model_options options;
    lb_model_options_init(&options, sizeof options);
    options.cores = 2;
    options.policy = LB_POLICY_LAZY;
    options.balance_delay = 2;
    lb_model *model = NULL;
    lb_error err = {0};
    ASSERT_OK(lb_model_new(&options, &model, &err), err);
    /* core 0 is empty from 1 s on; at 3 s, with 1.5 s done of each, p1 or p2 moves there */
    lb_workload *workload = WORKLOAD(1, 5, 5);
    starts(workload, 1, 1);
    starts(workload, 2, 1);
    ASSERT_MEANS(model, workload, 1, 6.5, 6.5);
}
END_TEST

START_TEST(choices_are_followed) {
    /* core 0 runs dry at 1 s; core 1 holds p1, p3, core 2 p2, p4, p5 */
    lb_model_options options;
    lb_model_options_init(&options, sizeof options);
    options.cores = 3;
    options.policy = LB_POLICY_LAZY;
    options.list_choice = LB_LIST_LONGEST;
    lb_error err = {0};
    for (int last = 0; last < 2; last++) {
        options.process_choice = last ? LB_PROCESS_LAST : LB_PROCESS_FIRST;
        lb_model *model = NULL;
        ASSERT_OK(lb_model_new(&options, &model, &err), err);
        lb_workload *workload = WORKLOAD(1, 30, 30, 30, 30, 30);
        static const uint32_t cores[] = {0, 1, 2, 1, 2, 2};
        for (size_t i = 0; i < 6; i++)
            starts(workload, i, cores[i]);
        event(workload, 1, 1.5, LB_EVENT_STOP);
        event(workload, 3, 1.5, LB_EVENT_STOP);
        lb_duration durations[6];
        ASSERT_OK(lb_model_durations(model, workload, NULL, durations, &err), err);
        /* at 1.5 s core 1 is empty too and takes p4: first of p4 and p5, last of p2 and p4 */
        ck_assert_uint_eq(durations[0].samples, 1);
        ck_assert_double_eq_tol(durations[last ? 5 : 2].mean, 1 + 30 - 1.0 / 3, 1e-9);
        ck_assert_double_eq_tol(durations[4].mean, 1.5 + 30 - 1.0 / 3 - 0.5 / 2, 1e-9);
        lb_workload_free(workload);
        lb_model_free(model);
    }
}
END_TEST

START_TEST(sleepers_return_to_the_list_they_left) {
    /* p0 sleeps from 1 to 2 on core 0 while p2 arrives there; nobody moves */
    lb_workload *workload = WORKLOAD(4, 100, 5);
    arrives(workload, 2, 1);
    event(workload, 0, 1, LB_EVENT_SLEEP);
    event(workload, 0, 2, LB_EVENT_WAKE);
    /* p0 has 3 left at 2 s, p2 4: both at 1/2, 8 s; p2 then has 1 */
    ASSERT_MEANS(new_model(2, LB_POLICY_NONE), workload, 8, 100, 8);
}
END_TEST

START_TEST(only_the_net_effect_of_an_instant_counts) {
    /* asleep and awake at the same instant is nothing, and does not make it the last */
    lb_workload *workload = WORKLOAD(4, 4);
    event(workload, 0, 1, LB_EVENT_SLEEP);
    event(workload, 0, 1, LB_EVENT_WAKE);
    ASSERT_MEANS(new_model(1, LB_POLICY_NONE), workload, 8, 8);
    /* arriving asleep, placed when it wakes: the shortest list then is core 1 */
    workload = WORKLOAD(10, 2, 4);
    arrives(workload, 2, 1);
    event(workload, 2, 1, LB_EVENT_SLEEP);
    event(workload, 2, 3, LB_EVENT_WAKE);
    ASSERT_MEANS(new_model(2, LB_POLICY_NONE), workload, 10, 2, 6);
    /* completion wins over stop and over sleep */
    workload = WORKLOAD(2, 2);
    event(workload, 0, 2, LB_EVENT_STOP);
    event(workload, 1, 2, LB_EVENT_SLEEP);
    ASSERT_MEANS(new_model(2, LB_POLICY_LAZY), workload, 2, 2);
    /* zero work completes at its arrival, and is never placed */
    workload = WORKLOAD(0, 3, 0);
    arrives(workload, 2, 1);
    event(workload, 2, 1, LB_EVENT_STOP);
    ASSERT_MEANS(new_model(1, LB_POLICY_ACTIVE), workload, 0, 3, 0);
    /* stopped: never */
    workload = WORKLOAD(4, 4);
    event(workload, 0, 2, LB_EVENT_STOP);
    event(workload, 0, 1, LB_EVENT_WAKE);  /* not asleep */
    event(workload, 0, 3, LB_EVENT_SLEEP); /* gone */
    ASSERT_MEANS(new_model(1, LB_POLICY_IMMEDIATE), workload, INFINITY, 5);
}
END_TEST

START_TEST(events_within_the_window_are_one_instant) {
    /* p0 stops a little before p1 arrives on the same core; apart, p2 or p3 would move there */
    static const double apart[] = {5e-13, 5e-12};
    for (int i = 0; i < 2; i++) {
        lb_workload *workload = WORKLOAD(10, 10, 10, 10);
        static const uint32_t cores[] = {0, 0, 1, 1};
        for (size_t k = 0; k < 4; k++)
            starts(workload, k, cores[k]);
        arrives(workload, 1, 2 * (1 + apart[i]));
        event(workload, 0, 2, LB_EVENT_STOP);
        /* one instant: p1 alone to 12 s, then p2 or p3 moves; apart: one of these moves at 2 s,
           is joined by p1, and at 11 s, when the other ends, either of the two moves again */
        if (i == 0)
            ASSERT_MEANS(new_model(2, LB_POLICY_LAZY), workload, INFINITY, 10, 16, 16);
        else
            ASSERT_MEANS(new_model(2, LB_POLICY_LAZY), workload, INFINITY, 14.5, 13.25, 13.25);
    }
}
END_TEST

START_TEST(no_processes_and_infinite_ones) {
    lb_model *model = new_model(3, LB_POLICY_ACTIVE);
    lb_workload *workload = NULL;
    lb_error err = {0};
    ASSERT_OK(lb_workload_new(&workload, &err), err);
    ASSERT_OK(lb_model_durations(model, workload, NULL, NULL, &err), err);
    ASSERT_OK(lb_model_sample(model, workload, 1, NULL, &err), err);
    lb_workload_free(workload);
    lb_model_free(model);
    ASSERT_MEANS(new_model(3, LB_POLICY_LAZY), WORKLOAD(INFINITY, INFINITY, INFINITY, INFINITY),
                 INFINITY, INFINITY, INFINITY, INFINITY);
    /* two infinite ones rotate for ever; the finite one ends all the same */
    lb_model_options options;
    lb_model_options_init(&options, sizeof options);
    options.cores = 2;
    options.rotation_time = 0.1;
    ASSERT_OK(lb_model_new(&options, &model, &err), err);
    workload = WORKLOAD(INFINITY, 1, INFINITY);
    double seconds[3];
    ASSERT_OK(lb_model_sample(model, workload, 1, seconds, &err), err);
    ck_assert(seconds[0] == INFINITY && seconds[2] == INFINITY);
    ck_assert(seconds[1] >= 1 && seconds[1] <= 2);
    lb_workload_free(workload);
    lb_model_free(model);
}
END_TEST

/* ---- estimates ---- */

static lb_workload *random_workload(uint64_t seed, size_t n) {
    lbi_random random;
    lbi_random_seed(&random, seed);
    double works[4096];
    for (size_t i = 0; i < n; i++)
        works[i] = 0.1 + 10 * lbi_random_unit(&random);
    return new_workload(works, n);
}

START_TEST(threads_change_nothing) {
    lb_model *model = new_model(4, LB_POLICY_LAZY);
    lb_workload *workload = random_workload(7, 24);
    lb_error err = {0};
    lb_estimate_options options;
    lb_estimate_options_init(&options, sizeof options);
    options.method = LB_METHOD_SAMPLE;
    options.seed = 5;
    for (int until_good = 0; until_good < 2; until_good++) {
        options.samples = until_good ? 0 : 3001;
        options.relative_error = 0.004;
        lb_duration one[24], many[24];
        options.threads = 1;
        ASSERT_OK(lb_model_durations(model, workload, &options, one, &err), err);
        for (uint32_t threads = 2; threads <= 5; threads++) {
            options.threads = threads;
            ASSERT_OK(lb_model_durations(model, workload, &options, many, &err), err);
            ck_assert_int_eq(memcmp(one, many, sizeof one), 0);
        }
        if (!until_good) {
            ck_assert_uint_eq(one[0].samples, 3001);
        } else {
            ck_assert_uint_lt(one[0].samples, 1000000);
            for (int i = 0; i < 24; i++)
                ck_assert(one[i].standard_error <= 0.004 * one[i].mean);
        }
    }
    lb_workload_free(workload);
    lb_model_free(model);
}
END_TEST

START_TEST(realisations_depend_on_seed_and_number_alone) {
    lb_model *model = new_model(3, LB_POLICY_ACTIVE);
    lb_workload *workload = random_workload(9, 15);
    lb_error err = {0};
    lb_sampler *sampler = NULL;
    ASSERT_OK(lb_sampler_new(model, workload, &sampler, &err), err);
    lb_estimate_options options;
    lb_estimate_options_init(&options, sizeof options);
    options.method = LB_METHOD_SAMPLE;
    options.samples = 1;
    options.seed = 11;
    double first[15] = {0};
    bool differ = false;
    for (uint64_t k = 0; k < 20; k++) {
        double single[15], repeated[15];
        lb_duration durations[15];
        uint64_t seed = lb_realisation_seed(11, k);
        options.first_sample = k;
        ASSERT_OK(lb_model_durations(model, workload, &options, durations, &err), err);
        ASSERT_OK(lb_model_sample(model, workload, seed, single, &err), err);
        ASSERT_OK(lb_sampler_run(sampler, seed, repeated, &err), err);
        ck_assert_int_eq(memcmp(single, repeated, sizeof single), 0);
        for (int i = 0; i < 15; i++) {
            ck_assert_double_eq(durations[i].mean, single[i]);
            ck_assert_double_eq(durations[i].stddev, 0);
            ck_assert(durations[i].standard_error == INFINITY);
            ck_assert_int_eq(durations[i].exact, 0);
        }
        if (k == 0)
            memcpy(first, single, sizeof first);
        differ = differ || memcmp(first, single, sizeof first) != 0;
    }
    ck_assert(differ);
    /* the sampler keeps what model and workload were */
    double before[15], after[15];
    ASSERT_OK(lb_sampler_run(sampler, 1, before, &err), err);
    lb_workload_free(workload);
    lb_model_free(model);
    ASSERT_OK(lb_sampler_run(sampler, 1, after, &err), err);
    ck_assert_int_eq(memcmp(before, after, sizeof before), 0);
    lb_sampler_free(sampler);
    lb_sampler_free(NULL);
}
END_TEST

/* Small problems are drawn from a tree of all realisations: the same ones. */
START_TEST(drawn_from_a_tree_or_simulated) {
    enum {
        N = 9,
        SAMPLES = 20000
    };
    for (int policy = LB_POLICY_LAZY; policy <= LB_POLICY_ACTIVE; policy++) {
        lb_model *model = new_model(3, (lb_policy)policy);
        lb_workload *workload = random_workload(12, N);
        event(workload, 3, 4, LB_EVENT_SLEEP);
        event(workload, 3, 6, LB_EVENT_WAKE);
        event(workload, 5, 20, LB_EVENT_STOP);
        lb_error err = {0};
        lb_sampler *sampler = NULL;
        ASSERT_OK(lb_sampler_new(model, workload, &sampler, &err), err);
        double sum[N] = {0}, completed[N] = {0}, seconds[N];
        for (uint64_t k = 0; k < SAMPLES; k++) {
            ASSERT_OK(lb_sampler_run(sampler, lb_realisation_seed(8, 100 + k), seconds, &err), err);
            for (int i = 0; i < N; i++)
                if (seconds[i] < INFINITY) {
                    sum[i] += seconds[i];
                    completed[i]++;
                }
        }
        lb_estimate_options options;
        lb_estimate_options_init(&options, sizeof options);
        options.method = LB_METHOD_SAMPLE;
        options.samples = SAMPLES;
        options.first_sample = 100;
        options.seed = 8;
        lb_duration one[N], many[N];
        ASSERT_OK(lb_model_durations(model, workload, &options, one, &err), err);
        options.threads = 3;
        ASSERT_OK(lb_model_durations(model, workload, &options, many, &err), err);
        ck_assert_int_eq(memcmp(one, many, sizeof one), 0);
        for (int i = 0; i < N; i++) {
            ck_assert_double_eq_tol(one[i].completion, completed[i] / SAMPLES, 1e-15);
            double mean = sum[i] / completed[i];
            if (completed[i] > 0)
                ck_assert_double_eq_tol(one[i].mean, mean, 1e-10 * mean);
        }
        lb_sampler_free(sampler);
        lb_workload_free(workload);
        lb_model_free(model);
    }
}
END_TEST

START_TEST(one_process_is_estimated_as_among_all) {
    lb_model *model = new_model(4, LB_POLICY_LAZY);
    lb_workload *workload = random_workload(3, 10);
    lb_error err = {0};
    lb_estimate_options options;
    lb_estimate_options_init(&options, sizeof options);
    for (int method = LB_METHOD_AUTO; method <= LB_METHOD_SAMPLE; method++) {
        options.method = method;
        options.samples = 500;
        lb_duration all[10], single;
        ASSERT_OK(lb_model_durations(model, workload, &options, all, &err), err);
        ck_assert_int_eq(all[0].exact, method != LB_METHOD_SAMPLE);
        for (size_t i = 0; i < 10; i++) {
            ASSERT_OK(lb_model_duration(model, workload, i, &options, &single, &err), err);
            ck_assert_int_eq(memcmp(&single, &all[i], sizeof single), 0);
        }
    }
    lb_workload_free(workload);
    lb_model_free(model);
}
END_TEST

START_TEST(exact_has_a_bound_and_auto_goes_on_by_sampling) {
    lb_model *model = new_model(4, LB_POLICY_LAZY);
    lb_workload *workload = random_workload(1, 400);
    lb_error err = {0};
    lb_estimate_options options;
    lb_estimate_options_init(&options, sizeof options);
    options.method = LB_METHOD_EXACT;
    lb_duration duration = {.mean = 77};
    ASSERT_REFUSED(lb_model_duration(model, workload, 399, &options, &duration, &err), LB_ERR_LIMIT,
                   "1000000", err);
    ck_assert_double_eq(duration.mean, 77);
    options.method = LB_METHOD_AUTO;
    options.max_samples = 300;
    ASSERT_OK(lb_model_duration(model, workload, 399, &options, &duration, &err), err);
    ck_assert_uint_eq(duration.samples, 300);
    ck_assert_int_eq(duration.exact, 0);
    lb_workload_free(workload);
    lb_model_free(model);
}
END_TEST

START_TEST(rotation_is_sampled_and_tends_to_processor_sharing) {
    lb_model_options options;
    lb_model_options_init(&options, sizeof options);
    options.cores = 2;
    lb_error err = {0};
    lb_workload *workload = WORKLOAD(1, 2, 3, 4, 5);
    double sharing[5], previous = INFINITY;
    lb_model *model = NULL;
    ASSERT_OK(lb_model_new(&options, &model, &err), err);
    ASSERT_OK(lb_model_sample(model, workload, 0, sharing, &err), err);
    lb_model_free(model);
    for (double tau = 1; tau > 0.001; tau /= 10) {
        options.rotation_time = tau;
        ASSERT_OK(lb_model_new(&options, &model, &err), err);
        lb_estimate_options how;
        lb_estimate_options_init(&how, sizeof how);
        how.method = LB_METHOD_EXACT;
        lb_duration durations[5];
        ASSERT_REFUSED(lb_model_durations(model, workload, &how, durations, &err),
                       LB_ERR_UNSUPPORTED, "rotation_time", err);
        how.method = LB_METHOD_AUTO;
        how.samples = 2000;
        ASSERT_OK(lb_model_durations(model, workload, &how, durations, &err), err);
        double worst = 0;
        for (int i = 0; i < 5; i++) {
            ck_assert_int_eq(durations[i].exact, 0);
            double error = fabs(durations[i].mean - sharing[i]) + durations[i].stddev;
            worst = error > worst ? error : worst;
        }
        ck_assert_double_lt(worst, previous / 2);
        previous = worst;
        lb_model_free(model);
    }
    ck_assert_double_lt(previous, 0.1);
    lb_workload_free(workload);
}
END_TEST

/* Three infinite processes on two cores: each rotation takes one of the pair at random; the time
 * between is exponential. The works are such that only the first rotation matters: with a process
 * of work w on the single core, and tau large, it ends at w unless a rotation came. */
START_TEST(rotation_times_are_exponential) {
    lb_model_options options;
    lb_model_options_init(&options, sizeof options);
    options.cores = 2;
    options.rotation_time = 3;
    lb_model *model = NULL;
    lb_error err = {0};
    ASSERT_OK(lb_model_new(&options, &model, &err), err);
    lb_workload *workload = WORKLOAD(INFINITY, 1, INFINITY);
    lb_sampler *sampler = NULL;
    ASSERT_OK(lb_sampler_new(model, workload, &sampler, &err), err);
    int undisturbed = 0, draws = 20000;
    for (int k = 0; k < draws; k++) {
        double seconds[3];
        ASSERT_OK(lb_sampler_run(sampler, lb_realisation_seed(1, (uint64_t)k), seconds, &err), err);
        undisturbed += fabs(seconds[1] - 1) < 1e-9;
    }
    double expected = exp(-1.0 / 3), error = sqrt(expected * (1 - expected) / draws);
    ck_assert_double_lt(fabs((double)undisturbed / draws - expected), 5 * error);
    lb_sampler_free(sampler);
    lb_workload_free(workload);
    lb_model_free(model);
}
END_TEST

typedef struct calls {
    int count, cancel_at;
    double last;
    pthread_t thread;
} calls;

static int note_progress(void *user, double fraction) {
    calls *c = user;
    ck_assert(fraction >= c->last && fraction <= 1);
    ck_assert(pthread_equal(c->thread, pthread_self()));
    c->last = fraction;
    return ++c->count == c->cancel_at;
}

START_TEST(progress_and_cancel) {
    lb_model *model = new_model(4, LB_POLICY_ACTIVE);
    lb_workload *workload = random_workload(1, 200);
    lb_error err = {0};
    calls c = {.cancel_at = 3, .thread = pthread_self()};
    lb_estimate_options options;
    lb_estimate_options_init(&options, sizeof options);
    options.progress = note_progress;
    options.progress_user = &c;
    options.samples = UINT64_C(1) << 40;
    lb_duration duration = {.mean = 77};
    for (uint32_t threads = 1; threads <= 3; threads++) {
        c.count = 0;
        c.last = 0;
        options.threads = threads;
        ASSERT_REFUSED(lb_model_duration(model, workload, 0, &options, &duration, &err),
                       LB_ERR_CANCELLED, "cancelled", err);
        ck_assert_int_eq(c.count, 3);
        ck_assert_double_eq(duration.mean, 77);
    }
    lb_workload_free(workload);
    lb_model_free(model);
}
END_TEST

/* ---- bad input ---- */

START_TEST(model_options_are_checked) {
    lb_model *model = NULL;
    lb_error err = {0};
    lb_model_options good, options;
    lb_model_options_init(&good, sizeof good);
#define REFUSED(change_, words_)                                                                   \
    do {                                                                                           \
        options = good;                                                                            \
        options.change_;                                                                           \
        ASSERT_REFUSED(lb_model_new(&options, &model, &err), LB_ERR_INVALID, words_, err);         \
        ck_assert_ptr_null(model);                                                                 \
    } while (0)
    REFUSED(cores = 0, "lb_model_options.cores is 0");
    REFUSED(policy = LB_POLICY_UNKNOWN, "lb_model_options.policy is 0");
    REFUSED(policy = 5, "lb_model_options.policy is 5");
    REFUSED(balance_delay = -1, "lb_model_options.balance_delay is -1");
    REFUSED(balance_delay = NAN, "lb_model_options.balance_delay is nan");
    REFUSED(balance_delay = INFINITY, "lb_model_options.balance_delay is inf");
    REFUSED(rotation_time = -1, "lb_model_options.rotation_time is -1");
    REFUSED(rotation_time = NAN, "lb_model_options.rotation_time is nan");
    REFUSED(rotation_time = INFINITY, "lb_model_options.rotation_time is inf");
    REFUSED(list_choice = 2, "lb_model_options.list_choice is 2");
    REFUSED(process_choice = -1, "lb_model_options.process_choice is -1");
    REFUSED(size = 8, "lb_model_options.size is 8");
    REFUSED(group_cores = 2, "lb_model_options.group_cores is 2");
    good.cores = 3;
    REFUSED(group_cores = 2, "group_cores is 2: 0, or a divisor of 3 cores");
    good.group_cores = 3;
    REFUSED(list_choice = LB_LIST_LONGEST, "list_choice is 1: LB_LIST_RANDOM expected where");
    REFUSED(process_choice = LB_PROCESS_LAST, "process_choice is 2: LB_PROCESS_RANDOM expected");
    good.group_cores = 0;
    const double bad_speeds[] = {0, -1, NAN, INFINITY};
    const char *const words[] = {"core_speeds[2] is 0", "core_speeds[2] is -1",
                                 "core_speeds[2] is nan", "core_speeds[2] is inf"};
    for (int i = 0; i < 4; i++) {
        double speeds[] = {1, 2, bad_speeds[i]};
        REFUSED(core_speeds = speeds, words[i]);
    }
    struct {
        lb_model_options options;
        char tail[8];
    } newer = {.options = good, .tail = {0, 0, 0, 1}};
    newer.options.size = sizeof newer;
    ASSERT_REFUSED(lb_model_new(&newer.options, &model, &err), LB_ERR_INVALID, "nonzero byte", err);
    newer.tail[3] = 0;
    ASSERT_OK(lb_model_new(&newer.options, &model, &err), err);
    lb_model_free(model);
    ASSERT_OK(lb_model_new(NULL, &model, &err), err);
    ck_assert_uint_eq(lb_model_cores(model), 1);
    ck_assert_int_eq(lb_model_policy(model), LB_POLICY_IMMEDIATE);
    lb_model_free(model);
    lb_model_free(NULL);
}
END_TEST

START_TEST(estimates_are_checked) {
    lb_model *model = new_model(2, LB_POLICY_LAZY);
    lb_workload *workload = WORKLOAD(1, 2, 3);
    lb_duration duration = {.mean = 77};
    lb_error err = {0};
    lb_estimate_options good, options;
    lb_estimate_options_init(&good, sizeof good);
#undef REFUSED
#define REFUSED(change_, words_)                                                                   \
    do {                                                                                           \
        options = good;                                                                            \
        options.change_;                                                                           \
        ASSERT_REFUSED(lb_model_duration(model, workload, 0, &options, &duration, &err),           \
                       LB_ERR_INVALID, words_, err);                                               \
        ck_assert_double_eq(duration.mean, 77);                                                    \
    } while (0)
    REFUSED(max_samples = 0, "lb_estimate_options.max_samples is 0");
    REFUSED(relative_error = 0, "lb_estimate_options.relative_error is 0");
    REFUSED(relative_error = NAN, "lb_estimate_options.relative_error is nan");
    REFUSED(method = 3, "lb_estimate_options.method is 3");
    REFUSED(threads = 0, "lb_estimate_options.threads is 0");
    REFUSED(size = 8, "lb_estimate_options.size is 8");
    ASSERT_REFUSED(lb_model_duration(model, workload, 3, NULL, &duration, &err), LB_ERR_INVALID,
                   "process 3", err);
    starts(workload, 1, 2);
    double seconds[3] = {77, 77, 77};
    lb_sampler *sampler = NULL;
    ASSERT_REFUSED(lb_model_duration(model, workload, 0, NULL, &duration, &err), LB_ERR_INVALID,
                   "first core of process 1 is 2: the model has 2 cores", err);
    ASSERT_REFUSED(lb_model_sample(model, workload, 0, seconds, &err), LB_ERR_INVALID,
                   "first core of process 1", err);
    ASSERT_REFUSED(lb_sampler_new(model, workload, &sampler, &err), LB_ERR_INVALID,
                   "first core of process 1", err);
    ck_assert_ptr_null(sampler);
    ck_assert_double_eq(seconds[0], 77);
    lb_workload_free(workload);
    lb_model_free(model);
}
END_TEST

/* ---- numbers at the edge ---- */

START_TEST(weights_far_apart_cost_no_digits) {
    /* The light one has the core to itself for 1 s, then a heavy one runs for nearly 1 s. */
    lb_workload *workload = WORKLOAD(2, 1);
    weighs(workload, 0, 1e-8);
    weighs(workload, 1, 1e8);
    arrives(workload, 1, 1);
    double heavy = 1 + 1e-16, light = 3;
    ASSERT_MEANS(new_model(1, LB_POLICY_NONE), workload, light, heavy);
    for (int i = 0; i < 2; i++) {
        lb_policy policy = i == 0 ? LB_POLICY_NONE : LB_POLICY_IMMEDIATE;
        workload = WORKLOAD(50, 1, 1, 1, 1);
        weighs(workload, 0, 1e-8);
        for (size_t k = 1; k < 5; k++) {
            weighs(workload, k, 1e8);
            arrives(workload, k, 10 * (double)k);
        }
        ASSERT_MEANS(new_model(1, policy), workload, 54, 1, 1, 1, 1);
    }
}
END_TEST

/* What used to be an endless process, without a word. */
START_TEST(weights_too_small_for_the_work) {
    static const struct {
        double weights[2], works[2];
        const char *words;
    } cases[] = {
        {{1, 1e-320}, {1, 1}, "weight of process 1 is 9.99989e-321: work of 1 s"},
        {{1, 1e-300}, {1, 1e10}, "weight of process 1 is 1e-300: work of 1e+10 s"},
        {{1.7e308, 1.7e308}, {1, 1}, "the sum of 2 weights"},
    };
    for (int policy = LB_POLICY_NONE; policy <= LB_POLICY_IMMEDIATE; policy++)
        for (size_t i = 0; i < 3; i++) {
            lb_model *model = new_model(1, (lb_policy)policy);
            lb_workload *workload = WORKLOAD(cases[i].works[0], cases[i].works[1]);
            weighs(workload, 0, cases[i].weights[0]);
            weighs(workload, 1, cases[i].weights[1]);
            double seconds[2];
            lb_duration durations[2];
            lb_error err;
            ASSERT_REFUSED(lb_model_sample(model, workload, 0, seconds, &err), LB_ERR_INVALID,
                           cases[i].words, err);
            ASSERT_REFUSED(lb_model_durations(model, workload, NULL, durations, &err),
                           LB_ERR_INVALID, cases[i].words, err);
            lb_workload_free(workload);
            lb_model_free(model);
        }
    /* Endless work needs no weight at all, and the greatest quotient that is one is served. */
    lb_workload *workload = WORKLOAD(1, INFINITY);
    weighs(workload, 1, 1e-320);
    ASSERT_MEANS(new_model(1, LB_POLICY_NONE), workload, 1, INFINITY);
    workload = WORKLOAD(1, 1);
    weighs(workload, 1, 1e-300);
    ASSERT_MEANS(new_model(1, LB_POLICY_NONE), workload, 1, 2);
}
END_TEST

START_TEST(large_and_small_works) {
    const double scales[] = {1e-300, 1e-9, 1e9, 1e300};
    for (int policy = LB_POLICY_NONE; policy <= LB_POLICY_IMMEDIATE; policy++)
        for (int k = 0; k < 4; k++) {
            double s = scales[k];
            lb_workload *workload = WORKLOAD(1 * s, 2 * s, 3 * s, 4 * s, 5 * s, 6 * s);
            static const double means[4][6] = {{3, 6, 7, 10, 9, 12},
                                               {3, 6, 7, 9.5, 9, 11.5},
                                               {3, 6, 7, 9.5, 9, 11.5},
                                               {3, 5.5, 7.5, 9, 10, 11}};
            const double *m = means[policy - LB_POLICY_NONE];
            ASSERT_MEANS(new_model(2, (lb_policy)policy), workload, m[0] * s, m[1] * s, m[2] * s,
                         m[3] * s, m[4] * s, m[5] * s);
        }
}
END_TEST

START_TEST(works_of_all_sizes_at_once) {
    /* The small ones take no time that the large would notice, and are not lost for it. */
    const double far[] = {1e-300, 1, 1e300};
    for (int policy = LB_POLICY_NONE; policy <= LB_POLICY_IMMEDIATE; policy++) {
        ASSERT_MEANS(new_model(1, (lb_policy)policy), WORKLOAD(far[0], far[1], far[2]), 3e-300, 2,
                     1e300);
        lb_workload *workload = WORKLOAD(far[0], far[1], far[2], far[0]);
        arrives(workload, 3, 1e150); /* added to 1e150 s it is no time, but it comes to an end */
        lb_model *model = new_model(1, (lb_policy)policy);
        double seconds[4];
        lb_error err = {0};
        ASSERT_OK(lb_model_sample(model, workload, 1, seconds, &err), err);
        ck_assert_double_eq_tol(seconds[0], 3e-300, 1e-309);
        ck_assert_double_eq(seconds[1], 2);
        ck_assert_double_eq_tol(seconds[2], 1e300, 1e291);
        ck_assert_double_ge(seconds[3], 0);
        ck_assert_double_le(seconds[3], 1e-12 * 1e150);
        lb_workload_free(workload);
        lb_model_free(model);
    }
}
END_TEST

START_TEST(many_equal_works_are_one_instant) {
    enum {
        N = 1000000
    };
    static double works[N], seconds[N];
    for (int i = 0; i < N; i++)
        works[i] = 0.1;
    /* The second time through the engine alone. */
    for (int policy = 2 * LB_POLICY_NONE; policy <= 2 * LB_POLICY_IMMEDIATE + 1; policy++) {
        lb_workload *workload = new_workload(works, N);
        if (policy % 2 == 1)
            arrives(workload, 0, 0);
        lb_model *model = new_model(8, (lb_policy)(policy / 2));
        lb_error err = {0};
        ASSERT_OK(lb_model_sample(model, workload, 1, seconds, &err), err);
        for (int i = 0; i < N; i++)
            if (fabs(seconds[i] - 0.1 * N / 8) > 1e-9 * 0.1 * N / 8)
                ck_abort_msg("policy %d, process %d: %.17g", policy / 2, i, seconds[i]);
        lb_workload_free(workload);
        lb_model_free(model);
    }
}
END_TEST

START_TEST(one_on_65536_cores_and_65536_on_one) {
    enum {
        MANY = 65536
    };
    static double works[MANY], seconds[MANY];
    for (int i = 0; i < MANY; i++)
        works[i] = 1 + i % 7;
    lb_error err = {0};
    for (int policy = LB_POLICY_NONE; policy <= LB_POLICY_IMMEDIATE; policy++) {
        ASSERT_MEANS(new_model(MANY, (lb_policy)policy), WORKLOAD(3), 3);
        lb_workload *workload = new_workload(works, MANY);
        lb_model *model = new_model(1, (lb_policy)policy);
        ASSERT_OK(lb_model_sample(model, workload, 1, seconds, &err), err);
        double end = 0, before = 0, left = MANY;
        for (int k = 1; k <= 7; k++) { /* those of work k complete together */
            end += left * (k - before);
            before = k;
            for (int i = k - 1; i < MANY; i += 7, left--)
                if (fabs(seconds[i] - end) > 1e-9 * end)
                    ck_abort_msg("policy %d, process %d: %.17g, expected %.17g", policy, i,
                                 seconds[i], end);
        }
        lb_workload_free(workload);
        lb_model_free(model);
    }
}
END_TEST

START_TEST(all_on_one_of_many_cores) {
    enum {
        N = 3000,
        CORES = 1000
    };
    static double works[N], seconds[N];
    for (int i = 0; i < N; i++)
        works[i] = 1;
    lb_error err = {0};
    for (int policy = LB_POLICY_NONE; policy <= LB_POLICY_ACTIVE; policy++) {
        lb_workload *workload = new_workload(works, N);
        for (size_t i = 0; i < N; i++)
            starts(workload, i, 7);
        lb_model *model = new_model(CORES, (lb_policy)policy);
        ASSERT_OK(lb_model_sample(model, workload, 1, seconds, &err), err);
        double last = 0;
        for (int i = 0; i < N; i++)
            last = seconds[i] > last ? seconds[i] : last;
        double expected = policy == LB_POLICY_NONE ? N : policy == LB_POLICY_ACTIVE ? 3 : last;
        ck_assert_double_eq_tol(last, expected, 1e-9 * expected);
        lb_workload_free(workload);
        lb_model_free(model);
    }
}
END_TEST

/* ---- properties on random problems ---- */

typedef struct problem {
    lb_model *model;
    lb_workload *workload;
    uint32_t cores;
    size_t n;
    double works[60];
} problem;

static problem random_problem(lbi_random *random, lb_policy policy) {
    problem p = {.cores = 1 + (uint32_t)lbi_random_below(random, 6)};
    p.n = 1 + lbi_random_below(random, 60);
    p.model = new_model(p.cores, policy);
    for (size_t i = 0; i < p.n; i++)
        p.works[i] = 10 * lbi_random_unit(random);
    p.workload = new_workload(p.works, p.n);
    return p;
}

static void free_problem(problem *p) {
    lb_workload_free(p->workload);
    lb_model_free(p->model);
}

START_TEST(work_is_conserved) {
    lbi_random random;
    lbi_random_seed(&random, 1);
    lb_error err = {0};
    for (int i = 0; i < 400; i++) {
        lb_policy policy = (lb_policy)(LB_POLICY_LAZY + i % 3);
        problem p = random_problem(&random, policy);
        double seconds[60], work = 0, end = 0, longest = 0;
        ASSERT_OK(lb_model_sample(p.model, p.workload, (uint64_t)i, seconds, &err), err);
        for (size_t k = 0; k < p.n; k++) {
            ck_assert(seconds[k] >= p.works[k] * (1 - 1e-12));
            work += p.works[k];
            longest = p.works[k] > longest ? p.works[k] : longest;
            end = seconds[k] > end ? seconds[k] : end;
        }
        /* No core idles while a list holds two: at the end at most one process a core is left. */
        ck_assert(end >= work / p.cores * (1 - 1e-12));
        ck_assert(end <= work / p.cores + longest);
        if (policy == LB_POLICY_IMMEDIATE) {
            /* the integral of the number of busy cores is the work */
            double order[60];
            memcpy(order, seconds, p.n * sizeof *order);
            for (size_t a = 1; a < p.n; a++)
                for (size_t b = a; b > 0 && order[b - 1] > order[b]; b--) {
                    double t = order[b];
                    order[b] = order[b - 1];
                    order[b - 1] = t;
                }
            double done = 0, before = 0;
            for (size_t k = 0; k < p.n; k++) {
                double left = (double)(p.n - k);
                done += (order[k] - before) * (left < p.cores ? left : p.cores);
                before = order[k];
            }
            ck_assert_double_eq_tol(done, work, 1e-9 * work);
        }
        free_problem(&p);
    }
}
END_TEST

START_TEST(more_cores_never_hurt_under_immediate) {
    lbi_random random;
    lbi_random_seed(&random, 2);
    lb_error err = {0};
    for (int i = 0; i < 200; i++) {
        problem p = random_problem(&random, LB_POLICY_IMMEDIATE);
        if (i % 2 == 1)
            for (size_t k = 0; k < p.n; k++)
                weighs(p.workload, k, exp(4 * lbi_random_unit(&random)));
        double few[60], many[60];
        lb_model *wider = new_model(p.cores + 1, LB_POLICY_IMMEDIATE);
        ASSERT_OK(lb_model_sample(p.model, p.workload, 0, few, &err), err);
        ASSERT_OK(lb_model_sample(wider, p.workload, 0, many, &err), err);
        for (size_t k = 0; k < p.n; k++)
            ck_assert(many[k] <= few[k] * (1 + 1e-9));
        lb_model_free(wider);
        free_problem(&p);
    }
}
END_TEST

START_TEST(labels_mean_nothing_under_immediate) {
    lbi_random random;
    lbi_random_seed(&random, 3);
    lb_error err = {0};
    for (int i = 0; i < 100; i++) {
        problem p = random_problem(&random, LB_POLICY_IMMEDIATE);
        double works[60], forward[60], backward[60];
        for (size_t k = 0; k < p.n; k++)
            works[k] = p.works[p.n - 1 - k];
        lb_workload *reversed = new_workload(works, p.n);
        for (size_t k = 0; k < p.n; k++) {
            double weight = exp(6 * lbi_random_unit(&random));
            weighs(p.workload, k, weight);
            weighs(reversed, p.n - 1 - k, weight);
        }
        ASSERT_OK(lb_model_sample(p.model, p.workload, 0, forward, &err), err);
        ASSERT_OK(lb_model_sample(p.model, reversed, 0, backward, &err), err);
        for (size_t k = 0; k < p.n; k++)
            ck_assert_double_eq_tol(forward[k], backward[p.n - 1 - k], 1e-9 * forward[k]);
        lb_workload_free(reversed);
        free_problem(&p);
    }
}
END_TEST

/* ---- allocation failures ---- */

START_TEST(models_survive_failed_allocations) {
    size_t failures;
    lb_status status;
    lb_error err;
    double speeds[] = {1, 2};
    SWEEP_ALLOCATIONS(status, failures, {
        lb_model_options options;
        lb_model_options_init(&options, sizeof options);
        options.cores = 2;
        options.core_speeds = speeds;
        lb_model *model = NULL;
        status = lb_model_new(&options, &model, &err);
        lb_model_free(model);
    });
    ck_assert_uint_ge(failures, 3);
    SWEEP_ALLOCATIONS(status, failures, {
        lb_model *model = NULL;
        status = lb_model_preset("windows-7", 3, &model, &err);
        lb_model_free(model);
    });
    ck_assert_uint_eq(failures, 1);
}
END_TEST

START_TEST(predictions_survive_failed_allocations) {
    lb_error err = {0};
    for (int policy = LB_POLICY_NONE; policy <= LB_POLICY_IMMEDIATE; policy++) {
        lb_model *model = new_model(2, (lb_policy)policy);
        lb_workload *workload = WORKLOAD(1, 2, 3, 4, 5, 6);
        weighs(workload, 3, 2);
        arrives(workload, 2, 1);
        event(workload, 1, 1, LB_EVENT_SLEEP);
        event(workload, 1, 2, LB_EVENT_WAKE);
        starts(workload, 0, 1);
        size_t failures;
        lb_status status;
        double seconds[6];
        SWEEP_ALLOCATIONS(status, failures,
                          { status = lb_model_sample(model, workload, 1, seconds, &err); });
        ck_assert_uint_ge(failures, 2);
        SWEEP_ALLOCATIONS(status, failures, {
            lb_sampler *sampler = NULL;
            status = lb_sampler_new(model, workload, &sampler, &err);
            if (status == LB_OK)
                status = lb_sampler_run(sampler, 1, seconds, &err);
            lb_sampler_free(sampler);
        });
        ck_assert_uint_ge(failures, 9);
        lb_duration durations[6], before[6];
        memset(before, 1, sizeof before);
        for (int method = LB_METHOD_AUTO; method <= LB_METHOD_SAMPLE; method++) {
            lb_estimate_options options;
            lb_estimate_options_init(&options, sizeof options);
            options.method = method;
            options.samples = 300;
            for (uint32_t threads = 1; threads <= 2; threads++) {
                options.threads = threads;
                bool touched = false; /* no assertions inside: they allocate too */
                SWEEP_ALLOCATIONS(status, failures, {
                    memset(durations, 1, sizeof durations);
                    status = lb_model_durations(model, workload, &options, durations, &err);
                    touched = touched ||
                              (status != LB_OK && memcmp(durations, before, sizeof before) != 0);
                });
                ck_assert(!touched);
                ck_assert_uint_ge(failures, 5);
                SWEEP_ALLOCATIONS(status, failures, {
                    status = lb_model_duration(model, workload, 5, &options, &durations[0], &err);
                });
            }
        }
        lb_workload_free(workload);
        lb_model_free(model);
    }
}
END_TEST

START_TEST(realisations_allocate_nothing) {
    lb_model *model = new_model(4, LB_POLICY_ACTIVE);
    lb_workload *workload = random_workload(4, 30);
    lb_sampler *sampler = NULL;
    lb_error err = {0};
    ASSERT_OK(lb_sampler_new(model, workload, &sampler, &err), err);
    double seconds[30];
    faults_arm(1);
    for (uint64_t k = 0; k < 50; k++)
        lb_sampler_run(sampler, k, seconds, &err);
    ck_assert(!faults_fired());
    lb_sampler_free(sampler);
    lb_workload_free(workload);
    lb_model_free(model);
}
END_TEST

static size_t state_bytes(const lb_model *model, size_t processes) {
    lbi_engine engine;
    lb_error err = {0};
    lbi_engine_needs needs = {.processes = processes, .tracked = true, .weighted = true};
    ASSERT_OK(lbi_engine_new(&engine, model, needs, &err), err);
    size_t size = engine.block_size;
    lbi_engine_free(&engine);
    return size;
}

/* In every policy, with weights, events and any choice of process. */
START_TEST(a_process_takes_48_bytes_at_most) {
    for (int policy = LB_POLICY_NONE; policy <= LB_POLICY_IMMEDIATE; policy++)
        for (int choice = LB_PROCESS_RANDOM; choice <= LB_PROCESS_LAST; choice++)
            for (int rotates = 0; rotates <= 1; rotates++) {
                lb_model_options options;
                lb_model_options_init(&options, sizeof options);
                options.cores = 4;
                options.policy = policy;
                options.process_choice = choice;
                options.rotation_time = rotates;
                lb_model *model = NULL;
                lb_error err = {0};
                ASSERT_OK(lb_model_new(&options, &model, &err), err);
                size_t bytes = state_bytes(model, 1100000) - state_bytes(model, 100000);
                ck_assert_msg(bytes <= 48 * 1000000 + 4096, "policy %d, choice %d: %zu bytes",
                              policy, choice, bytes);
                lb_model_free(model);
            }
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("model");
    ADD(s, "worked cases", two_cores_six_works, four_cores_active_without_chance,
        a_heavy_process_gets_one_core_and_no_more, the_seeds_profile_of_linux_2_6_31,
        presets_are_the_seeds_three_systems, nice_weights_are_linuxs);
    ADD(s, "rules", fast_cores_come_first, a_late_check_acts_late, choices_are_followed,
        sleepers_return_to_the_list_they_left, only_the_net_effect_of_an_instant_counts,
        events_within_the_window_are_one_instant, no_processes_and_infinite_ones);
    ADD(s, "estimates", threads_change_nothing, realisations_depend_on_seed_and_number_alone,
        drawn_from_a_tree_or_simulated, one_process_is_estimated_as_among_all,
        exact_has_a_bound_and_auto_goes_on_by_sampling,
        rotation_is_sampled_and_tends_to_processor_sharing, rotation_times_are_exponential,
        progress_and_cancel);
    ADD(s, "bad input", model_options_are_checked, estimates_are_checked);
    ADD(s, "edges", weights_far_apart_cost_no_digits, weights_too_small_for_the_work,
        large_and_small_works, works_of_all_sizes_at_once, many_equal_works_are_one_instant,
        one_on_65536_cores_and_65536_on_one, all_on_one_of_many_cores);
    ADD(s, "properties", work_is_conserved, more_cores_never_hurt_under_immediate,
        labels_mean_nothing_under_immediate);
    ADD(s, "memory", models_survive_failed_allocations, predictions_survive_failed_allocations,
        realisations_allocate_nothing, a_process_takes_48_bytes_at_most);
    return s;
}
