/* SPDX-License-Identifier: BSD-3-Clause */
/* Natural merge sort: merges neighbouring runs, pass by pass, between the array and a buffer. */
#include "sort.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

typedef struct sorting {
    size_t n, size;
    int (*compare)(const void *, const void *);
} sorting;

/* Where the run that begins at `from` ends. */
static size_t run_end(const sorting *s, const char *items, size_t from) {
    size_t i = from + 1;
    while (i < s->n && s->compare(items + (i - 1) * s->size, items + i * s->size) <= 0)
        i++;
    return i < s->n ? i : s->n;
}

/* Merges [first, middle) and [middle, last) of `from` into `to`. */
static void merge(const sorting *s, const char *from, char *to, size_t first, size_t middle,
                  size_t last) {
    size_t left = first, right = middle;
    char *out = to + first * s->size;
    while (left < middle && right < last) {
        bool take_left =
            s->compare(from + left * s->size, from + right * s->size) <= 0; /* stable */
        memcpy(out, from + (take_left ? left++ : right++) * s->size, s->size);
        out += s->size;
    }
    memcpy(out, from + left * s->size, (middle - left) * s->size);
    out += (middle - left) * s->size;
    memcpy(out, from + right * s->size, (last - right) * s->size);
}

/* One pass; true when all was one run already. */
static bool merge_runs(const sorting *s, const char *from, char *to) {
    for (size_t first = 0; first < s->n;) {
        size_t middle = run_end(s, from, first);
        if (first == 0 && middle == s->n)
            return true;
        size_t last = middle < s->n ? run_end(s, from, middle) : s->n;
        merge(s, from, to, first, middle, last);
        first = last;
    }
    return false;
}

bool lbi_is_sorted(const void *items, size_t n, size_t size,
                   int (*compare)(const void *, const void *)) {
    sorting s = {n, size, compare};
    return n < 2 || run_end(&s, items, 0) == n;
}

bool lbi_sort(void *items, size_t n, size_t size, int (*compare)(const void *, const void *)) {
    sorting s = {n, size, compare};
    if (lbi_is_sorted(items, n, size, compare))
        return true;
    char *buffer = lbi_array_new(n, size);
    if (buffer == NULL)
        return false;
    char *from = items, *to = buffer;
    while (!merge_runs(&s, from, to)) {
        char *other = from;
        from = to;
        to = other;
    }
    if (from != items)
        memcpy(items, from, n * size);
    free(buffer);
    return true;
}

bool lbi_group(void *items, size_t n, size_t size, size_t (*key)(const void *), size_t keys) {
    const char *from = items;
    char *to = lbi_array_new(n, size);
    size_t *next = calloc(keys + 1, sizeof *next);
    if (to == NULL || next == NULL) {
        free(to);
        free(next);
        return false;
    }
    /* next[k]: where the next item of key k goes; at first, how many have the key before. */
    for (size_t i = 0; i < n; i++)
        next[key(from + i * size) + 1]++;
    for (size_t k = 1; k < keys; k++)
        next[k] += next[k - 1];
    for (size_t i = 0; i < n; i++)
        memcpy(to + next[key(from + i * size)]++ * size, from + i * size, size);
    memcpy(items, to, n * size);
    free(to);
    free(next);
    return true;
}
