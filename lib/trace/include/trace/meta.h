/* SPDX-License-Identifier: BSD-3-Clause */
/* Metadata: what tables and traces say about themselves, as keys with values. */
#ifndef LBI_TRACE_META_H
#define LBI_TRACE_META_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

/* Key and value lie in one block, which `key` owns. */
typedef struct lbi_meta_entry {
    char *key;
    const char *value;
} lbi_meta_entry;

/* In the order in which keys first came. Zero-initialise. */
typedef struct lbi_meta {
    lbi_meta_entry *entries;
    size_t count, capacity;
} lbi_meta;

/* What is wrong with a key, or with a value; NULL: nothing. They need not be terminated. */
const char *lbi_meta_key_fault(const char *key, size_t length);
const char *lbi_meta_value_fault(const char *value, size_t length);

/* Sets, replaces, or (value NULL) removes an entry. */
lb_status lbi_meta_set(lbi_meta *meta, const char *key, const char *value, lb_error *err);
/* NULL: not set. */
const char *lbi_meta_get(const lbi_meta *meta, const char *key);

/* For reading files in linear time: appends an entry of good form without looking for its key, and
 * at the end lbi_meta_unique() lets the last value of every key stand. False: no memory. */
bool lbi_meta_append(lbi_meta *meta, const char *key, size_t key_length, const char *value,
                     size_t value_length);
bool lbi_meta_unique(lbi_meta *meta);

/* One "# key: value" line for each entry. */
void lbi_meta_write(const lbi_meta *meta, lbi_text *text);
/* The members of a JSON object, after a comma where `follows`. */
void lbi_meta_write_json(const lbi_meta *meta, lbi_text *text, bool follows);

void lbi_meta_free(lbi_meta *meta);

/* Splits the line [line, end), which begins with '#', at its first ':'; spaces and tabs around key
 * and value are dropped. False: there is no ':', so it is a remark. */
bool lbi_meta_split(const char *line, const char *end, const char **ret_key, size_t *ret_key_length,
                    const char **ret_value, size_t *ret_value_length);

#endif
