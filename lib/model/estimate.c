/* SPDX-License-Identifier: BSD-3-Clause */
#include "estimate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/options.h"
#include "jobs.h"
#include "progress.h"

/* AUTO enumerates up to this many realisations, fewer of many processes. */
enum {
    CHEAP_REALISATIONS = 1024,
    CHEAP_PROCESSES = 1 << 16
};

static const lb_estimate_options defaults = {
    .size = sizeof(lb_estimate_options),
    .max_samples = 1000000,
    .relative_error = 0.001,
    .method = LB_METHOD_AUTO,
    .threads = 1,
};

void lb_estimate_options_init(lb_estimate_options *options, size_t size) {
    lbi_options_write(options, size, &defaults, sizeof defaults);
}

static lb_status check(const lb_estimate_options *options, lb_error *err) {
    if (options->max_samples == 0)
        return lbi_error(err, LB_ERR_INVALID,
                         "lb_estimate_options.max_samples is 0: 1 or more expected");
    if (!(options->relative_error > 0))
        return lbi_error(err, LB_ERR_INVALID,
                         "lb_estimate_options.relative_error is %g: above 0 expected",
                         options->relative_error);
    if (options->method < LB_METHOD_AUTO || options->method > LB_METHOD_SAMPLE)
        return lbi_error(err, LB_ERR_INVALID,
                         "lb_estimate_options.method is %d: an lb_method of %d to %d expected",
                         (int)options->method, LB_METHOD_AUTO, LB_METHOD_SAMPLE);
    if (options->threads == 0)
        return lbi_error(err, LB_ERR_INVALID,
                         "lb_estimate_options.threads is 0: 1 or more expected");
    uint64_t most = options->samples > 0 ? options->samples : options->max_samples;
    if (options->first_sample > UINT64_MAX - (most - 1))
        return lbi_error(err, LB_ERR_INVALID,
                         "lb_estimate_options.first_sample is %llu: %llu at most expected, as %llu "
                         "realisations are numbered from it",
                         (unsigned long long)options->first_sample,
                         (unsigned long long)(UINT64_MAX - (most - 1)), (unsigned long long)most);
    return LB_OK;
}

lb_status lbi_estimate_options_read(const lb_estimate_options *options,
                                    lb_estimate_options *ret_options, lb_error *err) {
    *ret_options = defaults;
    lb_status status = lbi_options_read(options, ret_options, sizeof *ret_options,
                                        sizeof *ret_options, "lb_estimate_options", err);
    return status == LB_OK ? check(ret_options, err) : status;
}

static lb_status estimate_by_method(const lbi_estimate *estimate, lb_error *err) {
    const lb_model *model = estimate->plan->model;
    int32_t method = estimate->options->method;
    if (method == LB_METHOD_EXACT && lbi_model_rotates(model))
        return lbi_error(err, LB_ERR_UNSUPPORTED,
                         "LB_METHOD_EXACT of a model with rotation_time %g s: the times of "
                         "rotations are continuous; LB_METHOD_SAMPLE estimates",
                         model->options.rotation_time);
    if (method == LB_METHOD_SAMPLE || lbi_model_rotates(model))
        return lbi_estimate_by_sampling(estimate, err);
    if (method == LB_METHOD_EXACT)
        return lbi_estimate_exactly(estimate, LBI_EXACT_REALISATIONS, err);
    uint64_t cheap = CHEAP_PROCESSES / (estimate->plan->size + 1);
    if (cheap > CHEAP_REALISATIONS)
        cheap = CHEAP_REALISATIONS;
    /* What no chance decides is one realisation, and always cheap. */
    lb_status status = lbi_estimate_exactly(estimate, cheap > 1 ? cheap : 1, err);
    return status == LB_ERR_LIMIT ? lbi_estimate_by_sampling(estimate, err) : status;
}

static lb_status prepare(const lb_model *model, const lb_workload *workload,
                         const lb_estimate_options *options, lb_estimate_options *ret_options,
                         lbi_plan *ret_plan, lb_error *err) {
    lb_status status = lbi_estimate_options_read(options, ret_options, err);
    return status == LB_OK ? lbi_plan_new(ret_plan, model, workload, err) : status;
}

