/* SPDX-License-Identifier: BSD-3-Clause */
/* Recordings of other programs: tables of durations, and switches as perf, trace-cmd and the kernel
 * print them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "harness.h"

static lb_status import(const char *text, const lb_import_options *options, lb_trace **ret,
                        lb_error *err) {
    return lb_trace_import_text(text, strlen(text), options, ret, err);
}

static lb_trace *imported(const char *text, const lb_import_options *options) {
    lb_trace *trace = NULL;
    lb_error err = {0};
    ASSERT_OK(import(text, options, &trace, &err), err);
    return trace;
}

static lb_import_options defaults(void) {
    lb_import_options options;
    lb_import_options_init(&options, sizeof options);
    return options;
}

static void assert_unit(const lb_trace *trace, size_t place, uint32_t task, uint32_t index,
                        int64_t start_ns, int64_t end_ns) {
    size_t n;
    const lb_unit *units = lb_trace_units(trace, &n);
    ck_assert_uint_lt(place, n);
    ck_assert_uint_eq(units[place].task, task);
    ck_assert_uint_eq(units[place].index, index);
    ck_assert_int_eq(units[place].start_ns, start_ns);
    ck_assert_int_eq(units[place].end_ns, end_ns);
}

static void assert_slice(const lb_trace *trace, size_t place, uint32_t task, int32_t core,
                         int64_t start_ns, int64_t end_ns) {
    size_t n;
    const lb_slice *slices = lb_trace_slices(trace, &n);
    ck_assert_uint_lt(place, n);
    ck_assert_uint_eq(slices[place].task, task);
    ck_assert_int_eq(slices[place].core, core);
    ck_assert_int_eq(slices[place].start_ns, start_ns);
    ck_assert_int_eq(slices[place].end_ns, end_ns);
}

static void assert_mark(const lb_trace *trace, size_t place, uint32_t task, lb_mark_kind kind,
                        int64_t time_ns) {
    size_t n;
    const lb_mark *marks = lb_trace_marks(trace, &n);
    ck_assert_uint_lt(place, n);
    ck_assert_uint_eq(marks[place].task, task);
    ck_assert_int_eq(marks[place].kind, kind);
    ck_assert_int_eq(marks[place].time_ns, time_ns);
}

static size_t slice_count(const lb_trace *trace) {
    size_t n;
    lb_trace_slices(trace, &n);
    return n;
}

static size_t unit_count(const lb_trace *trace) {
    size_t n;
    lb_trace_units(trace, &n);
    return n;
}

START_TEST(durations_follow_each_other) {
    static const char *const texts[] = {
        "# cores: 2\n# unit_work_s: 0.25\ntask,duration\n3,0.5\n1,0.25\n3,1e-1\n",
        "# cores: 2\n# unit_work_s: 0.25\n3,0.5\n1,0.25\n3,0.1\n",
        "# cores: 2\n# unit_work_s: 0.25\ntask;core;duration_ms\n3;0;500\n1;1;250\n3;0;100\n",
        "# cores: 2\r\n# unit_work_s: 0.25\r\n\r\n3\t0.5\r\n1\t0.25\r\n3\t0.1",
        "\xef\xbb\xbf# cores: 2\n# unit_work_s: 0.25\n  task   duration_us\n 3 500000\n1 250000 x\n"
        "3   100000",
        "# a remark\n# cores: 2\n# unit_work_s: 0.25\n\"duration_ns\",\"task\"\n500000000,\"3\"\n"
        "250000000,1\n100000000,3\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        lb_trace *trace = imported(texts[i], NULL);
        ck_assert_uint_eq(lb_trace_cores(trace), 2);
        ck_assert_double_eq(lb_trace_unit_work(trace), 0.25);
        ck_assert_uint_eq(lb_trace_tasks(trace), 4);
        ck_assert_uint_eq(unit_count(trace), 3);
        assert_unit(trace, 0, 1, 0, 0, 250000000);
        assert_unit(trace, 1, 3, 0, 0, 500000000);
        assert_unit(trace, 2, 3, 1, 500000000, 600000000);
        ck_assert_str_eq(lb_trace_meta(trace, "imported"), "durations");
        lb_trace_free(trace);
    }
}
END_TEST

START_TEST(names_are_counted_as_they_come) {
    lb_trace *trace = imported("# cores: 1\ntask,duration\nwash,1\ncook,2\nwash,3\n12,4\n", NULL);
    ck_assert_uint_eq(lb_trace_tasks(trace), 3);
    assert_unit(trace, 0, 0, 0, 0, 1000000000);
    assert_unit(trace, 1, 0, 1, 1000000000, 4000000000);
    assert_unit(trace, 2, 1, 0, 0, 2000000000);
    assert_unit(trace, 3, 2, 0, 0, 4000000000);
    ck_assert(isnan(lb_trace_unit_work(trace)));
    lb_trace_free(trace);
}
END_TEST

START_TEST(options_come_before_what_the_text_says) {
    lb_import_options options = defaults();
    options.cores = 3;
    options.unit_work = 0.5;
    lb_trace *trace = imported("# cores: 2\n# unit_work_s: 0.25\n0,1\n", &options);
    ck_assert_uint_eq(lb_trace_cores(trace), 3);
    ck_assert_double_eq(lb_trace_unit_work(trace), 0.5);
    lb_trace_free(trace);
}
END_TEST

START_TEST(own_traces_are_read_too) {
    lb_trace *trace = imported("# lbsched-trace: 1\n# cores: 1\ntask,start_s,end_s\n0,0,1\n", NULL);
    ck_assert_uint_eq(unit_count(trace), 1);
    lb_trace_free(trace);
}
END_TEST

/* Two CPUs, 1 and 3. Pid 7 ("a b ==> c") and pid 9 share CPU 1, until 9 sleeps; CPU 3 idles, then
 * runs 9. */
