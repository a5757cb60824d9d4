/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "harness.h"

static lb_trace *new_trace(uint32_t cores) {
    lb_error err;
    lb_trace *trace;
    ASSERT_OK(lb_trace_new(cores, &trace, &err), err);
    return trace;
}

static void add_unit(lb_trace *trace, uint32_t task, uint32_t index, int64_t start, int64_t end) {
    lb_error err;
    lb_unit unit = {start, end, -1, task, index, -1, -1};
    ASSERT_OK(lb_trace_add_unit(trace, &unit, &err), err);
}

#define MS INT64_C(1000000)

static double meta(const lb_table *table, const char *key) {
    ck_assert_ptr_nonnull(lb_table_meta(table, key));
    /* Not by strtod(), which reads 0 of "0.28" under a comma locale. */
    const char *text = lb_table_meta(table, key);
    double value;
    ck_assert(lbi_parse_number(text, text + strlen(text), &value));
    return value;
}

/* Two cores. Tasks 0, 1, 2 from 0 ms; 2 ends at 60, 1 at 100, 0 at 130 ms. */
static lb_trace *staircase(void) {
    lb_error err;
    lb_trace *t = new_trace(2);
    add_unit(t, 0, 0, 0, 30 * MS);
    add_unit(t, 0, 1, 30 * MS, 60 * MS);
    add_unit(t, 0, 2, 60 * MS, 80 * MS);
    add_unit(t, 0, 3, 80 * MS, 110 * MS); /* straddles the end of task 1 */
    add_unit(t, 0, 4, 110 * MS, 130 * MS);
    add_unit(t, 1, 0, 0, 36 * MS);
    add_unit(t, 1, 1, 36 * MS, 70 * MS); /* straddles the end of task 2 */
    add_unit(t, 1, 2, 70 * MS, 100 * MS);
    add_unit(t, 2, 0, 0, 24 * MS);
    add_unit(t, 2, 1, 24 * MS, 60 * MS);
    ASSERT_OK(lb_trace_seal(t, &err), err);
    return t;
}

START_TEST(by_hand) {
    lb_error err;
    lb_table *table;
    lb_trace *t = staircase();
    ASSERT_OK(lb_trace_profile(t, NULL, &table, &err), err);
    ck_assert_uint_eq(lb_table_rows(table), 3);
    ck_assert_uint_eq(lb_table_columns(table), 8);
    static const char *const names[] = {"concurrency", "mean_s", "stddev_s",
                                        "stderr_s",    "units",  "model_s"};
    for (size_t i = 0; i < 6; i++)
        ck_assert_str_eq(lb_table_name(table, i), names[i]);
    /* One task: 20 ms, one unit: no deviation. */
    ck_assert_double_eq(lb_table_get(table, 0, "concurrency"), 1);
    ck_assert_double_eq_tol(lb_table_get(table, 0, "mean_s"), 0.020, 1e-12);
    ck_assert(isnan(lb_table_get(table, 0, "stddev_s")));
    ck_assert_double_eq(lb_table_get(table, 0, "units"), 1);
    ck_assert_double_eq_tol(lb_table_get(table, 0, "model_s"), 0.020, 1e-12);
    /* Two: 20 and 30 ms. */
    ck_assert_double_eq_tol(lb_table_get(table, 1, "mean_s"), 0.025, 1e-12);
    ck_assert_double_eq_tol(lb_table_get(table, 1, "stddev_s"), sqrt(5e-5), 1e-12);
    ck_assert_double_eq_tol(lb_table_get(table, 1, "stderr_s"), 0.005, 1e-12);
    ck_assert_double_eq_tol(lb_table_get(table, 1, "model_s"), 0.020, 1e-12);
    /* Three: 30, 30, 36, 24 and 36 ms. */
    ck_assert_double_eq(lb_table_get(table, 2, "units"), 5);
    ck_assert_double_eq_tol(lb_table_get(table, 2, "mean_s"), 0.0312, 1e-12);
    ck_assert_double_eq_tol(lb_table_get(table, 2, "stddev_s"), sqrt(2.52e-5), 1e-12);
    ck_assert_double_eq_tol(lb_table_get(table, 2, "model_s"), 0.030, 1e-12);
    /* Off the mean by -1.2, -1.2, 4.8, -7.2 and 4.8: second moment 20.16, fourth 750.6432. */
    double error = sqrt((750.6432 - 20.16 * 20.16) / 5 / 20.16) / 2 * 1e-3;
    ck_assert(isnan(lb_table_get(table, 0, "stddev_stderr_s")));
    ck_assert_double_eq_tol(lb_table_get(table, 2, "stddev_stderr_s"), error, 1e-12);
    ck_assert_double_eq(lb_table_get(table, 0, "modulo"), 1);
    ck_assert_double_eq(lb_table_get(table, 1, "modulo"), 0);
    ck_assert_double_eq(lb_table_get(table, 2, "modulo"), 1);
    /* Two tasks are a multiple of the cores, three are not, one has no deviation. */
    ck_assert_double_eq_tol(meta(table, "deviation_multiples"), sqrt(5e-5) / 0.025, 1e-12);
    ck_assert_double_eq_tol(meta(table, "deviation_others"), sqrt(2.52e-5) / 0.0312, 1e-12);
    ck_assert_double_eq_tol(meta(table, "deviation_others_stderr"), error / 0.0312, 1e-12);
    lb_table_free(table);
    lb_trace_free(t);
}
END_TEST

