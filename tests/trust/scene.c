/* SPDX-License-Identifier: BSD-3-Clause */
#include "scene.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "surroundings.h"

inputs in;
lb_process_id scene_ids[128];

static lb_error err;

/* ---- inputs ---- */

static lb_workload *make_workload(size_t n) {
    lb_workload *w = NULL;
    ASSERT_OK(lb_workload_new(&w, &err), err);
    for (size_t i = 0; i < n; i++)
        ASSERT_OK(lb_workload_add(w, 0.25 + 0.125 * (double)(i % 7), NULL, &err), err);
    return w;
}

static int cancel_early(void *user, double fraction) {
    (void)user;
    return fraction > 0.05;
}

static lb_table *make_table(size_t stage);

void inputs_make(void) {
    scene *g = &in.given;
    ASSERT_OK(lb_model_preset("linux-2.6.22", 2, &g->model, &err), err);
    g->workload = make_workload(5);
    ASSERT_OK(lb_workload_add_event(g->workload, 0, 0.1, LB_EVENT_SLEEP, &err), err);
    ASSERT_OK(lb_workload_add_event(g->workload, 0, 0.3, LB_EVENT_WAKE, &err), err);
    ASSERT_OK(lb_workload_set_weight(g->workload, 1, 2, &err), err);
    ASSERT_OK(lb_workload_set_arrival(g->workload, 2, 0.2, &err), err);
    ASSERT_OK(lb_model_trace(g->model, g->workload, 0.01, 0.02, 1, &g->trace, &err), err);
    ASSERT_OK(lb_trace_set_meta(g->trace, "host", "made", &err), err);
    lb_trace *known = NULL;
    ASSERT_OK(lb_trace_load(SOURCE_ROOT "/tests/data/windows-7.csv", &known, &err), err);
    ASSERT_OK(lb_classify(known, NULL, &g->verdict, &err), err);
    lb_trace_free(known);
    ASSERT_OK(lb_trace_latency(g->trace, &g->table, &err), err);
    lb_estimate_options_init(&in.threaded, sizeof in.threaded);
    in.threaded.method = LB_METHOD_SAMPLE;
    in.threaded.threads = 4;
    in.threaded.samples = 512;
    ASSERT_OK(lb_model_distribution(g->model, g->workload, &in.threaded, &g->distribution, &err),
              err);
    in.threaded.first_sample = 512;
    ASSERT_OK(lb_model_distribution(g->model, g->workload, &in.threaded, &in.other, &err), err);
    in.threaded.first_sample = 0;
    ASSERT_OK(lb_sampler_new(g->model, g->workload, &g->sampler, &err), err);
    lb_model_options rotating;
    lb_model_get_options(g->model, &rotating, sizeof rotating);
    rotating.policy = LB_POLICY_IMMEDIATE;
    rotating.rotation_time = 0.02;
    ASSERT_OK(lb_model_new(&rotating, &in.rotating, &err), err);
    scene_make(g, SIM, 3);
    lb_host_options_init(&in.recorded, sizeof in.recorded);
    in.recorded.synthetic = "pack:1 core:2 pu:1";
    ASSERT_OK(lb_host_open(&in.recorded, &g->host, &err), err);
    ASSERT_OK(lb_host_open(NULL, &in.machine, &err), err);
    ASSERT_OK(lb_model_preset("windows-7", lb_host_cores(in.machine), &in.emulated, &err), err);
    ASSERT_OK(lb_workload_new(&in.brief, &err), err);
    ASSERT_OK(lb_workload_add(in.brief, 0.002, NULL, &err), err);
    ASSERT_OK(lb_workload_add(in.brief, 0.003, NULL, &err), err);
    in.runs = make_table(0);
    for (size_t i = 0; i < 24; i++) {
        double values[] = {10 + 0.1 * (double)(i * 7 % 5), 3 + 0.1 * (double)(i * 5 % 7)};
        ASSERT_OK(lb_table_add_row(in.runs, i < 12 ? "a" : "b", values, &err), err);
    }
    strcpy(in.folder, "/tmp/check_sweeps-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(in.folder));
    setenv("TMPDIR", in.folder, 1);
    snprintf(in.input, sizeof in.input, "%s/input", in.folder);
    snprintf(in.output, sizeof in.output, "%s/output", in.folder);
    ASSERT_OK(lb_trace_save(g->trace, in.input, LB_TRACE_CSV, &err), err);
    lb_import_options_init(&in.durations, sizeof in.durations);
    lb_experiment_options_init(&in.tiny, sizeof in.tiny);
    in.tiny.design = LB_DETECT_FIXED;
    in.tiny.tasks_per_core = 3;
    in.tiny.unit_work = 0.001;
    in.tiny.budget = 1;
    in.adaptive = in.tiny;
    in.adaptive.design = LB_DETECT_ADAPTIVE;
    in.cancelled = in.adaptive;
    in.cancelled.progress = cancel_early;
    static const int32_t level = 0;
    lb_weights_options_init(&in.weights, sizeof in.weights);
    in.weights.levels = &level;
    in.weights.level_count = 1;
    in.weights.repeats = 1;
    in.weights.seconds = 0.2;
    in.weights.groups = 1;
    in.weights.group_cores = 2;
    static const uint32_t points[] = {1};
    lb_throughput_options_init(&in.command, sizeof in.command);
    in.command.points = points;
    in.command.point_count = 1;
    in.command.repeats = 1;
    in.command.jobs = 1;
    in.command.budget = 30;
}

void inputs_free(void) {
    scene_free(&in.given);
    lb_distribution_free(in.other);
    lb_host_free(in.machine);
    lb_model_free(in.emulated);
    lb_model_free(in.rotating);
    lb_workload_free(in.brief);
    lb_table_free(in.runs);
    unlink(in.input);
    unlink(in.output);
    /* Nothing else was left there. */
    ck_assert_int_eq(rmdir(in.folder), 0);
}

/* ---- the object that changes ---- */

static lb_trace *make_trace(size_t stage) {
    lb_trace *t = NULL;
    ASSERT_OK(lb_trace_new(2, &t, &err), err);
    for (size_t i = 0; i < stage; i++) {
        int64_t start = (int64_t)i * 1000000;
        lb_unit unit = {.start_ns = start,
                        .end_ns = start + 1000000,
                        .cpu_ns = 1000000,
                        .task = (uint32_t)(i % 3),
                        .index = (uint32_t)(i / 3)};
        lb_slice slice = {.start_ns = start, .end_ns = start + 1000000, .task = (uint32_t)(i % 3)};
        lb_mark mark = {.time_ns = start, .task = (uint32_t)(i % 3), .kind = LB_MARK_PIN};
        char key[32];
        snprintf(key, sizeof key, "key_%zu", i);
        ASSERT_OK(lb_trace_add_unit(t, &unit, &err), err);
        ASSERT_OK(lb_trace_add_slice(t, &slice, &err), err);
        ASSERT_OK(lb_trace_add_mark(t, &mark, &err), err);
        ASSERT_OK(lb_trace_set_meta(t, key, "value", &err), err);
    }
    return t;
}

static lb_table *make_table(size_t stage) {
    static const char *const names[] = {"one", "two"};
    lb_table *t = NULL;
    ASSERT_OK(lb_table_new(names, 2, &t, &err), err);
    for (size_t i = 0; i < stage; i++) {
        double values[] = {(double)i, 0.5};
        char key[32];
        snprintf(key, sizeof key, "key_%zu", i);
        ASSERT_OK(lb_table_add_row(t, "row", values, &err), err);
        ASSERT_OK(lb_table_set_meta(t, key, "value", &err), err);
    }
    return t;
}

static lb_sim *make_sim(size_t stage) {
    lb_sim *sim = NULL;
    ASSERT_OK(lb_sim_new(in.rotating, 1, &sim, &err), err);
    /* Odd stages have more and more events that nobody polls, the others more and more processes.
     */
    bool odd = stage % 2 == 1;
    for (size_t i = 0; i < (odd && stage > 5 ? 5 : stage % 100); i++) {
        double work = 2 + 0.1 * (double)(i % 3);
        ASSERT_OK(lb_sim_add(sim, work, 1, LB_CORE_ANY, i, &scene_ids[i], &err), err);
        if (i % 4 == 1)
            ASSERT_OK(lb_sim_sleep(sim, scene_ids[i], &err), err);
    }
    ASSERT_OK(lb_sim_advance(sim, odd ? 0.01 * (double)stage : 0.1, &err), err);
    return sim;
}

void scene_make(scene *s, object changed, size_t stage) {
    if (changed == WORKLOAD)
        s->workload = make_workload(stage);
    else if (changed == TRACE)
        s->trace = make_trace(stage);
    else if (changed == TABLE)
        s->table = make_table(stage);
    else if (changed == DISTRIBUTION)
        ASSERT_OK(lb_model_distribution(in.given.model, in.given.workload, &in.threaded,
                                        &s->distribution, &err),
                  err);
    else if (changed == SAMPLER)
        ASSERT_OK(lb_sampler_new(in.given.model, in.given.workload, &s->sampler, &err), err);
    else if (changed == SIM || changed == PASSING || changed == INSTANT)
        s->sim = make_sim(stage);
    else if (changed == MODEL)
        ASSERT_OK(lb_model_preset("linux-2.6.31", 2, &s->model, &err), err);
    else if (changed == HOST)
        ASSERT_OK(lb_host_open(&in.recorded, &s->host, &err), err);
    else if (changed == VERDICT)
        ASSERT_OK(lb_classify(in.given.trace, NULL, &s->verdict, &err), err);
    else if (changed == TEXT)
        ASSERT_OK(lb_table_format(in.given.table, LB_FORMAT_CSV, &s->text, &err), err);
    if (changed == INSTANT) {
        lb_process_id id;
        ASSERT_OK(lb_sim_begin(s->sim, lb_sim_now(s->sim) + 0.01, &err), err);
        for (size_t i = 0; i < stage; i++)
            ASSERT_OK(lb_sim_add(s->sim, 0.5, 2, LB_CORE_ANY, 100 + i, &id, &err), err);
    }
}

void scene_free(scene *s) {
    lb_model_free(s->model);
    lb_workload_free(s->workload);
    lb_trace_free(s->trace);
    lb_table_free(s->table);
    lb_distribution_free(s->distribution);
    lb_sampler_free(s->sampler);
    lb_sim_free(s->sim);
    lb_verdict_free(s->verdict);
    lb_host_free(s->host);
    lb_free(s->text);
    *s = (scene){0};
}

/* ---- what can be told of it ---- */

static void tell_workload(FILE *to, const lb_workload *w) {
    double times[256];
    ck_assert_uint_le(lb_workload_size(w), 256);
    fprintf(to, "%zu", lb_workload_size(w));
    for (uint64_t seed = 1; seed < 4 && lb_workload_size(w) > 0; seed++) {
        ASSERT_OK(lb_model_sample(in.given.model, w, seed, times, &err), err);
        for (size_t i = 0; i < lb_workload_size(w); i++)
            fprintf(to, " %a", times[i]);
    }
}

static void tell_text(FILE *to, char *text) {
    fputs(text, to);
    lb_free(text);
}

static void tell_where(FILE *to, const lb_sim *sim) {
    for (size_t i = 0; i < 128; i++)
        fprintf(to, " %a %a", lb_sim_remaining(sim, scene_ids[i]), lb_sim_rate(sim, scene_ids[i]));
    fprintf(to, " at %a %zu:", lb_sim_now(sim), lb_sim_count(sim));
}

static void tell_events(FILE *to, lb_sim *sim) {
    lb_sim_event e;
    lb_sim_commit(sim, &err); /* of an instant that is open */
    ASSERT_OK(lb_sim_advance(sim, 20, &err), err);
    while (lb_sim_poll(sim, &e) == 1)
        fprintf(to, " %a %llu %d %u", e.time, (unsigned long long)e.tag, (int)e.kind, e.to);
    fprintf(to, " %zu", lb_sim_count(sim));
}

void scene_state(scene *s, object changed, state told) {
    char *text = NULL;
    FILE *to = fmemopen(told, sizeof(state), "w");
    if (changed == WORKLOAD && s->workload != NULL) {
        tell_workload(to, s->workload);
    } else if (changed == TRACE && s->trace != NULL) {
        ASSERT_OK(lb_trace_seal(s->trace, &err), err);
        ASSERT_OK(lb_trace_format(s->trace, LB_TRACE_CSV, &text, NULL, &err), err);
        tell_text(to, text);
    } else if (changed == TABLE && s->table != NULL) {
        ASSERT_OK(lb_table_format(s->table, LB_FORMAT_CSV, &text, &err), err);
        tell_text(to, text);
    } else if (changed == DISTRIBUTION && s->distribution != NULL) {
        ASSERT_OK(lb_distribution_format(s->distribution, &text, &err), err);
        tell_text(to, text);
    } else if (changed == SAMPLER && s->sampler != NULL) {
        double times[16];
        ASSERT_OK(lb_sampler_run(s->sampler, 7, times, &err), err);
        fprintf(to, "%a %a", times[0], times[4]);
    } else if ((changed == SIM || changed == PASSING || changed == INSTANT) && s->sim != NULL) {
        if (changed != PASSING)
            tell_where(to, s->sim);
        tell_events(to, s->sim);
    }
    ck_assert_int_ne(fputc('\0', to), EOF);
    ck_assert_int_eq(fclose(to), 0);
}