#define SWITCHES(LINE_)                                                                            \
    LINE_("x", "1", "100.000000", "a b ==> c", "7", "R", "b", "9")                                 \
    LINE_("x", "1", "100.010000", "b", "9", "R+", "a b ==> c", "7")                                \
    LINE_("x", "1", "100.020000", "a b ==> c", "7", "R", "b", "9")                                 \
    LINE_("x", "1", "100.025000", "b", "9", "S", "a b ==> c", "7")                                 \
    LINE_("<idle>", "3", "100.050000", "swapper/3", "0", "R", "b", "9")                            \
    LINE_("x", "3", "100.070000", "b", "9", "R", "swapper/3", "0")                                 \
    LINE_("x", "1", "100.080000", "a b ==> c", "7", "x", "swapper/1", "0")

#define KERNEL(comm_, cpu_, time_, prev_, prev_pid_, state_, next_, next_pid_)                     \
    "   " comm_ "-77      [00" cpu_ "] d.h2.  " time_ ": sched_switch: prev_comm=" prev_           \
    " prev_pid=" prev_pid_ " prev_prio=120 prev_state=" state_ " ==> next_comm=" next_             \
    " next_pid=" next_pid_ " next_prio=120\n"
#define PERF(comm_, cpu_, time_, prev_, prev_pid_, state_, next_, next_pid_)                       \
    comm_ " y  77 [00" cpu_ "] " time_ ":       sched:sched_switch: prev_comm=" prev_              \
          " prev_pid=" prev_pid_ " prev_prio=120 prev_state=" state_ " ==> next_comm=" next_       \
          " next_pid=" next_pid_ " next_prio=120\r\n"
#define TRACE_CMD(comm_, cpu_, time_, prev_, prev_pid_, state_, next_, next_pid_)                  \
    comm_ "-77 [00" cpu_ "]  " time_ ": sched_switch:         " prev_ ":" prev_pid_                \
          " [120] " state_ " ==> " next_ ":" next_pid_ " [120]\n"

static void assert_switches(const lb_trace *trace) {
    ck_assert_uint_eq(lb_trace_cores(trace), 2);
    ck_assert_str_eq(lb_trace_meta(trace, "cpus"), "1,3");
    ck_assert_str_eq(lb_trace_meta(trace, "lost_switches"), "0");
    ck_assert_str_eq(lb_trace_meta(trace, "task_1"), "pid 9 b");
    ck_assert_uint_eq(lb_trace_tasks(trace), 2);
    ck_assert_uint_eq(slice_count(trace), 5);
    assert_slice(trace, 0, 0, 0, 10000000, 20000000);
    assert_slice(trace, 1, 0, 0, 25000000, 80000000);
    assert_slice(trace, 2, 1, 0, 0, 10000000);
    assert_slice(trace, 3, 1, 0, 20000000, 25000000);
    assert_slice(trace, 4, 1, 1, 50000000, 70000000);
    /* Units of 10 ms: task 0 used 65 ms; of task 1 the 5 ms before its sleep are lost. */
    ck_assert_double_eq(lb_trace_unit_work(trace), 0.01);
    ck_assert_uint_eq(unit_count(trace), 6 + 3);
    assert_unit(trace, 0, 0, 0, 10000000, 20000000);
    assert_unit(trace, 1, 0, 1, 20000000, 35000000);
    assert_unit(trace, 5, 0, 5, 65000000, 75000000);
    assert_unit(trace, 6, 1, 0, 0, 10000000);
    assert_unit(trace, 7, 1, 2, 50000000, 60000000);
    assert_unit(trace, 8, 1, 3, 60000000, 70000000);
}

