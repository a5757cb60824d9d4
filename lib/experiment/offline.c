/* SPDX-License-Identifier: BSD-3-Clause */
#include "experiment/cpus.h"
#include "experiment/files.h"
#include "experiment/findings.h"

void lbi_offline_each(const lbi_sight *sight, hwloc_bitmap_t offline) {
    hwloc_const_bitmap_t all = hwloc_topology_get_complete_cpuset(sight->topology);
    hwloc_bitmap_zero(offline);
    if (sight->root == NULL || all == NULL || hwloc_bitmap_last(all) < 0)
        return;
    for (int cpu = hwloc_bitmap_first(all); cpu >= 0; cpu = hwloc_bitmap_next(all, cpu)) {
        uint64_t online;
        if (lbi_read_number(sight->root, &online, "/sys/devices/system/cpu/cpu%d/online", cpu) &&
            online == 0)
            hwloc_bitmap_set(offline, (unsigned)cpu);
    }
}

/* What is there and not used; possible ones that are not there do not count. */
static bool find(const lbi_sight *sight, hwloc_bitmap_t offline, hwloc_bitmap_t online) {
    static const char present_list[] = "/sys/devices/system/cpu/present";
    static const char online_list[] = "/sys/devices/system/cpu/online";
    bool present_found, online_found;
    if (!lbi_read_cpus(sight->root, offline, &present_found, "%s", present_list) ||
        !lbi_read_cpus(sight->root, online, &online_found, "%s", online_list))
        return false;
    if (present_found && online_found)
        hwloc_bitmap_andnot(offline, offline, online);
    else
        lbi_offline_each(sight, offline);
    return true;
}

bool lbi_find_offline(const lbi_sight *sight, lbi_findings *findings) {
    hwloc_bitmap_t offline = hwloc_bitmap_alloc(), online = hwloc_bitmap_alloc();
    bool ok =
        sight->root == NULL || (offline != NULL && online != NULL && find(sight, offline, online));
    if (ok && sight->root != NULL && !hwloc_bitmap_iszero(offline)) {
        lbi_text text = {0};
        lbi_text_string(&text, "CPUs ");
        lbi_text_cpus(&text, offline);
        lbi_text_string(&text, " are there but offline: results are about the machine without "
                               "them, and hold no longer when they come back");
        ok = lbi_findings_add(findings, LB_FINDING_OFFLINE, &text);
    }
    hwloc_bitmap_free(offline);
    hwloc_bitmap_free(online);
    return ok;
}
