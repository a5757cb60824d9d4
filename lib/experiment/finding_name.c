/* SPDX-License-Identifier: BSD-3-Clause */
/* The kinds' names, which every build has: they stand in traces. */
#include "lbsched/lbsched.h"

const char *lb_finding_name(lb_finding_kind kind) {
    switch (kind) {
    case LB_FINDING_NONE:
        return "none";
    case LB_FINDING_QUOTA:
        return "quota";
    case LB_FINDING_THROTTLED:
        return "throttled";
    case LB_FINDING_LOAD:
        return "load";
    case LB_FINDING_AUTOGROUP:
        return "autogroup";
    case LB_FINDING_STEAL:
        return "steal";
    case LB_FINDING_FREQUENCY:
        return "frequency";
    case LB_FINDING_SMT:
        return "smt";
    case LB_FINDING_CORE_KINDS:
        return "core_kinds";
    case LB_FINDING_SPEEDS:
        return "speeds";
    case LB_FINDING_DRIFT:
        return "drift";
    case LB_FINDING_ISOLATED:
        return "isolated";
    case LB_FINDING_UNBALANCED:
        return "unbalanced";
    case LB_FINDING_PARTIAL_DOMAIN:
        return "partial_domain";
    case LB_FINDING_OFFLINE:
        return "offline";
    case LB_FINDING_SPARSE:
        return "sparse";
    case LB_FINDING_MANY_CPUS:
        return "many_cpus";
    case LB_FINDING_REAL_TIME:
        return "real_time";
    case LB_FINDING_HOTPLUG:
        return "hotplug";
    case LB_FINDING_UNMEASURED:
        return "unmeasured";
    }
    return "unknown";
}