START_TEST(model_column) {
    lb_error err;
    lb_table *table = NULL;
    lb_trace *t = staircase();
    ASSERT_OK(lb_trace_set_unit_work(t, 0.021, &err), err);
    /* Unequal cores: 1 and 0.5. */
    double speeds[] = {0.5, 1};
    lb_model_options o;
    lb_model *model;
    lb_model_options_init(&o, sizeof o);
    o.cores = 2;
    o.core_speeds = speeds;
    ASSERT_OK(lb_model_new(&o, &model, &err), err);
    ASSERT_OK(lb_trace_profile(t, model, &table, &err), err);
    ck_assert_double_eq_tol(lb_table_get(table, 0, "model_s"), 0.021, 1e-12);
    ck_assert_double_eq_tol(lb_table_get(table, 1, "model_s"), 0.021 * 2 / 1.5, 1e-12);
    ck_assert_double_eq_tol(lb_table_get(table, 2, "model_s"), 0.021 * 3 / 1.5, 1e-12);
    lb_table_free(table);
    lb_model_free(model);

    o.cores = 3;
    o.core_speeds = NULL;
    table = NULL;
    ASSERT_OK(lb_model_new(&o, &model, &err), err);
    ASSERT_REFUSED(lb_trace_profile(t, model, &table, &err), LB_ERR_INVALID, "3 cores", err);
    ck_assert_ptr_null(table);
    lb_model_free(model);
    lb_trace_free(t);
}
END_TEST

START_TEST(empty_and_unsealed) {
    lb_error err;
    lb_table *table = NULL;
    lb_trace *t = new_trace(UINT32_MAX);
    ASSERT_OK(lb_trace_profile(t, NULL, &table, &err), err);
    ck_assert_uint_eq(lb_table_rows(table), 0);
    lb_table_free(table);
    table = NULL;
    add_unit(t, 0, 0, 0, MS);
    ASSERT_REFUSED(lb_trace_profile(t, NULL, &table, &err), LB_ERR_INVALID, "sealed", err);
    ck_assert_ptr_null(table);
    ASSERT_OK(lb_trace_seal(t, &err), err);
    ASSERT_OK(lb_trace_profile(t, NULL, &table, &err), err);
    ck_assert_uint_eq(lb_table_rows(table), 1);
    lb_table_free(table);
    lb_trace_free(t);
}
END_TEST

/* The seed's table: 1000 ms on four cores. The model's column is within 0.4 % of what was measured
 * where the trace consists of units of the measured durations. */
START_TEST(the_seeds_table) {
    static const double mean_ms[] = {1004.10, 1003.91, 1003.94, 1006.18, 1257.03, 1511.71,
                                     1758.99, 2011.40, 2262.19, 2512.40, 2764.91, 3019.13};
    lb_error err;
    lb_table *table;
    lb_trace *t = new_trace(4);
    /* Task i runs through the intervals of 12, 11, .. i + 1 tasks, three units in each. */
    for (uint32_t task = 0; task < 12; task++) {
        int64_t time = 0;
        uint32_t index = 0;
        for (uint32_t running = 12; running > task; running--)
            for (int i = 0; i < 3; i++) {
                int64_t end = time + llround(mean_ms[running - 1] * 1e6);
                add_unit(t, task, index++, time, end);
                time = end;
            }
    }
    ASSERT_OK(lb_trace_seal(t, &err), err);
    ASSERT_OK(lb_trace_profile(t, NULL, &table, &err), err);
    ck_assert_uint_eq(lb_table_rows(table), 12);
    for (size_t i = 0; i < 12; i++) {
        double measured = lb_table_get(table, i, "mean_s");
        ck_assert_double_eq(lb_table_get(table, i, "units"), 3.0 * (double)(i + 1));
        ck_assert_double_eq_tol(measured, mean_ms[i] / 1e3, 1e-9);
        ck_assert_double_eq_tol(lb_table_get(table, i, "model_s") / measured, 1, 0.004);
    }
    lb_table_free(table);
    lb_trace_free(t);
}
END_TEST

START_TEST(memory_runs_out) {
    lb_error err;
    lb_status status;
    size_t failures;
    lb_trace *t = staircase();
    SWEEP_ALLOCATIONS(status, failures, {
        lb_table *table = NULL;
        status = lb_trace_profile(t, NULL, &table, &err);
        lb_table_free(table);
    });
    ck_assert_uint_ge(failures, 5);
    lb_trace_free(t);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("profile");
    ADD(s, "profile", by_hand, model_column, empty_and_unsealed, the_seeds_table, memory_runs_out);
    return s;
}
