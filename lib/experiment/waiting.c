/* SPDX-License-Identifier: BSD-3-Clause */
#include "experiment/waiting.h"

#include <dirent.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "experiment/files.h"

#define CORE_WORD 36 /* after the state: "39 processor" of proc(5) */
#define WORD_BITS (sizeof(unsigned long) * CHAR_BIT)

bool lbi_waiting_begin(lbi_waiting *w, const lb_host *host, const lbi_mask *mask) {
    *w = (lbi_waiting){.host = host, .mask = mask};
    w->lengths = lbi_array_new(host->cores, sizeof *w->lengths);
    return w->lengths != NULL;
}

void lbi_waiting_end(lbi_waiting *w) {
    free(w->lengths);
    w->lengths = NULL;
}

/* The core where a process runs or waits; -1: it does neither. */
static int32_t ready_on(const lb_host *host, const char *text) {
    const char *close = strrchr(text, ')');
    if (close == NULL)
        return -1;
    lbi_line line = {close + 1, close + strlen(close)}, word;
    uint64_t cpu;
    if (!lbi_next_word(&line, &word) || !lbi_word_is(word, "R"))
        return -1;
    for (int i = 0; i < CORE_WORD; i++)
        if (!lbi_next_word(&line, &word))
            return -1;
    return lbi_parse_unsigned(word.begin, word.end, INT32_MAX, &cpu)
               ? lbi_host_core(host, (int64_t)cpu)
               : -1;
}

static void count(lbi_waiting *w, pid_t oldest) {
    DIR *folder = opendir("/proc");
    const struct dirent *entry;
    memset(w->lengths, 0, w->host->cores * sizeof *w->lengths);
    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        char text[1024];
        uint64_t id;
        const char *name = entry->d_name;
        /* Older ones have smaller numbers, until these begin anew. */
        if (!lbi_parse_unsigned(name, name + strlen(name), INT32_MAX, &id) ||
            id < (uint64_t)oldest || !lbi_read_into("", text, sizeof text, "/proc/%s/stat", name))
            continue;
        int32_t core = ready_on(w->host, text);
        if (core >= 0)
            w->lengths[core]++;
    }
    if (folder != NULL)
        closedir(folder);
    /* Whoever looks took the place of another, or of idling. */
    int32_t own = lbi_host_core(w->host, lbi_cpu());
    if (own >= 0 && w->lengths[own] == 0)
        w->lengths[own] = 1;
}

void lbi_waiting_look(lbi_waiting *w, pid_t oldest) {
    count(w, oldest);
    uint32_t cores = 0, idle = 0, waiting = 0;
    for (uint32_t core = 0; core < w->host->cores; core++) {
        uint32_t cpu = w->host->cpus[core];
        if ((w->mask->bits[cpu / WORD_BITS] >> cpu % WORD_BITS & 1) == 0)
            continue;
        cores++;
        idle += w->lengths[core] == 0;
        waiting += w->lengths[core] > 1 ? w->lengths[core] - 1 : 0;
    }
    if (cores == 0)
        return;
    w->sum += (double)(idle < waiting ? idle : waiting) / cores;
    w->looks++;
}

double lbi_waiting_percent(const lbi_waiting *w) {
    return w->looks == 0 ? NAN : 100 * w->sum / (double)w->looks;
}
