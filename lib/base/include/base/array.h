/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays that grow. */
#ifndef LBI_BASE_ARRAY_H
#define LBI_BASE_ARRAY_H

#include <stdbool.h>
#include <stddef.h>

/* Makes room for `count` elements of `size` bytes in *array (a pointer to a pointer), growing by
 * half at least so that appending costs constant time. False: no memory, all as it was. */
bool lbi_array_reserve(void *array, size_t *capacity, size_t count, size_t size);

/* Memory for `count` elements, uninitialised; NULL also where the product overflows. Never a
 * request of 0 bytes, so that NULL always means failure. */
void *lbi_array_new(size_t count, size_t size);

/* A copy of the string, or NULL. */
char *lbi_string_copy(const char *string);

#endif
