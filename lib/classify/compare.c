/* SPDX-License-Identifier: BSD-3-Clause */
/* Two results of the same work under two conditions: how far are they apart, and is it chance? */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/options.h"
#include "base/statistics.h"
#include "base/text.h"
#include "trace/table_meta.h"

static const lb_compare_options defaults = {
    .size = sizeof(lb_compare_options),
    .confidence = 0.95,
    .smallest_effect = 0.02,
};

void lb_compare_options_init(lb_compare_options *options, size_t size) {
    lbi_options_write(options, size, &defaults, sizeof defaults);
}

static lb_status read_options(const lb_compare_options *options, lb_compare_options *ret,
                              lb_error *err) {
    *ret = defaults;
    lb_status status = lbi_options_read(options, ret, sizeof(lb_compare_options), sizeof *ret,
                                        "lb_compare_options", err);
    if (status != LB_OK)
        return status;
    if (!(ret->confidence >= 0.5 && ret->confidence < 1))
        return lbi_error(err, LB_ERR_INVALID, "confidence is %g: expected 0.5 to below 1",
                         ret->confidence);
    if (!(ret->smallest_effect >= 0 && ret->smallest_effect < 1))
        return lbi_error(err, LB_ERR_INVALID, "smallest_effect is %g: expected 0 to below 1",
                         ret->smallest_effect);
    return LB_OK;
}

/* One metric at one point of the sweep under one condition. */
typedef struct sample {
    double *values, *blocks; /* those that are valid; blocks NAN where the table has none */
    double *sorted;
    size_t count, invalid;
} sample;

typedef enum row_column {
    RUNS_BASE,
    RUNS_OTHER,
    INVALID_BASE,
    INVALID_OTHER,
    MEDIAN_BASE,
    MEDIAN_BASE_LOW,
    MEDIAN_BASE_HIGH,
    MEDIAN_OTHER,
    MEDIAN_OTHER_LOW,
    MEDIAN_OTHER_HIGH,
    SELF_BASE_PERCENT,
    SELF_OTHER_PERCENT,
    STDDEV_BASE_PERCENT,
    RELATIVE_PERCENT,
    RELATIVE_STDDEV_PERCENT,
    RATIO,
    RATIO_LOW,
    RATIO_HIGH,
    BLOCKS,
    P,
    P_ADJUSTED,
    SUPERIORITY,
    DIFFERENCE,
    ROW_COLUMNS
} row_column;

static const char *const column_names[ROW_COLUMNS] = {"runs_base",
                                                      "runs_other",
                                                      "invalid_base",
                                                      "invalid_other",
                                                      "median_base",
                                                      "median_base_low",
                                                      "median_base_high",
                                                      "median_other",
                                                      "median_other_low",
                                                      "median_other_high",
                                                      "self_base_percent",
                                                      "self_other_percent",
                                                      "stddev_base_percent",
                                                      "relative_percent",
                                                      "relative_stddev_percent",
                                                      "ratio",
                                                      "ratio_low",
                                                      "ratio_high",
                                                      "blocks",
                                                      "p",
                                                      "p_adjusted",
                                                      "superiority",
                                                      "difference"};

typedef struct row {
    double values[ROW_COLUMNS];
    const char *point, *metric;
} row;

typedef struct comparison {
    const lb_table *base, *other;
    lb_compare_options options;
    row *rows;
    size_t count, capacity;
    double *work; /* space for all pairs of runs */
    lb_error *err;
} comparison;

static void free_sample(sample *s) {
    free(s->values);
    *s = (sample){0};
}

/* The runs of a table at a point. What is invalid, or has no value, is counted and left out. */
static bool take_sample(const lb_table *table, const char *point, const char *metric, sample *ret) {
    size_t rows = lb_table_rows(table);
    *ret = (sample){0};
    double *space = lbi_array_new(3 * rows, sizeof *space);
    if (space == NULL)
        return false;
    ret->values = space;
    ret->blocks = space + rows;
    ret->sorted = space + 2 * rows;
    for (size_t i = 0; i < rows; i++) {
        if (strcmp(lb_table_label(table, i), point) != 0)
            continue;
        double value = lb_table_get(table, i, metric);
        if (lb_table_get(table, i, "valid") == 0 || !isfinite(value)) {
            ret->invalid++;
            continue;
        }
        ret->blocks[ret->count] = lb_table_get(table, i, "block");
        ret->sorted[ret->count] = value;
        ret->values[ret->count++] = value;
    }
    lbi_sort_doubles(ret->sorted, ret->count);
    return true;
}

