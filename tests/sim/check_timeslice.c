/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../unit/harness.h"
#include "draw.h"
#include "timeslice.h"

static const double ms = 1e6; /* In nanoseconds. */

static timeslice_config defaults(timeslice_policy policy) {
    timeslice_config config;
    timeslice_defaults(&config);
    config.policy = policy;
    return config;
}

static timeslice_result run(const timeslice_config *config) {
    timeslice_result result;
    ck_assert_int_eq(timeslice_run(config, &result), TIMESLICE_OK);
    return result;
}

/* ---- small cases, worked out by hand: unit 10 ms, slice 5 ms, all cores begin a slice at 0 ----
 */

static timeslice_config by_hand(timeslice_policy policy, uint32_t tasks, const uint32_t *first_core,
                                const uint32_t *count) {
    timeslice_config config = defaults(policy);
    config.tasks = tasks;
    config.first_core = first_core;
    config.count = count;
    config.end = TIMESLICE_END_BY_COUNT;
    config.aligned_start = true;
    return config;
}

/* The end of a task's n-th unit in milliseconds. */
static double unit_end(const timeslice_result *result, uint32_t task, uint32_t index) {
    for (size_t i = 0; i < result->unit_count; i++)
        if (result->units[i].task == task && result->units[i].index == index)
            return (double)result->units[i].end_ns / ms;
    return NAN;
}

#define ASSERT_MS(actual_, expected_) ck_assert_double_eq_tol(actual_, expected_, 1e-5)

START_TEST(two_take_turns) {
    timeslice_config config = by_hand(TIMESLICE_NONE, 2, (uint32_t[]){0, 0}, (uint32_t[]){1, 1});
    config.cores = 1;
    timeslice_result result = run(&config);
    ck_assert_uint_eq(result.unit_count, 2);
    ASSERT_MS(unit_end(&result, 0, 0), 15);
    ASSERT_MS(unit_end(&result, 1, 0), 20);
    ck_assert_int_eq(result.units[0].start_ns, 0);
    ck_assert_int_eq(result.units[1].start_ns, 5000000);
    ck_assert_int_eq(result.units[0].cpu_ns, 10000000);
    ck_assert_int_eq(result.truth.end_ns, 20000000);
    timeslice_free(&result);
}
END_TEST

/* Task 2 has core 1 to itself and ends at 10 ms; then tasks 0 and 1 are half done. */
START_TEST(an_idle_core) {
    const uint32_t first_core[] = {0, 0, 1}, count[] = {1, 1, 1};
    static const struct {
        timeslice_policy policy;
        double delay, end_0, end_1, move;
    } cases[] = {
        {TIMESLICE_NONE, 0, 15, 20, NAN},    {TIMESLICE_LAZY, 0, 15, 15, 10},
        {TIMESLICE_ACTIVE, 0, 15, 15, 10},   {TIMESLICE_IMMEDIATE, 0, 15, 15, 10},
        {TIMESLICE_LAZY, 0.003, 15, 18, 13}, {TIMESLICE_ACTIVE, 0.003, 15, 18, 13},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (uint64_t seed = 0; seed < 8; seed++) {
            timeslice_config config = by_hand(cases[i].policy, 3, first_core, count);
            config.balance_delay = cases[i].delay;
            config.seed = seed;
            /* No rotation in the first 10 ms. */
            config.dwell_median = 1e6;
            config.dwell_p90 = 1.0001e6;
            timeslice_result result = run(&config);
            ASSERT_MS(unit_end(&result, 2, 0), 10);
            ASSERT_MS(unit_end(&result, 0, 0), cases[i].end_0);
            ASSERT_MS(unit_end(&result, 1, 0), cases[i].end_1);
            ck_assert_uint_eq(result.truth.move_count, isnan(cases[i].move) ? 0 : 1);
            if (result.truth.move_count == 1) {
                ASSERT_MS((double)result.truth.moves[0].time_ns / ms, cases[i].move);
                ck_assert_uint_eq(result.truth.moves[0].from, 0);
                ck_assert_uint_eq(result.truth.moves[0].to, 1);
            }
            ck_assert_uint_eq(result.truth.none_lazy.seen, 1);
            ck_assert_uint_eq(result.truth.none_lazy.resolved, 0);
            timeslice_free(&result);
        }
    }
}
END_TEST

