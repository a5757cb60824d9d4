/* SPDX-License-Identifier: BSD-3-Clause */
/* Which CPUs the scheduler balances together, against those that workers may use. */
#include <string.h>

#include "experiment/cgroup.h"
#include "experiment/cpus.h"
#include "experiment/files.h"
#include "experiment/findings.h"

typedef struct domain {
    hwloc_bitmap_t cpus;     /* those balanced together with the cores */
    hwloc_bitmap_t isolated; /* those kept out of all balancing at boot */
    hwloc_bitmap_t other;    /* for what is made of them */
    const lbi_cgroup *off;   /* a control group in which balancing is off */
} domain;

/* Version 1: the highest cpuset with the flag makes a domain of all its CPUs. */
static bool narrow_first(const char *root, const lbi_cgroups *groups, domain *d) {
    bool found;
    for (size_t i = groups->count; i > 0; i--) {
        const lbi_cgroup *group = &groups->list[i - 1];
        uint64_t flag;
        if (group->second ||
            !lbi_read_number(root, &flag, "%s/cpuset.sched_load_balance", group->folder))
            continue;
        if (flag == 0) {
            d->off = group;
            continue;
        }
        if (!lbi_read_cpus(root, d->other, &found, "%s/cpuset.effective_cpus", group->folder) ||
            (!found && !lbi_read_cpus(root, d->other, &found, "%s/cpuset.cpus", group->folder)))
            return false;
        if (found && !hwloc_bitmap_iszero(d->other))
            hwloc_bitmap_and(d->cpus, d->cpus, d->other);
        d->off = NULL;
        break;
    }
    return true;
}

/* Version 2: the nearest partition is a domain. */
static bool narrow_second(const char *root, const lbi_cgroups *groups, domain *d) {
    for (size_t i = 0; i < groups->count; i++) {
        const lbi_cgroup *group = &groups->list[i];
        char text[64];
        bool found;
        if (!group->second ||
            !lbi_read_into(root, text, sizeof text, "%s/cpuset.cpus.partition", group->folder))
            continue;
        text[strcspn(text, "\r\n")] = '\0';
        if (strcmp(text, "root") != 0 && strcmp(text, "isolated") != 0)
            continue;
        if (!lbi_read_cpus(root, d->other, &found, "%s/cpuset.cpus.effective", group->folder))
            return false;
        if (found && !hwloc_bitmap_iszero(d->other))
            hwloc_bitmap_and(d->cpus, d->cpus, d->other);
        if (text[0] == 'i')
            d->off = group;
        break;
    }
    return true;
}

static bool tell_isolated(const lbi_sight *sight, domain *d, lbi_findings *findings) {
    hwloc_bitmap_and(d->other, d->isolated, sight->set);
    if (hwloc_bitmap_iszero(d->other))
        return true;
    lbi_text text = {0};
    lbi_text_string(&text, "the system isolates CPUs ");
    lbi_text_cpus(&text, d->other);
    lbi_text_string(&text, " among the cores: it moves nobody to or from them by itself, so the "
                           "cores together show no policy; leave those out by affinity");
    return lbi_findings_add(findings, LB_FINDING_ISOLATED, &text);
}

static bool tell_off(const domain *d, lbi_findings *findings) {
    lbi_text text = {0};
    lbi_text_string(&text, "load balancing is off in the control group ");
    lbi_text_foreign(&text, d->off->folder, strlen(d->off->folder));
    lbi_text_string(&text, ": that nobody is moved there is this setting, not what the system does "
                           "by default");
    return lbi_findings_add(findings, LB_FINDING_UNBALANCED, &text);
}

static bool tell_partial(const lbi_sight *sight, domain *d, lbi_findings *findings) {
    hwloc_bitmap_andnot(d->other, d->cpus, sight->set);
    if (hwloc_bitmap_iszero(d->other) || !hwloc_bitmap_intersects(d->cpus, sight->set))
        return true;
    lbi_text text = {0};
    lbi_text_printf(&text,
                    "the %u cores are a part of those that the scheduler balances together: it "
                    "counts CPUs ",
                    (unsigned)sight->host->cores);
    lbi_text_cpus(&text, d->other);
    lbi_text_string(&text, " too, where workers may not go, so what it does for its balance is "
                           "not all for theirs");
    return lbi_findings_add(findings, LB_FINDING_PARTIAL_DOMAIN, &text);
}

static bool look(const lbi_sight *sight, domain *d, lbi_cgroups *groups, lbi_findings *findings) {
    static const char online[] = "/sys/devices/system/cpu/online";
    static const char isolated[] = "/sys/devices/system/cpu/isolated";
    const char *root = sight->root;
    bool found = false;
    if (root != NULL && !lbi_read_cpus(root, d->cpus, &found, "%s", online))
        return false;
    if (!found) {
        hwloc_bitmap_copy(d->cpus, hwloc_topology_get_complete_cpuset(sight->topology));
        lbi_offline_each(sight, d->other);
        hwloc_bitmap_andnot(d->cpus, d->cpus, d->other);
    }
    found = false;
    if (root != NULL && !lbi_read_cpus(root, d->isolated, &found, "%s", isolated))
        return false;
    if (!found)
        hwloc_bitmap_zero(d->isolated);
    hwloc_bitmap_andnot(d->cpus, d->cpus, d->isolated);
    if (root != NULL && !(lbi_cgroups_open(root, "cpuset", groups) &&
                          narrow_first(root, groups, d) && narrow_second(root, groups, d)))
        return false;
    if (!tell_isolated(sight, d, findings))
        return false;
    return d->off != NULL ? tell_off(d, findings) : tell_partial(sight, d, findings);
}

bool lbi_find_domain(const lbi_sight *sight, lbi_findings *findings) {
    domain d = {hwloc_bitmap_alloc(), hwloc_bitmap_alloc(), hwloc_bitmap_alloc(), NULL};
    lbi_cgroups groups = {0};
    bool ok = d.cpus != NULL && d.isolated != NULL && d.other != NULL &&
              look(sight, &d, &groups, findings);
    lbi_cgroups_free(&groups);
    hwloc_bitmap_free(d.cpus);
    hwloc_bitmap_free(d.isolated);
    hwloc_bitmap_free(d.other);
    return ok;
}