static void describe(const comparison *c, const sample *s, double *ret_median, double *ret_low,
                     double *ret_high) {
    *ret_median = *ret_low = *ret_high = NAN;
    if (s->count == 0)
        return;
    double low, high;
    *ret_median = lbi_quantile(s->sorted, s->count, 0.5);
    if (!lbi_median_interval(s->sorted, s->count, c->options.confidence, &low, &high))
        return;
    *ret_low = low;
    *ret_high = high;
}

/* The mean of a block's runs; false: it has none. */
static bool block_mean(const sample *s, double block, double *ret_mean) {
    double sum = 0;
    size_t count = 0;
    for (size_t i = 0; i < s->count; i++)
        if (s->blocks[i] == block) {
            sum += s->values[i];
            count++;
        }
    *ret_mean = sum / (double)count;
    return count > 0;
}

/* Whether this run is the first of its block in the sample. */
static bool opens_block(const sample *s, size_t i) {
    for (size_t k = 0; k < i; k++)
        if (s->blocks[k] == s->blocks[i])
            return false;
    return !isnan(s->blocks[i]);
}

/* Differences of logarithms, one for each block that holds runs of both conditions: what changes
 * slowly in a machine meets both alike. */
static size_t block_differences(const sample *base, const sample *other, double *ret) {
    size_t count = 0;
    double x, y;
    for (size_t i = 0; i < base->count; i++)
        if (opens_block(base, i) && block_mean(base, base->blocks[i], &x) &&
            block_mean(other, base->blocks[i], &y) && x > 0 && y > 0)
            ret[count++] = log(y) - log(x);
    return count;
}

/* Of interleaved runs: signed ranks of the blocks' differences, and the interval of their median.
 */
static bool compare_blocks(const comparison *c, double *differences, size_t count, row *r) {
    double v, low, high;
    if (!lbi_signed_rank_test(differences, count, &v, &r->values[P]))
        return false;
    if (isnan(r->values[P]))
        r->values[P] = 1; /* no block differs */
    lbi_sort_doubles(differences, count);
    r->values[BLOCKS] = (double)count;
    r->values[RATIO] = exp(lbi_quantile(differences, count, 0.5));
    if (lbi_median_interval(differences, count, c->options.confidence, &low, &high)) {
        r->values[RATIO_LOW] = exp(low);
        r->values[RATIO_HIGH] = exp(high);
    }
    return true;
}

/* Of separate runs: Mann and Whitney's test, and the interval of the shift of logarithms that it
 * gives (Hodges and Lehmann, Estimates of Location Based on Rank Tests, 1963). */
static bool compare_separate(const comparison *c, const sample *base, const sample *other, row *r) {
    double u, low, high;
    if (!lbi_rank_sum_test(other->values, other->count, base->values, base->count, &u,
                           &r->values[P]))
        return false;
    size_t pairs = 0;
    for (size_t i = 0; i < base->count; i++)
        for (size_t k = 0; k < other->count; k++)
            if (base->values[i] > 0 && other->values[k] > 0)
                c->work[pairs++] = log(other->values[k]) - log(base->values[i]);
    if (pairs == 0 || pairs < base->count * other->count)
        return true; /* ratios are of positive numbers */
    lbi_sort_doubles(c->work, pairs);
    r->values[RATIO] = exp(lbi_quantile(c->work, pairs, 0.5));
    bool possible;
    if (!lbi_shift_interval(c->work, base->count, other->count, c->options.confidence, &low, &high,
                            &possible))
        return false;
    if (possible) {
        r->values[RATIO_LOW] = exp(low);
        r->values[RATIO_HIGH] = exp(high);
    }
    return true;
}

static double superiority(const sample *base, const sample *other) {
    double above = 0;
    for (size_t i = 0; i < base->count; i++)
        for (size_t k = 0; k < other->count; k++)
            above +=
                (other->values[k] > base->values[i]) + 0.5 * (other->values[k] == base->values[i]);
    return above / ((double)base->count * (double)other->count);
}

/* How far a machine differs from itself: the median difference of one run and the next of the same
 * condition, of the same block where there are blocks. */
