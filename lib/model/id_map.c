/* SPDX-License-Identifier: BSD-3-Clause */
#include "id_map.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

void lbi_id_map_add(lbi_id_map *map, uint32_t slot, lbi_identity *identities) {
    uint32_t *head = &map->heads[lbi_id_map_bucket(map, identities[slot].id)];
    identities[slot].next = *head;
    *head = slot;
}

bool lbi_id_map_reserve(lbi_id_map *map, size_t count, lbi_identity *identities) {
    size_t size = map->size == 0 ? 16 : map->size;
    while (size < 2 * count)
        size *= 2;
    if (size == map->size)
        return true;
    lbi_id_map grown = {lbi_array_new(size, sizeof *grown.heads), size};
    if (grown.heads == NULL)
        return false;
    memset(grown.heads, 0xff, size * sizeof *grown.heads);
    for (size_t i = 0; i < map->size; i++)
        for (uint32_t slot = map->heads[i], next; slot != LBI_NO_SLOT; slot = next) {
            next = identities[slot].next;
            lbi_id_map_add(&grown, slot, identities);
        }
    free(map->heads);
    *map = grown;
    return true;
}

uint32_t lbi_id_map_remove(lbi_id_map *map, uint64_t id, lbi_identity *identities) {
    uint32_t *link = &map->heads[lbi_id_map_bucket(map, id)];
    while (identities[*link].id != id)
        link = &identities[*link].next;
    uint32_t slot = *link;
    *link = identities[slot].next;
    return slot;
}
