/* SPDX-License-Identifier: BSD-3-Clause */
#include "sweeps.h"

#include <math.h>
#include <string.h>

#define G in.given
static lb_error err;

/* What cannot fail: it must not allocate either. */
#define PLAIN(symbol_, expression_)                                                                \
    static lb_status call_##symbol_(scene *s) {                                                    \
        (void)s;                                                                                   \
        expression_;                                                                               \
        return LB_OK;                                                                              \
    }
#define CALL(symbol_, expression_)                                                                 \
    static lb_status call_##symbol_(scene *s) {                                                    \
        (void)s;                                                                                   \
        return expression_;                                                                        \
    }

static const double works[] = {0.5, 0.25, 0.125, 1, 2, 3, 4, 5};
static const double ones[] = {1, 2};
static const char *const names[] = {"one", "two"};
static const lb_unit unit = {
    .start_ns = 900000000, .end_ns = 901000000, .cpu_ns = 1000000, .index = 900};
static const lb_unit units[] = {
    {.start_ns = 900000000, .end_ns = 901000000, .cpu_ns = 1000000, .task = 1, .index = 900},
    {.start_ns = 901000000, .end_ns = 902000000, .cpu_ns = 1000000, .task = 1, .index = 901}};
static const lb_slice slice = {.start_ns = 900000000, .end_ns = 901000000};
static const lb_mark mark = {.time_ns = 900000000, .kind = LB_MARK_END};
static const char durations[] = "# cores: 2\ntask,duration\na,0.5\nb,0.75\nc,1.5\n";
static double results[16];
static lb_duration found[16];
static size_t number;
static lb_process_id id;
static lb_sim_event event;
static double seconds;
static uint32_t groups, group_cores;

PLAIN(lb_version, lb_version())
PLAIN(lb_status_name, lb_status_name(LB_OK))
PLAIN(lb_nice_weight, lb_nice_weight(5))
PLAIN(lb_realisation_seed, lb_realisation_seed(1, 2))
PLAIN(lb_finding_name, lb_finding_name(LB_FINDING_LOAD))
PLAIN(lb_free, (lb_free(s->text), s->text = NULL))
#define INIT(symbol_, type_)                                                                       \
    PLAIN(symbol_, {                                                                               \
        type_ o;                                                                                   \
        symbol_(&o, sizeof o);                                                                     \
    })
INIT(lb_classify_options_init, lb_classify_options)
INIT(lb_compare_options_init, lb_compare_options)
INIT(lb_condition_init, lb_condition)
INIT(lb_estimate_options_init, lb_estimate_options)
INIT(lb_experiment_options_init, lb_experiment_options)
INIT(lb_host_options_init, lb_host_options)
INIT(lb_import_options_init, lb_import_options)
INIT(lb_model_options_init, lb_model_options)
INIT(lb_throughput_options_init, lb_throughput_options)
INIT(lb_weights_options_init, lb_weights_options)

/* ---- models and workloads ---- */

static lb_status call_lb_model_new(scene *s) {
    lb_model_options o;
    lb_model_options_init(&o, sizeof o);
    o.cores = 2;
    o.core_speeds = ones;
    return lb_model_new(&o, &s->model, &err);
}
CALL(lb_model_save, lb_model_save(G.model, in.output, &err))
CALL(lb_model_load, lb_model_load(in.output, &s->model, &err))
CALL(lb_model_durations, lb_model_durations(G.model, G.workload, &in.threaded, found, &err))
CALL(lb_model_weights, lb_model_weights(&in.weights, &s->table, &err))
PLAIN(lb_model_free, (lb_model_free(s->model), s->model = NULL))
CALL(lb_model_preset, lb_model_preset("linux-2.6.22", 2, &s->model, &err))
PLAIN(lb_model_cores, lb_model_cores(G.model))
PLAIN(lb_model_policy, lb_model_policy(G.model))
PLAIN(lb_model_get_options, {
    lb_model_options o;
    lb_model_get_options(G.model, &o, sizeof o);
})
CALL(lb_workload_new, lb_workload_new(&s->workload, &err))
PLAIN(lb_workload_free, (lb_workload_free(s->workload), s->workload = NULL))
PLAIN(lb_workload_clear, lb_workload_clear(s->workload))
PLAIN(lb_workload_size, lb_workload_size(s->workload))
CALL(lb_workload_add, lb_workload_add(s->workload, 0.5, &number, &err))
CALL(lb_workload_add_many, lb_workload_add_many(s->workload, works, 8, &number, &err))
#define LAST (lb_workload_size(s->workload) - 1)
/* Of an empty one there is nothing to set. */
#define SET(symbol_, expression_)                                                                  \
    CALL(symbol_, lb_workload_size(s->workload) == 0 ? LB_OK : (expression_))
