/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels since Linux 5.10 at the latest waste nothing over weights: with soakers of nice 0 to 19
 * and SCHED_IDLE no core idles beside a normal task, and where weights cap that at one core it gets
 * it. At nice 0 the share of three tasks on two cores is a matter of chance over a few seconds, so
 * that only idling is judged there. Skipped where others use the machine. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lbsched/lbsched.h"
#include "meter.h"

#define IDLE 2.0   /* percentage points */
#define SHARE 0.05 /* of the ideal */
/* Percent of all cores, above which nothing can be said: on two cores it is twice as much of the
 * one that the normal task has, and must stay well below SHARE. */
#define FOREIGN 1.5

#define TRIES 4

enum outcome {
    PASSED,
    FAILED,
    DISTURBED
};

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* One level, after the control. Exits where it cannot be had at all. */
static enum outcome try_level(int32_t level) {
    lb_weights_options o;
    lb_table *table;
    lb_error err;
    lb_weights_options_init(&o, sizeof o);
    o.levels = &level;
    o.level_count = 1;
    o.repeats = 1;
    o.seconds = 1.5;
    double begin = now(), before = meter_away();
    lb_status status = lb_experiment_weights(NULL, &o, &table, &err);
    if (status != LB_OK) {
        bool refused = status == LB_ERR_UNSUPPORTED || status == LB_ERR_PERMISSION;
        printf("%s: %s\n", refused ? "skipped" : "FAILED", err.message);
        exit(refused ? 77 : EXIT_FAILURE);
    }
    double idle = lb_table_get(table, 0, "idle_percent");
    double share = lb_table_get(table, 0, "normal_percent");
    double ideal = lb_table_get(table, 0, "ideal_normal_percent");
    double foreign = lb_table_get(table, 0, "foreign_percent");
    double away = 100 * meter_since(before, begin);
    printf("%s: idle %.2f %%, normal task %.1f %% of a core (ideal %.1f), others %.2f %%, away "
           "%.2f %%\n",
           lb_table_label(table, 0), idle, share, ideal, foreign, away);
    lb_table_free(table);
    if (isnan(idle) || !(foreign <= FOREIGN) || away > FOREIGN)
        return DISTURBED;
    bool kept = idle <= IDLE && !(ideal == 100 && !(fabs(share / ideal - 1) <= SHARE));
    return kept ? PASSED : FAILED;
}

int main(void) {
    static const int32_t levels[] = {0, 5, 10, 15, 19, LB_LEVEL_IDLE};
    int failures = 0, skipped = 0;
    meter_begin();
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        enum outcome outcome = DISTURBED;
        /* A disturbed one says nothing and is measured again, whatever it showed. */
        for (int tries = 0; tries < TRIES && outcome == DISTURBED; tries++)
            outcome = try_level(levels[i]);
        failures += outcome == FAILED;
        skipped += outcome == DISTURBED;
    }
    if (failures > 0) {
        printf("FAILED: %d levels\n", failures);
        return 1;
    }
    if (skipped > 0) {
        printf("skipped: others used the machine, or a level could not be had, at %d levels\n",
               skipped);
        return 77;
    }
    return 0;
}
