/* SPDX-License-Identifier: BSD-3-Clause */
/* All tasks of one core end first. With x tasks a core, which policies differ in which interval:
 *
 *   before the first end    none: x tasks everywhere
 *   after the first         immediate evens out, the others leave x - 1 beside x
 *   after the second        active moves a task, as x - 2 and x differ by two; lazy does not
 *   after the x-th          lazy pulls to the empty core, none does not
 *
 * The others tell little, and the ends after that only show the duration at fewer tasks. On a wide
 * machine the emptied list is a small part of what is seen, so a second one follows; the remaining
 * tasks end core by core, which leaves the lists even and hardly moves any. In simulated traces
 * (tests/sim, 2 to 32 cores, all policies) ending list by list to the last, at intervals too short
 * to be told apart, spoilt verdicts from 8 cores on; this order spoils none of 3 tasks a core up to
 * 16 cores. Where the
 * number of tasks is no multiple of the cores' a kernel with a queue per core rotates the surplus;
 * on Linux 6.18 an uneven share lasts 0.38 s at the median and 1.1 s at the 90th percentile, so an
 * interval of 2.5 s is short enough to wait for and long enough for shares to even out. */
#include "experiment/schedule.h"

#define SECOND 1e9
#define REST (5 * SECOND)
#define LAST (0.001 * SECOND)

static double larger(double a, double b) {
    return a > b ? a : b;
}

static double smaller(double a, double b) {
    return a < b ? a : b;
}

/* On how many cores all tasks end before the others' do. A second list shows on a wide machine once
 * more what the first one has. */
static uint32_t emptied(uint32_t cores) {
    return cores < 4 ? 1 : 2;
}

/* How long the interval that the k-th end (from 0) closes should be. */
static double wanted(uint32_t cores, uint32_t x, double round, uint32_t k) {
    double even = larger(1.0 * SECOND, 5 * round);
    double uneven = larger(2.5 * SECOND, 10 * round);
    double shorter = larger(0.8 * SECOND, 3 * round);
    uint32_t first = emptied(cores) * x + 1;
    if (k == 0)
        return even;
    if (k == 1 || k == x)
        return uneven;
    if (k == 2)
        return larger(1.5 * SECOND, 7 * round);
    if (k < first)
        return shorter;
    /* As many as can be told apart, and those that are too many at the very end. */
    uint32_t rest = cores * x - first;
    uint32_t spaced = (uint32_t)smaller(rest, larger(1, REST / larger(0.15 * SECOND, 3 * round)));
    return k - first < spaced ? smaller(shorter, REST / spaced) : LAST;
}

void lbi_schedule_ends(uint32_t cores, uint32_t tasks_per_core, int64_t round_ns,
                       int64_t available_ns, int64_t *ret_ends) {
    uint32_t n = cores * tasks_per_core;
    double sum = 0;
    for (uint32_t k = 0; k < n; k++)
        sum += wanted(cores, tasks_per_core, (double)round_ns, k);
    double scale = sum > (double)available_ns ? (double)available_ns / sum : 1;
    double time = 0;
    for (uint32_t k = 0; k < n; k++) {
        time += scale * wanted(cores, tasks_per_core, (double)round_ns, k);
        ret_ends[k] = (int64_t)time;
    }
}

uint32_t lbi_schedule_victim(uint32_t cores, uint32_t tasks_per_core, uint32_t k) {
    uint32_t lists = emptied(cores);
    if (k < lists * tasks_per_core)
        return k % tasks_per_core * cores + k / tasks_per_core;
    /* The others from each core in turn: their lists stay even, and little moves. */
    uint32_t rest = k - lists * tasks_per_core;
    return rest / (cores - lists) * cores + lists + rest % (cores - lists);
}
