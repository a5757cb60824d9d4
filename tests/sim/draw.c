/* SPDX-License-Identifier: BSD-3-Clause */
/* Random configurations: what tests of the classifier run over. */
#include "draw.h"

#include <math.h>

#include "internal.h"

static double among(random_stream *random, const double *values, uint32_t n) {
    return values[random_below(random, n)];
}
#define AMONG(random_, ...)                                                                        \
    among(random_, (const double[]){__VA_ARGS__},                                                  \
          (uint32_t)(sizeof((const double[]){__VA_ARGS__}) / sizeof(double)))

static bool chance(random_stream *random, double probability) {
    return random_unit(random) < probability;
}

double draw_expected_seconds(const timeslice_config *config) {
    double longer = config->unit_work > config->slice ? config->unit_work : config->slice;
    double gap = config->gap > 0
                     ? config->gap
                     : config->gap_factor * longer * config->tasks_per_core + config->balance_delay;
    return gap * config->cores * config->tasks_per_core;
}

double draw_expected_units(const timeslice_config *config) {
    return draw_expected_seconds(config) * config->cores / config->unit_work;
}

static void draw_times(timeslice_config *config, random_stream *random) {
    config->unit_work = AMONG(random, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1);
    config->slice = AMONG(random, 0.001, 0.003, 0.006, 0.01, 0.03, 0.1);
    double longer = config->unit_work > config->slice ? config->unit_work : config->slice;
    double factor = AMONG(random, 12, 20, 30);
    double shortest = AMONG(random, 0, 0.3, 1, 2);
    config->gap = factor * longer * config->tasks_per_core;
    if (config->gap < shortest)
        config->gap = shortest;
}

static void draw_noise(timeslice_config *config, random_stream *random, uint32_t noise) {
    if (noise & DRAW_JITTER)
        config->jitter = AMONG(random, 0.002, 0.01, 0.02, 0.05);
    if (noise & DRAW_OUTLIERS)
        config->outlier_rate = 0.01;
    if (noise & DRAW_DELAY) {
        config->balance_delay = AMONG(random, 0.001, 0.01, 0.05, 0.2);
        config->gap += config->balance_delay;
    }
    double end = config->gap * config->cores * config->tasks_per_core;
    if (noise & DRAW_STEAL) {
        config->steal_core = random_below(random, config->cores);
        config->steal_from = random_unit(random) * end;
        config->steal_until = config->steal_from + random_unit(random) * config->gap;
    }
    if (noise & DRAW_BACKGROUND) {
        config->background_core = random_below(random, config->cores);
        config->background_pinned = chance(random, 0.5);
        config->background_from = random_unit(random) * end / 2;
        config->background_until = config->background_from + random_unit(random) * end / 2;
    }
    if (noise & DRAW_HIDDEN)
        config->unit_work_hidden = true;
    if (noise & DRAW_LOST)
        config->lost_rate = AMONG(random, 0.01, 0.1);
    if (noise & DRAW_CLOCK) {
        config->clock_step_at = random_unit(random) * end;
        config->clock_step = (random_unit(random) - 0.3) * config->gap;
    }
}

static void draw_speeds(timeslice_config *config, random_stream *random, double *speeds) {
    double slow = AMONG(random, 0.6, 0.8, 0.95);
    for (uint32_t i = 0; i < config->cores; i++)
        speeds[i] = chance(random, 0.5) ? slow : 1;
    config->speeds = speeds;
}

void draw_config(uint64_t seed, uint32_t noise, draw *ret_draw) {
    draw_config_on(seed, noise, 0, ret_draw);
}

/* All that is drawn after the size of the machine. */
static void draw_rest(random_stream *random, uint32_t noise, double units_max, double slices_max,
                      draw *ret_draw) {
    timeslice_config *config = &ret_draw->config;
    config->choice = chance(random, 0.5) ? TIMESLICE_LONGEST : TIMESLICE_ANY;
    config->order = (timeslice_order)random_below(random, 3);
    config->end = (timeslice_end)random_below(random, 3);
    config->shuffled_start = chance(random, 0.5);
    config->slice_jitter = AMONG(random, 0, 0, 0.05, 0.3);
    config->gap_jitter = AMONG(random, 0, 0.1);
    config->cpu_time_hidden = chance(random, 0.5);
    config->cores_hidden = chance(random, 0.5);
    const timeslice_config drawn = *config;
    do {
        *config = drawn;
        draw_times(config, random);
        draw_noise(config, random, noise);
    } while (draw_expected_units(config) > units_max ||
             draw_expected_seconds(config) * config->cores / config->slice > slices_max);
    if (noise & DRAW_SPEEDS)
        draw_speeds(config, random, ret_draw->speeds);
    /* Elsewhere the dwell times are the yardstick of what can be told, and stay. */
    if ((noise & DRAW_DWELL) && config->policy == TIMESLICE_IMMEDIATE) {
        double scale = AMONG(random, 0.13, 0.5, 1, 2.1);
        config->dwell_median *= scale;
        config->dwell_p90 *= scale;
    }
}

/* Tasks and cores both make a trace longer. */
static double wider(uint32_t cores) {
    return cores > 16 ? cores / 16.0 : 1;
}

/* Streams of timeslice_run() are seeded with the seed itself: keep away from them. */
static random_stream stream_of(uint64_t seed, uint64_t use) {
    return (random_stream){seed ^ use};
}

void draw_config_on(uint64_t seed, uint32_t noise, uint32_t cores, draw *ret_draw) {
    random_stream random = stream_of(seed, 0x6a09e667f3bcc908u);
    timeslice_config *config = &ret_draw->config;
    timeslice_defaults(config);
    config->seed = seed;
    config->policy = (timeslice_policy)random_below(&random, 5);
    config->cores = (uint32_t)AMONG(&random, 2, 4, 8, 16);
    if (cores > 0)
        config->cores = cores < DRAW_CORES_MAX ? cores : DRAW_CORES_MAX;
    config->tasks_per_core = (uint32_t)AMONG(&random, 3, 3, 4, 5, 6);
    double wide = wider(config->cores) * wider(config->cores);
    draw_rest(&random, noise, DRAW_UNITS_MAX * wide, DRAW_SLICES_MAX * wide, ret_draw);
}

uint32_t draw_form(uint64_t seed, draw *ret_draw) {
    random_stream random = stream_of(seed, 0xbb67ae8584caa73bu);
    timeslice_config *config = &ret_draw->config;
    uint32_t noise = 0;
    timeslice_defaults(config);
    config->seed = seed;
    config->policy = (timeslice_policy)random_below(&random, 5);
    config->cores = (uint32_t)AMONG(&random, 2, 2, 3, 4, 4, 6, 8, 8, 12, 16, 16, 24, 32, 48, 64);
    config->tasks_per_core = 2 + random_below(&random, 5);
    for (uint32_t bit = 1; bit <= DRAW_FORM; bit <<= 1)
        if ((DRAW_FORM & bit) && chance(&random, 1.0 / 3))
            noise |= bit;
    double wide = wider(config->cores);
    draw_rest(&random, noise, DRAW_UNITS_MAX * wide * wide, DRAW_SLICES_MAX * wide, ret_draw);
    return noise;
}