START_TEST(switches_become_slices_and_units) {
    static const char *const texts[] = {
        "# tracer: nop\n#\n#     TASK-PID  CPU#  TIMESTAMP  FUNCTION\n" SWITCHES(KERNEL),
        SWITCHES(PERF),
        "cpus=4\n" SWITCHES(TRACE_CMD),
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        lb_trace *trace = imported(texts[i], NULL);
        assert_switches(trace);
        ck_assert_str_eq(lb_trace_meta(trace, "task_0"), "pid 7 a b ==> c");
        size_t marks;
        lb_trace_marks(trace, &marks);
        ck_assert_uint_eq(marks, 2);
        assert_mark(trace, 0, 1, LB_MARK_SLEEP, 25000000);
        assert_mark(trace, 1, 0, LB_MARK_SLEEP, 80000000); /* it left for good */
        lb_trace_free(trace);
    }
}
END_TEST

START_TEST(wakeups_become_marks) {
    static const char *const texts[] = {
        SWITCHES(KERNEL) "x-1 [001] dN.5. 100.049000: sched_wakeup: comm=b pid=9 prio=120 "
                         "target_cpu=003\n",
        SWITCHES(TRACE_CMD) "x-1 [001] 100.049000: sched_wakeup:   b:9 [120] success=1 CPU:003\n",
        SWITCHES(PERF) "x 1 [001] 100.049000: sched:sched_wakeup_new: b:9 [120] CPU:003\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        lb_trace *trace = imported(texts[i], NULL);
        assert_switches(trace);
        assert_mark(trace, 1, 1, LB_MARK_WAKE, 49000000);
        lb_trace_free(trace);
    }
}
END_TEST

START_TEST(a_lost_switch_leaves_its_time_out) {
    lb_trace *trace =
        imported(SWITCHES(KERNEL) KERNEL("x", "1", "100.100000", "d", "11", "R", "b", "9")
                     KERNEL("x", "1", "100.120000", "b", "9", "R", "d", "11"),
                 NULL);
    ck_assert_str_eq(lb_trace_meta(trace, "lost_switches"), "1");
    ck_assert_uint_eq(slice_count(trace), 6); /* of 11 there is nothing, of 9 one more */
    assert_slice(trace, 5, 1, 0, 100000000, 120000000);
    lb_trace_free(trace);
}
END_TEST

START_TEST(tasks_are_chosen_by_name) {
    lb_import_options options = defaults();
    options.comm = "b";
    options.cores = 8;
    options.unit_work = 0.005;
    lb_trace *trace = imported(SWITCHES(PERF), &options);
    ck_assert_uint_eq(lb_trace_cores(trace), 8);
    ck_assert_ptr_null(lb_trace_meta(trace, "cpus"));
    ck_assert_uint_eq(lb_trace_tasks(trace), 1);
    ck_assert_uint_eq(unit_count(trace), 7);
    ck_assert_str_eq(lb_trace_meta(trace, "others_cpu_s"), "0.065");
    lb_trace_free(trace);
    /* Without a name: who used less than a unit is left out. */
    options.comm = NULL;
    options.unit_work = 0.05;
    trace = imported(SWITCHES(PERF), &options);
    ck_assert_uint_eq(lb_trace_tasks(trace), 1);
    ck_assert_str_eq(lb_trace_meta(trace, "others_cpu_s"), "0.035");
    lb_trace_free(trace);
}
END_TEST

typedef struct printed {
    int64_t time_ns;
    int32_t core;
    bool starts;
    uint32_t task;
} printed;

static int compare_printed(const void *a, const void *b) {
    const printed *x = a, *y = b;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    return x->starts - y->starts; /* who ends goes first */
}

static const char *pid_of(uint32_t task, char buffer[16]) {
    snprintf(buffer, 16, "%u", task + 100);
    return buffer;
}

/* What a kernel would have said of these slices: every core switches from task or idle to the
 * next. The caller frees the text. */