/* Three beside two; task 3 ends at 15 ms and leaves three beside one. */
START_TEST(two_apart) {
    const uint32_t first_core[] = {0, 0, 0, 1, 1}, count[] = {9, 9, 9, 1, 9};
    for (timeslice_policy policy = TIMESLICE_NONE; policy <= TIMESLICE_ACTIVE; policy++) {
        timeslice_config config = by_hand(policy, 5, first_core, count);
        timeslice_result result = run(&config);
        ASSERT_MS(unit_end(&result, 3, 0), 15);
        /* Task 4 is half done at 15 ms, and gets on. Alone it is never off again; beside the one
         * that came, it has 15 to 20, 25 to 30 and 35 to 40. */
        ASSERT_MS(unit_end(&result, 4, 0), 20);
        double second_end = policy == TIMESLICE_ACTIVE ? 40 : 30;
        ASSERT_MS(unit_end(&result, 4, 1), second_end);
        ck_assert_uint_eq(result.truth.lazy_active.seen, 1);
        if (policy == TIMESLICE_NONE)
            ck_assert_uint_eq(result.truth.move_count, 0);
        else
            ck_assert_uint_gt(result.truth.move_count, 0);
        if (policy == TIMESLICE_ACTIVE)
            ASSERT_MS((double)result.truth.moves[0].time_ns / ms, 15);
        /* Alone, task 4 is done with its nine units at 100 ms, and lazy acts then. */
        if (policy == TIMESLICE_LAZY)
            ASSERT_MS((double)result.truth.moves[0].time_ns / ms, 100);
        timeslice_free(&result);
    }
}
END_TEST

/* Two cores at 0, 5, 10 ms: 0 and 1; 2 and 0; 1 and 2. */
START_TEST(one_queue) {
    timeslice_config config =
        by_hand(TIMESLICE_SINGLE, 3, (uint32_t[]){0, 1, 0}, (uint32_t[]){1, 1, 1});
    timeslice_result result = run(&config);
    ASSERT_MS(unit_end(&result, 0, 0), 10);
    ASSERT_MS(unit_end(&result, 1, 0), 15);
    ASSERT_MS(unit_end(&result, 2, 0), 15);
    ck_assert_int_eq(result.units[0].core_start, 0);
    ck_assert_int_eq(result.units[0].core_end, 1);
    timeslice_free(&result);
}
END_TEST

START_TEST(told_to_end) {
    const uint32_t first_core[] = {0, 0};
    const double end_time[] = {0.012, 0.012};
    timeslice_config config = by_hand(TIMESLICE_NONE, 2, first_core, NULL);
    config.cores = 1;
    config.end_time = end_time;
    /* At 12 ms task 0 is on the core (0 to 5, 10 to 15), task 1 is not. */
    config.end = TIMESLICE_END_AT_ONCE;
    timeslice_result result = run(&config);
    ck_assert_uint_eq(result.unit_count, 0);
    ck_assert_int_eq(result.truth.events[0].time_ns, 12000000);
    ck_assert_int_eq(result.truth.events[1].time_ns, 12000000);
    ck_assert_int_eq(result.truth.task_cpu_ns[0], 7000000);
    ck_assert_int_eq(result.truth.task_cpu_ns[1], 5000000);
    timeslice_free(&result);
    config.end = TIMESLICE_END_AFTER_UNIT;
    result = run(&config);
    ck_assert_uint_eq(result.unit_count, 2);
    ASSERT_MS(unit_end(&result, 0, 0), 15);
    ASSERT_MS(unit_end(&result, 1, 0), 20);
    timeslice_free(&result);
}
END_TEST

/* A core that is away from 12 to 32 ms: task 0's second slice has 3 ms left when it returns. */
START_TEST(stolen) {
    timeslice_config config = by_hand(TIMESLICE_NONE, 2, (uint32_t[]){0, 0}, (uint32_t[]){1, 1});
    config.cores = 1;
    config.steal_from = 0.012;
    config.steal_until = 0.032;
    config.slices = true;
    timeslice_result result = run(&config);
    ASSERT_MS(unit_end(&result, 0, 0), 35);
    ASSERT_MS(unit_end(&result, 1, 0), 40);
    ck_assert_int_eq(result.units[0].cpu_ns, 10000000);
    ck_assert_int_eq(result.truth.core_busy_ns[0], 20000000);
    for (size_t i = 0; i < result.slice_count; i++)
        ck_assert(result.slices[i].end_ns <= 12000000 || result.slices[i].start_ns >= 32000000);
    timeslice_free(&result);
}
END_TEST

/* Core 0 is away from 6 to 20 ms, task 1 on it; at 10 ms core 1 pulls task 1 away. The two that are
 * left take turns when the core returns: task 2 from 20, task 0 from 25 ms. */
START_TEST(pulled_from_a_stolen_core) {
    unsigned pulled = 0;
    for (uint64_t seed = 0; seed < 20; seed++) {
        timeslice_config config =
            by_hand(TIMESLICE_LAZY, 4, (uint32_t[]){0, 0, 0, 1}, (uint32_t[]){1, 9, 1, 1});
        config.seed = seed;
        config.steal_from = 0.006;
        config.steal_until = 0.02;
        timeslice_result result = run(&config);
        ASSERT_MS((double)result.truth.moves[0].time_ns / ms, 10);
        if (result.truth.moves[0].task == 1) {
            pulled++;
            ASSERT_MS(unit_end(&result, 1, 0), 19);
            ASSERT_MS(unit_end(&result, 0, 0), 30);
        }
        timeslice_free(&result);
    }
    ck_assert_uint_gt(pulled, 0);
}
END_TEST

