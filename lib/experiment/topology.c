/* SPDX-License-Identifier: BSD-3-Clause */
/* Cores that share a physical one, or are of different kinds. */
#include "experiment/cpus.h"
#include "experiment/findings.h"

bool lbi_find_siblings(const lbi_sight *sight, lbi_findings *findings) {
    const lb_host *host = sight->host;
    if (host->physical_cores >= host->cores)
        return true;
    lbi_text text = {0};
    lbi_text_printf(&text,
                    "the %u cores are hyperthreads of %u physical ones: how fast one works depends "
                    "on what its sibling does, so works take more CPU time than calibrated alone; "
                    "shares of time do not suffer from it",
                    (unsigned)host->cores, (unsigned)host->physical_cores);
    return lbi_findings_add(findings, LB_FINDING_SMT, &text);
}

bool lbi_find_core_kinds(const lbi_sight *sight, lbi_findings *findings) {
    int kinds = hwloc_cpukinds_get_nr(sight->topology, 0), present = 0;
    hwloc_bitmap_t kind = kinds > 1 ? hwloc_bitmap_alloc() : NULL;
    if (kind == NULL)
        return true;
    lbi_text text = {0};
    lbi_text_string(&text, "the cores are of different kinds (");
    for (int i = 0; i < kinds; i++) {
        int efficiency;
        if (hwloc_cpukinds_get_info(sight->topology, (unsigned)i, kind, &efficiency, NULL, NULL,
                                    0) != 0)
            continue;
        hwloc_bitmap_and(kind, kind, sight->set);
        int cores = hwloc_bitmap_weight(kind);
        if (cores <= 0)
            continue;
        lbi_text_printf(&text, "%s%d: CPUs ", present > 0 ? "; " : "", cores);
        lbi_text_cpus(&text, kind);
        present++;
    }
    hwloc_bitmap_free(kind);
    lbi_text_string(&text, "): the same work takes different CPU time on them, and their scheduler "
                           "may prefer one kind; a model of equal cores predicts less well");
    if (present > 1)
        return lbi_findings_add(findings, LB_FINDING_CORE_KINDS, &text);
    bool ok = !text.failed;
    lbi_text_free(&text);
    return ok;
}
