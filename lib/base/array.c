/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/array.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

bool lbi_array_reserve(void *array, size_t *capacity, size_t count, size_t size) {
    if (count <= *capacity)
        return true;
    size += size == 0; /* elements of no size still are to be counted */
    size_t wanted = *capacity + *capacity / 2;
    if (wanted < count)
        wanted = count;
    if (wanted < 8)
        wanted = 8;
    if (wanted > SIZE_MAX / size)
        return false;
    void *memory;
    memcpy(&memory, array, sizeof memory);
    memory = realloc(memory, wanted * size);
    if (memory == NULL)
        return false;
    memcpy(array, &memory, sizeof memory);
    *capacity = wanted;
    return true;
}

void *lbi_array_new(size_t count, size_t size) {
    if (count == 0)
        count = 1;
    size += size == 0;
    return count > SIZE_MAX / size ? NULL : malloc(count * size);
}

char *lbi_string_copy(const char *string) {
    size_t size = strlen(string) + 1;
    char *copy = malloc(size);
    return copy == NULL ? NULL : memcpy(copy, string, size);
}