START_TEST(unequal_cores) {
    timeslice_config config = by_hand(TIMESLICE_NONE, 2, (uint32_t[]){0, 1}, (uint32_t[]){2, 2});
    config.speeds = (double[]){1, 0.5};
    timeslice_result result = run(&config);
    ASSERT_MS(unit_end(&result, 0, 1), 20);
    ASSERT_MS(unit_end(&result, 1, 0), 20);
    ASSERT_MS(unit_end(&result, 1, 1), 40);
    timeslice_free(&result);
    /* What whole nanoseconds cut off does not add up. */
    config = by_hand(TIMESLICE_NONE, 1, (uint32_t[]){0}, (uint32_t[]){1000});
    config.speeds = (double[]){0.7, 1};
    config.unit_work = 1e-5;
    result = run(&config);
    ASSERT_MS(unit_end(&result, 0, 999), 10 / 0.7);
    timeslice_free(&result);
}
END_TEST

START_TEST(background_shares) {
    timeslice_config config = by_hand(TIMESLICE_NONE, 2, (uint32_t[]){0, 1}, (uint32_t[]){4, 4});
    config.background_core = 1;
    config.background_until = 1;
    config.background_pinned = true;
    timeslice_result result = run(&config);
    ASSERT_MS(unit_end(&result, 0, 3), 40);
    ASSERT_MS(unit_end(&result, 1, 3), 75);
    ck_assert_int_eq(result.truth.task_cpu_ns[2], 35000000);
    timeslice_free(&result);
    /* Lazy: core 0 is idle from 40 ms on; the pinned one stays, so task 1 moves, having had 20. */
    config.policy = TIMESLICE_LAZY;
    result = run(&config);
    ck_assert_uint_eq(result.truth.move_count, 1);
    ck_assert_uint_eq(result.truth.moves[0].task, 1);
    ASSERT_MS(unit_end(&result, 1, 3), 60);
    timeslice_free(&result);
}
END_TEST

START_TEST(clock_is_set) {
    timeslice_config config = by_hand(TIMESLICE_NONE, 1, (uint32_t[]){0}, (uint32_t[]){5});
    config.clock_step_at = 0.025;
    config.clock_step = 1;
    timeslice_result result = run(&config);
    ck_assert_uint_eq(result.unit_count, 5);
    ASSERT_MS(unit_end(&result, 0, 1), 20);
    ASSERT_MS(unit_end(&result, 0, 2), 1030);
    ck_assert_int_eq(result.units[3].start_ns, 1030000000);
    ck_assert_int_eq(result.units[2].cpu_ns, 10000000);
    timeslice_free(&result);
    /* Back by 12 ms: the unit from 20 to 18, and what overlaps the one that ended at 20, is lost.
     */
    config.clock_step = -0.012;
    result = run(&config);
    ck_assert_uint_eq(result.unit_count, 3);
    ck_assert_uint_eq(result.units[2].index, 4);
    ASSERT_MS(unit_end(&result, 0, 4), 38);
    timeslice_free(&result);
}
END_TEST

/* ---- what holds on every trace ---- */

static int by_task_and_start(const void *left, const void *right) {
    const lb_unit *a = left, *b = right;
    if (a->task != b->task)
        return a->task < b->task ? -1 : 1;
    return a->start_ns < b->start_ns ? -1 : a->start_ns > b->start_ns;
}

/* No CPU time comes from nowhere or is lost; units of a task follow one another. */
static void check_conservation(const timeslice_config *config, timeslice_result *result) {
    const timeslice_truth *truth = &result->truth;
    int64_t used = 0, busy = 0;
    for (uint32_t i = 0; i <= result->tasks; i++)
        used += truth->task_cpu_ns[i];
    for (uint32_t i = 0; i < result->cores; i++)
        busy += truth->core_busy_ns[i];
    ck_assert_int_eq(used, busy);
    qsort(result->units, result->unit_count, sizeof *result->units, by_task_and_start);
    int64_t *in_units = calloc(result->tasks, sizeof *in_units);
    /* Check writes to a pipe at each assertion: one for millions of units. */
    bool in_order = true;
    for (size_t i = 0; i < result->unit_count; i++) {
        const lb_unit *unit = &result->units[i];
        in_order = in_order && unit->end_ns >= unit->start_ns;
        if (i > 0 && unit[-1].task == unit->task)
            in_order = in_order && unit->start_ns >= unit[-1].end_ns &&
                       unit->index > unit[-1].index &&
                       (unit->index != unit[-1].index + 1 || unit->core_start == unit[-1].core_end);
        if (unit->cpu_ns >= 0)
            in_units[unit->task] += unit->cpu_ns;
    }
    ck_assert(in_order);
    for (uint32_t i = 0; i < result->tasks && !config->cpu_time_hidden; i++) {
        ck_assert_int_le(in_units[i], truth->task_cpu_ns[i]);
        if (config->end != TIMESLICE_END_AT_ONCE && config->lost_rate == 0 &&
            config->clock_step >= 0)
            ck_assert_int_eq(in_units[i], truth->task_cpu_ns[i]);
    }
    free(in_units);
}

