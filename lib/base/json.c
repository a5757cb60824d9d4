/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"

typedef struct reader {
    const char *at, *end;
    size_t line;
    lbi_json *json;
    size_t used; /* of json->text */
    lb_error *err;
    lb_status status;
} reader;

static bool fail(reader *r, const char *expected) {
    r->status = lbi_error(r->err, LB_ERR_FORMAT, "line %zu: %s expected", r->line, expected);
    return false;
}

static void skip_space(reader *r) {
    for (; r->at < r->end; r->at++) {
        if (*r->at == '\n')
            r->line++;
        else if (*r->at != ' ' && *r->at != '\t' && *r->at != '\r')
            return;
    }
}

static bool at(const reader *r, char c) {
    return r->at < r->end && *r->at == c;
}

static bool take(reader *r, char c) {
    bool is = at(r, c);
    r->at += is;
    return is;
}

static bool take_word(reader *r, const char *word) {
    size_t length = strlen(word);
    if ((size_t)(r->end - r->at) < length || memcmp(r->at, word, length) != 0)
        return false;
    r->at += length;
    return true;
}

/* ---- strings: unescaped they are never longer than they were ---- */

static void put_byte(reader *r, unsigned byte) {
    r->json->text[r->used++] = (char)byte;
}

static void put_code_point(reader *r, uint32_t c) {
    if (c < 0x80) {
        put_byte(r, c);
    } else if (c < 0x800) {
        put_byte(r, 0xc0 | c >> 6);
        put_byte(r, 0x80 | (c & 0x3f));
    } else if (c < 0x10000) {
        put_byte(r, 0xe0 | c >> 12);
        put_byte(r, 0x80 | (c >> 6 & 0x3f));
        put_byte(r, 0x80 | (c & 0x3f));
    } else {
        put_byte(r, 0xf0 | c >> 18);
        put_byte(r, 0x80 | (c >> 12 & 0x3f));
        put_byte(r, 0x80 | (c >> 6 & 0x3f));
        put_byte(r, 0x80 | (c & 0x3f));
    }
}

static bool hex4(reader *r, uint32_t *ret) {
    *ret = 0;
    if (r->end - r->at < 4)
        return false;
    for (int i = 0; i < 4; i++) {
        char c = *r->at++;
        unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                         : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a' + 10)
                         : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A' + 10)
                                                : 16;
        if (digit == 16)
            return false;
        *ret = *ret * 16 + digit;
    }
    return true;
}

static bool escaped_code_point(reader *r) {
    uint32_t c, low;
    if (!hex4(r, &c))
        return fail(r, "four hexadecimal digits after \\u");
    if (c >= 0xd800 && c < 0xdc00) {
        if (!take_word(r, "\\u") || !hex4(r, &low) || low < 0xdc00 || low > 0xdfff)
            return fail(r, "the second half of a surrogate pair");
        c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
    } else if (c >= 0xdc00 && c < 0xe000) {
        return fail(r, "the first half of a surrogate pair");
    }
    if (c == 0)
        return fail(r, "a string without NUL");
    put_code_point(r, c);
    return true;
}

static bool escape(reader *r) {
    static const char names[] = "\"\\/bfnrt", bytes[] = "\"\\/\b\f\n\r\t";
    char c = r->at < r->end ? *r->at++ : '\0';
    if (c == 'u')
        return escaped_code_point(r);
    const char *name = c == '\0' ? NULL : strchr(names, c);
    if (name == NULL)
        return fail(r, "an escape of JSON");
    put_byte(r, (unsigned char)bytes[name - names]);
    return true;
}

static bool read_string(reader *r, size_t *ret_begin) {
    *ret_begin = r->used;
    if (!take(r, '"'))
        return fail(r, "a string");
    while (r->at < r->end && *r->at != '"') {
        if ((unsigned char)*r->at < 0x20)
            return fail(r, "a string without control characters");
        if (take(r, '\\')) {
            if (!escape(r))
                return false;
            continue;
        }
        size_t length = lbi_utf8_length(r->at, (size_t)(r->end - r->at));
        if (length == 0)
            return fail(r, "UTF-8");
        for (size_t i = 0; i < length; i++)
            put_byte(r, (unsigned char)*r->at++);
    }
    if (!take(r, '"'))
        return fail(r, "the end of a string");
    put_byte(r, 0);
    return true;
}

/* ---- numbers ---- */

static bool digits(reader *r) {
    const char *begin = r->at;
    while (r->at < r->end && *r->at >= '0' && *r->at <= '9')
        r->at++;
    return r->at > begin;
}

