/* SPDX-License-Identifier: BSD-3-Clause */
/* How fast the cores are clocked, and who decides that. */
#include <string.h>

#include "experiment/files.h"
#include "experiment/findings.h"

#define NAME 32
#define NAMES 4 /* further ones are not told apart */

typedef struct governor {
    char name[NAME];
    uint32_t cores;
} governor;

static void count(const char *name, governor *governors, size_t *n) {
    size_t i = 0;
    while (i < *n && strcmp(governors[i].name, name) != 0)
        i++;
    if (i == NAMES)
        i--;
    if (i == *n) {
        *n += 1;
        governors[i] = (governor){.cores = 0};
        lbi_snprintf(governors[i].name, NAME, "%s", name);
    }
    governors[i].cores++;
}

/* True: turbo or boost frequencies may be used. */
static bool boosts(const char *root) {
    uint64_t flag;
    if (lbi_read_number(root, &flag, "/sys/devices/system/cpu/intel_pstate/no_turbo"))
        return flag == 0;
    return lbi_read_number(root, &flag, "/sys/devices/system/cpu/cpufreq/boost") && flag != 0;
}

bool lbi_find_frequency(const lbi_sight *sight, lbi_findings *findings) {
    governor governors[NAMES];
    size_t n = 0;
    if (sight->root == NULL)
        return true;
    for (uint32_t core = 0; core < sight->host->cores; core++) {
        char text[NAME];
        if (!lbi_read_into(sight->root, text, sizeof text,
                           "/sys/devices/system/cpu/cpu%u/cpufreq/scaling_governor",
                           (unsigned)sight->host->cpus[core]))
            continue;
        text[strcspn(text, " \t\r\n")] = '\0';
        if (text[0] != '\0' && strcmp(text, "performance") != 0)
            count(text, governors, &n);
    }
    bool turbo = boosts(sight->root);
    if (n == 0 && !turbo)
        return true;
    lbi_text text = {0};
    for (size_t i = 0; i < n; i++) {
        lbi_text_string(&text, i == 0 ? "the frequency governor is " : ", ");
        lbi_text_foreign(&text, governors[i].name, strlen(governors[i].name));
        lbi_text_printf(&text, " on %u core%s", (unsigned)governors[i].cores,
                        governors[i].cores == 1 ? "" : "s");
    }
    lbi_text_string(&text, n > 0 && turbo ? ", and " : "");
    lbi_text_string(&text, turbo ? "turbo frequencies are allowed" : "");
    lbi_text_string(&text,
                    ": the speed of a core changes with load and heat, so a work takes more "
                    "or less CPU time than calibrated; shares of time do not suffer from it");
    return lbi_findings_add(findings, LB_FINDING_FREQUENCY, &text);
}
