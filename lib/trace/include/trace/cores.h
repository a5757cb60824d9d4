/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of numbers and ranges of cores in metadata: `cpus: 0,8,16` and `groups: 0-1,2-3`. */
#ifndef LBI_TRACE_CORES_H
#define LBI_TRACE_CORES_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef struct lbi_range {
    uint32_t first, last;
} lbi_range;

/* Reads a list of ranges, "0-1,2-3,7", spaces around commas allowed, of which none overlap.
 * `name` is for the message, `max` the highest number. The caller frees *ret_ranges, which are in
 * the text's order. */
lb_status lbi_ranges_parse(const char *text, const char *name, uint32_t max, lbi_range **ret_ranges,
                           size_t *ret_n, lb_error *err);

/* Checks the metadata that name cores: `cpus` has a number for each core, `groups` ranges of
 * cores; other keys pass. */
lb_status lbi_cores_check(const char *key, const char *value, uint32_t cores, lb_error *err);

#endif