static bool read_number(reader *r, double *ret_number) {
    const char *begin = r->at;
    take(r, '-');
    bool ok = take(r, '0') || digits(r);
    if (ok && take(r, '.'))
        ok = digits(r);
    if (ok && (take(r, 'e') || take(r, 'E'))) {
        if (!take(r, '+'))
            take(r, '-');
        ok = digits(r);
    }
    if (!ok)
        return fail(r, "a value");
    if (!lbi_parse_number(begin, r->at, ret_number) || !isfinite(*ret_number))
        return fail(r, "a number that a double holds");
    return true;
}

/* ---- values ---- */

static bool add_node(reader *r, size_t *ret_index) {
    lbi_json *json = r->json;
    if (json->count >= UINT32_MAX ||
        !lbi_array_reserve(&json->nodes, &json->capacity, json->count + 1, sizeof *json->nodes)) {
        r->status = lbi_error_nomem(r->err, "JSON");
        return false;
    }
    *ret_index = json->count;
    json->nodes[json->count++] = (lbi_json_node){.kind = LBI_JSON_NULL, .line = r->line};
    return true;
}

static bool read_value(reader *r, unsigned depth, size_t *ret_index);

/* The members of an object or the elements of an array, up to `close`. */
static bool read_children(reader *r, size_t parent, char close, unsigned depth) {
    size_t last = 0;
    bool members = close == '}';
    skip_space(r);
    if (take(r, close))
        return true;
    do {
        size_t key = 0, child;
        skip_space(r);
        if (members) {
            if (!read_string(r, &key))
                return false;
            skip_space(r);
            if (!take(r, ':'))
                return fail(r, "a colon");
        }
        if (!read_value(r, depth + 1, &child))
            return false;
        lbi_json_node *nodes = r->json->nodes;
        nodes[child].key = key;
        *(last == 0 ? &nodes[parent].first : &nodes[last].next) = (uint32_t)child;
        nodes[parent].count++;
        last = child;
        skip_space(r);
    } while (take(r, ','));
    return take(r, close) || fail(r, members ? "a comma or }" : "a comma or ]");
}

static bool read_value(reader *r, unsigned depth, size_t *ret_index) {
    skip_space(r);
    if (depth > LBI_JSON_DEPTH_MAX)
        return fail(r, "at most 64 levels");
    if (!add_node(r, ret_index))
        return false;
    lbi_json_node *node = &r->json->nodes[*ret_index];
    if (at(r, '{') || at(r, '[')) {
        char open = *r->at++;
        node->kind = open == '{' ? LBI_JSON_OBJECT : LBI_JSON_ARRAY;
        return read_children(r, *ret_index, open == '{' ? '}' : ']', depth);
    }
    if (at(r, '"')) {
        node->kind = LBI_JSON_STRING;
        return read_string(r, &node->string);
    }
    if (take_word(r, "null"))
        return true;
    if (take_word(r, "true") || take_word(r, "false")) {
        node->kind = r->at[-2] == 'u' ? LBI_JSON_TRUE : LBI_JSON_FALSE;
        return true;
    }
    node->kind = LBI_JSON_NUMBER;
    return read_number(r, &node->number);
}

lb_status lbi_json_parse(const char *text, size_t length, lbi_json *ret_json, lb_error *err) {
    *ret_json = (lbi_json){.text = lbi_array_new(length + 1, 1)};
    if (ret_json->text == NULL)
        return lbi_error_nomem(err, "JSON");
    static const char nothing[1] = "";
    const char *begin = length == 0 ? nothing : text;
    reader r = {.at = begin, .end = begin + length, .line = 1, .json = ret_json, .err = err};
    size_t root;
    if (read_value(&r, 1, &root)) {
        skip_space(&r);
        if (r.at < r.end)
            fail(&r, "nothing after the value");
    }
    return r.status;
}

void lbi_json_free(lbi_json *json) {
    free(json->nodes);
    free(json->text);
    *json = (lbi_json){0};
}

const lbi_json_node *lbi_json_first(const lbi_json *json, const lbi_json_node *array) {
    return array->first == 0 ? NULL : &json->nodes[array->first];
}

const lbi_json_node *lbi_json_next(const lbi_json *json, const lbi_json_node *node) {
    return node->next == 0 ? NULL : &json->nodes[node->next];
}

const lbi_json_node *lbi_json_member(const lbi_json *json, const lbi_json_node *object,
                                     const char *key) {
    if (object->kind != LBI_JSON_OBJECT)
        return NULL;
    for (const lbi_json_node *n = lbi_json_first(json, object); n != NULL;
         n = lbi_json_next(json, n))
        if (strcmp(json->text + n->key, key) == 0)
            return n;
    return NULL;
}

const char *lbi_json_kind_name(lbi_json_kind kind) {
    static const char *const names[] = {"null",     "false",    "true",     "a number",
                                        "a string", "an array", "an object"};
    return names[kind];
}