/* The lists are as the policy keeps them. */
static void check_lists(const timeslice_config *config, const timeslice_result *result) {
    const timeslice_truth *truth = &result->truth;
    bool late = config->balance_delay > 0;
    bool pinned = config->background_pinned && config->background_until > config->background_from;
    uint32_t cores = result->cores;
    bool kept = true;
    for (size_t row = 0; row < truth->size_rows; row++) {
        const uint32_t *sizes = truth->sizes + row * cores;
        uint32_t shortest = UINT32_MAX, longest = 0;
        for (uint32_t i = 0; i < cores; i++) {
            shortest = sizes[i] < shortest ? sizes[i] : shortest;
            longest = sizes[i] > longest ? sizes[i] : longest;
        }
        kept = kept && (row == 0 || truth->sizes_ns[row] > truth->sizes_ns[row - 1]);
        if (config->policy == TIMESLICE_SINGLE)
            kept = kept && longest <= 1;
        if (late || pinned)
            continue;
        if (config->policy == TIMESLICE_LAZY)
            kept = kept && (shortest > 0 || longest < 2);
        if (config->policy == TIMESLICE_ACTIVE || config->policy == TIMESLICE_IMMEDIATE)
            kept = kept && longest <= shortest + 1;
    }
    ck_assert(kept);
    if (config->policy == TIMESLICE_NONE || config->policy == TIMESLICE_SINGLE)
        ck_assert_uint_eq(truth->move_count, 0);
    bool allowed = true;
    for (size_t i = 0; i < truth->move_count; i++) {
        const timeslice_move *move = &truth->moves[i];
        allowed = allowed && move->from != move->to &&
                  (!move->rotation || config->policy == TIMESLICE_IMMEDIATE) &&
                  (!config->background_pinned || move->task != TIMESLICE_BACKGROUND);
    }
    ck_assert(allowed);
    uint32_t ended = 0;
    for (size_t i = 0; i < truth->event_count; i++)
        ended += truth->events[i].task != TIMESLICE_BACKGROUND;
    ck_assert_uint_eq(ended, result->tasks);
}

START_TEST(every_trace) {
    static draw drawn;
    for (uint64_t seed = 0; seed < 600; seed++) {
        draw_config(seed, seed % 3 == 0 ? DRAW_CLEAN : (uint32_t)(seed * 2654435761u) & DRAW_ALL,
                    &drawn);
        timeslice_result result = run(&drawn.config);
        check_conservation(&drawn.config, &result);
        check_lists(&drawn.config, &result);
        timeslice_free(&result);
    }
}
END_TEST

/* Between two events, tasks of one list differ by a slice at most. */
START_TEST(equal_shares_in_a_list) {
    timeslice_config config = defaults(TIMESLICE_NONE);
    config.cores = 4;
    config.tasks_per_core = 5;
    config.slices = true;
    timeslice_result result = run(&config);
    int64_t until = result.truth.events[0].time_ns;
    int64_t share[20] = {0};
    for (size_t i = 0; i < result.slice_count; i++) {
        const lb_slice *slice = &result.slices[i];
        int64_t end = slice->end_ns < until ? slice->end_ns : until;
        if (slice->start_ns < until)
            share[slice->task] += end - slice->start_ns;
    }
    for (uint32_t i = 0; i < 20; i++)
        ck_assert_int_le(llabs(share[i] - share[i % 4]), 5000000);
    ck_assert_int_gt(share[0], until / 5 - 5000000);
    timeslice_free(&result);
}
END_TEST

static int by_core_and_start(const void *left, const void *right) {
    const lb_slice *a = left, *b = right;
    if (a->core != b->core)
        return a->core < b->core ? -1 : 1;
    return a->start_ns < b->start_ns ? -1 : a->start_ns > b->start_ns;
}

