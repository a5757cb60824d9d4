/* SPDX-License-Identifier: BSD-3-Clause */
/* lb_experiment_workload(): given works, released at one moment. */
#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "experiment/crew.h"
#include "experiment/experiments.h"
#include "experiment/options.h"
#include "model/workload.h"

static lb_status check_work(double work, size_t index, double budget, lb_error *err) {
    if (isinf(work))
        return lbi_error(err, LB_ERR_INVALID,
                         "process %zu has infinite work: a finite one expected", index);
    if (work > budget)
        return lbi_error(err, LB_ERR_TIMEOUT,
                         "process %zu has %g s of work: more than the budget of %g s", index, work,
                         budget);
    return LB_OK;
}

static lb_status check(const lb_host *host, const lb_workload *workload,
                       const lb_experiment_options *options, lb_error *err) {
    if (lbi_workload_has_arrivals(workload) || lbi_workload_has_weights(workload) ||
        lbi_workload_has_events(workload))
        return lbi_error(err, LB_ERR_UNSUPPORTED,
                         "the workload has %s: works and first cores only can be run",
                         lbi_workload_has_arrivals(workload)  ? "arrivals"
                         : lbi_workload_has_weights(workload) ? "weights"
                                                              : "events");
    size_t n = lb_workload_size(workload);
    if (n > LBI_MAX_WORKERS)
        return lbi_error(err, LB_ERR_INVALID, "the workload has %zu processes: %u at most", n,
                         LBI_MAX_WORKERS);
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        double work = lbi_workload_work(workload, i);
        uint32_t core = lbi_workload_first_core(workload, i);
        if (core != LBI_ANY_CORE && core >= host->cores)
            return lbi_error(err, LB_ERR_INVALID,
                             "process %zu has the first core %u: below %u expected", i,
                             (unsigned)core, (unsigned)host->cores);
        lb_status status = check_work(work, i, options->budget, err);
        if (status != LB_OK)
            return status;
        sum += work;
    }
    if (sum / host->cores > options->budget)
        return lbi_error(err, LB_ERR_TIMEOUT,
                         "%g s of work on %u cores take more than the budget of %g s", sum,
                         (unsigned)host->cores, options->budget);
    return LB_OK;
}

/* Whole units, and the rest as a shorter one; a chunk may be longer or shorter than it was meant
 * to be, so there is room for more. */
static size_t capacity(double work, double unit_work) {
    return (size_t)(1.25 * work / unit_work) + 16;
}

/* Calibrated, each worker still waits, bound to some core: there it stays, is moved to its first
 * core, or is let go. */
static lb_status place(lbi_crew *crew, const lb_workload *workload, lb_error *err) {
    double total = 0, longest = 0;
    for (uint32_t i = 0; i < crew->workers; i++) {
        double work = lbi_workload_work(workload, i);
        crew->arena->slots[i].chunks = (uint64_t)llround(work / crew->chunk_work);
        total += work;
        longest = work > longest ? work : longest;
        lb_status status = lbi_crew_bind(crew, i, lbi_workload_first_core(workload, i), err);
        if (status != LB_OK)
            return status;
    }
    total /= crew->host->cores;
    crew->expected_ns = lbi_now() + (int64_t)((total > longest ? total : longest) * 1e9);
    return LB_OK;
}

/* Once all have run, those that were bound are let go too: then they are released at once. */
static lb_status start(lbi_crew *crew, const lb_workload *workload, lb_error *err) {
    lb_status status = lbi_crew_spin(crew, err);
    for (uint32_t i = 0; i < crew->workers && status == LB_OK; i++)
        if (lbi_workload_first_core(workload, i) != LBI_ANY_CORE)
            status = lbi_crew_bind(crew, i, UINT32_MAX, err);
    return status == LB_OK ? lbi_crew_release(crew, err) : status;
}

static lb_status run(lbi_crew *crew, const lb_workload *workload, lb_trace **ret_trace,
                     lb_error *err) {
    lb_status status = lbi_crew_calibrate(crew, err);
    if (status == LB_OK)
        status = place(crew, workload, err);
    if (status == LB_OK)
        status = start(crew, workload, err);
    if (status == LB_OK)
        status = lbi_crew_finish(crew, err);
    return status == LB_OK ? lbi_crew_trace(crew, "workload", ret_trace, err) : status;
}

static lb_status empty_trace(const lb_host *host, lb_trace **ret_trace, lb_error *err) {
    lb_trace *trace = NULL;
    lb_status status = lb_trace_new(host->cores, &trace, err);
    if (status == LB_OK)
        status = lb_trace_seal(trace, err);
    if (status == LB_OK)
        *ret_trace = trace;
    else
        lb_trace_free(trace);
    return status;
}

static lb_status run_workload(const lb_host *host, const lb_workload *workload,
                              const lb_experiment_options *options, lb_trace **ret_trace,
                              lb_error *err) {
    lb_status status = check(host, workload, options, err);
    if (status != LB_OK)
        return status;
    uint32_t n = (uint32_t)lb_workload_size(workload);
    if (n == 0)
        return empty_trace(host, ret_trace, err);
    size_t *capacities = lbi_array_new(n, sizeof *capacities);
    if (capacities == NULL)
        return lbi_error_nomem(err, "the workers");
    for (uint32_t i = 0; i < n; i++)
        capacities[i] = capacity(lbi_workload_work(workload, i), options->unit_work);
    lbi_crew crew;
    status = lbi_crew_begin(&crew, host, options, n, capacities, err);
    free(capacities);
    if (status != LB_OK)
        return status;
    status = run(&crew, workload, ret_trace, err);
    lbi_crew_end(&crew);
    return status;
}

lb_status lb_experiment_workload(const lb_host *host, const lb_workload *workload,
                                 const lb_experiment_options *options, lb_trace **ret_trace,
                                 lb_error *err) {
    lb_experiment_options read;
    lb_host *opened = NULL;
    lb_status status = lbi_experiment_options_read(options, &read, err);
    if (status == LB_OK)
        status = lbi_usable_host(host, &host, &opened, err);
    if (status == LB_OK)
        status = run_workload(host, workload, &read, ret_trace, err);
    lb_host_free(opened);
    return status;
}
