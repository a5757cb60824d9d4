/* SPDX-License-Identifier: BSD-3-Clause */
/* lb_model_summary(): durations against running alone, makespan and utilisation, as one table. */
#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/text.h"
#include "distribution.h"
#include "estimate.h"
#include "plan.h"
#include "progress.h"

/* ---- running alone ---- */

typedef struct solo { /* a process that has the fastest core to itself */
    double left, since;
    double duration; /* INFINITY until complete */
    bool awake, gone;
} solo;

static double fastest_of(const lb_model *model) {
    return model->fastest == NULL ? 1 : model->fastest[1];
}

/* Whether it completes by `time`; books its progress. */
static bool completes(solo *s, double time, double speed, double arrival) {
    double end = s->since + s->left / speed;
    if (!s->awake || end > time + LBI_WINDOW * time)
        return false;
    s->duration = end - arrival;
    return s->gone = true;
}

static void meet(solo *s, const lbi_event *event, double speed, double arrival) {
    if (s->gone || completes(s, event->time, speed, arrival))
        return;
    switch ((lb_event_kind)event->kind) {
    case LB_EVENT_SLEEP:
        if (s->awake)
            s->left -= (event->time - s->since) * speed;
        s->awake = false;
        break;
    case LB_EVENT_WAKE:
        if (!s->awake)
            s->since = event->time;
        s->awake = true;
        break;
    default:
        s->gone = true;
    }
}

/* ret_alone[i]: INFINITY where even so the work does not complete. */
static bool run_alone(const lbi_plan *plan, double *ret_alone) {
    const lb_workload *workload = plan->workload;
    double speed = fastest_of(plan->model);
    solo *solos = lbi_array_new(plan->size, sizeof *solos);
    if (solos == NULL)
        return false;
    for (size_t i = 0; i < plan->size; i++)
        solos[i] = (solo){.left = workload->works[i],
                          .since = workload->arriving ? workload->arrivals[i] : 0,
                          .duration = INFINITY,
                          .awake = true};
    for (size_t i = 0; i < plan->action_count; i++) {
        const lbi_action *action = &plan->actions[i];
        if (action->order > 0)
            meet(&solos[action->index], &workload->events[action->order - 1], speed,
                 workload->arriving ? workload->arrivals[action->index] : 0);
    }
    for (size_t i = 0; i < plan->size; i++) {
        if (!solos[i].gone)
            completes(&solos[i], INFINITY, speed, workload->arriving ? workload->arrivals[i] : 0);
        ret_alone[i] = solos[i].duration;
    }
    free(solos);
    return true;
}

static double ratio(double duration, double alone) {
    return duration == 0 && alone == 0 ? 1 : duration / alone;
}

/* ---- all together ---- */

/* The mean part of all cores' work that is done until the last completes. */
static double utilisation_of(const lbi_plan *plan, const lb_distribution *d) {
    const lb_model *model = plan->model;
    uint32_t cores = model->options.cores;
    double speed = model->fastest == NULL ? cores : model->fastest[cores];
    double sum = 0, weights = 0;
    for (size_t row = 0; row < d->rows; row++) {
        const double *values = d->values + row * lbi_distribution_width(d);
        double work = 0;
        for (size_t i = 0; i < plan->size; i++)
            work += values[i] < INFINITY ? plan->workload->works[i] : NAN;
        /* Of no process there is no makespan to have been used. */
        sum += plan->size == 0 ? NAN : d->weights[row] * (work / (speed * values[plan->size]));
        weights += d->weights[row];
    }
    return sum / weights;
}

static const char *const columns[] = {"work_s",  "mean_s",           "stddev_s",   "min_s",
                                      "max_s",   "standard_error_s", "completion", "exact",
                                      "alone_s", "slowdown",         "utilisation"};

