/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LBI_CLASSIFY_QUEUES_H
#define LBI_CLASSIFY_QUEUES_H

#include "classify/progress.h"

/* How often a unit that had to wait came to another core, while tasks were more than cores and no
 * multiple of them. */
typedef struct lbi_changes {
    size_t waits;   /* units that waited at least once, and not long */
    size_t changes; /* of these, on another core at their end */
} lbi_changes;

lbi_changes lbi_count_changes(const lbi_progress *progress, const lb_unit *units, size_t n);

#endif