/* Slices of a core never overlap, and hold all of its time. */
START_TEST(slices_tile_time) {
    for (timeslice_policy policy = TIMESLICE_NONE; policy <= TIMESLICE_SINGLE; policy++) {
        timeslice_config config = defaults(policy);
        config.cores = 3;
        config.slices = true;
        config.slice_jitter = 0.3;
        config.steal_from = 0.2;
        config.steal_until = 0.9;
        config.end = TIMESLICE_END_AT_ONCE;
        timeslice_result result = run(&config);
        qsort(result.slices, result.slice_count, sizeof *result.slices, by_core_and_start);
        int64_t held = 0, busy = 0;
        bool apart = true;
        for (size_t i = 0; i < result.slice_count; i++) {
            const lb_slice *slice = &result.slices[i];
            apart = apart && (i == 0 || slice[-1].core != slice->core ||
                              slice[-1].end_ns <= slice->start_ns);
            held += slice->end_ns - slice->start_ns;
        }
        ck_assert(apart);
        for (uint32_t i = 0; i < config.cores; i++)
            busy += result.truth.core_busy_ns[i];
        ck_assert_int_eq(held, busy);
        timeslice_free(&result);
    }
}
END_TEST

START_TEST(same_seed_same_trace) {
    static draw drawn;
    for (uint64_t seed = 0; seed < 20; seed++) {
        draw_config(seed, DRAW_ALL, &drawn);
        timeslice_result first = run(&drawn.config), second = run(&drawn.config);
        ck_assert_uint_eq(first.unit_count, second.unit_count);
        ck_assert(memcmp(first.units, second.units, first.unit_count * sizeof *first.units) == 0);
        ck_assert_uint_eq(first.truth.move_count, second.truth.move_count);
        drawn.config.seed += 1000;
        timeslice_result other = run(&drawn.config);
        ck_assert(first.unit_count != other.unit_count ||
                  memcmp(first.units, other.units, first.unit_count * sizeof *first.units) != 0);
        timeslice_free(&first);
        timeslice_free(&second);
        timeslice_free(&other);
    }
}
END_TEST

/* ---- noise is as much as was asked for ---- */

START_TEST(noise_is_as_asked) {
    timeslice_config config = by_hand(TIMESLICE_NONE, 1, (uint32_t[]){0}, (uint32_t[]){20000});
    config.jitter = 0.05;
    timeslice_result result = run(&config);
    double sum = 0, squares = 0;
    for (size_t i = 0; i < result.unit_count; i++) {
        double deviation = (double)result.units[i].cpu_ns / (10 * ms) - 1;
        sum += deviation;
        squares += deviation * deviation;
    }
    ck_assert_double_eq_tol(sum / 20000, 0, 0.0015);
    ck_assert_double_eq_tol(sqrt(squares / 20000), 0.05, 0.0015);
    timeslice_free(&result);

    config.jitter = 0;
    config.outlier_rate = 0.01;
    config.lost_rate = 0.1;
    result = run(&config);
    size_t outliers = 0;
    for (size_t i = 0; i < result.unit_count; i++)
        outliers += llabs(result.units[i].cpu_ns - 100000000) < 2;
    ck_assert_double_eq_tol((double)outliers / 18000, 0.01, 0.003);
    ck_assert_double_eq_tol((double)result.unit_count / 20000, 0.9, 0.01);
    timeslice_free(&result);

    config.unit_work_hidden = config.cpu_time_hidden = config.cores_hidden = true;
    result = run(&config);
    ck_assert(isnan(result.unit_work));
    ck_assert_int_eq(result.units[0].cpu_ns, -1);
    ck_assert_int_eq(result.units[0].core_start, -1);
    ck_assert_int_eq(result.units[0].core_end, -1);
    timeslice_free(&result);
}
END_TEST

static int by_value(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return a < b ? -1 : a > b;
}

/* Three tasks on two cores, as measured on Linux 6.18. */
START_TEST(dwell_times) {
    timeslice_config config = defaults(TIMESLICE_IMMEDIATE);
    config.tasks = 3;
    config.end_time = (double[]){3000, 3000, 3000};
    config.unit_work = 1;
    config.slice = 0.1;
    timeslice_result result = run(&config);
    size_t n = result.truth.move_count - 1;
    double *dwells = malloc(n * sizeof *dwells);
    for (size_t i = 0; i < n; i++)
        dwells[i] =
            (double)(result.truth.moves[i + 1].time_ns - result.truth.moves[i].time_ns) / 1e9;
    qsort(dwells, n, sizeof *dwells, by_value);
    ck_assert_uint_gt(n, 4000);
    ck_assert_double_eq_tol(dwells[n / 2], 0.38, 0.02);
    ck_assert_double_eq_tol(dwells[n * 9 / 10], 1.1, 0.06);
    for (uint32_t i = 0; i < 3; i++)
        ck_assert_double_eq_tol((double)result.truth.task_cpu_ns[i] / 2000e9, 1, 0.03);
    free(dwells);
    timeslice_free(&result);
}
END_TEST

/* ---- the seed's three systems: 12 tasks on 4 cores, a unit is 10 ms alone ---- */

