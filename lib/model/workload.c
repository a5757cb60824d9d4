/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "workload_parts.h"

lb_status lb_workload_new(lb_workload **ret_workload, lb_error *err) {
    lb_workload *workload = malloc(sizeof *workload);
    if (workload == NULL)
        return lbi_error_nomem(err, "a workload");
    *workload = (lb_workload){0};
    *ret_workload = workload;
    return LB_OK;
}

void lb_workload_free(lb_workload *workload) {
    if (workload == NULL)
        return;
    free(workload->works);
    free(workload->arrivals);
    free(workload->weights);
    free(workload->first_cores);
    free(workload->has_events);
    free(workload->events);
    free(workload);
}

void lb_workload_clear(lb_workload *workload) {
    workload->size = workload->event_count = 0;
    workload->weighted = workload->cored = workload->arriving = false;
}

size_t lb_workload_size(const lb_workload *workload) {
    return workload->size;
}

/* ---- the optional arrays ---- */

static bool reserve_doubles(double **array, size_t *capacity, size_t count) {
    return lbi_array_reserve(array, capacity, count, sizeof **array);
}

static bool use_arrivals(lb_workload *workload) {
    if (workload->arriving)
        return true;
    if (!reserve_doubles(&workload->arrivals, &workload->arrivals_capacity, workload->size))
        return false;
    for (size_t i = 0; i < workload->size; i++)
        workload->arrivals[i] = 0;
    return workload->arriving = true;
}

static bool use_weights(lb_workload *workload) {
    if (workload->weighted)
        return true;
    if (!reserve_doubles(&workload->weights, &workload->weights_capacity, workload->size))
        return false;
    for (size_t i = 0; i < workload->size; i++)
        workload->weights[i] = 1;
    return workload->weighted = true;
}

static bool use_first_cores(lb_workload *workload) {
    if (workload->cored)
        return true;
    if (!lbi_array_reserve(&workload->first_cores, &workload->first_cores_capacity, workload->size,
                           sizeof *workload->first_cores))
        return false;
    for (size_t i = 0; i < workload->size; i++)
        workload->first_cores[i] = LBI_ANY_CORE;
    return workload->cored = true;
}

static bool use_events(lb_workload *workload) {
    if (!lbi_array_reserve(&workload->events, &workload->events_capacity, workload->event_count + 1,
                           sizeof *workload->events))
        return false;
    if (workload->event_count > 0)
        return true;
    if (!lbi_array_reserve(&workload->has_events, &workload->has_events_capacity, workload->size,
                           1))
        return false;
    memset(workload->has_events, 0, workload->size);
    return true;
}

/* Room for `count` processes in every array that is in use. */
static bool reserve(lb_workload *workload, size_t count) {
    return reserve_doubles(&workload->works, &workload->works_capacity, count) &&
           (!workload->arriving ||
            reserve_doubles(&workload->arrivals, &workload->arrivals_capacity, count)) &&
           (!workload->weighted ||
            reserve_doubles(&workload->weights, &workload->weights_capacity, count)) &&
           (!workload->cored ||
            lbi_array_reserve(&workload->first_cores, &workload->first_cores_capacity, count,
                              sizeof *workload->first_cores)) &&
           (workload->event_count == 0 ||
            lbi_array_reserve(&workload->has_events, &workload->has_events_capacity, count, 1));
}

/* ---- adding and setting ---- */

lb_status lb_workload_add_many(lb_workload *workload, const double *work, size_t n,
                               size_t *ret_first, lb_error *err) {
    size_t first = workload->size;
    for (size_t i = 0; i < n; i++)
        if (!(work[i] >= 0))
            return lbi_error(err, LB_ERR_INVALID, "work[%zu] is %g s: 0 to infinity expected",
                             first + i, work[i]);
    if (n > LBI_PROCESSES_MAX - first || !reserve(workload, first + n))
        return lbi_error_nomem(err, "a workload's processes");
    for (size_t i = first; i < first + n; i++) {
        workload->works[i] = work[i - first];
        if (workload->arriving)
            workload->arrivals[i] = 0;
        if (workload->weighted)
            workload->weights[i] = 1;
        if (workload->cored)
            workload->first_cores[i] = LBI_ANY_CORE;
        if (workload->event_count > 0)
            workload->has_events[i] = 0;
    }
    workload->size = first + n;
    if (ret_first != NULL)
        *ret_first = first;
    return LB_OK;
}

lb_status lb_workload_add(lb_workload *workload, double work, size_t *ret_index, lb_error *err) {
    return lb_workload_add_many(workload, &work, 1, ret_index, err);
}

static lb_status check_index(const lb_workload *workload, const char *what, size_t index,
                             lb_error *err) {
    if (index < workload->size)
        return LB_OK;
    return lbi_error(err, LB_ERR_INVALID, "%s of process %zu: there are %zu processes", what, index,
                     workload->size);
}

lb_status lb_workload_set_arrival(lb_workload *workload, size_t index, double time, lb_error *err) {
    lb_status status = check_index(workload, "arrival", index, err);
    if (status != LB_OK)
        return status;
    if (!(time >= 0 && isfinite(time)))
        return lbi_error(err, LB_ERR_INVALID, "arrival[%zu] is %g s: 0 or more and finite expected",
                         index, time);
    if (workload->event_count > 0 && workload->has_events[index])
        return lbi_error(err, LB_ERR_INVALID,
                         "arrival[%zu] is %g s: process %zu has events already", index, time,
                         index);
    if (!use_arrivals(workload))
        return lbi_error_nomem(err, "a workload's arrivals");
    workload->arrivals[index] = time;
    return LB_OK;
}

