/* SPDX-License-Identifier: BSD-3-Clause */
#include "watch.h"

#include <stdlib.h>

#include "base/array.h"

/* Whether there is room for one more in an array of that length. */
static bool reserve(lbi_watch *watch, void *array, size_t *capacity, size_t count, size_t size) {
    if (count >= watch->limit)
        watch->full = true;
    else if (!lbi_array_reserve(array, capacity, count + 1, size))
        watch->failed = true;
    return !watch->full && !watch->failed;
}

void lbi_watch_hop(lbi_watch *watch, double time, uint32_t slot, uint32_t list, bool enters) {
    if (reserve(watch, &watch->hops, &watch->hop_capacity, watch->hop_count, sizeof(lbi_hop)))
        watch->hops[watch->hop_count++] = (lbi_hop){time, slot, list, enters};
}

void lbi_watch_pace(lbi_watch *watch, double time, uint32_t list, double rate) {
    if (reserve(watch, &watch->points, &watch->point_capacity, watch->point_count,
                sizeof(lbi_point)))
        watch->points[watch->point_count++] = (lbi_point){time, rate, list};
}

void lbi_watch_free(lbi_watch *watch) {
    free(watch->hops);
    free(watch->points);
}