SET(lb_workload_set_arrival, lb_workload_set_arrival(s->workload, LAST, 0.5, &err))
SET(lb_workload_set_weight, lb_workload_set_weight(s->workload, LAST, 3, &err))
SET(lb_workload_set_weights, lb_workload_set_weights(s->workload, LAST, ones, 1, &err))
SET(lb_workload_set_first_core, lb_workload_set_first_core(s->workload, LAST, 1, &err))
SET(lb_workload_add_event, lb_workload_add_event(s->workload, LAST, 0.25, LB_EVENT_STOP, &err))
CALL(lb_model_duration, lb_model_duration(G.model, G.workload, 1, &in.threaded, &found[0], &err))
CALL(lb_model_sample, lb_model_sample(G.model, G.workload, 1, results, &err))
CALL(lb_model_distribution,
     lb_model_distribution(G.model, G.workload, &in.threaded, &s->distribution, &err))
CALL(lb_model_summary, lb_model_summary(G.model, G.workload, &in.threaded, &s->table, &err))
CALL(lb_model_trace, lb_model_trace(G.model, G.workload, 0.01, 0.02, 1, &s->trace, &err))
CALL(lb_sampler_new, lb_sampler_new(G.model, G.workload, &s->sampler, &err))
CALL(lb_sampler_run, lb_sampler_run(s->sampler, 3, results, &err))
PLAIN(lb_sampler_free, (lb_sampler_free(s->sampler), s->sampler = NULL))
PLAIN(lb_distribution_free, (lb_distribution_free(s->distribution), s->distribution = NULL))
PLAIN(lb_distribution_samples, lb_distribution_samples(G.distribution))
CALL(lb_distribution_merge, lb_distribution_merge(s->distribution, in.other, &err))
CALL(lb_distribution_duration,
     lb_distribution_duration(G.distribution, LB_MAKESPAN, &found[0], &err))
CALL(lb_distribution_quantile, lb_distribution_quantile(G.distribution, 0, 0.5, &seconds, &err))
CALL(lb_distribution_format, lb_distribution_format(G.distribution, &s->text, &err))
static lb_status call_lb_distribution_parse(scene *s) {
    static char *text;
    if (text == NULL) {
        char *made = NULL;
        ASSERT_OK(lb_distribution_format(G.distribution, &made, &err), err);
        text = made;
    }
    return lb_distribution_parse(text, strlen(text), &s->distribution, &err);
}

/* ---- simulations ---- */

CALL(lb_sim_new, lb_sim_new(G.model, 1, &s->sim, &err))
CALL(lb_sim_clone, lb_sim_clone(G.sim, &s->sim, &err))
PLAIN(lb_sim_reseed, lb_sim_reseed(s->sim, 9))
PLAIN(lb_sim_free, (lb_sim_free(s->sim), s->sim = NULL))
PLAIN(lb_sim_now, lb_sim_now(G.sim))
PLAIN(lb_sim_count, lb_sim_count(G.sim))
CALL(lb_sim_reserve, lb_sim_reserve(s->sim, 1000, &err))
CALL(lb_sim_add, lb_sim_add(s->sim, 0.5, 1, LB_CORE_ANY, 77, &id, &err))
/* Where the simulation has two at least; the first runs, the second sleeps. */
#define CHANGE(symbol_, expression_)                                                               \
    CALL(symbol_, lb_sim_count(s->sim) == 0 ? LB_OK : (expression_))
