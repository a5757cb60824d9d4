/* SPDX-License-Identifier: BSD-3-Clause */
#include "experiment/autogroup.h"

#include <stdlib.h>

#include "experiment/cgroup.h"
#include "experiment/files.h"

bool lbi_autogroup_is_on(const char *root, bool *ret_on) {
    uint64_t enabled;
    lbi_cgroups groups;
    *ret_on = false;
    if (!lbi_read_number(root, &enabled, "/proc/sys/kernel/sched_autogroup_enabled") ||
        enabled == 0)
        return true;
    bool ok = lbi_cgroups_open(root, "cpu", &groups);
    *ret_on = ok && lbi_cgroups_are_root(root, &groups);
    lbi_cgroups_free(&groups);
    return ok;
}

static int compare(const void *a, const void *b) {
    double x = ((const lbi_session *)a)->demand, y = ((const lbi_session *)b)->demand;
    return x < y ? -1 : x > y ? 1 : 0;
}

double lbi_fair_share(double cores, lbi_session *sessions, size_t n) {
    if (n > 0)
        qsort(sessions, n, sizeof *sessions, compare);
    for (size_t i = 0; i < n; i++) {
        double even = cores / (double)(n + 1 - i);
        cores -= sessions[i].demand < even ? sessions[i].demand : even;
    }
    return cores;
}
