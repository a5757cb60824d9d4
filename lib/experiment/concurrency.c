/* SPDX-License-Identifier: BSD-3-Clause */
/* LB_EXPERIMENT_PROFILE: every number of running tasks from x times the cores down to 1, for the
 * same time each. Who ends is from a longest list, so that lists stay as even as they can be and
 * nobody need move. */
#include "experiment/experiments.h"
#include "experiment/stage.h"

#define SECOND INT64_C(1000000000)

static lb_status play(lbi_stage *stage, lb_error *err) {
    lb_status status = lbi_stage_begin(stage, err);
    uint32_t n = stage->crew.made;
    int64_t each = 10 * lbi_stage_round(stage), left = (stage->end_ns - lbi_now()) / n;
    each = each > SECOND ? each : SECOND;
    each = each < left ? each : left;
    bool time = true;
    while (status == LB_OK) {
        status = lbi_stage_wait(stage, each, &time, err);
        if (status != LB_OK || !time || lbi_stage_look(stage) <= 1)
            break;
        uint32_t longest = lbi_stage_longest(stage);
        status = lbi_stage_end(stage, lbi_stage_worker(stage, longest, 0), err);
    }
    return status;
}

lb_status lbi_experiment_profile(const lb_host *host, const lb_experiment_options *options,
                                 lb_trace **ret_trace, lb_error *err) {
    uint32_t workers = lbi_stage_workers(host, options, 0);
    return lbi_stage_run(host, options, "profile", workers, workers, play, ret_trace, err);
}
