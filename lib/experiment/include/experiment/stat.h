/* SPDX-License-Identifier: BSD-3-Clause */
/* /proc/stat. */
#ifndef LBI_EXPERIMENT_STAT_H
#define LBI_EXPERIMENT_STAT_H

#include "experiment/host.h"

/* The columns of /proc/stat, in ticks; those that a kernel does not have are 0. Guest time is in
 * user and nice. */
typedef struct lbi_cpu_times {
    uint64_t user, nice, system, idle, iowait, irq, softirq, steal;
} lbi_cpu_times;

uint64_t lbi_busy_ticks(const lbi_cpu_times *times); /* with steal */
uint64_t lbi_all_ticks(const lbi_cpu_times *times);
/* A difference in seconds of this system's ticks; 0 where it is negative. */
double lbi_tick_seconds(uint64_t before, uint64_t now);

/* Sums over the host's cores, as a text of /proc/stat has them; returns how many of them it has. */
uint32_t lbi_stat_sum(const char *text, const lb_host *host, lbi_cpu_times *ret_times);

#endif