static lb_status estimate(const lb_model *model, const lb_workload *workload, size_t first,
                          size_t count, const lb_estimate_options *options,
                          lb_duration *ret_durations, lb_error *err) {
    lb_estimate_options wanted;
    lbi_plan plan;
    lb_status status = prepare(model, workload, options, &wanted, &plan, err);
    if (status != LB_OK)
        return status;
    lbi_progress progress = lbi_progress_wrap(&wanted);
    lbi_progress_watch(&wanted, &progress); /* an enumeration given up is followed by sampling */
    lbi_estimate asked = {.plan = &plan,
                          .options = &wanted,
                          .first = first,
                          .count = count,
                          .ret_durations = ret_durations};
    /* The message of an attempt that AUTO makes is not for the caller. */
    lb_error attempt = {0};
    status = estimate_by_method(&asked, &attempt);
    if (status != LB_OK && err != NULL)
        *err = attempt;
    lbi_plan_free(&plan);
    return status;
}

lb_status lb_model_duration(const lb_model *model, const lb_workload *workload, size_t index,
                            const lb_estimate_options *options, lb_duration *ret_duration,
                            lb_error *err) {
    if (index >= lb_workload_size(workload))
        return lbi_error(err, LB_ERR_INVALID, "duration of process %zu: there are %zu processes",
                         index, lb_workload_size(workload));
    return estimate(model, workload, index, 1, options, ret_duration, err);
}

lb_status lb_model_durations(const lb_model *model, const lb_workload *workload,
                             const lb_estimate_options *options, lb_duration *ret_durations,
                             lb_error *err) {
    return estimate(model, workload, 0, lb_workload_size(workload), options, ret_durations, err);
}

/* ---- whole distributions ---- */

double lbi_plan_makespan(const lbi_plan *plan, const double *durations) {
    double last = -1;
    for (size_t i = 0; i < plan->size; i++) {
        double arrival = plan->workload->arriving ? plan->workload->arrivals[i] : 0;
        if (durations[i] < INFINITY && arrival + durations[i] > last)
            last = arrival + durations[i];
    }
    return last < 0 ? INFINITY : last;
}

static uint64_t hash(uint64_t before, const void *bytes, size_t size) {
    const unsigned char *from = bytes;
    for (; size > 0; from += 8) {
        uint64_t word = 0;
        size_t part = size < 8 ? size : 8;
        memcpy(&word, from, part);
        before = lbi_mix(before + word);
        size -= part;
    }
    return lbi_mix(before + 1);
}

static bool all_are(const double *values, size_t n, double value) {
    size_t i = 0;
    while (i < n && values[i] == value)
        i++;
    return i == n;
}

/* What realisations depend on, in whichever of its ways it was said. */
static uint64_t problem_of(const lbi_plan *plan, uint64_t seed) {
    const lb_model_options *o = &plan->model->options;
    const lb_workload *w = plan->workload;
    double numbers[] = {o->cores,       o->policy,         o->balance_delay, o->rotation_time,
                        o->list_choice, o->process_choice, (double)w->size};
    uint64_t value = hash(lbi_mix(seed), numbers, sizeof numbers);
    if (lbi_model_is_grouped(plan->model))
        value = hash(value, &o->group_cores, sizeof o->group_cores);
    if (plan->model->speeds != NULL && !all_are(plan->model->speeds, o->cores, 1))
        value = hash(value, plan->model->speeds, o->cores * sizeof(double));
    value = hash(value, w->works, w->size * sizeof *w->works);
    if (w->arriving && !all_are(w->arrivals, w->size, 0))
        value = hash(value, w->arrivals, w->size * sizeof *w->arrivals);
    if (plan->weights != NULL)
        value = hash(value, plan->weights, w->size * sizeof *plan->weights);
    if (w->cored)
        value = hash(value, w->first_cores, w->size * sizeof *w->first_cores);
    return hash(value, w->events, w->event_count * sizeof *w->events);
}

typedef struct filling {
    lbi_job job;
    const lbi_plan *plan;
    const lb_estimate_options *options;
    lb_distribution *distribution;
    size_t rows;
    lbi_run *runs; /* one a thread */
    uint32_t run_count;
    atomic_size_t next;
} filling;