CHANGE(lb_sim_sleep, lb_sim_sleep(s->sim, scene_ids[0], &err))
CHANGE(lb_sim_wake, lb_sim_count(s->sim) < 2 ? LB_OK : lb_sim_wake(s->sim, scene_ids[1], &err))
CHANGE(lb_sim_remove, lb_sim_remove(s->sim, scene_ids[0], &err))
CHANGE(lb_sim_set_weight, lb_sim_set_weight(s->sim, scene_ids[0], 4, &err))
CHANGE(lb_sim_set_work, lb_sim_set_work(s->sim, scene_ids[0], 3, &err))
CALL(lb_sim_begin, lb_sim_begin(s->sim, 3, &err))
CALL(lb_sim_commit, lb_sim_commit(s->sim, &err))
CALL(lb_sim_advance, lb_sim_advance(s->sim, 10, &err))
PLAIN(lb_sim_next, lb_sim_next(G.sim))
PLAIN(lb_sim_poll, lb_sim_poll(s->sim, &event))
PLAIN(lb_sim_remaining, lb_sim_remaining(G.sim, 0))
PLAIN(lb_sim_rate, lb_sim_rate(G.sim, 0))
PLAIN(lb_sim_core, lb_sim_core(G.sim, 0))
PLAIN(lb_sim_core_load, lb_sim_core_load(G.sim, 1))

/* ---- tables ---- */

CALL(lb_table_new, lb_table_new(names, 2, &s->table, &err))
PLAIN(lb_table_free, (lb_table_free(s->table), s->table = NULL))
CALL(lb_table_add_row, lb_table_add_row(s->table, "new", ones, &err))
CALL(lb_table_set_meta, lb_table_set_meta(s->table, "key_0", "another, longer value", &err))
PLAIN(lb_table_rows, lb_table_rows(G.table))
PLAIN(lb_table_columns, lb_table_columns(G.table))
PLAIN(lb_table_name, lb_table_name(G.table, 0))
PLAIN(lb_table_label, lb_table_label(G.table, 0))
PLAIN(lb_table_meta, lb_table_meta(G.table, "none"))
PLAIN(lb_table_value, lb_table_value(G.table, 0, 0))
PLAIN(lb_table_get, lb_table_get(G.table, 0, "none"))
static lb_status call_lb_table_format(scene *s) {
    lb_status status = LB_OK;
    for (int format = LB_FORMAT_TEXT; format <= LB_FORMAT_CSV && status == LB_OK; format++) {
        lb_free(s->text);
        s->text = NULL;
        status = lb_table_format(G.table, (lb_format)format, &s->text, &err);
    }
    return status;
}
static const char csv[] = "# table: t\n# k: v\nlabel,one,two\n\"a \"\"b\",1,2\nb,3,\n";
CALL(lb_table_parse, lb_table_parse(csv, sizeof csv - 1, &s->table, &err))

/* ---- traces ---- */

CALL(lb_trace_new, lb_trace_new(2, &s->trace, &err))
PLAIN(lb_trace_free, (lb_trace_free(s->trace), s->trace = NULL))
CALL(lb_trace_set_unit_work, lb_trace_set_unit_work(s->trace, 0.5, &err))
PLAIN(lb_trace_unit_work, lb_trace_unit_work(G.trace))
CALL(lb_trace_set_meta, lb_trace_set_meta(s->trace, "key_0", "another, longer value", &err))
PLAIN(lb_trace_meta, lb_trace_meta(G.trace, "host"))
CALL(lb_trace_add_unit, lb_trace_add_unit(s->trace, &unit, &err))
CALL(lb_trace_add_units, lb_trace_add_units(s->trace, units, 2, &err))
CALL(lb_trace_add_slice, lb_trace_add_slice(s->trace, &slice, &err))
CALL(lb_trace_add_mark, lb_trace_add_mark(s->trace, &mark, &err))
PLAIN(lb_trace_cores, lb_trace_cores(G.trace))
PLAIN(lb_trace_tasks, lb_trace_tasks(G.trace))
CALL(lb_trace_seal, lb_trace_seal(s->trace, &err))
PLAIN(lb_trace_units, lb_trace_units(G.trace, &number))
PLAIN(lb_trace_slices, lb_trace_slices(G.trace, &number))
PLAIN(lb_trace_marks, lb_trace_marks(G.trace, &number))
CALL(lb_trace_load, lb_trace_load(in.input, &s->trace, &err))
static lb_status call_lb_trace_parse(scene *s) {
    static char *text;
    static size_t length;
    if (text == NULL)
        ASSERT_OK(lb_trace_format(G.trace, LB_TRACE_CSV, &text, &length, &err), err);
    return lb_trace_parse(text, length, &s->trace, &err);
}
CALL(lb_trace_import, lb_trace_import(in.input, NULL, &s->trace, &err))
CALL(lb_trace_import_text,
     lb_trace_import_text(durations, sizeof durations - 1, &in.durations, &s->trace, &err))
