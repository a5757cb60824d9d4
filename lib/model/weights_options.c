/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "base/options.h"
#include "base/text.h"
#include "model/weights.h"

#define MOST_LEVELS 64
#define MOST_TASKS 4096
#define MOST_REPEATS 1000

static const int32_t all_levels[] = {
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, LB_LEVEL_IDLE};

static const lb_weights_options defaults = {
    .size = sizeof defaults,
    .normal_tasks = 1,
    .seconds = 10,
    .seed = 1,
};

void lb_weights_options_init(lb_weights_options *options, size_t size) {
    lbi_options_write(options, size, &defaults, sizeof defaults);
}

void lbi_level_label(int32_t level, char *buffer, size_t size) {
    if (level == LB_LEVEL_IDLE)
        lbi_snprintf(buffer, size, "idle");
    else
        lbi_snprintf(buffer, size, "nice %d", (int)level);
}

double lbi_level_weight(int32_t level) {
    return level == LB_LEVEL_IDLE ? LB_WEIGHT_IDLE : lb_nice_weight(level);
}

static lb_status check_levels(const lb_weights_options *o, lb_error *err) {
    if (o->level_count < 1 || o->level_count > MOST_LEVELS)
        return lbi_error(err, LB_ERR_INVALID, "level_count is %zu: 1 to %d expected",
                         o->level_count, MOST_LEVELS);
    for (size_t i = 0; i < o->level_count; i++)
        if (o->levels[i] < 0 || o->levels[i] > LB_LEVEL_IDLE)
            return lbi_error(err, LB_ERR_INVALID,
                             "levels[%zu] is %d: 0 to 19, or LB_LEVEL_IDLE, expected", i,
                             (int)o->levels[i]);
    return LB_OK;
}

lb_status lbi_weights_options_read(const lb_weights_options *options,
                                   lb_weights_options *ret_options, lb_error *err) {
    lb_weights_options o = defaults;
    lb_status status = lbi_options_read(options, &o, sizeof o, sizeof o, "lb_weights_options", err);
    if (status != LB_OK)
        return status;
    if (o.levels == NULL) {
        o.levels = all_levels;
        o.level_count = sizeof all_levels / sizeof *all_levels;
    }
    status = check_levels(&o, err);
    if (status != LB_OK)
        return status;
    if (o.normal_tasks < 1 || o.normal_tasks > MOST_TASKS)
        return lbi_error(err, LB_ERR_INVALID, "normal_tasks is %u: 1 to %d expected",
                         (unsigned)o.normal_tasks, MOST_TASKS);
    if (o.repeats > MOST_REPEATS)
        return lbi_error(err, LB_ERR_INVALID, "repeats is %u: 0 to %d expected",
                         (unsigned)o.repeats, MOST_REPEATS);
    if (!(o.seconds >= 0.2 && o.seconds <= 3600))
        return lbi_error(err, LB_ERR_INVALID, "seconds is %g: 0.2 to 3600 expected", o.seconds);
    *ret_options = o;
    return LB_OK;
}
