/* SPDX-License-Identifier: BSD-3-Clause */
#include "experiment/stat.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiment/files.h"
#include "experiment/findings.h"

#define STEAL_PART 0.01 /* of the time since the system began, from which on it is told */

uint64_t lbi_busy_ticks(const lbi_cpu_times *t) {
    return t->user + t->nice + t->system + t->irq + t->softirq + t->steal;
}

uint64_t lbi_all_ticks(const lbi_cpu_times *t) {
    return lbi_busy_ticks(t) + t->idle + t->iowait;
}

double lbi_tick_seconds(uint64_t before, uint64_t now) {
    return now > before ? (double)(now - before) / (double)sysconf(_SC_CLK_TCK) : 0;
}

/* "cpu12 1450426 125724 ..": false: another line. Words that are no numbers end it. */
static bool parse_cpu(lbi_line line, uint64_t *ret_cpu, lbi_cpu_times *ret_times) {
    uint64_t *columns[] = {&ret_times->user,    &ret_times->nice,   &ret_times->system,
                           &ret_times->idle,    &ret_times->iowait, &ret_times->irq,
                           &ret_times->softirq, &ret_times->steal};
    lbi_line word;
    *ret_times = (lbi_cpu_times){0};
    if (!lbi_next_word(&line, &word) || word.end - word.begin < 4 ||
        memcmp(word.begin, "cpu", 3) != 0 ||
        !lbi_parse_unsigned(word.begin + 3, word.end, UINT32_MAX, ret_cpu))
        return false;
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        if (!lbi_next_word(&line, &word) ||
            !lbi_parse_unsigned(word.begin, word.end, UINT64_MAX, columns[i]))
            break;
    return true;
}

uint32_t lbi_stat_sum(const char *text, const lb_host *host, lbi_cpu_times *sum) {
    uint32_t found = 0;
    lbi_line line;
    uint64_t cpu;
    lbi_cpu_times t;
    *sum = (lbi_cpu_times){0};
    while (lbi_next_line(&text, &line)) {
        if (!parse_cpu(line, &cpu, &t) || lbi_host_core(host, (int64_t)cpu) < 0)
            continue;
        sum->user += t.user;
        sum->nice += t.nice;
        sum->system += t.system;
        sum->idle += t.idle;
        sum->iowait += t.iowait;
        sum->irq += t.irq;
        sum->softirq += t.softirq;
        sum->steal += t.steal;
        found++;
    }
    return found;
}

bool lbi_find_steal(const lbi_sight *sight, lbi_findings *findings) {
    char *stat;
    lbi_cpu_times times;
    if (sight->root == NULL)
        return true;
    if (!lbi_read(sight->root, &stat, "/proc/stat"))
        return false;
    uint32_t found = stat == NULL ? 0 : lbi_stat_sum(stat, sight->host, &times);
    free(stat);
    if (found == 0 || !((double)times.steal > STEAL_PART * (double)lbi_all_ticks(&times)))
        return true;
    lbi_text text = {0};
    lbi_text_printf(&text,
                    "of the cores' time since the system began %.2g %% was stolen by the machine "
                    "that it runs on as a guest: cores that stop unseen look like uneven sharing, "
                    "and works take longer than predicted while that lasts",
                    100 * (double)times.steal / (double)lbi_all_ticks(&times));
    return lbi_findings_add(findings, LB_FINDING_STEAL, &text);
}
