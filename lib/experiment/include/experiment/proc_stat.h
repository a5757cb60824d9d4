/* SPDX-License-Identifier: BSD-3-Clause */
/* What the cores did between two looks at /proc/stat, as mpstat has it. */
#ifndef LBI_EXPERIMENT_PROC_STAT_H
#define LBI_EXPERIMENT_PROC_STAT_H

#include "experiment/host.h"

enum lbi_stat_column {
    LBI_STAT_USER,
    LBI_STAT_NICE,
    LBI_STAT_SYSTEM,
    LBI_STAT_IDLE,
    LBI_STAT_IOWAIT,
    LBI_STAT_IRQ,
    LBI_STAT_SOFTIRQ,
    LBI_STAT_STEAL,
    LBI_STAT_COLUMNS
};

typedef struct lbi_stat_change {
    /* Of the time of those cores that both texts have, 100 in all; NAN: a column that the system
     * does not have, or no time. */
    double percent[LBI_STAT_COLUMNS];
    double interrupts; /* of the whole system; NAN: not told, or fewer than before */
    uint32_t cores;    /* of the host's, that both have */
    uint32_t fallen;   /* counters that went backwards: no time is counted for them */
} lbi_stat_change;

/* The text of /proc/stat, for the caller to free; NULL: not there. False: no memory. */
bool lbi_stat_read(char **ret_text);

/* Guest time is in user and nice, as the system counts it. False: no memory. */
bool lbi_stat_compare(const char *before, const char *after, const lb_host *host,
                      lbi_stat_change *ret_change);

#endif
