/* SPDX-License-Identifier: BSD-3-Clause */
/* The options, which every build has. */
#include "experiment/options.h"

#include <math.h>

#include "base/options.h"

static const lb_experiment_options experiment_defaults = {
    .size = sizeof experiment_defaults,
    .tasks_per_core = 3,
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

lb_status lbi_experiment_options_read(const lb_experiment_options *options,
                                      lb_experiment_options *ret_options, lb_error *err) {
    lb_experiment_options read = experiment_defaults;
    lb_status status =
        lbi_options_read(options, &read, sizeof read, sizeof read, "lb_experiment_options", err);
    if (status != LB_OK)
        return status;
    if (read.tasks_per_core < 3)
        return lbi_error(err, LB_ERR_INVALID, "tasks_per_core is %u: 3 or more expected",
                         (unsigned)read.tasks_per_core);
    if (read.reserved != 0)
        return lbi_error(err, LB_ERR_INVALID, "reserved is %u: 0 expected",
                         (unsigned)read.reserved);
    if (!(read.unit_work >= 0.0005 && read.unit_work <= 1.0))
        return lbi_error(err, LB_ERR_INVALID, "unit_work is %g: 0.0005 to 1 s expected",
                         read.unit_work);
    if (!(read.budget >= 1.0 && isfinite(read.budget)))
        return lbi_error(err, LB_ERR_INVALID, "budget is %g: 1 s or more, and finite, expected",
                         read.budget);
    *ret_options = read;
    return LB_OK;
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
