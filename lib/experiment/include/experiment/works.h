/* SPDX-License-Identifier: BSD-3-Clause */
/* Pieces of real work, for processes between fork and exit: async-signal-safe. Each is the same
 * work on every machine. Errors are in errno. */
#ifndef LBI_EXPERIMENT_WORKS_H
#define LBI_EXPERIMENT_WORKS_H

#include <stdbool.h>
#include <stddef.h>

/* Zeroed, for as long as the process lives; NULL: none. */
void *lbi_work_memory(size_t bytes);
/* All of a file's bytes, which it has anew, or which it must have. */
bool lbi_work_write(const char *name, const char *bytes, size_t n);
bool lbi_work_read(const char *name, char *bytes, size_t n);

#endif
