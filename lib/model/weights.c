/* SPDX-License-Identifier: BSD-3-Clause */
/* lb_model_weights(): the two rules and the ideal as one table. */
#include "model/weights.h"

#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/statistics.h"
#include "base/text.h"

#define MOST_CORES 4096
#define REPEATS 20

static const char *const names[] = {
    "weight_ratio",         "ideal_idle_percent", "static_idle_percent",
    "idle_percent",         "idle_stddev",        "idle_low",
    "idle_median",          "idle_high",          "mean_stddev",
    "ideal_normal_percent", "normal_percent"};
enum {
    COLUMNS = sizeof names / sizeof *names
};

typedef struct job {
    const lb_weights_options *options;
    uint32_t repeats, seconds;
    double *idle, *means; /* of all seconds of a level, and of its repeats */
    uint64_t done, all;
} job;

static lb_status report(void *user, lb_error *err) {
    const job *j = user;
    const lb_weights_options *o = j->options;
    double fraction = (double)j->done / (double)j->all;
    if (o->progress != NULL && o->progress(o->progress_user, fraction) != 0)
        return lbi_error(err, LB_ERR_CANCELLED, "the progress callback asked to stop");
    return LB_OK;
}

static lb_status simulate(job *j, const lbi_weights_machine *machine, lbi_random *random,
                          double *ret_normal, lb_error *err) {
    lbi_weights_pulse pulse = {report, j};
    *ret_normal = 0;
    for (uint32_t i = 0; i < j->repeats; i++) {
        double *idle = j->idle + (size_t)i * j->seconds, normal;
        lb_status status =
            lbi_weights_dynamic(machine, random, j->seconds, &pulse, idle, &normal, err);
        if (status == LB_OK)
            status = report(j, err);
        if (status != LB_OK)
            return status;
        j->done++;
        for (uint32_t second = 0; second < j->seconds; second++)
            idle[second] *= 100;
        j->means[i] = lbi_mean(idle, j->seconds);
        *ret_normal += 100 * normal / j->repeats;
    }
    return LB_OK;
}

static lb_status add_level(job *j, int32_t level, lb_table *table, lb_error *err) {
    const lb_weights_options *o = j->options;
    lbi_weights_machine machine = {o->groups, o->group_cores, o->normal_tasks,
                                   lbi_level_weight(level)};
    size_t n = (size_t)j->repeats * j->seconds;
    double normal, ideal, soaker, rule = lbi_weights_static(&machine);
    if (isnan(rule))
        return lbi_error_nomem(err, "the groups");
    /* A level's draws do not depend on which others are asked for. */
    lbi_random random;
    lbi_random_seed(&random, lbi_mix(o->seed) + (uint64_t)level);
    lb_status status = simulate(j, &machine, &random, &normal, err);
    if (status != LB_OK)
        return status;
    lbi_weights_ideal(o->groups * o->group_cores, o->normal_tasks, machine.ratio, &ideal, &soaker);
    double mean = lbi_mean(j->idle, n), deviation = lbi_stddev(j->idle, n);
    lbi_sort_doubles(j->idle, n);
    double values[COLUMNS] = {machine.ratio,
                              0,
                              100 * rule,
                              mean,
                              deviation,
                              lbi_quantile(j->idle, n, 0.05),
                              lbi_quantile(j->idle, n, 0.5),
                              lbi_quantile(j->idle, n, 0.95),
                              lbi_stddev(j->means, j->repeats),
                              100 * ideal,
                              normal};
    char label[16];
    lbi_level_label(level, label, sizeof label);
    return lb_table_add_row(table, label, values, err);
}

static lb_status set_meta(const lb_weights_options *o, lb_table *table, lb_error *err) {
    char text[32];
    lbi_snprintf(text, sizeof text, "%ux%u", (unsigned)o->groups, (unsigned)o->group_cores);
    lb_status status = lb_table_set_meta(table, "groups", text, err);
    lbi_snprintf(text, sizeof text, "%u", (unsigned)o->normal_tasks);
    if (status == LB_OK)
        status = lb_table_set_meta(table, "normal_tasks", text, err);
    return status;
}

static lb_status fill(job *j, lb_table *table, lb_error *err) {
    const lb_weights_options *o = j->options;
    size_t n = (size_t)j->repeats * j->seconds;
    j->idle = lbi_array_new(n, sizeof *j->idle);
    j->means = lbi_array_new(j->repeats, sizeof *j->means);
    lb_status status = LB_OK;
    if (j->idle == NULL || j->means == NULL)
        status = lbi_error_nomem(err, "the samples");
    for (size_t i = 0; i < o->level_count && status == LB_OK; i++)
        status = add_level(j, o->levels[i], table, err);
    if (status == LB_OK)
        status = report(j, err);
    if (status == LB_OK)
        status = set_meta(o, table, err);
    free(j->idle);
    free(j->means);
    return status;
}

lb_status lb_model_weights(const lb_weights_options *options, lb_table **ret_table, lb_error *err) {
    lb_weights_options o;
    lb_status status = lbi_weights_options_read(options, &o, err);
    if (status != LB_OK)
        return status;
    if (o.groups < 1 || o.groups > MOST_CORES)
        return lbi_error(err, LB_ERR_INVALID, "groups is %u: 1 to %d expected", (unsigned)o.groups,
                         MOST_CORES);
    if (o.group_cores < 1 || o.group_cores > MOST_CORES / o.groups)
        return lbi_error(err, LB_ERR_INVALID,
                         "group_cores is %u: 1 or more expected, and %d cores in %u groups at most",
                         (unsigned)o.group_cores, MOST_CORES, (unsigned)o.groups);
    job j = {.options = &o, .repeats = o.repeats == 0 ? REPEATS : o.repeats};
    j.seconds = o.seconds < 1 ? 1 : (uint32_t)o.seconds;
    j.all = (uint64_t)j.repeats * o.level_count;
    lb_table *table = NULL;
    status = lb_table_new(names, COLUMNS, &table, err);
    if (status == LB_OK)
        status = fill(&j, table, err);
    if (status == LB_OK)
        *ret_table = table;
    else
        lb_table_free(table);
    return status;
}
