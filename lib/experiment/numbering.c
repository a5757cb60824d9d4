/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers of CPUs that a program may stumble over. */
#include "experiment/cpus.h"
#include "experiment/findings.h"

#define FIXED_SET 1024 /* CPUs in a cpu_set_t */

bool lbi_find_numbering(const lbi_sight *sight, lbi_findings *findings) {
    const lb_host *host = sight->host;
    uint32_t last = host->cpus[host->cores - 1];
    lbi_text text = {0};
    if (last != host->cores - 1) {
        lbi_text_string(&text, "the cores' numbers have gaps (CPUs ");
        lbi_text_cpus(&text, sight->set);
        lbi_text_printf(&text,
                        "): core i of a result is not CPU i; the trace's \"cpus\" tells which it "
                        "is");
        if (!lbi_findings_add(findings, LB_FINDING_SPARSE, &text))
            return false;
    }
    if (last < FIXED_SET)
        return true;
    lbi_text_printf(&text,
                    "the cores' numbers go up to %u: programs with a cpu_set_t of fixed size "
                    "cannot name those from %d on; nothing here depends on it",
                    (unsigned)last, FIXED_SET);
    return lbi_findings_add(findings, LB_FINDING_MANY_CPUS, &text);
}