static char *print_switches(const lb_trace *trace) {
    size_t n;
    const lb_slice *slices = lb_trace_slices(trace, &n);
    printed *events = malloc(2 * n * sizeof *events);
    for (size_t i = 0; i < n; i++) {
        events[2 * i] = (printed){slices[i].start_ns, slices[i].core, true, slices[i].task};
        events[2 * i + 1] = (printed){slices[i].end_ns, slices[i].core, false, slices[i].task};
    }
    qsort(events, 2 * n, sizeof *events, compare_printed);
    char *text = malloc(2 * n * 200 + 1);
    size_t length = 0;
    for (size_t i = 0; i < 2 * n; i++) {
        const printed *e = &events[i];
        char pid[16];
        pid_of(e->task, pid);
        length += (size_t)sprintf(
            text + length,
            "x-1 [%03d] d..2. %lld.%09lld: sched_switch: prev_comm=w prev_pid=%s prev_prio=120 "
            "prev_state=R ==> next_comm=w next_pid=%s next_prio=120\n",
            e->core, (long long)(e->time_ns / 1000000000), (long long)(e->time_ns % 1000000000),
            e->starts ? "0" : pid, e->starts ? pid : "0");
    }
    free(events);
    return text;
}

/* The same slices come back, and the verdict on units cut from them is the policy that made them.
 */
START_TEST(predicted_slices_survive_the_way_through_a_recording) {
    static const lb_policy policies[] = {LB_POLICY_NONE, LB_POLICY_LAZY, LB_POLICY_ACTIVE};
    lb_model_options options;
    lb_model_options_init(&options, sizeof options);
    options.cores = 4;
    options.policy = policies[_i];
    lb_error err = {0};
    lb_model *model;
    lb_workload *workload;
    lb_trace *made;
    ASSERT_OK(lb_model_new(&options, &model, &err), err);
    ASSERT_OK(lb_workload_new(&workload, &err), err);
    for (int i = 0; i < 16; i++)
        ASSERT_OK(lb_workload_add(workload, 0.4 + 0.13 * ((i * 7) % 16), NULL, &err), err);
    ASSERT_OK(lb_model_trace(model, workload, 0.01, 0.003, 7, &made, &err), err);
    char *text = print_switches(made);
    lb_trace *trace = imported(text, NULL);
    size_t n, m;
    const lb_slice *expected = lb_trace_slices(made, &n), *got = lb_trace_slices(trace, &m);
    ck_assert_uint_eq(n, m);
    for (size_t i = 0; i < n; i++) {
        ck_assert_int_eq(got[i].start_ns, expected[i].start_ns);
        ck_assert_int_eq(got[i].end_ns, expected[i].end_ns);
        ck_assert_uint_eq(got[i].task, expected[i].task);
        ck_assert_int_eq(got[i].core, expected[i].core);
    }
    lb_verdict *verdict;
    ASSERT_OK(lb_classify(trace, NULL, &verdict, &err), err);
    ck_assert_int_eq(lb_verdict_policy(verdict), policies[_i]);
    lb_verdict_free(verdict);
    free(text);
    lb_trace_free(trace);
    lb_trace_free(made);
    lb_workload_free(workload);
    lb_model_free(model);
}
END_TEST

