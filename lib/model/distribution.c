/* SPDX-License-Identifier: BSD-3-Clause */
#include "distribution.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "moments.h"

lb_status lbi_distribution_new(size_t processes, lb_distribution **ret_distribution,
                               lb_error *err) {
    lb_distribution *distribution = malloc(sizeof *distribution);
    if (distribution == NULL)
        return lbi_error_nomem(err, "a distribution");
    *distribution = (lb_distribution){.processes = processes};
    *ret_distribution = distribution;
    return LB_OK;
}

void lb_distribution_free(lb_distribution *distribution) {
    if (distribution == NULL)
        return;
    free(distribution->numbers);
    free(distribution->weights);
    free(distribution->values);
    free(distribution);
}

bool lbi_distribution_reserve(lb_distribution *d, size_t rows) {
    size_t width = lbi_distribution_width(d);
    return rows <= SIZE_MAX / width &&
           lbi_array_reserve(&d->numbers, &d->row_capacity, rows, sizeof *d->numbers) &&
           lbi_array_reserve(&d->weights, &d->weight_capacity, rows, sizeof *d->weights) &&
           lbi_array_reserve(&d->values, &d->value_capacity, rows * width, sizeof *d->values);
}

uint64_t lb_distribution_samples(const lb_distribution *distribution) {
    return distribution->rows;
}

/* ---- joining ---- */

static bool overlap(const lb_distribution *a, const lb_distribution *b, uint64_t *ret_number) {
    for (size_t i = 0, k = 0; i < a->rows && k < b->rows;) {
        if (a->numbers[i] == b->numbers[k]) {
            *ret_number = a->numbers[i];
            return true;
        }
        *(a->numbers[i] < b->numbers[k] ? &i : &k) += 1;
    }
    return false;
}

static void copy_row(lb_distribution *to, size_t row, const lb_distribution *from, size_t source) {
    size_t width = lbi_distribution_width(to);
    to->numbers[row] = from->numbers[source];
    to->weights[row] = from->weights[source];
    memmove(to->values + row * width, from->values + source * width, width * sizeof *to->values);
}

lb_status lb_distribution_merge(lb_distribution *into, const lb_distribution *from, lb_error *err) {
    uint64_t twice;
    if (into->exact || from->exact)
        return lbi_error(err, LB_ERR_INVALID, "an exact distribution is whole: nothing to merge");
    if (into->processes != from->processes || into->problem != from->problem)
        return lbi_error(err, LB_ERR_INVALID,
                         "distributions of %zu and %zu processes: of the same model, workload and "
                         "seed expected",
                         into->processes, from->processes);
    if (overlap(into, from, &twice))
        return lbi_error(err, LB_ERR_INVALID, "realisation %llu is in both distributions",
                         (unsigned long long)twice);
    if (!lbi_distribution_reserve(into, into->rows + from->rows))
        return lbi_error_nomem(err, "a distribution");
    /* From the back, so that no row is overwritten before it has moved. */
    size_t a = into->rows, b = from->rows;
    for (size_t row = a + b; b > 0; row--)
        if (a > 0 && into->numbers[a - 1] > from->numbers[b - 1])
            copy_row(into, row - 1, into, --a);
        else
            copy_row(into, row - 1, from, --b);
    into->rows += from->rows;
    return LB_OK;
}

/* ---- asking ---- */

static lb_status column_of(const lb_distribution *distribution, size_t index, size_t *ret_column,
                           lb_error *err) {
    if (index != LB_MAKESPAN && index >= distribution->processes)
        return lbi_error(err, LB_ERR_INVALID,
                         "distribution of process %zu: there are %zu processes", index,
                         distribution->processes);
    *ret_column = index == LB_MAKESPAN ? distribution->processes : index;
    return LB_OK;
}

lb_status lb_distribution_duration(const lb_distribution *distribution, size_t index,
                                   lb_duration *ret_duration, lb_error *err) {
    size_t column = 0;
    lb_status status = column_of(distribution, index, &column, err);
    if (status != LB_OK)
        return status;
    lbi_moments moments;
    lbi_moments_clear(&moments, 1);
    for (size_t row = 0; row < distribution->rows; row++)
        lbi_moments_add(&moments,
                        distribution->values + row * lbi_distribution_width(distribution) + column,
                        1, distribution->weights[row]);
    *ret_duration = lbi_moments_duration(&moments, distribution->rows, distribution->exact);
    return LB_OK;
}

typedef struct weighed {
    double value, weight;
} weighed;

static int less_first(const void *left, const void *right) {
    double a = ((const weighed *)left)->value, b = ((const weighed *)right)->value;
    return a < b ? -1 : a > b;
}

lb_status lb_distribution_quantile(const lb_distribution *distribution, size_t index, double p,
                                   double *ret_seconds, lb_error *err) {
    size_t column = 0, rows = distribution->rows;
    lb_status status = column_of(distribution, index, &column, err);
    if (status != LB_OK)
        return status;
    if (!(p >= 0 && p <= 1))
        return lbi_error(err, LB_ERR_INVALID, "p is %g: 0 to 1 expected", p);
    weighed *sorted = lbi_array_new(rows, sizeof *sorted);
    if (sorted == NULL)
        return lbi_error_nomem(err, "a quantile");
    double total = 0, sum = 0;
    for (size_t row = 0; row < rows; row++) {
        sorted[row].value =
            distribution->values[row * lbi_distribution_width(distribution) + column];
        sorted[row].weight = distribution->weights[row];
        total += sorted[row].weight;
    }
    qsort(sorted, rows, sizeof *sorted, less_first);
    double seconds = INFINITY;
    for (size_t row = 0; row < rows; row++) {
        sum += sorted[row].weight;
        seconds = sorted[row].value;
        /* a margin for sums of probabilities */
        if (sum >= p * total * (1 - 1e-12))
            break;
    }
    free(sorted);
    *ret_seconds = seconds;
    return LB_OK;
}
