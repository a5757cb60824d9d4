/* SPDX-License-Identifier: BSD-3-Clause */
/* From process ids, which count up and are never reused, to slots. */
#ifndef LBI_MODEL_ID_MAP_H
#define LBI_MODEL_ID_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LBI_NO_SLOT UINT32_MAX

typedef struct lbi_id_map {
    uint32_t *slots; /* a table of `size` cells by id, open addressing; LBI_NO_SLOT: free */
    size_t size;     /* a power of two, at least twice the number of ids */
    unsigned shift;  /* 64 less its logarithm */
} lbi_id_map;

/* Each takes the ids of the slots. */
bool lbi_id_map_reserve(lbi_id_map *map, size_t count, const uint64_t *ids);
uint32_t lbi_id_map_find(const lbi_id_map *map, uint64_t id, const uint64_t *ids);
void lbi_id_map_add(lbi_id_map *map, uint32_t slot, const uint64_t *ids);
/* The slot it had; it must be there. */
uint32_t lbi_id_map_remove(lbi_id_map *map, uint64_t id, const uint64_t *ids);
/* Fetches what the next call with this id will look at. */
void lbi_id_map_expect(const lbi_id_map *map, uint64_t id);

#endif
