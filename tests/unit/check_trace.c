/* SPDX-License-Identifier: BSD-3-Clause */
/* Traces as objects: what is put in, sealing, going through the tasks. */
#include <math.h>
#include <string.h>

#include "base/random.h"
#include "harness.h"
#include "trace/tasks.h"

static lb_trace *make_trace(uint32_t cores) {
    lb_trace *trace = NULL;
    lb_error err = {0};
    ASSERT_OK(lb_trace_new(cores, &trace, &err), err);
    return trace;
}

static lb_unit unit(uint32_t task, uint32_t index, int64_t start_ns, int64_t end_ns) {
    return (lb_unit){start_ns, end_ns, -1, task, index, -1, -1};
}

static void add_unit(lb_trace *trace, uint32_t task, uint32_t index, int64_t start_ns,
                     int64_t end_ns) {
    lb_error err = {0};
    lb_unit added = unit(task, index, start_ns, end_ns);
    ASSERT_OK(lb_trace_add_unit(trace, &added, &err), err);
}

static void add_slice(lb_trace *trace, uint32_t task, int64_t start_ns, int64_t end_ns,
                      int32_t core) {
    lb_error err = {0};
    ASSERT_OK(lb_trace_add_slice(trace, &(lb_slice){start_ns, end_ns, task, core}, &err), err);
}

static void add_mark(lb_trace *trace, int64_t time_ns, uint32_t task, lb_mark_kind kind) {
    lb_error err = {0};
    ASSERT_OK(lb_trace_add_mark(trace, &(lb_mark){time_ns, task, kind}, &err), err);
}

static void seal(lb_trace *trace) {
    lb_error err = {0};
    ASSERT_OK(lb_trace_seal(trace, &err), err);
}

static bool is_sealed(const lb_trace *trace) {
    char *text = NULL;
    lb_error err = {0};
    lb_status status = lb_trace_format(trace, LB_TRACE_CSV, &text, NULL, &err);
    lb_free(text);
    ck_assert(status == LB_OK || strstr(err.message, "not sealed") != NULL);
    return status == LB_OK;
}

START_TEST(new_trace_is_empty) {
    lb_trace *trace = make_trace(4);
    size_t n = 9;
    ck_assert_uint_eq(lb_trace_cores(trace), 4);
    ck_assert_uint_eq(lb_trace_tasks(trace), 0);
    ck_assert_double_nan(lb_trace_unit_work(trace));
    ck_assert_ptr_null(lb_trace_units(trace, &n));
    ck_assert_uint_eq(n, 0);
    ck_assert_ptr_null(lb_trace_slices(trace, &n));
    ck_assert_ptr_null(lb_trace_marks(trace, &n));
    ck_assert(is_sealed(trace));
    seal(trace);
    lb_trace_free(trace);
    lb_trace_free(NULL);
    lb_error err;
    ASSERT_REFUSED(lb_trace_new(0, &trace, &err), LB_ERR_INVALID, "cores is 0", err);
}
END_TEST

START_TEST(unit_work_is_checked) {
    lb_trace *trace = make_trace(1);
    lb_error err = {0};
    ASSERT_OK(lb_trace_set_unit_work(trace, 0.01, &err), err);
    const double bad[] = {0, -1, INFINITY, -INFINITY};
    for (size_t i = 0; i < 4; i++)
        ASSERT_REFUSED(lb_trace_set_unit_work(trace, bad[i], &err), LB_ERR_INVALID, "unit work is",
                       err);
    ck_assert_double_eq(lb_trace_unit_work(trace), 0.01);
    ASSERT_OK(lb_trace_set_unit_work(trace, NAN, &err), err);
    ck_assert_double_nan(lb_trace_unit_work(trace));
    lb_trace_free(trace);
}
END_TEST

