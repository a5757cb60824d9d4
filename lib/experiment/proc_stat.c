/* SPDX-License-Identifier: BSD-3-Clause */
#include "experiment/proc_stat.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "experiment/files.h"

typedef struct row {
    uint64_t ticks[LBI_STAT_COLUMNS];
    uint32_t columns; /* 0: the core is not there */
} row;

/* "cpu12 1450426 125724 ..": what is no number, or behind the last column, ends it. */
static void parse_cpu(lbi_line line, lbi_line name, const lb_host *host, row *rows) {
    uint64_t cpu;
    if (name.end - name.begin < 4 || memcmp(name.begin, "cpu", 3) != 0 ||
        !lbi_parse_unsigned(name.begin + 3, name.end, UINT32_MAX, &cpu))
        return;
    int32_t core = lbi_host_core(host, (int64_t)cpu);
    if (core < 0)
        return;
    row read = {0};
    lbi_line word;
    while (read.columns < LBI_STAT_COLUMNS && lbi_next_word(&line, &word) &&
           lbi_parse_unsigned(word.begin, word.end, UINT64_MAX, &read.ticks[read.columns]))
        read.columns++;
    rows[core] = read;
}

/* False: the text does not tell the interrupts. */
static bool parse(const char *text, const lb_host *host, row *rows, uint64_t *ret_interrupts) {
    bool told = false;
    lbi_line line, word;
    while (lbi_next_line(&text, &line)) {
        if (!lbi_next_word(&line, &word))
            continue;
        if (lbi_word_is(word, "intr"))
            told = lbi_next_word(&line, &word) &&
                   lbi_parse_unsigned(word.begin, word.end, UINT64_MAX, ret_interrupts);
        else
            parse_cpu(line, word, host, rows);
    }
    return told;
}

static void add_up(const row *before, const row *after, uint32_t n, lbi_stat_change *c) {
    double sums[LBI_STAT_COLUMNS] = {0}, all = 0;
    uint32_t columns = LBI_STAT_COLUMNS;
    for (uint32_t i = 0; i < n; i++) {
        /* A core that came or went tells nothing of the time between. */
        if (before[i].columns == 0 || after[i].columns == 0)
            continue;
        c->cores++;
        columns = before[i].columns < columns ? before[i].columns : columns;
        columns = after[i].columns < columns ? after[i].columns : columns;
        for (uint32_t k = 0; k < columns; k++) {
            bool fell = after[i].ticks[k] < before[i].ticks[k];
            c->fallen += fell;
            sums[k] += fell ? 0 : (double)(after[i].ticks[k] - before[i].ticks[k]);
        }
    }
    for (uint32_t k = 0; k < columns; k++)
        all += sums[k];
    for (uint32_t k = 0; k < LBI_STAT_COLUMNS; k++)
        c->percent[k] = c->cores > 0 && k < columns && all > 0 ? 100 * sums[k] / all : NAN;
}

bool lbi_stat_read(char **ret_text) {
    return lbi_read("", ret_text, "/proc/stat");
}

bool lbi_stat_compare(const char *before, const char *after, const lb_host *host,
                      lbi_stat_change *ret_change) {
    size_t n = host->cores;
    row *rows = lbi_array_new(2 * n, sizeof *rows);
    if (rows == NULL)
        return false;
    memset(rows, 0, 2 * n * sizeof *rows);
    uint64_t first = 0, last = 0;
    bool told = parse(before, host, rows, &first);
    told = parse(after, host, rows + n, &last) && told;
    *ret_change = (lbi_stat_change){.interrupts = told && last >= first ? (double)(last - first)
                                                                        : (double)NAN};
    add_up(rows, rows + n, host->cores, ret_change);
    free(rows);
    return true;
}
