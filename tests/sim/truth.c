/* SPDX-License-Identifier: BSD-3-Clause */
/* Which deciding moments a trace holds (design/inference.md, "Occupancy, not identity"): told from
 * the simulator's own lists, as they stand between two events. */
#include "internal.h"

static int64_t longer_of(double a, double b) {
    return nanoseconds(a > b ? a : b);
}

void watch_init(watch *watcher, const timeslice_config *config, timeslice_truth *truth) {
    *watcher = (watch){.config = config,
                       .truth = truth,
                       .grain_ns = 10 * longer_of(config->unit_work, config->slice),
                       .delay_ns = nanoseconds(config->balance_delay)};
    truth->none_lazy.first_ns = truth->lazy_active.first_ns = truth->uneven.first_ns = -1;
}

static void bounds(const uint32_t *sizes, uint32_t cores, uint32_t *ret_shortest,
                   uint32_t *ret_longest) {
    uint32_t shortest = UINT32_MAX, longest = 0;
    for (uint32_t i = 0; i < cores; i++) {
        shortest = sizes[i] < shortest ? sizes[i] : shortest;
        longest = sizes[i] > longest ? sizes[i] : longest;
    }
    *ret_shortest = shortest;
    *ret_longest = longest;
}

/* Rates can be told only where nothing took a core away meanwhile. */
static bool disturbed(const watch *watcher, int64_t from, int64_t until) {
    const timeslice_config *config = watcher->config;
    return config->steal_until > config->steal_from && nanoseconds(config->steal_from) < until &&
           nanoseconds(config->steal_until) > from;
}

static void note(const watch *watcher, timeslice_moment *moment, int64_t now, uint32_t length) {
    int64_t lasted = now - watcher->since_ns;
    moment->seen++;
    if (lasted < watcher->grain_ns * length + watcher->delay_ns ||
        disturbed(watcher, watcher->since_ns, now))
        return;
    if (moment->resolved++ == 0)
        moment->first_ns = watcher->since_ns;
    moment->resolved_ns += lasted;
}

void watch_end_interval(watch *watcher, int64_t now, const uint32_t *sizes, uint32_t running) {
    timeslice_truth *truth = watcher->truth;
    uint32_t cores = watcher->config->cores;
    if (watcher->config->policy == TIMESLICE_SINGLE) {
        if (running > cores && running % cores != 0)
            note(watcher, &truth->uneven, now, (running + cores - 1) / cores);
        return;
    }
    uint32_t shortest = watcher->shortest, longest = watcher->longest;
    if (shortest == 0 && longest >= 2)
        note(watcher, &truth->none_lazy, now, longest);
    if (shortest > 0 && longest >= shortest + 2)
        note(watcher, &truth->lazy_active, now, longest);
    /* What counts here is how the lists are after balancing, late or not. */
    bounds(sizes, cores, &shortest, &longest);
    if (longest >= 2 && longest > shortest)
        note(watcher, &truth->uneven, now, longest);
}

void watch_begin_interval(watch *watcher, int64_t now, const uint32_t *sizes) {
    watcher->since_ns = now;
    bounds(sizes, watcher->config->cores, &watcher->shortest, &watcher->longest);
}

/* Uneven lists under a policy that keeps them look like one that rotates until they have lasted for
 * several dwell times. */
static bool outlasts_rotation(const watch *watcher) {
    return watcher->truth->uneven.resolved_ns >= 10 * nanoseconds(watcher->config->dwell_median);
}

void watch_finish(watch *watcher, int64_t now) {
    timeslice_truth *truth = watcher->truth;
    truth->end_ns = now;
    truth->policy = timeslice_verdict(watcher->config->policy);
    switch (watcher->config->policy) {
    case TIMESLICE_NONE: /* An idle core beside a list of two contradicts all the others. */
        truth->decidable = truth->none_lazy.resolved > 0;
        break;
    case TIMESLICE_LAZY:
        truth->decidable = truth->none_lazy.resolved > 0 && truth->lazy_active.resolved > 0;
        break;
    case TIMESLICE_ACTIVE:
        truth->decidable = truth->lazy_active.resolved > 0 && outlasts_rotation(watcher);
        break;
    case TIMESLICE_IMMEDIATE:
        truth->decidable = outlasts_rotation(watcher);
        break;
    case TIMESLICE_SINGLE:
        truth->decidable = truth->uneven.resolved > 0;
        break;
    }
}