CALL(lb_trace_save, lb_trace_save(G.trace, in.output, LB_TRACE_CHROME_JSON, &err))
CALL(lb_trace_format, lb_trace_format(G.trace, LB_TRACE_CSV, &s->text, &number, &err))
CALL(lb_trace_profile, lb_trace_profile(G.trace, G.model, &s->table, &err))
CALL(lb_trace_latency, lb_trace_latency(G.trace, &s->table, &err))
CALL(lb_trace_events, lb_trace_events(G.trace, &s->table, &err))
CALL(lb_trace_spread, lb_trace_spread(G.trace, &s->table, &err))

/* ---- verdicts ---- */

CALL(lb_classify, lb_classify(G.trace, NULL, &s->verdict, &err))
PLAIN(lb_verdict_free, (lb_verdict_free(s->verdict), s->verdict = NULL))
PLAIN(lb_verdict_policy, lb_verdict_policy(G.verdict))
PLAIN(lb_verdict_probability, lb_verdict_probability(G.verdict, LB_POLICY_LAZY))
PLAIN(lb_verdict_queues, lb_verdict_queues(G.verdict))
PLAIN(lb_verdict_queues_probability, lb_verdict_queues_probability(G.verdict, LB_QUEUES_SINGLE))
PLAIN(lb_verdict_reason_count, lb_verdict_reason_count(G.verdict))
PLAIN(lb_verdict_reason, lb_verdict_reason(G.verdict, 0))
PLAIN(lb_verdict_measure, lb_verdict_measure(G.verdict, "none"))
CALL(lb_verdict_format, lb_verdict_format(G.verdict, LB_FORMAT_JSON, &s->text, &err))
static lb_status call_lb_verdict_parse(scene *s) {
    static char *text;
    if (text == NULL) {
        char *made = NULL;
        ASSERT_OK(lb_verdict_format(G.verdict, LB_FORMAT_JSON, &made, &err), err);
        text = made;
    }
    return lb_verdict_parse(text, strlen(text), &s->verdict, &err);
}
CALL(lb_verdict_fairness, lb_verdict_fairness(G.verdict, &s->table, &err))
CALL(lb_verdict_model, lb_verdict_model(G.verdict, &s->model, &err))
CALL(lb_compare, lb_compare(in.runs, in.runs, NULL, &s->table, &err))

/* ---- machines and experiments ---- */

CALL(lb_host_open, lb_host_open(NULL, &s->host, &err))
PLAIN(lb_host_free, (lb_host_free(s->host), s->host = NULL))
PLAIN(lb_host_cores, lb_host_cores(G.host))
PLAIN(lb_host_cpu, lb_host_cpu(G.host, 1))
PLAIN(lb_host_description, lb_host_description(G.host))
PLAIN(lb_host_finding, lb_host_finding(in.machine, 0))
PLAIN(lb_host_finding_count, lb_host_finding_count(in.machine))
PLAIN(lb_host_finding_kind, lb_host_finding_kind(in.machine, 0))
PLAIN(lb_host_groups, lb_host_groups(in.machine, &groups, &group_cores))
PLAIN(lb_host_physical_cores, lb_host_physical_cores(G.host))
PLAIN(lb_host_quota, lb_host_quota(in.machine))
CALL(lb_experiment_run,
     lb_experiment_run(in.machine, LB_EXPERIMENT_DETECT, &in.tiny, &s->trace, &err))
CALL(lb_experiment_workload,
     lb_experiment_workload(in.machine, in.brief, &in.tiny, &s->trace, &err))
CALL(lb_experiment_weights, lb_experiment_weights(in.machine, &in.weights, &s->table, &err))
CALL(lb_experiment_throughput,
     lb_experiment_throughput(in.machine, NULL, 1, &in.command, &s->table, &err))
CALL(lb_experiment_emulate, lb_experiment_emulate(in.machine, in.emulated, LB_QUEUES_PER_CORE, 1,
                                                  &in.adaptive, &s->trace, &err))
CALL(lb_detect, lb_detect(in.machine, &in.tiny, &s->verdict, &s->trace, &err))
CALL(lb_self_test, lb_self_test(in.machine, 1, &in.cancelled, &s->table, &err))

lb_error *sweeps_error(void) {
    return &err;
}

