/* SPDX-License-Identifier: BSD-3-Clause */
/* CPU time that a control group may use in each period. */
#include <math.h>
#include <string.h>

#include "experiment/cgroup.h"
#include "experiment/files.h"
#include "experiment/findings.h"

/* "150000 100000", in microseconds; "max 100000": no quota. */
static double quota_second(const char *root, const lbi_cgroup *group) {
    char text[128];
    uint64_t quota, period;
    if (!lbi_read_into(root, text, sizeof text, "%s/cpu.max", group->folder))
        return INFINITY;
    lbi_line line = {text, text + strlen(text)}, word;
    if (!lbi_next_word(&line, &word) ||
        !lbi_parse_unsigned(word.begin, word.end, UINT64_MAX, &quota) ||
        !lbi_next_word(&line, &word) ||
        !lbi_parse_unsigned(word.begin, word.end, UINT64_MAX, &period))
        return INFINITY;
    return quota > 0 && period > 0 ? (double)quota / (double)period : (double)INFINITY;
}

/* -1: no quota. */
static double quota_first(const char *root, const lbi_cgroup *group) {
    uint64_t quota, period;
    if (!lbi_read_number(root, &quota, "%s/cpu.cfs_quota_us", group->folder) ||
        !lbi_read_number(root, &period, "%s/cpu.cfs_period_us", group->folder))
        return INFINITY;
    return quota > 0 && period > 0 ? (double)quota / (double)period : (double)INFINITY;
}

double lbi_cgroups_quota(const char *root, const lbi_cgroups *groups,
                         const lbi_cgroup **ret_group) {
    double least = INFINITY;
    for (size_t i = 0; i < groups->count; i++) {
        const lbi_cgroup *group = &groups->list[i];
        double quota = group->second ? quota_second(root, group) : quota_first(root, group);
        if (quota < least) {
            least = quota;
            *ret_group = group;
        }
    }
    return least;
}

lbi_throttling lbi_cgroups_throttling(const char *root, const lbi_cgroups *groups) {
    lbi_throttling sum = {0};
    for (size_t i = 0; i < groups->count; i++) {
        const lbi_cgroup *group = &groups->list[i];
        char text[1024];
        uint64_t count, time;
        if (!lbi_read_into(root, text, sizeof text, "%s/cpu.stat", group->folder) ||
            !lbi_keyed_number(text, "nr_throttled", &count) ||
            !lbi_keyed_number(text, group->second ? "throttled_usec" : "throttled_time", &time))
            continue;
        sum.count += count;
        sum.time_ns += group->second ? 1000 * time : time;
    }
    return sum;
}

bool lbi_find_quota(const lbi_sight *sight, double *ret_quota, lbi_findings *findings) {
    lbi_cgroups groups;
    const lbi_cgroup *group = NULL;
    *ret_quota = INFINITY;
    if (sight->root == NULL)
        return true;
    if (!lbi_cgroups_open(sight->root, "cpu", &groups)) {
        lbi_cgroups_free(&groups);
        return false;
    }
    bool ok = true;
    double quota = lbi_cgroups_quota(sight->root, &groups, &group);
    *ret_quota = quota;
    if (quota < sight->host->cores) {
        lbi_text text = {0};
        lbi_text_string(&text, "the control group ");
        lbi_text_foreign(&text, group->folder, strlen(group->folder));
        lbi_text_printf(&text,
                        " allows %.4g CPUs' worth of time to %u cores: with more to do all workers "
                        "are stopped until the next period, so rates show the quota as well as "
                        "the scheduler",
                        quota, (unsigned)sight->host->cores);
        ok = lbi_findings_add(findings, LB_FINDING_QUOTA, &text);
    }
    lbi_cgroups_free(&groups);
    return ok;
}