START_TEST(metadata_are_checked) {
    lb_trace *trace = make_trace(4);
    lb_error err = {0};
    static const struct {
        const char *key, *value, *words;
    } bad[] = {
        {"cores", "4", "\"cores\" belongs to the file format"},
        {"cores", NULL, "belongs to the file format"},
        {"lbsched-trace", "1", "belongs to the file format"},
        {"unit_work_s", "1", "belongs to the file format"},
        {"table", "x", "belongs to the file format"},
        {"", "x", "expected a key"},
        {"a:b", "x", "expected no ':'"},
        {"a", " x", "expected no space"},
        {"cpus", "0,1,2", "cpus has 3 numbers: expected 4"},
        {"cpus", "0,1,2,3,4", "cpus has 5 numbers: expected 4"},
        {"cpus", "0,1,2,x", "cpus has \"x\": expected numbers from 0 to 4294967295"},
        {"cpus", "0,1,2,4294967296", "cpus has \"4294967296\""},
        {"cpus", "", "cpus has \"\""},
        {"cpus", "0,1,2,1", "cpus is \"0,1,2,1\": expected no number twice"},
        {"groups", "0-1,2-4", "groups has \"2-4\": expected numbers from 0 to 3"},
        {"groups", "1-0", "groups has \"1-0\""},
        {"groups", "0-2,2-3", "expected no number twice"},
        {"groups", "0-1-2", "groups has \"0-1-2\""},
        {"groups", "0-,1", "groups has \"0-\""},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ASSERT_REFUSED(lb_trace_set_meta(trace, bad[i].key, bad[i].value, &err), LB_ERR_INVALID,
                       bad[i].words, err);
    static const char *const good[][2] = {
        {"cpus", "0,8,16,24"}, {"cpus", "3, 2 ,1,0"}, {"cpus", "0-3"}, {"groups", "0-1,2-3"},
        {"groups", "3,0-1"},   {"cpus2", "x"},        {"Cores", "9"},  {"cpus", NULL}};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        ASSERT_OK(lb_trace_set_meta(trace, good[i][0], good[i][1], &err), err);
        ck_assert_pstr_eq(lb_trace_meta(trace, good[i][0]), good[i][1]);
    }
    ck_assert(is_sealed(trace));
    lb_trace_free(trace);
}
END_TEST

START_TEST(rows_out_of_range_are_refused) {
    lb_trace *trace = make_trace(2);
    lb_error err = {0};
    static const struct {
        lb_unit unit;
        const char *words;
    } units[] = {
        {{0, 1, -1, 1048576, 0, -1, -1}, "unit.task is 1048576: expected 0 to 1048575"},
        {{5, 4, -1, 0, 0, -1, -1}, "unit.end_ns is 4: expected start_ns, 5"},
        {{0, 1, -2, 0, 0, -1, -1}, "unit.cpu_ns is -2"},
        {{0, 1, -1, 0, 0, 2, -1}, "unit.core_start is 2: expected 0 to 1, or -1"},
        {{0, 1, -1, 0, 0, 0, -2}, "unit.core_end is -2"},
    };
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        lb_unit many[3] = {unit(0, 0, 0, 1), unit(0, 1, 1, 2), units[i].unit};
        ASSERT_REFUSED(lb_trace_add_unit(trace, &units[i].unit, &err), LB_ERR_INVALID,
                       units[i].words, err);
        ASSERT_REFUSED(lb_trace_add_units(trace, many, 3, &err), LB_ERR_INVALID, "units[2].", err);
    }
    static const struct {
        lb_slice slice;
        const char *words;
    } slices[] = {
        {{0, 1, 1048576, 0}, "slice.task is 1048576"},
        {{1, 0, 0, 0}, "slice.end_ns is 0"},
        {{0, 1, 0, -1}, "slice.core is -1: expected 0 to 1"},
        {{0, 1, 0, 2}, "slice.core is 2"},
    };
    for (size_t i = 0; i < sizeof slices / sizeof *slices; i++)
        ASSERT_REFUSED(lb_trace_add_slice(trace, &slices[i].slice, &err), LB_ERR_INVALID,
                       slices[i].words, err);
    ASSERT_REFUSED(lb_trace_add_mark(trace, &(lb_mark){0, 1048576, 0}, &err), LB_ERR_INVALID,
                   "mark.task is 1048576", err);
    ASSERT_REFUSED(lb_trace_add_mark(trace, &(lb_mark){0, 0, -1}, &err), LB_ERR_INVALID,
                   "mark.kind is -1", err);
    ASSERT_REFUSED(lb_trace_add_mark(trace, &(lb_mark){0, 0, 6}, &err), LB_ERR_INVALID,
                   "mark.kind is 6", err);
    ASSERT_OK(lb_trace_add_units(trace, NULL, 0, &err), err);
    ck_assert(is_sealed(trace)); /* nothing of all that has changed it */
    ck_assert_uint_eq(lb_trace_tasks(trace), 0);
    lb_trace_free(trace);
}
END_TEST

