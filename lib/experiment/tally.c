/* SPDX-License-Identifier: BSD-3-Clause */
/* Times, counted by powers of two in 16 steps each. */
#include <math.h>

#include "experiment/bench.h"

/* Below 16 ns each has its own. */
static uint32_t place_of(int64_t ns) {
    uint64_t value = ns > 0 ? (uint64_t)ns : 0;
    uint32_t shift = 0;
    while (value >> shift >= 2 * LBI_TIME_STEPS)
        shift++;
    uint32_t place = shift * LBI_TIME_STEPS + (uint32_t)(value >> shift);
    return place < LBI_TIMES ? place : LBI_TIMES - 1;
}

/* The middle of what comes there. */
static double time_at(uint32_t place) {
    if (place < 2 * LBI_TIME_STEPS)
        return place;
    uint32_t shift = place / LBI_TIME_STEPS - 1;
    return ldexp(place - shift * LBI_TIME_STEPS + 0.5, (int)shift);
}

void lbi_tally_time(lbi_tally *tally, int64_t ns) {
    tally->times[place_of(ns)]++;
    tally->wake_ups++;
    tally->longest_ns = ns > tally->longest_ns ? ns : tally->longest_ns;
}

double lbi_bench_quantile(const lbi_bench *bench, double p) {
    uint64_t all = 0, sum = 0;
    for (uint32_t i = 0; i < bench->tallies; i++)
        all += bench->tally[i].wake_ups;
    double wanted = p * (double)all;
    for (uint32_t place = 0; all > 0 && place < LBI_TIMES; place++) {
        for (uint32_t i = 0; i < bench->tallies; i++)
            sum += bench->tally[i].times[place];
        if ((double)sum >= wanted)
            return 1e-9 * time_at(place);
    }
    return NAN;
}
