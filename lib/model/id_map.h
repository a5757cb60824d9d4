/* SPDX-License-Identifier: BSD-3-Clause */
/* From process ids, which count up and are never reused, to slots. */
#ifndef LBI_MODEL_ID_MAP_H
#define LBI_MODEL_ID_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LBI_NO_SLOT UINT32_MAX

/* Whose slot it is: two to a cache line. */
typedef struct lbi_identity {
    uint64_t id, tag;
    uint32_t next; /* the slot of another id of the same bucket; LBI_NO_SLOT: none */
    uint32_t unused[3];
} lbi_identity;

typedef struct lbi_id_map {
    uint32_t
        *heads;  /* of the buckets: by the low bits of the id, so that latest ids lie together */
    size_t size; /* a power of two, at least twice the number of ids */
} lbi_id_map;

/* Each takes the identities of the slots. */
bool lbi_id_map_reserve(lbi_id_map *map, size_t count, lbi_identity *identities);
void lbi_id_map_add(lbi_id_map *map, uint32_t slot, lbi_identity *identities);
/* The slot it had; it must be there. */
uint32_t lbi_id_map_remove(lbi_id_map *map, uint64_t id, lbi_identity *identities);

static inline size_t lbi_id_map_bucket(const lbi_id_map *map, uint64_t id) {
    return (size_t)id & (map->size - 1);
}

static inline uint32_t lbi_id_map_find(const lbi_id_map *map, uint64_t id,
                                       const lbi_identity *identities) {
    uint32_t slot = map->heads[lbi_id_map_bucket(map, id)];
    while (slot != LBI_NO_SLOT && identities[slot].id != id)
        slot = identities[slot].next;
    return slot;
}

/* Fetches what the next call with this id will look at. */
static inline void lbi_id_map_expect(const lbi_id_map *map, uint64_t id) {
    __builtin_prefetch(&map->heads[lbi_id_map_bucket(map, id)], 1);
}

#endif