static double self_percent(const sample *s, double *work) {
    size_t n = 0;
    for (size_t i = 1; i < s->count; i++) {
        double x = s->values[i - 1], y = s->values[i];
        bool neighbours =
            s->blocks[i] == s->blocks[i - 1] || (isnan(s->blocks[i]) && isnan(s->blocks[i - 1]));
        if (neighbours && x > 0 && y > 0)
            work[n++] = 100 * (x < y ? y / x - 1 : x / y - 1);
    }
    lbi_sort_doubles(work, n);
    return n > 0 ? lbi_quantile(work, n, 0.5) : NAN;
}

static bool fill_row(const comparison *c, const sample *base, const sample *other, row *r) {
    for (int i = 0; i < ROW_COLUMNS; i++)
        r->values[i] = NAN;
    r->values[RUNS_BASE] = (double)base->count;
    r->values[RUNS_OTHER] = (double)other->count;
    r->values[INVALID_BASE] = (double)base->invalid;
    r->values[INVALID_OTHER] = (double)other->invalid;
    r->values[BLOCKS] = 0;
    describe(c, base, &r->values[MEDIAN_BASE], &r->values[MEDIAN_BASE_LOW],
             &r->values[MEDIAN_BASE_HIGH]);
    describe(c, other, &r->values[MEDIAN_OTHER], &r->values[MEDIAN_OTHER_LOW],
             &r->values[MEDIAN_OTHER_HIGH]);
    r->values[SELF_BASE_PERCENT] = self_percent(base, c->work);
    r->values[SELF_OTHER_PERCENT] = self_percent(other, c->work);
    if (base->count == 0 || other->count == 0)
        return true;
    double mean = lbi_mean(base->values, base->count);
    r->values[STDDEV_BASE_PERCENT] = 100 * lbi_stddev(base->values, base->count) / mean;
    r->values[RELATIVE_PERCENT] = 100 * lbi_mean(other->values, other->count) / mean;
    r->values[RELATIVE_STDDEV_PERCENT] = 100 * lbi_stddev(other->values, other->count) / mean;
    r->values[SUPERIORITY] = superiority(base, other);
    size_t blocks = block_differences(base, other, c->work);
    return blocks > 0 ? compare_blocks(c, c->work, blocks, r) : compare_separate(c, base, other, r);
}

static lb_status add_row(comparison *c, const char *point, const char *metric) {
    sample base, other;
    bool done = take_sample(c->base, point, metric, &base);
    if (!done)
        return lbi_error_nomem(c->err, "a comparison");
    done = take_sample(c->other, point, metric, &other);
    if (done) {
        done = lbi_array_reserve(&c->rows, &c->capacity, c->count + 1, sizeof *c->rows);
        if (done) {
            row *r = &c->rows[c->count];
            r->point = point;
            r->metric = metric;
            done = fill_row(c, &base, &other, r);
            c->count += done;
        }
        free_sample(&other);
    }
    free_sample(&base);
    return done ? LB_OK : lbi_error_nomem(c->err, "a comparison");
}

static bool has_column(const lb_table *table, const char *name) {
    for (size_t i = 0; i < lb_table_columns(table); i++)
        if (strcmp(lb_table_name(table, i), name) == 0)
            return true;
    return false;
}

static bool has_label(const lb_table *table, const char *label, size_t rows) {
    for (size_t i = 0; i < rows; i++)
        if (strcmp(lb_table_label(table, i), label) == 0)
            return true;
    return false;
}

static bool is_metric(const comparison *c, const char *name) {
    if (c->options.metric != NULL)
        return strcmp(name, c->options.metric) == 0;
    return strcmp(name, "valid") != 0 && strcmp(name, "block") != 0;
}

/* Every point of the base that the other has too, and every metric of both. */
static lb_status add_rows(comparison *c) {
    for (size_t i = 0; i < lb_table_rows(c->base); i++) {
        const char *point = lb_table_label(c->base, i);
        if (has_label(c->base, point, i) || !has_label(c->other, point, lb_table_rows(c->other)))
            continue;
        for (size_t k = 0; k < lb_table_columns(c->base); k++) {
            const char *metric = lb_table_name(c->base, k);
            if (!is_metric(c, metric) || !has_column(c->other, metric))
                continue;
            lb_status status = add_row(c, point, metric);
            if (status != LB_OK)
                return status;
        }
    }
    return LB_OK;
}

/* 1, -1: the other is larger, smaller, by as much as is worth naming; 0: surely by less; NAN: not
 * decided. */
