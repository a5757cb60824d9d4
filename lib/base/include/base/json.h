/* SPDX-License-Identifier: BSD-3-Clause */
/* JSON as RFC 8259 has it and nothing else, read into a tree. Whatever the input is, memory is
 * proportional to it and depth is bounded. */
#ifndef LBI_BASE_JSON_H
#define LBI_BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define LBI_JSON_DEPTH_MAX 64

typedef enum lbi_json_kind {
    LBI_JSON_NULL,
    LBI_JSON_FALSE,
    LBI_JSON_TRUE,
    LBI_JSON_NUMBER,
    LBI_JSON_STRING,
    LBI_JSON_ARRAY,
    LBI_JSON_OBJECT
} lbi_json_kind;

typedef struct lbi_json_node {
    lbi_json_kind kind;
    uint32_t next;      /* the next element or member; 0: none */
    uint32_t first;     /* of an array or object; 0: none */
    uint32_t count;     /* .. how many it has */
    size_t key, string; /* where they begin in lbi_json.text; a string without NUL, UTF-8 */
    double number;      /* finite */
    size_t line;
} lbi_json_node;

typedef struct lbi_json {
    lbi_json_node *nodes; /* the value is the first */
    size_t count, capacity;
    char *text;
} lbi_json;

/* Freed with lbi_json_free() in any case. `text` has `length` bytes and need not be terminated.
 * LB_ERR_FORMAT: the message names the line and what was expected. */
lb_status lbi_json_parse(const char *text, size_t length, lbi_json *ret_json, lb_error *err);
void lbi_json_free(lbi_json *json);

/* The member of an object; NULL: there is none, or `object` is no object. */
const lbi_json_node *lbi_json_member(const lbi_json *json, const lbi_json_node *object,
                                     const char *key);
/* The first element, and the one after; NULL: none. */
const lbi_json_node *lbi_json_first(const lbi_json *json, const lbi_json_node *array);
const lbi_json_node *lbi_json_next(const lbi_json *json, const lbi_json_node *node);

const char *lbi_json_kind_name(lbi_json_kind kind);

#endif
