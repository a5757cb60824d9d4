/* SPDX-License-Identifier: BSD-3-Clause */
/* A watched realisation, to be asked: who was where when, and how far each list had come. */
#ifndef LBI_MODEL_TIMELINE_H
#define LBI_MODEL_TIMELINE_H

#include "plan.h"

typedef struct lbi_course { /* of a list's virtual time */
    double time, virtual, rate;
} lbi_course;

typedef struct lbi_timeline {
    const lbi_plan *plan;
    bool shared; /* there are no lists of cores */
    double *durations;
    uint8_t *asleep; /* at the end, for ever */
    /* Each group is [first[i], first[i + 1]) of its array. */
    lbi_hop *by_slot, *by_list;
    size_t *first_of_slot, *first_of_list;
    lbi_course *courses;
    size_t *first_course;
} lbi_timeline;

/* LB_ERR_LIMIT: more than `limit` moves. by_list is NULL unless asked for. */
lb_status lbi_timeline_new(lbi_timeline *timeline, const lbi_plan *plan, uint64_t seed,
                           size_t limit, bool by_list, lb_error *err);
void lbi_timeline_free(lbi_timeline *timeline);

double lbi_timeline_virtual(const lbi_timeline *timeline, uint32_t list, double time);
/* When a list's virtual time came to `virtual`. */
double lbi_timeline_time(const lbi_timeline *timeline, uint32_t list, double virtual);
/* The work that virtual time of 1 is worth to a process. */
double lbi_timeline_share(const lbi_timeline *timeline, uint32_t list, uint32_t slot);

#endif
