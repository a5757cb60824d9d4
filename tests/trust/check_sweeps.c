/* SPDX-License-Identifier: BSD-3-Clause */
/* Every exported call with its 1st, 2nd, .. allocation failing, then its threads and its processes
 * not coming about, until a run in which nothing failed. A failure leaves the object and the output
 * parameters as they were and nothing behind, and the call does its work when it is made again.
 *
 * Experiments cost a run for each failure: they are swept with LBSCHED_LONG=1 only, with steps that
 * double. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#include "calls.h"
#include "surroundings.h"
#include "sweeps.h"

/* What fails: an allocation, or a call of the system. */
typedef struct fault {
    const char *name;
    long number; /* 0: an allocation */
    int error;
    lb_status expected;
} fault;

static const fault faults[] = {
    {"allocations", 0, 0, LB_ERR_NOMEM},
    {"threads", CALL_THREAD, EAGAIN, LB_ERR_SYSTEM},
    {"processes", SYS_clone, EAGAIN, LB_ERR_SYSTEM},
    {"pipes", CALL_PIPE, EMFILE, LB_ERR_SYSTEM},
    {"mappings", CALL_MMAP, ENOMEM, LB_ERR_NOMEM},
};
enum {
    FAULTS = sizeof faults / sizeof *faults
};

static bool long_form(void) {
    return getenv("LBSCHED_LONG") != NULL;
}

static void arm(const fault *f, size_t n) {
    if (f->number == 0)
        faults_arm(n);
    else
        calls_arm(f->number, (int)n, f->error, false);
}

static bool fired(const fault *f) {
    return f->number == 0 ? faults_fired() : calls_fired();
}

/* The states of an object without and with the call; and now. */
static state before, after, now;

static void know_state(const sweep *w, size_t stage, bool called, state told) {
    scene s = {0};
    scene_make(&s, w->changed, stage);
    if (called)
        ASSERT_OK(w->call(&s), *sweeps_error());
    scene_state(&s, w->changed, told);
    scene_free(&s);
}

static void assert_state(const sweep *w, scene *s, const char *expected, const char *when) {
    scene_state(s, w->changed, now);
    size_t same = 0;
    while (now[same] == expected[same] && now[same] != '\0')
        same++;
    size_t from = same < 40 ? 0 : same - 40;
    ck_assert_msg(now[same] == expected[same], "%s %s: \"%.200s\", expected \"%.200s\"", w->symbol,
                  when, now + from, expected + from);
}

/* Once with the n-th failing; then the object is looked at, or the call made again. Returns whether
 * anything failed. */
static bool try_once(const sweep *w, const fault *f, size_t stage, size_t n, bool again) {
    lb_error *err = sweeps_error();
    surroundings around;
    long live = faults_live();
    scene s = {0}, made;
    scene_make(&s, w->changed, stage);
    made = s;
    if (w->kind == SWEEP_RUNS)
        look_around(&around);
    arm(f, n);
    lb_status status = w->call(&s);
    bool failed = fired(f);
    if (w->kind == SWEEP_RUNS) {
        assert_unchanged(&around);
        assert_childless();
    }
    if (failed) {
        ck_assert_msg(status == f->expected, "%s, %zu of %s: %s (%s)", w->symbol, n, f->name,
                      lb_status_name(status), status == LB_OK ? "" : err->message);
        ck_assert_int_eq(err->status, status);
        ck_assert_int_ne(err->message[0], '\0');
        ck_assert_msg(memcmp(&s, &made, sizeof s) == 0, "%s, %zu of %s: it wrote its output",
                      w->symbol, n, f->name);
        if (again && w->kind != SWEEP_RUNS)
            ASSERT_OK(w->call(&s), *err);
        if (w->kind != SWEEP_RUNS)
            assert_state(w, &s, again ? after : before, again ? "made again" : "after a failure");
    } else {
        bool cancelled = strcmp(w->symbol, "lb_self_test") == 0;
        ck_assert_msg(status == (cancelled ? LB_ERR_CANCELLED : LB_OK), "%s: %s (%s)", w->symbol,
                      lb_status_name(status), err->message);
    }
    scene_free(&s);
    /* What the threads and workers of it freed too. */
    ck_assert_msg(faults_live() == live, "%s, %zu of %s: %ld allocations are left", w->symbol, n,
                  f->name, faults_live() - live);
    return failed;
}

