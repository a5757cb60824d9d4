/* SPDX-License-Identifier: BSD-3-Clause */
/* Whatever bytes are given as a trace file: they are refused with a line and a reason, or the trace
 * that they make is written and read back to the bit. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "lbsched/lbsched.h"
#include "trace/tasks.h"

static void compare(const lb_trace *a, const lb_trace *b) {
    size_t n, m;
    const lb_unit *u = lb_trace_units(a, &n), *v = lb_trace_units(b, &m);
    CHECK(n == m && (n == 0 || memcmp(u, v, n * sizeof *u) == 0));
    const lb_slice *s = lb_trace_slices(a, &n), *t = lb_trace_slices(b, &m);
    CHECK(n == m && (n == 0 || memcmp(s, t, n * sizeof *s) == 0));
    const lb_mark *k = lb_trace_marks(a, &n), *l = lb_trace_marks(b, &m);
    CHECK(n == m && (n == 0 || memcmp(k, l, n * sizeof *k) == 0));
    CHECK(lb_trace_cores(a) == lb_trace_cores(b) && lb_trace_tasks(a) == lb_trace_tasks(b));
    double x = lb_trace_unit_work(a), y = lb_trace_unit_work(b);
    CHECK(x == y || (isnan(x) && isnan(y)));
}

/* What the header promises of a trace that the library returns. */
static void check_promises(const lb_trace *trace) {
    lbi_task task = {0};
    int64_t cores = lb_trace_cores(trace);
    while (lbi_trace_next_task(trace, &task)) {
        CHECK(task.task <= LB_TASK_MAX && task.task < lb_trace_tasks(trace));
        CHECK(lbi_task_start_ns(&task) <= lbi_task_end_ns(&task));
        for (size_t i = 0; i < task.unit_count; i++) {
            const lb_unit *u = &task.units[i];
            CHECK(u->start_ns <= u->end_ns && u->cpu_ns >= -1);
            CHECK(u->core_start >= -1 && u->core_start < cores);
            CHECK(u->core_end >= -1 && u->core_end < cores);
            CHECK(i == 0 || u[-1].end_ns <= u->start_ns);
        }
        for (size_t i = 0; i < task.slice_count; i++) {
            const lb_slice *s = &task.slices[i];
            CHECK(s->start_ns <= s->end_ns && s->core >= 0 && s->core < cores);
            CHECK(i == 0 || s[-1].end_ns <= s->start_ns);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    lb_trace *trace = NULL, *back = NULL;
    lb_error err = {0};
    char *text, *again, *json;
    size_t length, length_again;
    lb_status status = lb_trace_parse((const char *)data, size, &trace, &err);
    if (status != LB_OK) {
        CHECK(status == LB_ERR_FORMAT && trace == NULL);
        CHECK(strncmp(err.message, "line ", 5) == 0 && strchr(err.message, '\n') == NULL);
        CHECK(strlen(err.message) == sizeof err.message - 1 ||
              strstr(err.message, "expected") != NULL);
        return 0;
    }
    check_promises(trace);
    CHECK(lb_trace_format(trace, LB_TRACE_CSV, &text, &length, &err) == LB_OK);
    CHECK(lb_trace_parse(text, length, &back, &err) == LB_OK);
    compare(trace, back);
    CHECK(lb_trace_format(back, LB_TRACE_CSV, &again, &length_again, &err) == LB_OK);
    CHECK(length == length_again && memcmp(text, again, length) == 0);
    CHECK(lb_trace_format(back, LB_TRACE_CHROME_JSON, &json, NULL, &err) == LB_OK);
    lb_free(json);
    lb_free(again);
    lb_free(text);
    lb_trace_free(back);
    lb_trace_free(trace);
    return 0;
}
