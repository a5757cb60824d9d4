/* SPDX-License-Identifier: BSD-3-Clause */
#include "id_map.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* Fibonacci hashing spreads consecutive ids as evenly as can be. (The id itself was tried: the
 * dense run of the latest ids makes removal slow.) */
static size_t home(const lbi_id_map *map, uint64_t id) {
    return (size_t)((id * UINT64_C(0x9e3779b97f4a7c15)) >> map->shift);
}

static size_t following(const lbi_id_map *map, size_t cell) {
    return (cell + 1) & (map->size - 1);
}

void lbi_id_map_add(lbi_id_map *map, uint32_t slot, const uint64_t *ids) {
    size_t cell = home(map, ids[slot]);
    while (map->slots[cell] != LBI_NO_SLOT)
        cell = following(map, cell);
    map->slots[cell] = slot;
}

bool lbi_id_map_reserve(lbi_id_map *map, size_t count, const uint64_t *ids) {
    size_t size = map->size == 0 ? 16 : map->size;
    while (size < 2 * count)
        size *= 2;
    if (size == map->size)
        return true;
    lbi_id_map grown = {lbi_array_new(size, sizeof *grown.slots), size, 64};
    while (size >> (64 - grown.shift) > 1)
        grown.shift--;
    if (grown.slots == NULL)
        return false;
    memset(grown.slots, 0xff, size * sizeof *grown.slots);
    for (size_t i = 0; i < map->size; i++)
        if (map->slots[i] != LBI_NO_SLOT)
            lbi_id_map_add(&grown, map->slots[i], ids);
    free(map->slots);
    *map = grown;
    return true;
}

static size_t cell_of(const lbi_id_map *map, uint64_t id, const uint64_t *ids) {
    size_t cell = home(map, id);
    while (map->slots[cell] != LBI_NO_SLOT && ids[map->slots[cell]] != id)
        cell = following(map, cell);
    return cell;
}

uint32_t lbi_id_map_find(const lbi_id_map *map, uint64_t id, const uint64_t *ids) {
    return map->size == 0 ? LBI_NO_SLOT : map->slots[cell_of(map, id, ids)];
}

void lbi_id_map_expect(const lbi_id_map *map, uint64_t id) {
    __builtin_prefetch(&map->slots[home(map, id)]);
}

uint32_t lbi_id_map_remove(lbi_id_map *map, uint64_t id, const uint64_t *ids) {
    size_t hole = cell_of(map, id, ids);
    uint32_t slot = map->slots[hole];
    /* Whoever comes behind in the same run moves up unless that is before its home. */
    for (size_t cell = following(map, hole); map->slots[cell] != LBI_NO_SLOT;
         cell = following(map, cell)) {
        size_t mask = map->size - 1;
        size_t from_home = (cell - home(map, ids[map->slots[cell]])) & mask;
        if (from_home >= ((cell - hole) & mask)) {
            map->slots[hole] = map->slots[cell];
            hole = cell;
        }
    }
    map->slots[hole] = LBI_NO_SLOT;
    return slot;
}
