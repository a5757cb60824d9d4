/* SPDX-License-Identifier: BSD-3-Clause */
#include "experiment/cpus.h"

#include <stdlib.h>
#include <string.h>

#include "experiment/files.h"

#define LAST_CPU 1048575 /* a list that names more is not worth its memory */
#define RANGES 8

static bool parse_range(lbi_line range, hwloc_bitmap_t set) {
    size_t length = (size_t)(range.end - range.begin);
    const char *dash = memchr(range.begin, '-', length);
    uint64_t first, last;
    if (!lbi_parse_unsigned(range.begin, dash == NULL ? range.end : dash, LAST_CPU, &first))
        return false;
    if (dash == NULL)
        return hwloc_bitmap_set(set, (unsigned)first) == 0;
    return lbi_parse_unsigned(dash + 1, range.end, LAST_CPU, &last) && last >= first &&
           hwloc_bitmap_set_range(set, (unsigned)first, (int)last) == 0;
}

bool lbi_parse_cpus(const char *text, hwloc_bitmap_t set) {
    lbi_line line = {text, text + strlen(text)}, list, rest;
    hwloc_bitmap_zero(set);
    if (!lbi_next_word(&line, &list))
        return true;
    if (lbi_next_word(&line, &rest))
        return false;
    while (list.begin <= list.end) {
        const char *comma = memchr(list.begin, ',', (size_t)(list.end - list.begin));
        lbi_line range = {list.begin, comma == NULL ? list.end : comma};
        if (!parse_range(range, set))
            return false;
        list.begin = range.end + 1;
    }
    return true;
}

bool lbi_read_cpus(const char *root, hwloc_bitmap_t set, bool *ret_found, const char *path, ...) {
    char *text;
    va_list arguments;
    va_start(arguments, path);
    bool ok = lbi_vread(root, &text, path, arguments);
    va_end(arguments);
    *ret_found = text != NULL && lbi_parse_cpus(text, set);
    free(text);
    return ok;
}

void lbi_text_cpus(lbi_text *text, hwloc_const_bitmap_t set) {
    int first = hwloc_bitmap_first(set);
    if (first < 0)
        lbi_text_string(text, "none");
    for (int ranges = 0; first >= 0; ranges++) {
        int last = hwloc_bitmap_next_unset(set, first);
        if (ranges == RANGES) {
            lbi_text_string(text, ",..");
            return;
        }
        lbi_text_printf(text, "%s%d", ranges == 0 ? "" : ",", first);
        if (last < 0) {
            lbi_text_string(text, "-..");
            return;
        }
        if (last - 1 > first)
            lbi_text_printf(text, "-%d", last - 1);
        first = hwloc_bitmap_next(set, last - 1);
    }
}