/* The mean duration of a task's units that lie within [from, until) seconds, in milliseconds. */
static double mean_duration(const timeslice_result *result, uint32_t task, double from,
                            double until) {
    double sum = 0;
    size_t n = 0;
    for (size_t i = 0; i < result->unit_count; i++) {
        const lb_unit *unit = &result->units[i];
        if (unit->task != task || (double)unit->start_ns < from * 1e9 ||
            (double)unit->end_ns >= until * 1e9)
            continue;
        sum += (double)(unit->end_ns - unit->start_ns) / ms;
        n++;
    }
    return n == 0 ? NAN : sum / (double)n;
}

/* How many tasks take `expected` ms a unit, within a tenth. */
static unsigned how_many(const timeslice_result *result, double expected, double from,
                         double until) {
    unsigned n = 0;
    for (uint32_t i = 0; i < result->tasks; i++)
        n += fabs(mean_duration(result, i, from, until) / expected - 1) < 0.1;
    return n;
}

static timeslice_config seed_system(timeslice_policy policy, const double *end_time) {
    timeslice_config config = defaults(policy);
    config.cores = 4;
    config.end_time = end_time;
    config.slice = 0.002;
    config.slice_jitter = 0.05;
    return config;
}

/* Ends every 10 s from 10 s on, in the order given; the others at 50, 60, .. s. */
static void set_ends(double *end_time, const uint32_t *victims, uint32_t n) {
    for (uint32_t i = 0; i < 12; i++)
        end_time[i] = 50 + 10.0 * i;
    for (uint32_t i = 0; i < n; i++)
        end_time[victims[i]] = 10.0 * (i + 1);
}

/* One end speeds its two mates up; the second leaves one alone; nobody else changes until that one
 * ends too and its core pulls a task. Lists are 2, 6, 10 and so on. */
START_TEST(windows_7) {
    double end_time[12];
    set_ends(end_time, (uint32_t[]){2, 6, 10}, 3);
    timeslice_config config = seed_system(TIMESLICE_LAZY, end_time);
    timeslice_result result = run(&config);
    ck_assert_uint_eq(how_many(&result, 30, 0, 10), 12);
    ck_assert_uint_eq(how_many(&result, 20, 10.1, 20), 2);
    ck_assert_uint_eq(how_many(&result, 30, 10.1, 20), 9);
    ck_assert_uint_eq(how_many(&result, 10, 20.1, 30), 1);
    ck_assert_uint_eq(how_many(&result, 30, 20.1, 30), 9);
    ck_assert_uint_eq(how_many(&result, 10, 30.1, 40), 1);
    ck_assert_uint_eq(how_many(&result, 20, 30.1, 40), 2);
    ck_assert_uint_eq(how_many(&result, 30, 30.1, 40), 6);
    ck_assert(result.truth.decidable);
    timeslice_free(&result);
}
END_TEST

/* Two ends in one list: a task joins the one left there, and three tasks get faster at once. */
START_TEST(linux_2_6_22) {
    double end_time[12];
    set_ends(end_time, (uint32_t[]){1, 5}, 2);
    timeslice_config config = seed_system(TIMESLICE_ACTIVE, end_time);
    timeslice_result result = run(&config);
    ck_assert_uint_eq(how_many(&result, 20, 10.1, 20), 2);
    ck_assert_uint_eq(how_many(&result, 30, 10.1, 20), 9);
    ck_assert_uint_eq(how_many(&result, 20, 20.1, 30), 4);
    ck_assert_uint_eq(how_many(&result, 30, 20.1, 30), 6);
    ck_assert_int_lt(result.truth.moves[0].time_ns, 20100000000);
    ck_assert(result.truth.decidable);
    timeslice_free(&result);
}
END_TEST

/* From the first end on all are even: 11 tasks on 4 cores take 27.5 ms each. */
START_TEST(linux_2_6_31) {
    double end_time[12];
    set_ends(end_time, (uint32_t[]){0, 1}, 2);
    timeslice_policy policies[] = {TIMESLICE_IMMEDIATE, TIMESLICE_SINGLE};
    for (size_t i = 0; i < 2; i++) {
        timeslice_config config = seed_system(policies[i], end_time);
        timeslice_result result = run(&config);
        ck_assert_uint_eq(how_many(&result, 30, 0, 10), 12);
        ck_assert_uint_eq(how_many(&result, 27.5, 10.1, 20), 11);
        ck_assert_uint_eq(how_many(&result, 25, 20.1, 50), 10);
        ck_assert(result.truth.decidable);
        timeslice_free(&result);
    }
}
END_TEST

/* ---- deciding moments ---- */

typedef struct shares {
    double lazy_active, none_lazy; /* Percent of the traces that hold such a moment. */
} shares;

