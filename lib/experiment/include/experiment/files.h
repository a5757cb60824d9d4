/* SPDX-License-Identifier: BSD-3-Clause */
/* Files of the system, or of a tree that stands for one. Whatever is in them, reading takes bounded
 * memory and never waits: what is no regular file counts as missing, and what is too long is cut.
 */
#ifndef LBI_EXPERIMENT_FILES_H
#define LBI_EXPERIMENT_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

/* Reads the file of a path below `root` ("": the system's own). False: no memory. A file that is
 * missing or cannot be read gives NULL; else the caller frees the text. */
LBI_PRINTF(3, 4)
bool lbi_read(const char *root, char **ret_text, const char *path, ...);
LBI_PRINTF(3, 0)
bool lbi_vread(const char *root, char **ret_text, const char *path, va_list arguments);
/* The same into a buffer of at least one byte, without asking for memory; false: missing. */
LBI_PRINTF(4, 5)
bool lbi_read_into(const char *root, char *buffer, size_t size, const char *path, ...);
/* Whether such a file is there. */
LBI_PRINTF(2, 3)
bool lbi_file_exists(const char *root, const char *path, ...);

/* The text after `*at`, up to the end of the line, which is left out; *at goes to the next line.
 * False: there are no more. */
typedef struct lbi_line {
    const char *begin, *end;
} lbi_line;
bool lbi_next_line(const char **at, lbi_line *ret_line);
/* The next word of a line, which loses it; words are parted by spaces and tabs. */
bool lbi_next_word(lbi_line *line, lbi_line *ret_word);
bool lbi_word_is(lbi_line word, const char *string);

/* A file of one number: decimal digits, spaces and the end of a line around them allowed. */
bool lbi_read_number(const char *root, uint64_t *ret_number, const char *path, ...)
    LBI_PRINTF(3, 4);
/* The number in the line "key number" of a text. */
bool lbi_keyed_number(const char *text, const char *key, uint64_t *ret_number);

/* What somebody else wrote, for a sentence: at most 64 characters, each printable ASCII. */
void lbi_text_foreign(lbi_text *text, const char *string, size_t length);

#endif
