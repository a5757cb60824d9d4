/* SPDX-License-Identifier: BSD-3-Clause */
/* Trace files in CSV: what is read, what is refused and with which words, round trips. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "base/text.h"
#include "harness.h"

#define HEAD "# lbsched-trace: 1\n# cores: 4\n"
#define UNITS "task,unit,start_s,end_s,cpu_s,core_start,core_end\n"
#define SLICES "# table: slices\ntask,start_s,end_s,core\n"
#define MARKS "# table: marks\ntime_s,task,kind\n"

static lb_trace *parse_bytes(const char *text, size_t length) {
    lb_trace *trace = NULL;
    lb_error err = {0};
    ASSERT_OK(lb_trace_parse(text, length, &trace, &err), err);
    return trace;
}

static lb_trace *parse(const char *text) {
    return parse_bytes(text, strlen(text));
}

static char *format(const lb_trace *trace) {
    char *text = NULL;
    size_t length = 0;
    lb_error err = {0};
    ASSERT_OK(lb_trace_format(trace, LB_TRACE_CSV, &text, &length, &err), err);
    ck_assert_uint_eq(length, strlen(text));
    return text;
}

/* Parses, and expects what is written then. */
static void assert_becomes(const char *text, const char *expected) {
    lb_trace *trace = parse(text);
    char *written = format(trace);
    ck_assert_str_eq(written, expected);
    lb_trace_free(trace);
    trace = parse(written);
    char *again = format(trace);
    ck_assert_str_eq(written, again);
    lb_trace_free(trace);
    lb_free(written);
    lb_free(again);
}

START_TEST(the_formats_own_example) {
    lb_trace *trace = parse("# lbsched-trace: 1\n# cores: 4\n# unit_work_s: 0.01\n" UNITS
                            "0,0,0.000103,0.030512,0.010001,0,0\n");
    size_t n;
    ck_assert_uint_eq(lb_trace_cores(trace), 4);
    ck_assert_uint_eq(lb_trace_tasks(trace), 1);
    ck_assert_double_eq(lb_trace_unit_work(trace), 0.01);
    const lb_unit *units = lb_trace_units(trace, &n);
    ck_assert_uint_eq(n, 1);
    ck_assert_int_eq(units->start_ns, 103000);
    ck_assert_int_eq(units->end_ns, 30512000);
    ck_assert_int_eq(units->cpu_ns, 10001000);
    ck_assert_uint_eq(units->task, 0);
    ck_assert_uint_eq(units->index, 0);
    ck_assert_int_eq(units->core_start, 0);
    ck_assert_int_eq(units->core_end, 0);
    char *text = format(trace);
    ck_assert_str_eq(text, "# lbsched-trace: 1\n# cores: 4\n# unit_work_s: 0.01\n" UNITS
                           "0,0,0.000103000,0.030512000,0.010001000,0,0\n");
    lb_free(text);
    lb_trace_free(trace);
}
END_TEST

START_TEST(everything_at_once) {
    const char text[] = "\xef\xbb\xbf# lbsched-trace: 1\r\n"
                        "# a remark without a colon\r\n"
                        "#unit_work_s:1e-2\r\n" /* before cores is as good as behind */
                        "#   kernel \t:  6.18: \"x\" \r\n"
                        "#cores:4\r\n"
                        "# cpus: 0,8,16,24\r\n"
                        "# groups: 0-1,2-3\r\n"
                        "# kernel: 7.1\r\n"
                        "\r\n"
                        "end_s,\"task\",start_s,comment,unit,comment\r\n"
                        "2,1,1,\"a, \"\"b\"\"\r\n# no metadata\",8,\r\n"
                        "0.5,\"0\",-0.5,,0,\r\n"
                        "5E-1,1.0,-.5,\0,3,x\r\n"
                        "# table: unheard of\r\n"
                        "x,y\r\n"
                        "1,2,3,\"\r\n"
                        "# table: slices\"\r\n"
                        "# table: slices\r\n"
                        "core,task,start_s,end_s\r\n"
                        "3,2,0.0000000014,1\r\n"
                        "\r\n"
                        "# table: marks\r\n"
                        "kind,time_s,task\r\n"
                        "\"unpin\",3,1\r\n"
                        "end,2,1048575\r\n"
                        "# late: yes";
    lb_trace *trace = parse_bytes(text, sizeof text - 1);
    char *written = format(trace);
    ck_assert_str_eq(written,
                     "# lbsched-trace: 1\n# cores: 4\n# unit_work_s: 0.01\n"
                     "# kernel: 7.1\n# cpus: 0,8,16,24\n# groups: 0-1,2-3\n# late: yes\n" UNITS
                     "0,0,-0.500000000,0.500000000,,,\n"
                     "1,3,-0.500000000,0.500000000,,,\n"
                     "1,8,1.000000000,2.000000000,,,\n" SLICES "2,0.000000001,1.000000000,3\n" MARKS
                     "2.000000000,1048575,end\n3.000000000,1,unpin\n");
    ck_assert_str_eq(lb_trace_meta(trace, "kernel"), "7.1");
    ck_assert_uint_eq(lb_trace_tasks(trace), 1048576);
    lb_free(written);
    lb_trace_free(trace);
}
END_TEST

