/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LBI_TRACE_SORT_H
#define LBI_TRACE_SORT_H

#include <stdbool.h>
#include <stddef.h>

bool lbi_is_sorted(const void *items, size_t n, size_t size,
                   int (*compare)(const void *, const void *));

/* Sorts stably: equal items keep their order. What is in order already costs n comparisons, and a
 * few runs that are (a task's units after another's) little more. False: no memory, all as it was.
 */
bool lbi_sort(void *items, size_t n, size_t size, int (*compare)(const void *, const void *));

/* Brings items of one key together, keys in rising order, in linear time; items of one key keep
 * their order. Keys are below `keys`. False: no memory, all as it was. */
bool lbi_group(void *items, size_t n, size_t size, size_t (*key)(const void *), size_t keys);

#endif
