/* SPDX-License-Identifier: BSD-3-Clause */
/* Traces as Chrome trace events. */
#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "harness.h"

static lb_trace *make_trace(uint32_t cores) {
    lb_trace *trace = NULL;
    ck_assert_int_eq(lb_trace_new(cores, &trace, NULL), LB_OK);
    return trace;
}

static void add_unit(lb_trace *trace, lb_unit unit) {
    lb_error err = {0};
    ASSERT_OK(lb_trace_add_unit(trace, &unit, &err), err);
}

static char *export(lb_trace *trace) {
    char *text = NULL;
    lb_error err = {0};
    ASSERT_OK(lb_trace_seal(trace, &err), err);
    ASSERT_OK(lb_trace_format(trace, LB_TRACE_CHROME_JSON, &text, NULL, &err), err);
    lb_trace_free(trace);
    return text;
}

START_TEST(slices_are_on_their_cores) {
    lb_trace *trace = make_trace(4);
    lb_trace_set_meta(trace, "kernel \"x\"", "6.18", NULL);
    lb_trace_set_unit_work(trace, 0.25, NULL);
    add_unit(trace, (lb_unit){-1500, 2000001, 1000, 7, 3, 0, 2});
    lb_trace_add_slice(trace, &(lb_slice){0, 1000, 7, 3}, NULL);
    lb_trace_add_slice(trace, &(lb_slice){1000, 2000, 9, 3}, NULL);
    lb_trace_add_mark(trace, &(lb_mark){500, 7, LB_MARK_UNPIN}, NULL);
    char *text = export(trace);
    ck_assert_str_eq(
        text,
        "{\"traceEvents\":[\n"
        "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"tid\":1,\"args\":{\"name\":"
        "\"cores\"}},"
        "\n"
        "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":4,\"args\":{\"name\":"
        "\"core 3\"}},"
        "\n"
        "{\"ph\":\"M\",\"name\":\"thread_sort_index\",\"pid\":1,\"tid\":4,"
        "\"args\":{\"sort_index\":3}},\n"
        "{\"ph\":\"X\",\"name\":\"task 7\",\"pid\":1,\"tid\":4,\"ts\":1.500,\"dur\":1.000},\n"
        "{\"ph\":\"X\",\"name\":\"task 9\",\"pid\":1,\"tid\":4,\"ts\":2.500,\"dur\":1.000},\n"
        "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":2,\"tid\":2,\"args\":{\"name\":"
        "\"tasks\"}},"
        "\n"
        "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":2,\"tid\":8,\"args\":{\"name\":"
        "\"task 7\"}},"
        "\n"
        "{\"ph\":\"X\",\"name\":\"unit 3\",\"pid\":2,\"tid\":8,\"ts\":0.000,\"dur\":2001.501,"
        "\"args\":{\"cpu_us\":1.000,\"core_start\":0,\"core_end\":2}},\n"
        "{\"ph\":\"i\",\"name\":\"unpin\",\"s\":\"t\",\"pid\":2,\"tid\":8,\"ts\":2.000}\n"
        "],\"otherData\":{\"cores\":\"4\",\"unit_work_s\":\"0.25\",\"lbsched:start_us\":\"-1.500\","
        "\"kernel \\\"x\\\"\":\"6.18\"}}\n");
    lb_free(text);
}
END_TEST

/* What one line of the export says. */
typedef struct event {
    char phase, name[32];
    unsigned pid;
    unsigned long long tid;
    unsigned long long start_ns, end_ns;
} event;

/* Reads the next event; false: there is none. */
static bool next_event(const char **text, event *ret) {
    const char *line = strchr(*text, '\n');
    if (line == NULL || line[1] != '{')
        return false;
    *ret = (event){0};
    ck_assert_int_eq(
        sscanf(line + 1, "{\"ph\":\"%c\",\"name\":\"%31[^\"]\"", &ret->phase, ret->name), 2);
    const char *pid = strstr(line, "\"pid\":"), *start = strstr(line, "\"ts\":");
    ck_assert_int_eq(sscanf(pid, "\"pid\":%u,\"tid\":%llu", &ret->pid, &ret->tid), 2);
    if (ret->phase == 'X') { /* in whole numbers: the suite runs under a decimal comma too */
        unsigned long long us, ns, span_us, span_ns;
        ck_assert_int_eq(
            sscanf(start, "\"ts\":%llu.%3llu,\"dur\":%llu.%3llu", &us, &ns, &span_us, &span_ns), 4);
        ret->start_ns = us * 1000 + ns;
        ret->end_ns = ret->start_ns + span_us * 1000 + span_ns;
    }
    ck_assert_uint_gt(ret->pid, 0);
    ck_assert_uint_gt(ret->tid, 0);
    *text = line + 1;
    return true;
}

