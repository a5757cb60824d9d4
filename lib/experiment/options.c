/* SPDX-License-Identifier: BSD-3-Clause */
/* The options, which every build has. */
#include "experiment/options.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/options.h"

static const lb_experiment_options experiment_defaults = {
    .size = sizeof experiment_defaults,
    .unit_work = 0.01,
    .budget = 20.0,
};

static const lb_host_options host_defaults = {.size = sizeof host_defaults};

void lb_experiment_options_init(lb_experiment_options *options, size_t size) {
    lbi_options_write(options, size, &experiment_defaults, sizeof experiment_defaults);
}

void lb_host_options_init(lb_host_options *options, size_t size) {
    lbi_options_write(options, size, &host_defaults, sizeof host_defaults);
}

static lb_status check_scheduling(lb_experiment_options *read, lb_error *err) {
    bool real_time = read->scheduling == LB_SCHEDULING_RR || read->scheduling == LB_SCHEDULING_FIFO;
    bool nice = read->scheduling == LB_SCHEDULING_OTHER || read->scheduling == LB_SCHEDULING_BATCH;
    if (read->workers != LB_WORKERS_PROCESSES && read->workers != LB_WORKERS_THREADS)
        return lbi_error(err, LB_ERR_INVALID, "workers is %d: an lb_worker_kind expected",
                         (int)read->workers);
    if (read->scheduling < LB_SCHEDULING_INHERIT || read->scheduling > LB_SCHEDULING_FIFO)
        return lbi_error(err, LB_ERR_INVALID, "scheduling is %d: an lb_scheduling expected",
                         (int)read->scheduling);
    if (nice ? read->nice < -20 || read->nice > 19 : read->nice != 0)
        return lbi_error(err, LB_ERR_INVALID, "nice is %d: %s expected", (int)read->nice,
                         nice ? "-20 to 19" : "0, without a class that has nice levels,");
    if (real_time ? read->priority < 0 || read->priority > 98 : read->priority != 0)
        return lbi_error(err, LB_ERR_INVALID, "priority is %d: %s expected", (int)read->priority,
                         real_time ? "1 to 98, or 0," : "0, without a real-time class,");
    if (real_time && read->priority == 0)
        read->priority = 1;
    if (read->partial != NULL)
        *read->partial = NULL;
    return LB_OK;
}

lb_status lbi_experiment_options_read(const lb_experiment_options *options,
                                      lb_experiment_options *ret_options, lb_error *err) {
    lb_experiment_options read = experiment_defaults;
    lb_status status = lbi_options_read(options, &read, offsetof(lb_experiment_options, confidence),
                                        sizeof read, "lb_experiment_options", err);
    if (status != LB_OK)
        return status;
    if (read.design != LB_DETECT_ADAPTIVE && read.design != LB_DETECT_FIXED)
        return lbi_error(err, LB_ERR_INVALID, "design is %d: an lb_detect_design expected",
                         (int)read.design);
    /* With ends in an order fixed beforehand three tasks a core often miss the moment that tells
     * lazy and active apart. */
    if (read.tasks_per_core == 0)
        read.tasks_per_core = read.design == LB_DETECT_FIXED ? 4 : 3;
    if (read.tasks_per_core < 3)
        return lbi_error(err, LB_ERR_INVALID, "tasks_per_core is %u: 0, or 3 or more, expected",
                         (unsigned)read.tasks_per_core);
    if (read.reserved != 0 || read.reserved2 != 0)
        return lbi_error(err, LB_ERR_INVALID, "reserved is %u: 0 expected",
                         (unsigned)(read.reserved != 0 ? read.reserved : read.reserved2));
    if (read.confidence == 0)
        read.confidence = 0.95;
    if (!(read.confidence >= 0.5 && read.confidence < 1))
        return lbi_error(err, LB_ERR_INVALID,
                         "confidence is %g: 0, or 0.5 to 1, 1 excluded, expected", read.confidence);
    if (!(read.unit_work >= 0.0005 && read.unit_work <= 1.0))
        return lbi_error(err, LB_ERR_INVALID, "unit_work is %g: 0.0005 to 1 s expected",
                         read.unit_work);
    if (!(read.budget >= 1.0 && isfinite(read.budget)))
        return lbi_error(err, LB_ERR_INVALID, "budget is %g: 1 s or more, and finite, expected",
                         read.budget);
    status = check_scheduling(&read, err);
    if (status == LB_OK)
        *ret_options = read;
    return status;
}

lb_status lbi_host_options_read(const lb_host_options *options, lb_host_options *ret_options,
                                lb_error *err) {
    lb_host_options read = host_defaults;
    lb_status status =
        lbi_options_read(options, &read, sizeof read, sizeof read, "lb_host_options", err);
    if (status != LB_OK)
        return status;
    if (read.topology_xml != NULL && read.synthetic != NULL)
        return lbi_error(err, LB_ERR_INVALID,
                         "topology_xml is \"%s\" and synthetic is \"%s\": one of them expected",
                         read.topology_xml, read.synthetic);
    *ret_options = read;
    return LB_OK;
}
