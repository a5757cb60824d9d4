/* SPDX-License-Identifier: BSD-3-Clause */
/* Do cores idle while work waits? By looks at which of the processes are ready to run, and where.
 */
#ifndef LBI_EXPERIMENT_WAITING_H
#define LBI_EXPERIMENT_WAITING_H

#include "experiment/system.h"

typedef struct lbi_waiting {
    const lb_host *host;
    const lbi_mask *mask; /* the cores that count */
    uint32_t *lengths;    /* processes ready to run on each core */
    double sum;           /* of the parts of the cores that idled while others had two and more */
    uint64_t looks;
} lbi_waiting;

/* False: no memory. */
bool lbi_waiting_begin(lbi_waiting *ret_waiting, const lb_host *host, const lbi_mask *mask);
/* Looks at the processes that were made after `oldest`, which is one of them. */
void lbi_waiting_look(lbi_waiting *waiting, pid_t oldest);
double lbi_waiting_percent(const lbi_waiting *waiting); /* NAN: never looked */
void lbi_waiting_end(lbi_waiting *waiting);

#endif
