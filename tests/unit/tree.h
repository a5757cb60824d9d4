/* SPDX-License-Identifier: BSD-3-Clause */
/* A folder that stands for a machine's /proc, /sys and control groups. */
#ifndef TESTS_TREE_H
#define TESTS_TREE_H

#include <stddef.h>

extern char tree_root[32];

void tree_begin(void);
void tree_end(void);
/* Writes a file below the root, and the folders on the way. */
void tree_put(const char *path, const char *text);
void tree_put_bytes(const char *path, const char *bytes, size_t length);
void unlink_file(const char *path);

#endif
