/* SPDX-License-Identifier: BSD-3-Clause */
/* Who used CPU time between two looks at all processes. */
#ifndef LBI_EXPERIMENT_CULPRITS_H
#define LBI_EXPERIMENT_CULPRITS_H

#include "experiment/processes.h"

typedef struct lbi_culprit {
    int64_t id, session;
    char name[16];
    double cores; /* CPU time over time, with that of children that ended meanwhile */
} lbi_culprit;

enum {
    LBI_CULPRITS = 3
};

typedef struct lbi_culprits {
    lbi_culprit list[LBI_CULPRITS]; /* the worst, by falling use */
    size_t shown;
    size_t sessions; /* busy ones other than that of `self`, kernel threads not counted */
    double steady;   /* processes of those, as good as always busy or not */
} lbi_culprits;

#define LBI_CULPRIT_CORES 0.05 /* who used less is none */
#define LBI_BUSY_CORES 0.25    /* of a busy session or process */

/* Between `before` and `now` lay so many seconds. `self` and its children do not count. False: no
 * memory. */
bool lbi_find_culprits(const lbi_processes *before, const lbi_processes *now, int64_t self,
                       double seconds, lbi_culprits *ret_culprits);

#endif