START_TEST(sealing_sorts) {
    lb_trace *trace = make_trace(2);
    size_t n;
    add_unit(trace, 7, 0, 10, 20);
    add_unit(trace, 3, 5, INT64_MAX - 1, INT64_MAX);
    add_unit(trace, 3, 1, 5, 9);
    add_unit(trace, 3, 0, INT64_MIN, 5);
    add_slice(trace, 9, 4, 5, 0);
    add_slice(trace, 1, 6, 7, 1);
    add_slice(trace, 1, 6, 6, 0);
    add_mark(trace, 3, 2, LB_MARK_WAKE);
    add_mark(trace, -3, 4, LB_MARK_PIN);
    add_mark(trace, 3, 1, LB_MARK_END); /* at one time: in the order of adding */
    ck_assert(!is_sealed(trace));
    ck_assert_ptr_null(lb_trace_units(trace, &n));
    ck_assert_uint_eq(n, 0);
    ck_assert_ptr_null(lb_trace_slices(trace, &n));
    ck_assert_uint_eq(n, 0);
    ck_assert_ptr_null(lb_trace_marks(trace, &n));
    ck_assert_uint_eq(n, 0);
    seal(trace);
    const lb_unit *units = lb_trace_units(trace, &n);
    ck_assert_uint_eq(n, 4);
    const uint32_t tasks[] = {3, 3, 3, 7}, numbers[] = {0, 1, 5, 0};
    for (size_t i = 0; i < 4; i++) {
        ck_assert_uint_eq(units[i].task, tasks[i]);
        ck_assert_uint_eq(units[i].index, numbers[i]);
    }
    const lb_slice *slices = lb_trace_slices(trace, &n);
    ck_assert_uint_eq(n, 3);
    ck_assert_int_eq(slices[0].core, 0);
    ck_assert_int_eq(slices[1].end_ns, 7);
    ck_assert_uint_eq(slices[2].task, 9);
    const lb_mark *marks = lb_trace_marks(trace, &n);
    ck_assert_uint_eq(n, 3);
    ck_assert_int_eq(marks[0].kind, LB_MARK_PIN);
    ck_assert_int_eq(marks[1].kind, LB_MARK_WAKE);
    ck_assert_int_eq(marks[2].kind, LB_MARK_END);
    ck_assert_uint_eq(lb_trace_tasks(trace), 10);
    lb_trace_free(trace);
}
END_TEST