static size_t sweep_stage(const sweep *w, const fault *f, size_t stage) {
    size_t count = 0;
    before[0] = after[0] = '\0';
    if (w->kind != SWEEP_RUNS) {
        know_state(w, stage, false, before);
        know_state(w, stage, true, after);
    }
    for (size_t n = 1; try_once(w, f, stage, n, false); count++) {
        if (w->kind != SWEEP_RUNS)
            ck_assert(try_once(w, f, stage, n, true));
        n += w->kind != SWEEP_RUNS || n < 3 ? 1 : n;
    }
    return count;
}

static size_t totals[FAULTS], mistakes;

static void sweep_symbol(const sweep *w) {
    size_t counts[FAULTS] = {0}, sum = 0;
    for (size_t i = 0; i < FAULTS; i++) {
        for (size_t stage = 0; stage < w->stages; stage++)
            counts[i] += sweep_stage(w, &faults[i], stage);
        totals[i] += counts[i];
        sum += counts[i];
    }
    bool can_fail = w->kind != SWEEP_NOTHING;
    if (w->kind != SWEEP_SELDOM && can_fail != (counts[0] > 0)) {
        printf("%s: the table says that something %s fail in it\n", w->symbol,
               can_fail ? "can" : "cannot");
        mistakes++;
    }
    if (sum > 0)
        printf("%-28s %zu allocations, %zu threads, %zu processes, %zu pipes, %zu mappings\n",
               w->symbol, counts[0], counts[1], counts[2], counts[3], counts[4]);
}

static void sweep_all(bool runs) {
    setvbuf(stdout, NULL, _IOLBF, 0); /* what was found shows however it ends */
    size_t swept = 0;
    inputs_make();
    memset(totals, 0, sizeof totals);
    /* The files that some calls read. */
    if (!runs)
        ASSERT_OK(lb_model_save(in.given.model, in.output, sweeps_error()), *sweeps_error());
    for (size_t i = 0; i < sweep_count; i++)
        if ((sweeps[i].kind == SWEEP_RUNS) == runs) {
            sweep_symbol(&sweeps[i]);
            swept++;
        }
    printf("%zu calls: %zu allocations, %zu threads, %zu processes, %zu pipes and %zu mappings "
           "failed\n",
           swept, totals[0], totals[1], totals[2], totals[3], totals[4]);
    ck_assert_uint_eq(mistakes, 0);
    ck_assert_uint_gt(totals[0], runs ? 20 : 1000);
    inputs_free();
}

START_TEST(calls) {
    sweep_all(false);
    ck_assert_uint_gt(totals[1], 0);
}
END_TEST

START_TEST(experiments) {
    if (!long_form()) {
        printf(
            "skipped: the sweeps of experiments take half a minute; LBSCHED_LONG=1 makes them\n");
        return;
    }
    lb_host_free(open_two_cores());
    sweep_all(true);
    ck_assert_uint_gt(totals[2], 0);
}
END_TEST

/* ---- the table against the version script ---- */

static bool is_swept(const char *symbol) {
    int found = 0;
    for (size_t i = 0; i < sweep_count; i++)
        found += strcmp(sweeps[i].symbol, symbol) == 0;
    ck_assert_int_le(found, 1);
    return found == 1;
}

START_TEST(every_export) {
    FILE *map = fopen(SOURCE_ROOT "/lib/lbsched.map", "r");
    ck_assert_ptr_nonnull(map);
    char line[256], symbol[128];
    size_t exports = 0;
    while (fgets(line, sizeof line, map) != NULL)
        if (sscanf(line, " lb_%120[a-z0-9_];", symbol + 3) == 1) {
            memcpy(symbol, "lb_", 3);
            exports++;
            ck_assert_msg(is_swept(symbol), "%s has no sweep in tests/trust/sweeps.c", symbol);
        }
    fclose(map);
    ck_assert_uint_ge(exports, 145);
    ck_assert_uint_eq(exports, sweep_count);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("sweeps");
    ADD(s, "table", every_export);
    const TTest *swept[] = {calls, experiments};
    for (size_t i = 0; i < 2; i++) {
        TCase *c = tcase_create(swept[i]->name);
        tcase_set_timeout(c, long_form() ? 7200 : 300);
        tcase_add_test(c, swept[i]);
        suite_add_tcase(s, c);
    }
    return s;
}
