/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/cores.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "trace/csv.h"

/* Reads one item, [text, end) without spaces. */
static bool parse_range(const char *text, const char *end, uint32_t max, lbi_range *ret) {
    const char *dash = memchr(text, '-', (size_t)(end - text));
    uint64_t first, last;
    if (!lbi_parse_unsigned(text, dash == NULL ? end : dash, max, &first))
        return false;
    last = first;
    if (dash != NULL && !lbi_parse_unsigned(dash + 1, end, max, &last))
        return false;
    *ret = (lbi_range){(uint32_t)first, (uint32_t)last};
    return first <= last;
}

static int compare_ranges(const void *a, const void *b) {
    const lbi_range *x = a, *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

/* Whether none overlap; `sorted` is a copy to work on. */
static bool are_disjoint(lbi_range *sorted, size_t n) {
    qsort(sorted, n, sizeof *sorted, compare_ranges);
    for (size_t i = 1; i < n; i++)
        if (sorted[i].first <= sorted[i - 1].last)
            return false;
    return true;
}

lb_status lbi_ranges_parse(const char *text, const char *name, uint32_t max, lbi_range **ret_ranges,
                           size_t *ret_n, lb_error *err) {
    char shown[LBI_EXCERPT_SIZE];
    size_t n = 1, found = 0;
    for (const char *at = text; *at != '\0'; at++)
        n += *at == ',';
    /* The second half is room to sort in. */
    lbi_range *ranges = n > SIZE_MAX / 2 ? NULL : lbi_array_new(2 * n, sizeof *ranges);
    if (ranges == NULL)
        return lbi_error_nomem(err, name);
    for (const char *at = text; found < n; found++) {
        const char *next = at + strcspn(at, ","), *end = next;
        while (*at == ' ')
            at++;
        while (end > at && end[-1] == ' ')
            end--;
        if (!parse_range(at, end, max, &ranges[found])) {
            lbi_error(err, LB_ERR_INVALID,
                      "%s has \"%s\": expected numbers from 0 to %lu, or ranges such as 0-1", name,
                      lbi_excerpt(at, (size_t)(end - at), shown), (unsigned long)max);
            free(ranges);
            return LB_ERR_INVALID;
        }
        at = next + 1;
    }
    memcpy(ranges + n, ranges, n * sizeof *ranges);
    if (!are_disjoint(ranges + n, n)) {
        free(ranges);
        return lbi_error(err, LB_ERR_INVALID, "%s is \"%s\": expected no number twice", name,
                         lbi_excerpt(text, strlen(text), shown));
    }
    *ret_ranges = ranges;
    *ret_n = n;
    return LB_OK;
}

lb_status lbi_cores_check(const char *key, const char *value, uint32_t cores, lb_error *err) {
    bool cpus = strcmp(key, "cpus") == 0;
    if (!cpus && strcmp(key, "groups") != 0)
        return LB_OK;
    lbi_range *ranges;
    size_t n;
    lb_status status =
        lbi_ranges_parse(value, key, cpus ? UINT32_MAX : cores - 1, &ranges, &n, err);
    if (status != LB_OK)
        return status;
    uint64_t numbers = 0;
    for (size_t i = 0; i < n; i++)
        numbers += (uint64_t)ranges[i].last - ranges[i].first + 1;
    free(ranges);
    if (cpus && numbers != cores)
        return lbi_error(err, LB_ERR_INVALID, "cpus has %llu numbers: expected %lu, one a core",
                         (unsigned long long)numbers, (unsigned long)cores);
    return LB_OK;
}
