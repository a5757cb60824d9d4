/* SPDX-License-Identifier: BSD-3-Clause */
/* Sets of CPUs in the system's lists, such as "0-3,8". */
#ifndef LBI_EXPERIMENT_CPUS_H
#define LBI_EXPERIMENT_CPUS_H

#include <hwloc.h>
#include <stdbool.h>

#include "base/text.h"

/* Reads a list; spaces around it are allowed. False: it is none, or names a CPU beyond a million,
 * or there is no memory; `set` then holds anything. */
bool lbi_parse_cpus(const char *text, hwloc_bitmap_t set);
/* The same of a file below `root`: whether it could be read goes to *ret_found. False: no memory.
 */
LBI_PRINTF(4, 5)
bool lbi_read_cpus(const char *root, hwloc_bitmap_t set, bool *ret_found, const char *path, ...);

/* Writes a list, of a few ranges at most. */
void lbi_text_cpus(lbi_text *text, hwloc_const_bitmap_t set);

#endif
