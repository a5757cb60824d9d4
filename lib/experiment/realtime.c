/* SPDX-License-Identifier: BSD-3-Clause */
#include "experiment/realtime.h"
#include "experiment/files.h"
#include "experiment/findings.h"

double lbi_real_time_limit(const char *root) {
    uint64_t runtime, period;
    if (!lbi_read_number(root, &period, "/proc/sys/kernel/sched_rt_period_us") ||
        /* -1: no limit */
        !lbi_read_number(root, &runtime, "/proc/sys/kernel/sched_rt_runtime_us") || period == 0 ||
        runtime >= period)
        return 1;
    return (double)runtime / (double)period;
}

bool lbi_find_real_time(const lbi_sight *sight, lbi_findings *findings) {
    double limit = sight->root == NULL ? 1 : lbi_real_time_limit(sight->root);
    if (!(limit < 1))
        return true;
    lbi_text text = {0};
    lbi_text_printf(&text,
                    "real-time processes get %.4g %% of a core at most (sched_rt_runtime_us)",
                    100 * limit);
    if (limit > 0)
        lbi_text_printf(&text,
                        ": workers of a real-time class may take %.3g %% longer than predicted; "
                        "other classes do not notice",
                        100 / limit - 100);
    return lbi_findings_add(findings, LB_FINDING_REAL_TIME, &text);
}