START_TEST(what_overlaps_is_refused) {
    lb_error err = {0};
    lb_trace *trace = make_trace(2);
    add_unit(trace, 5, 0, 20000000, 30000000);
    add_unit(trace, 4, 0, 20000000, 30000000);
    add_unit(trace, 5, 1, 29999999, 40000000);
    ASSERT_REFUSED(lb_trace_seal(trace, &err), LB_ERR_INVALID,
                   "two units of task 5 overlap: one starts at 0.029999999 s, expected at "
                   "0.030000000 s",
                   err);
    ck_assert(!is_sealed(trace));
    ASSERT_REFUSED(lb_trace_seal(trace, &err), LB_ERR_INVALID, "task 5", err);
    lb_trace_free(trace);

    trace = make_trace(2);
    add_slice(trace, 1, -5, 5, 0);
    add_slice(trace, 1, -6, -4, 1);
    ASSERT_REFUSED(lb_trace_seal(trace, &err), LB_ERR_INVALID,
                   "two slices of task 1 overlap: one starts at -0.000000005 s", err);
    lb_trace_free(trace);

    trace = make_trace(2);
    add_unit(trace, 2, 6, 0, 10);
    add_unit(trace, 2, 7, 10, 10); /* units may touch, and take no time */
    add_unit(trace, 2, 6, 20, 30);
    ASSERT_REFUSED(lb_trace_seal(trace, &err), LB_ERR_INVALID,
                   "two units of task 2 have the number 6, which start at 0.000000000 s and "
                   "0.000000020 s",
                   err);
    lb_trace_free(trace);

    trace = make_trace(2);
    add_unit(trace, 2, 3, 0, 10);
    add_unit(trace, 2, 3, 10, 20);
    ASSERT_REFUSED(lb_trace_seal(trace, &err), LB_ERR_INVALID,
                   "two units of task 2 have the number 3", err);
    lb_trace_free(trace);

    trace = make_trace(2); /* numbers need not rise */
    add_unit(trace, 2, 6, 0, 10);
    add_unit(trace, 2, 4, 10, 20);
    add_unit(trace, 1, 6, 0, 10);
    seal(trace);
    lb_trace_free(trace);
}
END_TEST

/* Units of some tasks, each in a place of its own, in random order. */
static size_t draw_units(lbi_random *random, lb_unit *units, size_t most, uint32_t tasks) {
    size_t n = lbi_random_below(random, most);
    for (size_t i = 0; i < n; i++) {
        int64_t start = (int64_t)i * 10;
        units[i] = unit((uint32_t)lbi_random_below(random, tasks), (uint32_t)i, start,
                        start + (int64_t)lbi_random_below(random, 11));
    }
    if (lbi_random_below(random, 3) == 0)
        return n;
    for (size_t i = n; i > 1; i--) {
        size_t j = lbi_random_below(random, i);
        lb_unit other = units[i - 1];
        units[i - 1] = units[j];
        units[j] = other;
    }
    return n;
}

START_TEST(random_units_are_sorted_and_kept) {
    enum {
        MOST = 300
    };
    static lb_unit units[MOST];
    lbi_random random;
    lbi_random_seed(&random, 11);
    for (int round = 0; round < 2000; round++) {
        size_t n = draw_units(&random, units, MOST, round % 2 == 0 ? 5 : LB_TASK_MAX + 1), got;
        lb_trace *trace = make_trace(1);
        lb_error err = {0};
        ASSERT_OK(lb_trace_add_units(trace, units, n, &err), err);
        seal(trace);
        const lb_unit *sorted = lb_trace_units(trace, &got);
        ck_assert_uint_eq(got, n);
        bool seen[MOST] = {false};
        for (size_t i = 0; i < n; i++) {
            ck_assert(!seen[sorted[i].index]);
            seen[sorted[i].index] = true;
            ck_assert_int_eq(sorted[i].start_ns, (int64_t)sorted[i].index * 10);
            if (i > 0)
                ck_assert(sorted[i - 1].task < sorted[i].task ||
                          (sorted[i - 1].task == sorted[i].task &&
                           sorted[i - 1].start_ns < sorted[i].start_ns));
        }
        lb_trace_free(trace);
    }
}
END_TEST

