/* SPDX-License-Identifier: BSD-3-Clause */
#include "experiment/peak.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/statistics.h"
#include "base/text.h"

#define FLAT 0.02 /* less below the largest throughput than this part of it is as good */
#define PASSED 4  /* times the users at the peak */
#define METRIC "jobs_per_minute"

/* The mean and deviation of the throughput of so many users. */
typedef struct level {
    uint32_t users;
    double mean, stddev;
} level;

static uint32_t users_of(const char *label) {
    static const char prefix[] = "users ";
    uint64_t users = 0;
    size_t length = sizeof prefix - 1;
    if (strncmp(label, prefix, length) != 0 ||
        !lbi_parse_unsigned(label + length, label + strlen(label), UINT32_MAX, &users))
        return 0;
    return (uint32_t)users;
}

static int compare(const void *a, const void *b) {
    uint32_t x = ((const level *)a)->users, y = ((const level *)b)->users;
    return x < y ? -1 : x > y ? 1 : 0;
}

/* Disturbed runs count only where there are no others. */
static void measure(const lb_table *table, level *l, double *values) {
    for (int valid = 1; valid >= 0; valid--) {
        size_t n = 0;
        for (size_t i = 0; i < lb_table_rows(table); i++)
            if (users_of(lb_table_label(table, i)) == l->users &&
                lb_table_get(table, i, "valid") == valid)
                values[n++] = lb_table_get(table, i, METRIC);
        if (n == 0)
            continue;
        l->mean = lbi_mean(values, n);
        l->stddev = lbi_stddev(values, n);
        return;
    }
}

/* By users. NULL: no memory. */
static level *list_levels(const lb_table *table, size_t *ret_n) {
    size_t rows = lb_table_rows(table), n = 0;
    level *levels = lbi_array_new(rows, sizeof *levels);
    double *values = lbi_array_new(rows, sizeof *values);
    for (size_t i = 0; levels != NULL && values != NULL && i < rows; i++) {
        uint32_t users = users_of(lb_table_label(table, i));
        size_t at = 0;
        while (at < n && levels[at].users != users)
            at++;
        if (users == 0 || at < n)
            continue;
        levels[n].users = users;
        measure(table, &levels[n++], values);
    }
    if (values == NULL) {
        free(levels);
        return NULL;
    }
    free(values);
    if (levels != NULL && n > 0)
        qsort(levels, n, sizeof *levels, compare);
    *ret_n = n;
    return levels;
}

/* The fewest users with next to the largest throughput: past it the curve may be flat, and where
 * its very largest value lies is chance then. */
static const level *peak_of(const level *levels, size_t n) {
    double largest = 0;
    const level *peak = levels;
    for (size_t i = 0; i < n; i++)
        largest = levels[i].mean > largest ? levels[i].mean : largest;
    while (peak < levels + n - 1 && peak->mean < (1 - FLAT) * largest)
        peak++;
    return peak;
}

bool lbi_peak_passed(const lb_table *table, uint32_t users) {
    size_t n;
    level *levels = list_levels(table, &n);
    bool passed = levels == NULL || n == 0 || users >= PASSED * peak_of(levels, n)->users;
    free(levels);
    return passed;
}

/* What throughput changes by, in percent of the peak's, each time that the users double past it: a
 * least squares line over the logarithm of users. */
static double slope_past(const level *peak, const level *end) {
    double n = 0, x = 0, y = 0, xx = 0, xy = 0;
    for (const level *l = peak; l < end; l++) {
        double users = log2((double)l->users / peak->users), rate = 100 * l->mean / peak->mean;
        n++;
        x += users;
        y += rate;
        xx += users * users;
        xy += users * rate;
    }
    return n < 2 ? NAN : (n * xy - x * y) / (n * xx - x * x);
}

lb_status lbi_peak_describe(lb_table *table, lb_error *err) {
    static const char *const keys[] = {"peak_jobs_per_minute", "peak_deviation_percent",
                                       "users_at_peak", "largest_users", "slope_past_peak_percent"};
    size_t n;
    level *levels = list_levels(table, &n);
    if (levels == NULL)
        return lbi_error_nomem(err, "the peak");
    lb_status status = LB_OK;
    if (n > 0) {
        const level *peak = peak_of(levels, n);
        double values[] = {peak->mean, 100 * peak->stddev / peak->mean, peak->users,
                           levels[n - 1].users, slope_past(peak, levels + n)};
        for (size_t i = 0; i < sizeof keys / sizeof *keys && status == LB_OK; i++) {
            char text[32];
            lbi_snprintf(text, sizeof text, "%.6g", values[i]);
            if (isfinite(values[i]))
                status = lb_table_set_meta(table, keys[i], text, err);
        }
    }
    free(levels);
    return status;
}