/* Ends in random order, far enough apart that every moment is resolved. */
static shares moments_of(timeslice_policy policy, uint32_t cores, uint32_t tasks_per_core) {
    const unsigned n = 3000;
    unsigned lazy_active = 0, none_lazy = 0;
    bool all_resolved = true;
    for (unsigned seed = 0; seed < n; seed++) {
        timeslice_config config = defaults(policy);
        config.seed = seed;
        config.cores = cores;
        config.tasks_per_core = tasks_per_core;
        config.slice = config.unit_work;
        timeslice_result result = run(&config);
        const timeslice_truth *truth = &result.truth;
        lazy_active += truth->lazy_active.seen > 0;
        none_lazy += truth->none_lazy.seen > 0;
        all_resolved = all_resolved && truth->lazy_active.seen == truth->lazy_active.resolved &&
                       truth->none_lazy.seen == truth->none_lazy.resolved;
        timeslice_free(&result);
    }
    ck_assert(all_resolved);
    return (shares){100.0 * lazy_active / n, 100.0 * none_lazy / n};
}

/* Two cores, three tasks each, worked out: two ends in one list leave 1 and 3 in 2 of 5 cases. An
 * idle core beside two: active, from 2 and 2, one of three ends 1 and 2; lazy and none, 1 and 3 in
 * 2 of 5 cases, and from there 1/4 + 3/4 * 1/3. The others are the table of design/inference.md, a
 * sample itself: its 35 to 39 % stands for 33.3 and 40. */
START_TEST(how_often_a_moment_is_there) {
    static const struct {
        uint32_t cores, tasks_per_core;
        double lazy_active, none_lazy, none_lazy_active;
    } rows[] = {{2, 3, 40, 40, 100.0 / 3}, {2, 4, 66, 43, 34}, {4, 3, 82, 83.5, 77}};
    const double error = 2.7; /* Three standard errors of 3000. */
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (timeslice_policy policy = TIMESLICE_NONE; policy <= TIMESLICE_ACTIVE; policy++) {
            shares found = moments_of(policy, rows[i].cores, rows[i].tasks_per_core);
            printf("%u x %u %s: lazy/active %.1f %%, none/lazy %.1f %%\n", rows[i].cores,
                   rows[i].tasks_per_core, timeslice_policy_name(policy), found.lazy_active,
                   found.none_lazy);
            ck_assert_double_eq_tol(found.lazy_active, rows[i].lazy_active, error);
            double none_lazy =
                policy == TIMESLICE_ACTIVE ? rows[i].none_lazy_active : rows[i].none_lazy;
            ck_assert_double_eq_tol(found.none_lazy, none_lazy, error);
        }
    }
}
END_TEST

/* Six tasks in the lists 0 2 4 and 1 3 5 on two cores (four: 0 2 and 1 3) that end in that order, a
 * gap apart. */
static timeslice_result ends_in_order(timeslice_policy policy, const uint32_t *tasks, uint32_t n,
                                      double gap) {
    double end_time[6];
    for (uint32_t i = 0; i < n; i++)
        end_time[tasks[i]] = gap * (i + 1);
    timeslice_config config = defaults(policy);
    config.tasks = n;
    config.end_time = end_time;
    return run(&config);
}