START_TEST(odd_but_good) {
    static const char *const texts[][2] = {
        /* the last line need not end */
        {HEAD UNITS "0,0,0,1,,,", HEAD UNITS "0,0,0.000000000,1.000000000,,,\n"},
        {HEAD UNITS "0,0,0,1,,,\r", HEAD UNITS "0,0,0.000000000,1.000000000,,,\n"},
        /* slices, or marks, alone */
        {HEAD SLICES "1,0,1,2", HEAD SLICES "1,0.000000000,1.000000000,2\n"},
        {HEAD MARKS "0,1,fork", HEAD MARKS "0.000000000,1,fork\n"},
        /* no rows */
        {HEAD UNITS, HEAD UNITS},
        {HEAD SLICES, HEAD UNITS},
        {HEAD "# table: other\nx\n1\n", HEAD UNITS},
        /* without numbers, units are counted in the order of time */
        {HEAD "task,start_s,end_s\n1,3,4\n0,0,1\n1,1,2\n1,2,3\n",
         HEAD UNITS "0,0,0.000000000,1.000000000,,,\n1,0,1.000000000,2.000000000,,,\n"
                    "1,1,2.000000000,3.000000000,,,\n1,2,3.000000000,4.000000000,,,\n"},
        /* lost units, numbers that do not rise, units that touch or take no time */
        {HEAD "task,unit,start_s,end_s\n0,9,0,1\n0,4,1,1\n0,4294967295,1,3\n",
         HEAD UNITS "0,9,0.000000000,1.000000000,,,\n0,4,1.000000000,1.000000000,,,\n"
                    "0,4294967295,1.000000000,3.000000000,,,\n"},
        /* whole numbers in the form of others */
        {HEAD "task,unit,start_s,end_s,core_start\n1e0,2.0,0,1,30e-1\n",
         HEAD UNITS "1,2,0.000000000,1.000000000,,3,\n"},
        /* the last of the metadata of one name stands, where the first stood */
        {"# lbsched-trace: 1\n# b: 1\n# a: 2\n# b: 3\n# cores: 4\n# c:\n" UNITS,
         HEAD "# b: 3\n# a: 2\n# c:\n" UNITS},
        /* the most cores */
        {"# lbsched-trace: 1\n# cores: 4294967295\n" UNITS "0,0,0,1,,2147483647,\n",
         "# lbsched-trace: 1\n# cores: 4294967295\n" UNITS
         "0,0,0.000000000,1.000000000,,2147483647,\n"},
        /* a table that is skipped stands before all others */
        {"# lbsched-trace: 1\n# cores: 4\n# table: x\na\n1\n" SLICES "0,0,1,0\n",
         HEAD SLICES "0,0.000000000,1.000000000,0\n"},
        /* all of the range of times */
        {HEAD UNITS "0,0,-9223372036.854775808,9223372036.854775807,9223372036.854775807,,\n",
         HEAD UNITS "0,0,-9223372036.854775808,9223372036.854775807,9223372036.854775807,,\n"},
        {HEAD UNITS "\"0\",\"0\",\"0\",\"1\",\"\",\"\",\"\"\n",
         HEAD UNITS "0,0,0.000000000,1.000000000,,,\n"},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_becomes(texts[i][0], texts[i][1]);
}
END_TEST

static void assert_refused_bytes(const char *text, size_t length, const char *words) {
    lb_trace *trace = NULL;
    lb_error err = {0};
    ASSERT_REFUSED(lb_trace_parse(text, length, &trace, &err), LB_ERR_FORMAT, words, err);
    ck_assert_ptr_null(trace);
    ck_assert_msg(strncmp(err.message, "line ", 5) == 0, "%s", err.message);
    ck_assert_msg(strstr(err.message, "expected") != NULL, "%s", err.message);
    ck_assert_int_eq(lb_trace_parse(text, length, &trace, NULL), LB_ERR_FORMAT);
}

static void assert_refused(const char *text, const char *words) {
    assert_refused_bytes(text, strlen(text), words);
}

START_TEST(malformed_beginnings_are_refused) {
    assert_refused_bytes(NULL, 0, "line 1: nothing is there: expected \"# lbsched-trace: 1\"");
    assert_refused("\xef\xbb\xbf", "line 1: nothing is there");
    assert_refused("one\ntwo\nthree\n", "line 1: \"one\": expected \"# lbsched-trace: 1\" first");
    assert_refused("\n" HEAD UNITS, "line 1: \"\": expected");
    assert_refused("# remark\n" HEAD UNITS, "line 1: \"# remark\": expected");
    assert_refused("# cores: 4\n# lbsched-trace: 1\n" UNITS, "line 1: \"# cores: 4\"");
    assert_refused("# lbsched-trace: 2\n# cores: 4\n" UNITS, "line 1: lbsched-trace is \"2\"");
    assert_refused("# lbsched-trace:\n", "line 1: lbsched-trace is \"\"");
    assert_refused("#", "line 1: \"#\": expected");
    assert_refused("# lbsched-trace: 1\n", "line 2: no cores: expected \"# cores: N\"");
    assert_refused(HEAD, "line 3: no header: expected one");
    assert_refused(HEAD "\n", "line 4: no header");
    assert_refused(HEAD "# lbsched-trace: 1\n" UNITS, "line 3: lbsched-trace comes twice");
    assert_refused("# lbsched-trace: 1\n" UNITS, "line 2: no cores yet");
    assert_refused("# lbsched-trace: 1\n" SLICES, "line 3: no cores yet");
    assert_refused("# lbsched-trace: 1\n" UNITS "# cores: 4\n", "line 2: no cores yet");
    assert_refused("# lbsched-trace: 1\n# table: x\ny\n# cores: 4\n", "line 4: cores after");
    assert_refused(HEAD UNITS "# cores: 4\n", "line 4: cores after a header");
    assert_refused(HEAD "# cores: 4\n" UNITS, "line 3: cores comes twice");
    static const char *const cores[] = {"0", "-1", "4.5", "", "x", "4294967296", "1e1", "4 4"};
    for (size_t i = 0; i < sizeof cores / sizeof *cores; i++) {
        char text[200], words[80];
        snprintf(text, sizeof text, "# lbsched-trace: 1\n# cores: %s\n" UNITS, cores[i]);
        snprintf(words, sizeof words, "line 2: cores is \"%s\": expected a whole number, 1 to",
                 cores[i]);
        assert_refused(text, words);
    }
    static const char *const works[] = {"0", "-1", "nan", "inf", "", "x", "1e999", "0.01 s"};
    for (size_t i = 0; i < sizeof works / sizeof *works; i++) {
        char text[200], words[80];
        snprintf(text, sizeof text, HEAD "# unit_work_s: %s\n" UNITS, works[i]);
        snprintf(words, sizeof words, "line 3: unit_work_s is \"%s\": expected seconds above 0",
                 works[i]);
        assert_refused(text, words);
    }
    assert_refused(HEAD "# unit_work_s: 1\n# unit_work_s: 1\n", "line 4: unit_work_s comes twice");
    assert_refused(HEAD "# : x\n" UNITS, "line 3: metadata key \"\": expected a key");
    assert_refused(HEAD "# a: b\tc\n" UNITS, "line 3: metadata value \"b?c\": expected no control");
    assert_refused(HEAD "# a\tb: c\n" UNITS, "line 3: metadata key \"a?b\"");
    assert_refused(HEAD "# cpus: 0\n# cpus: 0,1\n" UNITS, "line 4: cpus has 2 numbers: expected 4");
    assert_refused("# lbsched-trace: 1\n# cpus: x\n# cores: 4\n" UNITS, "line 2: cpus has \"x\"");
    assert_refused(HEAD UNITS "# groups: 3-4\n", "line 4: groups has \"3-4\"");
}
END_TEST

START_TEST(malformed_tables_are_refused) {
    assert_refused(HEAD "# table: slices\n", "line 4: no header");
    assert_refused(HEAD "# table: other\n", "line 4: no header");
    assert_refused(HEAD "# table: other\n" SLICES, "line 4: the table before has no header");
    assert_refused(HEAD "# table:\n" UNITS, "line 3: table is \"\": expected a name");
    assert_refused(HEAD SLICES MARKS SLICES, "line 7: table slices comes twice");
    assert_refused(HEAD "task,start_s\n0,1\n", "line 3: the header has no column end_s");
    assert_refused(HEAD "start_s,end_s\n", "line 3: the header has no column task");
    assert_refused(HEAD "end_s,task\n", "line 3: the header has no column start_s");
    assert_refused(HEAD "task,start_s,end_s,task\n", "line 3: column task comes twice");
    assert_refused(HEAD "Task,start_s,end_s\n", "line 3: the header has no column task");
    assert_refused(HEAD "# table: slices\ntask,start_s,end_s\n",
                   "line 4: the header has no column core");
    assert_refused(HEAD "# table: marks\ntask,time_s\n", "line 4: the header has no column kind");
    assert_refused(HEAD "\"task\n", "line 3: expected a closing quote");
    assert_refused(HEAD "\"task\"x,\n", "line 3: expected a comma or the line's end");
    assert_refused(HEAD "# table: x\n\"y\n", "line 4: expected a closing quote");
}
END_TEST

/* A row of units, and what is said of it. */
static void assert_unit_refused(const char *row, const char *words) {
    char text[400], expected[200];
    snprintf(text, sizeof text, HEAD UNITS "\n0,0,0,1,0.5,0,3\n%s\n0,2,4,5,,,\n", row);
    snprintf(expected, sizeof expected, "line 6: %s", words);
    assert_refused(text, expected);
}

START_TEST(malformed_units_are_refused) {
    assert_unit_refused("0,1,1,2,,", "6 fields: expected 7, as in the header");
    assert_unit_refused("0", "1 field: expected 7");
    assert_unit_refused("0,1,1,2,,,,", "more than 7 fields");
    assert_unit_refused(",1,1,2,,,", "task is \"\": expected a task's number, 0 to 1048575");
    assert_unit_refused("x,1,1,2,,,", "task is \"x\"");
    assert_unit_refused("-1,1,1,2,,,", "task is \"-1\"");
    assert_unit_refused("0.5,1,1,2,,,", "task is \"0.5\"");
    assert_unit_refused("1048576,1,1,2,,,", "task is \"1048576\"");
    assert_unit_refused("99999999999999999999999,1,1,2,,,", "task is \"99999999999999999999999\"");
    assert_unit_refused("1e99,1,1,2,,,", "task is \"1e99\"");
    assert_unit_refused("task,unit,start_s,end_s,cpu_s,core_start,core_end", "task is \"task\"");
    assert_unit_refused("0,,1,2,,,", "unit is \"\": expected a whole number, 0 to 4294967295");
    assert_unit_refused("0,4294967296,1,2,,,", "unit is \"4294967296\"");
    assert_unit_refused("0,-1,1,2,,,", "unit is \"-1\"");
    assert_unit_refused("0,1,,2,,,", "start_s is \"\": expected seconds");
    assert_unit_refused("0,1,nan,2,,,", "start_s is \"nan\": expected seconds");
    assert_unit_refused("0,1,-inf,2,,,", "start_s is \"-inf\": expected seconds");
    assert_unit_refused("0,1,1,Infinity,,,", "end_s is \"Infinity\": expected seconds");
    assert_unit_refused("0,1,1,2 ,,,", "end_s is \"2 \": expected seconds");
    assert_unit_refused("0,1,1,0x2,,,", "end_s is \"0x2\": expected seconds");
    assert_unit_refused("0,1,1,9223372036.854775808,,,",
                        "end_s is \"9223372036.854775808\": expected seconds, such as 0.030512, "
                        "within +-9223372036.854775807");
    assert_unit_refused("0,1,1,1e300,,,", "end_s is \"1e300\"");
    assert_unit_refused("0,1,1.000000002,1.000000001,,,",
                        "end_s is 1.000000001: expected start_s, 1.000000002, or more");
    assert_unit_refused("0,1,1,2,-1,,", "cpu_s is \"-1\": expected seconds, 0 to");
    assert_unit_refused("0,1,1,2,-0.000000001,,", "cpu_s is \"-0.000000001\"");
    assert_unit_refused("0,1,1,2,nan,,", "cpu_s is \"nan\"");
    assert_unit_refused("0,1,1,2,,4,", "core_start is \"4\": expected a core, 0 to 3, or nothing");
    assert_unit_refused("0,1,1,2,,,-1", "core_end is \"-1\": expected a core, 0 to 3, or nothing");
    assert_unit_refused("0,1,1,2,,0.5,", "core_start is \"0.5\"");
    assert_unit_refused("0,1,1,2,,4294967296,", "core_start is \"4294967296\"");
    assert_unit_refused("0,1,1,\"2,,,", "expected a closing quote");
    assert_unit_refused("0,1,1,\"2\"3,,,", "expected a comma or the line's end behind");
    assert_unit_refused("0,1,1,\"\"\"2\",,,", "end_s is \"\"\"2\"");
    assert_unit_refused("0,1,1\r2,,,", "start_s is \"1?2\"");
    assert_unit_refused("0;1;1;2;;;", "task is \"0;1;1;2;;;\"");
    assert_refused("# lbsched-trace: 1\n# cores: 4294967295\n" UNITS "0,0,0,1,,2147483648,\n",
                   "line 4: core_start is \"2147483648\": expected a core, 0 to 2147483647");
    const char zero[] = HEAD UNITS "0,0,0,1\0,,,\n";
    assert_refused_bytes(zero, sizeof zero - 1, "line 4: end_s is \"1?\": expected seconds");
    const char zero_meta[] = HEAD "# a: b\0c\n" UNITS;
    assert_refused_bytes(zero_meta, sizeof zero_meta - 1, "line 3: metadata value \"b?c\"");
}
END_TEST

START_TEST(malformed_slices_and_marks_are_refused) {
    assert_refused(HEAD SLICES "0,0,1,\n", "line 5: core is \"\": expected a core, 0 to 3");
    assert_refused(HEAD SLICES "0,0,1,4\n", "line 5: core is \"4\": expected a core, 0 to 3");
    assert_refused(HEAD SLICES "0,2,1,0\n", "line 5: end_s is 1.000000000: expected start_s");
    assert_refused(HEAD SLICES "0,2\n", "line 5: 2 fields: expected 4");
    assert_refused(HEAD SLICES "0,2,3,0\n0,1,2.5,0\n",
                   "line 6: two slices of task 0 overlap: one starts at 2.000000000 s, expected at "
                   "2.500000000 s, when the one before ends, or later (see line 5)");
    assert_refused(HEAD MARKS "0,0,jump\n",
                   "line 5: kind is \"jump\": expected pin, unpin, sleep, wake, fork or end");
    assert_refused(HEAD MARKS "0,0,\n", "line 5: kind is \"\"");
    assert_refused(HEAD MARKS "0,0,pinn\n", "line 5: kind is \"pinn\"");
    assert_refused(HEAD MARKS "x,0,pin\n", "line 5: time_s is \"x\"");
    assert_refused(HEAD MARKS "0,1048576,pin\n", "line 5: task is \"1048576\"");
}
END_TEST

START_TEST(conflicts_name_both_lines) {
    assert_refused(HEAD UNITS "1,0,0,2,,,\n\"0\",0,0,1,,,\n# a: b\n\n1,1,1.5,3,,,\n",
                   "line 8: two units of task 1 overlap: one starts at 1.500000000 s, expected at "
                   "2.000000000 s, when the one before ends, or later (see line 4)");
    assert_refused(HEAD "task,start_s,end_s\n0,1,2\n0,1,2\n",
                   "line 5: two units of task 0 overlap");
    assert_refused(
        HEAD UNITS "0,3,4,5,,,\n0,2,2,3,,,\n0,3,0,1,,,\n",
        "line 6: two units of task 0 have the number 3, which start at 0.000000000 s and "
        "4.000000000 s: expected different numbers (see line 4)");
    assert_refused(HEAD UNITS "0,0,0,1,,,\n" SLICES "0,0,5,1\n0,3,4,2\n",
                   "line 8: two slices of task 0 overlap");
    assert_refused("# lbsched-trace: 1\n# table: x\n\"\n\"\n# table: y\n1\n", "line 7: no cores");
}
END_TEST

/* ---- round trips ---- */

static int64_t draw_time(lbi_random *random) {
    return (int64_t)(lbi_random_next(random) >> (2 + lbi_random_below(random, 60))) -
           (int64_t)(lbi_random_next(random) >> (2 + lbi_random_below(random, 60)));
}

static int32_t draw_core(lbi_random *random, uint32_t cores) {
    uint32_t known = cores < INT32_MAX ? cores : INT32_MAX;
    return (int32_t)lbi_random_below(random, (uint64_t)known + 1) - 1;
}

static uint32_t draw_task(lbi_random *random) {
    return (uint32_t)lbi_random_below(random, lbi_random_below(random, 4) == 0 ? 1048576 : 4);
}

static void add_rows(lbi_random *random, lb_trace *trace, uint32_t cores) {
    lb_error err = {0};
    for (uint64_t n = lbi_random_below(random, 20), i = 0; i < n; i++) {
        int64_t start = draw_time(random), span = (int64_t)lbi_random_below(random, 1000);
        lb_unit unit = {start,
                        start + span,
                        lbi_random_below(random, 3) == 0 ? -1 : (draw_time(random) & INT64_MAX),
                        draw_task(random),
                        (uint32_t)lbi_random_next(random),
                        draw_core(random, cores),
                        draw_core(random, cores)};
        ASSERT_OK(lb_trace_add_unit(trace, &unit, &err), err);
    }
    for (uint64_t n = lbi_random_below(random, 20), i = 0; i < n; i++) {
        int64_t start = draw_time(random);
        int32_t core = draw_core(random, cores);
        lb_slice slice = {start, start, draw_task(random), core < 0 ? 0 : core};
        ASSERT_OK(lb_trace_add_slice(trace, &slice, &err), err);
    }
    for (uint64_t n = lbi_random_below(random, 10), i = 0; i < n; i++) {
        lb_mark mark = {draw_time(random), draw_task(random), (int32_t)lbi_random_below(random, 6)};
        ASSERT_OK(lb_trace_add_mark(trace, &mark, &err), err);
    }
}

/* A text for metadata, with a leaning to characters that mean something. */
static void draw_text(lbi_random *random, char *text, size_t size) {
    static const char signs[] = "#:, \"abc\xef\xbb\xbf\xc3\xa9table";
    size_t length = lbi_random_below(random, size);
    for (size_t i = 0; i < length; i++)
        text[i] = signs[lbi_random_below(random, sizeof signs - 1)];
    text[length] = '\0';
}

static lb_trace *draw_trace(lbi_random *random) {
    uint32_t cores = lbi_random_below(random, 8) == 0 ? (uint32_t)(lbi_random_next(random) | 1)
                                                      : 1 + (uint32_t)lbi_random_below(random, 8);
    lb_trace *trace;
    lb_error err = {0};
    ASSERT_OK(lb_trace_new(cores, &trace, &err), err);
    if (lbi_random_below(random, 2) == 0)
        ASSERT_OK(lb_trace_set_unit_work(trace, lbi_random_exponential(random, 1), &err), err);
    for (int i = 0; i < 4; i++) {
        char key[8], value[8];
        draw_text(random, key, sizeof key);
        draw_text(random, value, sizeof value);
        lb_trace_set_meta(trace, key, value, NULL); /* some are refused */
    }
    add_rows(random, trace, cores);
    return trace;
}

static void assert_same_rows(const lb_trace *a, const lb_trace *b) {
    size_t n, m;
    const lb_unit *u = lb_trace_units(a, &n), *v = lb_trace_units(b, &m);
    ck_assert_uint_eq(n, m);
    ck_assert(n == 0 || memcmp(u, v, n * sizeof *u) == 0);
    const lb_slice *s = lb_trace_slices(a, &n), *t = lb_trace_slices(b, &m);
    ck_assert_uint_eq(n, m);
    ck_assert(n == 0 || memcmp(s, t, n * sizeof *s) == 0);
    const lb_mark *k = lb_trace_marks(a, &n), *l = lb_trace_marks(b, &m);
    ck_assert_uint_eq(n, m);
    ck_assert(n == 0 || memcmp(k, l, n * sizeof *k) == 0);
    ck_assert_uint_eq(lb_trace_cores(a), lb_trace_cores(b));
    ck_assert_uint_eq(lb_trace_tasks(a), lb_trace_tasks(b));
    double x = lb_trace_unit_work(a), y = lb_trace_unit_work(b);
    ck_assert(x == y || (isnan(x) && isnan(y)));
}

START_TEST(random_traces_read_back_to_the_bit) {
    lbi_random random;
    lbi_random_seed(&random, 5);
    size_t sealed = 0;
    for (int i = 0; i < 4000; i++) {
        lb_trace *trace = draw_trace(&random);
        if (lb_trace_seal(trace, NULL) == LB_OK) {
            sealed++;
            char *text = format(trace);
            lb_trace *back = parse(text);
            assert_same_rows(trace, back);
            char *again = format(back);
            ck_assert_str_eq(text, again);
            lb_free(text);
            lb_free(again);
            lb_trace_free(back);
        }
        lb_trace_free(trace);
    }
    ck_assert_uint_gt(sealed, 2000);
}
END_TEST

/* Whatever bytes change, nothing but a status comes of it; what is taken reads back. */
START_TEST(random_damage_is_survived) {
    static const char good[] =
        HEAD "# unit_work_s: 0.01\n" UNITS "0,0,0,1,0.5,0,1\n0,1,1,2,,,\n"
             "1,0,0.5,1e0,,,\n" SLICES "0,0,1,0\n0,1,2,1\n" MARKS "0.5,1,pin\n";
    static const char signs[] = "\0\n\r,\"#:-+.e019 xtask\xef\xbb\xbf";
    lbi_random random;
    lbi_random_seed(&random, 6);
    size_t taken = 0;
    for (int i = 0; i < 50000; i++) {
        char text[sizeof good];
        memcpy(text, good, sizeof good);
        for (uint64_t n = 1 + lbi_random_below(&random, 3); n > 0; n--)
            text[lbi_random_below(&random, sizeof good - 1)] =
                signs[lbi_random_below(&random, sizeof signs - 1)];
        size_t length = sizeof good - 1;
        if (lbi_random_below(&random, 4) == 0)
            length = lbi_random_below(&random, length);
        lb_trace *trace = NULL;
        lb_error err;
        lb_status status = lb_trace_parse(text, length, &trace, &err);
        ck_assert(status == LB_OK || status == LB_ERR_FORMAT);
        if (status == LB_ERR_FORMAT) {
            ck_assert(strncmp(err.message, "line ", 5) == 0);
            continue;
        }
        taken++;
        char *written = format(trace);
        lb_trace *back = parse(written);
        assert_same_rows(trace, back);
        lb_free(written);
        lb_trace_free(back);
        lb_trace_free(trace);
    }
    ck_assert_uint_gt(taken, 1000);
}
END_TEST

/* Many metadata of one name, or of different ones, take no time to speak of. */
START_TEST(metadata_are_read_in_linear_time) {
    lbi_text text = {0};
    lbi_text_string(&text, HEAD);
    for (int i = 0; i < 200000; i++)
        lbi_text_printf(&text, "# %d: %d\n", i % 150000, i);
    lbi_text_string(&text, UNITS);
    size_t length;
    char *file = lbi_text_take(&text, &length);
    lb_trace *trace = parse_bytes(file, length);
    ck_assert_str_eq(lb_trace_meta(trace, "49999"), "199999");
    ck_assert_str_eq(lb_trace_meta(trace, "50000"), "50000");
    ck_assert_str_eq(lb_trace_meta(trace, "149999"), "149999");
    lb_free(file);
    lb_trace_free(trace);
}
END_TEST

START_TEST(unsealed_traces_and_unknown_forms_are_refused) {
    lb_trace *trace = parse(HEAD UNITS);
    lb_error err = {0};
    char *text = NULL;
    ASSERT_REFUSED(lb_trace_format(trace, (lb_trace_file)2, &text, NULL, &err), LB_ERR_INVALID,
                   "file is 2", err);
    lb_unit unit = {0, 1, -1, 0, 0, -1, -1};
    ASSERT_OK(lb_trace_add_unit(trace, &unit, &err), err);
    ASSERT_REFUSED(lb_trace_format(trace, LB_TRACE_CSV, &text, NULL, &err), LB_ERR_INVALID,
                   "not sealed", err);
    ck_assert_ptr_null(text);
    lb_trace_free(trace);
}
END_TEST

/* ---- memory; Check allocates too, so nothing is asserted while an allocation is to fail ---- */

static bool all_right;

static lb_status read_and_write(const char *text, lb_status expected) {
    lb_trace *trace = NULL;
    lb_error err;
    char *written = NULL;
    lb_status status = lb_trace_parse(text, strlen(text), &trace, &err);
    if (status != LB_OK)
        all_right = all_right && trace == NULL;
    if (status == LB_OK)
        status = lb_trace_format(trace, LB_TRACE_CSV, &written, NULL, &err);
    if (status != LB_OK)
        all_right = all_right && written == NULL;
    if (status == LB_ERR_NOMEM)
        all_right = all_right && strncmp(err.message, "no memory for ", 14) == 0;
    lb_free(written);
    lb_trace_free(trace);
    return status == expected ? LB_OK : status;
}

START_TEST(every_failed_allocation_is_survived) {
    size_t failures;
    lb_status status;
    lbi_text text = {0};
    lbi_text_string(&text, HEAD "# a: b\n# a: c\n# cpus: 0-3\n" UNITS);
    for (int i = 20; i > 0; i--)
        lbi_text_printf(&text, "%d,%d,%d,%d,,,\n", i % 3, 30 - i, i, i + 1);
    lbi_text_string(&text, SLICES);
    for (int i = 20; i > 0; i--)
        lbi_text_printf(&text, "%d,%d,%d,1\n", i % 3, i, i + 1);
    lbi_text_string(&text, MARKS "3,0,pin\n2,0,wake\n");
    char *good = lbi_text_take(&text, NULL);
    all_right = true;
    SWEEP_ALLOCATIONS(status, failures, status = read_and_write(good, LB_OK));
    ck_assert(all_right);
    ck_assert_uint_gt(failures, 20);
    lb_free(good);
    /* Reading once more to name the lines allocates too. */
    SWEEP_ALLOCATIONS(status, failures,
                      status =
                          read_and_write(HEAD UNITS "0,0,0,2,,,\n0,1,1,3,,,\n", LB_ERR_FORMAT));
    ck_assert(all_right);
    ck_assert_uint_ge(failures, 4);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("trace_csv");
    ADD(s, "good", the_formats_own_example, everything_at_once, odd_but_good);
    ADD(s, "malformed", malformed_beginnings_are_refused, malformed_tables_are_refused,
        malformed_units_are_refused, malformed_slices_and_marks_are_refused,
        conflicts_name_both_lines, unsealed_traces_and_unknown_forms_are_refused);
    ADD(s, "random", random_traces_read_back_to_the_bit, random_damage_is_survived,
        metadata_are_read_in_linear_time);
    ADD(s, "memory", every_failed_allocation_is_survived);
    return s;
}
