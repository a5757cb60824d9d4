/* SPDX-License-Identifier: BSD-3-Clause */
/* What an engine tells whoever wants to know all of a realisation: who came to which list and left
 * it when, and how fast each list's virtual time went. */
#ifndef LBI_MODEL_WATCH_H
#define LBI_MODEL_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct lbi_hop {
    double time;
    uint32_t slot, list;
    bool enters; /* or leaves */
} lbi_hop;

typedef struct lbi_point {
    double time, rate; /* of virtual time, from then on */
    uint32_t list;
} lbi_point;

/* In the order of time. Zero-initialise, but for `limit`. */
typedef struct lbi_watch {
    lbi_hop *hops;
    lbi_point *points;
    size_t hop_count, hop_capacity, point_count, point_capacity;
    size_t limit;      /* of either */
    bool failed, full; /* no memory; the limit is reached */
} lbi_watch;

void lbi_watch_hop(lbi_watch *watch, double time, uint32_t slot, uint32_t list, bool enters);
void lbi_watch_pace(lbi_watch *watch, double time, uint32_t list, double rate);
void lbi_watch_free(lbi_watch *watch);

#endif