static void fill(lbi_job *job, uint32_t thread) {
    filling *f = (filling *)job;
    lb_distribution *d = f->distribution;
    size_t row, n = d->processes;
    while (!job->cancelled && (row = f->next++) < f->rows) {
        double *values = d->values + row * (n + 1);
        d->numbers[row] = f->options->first_sample + row;
        d->weights[row] = 1;
        lbi_run_all(&f->runs[thread], lb_realisation_seed(f->options->seed, d->numbers[row]),
                    values, &job->cancelled);
        values[n] = lbi_plan_makespan(f->plan, values);
    }
}

static double filled(lbi_job *job) {
    filling *f = (filling *)job;
    size_t next = f->next;
    return next < f->rows ? (double)next / (double)f->rows : 1;
}

static lb_status fill_rows(const lbi_estimate *asked, uint64_t rows, lb_error *err) {
    const lb_estimate_options *options = asked->options;
    if (rows > SIZE_MAX || !lbi_distribution_reserve(asked->keep, (size_t)rows))
        return lbi_error_nomem(err, "a distribution");
    filling f = {
        .plan = asked->plan, .options = options, .distribution = asked->keep, .rows = (size_t)rows};
    f.job = (lbi_job){.run = fill,
                      .fraction = filled,
                      .progress = options->progress,
                      .progress_user = options->progress_user,
                      .threads = options->threads < rows ? options->threads : (uint32_t)rows};
    f.runs = lbi_array_new(f.job.threads, sizeof *f.runs);
    lb_status status = f.runs == NULL ? lbi_error_nomem(err, "a distribution") : LB_OK;
    for (; status == LB_OK && f.run_count < f.job.threads; f.run_count += status == LB_OK)
        status = lbi_run_new(&f.runs[f.run_count], asked->plan, err);
    if (status == LB_OK)
        status = lbi_job_run(&f.job, err);
    if (status == LB_OK)
        asked->keep->rows = f.rows;
    for (uint32_t i = 0; i < f.run_count; i++)
        lbi_run_free(&f.runs[i]);
    free(f.runs);
    return status;
}

/* As many rows as an estimate would have drawn; enumeration fills them in itself. */
static lb_status distribute(lbi_estimate *asked, lbi_progress *progress, lb_error *err) {
    lb_error attempt = {0};
    lb_status status = LB_OK;
    uint64_t rows = asked->options->samples;
    if (asked->options->method != LB_METHOD_SAMPLE || rows == 0) {
        lbi_progress_part(progress, 0, 0.5);
        status = estimate_by_method(asked, &attempt);
        lbi_progress_part(progress, 0.5, 1);
        if (status == LB_OK && asked->ret_durations[0].exact) {
            asked->keep->exact = true;
            return LB_OK;
        }
        rows = asked->ret_durations[0].samples;
        asked->keep->rows = 0; /* of an enumeration that was given up */
    }
    if (status == LB_OK)
        return fill_rows(asked, rows, err);
    if (err != NULL)
        *err = attempt;
    return status;
}

lb_status lb_model_distribution(const lb_model *model, const lb_workload *workload,
                                const lb_estimate_options *options,
                                lb_distribution **ret_distribution, lb_error *err) {
    lb_estimate_options wanted;
    lbi_plan plan;
    lb_status status = prepare(model, workload, options, &wanted, &plan, err);
    if (status != LB_OK)
        return status;
    lbi_progress progress = lbi_progress_wrap(&wanted);
    lbi_progress_watch(&wanted, &progress);
    lb_distribution *distribution = NULL;
    /* One more, so that there is an element to read of an empty workload. */
    lb_duration *durations = lbi_array_new(plan.size + 1, sizeof *durations);
    if (durations == NULL)
        status = lbi_error_nomem(err, "a distribution");
    else
        status = lbi_distribution_new(plan.size, &distribution, err);
    if (status == LB_OK) {
        durations[0] = (lb_duration){.samples = 1, .exact = 1};
        lbi_estimate asked = {.plan = &plan,
                              .options = &wanted,
                              .count = plan.size,
                              .ret_durations = durations,
                              .keep = distribution};
        distribution->problem = problem_of(&plan, wanted.seed);
        status = distribute(&asked, &progress, err);
    }
    free(durations);
    lbi_plan_free(&plan);
    if (status != LB_OK) {
        lb_distribution_free(distribution);
        return status;
    }
    *ret_distribution = distribution;
    return LB_OK;
}