START_TEST(tasks_are_gone_through) {
    lb_trace *trace = make_trace(2);
    lbi_task task = {0};
    ck_assert(!lbi_trace_next_task(trace, &task));
    add_unit(trace, 2, 0, 10, 20);
    add_unit(trace, 2, 1, 20, 30);
    add_unit(trace, 6, 0, 1, 2);
    add_slice(trace, 2, 8, 12, 0);
    add_slice(trace, 2, 28, 35, 0);
    add_slice(trace, 4, -7, -5, 1);
    add_mark(trace, 0, 9, LB_MARK_FORK); /* a mark alone makes no task to look at */
    seal(trace);
    ck_assert(lbi_trace_next_task(trace, &task));
    ck_assert_uint_eq(task.task, 2);
    ck_assert_uint_eq(task.unit_count, 2);
    ck_assert_uint_eq(task.slice_count, 2);
    ck_assert_int_eq(lbi_task_start_ns(&task), 8);
    ck_assert_int_eq(lbi_task_end_ns(&task), 35);
    ck_assert(lbi_trace_next_task(trace, &task));
    ck_assert_uint_eq(task.task, 4);
    ck_assert_uint_eq(task.unit_count, 0);
    ck_assert_int_eq(lbi_task_start_ns(&task), -7);
    ck_assert_int_eq(lbi_task_end_ns(&task), -5);
    ck_assert(lbi_trace_next_task(trace, &task));
    ck_assert_uint_eq(task.task, 6);
    ck_assert_uint_eq(task.slice_count, 0);
    ck_assert_int_eq(lbi_task_end_ns(&task), 2);
    ck_assert(!lbi_trace_next_task(trace, &task));
    lb_trace_free(trace);
}
END_TEST

START_TEST(far_times_are_apart) {
    ck_assert_double_eq(lbi_seconds_between(-500000000, 1000000000), 1.5);
    ck_assert_double_eq(lbi_seconds_between(1000000000, -500000000), -1.5);
    ck_assert_double_eq_tol(lbi_seconds_between(INT64_MIN, INT64_MAX), 0x1p64 * 1e-9, 1e-3);
}
END_TEST

/* Check allocates too, so nothing is asserted while an allocation is to fail. */
static bool all_right = true;

static lb_status use_everything(void) {
    lb_trace *trace = NULL;
    lb_error err = {0};
    size_t n;
    lb_status status = lb_trace_new(4, &trace, &err);
    if (status == LB_OK)
        status = lb_trace_set_meta(trace, "cpus", "0-3", &err);
    if (status == LB_OK)
        status = lb_trace_set_meta(trace, "groups", "0-1,2-3", &err);
    lb_unit units[30];
    for (uint32_t i = 0; i < 30; i++) /* in order of time; the numbers fall */
        units[i] = unit(i % 3, 30 - i, i * 10, i * 10 + 10);
    if (status == LB_OK)
        status = lb_trace_add_units(trace, units, 30, &err);
    for (uint32_t i = 0; i < 20 && status == LB_OK; i++) {
        lb_unit one = unit(3, 20 - i, 1000 - i, 1000 - i);
        status = lb_trace_add_unit(trace, &one, &err);
        lb_slice slice = {1000 - i, 1000 - i, i, 0};
        if (status == LB_OK)
            status = lb_trace_add_slice(trace, &slice, &err);
        lb_mark mark = {-(int64_t)i, LB_TASK_MAX, LB_MARK_PIN};
        if (status == LB_OK)
            status = lb_trace_add_mark(trace, &mark, &err);
    }
    if (status == LB_OK) {
        status = lb_trace_seal(trace, &err);
        lb_trace_units(trace, &n);
        all_right = all_right && n == (status == LB_OK ? 50 : 0);
    }
    if (status != LB_OK && strncmp(err.message, "no memory for ", 14) != 0)
        all_right = false;
    lb_trace_free(trace);
    return status;
}

START_TEST(every_failed_allocation_is_survived) {
    size_t failures;
    lb_status status;
    SWEEP_ALLOCATIONS(status, failures, status = use_everything());
    ck_assert_uint_gt(failures, 15);
    ck_assert(all_right);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("trace");
    ADD(s, "object", new_trace_is_empty, unit_work_is_checked, metadata_are_checked,
        rows_out_of_range_are_refused);
    ADD(s, "seal", sealing_sorts, what_overlaps_is_refused, random_units_are_sorted_and_kept);
    ADD(s, "tasks", tasks_are_gone_through, far_times_are_apart);
    ADD(s, "memory", every_failed_allocation_is_survived);
    return s;
}