START_TEST(units_of_one_core_never_overlap_on_a_track) {
    enum {
        UNITS = 400
    };
    lbi_random random;
    lbi_random_seed(&random, 9);
    for (int round = 0; round < 20; round++) {
        lb_trace *trace = make_trace(3);
        size_t on_cores = 0;
        int64_t ends[12] = {0};
        for (uint32_t i = 0; i < UNITS; i++) {
            uint32_t task = (uint32_t)lbi_random_below(&random, 12);
            int64_t start = ends[task] + (int64_t)lbi_random_below(&random, 3) * 1000;
            ends[task] = start + (int64_t)lbi_random_below(&random, 4) * 1000;
            int32_t core = (int32_t)lbi_random_below(&random, 4) - 1;
            on_cores += core >= 0;
            add_unit(trace, (lb_unit){start, ends[task], -1, task, i, core, -1});
        }
        char *text = export(trace);
        const char *at = text;
        static event bars[2 * UNITS];
        size_t n = 0, expected = UNITS + on_cores;
        for (event e; next_event(&at, &e);)
            if (e.phase == 'X')
                bars[n++] = e;
        ck_assert_uint_eq(n, expected);
        bool apart = true;
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < i; j++)
                apart = apart &&
                        (bars[i].pid != bars[j].pid || bars[i].tid != bars[j].tid ||
                         bars[i].start_ns >= bars[j].end_ns || bars[j].start_ns >= bars[i].end_ns);
        ck_assert(apart);
        lb_free(text);
    }
}
END_TEST

START_TEST(tracks_are_as_few_as_units_share_a_core) {
    lb_trace *trace = make_trace(2);
    for (uint32_t i = 0; i < 30; i++) /* three tasks take turns on core 1, all the time */
        add_unit(trace, (lb_unit){i * 1000, (i + 3) * 1000, -1, i % 3, i / 3, 1, 1});
    char *text = export(trace);
    const char *at = text;
    size_t names = 0;
    for (event e; next_event(&at, &e);)
        names += e.pid == 1 && strcmp(e.name, "thread_name") == 0;
    ck_assert_uint_eq(names, 3);
    ck_assert_ptr_nonnull(strstr(text, "\"core 1\""));
    ck_assert_ptr_nonnull(strstr(text, "\"core 1 (2)\""));
    ck_assert_ptr_nonnull(strstr(text, "\"core 1 (3)\""));
    lb_free(text);
}
END_TEST

START_TEST(far_times_are_written_exactly) {
    lb_trace *trace = make_trace(1);
    add_unit(trace, (lb_unit){INT64_MIN, INT64_MAX, INT64_MAX, 0, 0, 0, 0});
    char *text = export(trace);
    ck_assert_ptr_nonnull(strstr(text, "\"ts\":0.000,\"dur\":18446744073709551.615"));
    ck_assert_ptr_nonnull(strstr(text, "\"cpu_us\":9223372036854775.807"));
    lb_free(text);
}
END_TEST

static lb_status write_all_kinds(void) {
    lb_trace *trace = NULL;
    char *text = NULL;
    lb_status status = lb_trace_new(2, &trace, NULL);
    for (uint32_t i = 0; i < 20 && status == LB_OK; i++)
        status = lb_trace_add_unit(trace, &(lb_unit){0, i, -1, i, 0, (int32_t)i % 2, -1}, NULL);
    if (status == LB_OK)
        status = lb_trace_add_mark(trace, &(lb_mark){0, 1, LB_MARK_PIN}, NULL);
    if (status == LB_OK)
        status = lb_trace_seal(trace, NULL);
    if (status == LB_OK)
        status = lb_trace_format(trace, LB_TRACE_CHROME_JSON, &text, NULL, NULL);
    lb_free(text);
    lb_trace_free(trace);
    return status;
}

START_TEST(every_failed_allocation_is_survived) {
    size_t failures;
    lb_status status;
    SWEEP_ALLOCATIONS(status, failures, status = write_all_kinds());
    ck_assert_uint_gt(failures, 15);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("trace_chrome");
    ADD(s, "export", slices_are_on_their_cores, units_of_one_core_never_overlap_on_a_track,
        tracks_are_as_few_as_units_share_a_core, far_times_are_written_exactly);
    ADD(s, "memory", every_failed_allocation_is_survived);
    return s;
}