static const struct {
    const char *text, *words;
    lb_status status;
} refusals[] = {
    {"", "line 1", LB_ERR_FORMAT},
    {"# cores: 1\n", "line 1: expected a row", LB_ERR_FORMAT},
    {"0,1\n", "cores is 0", LB_ERR_INVALID},
    {"# cores: 0\n0,1\n", "line 1: expected how many cores", LB_ERR_FORMAT},
    {"# cores: 1\n# unit_work_s: -1\n0,1\n", "line 2: expected unit_work_s", LB_ERR_FORMAT},
    {"# cores: 1\nname,duration\n0,1\n", "line 2: expected the columns", LB_ERR_FORMAT},
    {"# cores: 1\ntask\n0\n", "line 2: expected the columns", LB_ERR_FORMAT},
    {"# cores: 1\n0,1\n0\n", "line 3: expected a task and a duration", LB_ERR_FORMAT},
    {"# cores: 1\n0,1\n0,x\n", "line 3: expected a duration", LB_ERR_FORMAT},
    {"# cores: 1\n0,1\n0,-1\n", "line 3: expected a duration", LB_ERR_FORMAT},
    {"# cores: 1\n0,1\n0,nan\n", "line 3: expected a duration", LB_ERR_FORMAT},
    {"# cores: 1\n0,9e9\n0,9e9\n", "line 3: expected the task's durations", LB_ERR_FORMAT},
    {SWITCHES(PERF) "x 1 [001] 101.0: sched_switch: rubbish\n", "line 8: expected the tasks",
     LB_ERR_FORMAT},
    {SWITCHES(PERF) "x 1 [001] 101.0: sched_wakeup: rubbish\n", "line 8: expected the tasks",
     LB_ERR_FORMAT},
    {"x 1 [001] -9e9: sched_switch: a:1 [1] R ==> b:2 [1]\n"
     "x 1 [001] 9e9: sched_switch: b:2 [1] R ==> a:1 [1]\n",
     "line 2: expected times", LB_ERR_FORMAT},
    {"x 1 [001] 1.0: sched_switch: a:1 [1] R ==> b:2 [1]\n"
     "x 1 [001] 9e8: sched_switch: b:2 [1] R ==> a:1 [1]\n",
     "line 2: expected at most 100200 units", LB_ERR_FORMAT},
    {"x 1 [001] 1.0: sched_switch: a:1 [1] R ==> b:2 [1]\n", "line 1: expected a task that used",
     LB_ERR_FORMAT},
};

START_TEST(malformed_recordings_are_refused) {
    lb_trace *trace = NULL;
    lb_error err;
    ASSERT_REFUSED(import(refusals[_i].text, NULL, &trace, &err), refusals[_i].status,
                   refusals[_i].words, err);
    ck_assert_ptr_null(trace);
}
END_TEST

START_TEST(options_are_checked) {
    lb_trace *trace = NULL;
    lb_error err;
    lb_import_options options = defaults();
    options.form = 4;
    ASSERT_REFUSED(import("0,1", &options, &trace, &err), LB_ERR_INVALID, "form is 4", err);
    options = defaults();
    options.unit_work = 0;
    ASSERT_REFUSED(import("0,1", &options, &trace, &err), LB_ERR_INVALID, "unit_work is 0", err);
    options = defaults();
    options.comm = "";
    ASSERT_REFUSED(import("0,1", &options, &trace, &err), LB_ERR_INVALID, "comm is", err);
    options = defaults();
    options.cores = 1;
    ASSERT_REFUSED(import(SWITCHES(PERF), &options, &trace, &err), LB_ERR_INVALID,
                   "cores is 1: expected 2 or more", err);
    options = defaults();
    options.form = LB_IMPORT_SCHED;
    ASSERT_REFUSED(import("0,1", &options, &trace, &err), LB_ERR_FORMAT, "sched_switch", err);
    options = defaults();
    options.comm = "nobody";
    ASSERT_REFUSED(import(SWITCHES(PERF), &options, &trace, &err), LB_ERR_FORMAT, "of that name",
                   err);
    ASSERT_REFUSED(lb_trace_import("/nowhere/at all", NULL, &trace, &err), LB_ERR_IO, "/nowhere",
                   err);
}
END_TEST

START_TEST(allocation_failures_are_told) {
    static const char *const texts[] = {
        "# cores: 2\ntask,duration\na,1\nb,2\na,3\nc,1\n",
        "# cores: 2\n3,1\n1,2\n0,3\n",
        SWITCHES(PERF) "x 1 [001] 100.0: sched_wakeup: b:9 [120] CPU:003\n",
    };
    lb_status status;
    size_t count;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        SWEEP_ALLOCATIONS(status, count, {
            lb_trace *trace = NULL;
            lb_error err;
            status = import(texts[i], NULL, &trace, &err);
            lb_trace_free(trace);
        });
        ck_assert_uint_gt(count, 5);
    }
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("import");
    ADD(s, "durations", durations_follow_each_other, names_are_counted_as_they_come,
        options_come_before_what_the_text_says, own_traces_are_read_too);
    ADD(s, "switches", switches_become_slices_and_units, wakeups_become_marks,
        a_lost_switch_leaves_its_time_out, tasks_are_chosen_by_name);
    ADD(s, "faults", options_are_checked, allocation_failures_are_told);
    TCase *loops = tcase_create("loops");
    tcase_add_loop_test(loops, malformed_recordings_are_refused, 0,
                        sizeof refusals / sizeof *refusals);
    tcase_add_loop_test(loops, predicted_slices_survive_the_way_through_a_recording, 0, 3);
    suite_add_tcase(s, loops);
    return s;
}