START_TEST(what_is_decidable) {
    static const uint32_t victims_of_a_list[] = {0, 2, 4, 1, 3, 5},
                          no_idle_core[] = {0, 2, 1, 3, 4, 5},
                          never_two_apart[] = {0, 1, 2, 3, 4, 5}, four[] = {0, 2, 1, 3};
    static const struct {
        timeslice_policy policy;
        const uint32_t *order;
        uint32_t n;
        double gap;
        bool decidable;
    } cases[] = {
        {TIMESLICE_NONE, victims_of_a_list, 6, 2, true},
        /* Ten units of 10 ms in a list of two take 0.2 s. */
        {TIMESLICE_NONE, victims_of_a_list, 6, 0.15, false},
        {TIMESLICE_NONE, victims_of_a_list, 6, 0.25, true},
        {TIMESLICE_NONE, no_idle_core, 6, 2, false},
        {TIMESLICE_LAZY, victims_of_a_list, 6, 2, true},
        {TIMESLICE_LAZY, no_idle_core, 6, 2, false},
        {TIMESLICE_LAZY, four, 4, 2, false},
        {TIMESLICE_ACTIVE, victims_of_a_list, 6, 2, true},
        /* Long enough for the rates, but not to rule a rotation out. */
        {TIMESLICE_ACTIVE, victims_of_a_list, 6, 0.35, false},
        {TIMESLICE_ACTIVE, never_two_apart, 6, 2, false},
        {TIMESLICE_IMMEDIATE, never_two_apart, 6, 2, true},
        {TIMESLICE_IMMEDIATE, never_two_apart, 6, 0.35, false},
        {TIMESLICE_SINGLE, never_two_apart, 6, 0.35, true},
        {TIMESLICE_SINGLE, never_two_apart, 6, 0.15, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        timeslice_result result =
            ends_in_order(cases[i].policy, cases[i].order, cases[i].n, cases[i].gap);
        ck_assert_msg(result.truth.decidable == cases[i].decidable, "case %zu", i);
        timeslice_free(&result);
    }
    /* One queue, four tasks, two of which end at once: never more than cores and no multiple. */
    timeslice_config config = defaults(TIMESLICE_SINGLE);
    config.tasks = 4;
    config.count = (uint32_t[]){100, 100, 200, 200};
    config.end = TIMESLICE_END_BY_COUNT;
    config.aligned_start = true;
    timeslice_result result = run(&config);
    ck_assert_uint_eq(result.truth.uneven.resolved, 0);
    ck_assert(!result.truth.decidable);
    timeslice_free(&result);
    /* A core was away while the lists decided. */
    for (int away = 0; away < 2; away++) {
        config = defaults(TIMESLICE_NONE);
        config.order = TIMESLICE_DESIGNED;
        config.gap = 1;
        config.steal_core = 1;
        config.steal_from = away ? 2.5 : 0.5;
        config.steal_until = away ? 5.5 : 0.6;
        result = run(&config);
        ck_assert(result.truth.decidable == !away);
        timeslice_free(&result);
    }
}
END_TEST

START_TEST(order_of_ends) {
    for (timeslice_order order = TIMESLICE_SORTED; order <= TIMESLICE_DESIGNED; order++) {
        unsigned rising = 0, first_list = 0;
        for (uint64_t seed = 0; seed < 50; seed++) {
            timeslice_config config = defaults(TIMESLICE_NONE);
            config.seed = seed;
            config.order = order;
            config.cores = 4;
            config.shuffled_start = true;
            timeslice_result result = run(&config);
            const timeslice_event *events = result.truth.events;
            bool rises = true;
            for (uint32_t i = 1; i < 12; i++)
                rises = rises && events[i].task > events[i - 1].task;
            rising += rises;
            first_list += events[0].core == 0 && events[1].core == 0 && events[2].core == 0;
            timeslice_free(&result);
        }
        ck_assert_uint_eq(rising, order == TIMESLICE_SORTED ? 50 : 0);
        if (order == TIMESLICE_DESIGNED)
            ck_assert_uint_eq(first_list, 50);
        else
            ck_assert_uint_lt(first_list, 10);
    }
}
END_TEST

/* With two tasks a core no list can be two longer than another while none is empty. */
START_TEST(two_a_core_never_decide) {
    for (timeslice_policy policy = TIMESLICE_NONE; policy <= TIMESLICE_ACTIVE; policy++)
        ck_assert_double_eq(moments_of(policy, 4, 2).lazy_active, 0);
}
END_TEST

START_TEST(refused) {
    static const struct {
        size_t offset;
        double value;
    } wrong[] = {
#define WRONG(field_, value_) {offsetof(timeslice_config, field_), value_}
        WRONG(unit_work, 0),      WRONG(unit_work, NAN),    WRONG(slice, 0),
        WRONG(slice_jitter, 1),   WRONG(balance_delay, -1), WRONG(jitter, 0.3),
        WRONG(outlier_rate, 1.5), WRONG(lost_rate, -1),     WRONG(dwell_p90, 0.38),
        WRONG(gap, NAN),          WRONG(steal_from, -1),    WRONG(clock_step, INFINITY),
    };
    timeslice_result result;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        timeslice_config config = defaults(TIMESLICE_NONE);
        memcpy((char *)&config + wrong[i].offset, &wrong[i].value, sizeof wrong[i].value);
        ck_assert_int_eq(timeslice_run(&config, &result), TIMESLICE_INVALID);
    }
    timeslice_config config = defaults(TIMESLICE_NONE);
    config.cores = 0;
    ck_assert_int_eq(timeslice_run(&config, &result), TIMESLICE_INVALID);
    config = defaults(TIMESLICE_NONE);
    config.first_core = (uint32_t[]){0, 0, 0, 0, 0, 2};
    ck_assert_int_eq(timeslice_run(&config, &result), TIMESLICE_INVALID);
}
END_TEST

Suite *suite(void) {
    Suite *made = suite_create("timeslice");
    ADD(made, "by hand", two_take_turns, an_idle_core, two_apart, one_queue, told_to_end, stolen,
        pulled_from_a_stolen_core, unequal_cores, background_shares, clock_is_set);
    ADD(made, "every trace", every_trace, equal_shares_in_a_list, slices_tile_time,
        same_seed_same_trace, noise_is_as_asked, dwell_times, refused);
    ADD(made, "the seed's systems", windows_7, linux_2_6_22, linux_2_6_31);
    ADD(made, "moments", how_often_a_moment_is_there, what_is_decidable, order_of_ends,
        two_a_core_never_decide);
    return made;
}