static double difference_of(const comparison *c, const row *r) {
    double least = 1 + c->options.smallest_effect;
    const double *v = r->values;
    if (v[RATIO_LOW] > 1 / least && v[RATIO_HIGH] < least)
        return 0;
    if (!(v[P_ADJUSTED] < 1 - c->options.confidence))
        return NAN;
    if (v[RATIO] >= least || (isnan(v[RATIO]) && v[SUPERIORITY] > 0.5))
        return 1;
    if (v[RATIO] <= 1 / least || (isnan(v[RATIO]) && v[SUPERIORITY] < 0.5))
        return -1;
    return NAN;
}

/* Over all rows, as each of them is a chance to be wrong. */
static bool adjust(comparison *c) {
    double *p = lbi_array_new(2 * c->count, sizeof *p);
    if (p == NULL)
        return false;
    for (size_t i = 0; i < c->count; i++)
        p[i] = c->rows[i].values[P];
    bool done = lbi_holm(p, c->count, p + c->count);
    for (size_t i = 0; i < c->count && done; i++) {
        c->rows[i].values[P_ADJUSTED] = p[c->count + i];
        c->rows[i].values[DIFFERENCE] = difference_of(c, &c->rows[i]);
    }
    free(p);
    return done;
}

/* What the two conditions say of themselves. */
static lb_status add_conditions(const comparison *c, lb_table *table) {
    char text[LBI_NUMBER_SIZE];
    lbi_format_number(c->options.confidence, text);
    lb_status status = lb_table_set_meta(table, "confidence", text, c->err);
    lbi_format_number(c->options.smallest_effect, text);
    if (status == LB_OK)
        status = lb_table_set_meta(table, "smallest_effect", text, c->err);
    if (status == LB_OK)
        status = lbi_table_copy_meta(table, c->base, "base.", c->err);
    if (status == LB_OK)
        status = lbi_table_copy_meta(table, c->other, "other.", c->err);
    return status;
}

/* A row's label: the point, and the metric where there are several. */
static lb_status write_rows(const comparison *c, lb_table *table) {
    for (size_t i = 0; i < c->count; i++) {
        const row *r = &c->rows[i];
        lbi_text label = {0};
        lbi_text_string(&label, r->point);
        if (c->options.metric == NULL) {
            lbi_text_string(&label, r->point[0] != '\0' ? ": " : "");
            lbi_text_string(&label, r->metric);
        }
        char *whole = lbi_text_take(&label, NULL);
        if (whole == NULL)
            return lbi_error_nomem(c->err, "a comparison");
        lb_status status = lb_table_add_row(table, whole, r->values, c->err);
        free(whole);
        if (status != LB_OK)
            return status;
    }
    return LB_OK;
}

static lb_status make_table(const comparison *c, lb_table **ret_table) {
    lb_table *table;
    lb_status status = lb_table_new(column_names, ROW_COLUMNS, &table, c->err);
    if (status != LB_OK)
        return status;
    status = add_conditions(c, table);
    if (status == LB_OK)
        status = write_rows(c, table);
    if (status == LB_OK)
        *ret_table = table;
    else
        lb_table_free(table);
    return status;
}

static lb_status check_tables(const comparison *c) {
    const char *metric = c->options.metric;
    if (metric == NULL)
        return LB_OK;
    if (!has_column(c->base, metric))
        return lbi_error(c->err, LB_ERR_INVALID, "metric is \"%s\": expected a column of `base`",
                         metric);
    if (!has_column(c->other, metric))
        return lbi_error(c->err, LB_ERR_INVALID, "metric is \"%s\": expected a column of `other`",
                         metric);
    return LB_OK;
}

lb_status lb_compare(const lb_table *base, const lb_table *other, const lb_compare_options *options,
                     lb_table **ret_table, lb_error *err) {
    comparison c = {.base = base, .other = other, .err = err};
    lb_status status = read_options(options, &c.options, err);
    if (status == LB_OK)
        status = check_tables(&c);
    if (status != LB_OK)
        return status;
    c.work = lbi_array_new(lb_table_rows(base), (lb_table_rows(other) + 1) * sizeof *c.work);
    status = c.work == NULL ? lbi_error_nomem(err, "a comparison") : add_rows(&c);
    if (status == LB_OK && c.count == 0)
        status =
            lbi_error(err, LB_ERR_INVALID,
                      "the tables have nothing in common: expected rows of the same label, and "
                      "a column of the same name");
    if (status == LB_OK && !adjust(&c))
        status = lbi_error_nomem(err, "a comparison");
    if (status == LB_OK)
        status = make_table(&c, ret_table);
    free(c.rows);
    free(c.work);
    return status;
}
