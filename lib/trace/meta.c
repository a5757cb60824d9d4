/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/meta.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "trace/csv.h"

static const char *common_fault(const char *text, size_t length) {
    if (lbi_has_control(text, length))
        return "expected no control characters";
    if (length > 0 && (text[0] == ' ' || text[length - 1] == ' '))
        return "expected no space at either end";
    return NULL;
}

const char *lbi_meta_key_fault(const char *key, size_t length) {
    if (length == 0)
        return "expected a key that is not empty";
    if (memchr(key, ':', length) != NULL)
        return "expected no ':'";
    return common_fault(key, length);
}

const char *lbi_meta_value_fault(const char *value, size_t length) {
    return common_fault(value, length);
}

/* The block of an entry: key, 0, value, 0. */
static char *entry_block(const char *key, size_t key_length, const char *value,
                         size_t value_length) {
    char *block = malloc(key_length + value_length + 2);
    if (block == NULL)
        return NULL;
    memcpy(block, key, key_length);
    block[key_length] = '\0';
    if (value_length > 0)
        memcpy(block + key_length + 1, value, value_length);
    block[key_length + 1 + value_length] = '\0';
    return block;
}

bool lbi_meta_append(lbi_meta *meta, const char *key, size_t key_length, const char *value,
                     size_t value_length) {
    if (!lbi_array_reserve(&meta->entries, &meta->capacity, meta->count + 1, sizeof *meta->entries))
        return false;
    char *block = entry_block(key, key_length, value, value_length);
    if (block == NULL)
        return false;
    meta->entries[meta->count++] = (lbi_meta_entry){block, block + key_length + 1};
    return true;
}

/* The number of the key's entry, or the count of entries. */
static size_t find(const lbi_meta *meta, const char *key) {
    size_t i = 0;
    while (i < meta->count && strcmp(meta->entries[i].key, key) != 0)
        i++;
    return i;
}

const char *lbi_meta_get(const lbi_meta *meta, const char *key) {
    size_t i = find(meta, key);
    return i < meta->count ? meta->entries[i].value : NULL;
}

static void remove_entry(lbi_meta *meta, size_t i) {
    if (i == meta->count)
        return;
    free(meta->entries[i].key);
    meta->count--;
    memmove(meta->entries + i, meta->entries + i + 1, (meta->count - i) * sizeof *meta->entries);
}

lb_status lbi_meta_set(lbi_meta *meta, const char *key, const char *value, lb_error *err) {
    char shown[LBI_EXCERPT_SIZE];
    size_t key_length = strlen(key);
    const char *fault = lbi_meta_key_fault(key, key_length);
    if (fault != NULL)
        return lbi_error(err, LB_ERR_INVALID, "metadata key \"%s\": %s",
                         lbi_excerpt(key, key_length, shown), fault);
    size_t i = find(meta, key);
    if (value == NULL) {
        remove_entry(meta, i);
        return LB_OK;
    }
    size_t value_length = strlen(value);
    fault = lbi_meta_value_fault(value, value_length);
    if (fault != NULL) {
        char key_shown[LBI_EXCERPT_SIZE];
        return lbi_error(err, LB_ERR_INVALID, "metadata \"%s\" is \"%s\": %s",
                         lbi_excerpt(key, key_length, key_shown),
                         lbi_excerpt(value, value_length, shown), fault);
    }
    if (i == meta->count) {
        if (!lbi_meta_append(meta, key, key_length, value, value_length))
            return lbi_error_nomem(err, "metadata");
        return LB_OK;
    }
    char *block = entry_block(key, key_length, value, value_length);
    if (block == NULL)
        return lbi_error_nomem(err, "metadata");
    free(meta->entries[i].key);
    meta->entries[i] = (lbi_meta_entry){block, block + key_length + 1};
    return LB_OK;
}

/* By key, then by age; the entries lie in one array, so their addresses tell the age. */
static int compare_entries(const void *a, const void *b) {
    const lbi_meta_entry *x = *(lbi_meta_entry *const *)a, *y = *(lbi_meta_entry *const *)b;
    int order = strcmp(x->key, y->key);
    return order != 0 ? order : (x > y) - (x < y);
}

bool lbi_meta_unique(lbi_meta *meta) {
    lbi_meta_entry **sorted = lbi_array_new(meta->count, sizeof *sorted);
    if (sorted == NULL)
        return false;
    for (size_t i = 0; i < meta->count; i++)
        sorted[i] = &meta->entries[i];
    qsort(sorted, meta->count, sizeof *sorted, compare_entries);
    for (size_t i = 1; i < meta->count; i++) {
        if (strcmp(sorted[i]->key, sorted[i - 1]->key) != 0)
            continue;
        /* The key stays where it first came, its value is the last. */
        free(sorted[i - 1]->key);
        *sorted[i - 1] = *sorted[i];
        sorted[i]->key = NULL;
        sorted[i] = sorted[i - 1];
    }
    free(sorted);
    size_t kept = 0;
    for (size_t i = 0; i < meta->count; i++)
        if (meta->entries[i].key != NULL)
            meta->entries[kept++] = meta->entries[i];
    meta->count = kept;
    return true;
}

void lbi_meta_write(const lbi_meta *meta, lbi_text *text) {
    for (size_t i = 0; i < meta->count; i++) {
        lbi_text_string(text, "# ");
        lbi_text_string(text, meta->entries[i].key);
        lbi_text_string(text, meta->entries[i].value[0] == '\0' ? ":" : ": ");
        lbi_text_string(text, meta->entries[i].value);
        lbi_text_string(text, "\n");
    }
}

void lbi_meta_write_json(const lbi_meta *meta, lbi_text *text, bool follows) {
    for (size_t i = 0; i < meta->count; i++) {
        lbi_text_string(text, follows || i > 0 ? "," : "");
        lbi_text_json_string(text, meta->entries[i].key);
        lbi_text_string(text, ":");
        lbi_text_json_string(text, meta->entries[i].value);
    }
}

void lbi_meta_free(lbi_meta *meta) {
    for (size_t i = 0; i < meta->count; i++)
        free(meta->entries[i].key);
    free(meta->entries);
    *meta = (lbi_meta){0};
}

static bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

static void trim(const char *begin, const char *end, const char **ret_text, size_t *ret_length) {
    while (begin < end && is_blank(*begin))
        begin++;
    while (end > begin && is_blank(end[-1]))
        end--;
    *ret_text = begin;
    *ret_length = (size_t)(end - begin);
}

bool lbi_meta_split(const char *line, const char *end, const char **ret_key, size_t *ret_key_length,
                    const char **ret_value, size_t *ret_value_length) {
    line++;
    const char *colon = memchr(line, ':', (size_t)(end - line));
    if (colon == NULL)
        return false;
    trim(line, colon, ret_key, ret_key_length);
    trim(colon + 1, end, ret_value, ret_value_length);
    return true;
}
