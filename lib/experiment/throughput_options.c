/* SPDX-License-Identifier: BSD-3-Clause */
/* The options, which every build has. */
#include <math.h>

#include "base/options.h"
#include "experiment/options.h"
#include "experiment/throughput.h"

#define MOST_PROCESSES 4096
#define MOST_POINTS 64
#define MOST_REPEATS 10000
#define MOST_JOBS 1000000

static const lb_throughput_options defaults = {
    .size = sizeof defaults,
    .seconds = 0.5,
    .time_limit = 60,
    .output_limit = 1 << 20,
    .seed = 1,
};

static const lb_condition condition_defaults = {.size = sizeof condition_defaults,
                                                .competitor_scheduling = LB_SCHEDULING_OTHER};

void lb_throughput_options_init(lb_throughput_options *options, size_t size) {
    lbi_options_write(options, size, &defaults, sizeof defaults);
}

void lb_condition_init(lb_condition *condition, size_t size) {
    lbi_options_write(condition, size, &condition_defaults, sizeof condition_defaults);
}

static lb_status check_points(const lb_throughput_options *o, lb_error *err) {
    if ((o->points == NULL) != (o->point_count == 0) || o->point_count > MOST_POINTS)
        return lbi_error(err, LB_ERR_INVALID, "point_count is %zu: 1 to %d, or 0 and no points",
                         o->point_count, MOST_POINTS);
    uint32_t least = o->workload == LB_THROUGHPUT_BATCH ? 0 : 1;
    uint32_t most = o->workload == LB_THROUGHPUT_MESSAGES ? MOST_PROCESSES / 8 : MOST_PROCESSES;
    for (size_t i = 0; i < o->point_count; i++)
        if (o->points[i] < least || o->points[i] > most)
            return lbi_error(err, LB_ERR_INVALID, "points[%zu] is %u: %u to %u expected", i,
                             (unsigned)o->points[i], (unsigned)least, (unsigned)most);
    return LB_OK;
}

static lb_status check_times(const lb_throughput_options *o, lb_error *err) {
    if (!(o->seconds >= 0.05 && o->seconds <= 3600))
        return lbi_error(err, LB_ERR_INVALID, "seconds is %g: 0.05 to 3600 expected", o->seconds);
    if (!(o->time_limit >= 0.1 && o->time_limit <= 86400))
        return lbi_error(err, LB_ERR_INVALID, "time_limit is %g: 0.1 to 86400 s expected",
                         o->time_limit);
    if (o->time_limit < o->seconds)
        return lbi_error(err, LB_ERR_INVALID, "time_limit is %g: seconds (%g) or more expected",
                         o->time_limit, o->seconds);
    if (!(o->budget == 0 || (o->budget >= 1 && isfinite(o->budget))))
        return lbi_error(err, LB_ERR_INVALID,
                         "budget is %g: 0 (none), or 1 s or more, and finite, expected", o->budget);
    return LB_OK;
}

lb_status lbi_throughput_options_read(const lb_throughput_options *options,
                                      lb_throughput_options *ret_options, lb_error *err) {
    lb_throughput_options o = defaults;
    lb_status status =
        lbi_options_read(options, &o, sizeof o, sizeof o, "lb_throughput_options", err);
    if (status != LB_OK)
        return status;
    if (o.workload < LB_THROUGHPUT_BATCH || o.workload > LB_THROUGHPUT_MESSAGES)
        return lbi_error(err, LB_ERR_INVALID, "workload is %d: an lb_throughput_workload expected",
                         (int)o.workload);
    if (o.repeats > MOST_REPEATS)
        return lbi_error(err, LB_ERR_INVALID, "repeats is %u: 0 to %d expected",
                         (unsigned)o.repeats, MOST_REPEATS);
    if (o.jobs > MOST_JOBS)
        return lbi_error(err, LB_ERR_INVALID, "jobs is %u: 0 to %d expected", (unsigned)o.jobs,
                         MOST_JOBS);
    if (o.transports >= UINT32_C(1) << (LB_TRANSPORT_TCP + 1))
        return lbi_error(err, LB_ERR_INVALID,
                         "transports is %#x: bits of lb_transport, or 0, expected",
                         (unsigned)o.transports);
    if (o.command != NULL && (o.workload != LB_THROUGHPUT_BATCH || o.command[0] == NULL))
        return lbi_error(err, LB_ERR_INVALID,
                         "command is set: LB_THROUGHPUT_BATCH and a program's name expected");
    if (o.reserved != 0)
        return lbi_error(err, LB_ERR_INVALID, "reserved is %u: 0 expected", (unsigned)o.reserved);
    status = check_points(&o, err);
    if (status == LB_OK)
        status = check_times(&o, err);
    if (status == LB_OK)
        *ret_options = o;
    return status;
}

/* Class, nice level and priority have the rules of an experiment's workers. */
static lb_status check_class(int32_t scheduling, int32_t nice, int32_t *priority, lb_error *err) {
    lb_experiment_options o;
    lb_experiment_options_init(&o, sizeof o);
    o.scheduling = scheduling;
    o.nice = nice;
    o.priority = *priority;
    lb_status status = lbi_experiment_options_read(&o, &o, err);
    if (status == LB_OK)
        *priority = o.priority;
    return status;
}

lb_status lbi_condition_read(const lb_condition *condition, lb_condition *ret_condition,
                             lb_error *err) {
    lb_condition c = condition_defaults;
    int32_t none = 0;
    lb_status status = lbi_options_read(condition, &c, sizeof c, sizeof c, "lb_condition", err);
    if (status == LB_OK)
        status = check_class(c.scheduling, c.nice, &c.priority, err);
    if (status == LB_OK)
        status = check_class(c.competitor_scheduling, c.competitor_nice, &none, err);
    if (status != LB_OK)
        return status;
    if (c.competitors > MOST_PROCESSES)
        return lbi_error(err, LB_ERR_INVALID, "competitors is %u: 0 to %d expected",
                         (unsigned)c.competitors, MOST_PROCESSES);
    if ((c.cores == NULL) != (c.core_count == 0))
        return lbi_error(err, LB_ERR_INVALID,
                         "core_count is %zu: 0 without cores, 1 or more with them, expected",
                         c.core_count);
    if (c.reserved != 0)
        return lbi_error(err, LB_ERR_INVALID, "reserved is %u: 0 expected", (unsigned)c.reserved);
    *ret_condition = c;
    return LB_OK;
}