lb_status lb_workload_set_weights(lb_workload *workload, size_t first, const double *weights,
                                  size_t n, lb_error *err) {
    if (first > workload->size || n > workload->size - first)
        return lbi_error(err, LB_ERR_INVALID,
                         "weights of %zu processes from %zu on: there are %zu processes", n, first,
                         workload->size);
    for (size_t i = 0; i < n; i++)
        if (!(weights[i] > 0 && isfinite(weights[i])))
            return lbi_error(err, LB_ERR_INVALID, "weight[%zu] is %g: above 0 and finite expected",
                             first + i, weights[i]);
    if (!use_weights(workload))
        return lbi_error_nomem(err, "a workload's weights");
    if (n > 0)
        memcpy(workload->weights + first, weights, n * sizeof *weights);
    return LB_OK;
}

lb_status lb_workload_set_weight(lb_workload *workload, size_t index, double weight,
                                 lb_error *err) {
    lb_status status = check_index(workload, "weight", index, err);
    return status == LB_OK ? lb_workload_set_weights(workload, index, &weight, 1, err) : status;
}

lb_status lb_workload_set_first_core(lb_workload *workload, size_t index, uint32_t core,
                                     lb_error *err) {
    lb_status status = check_index(workload, "first core", index, err);
    if (status != LB_OK)
        return status;
    if (core == LBI_ANY_CORE)
        return lbi_error(err, LB_ERR_INVALID,
                         "first core of process %zu is %u: there is no such core", index,
                         (unsigned)core);
    if (!use_first_cores(workload))
        return lbi_error_nomem(err, "a workload's first cores");
    workload->first_cores[index] = core;
    return LB_OK;
}

lb_status lb_workload_add_event(lb_workload *workload, size_t index, double time,
                                lb_event_kind kind, lb_error *err) {
    lb_status status = check_index(workload, "event", index, err);
    if (status != LB_OK)
        return status;
    if ((int)kind < LB_EVENT_STOP || (int)kind > LB_EVENT_WAKE)
        return lbi_error(err, LB_ERR_INVALID,
                         "event of process %zu is of kind %d: an lb_event_kind of %d to %d "
                         "expected",
                         index, (int)kind, LB_EVENT_STOP, LB_EVENT_WAKE);
    double arrival = workload->arriving ? workload->arrivals[index] : 0;
    if (!(time >= arrival && isfinite(time)))
        return lbi_error(err, LB_ERR_INVALID,
                         "event of process %zu at %g s: finite and not before its arrival at %g s "
                         "expected",
                         index, time, arrival);
    if (!use_events(workload))
        return lbi_error_nomem(err, "a workload's events");
    workload->events[workload->event_count++] =
        (lbi_event){.time = time, .index = (uint32_t)index, .kind = (int32_t)kind};
    workload->has_events[index] = 1;
    return LB_OK;
}

/* ---- reading ---- */

double lbi_workload_work(const lb_workload *workload, size_t index) {
    return workload->works[index];
}

uint32_t lbi_workload_first_core(const lb_workload *workload, size_t index) {
    return workload->cored ? workload->first_cores[index] : LBI_ANY_CORE;
}

bool lbi_workload_has_arrivals(const lb_workload *workload) {
    for (size_t i = 0; workload->arriving && i < workload->size; i++)
        if (workload->arrivals[i] > 0)
            return true;
    return false;
}

bool lbi_workload_has_weights(const lb_workload *workload) {
    for (size_t i = 0; workload->weighted && i < workload->size; i++)
        if (workload->weights[i] != 1)
            return true;
    return false;
}

bool lbi_workload_has_events(const lb_workload *workload) {
    return workload->event_count > 0;
}

double lbi_workload_arrival(const lb_workload *workload, size_t index) {
    return workload->arriving ? workload->arrivals[index] : 0;
}

double lbi_workload_weight(const lb_workload *workload, size_t index) {
    return workload->weighted ? workload->weights[index] : 1;
}

const lbi_event *lbi_workload_events(const lb_workload *workload, size_t *ret_n) {
    *ret_n = workload->event_count;
    return workload->events;
}

static void *copied(const void *array, bool used, size_t count, size_t size, bool *failed) {
    if (!used || count == 0)
        return NULL;
    void *copy = lbi_array_new(count, size);
    if (copy == NULL)
        *failed = true;
    else
        memcpy(copy, array, count * size);
    return copy;
}

lb_status lbi_workload_copy(const lb_workload *workload, lb_workload **ret_copy, lb_error *err) {
    lb_workload *copy = NULL;
    lb_status status = lb_workload_new(&copy, err);
    if (status != LB_OK)
        return status;
    size_t size = workload->size;
    bool failed = false;
    copy->works = copied(workload->works, true, size, sizeof *copy->works, &failed);
    copy->arrivals =
        copied(workload->arrivals, workload->arriving, size, sizeof *copy->arrivals, &failed);
    copy->weights =
        copied(workload->weights, workload->weighted, size, sizeof *copy->weights, &failed);
    copy->first_cores =
        copied(workload->first_cores, workload->cored, size, sizeof *copy->first_cores, &failed);
    copy->events =
        copied(workload->events, true, workload->event_count, sizeof *copy->events, &failed);
    if (failed) {
        lb_workload_free(copy);
        return lbi_error_nomem(err, "a copy of a workload");
    }
    copy->size = size;
    copy->arriving = workload->arriving;
    copy->weighted = workload->weighted;
    copy->cored = workload->cored;
    copy->event_count = workload->event_count;
    return (*ret_copy = copy, LB_OK);
}