static lb_status add_row(lb_table *table, const lb_distribution *distribution, size_t index,
                         const char *label, double work, double alone, double utilisation,
                         lb_error *err) {
    lb_duration duration, *d = &duration;
    lb_status status = lb_distribution_duration(distribution, index, d, err);
    if (status != LB_OK)
        return status;
    double row[] = {work,          d->mean,
                    d->stddev,     d->min,
                    d->max,        d->standard_error,
                    d->completion, d->exact,
                    alone,         isnan(alone) ? NAN : ratio(d->mean, alone),
                    utilisation};
    return lb_table_add_row(table, label, row, err);
}

/* A row costs some microseconds and as many reads as there are realisations. */
static bool is_time_to_report(size_t i, size_t realisations) {
    return i % (65536 / (16 + realisations) + 1) == 0;
}

static lb_status add_rows(lb_table *table, const lbi_plan *plan, const double *alone,
                          const lb_distribution *distribution, lbi_progress *progress,
                          lb_error *err) {
    lb_status status = LB_OK;
    double total = 0;
    for (size_t i = 0; i < plan->size && status == LB_OK; i++) {
        if (progress->fn != NULL && is_time_to_report(i, distribution->rows) &&
            lbi_progress_report(progress, (double)i / (double)plan->size) != 0)
            return lbi_error(err, LB_ERR_CANCELLED, "cancelled by the progress callback");
        char label[24];
        lbi_snprintf(label, sizeof label, "%zu", i);
        double work = plan->workload->works[i];
        total += work;
        status = add_row(table, distribution, i, label, work, alone[i], NAN, err);
    }
    if (status == LB_OK)
        status = add_row(table, distribution, LB_MAKESPAN, "makespan", total, NAN,
                         utilisation_of(plan, distribution), err);
    return status;
}

static lb_status set_meta(lb_table *table, const lb_model *model,
                          const lb_distribution *distribution, lb_error *err) {
    char text[24];
    lbi_snprintf(text, sizeof text, "%u", (unsigned)model->options.cores);
    lb_status status = lb_table_set_meta(table, "cores", text, err);
    if (status == LB_OK)
        status =
            lb_table_set_meta(table, "policy", lbi_model_policy_names[model->options.policy], err);
    lbi_snprintf(text, sizeof text, "%zu", distribution->rows);
    if (status == LB_OK)
        status = lb_table_set_meta(table, "realisations", text, err);
    return status;
}

static lb_status summarise(const lbi_plan *plan, const lb_distribution *distribution,
                           lbi_progress *progress, lb_table **ret_table, lb_error *err) {
    lb_table *table = NULL;
    double *alone = lbi_array_new(plan->size, sizeof *alone);
    lb_status status = alone == NULL || !run_alone(plan, alone)
                           ? lbi_error_nomem(err, "a summary")
                           : lb_table_new(columns, sizeof columns / sizeof *columns, &table, err);
    if (status == LB_OK)
        status = set_meta(table, plan->model, distribution, err);
    if (status == LB_OK)
        status = add_rows(table, plan, alone, distribution, progress, err);
    free(alone);
    if (status == LB_OK)
        *ret_table = table;
    else
        lb_table_free(table);
    return status;
}

lb_status lb_model_summary(const lb_model *model, const lb_workload *workload,
                           const lb_estimate_options *options, lb_table **ret_table,
                           lb_error *err) {
    lb_distribution *distribution = NULL;
    lbi_plan plan;
    lb_estimate_options wanted;
    lb_status status = lbi_estimate_options_read(options, &wanted, err);
    if (status != LB_OK)
        return status;
    lbi_progress progress = lbi_progress_wrap(&wanted);
    lbi_progress_part(&progress, 0, 0.75);
    lbi_progress_watch(&wanted, &progress);
    status = lb_model_distribution(model, workload, &wanted, &distribution, err);
    if (status != LB_OK)
        return status;
    lbi_progress_part(&progress, 0.75, 1);
    status = lbi_plan_new(&plan, model, workload, err);
    if (status == LB_OK) {
        status = summarise(&plan, distribution, &progress, ret_table, err);
        lbi_plan_free(&plan);
    }
    lb_distribution_free(distribution);
    return status;
}
