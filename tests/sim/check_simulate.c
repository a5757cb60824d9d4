/* SPDX-License-Identifier: BSD-3-Clause */
/* Simulated traces as the library sees them: handed over in memory, and read from what the command
 * line tool prints. SIMULATE is the tool's path. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../unit/harness.h"
#include "draw.h"
#include "timeslice.h"

/* What the tool prints; the caller frees it. */
static char *tool_output(const char *arguments, size_t *ret_length) {
    char command[1024];
    ck_assert_ptr_nonnull(getenv("SIMULATE"));
    snprintf(command, sizeof command, "'%s' %s", getenv("SIMULATE"), arguments);
    FILE *pipe = popen(command, "r");
    ck_assert_ptr_nonnull(pipe);
    size_t length = 0, room = 1 << 16;
    char *text = malloc(room);
    for (size_t n; (n = fread(text + length, 1, room - length, pipe)) > 0; length += n)
        if (length + n == room)
            text = realloc(text, room *= 2);
    ck_assert_int_eq(pclose(pipe), 0);
    *ret_length = length;
    return text;
}

/* A trace's tables bit for bit. */
static void assert_same(const lb_trace *left, const lb_trace *right) {
    size_t n_left, n_right;
    const lb_unit *units = lb_trace_units(left, &n_left);
    const lb_unit *other_units = lb_trace_units(right, &n_right);
    ck_assert_uint_eq(n_left, n_right);
    ck_assert(n_left == 0 || memcmp(units, other_units, n_left * sizeof *units) == 0);
    const lb_slice *slices = lb_trace_slices(left, &n_left);
    const lb_slice *other_slices = lb_trace_slices(right, &n_right);
    ck_assert_uint_eq(n_left, n_right);
    ck_assert(n_left == 0 || memcmp(slices, other_slices, n_left * sizeof *slices) == 0);
    ck_assert_uint_eq(lb_trace_cores(left), lb_trace_cores(right));
    double work = lb_trace_unit_work(left), other_work = lb_trace_unit_work(right);
    ck_assert(work == other_work || (isnan(work) && isnan(other_work)));
}

START_TEST(every_trace_is_accepted) {
    static draw drawn;
    for (uint64_t seed = 0; seed < 100; seed++) {
        draw_config(seed, seed % 2 == 0 ? DRAW_ALL : DRAW_CLEAN, &drawn);
        drawn.config.slices = seed % 5 == 0;
        timeslice_result result;
        ck_assert_int_eq(timeslice_run(&drawn.config, &result), TIMESLICE_OK);
        lb_error err = {0};
        lb_trace *trace;
        ASSERT_OK(timeslice_trace(&result, &trace, &err), err);
        size_t n;
        lb_trace_units(trace, &n);
        ck_assert_uint_eq(n, result.unit_count);
        ck_assert_uint_eq(lb_trace_tasks(trace), result.tasks);
        lb_trace_free(trace);
        timeslice_free(&result);
    }
}
END_TEST

START_TEST(the_tool_prints_the_same) {
    static draw drawn;
    for (uint64_t seed = 0; seed < 6; seed++) {
        char arguments[100];
        snprintf(arguments, sizeof arguments, "--seed %" PRIu64 " --draw %s --slices", seed,
                 seed % 2 == 0 ? "all" : "clean");
        draw_config(seed, seed % 2 == 0 ? DRAW_ALL : DRAW_CLEAN, &drawn);
        drawn.config.slices = true;
        timeslice_result result;
        ck_assert_int_eq(timeslice_run(&drawn.config, &result), TIMESLICE_OK);
        lb_error err = {0};
        lb_trace *trace, *printed;
        ASSERT_OK(timeslice_trace(&result, &trace, &err), err);
        size_t length;
        char *text = tool_output(arguments, &length);
        ASSERT_OK(lb_trace_parse(text, length, &printed, &err), err);
        assert_same(trace, printed);
        ck_assert_str_eq(lb_trace_meta(printed, "decidable"),
                         result.truth.decidable ? "yes" : "no");
        free(text);
        lb_trace_free(printed);
        lb_trace_free(trace);
        timeslice_free(&result);
    }
}
END_TEST

Suite *suite(void) {
    Suite *made = suite_create("simulate");
    ADD(made, "traces", every_trace_is_accepted, the_tool_prints_the_same);
    return made;
}
