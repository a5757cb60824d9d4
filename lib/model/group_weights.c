/* SPDX-License-Identifier: BSD-3-Clause */
/* Balancing by group weight as a static rule, and the ideal beside it. */
#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "model/weights.h"

/* imbalance_pct of SD_CPU_INIT, Linux 2.6.25, include/linux/topology.h. */
#define IMBALANCE 1.25

typedef struct group {
    uint32_t soakers, normal;
    double load;
} group;

void lbi_weights_ideal(uint32_t cores, uint32_t normal_tasks, double ratio, double *ret_normal,
                       double *ret_soaker) {
    double level = cores / (normal_tasks + cores * ratio);
    bool capped = level > 1; /* only where there are fewer of them than cores */
    *ret_normal = capped ? 1 : level;
    *ret_soaker = capped ? (double)(cores - normal_tasks) / cores : level * ratio;
}

/* One soaker moves. False: nothing does any more. */
static bool move(group *groups, uint32_t n, double ratio) {
    group *heaviest = groups, *lightest = groups;
    double sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        groups[i].load = groups[i].soakers * ratio + groups[i].normal;
        sum += groups[i].load;
        heaviest = groups[i].load > heaviest->load ? &groups[i] : heaviest;
        lightest = groups[i].load < lightest->load ? &groups[i] : lightest;
    }
    double mean = sum / n;
    if (heaviest->soakers == 0 || !(heaviest->load > IMBALANCE * lightest->load) ||
        !(heaviest->load - mean >= ratio) || !(mean - lightest->load >= ratio))
        return false;
    heaviest->soakers--;
    lightest->soakers++;
    return true;
}

double lbi_weights_static(const lbi_weights_machine *machine) {
    uint32_t n = machine->groups, m = machine->group_cores, idle = 0;
    group *groups = lbi_array_new(n, sizeof *groups);
    if (groups == NULL)
        return NAN;
    for (uint32_t i = 0; i < n; i++)
        groups[i] = (group){
            .soakers = m,
            .normal = machine->normal_tasks / n + (i < machine->normal_tasks % n ? 1 : 0),
        };
    while (move(groups, n, machine->ratio))
        ;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t tasks = groups[i].soakers + groups[i].normal;
        idle += tasks < m ? m - tasks : 0;
    }
    free(groups);
    return (double)idle / n / m;
}
