/* SPDX-License-Identifier: BSD-3-Clause */
/* Findings: what a machine or a run was like, and what that means for a result. */
#ifndef LBI_EXPERIMENT_FINDINGS_H
#define LBI_EXPERIMENT_FINDINGS_H

#include <hwloc.h>
#include <stdbool.h>

#include "base/text.h"
#include "experiment/host.h"

/* Takes the sentence in `text`, which is left empty. False: no memory. */
bool lbi_findings_add(lbi_findings *findings, lb_finding_kind kind, lbi_text *text);
/* The sentence of the first of a kind; NULL: none. */
const char *lbi_findings_text(const lbi_findings *findings, lb_finding_kind kind);
void lbi_findings_free(lbi_findings *findings);

/* ---- what is found before anything runs ---- */

/* What there is to look at. */
typedef struct lbi_sight {
    const lb_host *host; /* cores and numbers are known */
    hwloc_topology_t topology;
    hwloc_const_bitmap_t set; /* the cores, by the system's numbers */
    /* Where the host's files are: "" this system, else another tree. NULL: there are none. */
    const char *root;
    bool live; /* they are this system's, which is what runs now */
} lbi_sight;

/* Each looks for some kinds and adds what it finds. False: no memory. */
/* The quota goes to *ret_quota; INFINITY: none. */
bool lbi_find_quota(const lbi_sight *sight, double *ret_quota, lbi_findings *findings);
bool lbi_find_load(const lbi_sight *sight, lbi_findings *findings);
bool lbi_find_steal(const lbi_sight *sight, lbi_findings *findings);
bool lbi_find_frequency(const lbi_sight *sight, lbi_findings *findings);
bool lbi_find_siblings(const lbi_sight *sight, lbi_findings *findings);
bool lbi_find_core_kinds(const lbi_sight *sight, lbi_findings *findings);
bool lbi_find_domain(const lbi_sight *sight, lbi_findings *findings);
bool lbi_find_offline(const lbi_sight *sight, lbi_findings *findings);
bool lbi_find_numbering(const lbi_sight *sight, lbi_findings *findings);
bool lbi_find_real_time(const lbi_sight *sight, lbi_findings *findings);

/* The CPUs that tell for themselves that they are offline: where the system has no list. */
void lbi_offline_each(const lbi_sight *sight, hwloc_bitmap_t offline);

#endif