#define NONE(symbol_, object_)                                                                     \
    { #symbol_, call_##symbol_, object_, 1, SWEEP_NOTHING }
#define SOME(symbol_, object_, stages_)                                                            \
    { #symbol_, call_##symbol_, object_, stages_, SWEEP_FAILS }
#define SELDOM(symbol_, object_, stages_)                                                          \
    { #symbol_, call_##symbol_, object_, stages_, SWEEP_SELDOM }
#define RUNS(symbol_)                                                                              \
    { #symbol_, call_##symbol_, NOTHING, 1, SWEEP_RUNS }

const sweep sweeps[] = {
    SOME(lb_classify, NOTHING, 1),
    NONE(lb_classify_options_init, NOTHING),
    SOME(lb_compare, NOTHING, 1),
    NONE(lb_compare_options_init, NOTHING),
    NONE(lb_condition_init, NOTHING),
    RUNS(lb_detect),
    NONE(lb_distribution_duration, NOTHING),
    SOME(lb_distribution_format, NOTHING, 1),
    NONE(lb_distribution_free, DISTRIBUTION),
    SOME(lb_distribution_merge, DISTRIBUTION, 1),
    SOME(lb_distribution_parse, NOTHING, 1),
    SOME(lb_distribution_quantile, NOTHING, 1),
    NONE(lb_distribution_samples, NOTHING),
    NONE(lb_estimate_options_init, NOTHING),
    RUNS(lb_experiment_emulate),
    NONE(lb_experiment_options_init, NOTHING),
    RUNS(lb_experiment_run),
    RUNS(lb_experiment_throughput),
    RUNS(lb_experiment_weights),
    RUNS(lb_experiment_workload),
    NONE(lb_finding_name, NOTHING),
    NONE(lb_free, TEXT),
    NONE(lb_host_cores, NOTHING),
    NONE(lb_host_cpu, NOTHING),
    NONE(lb_host_description, NOTHING),
    NONE(lb_host_finding, NOTHING),
    NONE(lb_host_finding_count, NOTHING),
    NONE(lb_host_finding_kind, NOTHING),
    NONE(lb_host_free, HOST),
    NONE(lb_host_groups, NOTHING),
    SOME(lb_host_open, NOTHING, 1),
    NONE(lb_host_options_init, NOTHING),
    NONE(lb_host_physical_cores, NOTHING),
    NONE(lb_host_quota, NOTHING),
    NONE(lb_import_options_init, NOTHING),
    NONE(lb_model_cores, NOTHING),
    SOME(lb_model_distribution, NOTHING, 1),
    SOME(lb_model_duration, NOTHING, 1),
    SOME(lb_model_durations, NOTHING, 1),
    NONE(lb_model_free, MODEL),
    NONE(lb_model_get_options, NOTHING),
    SOME(lb_model_load, NOTHING, 1),
    SOME(lb_model_new, NOTHING, 1),
    NONE(lb_model_options_init, NOTHING),
    NONE(lb_model_policy, NOTHING),
    SOME(lb_model_preset, NOTHING, 1),
    SOME(lb_model_sample, NOTHING, 1),
    SOME(lb_model_save, NOTHING, 1),
    SOME(lb_model_summary, NOTHING, 1),
    SOME(lb_model_trace, NOTHING, 1),
    SOME(lb_model_weights, NOTHING, 1),
    NONE(lb_nice_weight, NOTHING),
    NONE(lb_realisation_seed, NOTHING),
    NONE(lb_sampler_free, SAMPLER),
    SOME(lb_sampler_new, NOTHING, 1),
    NONE(lb_sampler_run, SAMPLER),
    RUNS(lb_self_test),
    SOME(lb_sim_add, SIM, 70),
    SOME(lb_sim_advance, PASSING, 70),
    NONE(lb_sim_begin, SIM),
    SOME(lb_sim_clone, NOTHING, 1),
    SELDOM(lb_sim_commit, INSTANT, 200),
    NONE(lb_sim_core, NOTHING),
    NONE(lb_sim_core_load, NOTHING),
    NONE(lb_sim_count, NOTHING),
    NONE(lb_sim_free, SIM),
    SOME(lb_sim_new, NOTHING, 1),
    NONE(lb_sim_next, NOTHING),
    NONE(lb_sim_now, NOTHING),
    NONE(lb_sim_poll, SIM),
    NONE(lb_sim_rate, NOTHING),
    NONE(lb_sim_remaining, NOTHING),
    SELDOM(lb_sim_remove, SIM, 200),
    NONE(lb_sim_reseed, SIM),
    SOME(lb_sim_reserve, SIM, 70),
    SELDOM(lb_sim_set_weight, SIM, 200),
    SELDOM(lb_sim_set_work, SIM, 200),
    SELDOM(lb_sim_sleep, SIM, 200),
    SELDOM(lb_sim_wake, SIM, 200),
    NONE(lb_status_name, NOTHING),
    SOME(lb_table_add_row, TABLE, 70),
    NONE(lb_table_columns, NOTHING),
    SOME(lb_table_format, NOTHING, 1),
    NONE(lb_table_free, TABLE),
    NONE(lb_table_get, NOTHING),
    NONE(lb_table_label, NOTHING),
    NONE(lb_table_meta, NOTHING),
    NONE(lb_table_name, NOTHING),
    SOME(lb_table_new, NOTHING, 1),
    SOME(lb_table_parse, NOTHING, 1),
    NONE(lb_table_rows, NOTHING),
    SOME(lb_table_set_meta, TABLE, 70),
    NONE(lb_table_value, NOTHING),
    NONE(lb_throughput_options_init, NOTHING),
    SOME(lb_trace_add_mark, TRACE, 70),
    SOME(lb_trace_add_slice, TRACE, 70),
    SOME(lb_trace_add_unit, TRACE, 70),
    SOME(lb_trace_add_units, TRACE, 70),
    NONE(lb_trace_cores, NOTHING),
    SOME(lb_trace_events, NOTHING, 1),
    SOME(lb_trace_format, NOTHING, 1),
    NONE(lb_trace_free, TRACE),
    SOME(lb_trace_import, NOTHING, 1),
    SOME(lb_trace_import_text, NOTHING, 1),
    SOME(lb_trace_latency, NOTHING, 1),
    SOME(lb_trace_load, NOTHING, 1),
    NONE(lb_trace_marks, NOTHING),
    NONE(lb_trace_meta, NOTHING),
    SOME(lb_trace_new, NOTHING, 1),
    SOME(lb_trace_parse, NOTHING, 1),
    SOME(lb_trace_profile, NOTHING, 1),
    SOME(lb_trace_save, NOTHING, 1),
    SOME(lb_trace_seal, TRACE, 70),
    SOME(lb_trace_set_meta, TRACE, 70),
    NONE(lb_trace_set_unit_work, TRACE),
    NONE(lb_trace_slices, NOTHING),
    SOME(lb_trace_spread, NOTHING, 1),
    NONE(lb_trace_tasks, NOTHING),
    NONE(lb_trace_unit_work, NOTHING),
    NONE(lb_trace_units, NOTHING),
    SOME(lb_verdict_fairness, NOTHING, 1),
    SOME(lb_verdict_format, NOTHING, 1),
    NONE(lb_verdict_free, VERDICT),
    NONE(lb_verdict_measure, NOTHING),
    SOME(lb_verdict_model, NOTHING, 1),
    SOME(lb_verdict_parse, NOTHING, 1),
    NONE(lb_verdict_policy, NOTHING),
    NONE(lb_verdict_probability, NOTHING),
    NONE(lb_verdict_queues, NOTHING),
    NONE(lb_verdict_queues_probability, NOTHING),
    NONE(lb_verdict_reason, NOTHING),
    NONE(lb_verdict_reason_count, NOTHING),
    NONE(lb_version, NOTHING),
    NONE(lb_weights_options_init, NOTHING),
    SOME(lb_workload_add, WORKLOAD, 70),
    SOME(lb_workload_add_event, WORKLOAD, 70),
    SOME(lb_workload_add_many, WORKLOAD, 70),
    NONE(lb_workload_clear, WORKLOAD),
    NONE(lb_workload_free, WORKLOAD),
    SOME(lb_workload_new, NOTHING, 1),
    SOME(lb_workload_set_arrival, WORKLOAD, 70),
    SOME(lb_workload_set_first_core, WORKLOAD, 70),
    SOME(lb_workload_set_weight, WORKLOAD, 70),
    SOME(lb_workload_set_weights, WORKLOAD, 70),
    NONE(lb_workload_size, WORKLOAD),
};
const size_t sweep_count = sizeof sweeps / sizeof *sweeps;
