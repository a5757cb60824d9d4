/* SPDX-License-Identifier: BSD-3-Clause */
#include "experiment/processes.h"

#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "experiment/files.h"

#define MOST 100000 /* processes; the others are left out */

static bool parse_number(lbi_line *line, uint64_t *ret_number) {
    lbi_line word;
    return lbi_next_word(line, &word) &&
           lbi_parse_unsigned(word.begin, word.end, INT64_MAX, ret_number);
}

/* "12 (name) R parent group session tty tpgid flags ...": the name may hold anything. */
static bool parse_process(const char *text, lbi_process *p) {
    const char *open = strchr(text, '('), *close = strrchr(text, ')');
    if (open == NULL || close == NULL || close < open)
        return false;
    size_t length = (size_t)(close - open - 1);
    length = length < sizeof p->name - 1 ? length : sizeof p->name - 1;
    memcpy(p->name, open + 1, length);
    p->name[length] = '\0';
    lbi_line line = {close + 1, close + strlen(close)}, word;
    uint64_t numbers[19] = {0}; /* from the parent to the start */
    if (!lbi_next_word(&line, &word))
        return false;
    p->runs = lbi_word_is(word, "R");
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        /* The terminal's group (4), priority and nice (14, 15) may be negative. */
        bool ignored = i == 4 || i == 14 || i == 15;
        if (ignored ? !lbi_next_word(&line, &word) : !parse_number(&line, &numbers[i]))
            return false;
    }
    p->parent = (int64_t)numbers[0];
    p->session = (int64_t)numbers[2];
    p->ticks = numbers[10] + numbers[11] + numbers[12] + numbers[13];
    p->start = numbers[18];
    return true;
}

static int compare(const void *a, const void *b) {
    const lbi_process *x = a, *y = b;
    return x->id < y->id ? -1 : x->id > y->id ? 1 : 0;
}

bool lbi_processes_read(const char *root, lbi_processes *ps) {
    *ps = (lbi_processes){0};
    char path[PATH_MAX], text[1024];
    if ((size_t)lbi_snprintf(path, sizeof path, "%s/proc", root) >= sizeof path)
        return true;
    DIR *folder = opendir(path);
    if (folder == NULL)
        return true;
    bool ok = true;
    const struct dirent *entry;
    while (ok && ps->count < MOST && (entry = readdir(folder)) != NULL) {
        const char *name = entry->d_name;
        uint64_t id;
        if (!lbi_parse_unsigned(name, name + strlen(name), INT32_MAX, &id) ||
            !lbi_read_into(root, text, sizeof text, "/proc/%s/stat", name))
            continue;
        lbi_process process = {.id = (int64_t)id};
        if (!parse_process(text, &process))
            continue;
        ok = lbi_array_reserve(&ps->list, &ps->capacity, ps->count + 1, sizeof *ps->list);
        if (ok)
            ps->list[ps->count++] = process;
    }
    closedir(folder);
    if (ps->count > 0)
        qsort(ps->list, ps->count, sizeof *ps->list, compare);
    return ok;
}

void lbi_processes_free(lbi_processes *processes) {
    free(processes->list);
    *processes = (lbi_processes){0};
}

const lbi_process *lbi_processes_find(const lbi_processes *processes, int64_t id) {
    lbi_process wanted = {.id = id};
    return processes->count == 0
               ? NULL
               : bsearch(&wanted, processes->list, processes->count, sizeof wanted, compare);
}
