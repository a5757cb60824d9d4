/* SPDX-License-Identifier: BSD-3-Clause */
/* Verdicts written and read back, what they carry into a model, and text that is none. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/random.h"
#include "harness.h"

typedef struct setup {
    lb_policy policy;
    uint32_t cores, tasks_per_core;
    double delay, rotation, slice;
    lb_list_choice list;
    lb_process_choice process;
} setup;

/* What a machine of known policy would show. */
static lb_trace *predicted(const setup *s, uint64_t seed) {
    lb_error err;
    lb_model_options options;
    lb_model *model;
    lb_workload *workload;
    lb_trace *trace;
    lbi_random random;
    lbi_random_seed(&random, seed);
    lb_model_options_init(&options, sizeof options);
    options.cores = s->cores;
    options.policy = (int32_t)s->policy;
    options.balance_delay = s->delay;
    options.rotation_time = s->rotation;
    options.list_choice = (int32_t)s->list;
    options.process_choice = (int32_t)s->process;
    ASSERT_OK(lb_model_new(&options, &model, &err), err);
    ASSERT_OK(lb_workload_new(&workload, &err), err);
    for (uint32_t i = 0; i < s->tasks_per_core * s->cores; i++)
        ASSERT_OK(lb_workload_add(workload, 0.3 + 1.5 * lbi_random_unit(&random), NULL, &err), err);
    ASSERT_OK(lb_model_trace(model, workload, 0.01, s->slice, seed, &trace, &err), err);
    lb_workload_free(workload);
    lb_model_free(model);
    return trace;
}

static lb_verdict *classify(const lb_trace *trace) {
    lb_error err;
    lb_verdict *v;
    ASSERT_OK(lb_classify(trace, NULL, &v, &err), err);
    return v;
}

static char *text_of(const lb_verdict *v, lb_format format) {
    lb_error err;
    char *text;
    ASSERT_OK(lb_verdict_format(v, format, &text, &err), err);
    return text;
}

static lb_verdict *parse(const char *json) {
    lb_error err;
    lb_verdict *v;
    ASSERT_OK(lb_verdict_parse(json, strlen(json), &v, &err), err);
    return v;
}

static const setup setups[] = {
    {LB_POLICY_NONE, 2, 3, 0, 0, 0.003, LB_LIST_RANDOM, LB_PROCESS_RANDOM},
    {LB_POLICY_LAZY, 4, 4, 0.02, 0, 0.002, LB_LIST_LONGEST, LB_PROCESS_FIRST},
    {LB_POLICY_ACTIVE, 4, 4, 0.05, 0, 0.002, LB_LIST_RANDOM, LB_PROCESS_LAST},
    {LB_POLICY_ACTIVE, 2, 4, 0, 0, 0, LB_LIST_RANDOM, LB_PROCESS_RANDOM},
    {LB_POLICY_IMMEDIATE, 2, 3, 0, 0.2, 0.003, LB_LIST_RANDOM, LB_PROCESS_RANDOM},
    {LB_POLICY_IMMEDIATE, 3, 3, 0, 0, 0, LB_LIST_RANDOM, LB_PROCESS_RANDOM},
    {LB_POLICY_LAZY, 8, 6, 0, 0, 0.002, LB_LIST_LONGEST, LB_PROCESS_RANDOM},
    {LB_POLICY_ACTIVE, 8, 6, 0, 0, 0.002, LB_LIST_RANDOM, LB_PROCESS_RANDOM},
    {LB_POLICY_ACTIVE, 8, 6, 0, 0, 0.002, LB_LIST_RANDOM, LB_PROCESS_FIRST},
    {LB_POLICY_ACTIVE, 8, 6, 0, 0, 0.002, LB_LIST_RANDOM, LB_PROCESS_LAST},
};
#define SETUPS (sizeof setups / sizeof *setups)

static lb_trace *empty_trace(void) {
    lb_error err;
    lb_trace *trace;
    ASSERT_OK(lb_trace_new(3, &trace, &err), err);
    return trace;
}

START_TEST(reads_back_bit_for_bit) {
    for (size_t i = 0; i <= SETUPS; i++) {
        lb_trace *trace = i < SETUPS ? predicted(&setups[i], i) : empty_trace();
        lb_verdict *v = classify(trace);
        char *json = text_of(v, LB_FORMAT_JSON), *text = text_of(v, LB_FORMAT_TEXT);
        lb_verdict *back = parse(json);
        char *again = text_of(back, LB_FORMAT_JSON), *text_again = text_of(back, LB_FORMAT_TEXT);
        ck_assert_str_eq(json, again);
        ck_assert_str_eq(text, text_again);
        ck_assert_int_eq(lb_verdict_policy(back), lb_verdict_policy(v));
        ck_assert_int_eq(lb_verdict_queues(back), lb_verdict_queues(v));
        for (int p = LB_POLICY_UNKNOWN; p <= LB_POLICY_IMMEDIATE; p++)
            ck_assert(lb_verdict_probability(back, (lb_policy)p) ==
                      lb_verdict_probability(v, (lb_policy)p));
        ck_assert_uint_eq(lb_verdict_reason_count(back), lb_verdict_reason_count(v));
        /* The same model to the bit, or the same refusal. */
        lb_model *model = NULL, *model_back = NULL;
        lb_status status = lb_verdict_model(v, &model, NULL);
        ck_assert_int_eq(lb_verdict_model(back, &model_back, NULL), status);
        if (status == LB_OK) {
            lb_model_options a, b;
            lb_model_get_options(model, &a, sizeof a);
            lb_model_get_options(model_back, &b, sizeof b);
            ck_assert(a.balance_delay == b.balance_delay && a.rotation_time == b.rotation_time);
            ck_assert_int_eq(a.list_choice, b.list_choice);
            ck_assert_int_eq(a.process_choice, b.process_choice);
        }
        lb_model_free(model);
        lb_model_free(model_back);
        lb_free(json);
        lb_free(text);
        lb_free(again);
        lb_free(text_again);
        lb_verdict_free(v);
        lb_verdict_free(back);
        lb_trace_free(trace);
    }
}
END_TEST

static lb_model_options model_of(const setup *s, uint64_t seed) {
    lb_error err;
    lb_model *model;
    lb_model_options options;
    lb_trace *trace = predicted(s, seed);
    lb_verdict *v = classify(trace);
    ck_assert_int_eq(lb_verdict_policy(v), s->policy);
    ck_assert_int_eq(lb_verdict_queues(v), LB_QUEUES_PER_CORE);
    ASSERT_OK(lb_verdict_model(v, &model, &err), err);
    lb_model_get_options(model, &options, sizeof options);
    options.core_speeds = NULL;
    lb_model_free(model);
    lb_verdict_free(v);
    lb_trace_free(trace);
    return options;
}

/* What the trace was made with comes back as the model. */
START_TEST(a_model_goes_round) {
    lb_model_options options = model_of(&setups[1], 2);
    ck_assert_double_eq_tol(options.balance_delay, 0.02, 0.002);
    options = model_of(&setups[6], 1);
    ck_assert_double_eq(options.balance_delay, 0);
    ck_assert_int_eq(options.list_choice, LB_LIST_LONGEST);
    /* Lists that nobody came to tell nothing of who is first. */
    ck_assert_int_eq(options.process_choice, LB_PROCESS_RANDOM);
    for (size_t i = 7; i < 10; i++) {
        options = model_of(&setups[i], 1);
        ck_assert_int_eq(options.process_choice, setups[i].process);
        ck_assert_int_eq(options.list_choice, LB_LIST_RANDOM);
    }
    options = model_of(&setups[2], 2);
    ck_assert_double_eq_tol(options.balance_delay, 0.05, 0.01);
    options = model_of(&setups[4], 2);
    ck_assert_double_eq_tol(log(options.rotation_time / 0.2), 0, log(2));
}
END_TEST

START_TEST(measures_by_name) {
    lb_error err;
    lb_trace *trace = predicted(&setups[1], 2);
    lb_verdict *v = classify(trace);
    double balanced = lb_verdict_measure(v, "idle_balanced");
    ck_assert_double_ge(balanced, 2);
    ck_assert_double_eq(lb_verdict_measure(v, "idle_never"), 0);
    ck_assert_double_eq_tol(lb_verdict_measure(v, "idle_p50_s"), 0.02, 0.002);
    ck_assert_double_eq(lb_verdict_measure(v, "apart_balanced"), 0);
    ck_assert_double_gt(lb_verdict_measure(v, "apart_never"), 0);
    /* Never is apart from any number. */
    ck_assert(isinf(lb_verdict_measure(v, "apart_p50_s")));
    ck_assert(isnan(lb_verdict_measure(v, "rotation_time_s")));
    ck_assert(isnan(lb_verdict_measure(v, "no such thing")));
    char *json = text_of(v, LB_FORMAT_JSON);
    ck_assert_ptr_nonnull(strstr(json, "\"apart_p50_s\": \"never\""));
    lb_free(json);
    lb_table *fair;
    ASSERT_OK(lb_verdict_fairness(v, &fair, &err), err);
    ck_assert_uint_eq(lb_table_rows(fair), 16);
    for (size_t i = 0; i < 16; i++) {
        double n = lb_table_get(fair, i, "concurrency"), jain = lb_table_get(fair, i, "jain");
        ck_assert_double_eq(n, 16 - (double)i);
        ck_assert(jain >= 1 / n - 1e-9 && jain <= 1 + 1e-9);
        ck_assert_double_le(lb_table_get(fair, i, "least"), lb_table_get(fair, i, "most"));
    }
    /* Sixteen on four cores, four each. */
    ck_assert_double_eq_tol(lb_table_get(fair, 0, "mean_share"), 0.25, 0.01);
    ck_assert_double_eq_tol(lb_table_get(fair, 0, "jain"), 1, 0.01);
    lb_table_free(fair);
    lb_verdict_free(v);
    lb_trace_free(trace);
}
END_TEST

/* Units of the same work that take a quarter longer on core 1. */
START_TEST(unequal_cores_are_measured) {
    lb_error err;
    lb_trace *t;
    ASSERT_OK(lb_trace_new(2, &t, &err), err);
    for (uint32_t task = 0; task < 4; task++) {
        int32_t core = (int32_t)(task % 2);
        int64_t cpu = core == 0 ? 8000000 : 10000000, time = 0;
        for (uint32_t i = 0; i < 60 + 20 * task; i++, time += 2 * cpu) {
            lb_unit unit = {time, time + 2 * cpu, cpu, task, i, core, core};
            ASSERT_OK(lb_trace_add_unit(t, &unit, &err), err);
        }
    }
    ASSERT_OK(lb_trace_seal(t, &err), err);
    lb_verdict *v = classify(t);
    char *json = text_of(v, LB_FORMAT_JSON);
    ck_assert_ptr_nonnull(strstr(json, "\"core_speeds\": [1, 0.8]"));
    lb_verdict *back = parse(json);
    char *again = text_of(back, LB_FORMAT_JSON);
    ck_assert_str_eq(json, again);
    lb_free(again);
    lb_free(json);
    lb_verdict_free(back);
    lb_verdict_free(v);
    lb_trace_free(t);
}
END_TEST

static double speed_of(const lb_verdict *v) {
    lb_error err;
    lb_model *model;
    lb_model_options options;
    ASSERT_OK(lb_verdict_model(v, &model, &err), err);
    lb_model_get_options(model, &options, sizeof options);
    double speed = options.core_speeds == NULL ? 1 : options.core_speeds[1];
    lb_model_free(model);
    return speed;
}

/* What always runs beside the tasks is left out of what cores can do; more than that is not known
 * to come again. */
START_TEST(others_take_their_part) {
    static const struct {
        const char *foreign;
        double speed;
    } cases[] = {{"0", 1}, {"1.5", 0.985}, {"5", 0.95}, {"5.01", 1}, {"-1", 1}, {"much", 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lb_error err;
        lb_trace *trace = predicted(&setups[1], 2);
        ASSERT_OK(lb_trace_set_meta(trace, "foreign_cpu_percent", cases[i].foreign, &err), err);
        lb_verdict *v = classify(trace), *back;
        ck_assert_double_eq_tol(speed_of(v), cases[i].speed, 1e-9);
        char *json = text_of(v, LB_FORMAT_JSON);
        ASSERT_OK(lb_verdict_parse(json, strlen(json), &back, &err), err);
        ck_assert_double_eq_tol(speed_of(back), cases[i].speed, 1e-9);
        lb_free(json);
        lb_verdict_free(back);
        lb_verdict_free(v);
        lb_trace_free(trace);
    }
}
END_TEST

/* ---- text that is no verdict ---- */

static void refused(const char *json, size_t length, const char *words) {
    lb_error err;
    lb_verdict *v = NULL;
    ASSERT_REFUSED(lb_verdict_parse(json, length, &v, &err), LB_ERR_FORMAT, words, err);
    ck_assert_ptr_null(v);
    ck_assert(strncmp(err.message, "line ", 5) == 0);
}

/* The JSON of a verdict in which the first `from` is `to`. */
static void refuse_changed(const char *json, const char *from, const char *to, const char *words) {
    const char *at = strstr(json, from);
    ck_assert_msg(at != NULL, "no %s", from);
    char *text = malloc(strlen(json) + strlen(to) + 1);
    size_t head = (size_t)(at - json);
    memcpy(text, json, head);
    strcpy(text + head, to);
    strcat(text, at + strlen(from));
    refused(text, strlen(text), words);
    free(text);
}

START_TEST(malformed) {
    lb_trace *trace = predicted(&setups[1], 2);
    lb_verdict *v = classify(trace);
    char *json = text_of(v, LB_FORMAT_JSON);
    static const char *const changes[][3] = {
        {"\"lbsched_verdict\": 1", "\"lbsched_verdict\": 2", "1 to 1 expected"},
        {"\"lbsched_verdict\": 1", "\"lbsched_verdict\": \"1\"", "a number expected"},
        {"\"lbsched_verdict\"", "\"verdict\"", "a member lbsched_verdict expected"},
        {"\"policy\": \"lazy\"", "\"policy\": \"idle\"", "one of the known names"},
        {"\"policy\": \"lazy\"", "\"policy\": 2", "a string expected"},
        {"\"policy\": \"lazy\"", "\"policy\": \"lazy\", \"policy\": \"none\"", "once"},
        {"\"active\": ", "\"active\": 1, \"was\": ", "the sum of probabilities"},
        {"\"active\": ", "\"active\": -", "0 to 1 expected"},
        {"\"cores\": 4", "\"cores\": 0", "1 or more"},
        {"\"cores\": 4", "\"cores\": 4.5", "a whole number"},
        {"\"cores\": 4", "\"cores\": 4e99", "expected"},
        {"\"cores\": 4", "\"cores\": 4e999", "a number that a double holds"},
        {"\"confidence\": 0.95", "\"confidence\": true", "a number expected"},
        {"\"measures\": {", "\"measures\": {\"idle_p50_s\": \"sometimes\", \"was\": {", "expected"},
        {"\"core_speeds\": null", "\"core_speeds\": [1, 1]", "a speed for each core"},
        {"\"core_speeds\": null", "\"core_speeds\": [1, 1, 1, 0]", "above 0"},
        {"\"core_speeds\": null", "\"core_speeds\": [1, 1, 1, null]", "above 0"},
        {"\"fairness\": [", "\"fairness\": [7, ", "an object expected"},
        {"\"reasons\": [", "\"reasons\": [], \"was\": [", "at least one reason"},
        {"\"reasons\": [", "\"reasons\": [null, ", "a string expected"},
        {"\"reasons\": [\"", "\"reasons\": [\"\\u0000", "without NUL"},
        {"\"reasons\": [\"", "\"reasons\": [\"\\ud800", "surrogate pair"},
        {"\"reasons\": [\"", "\"reasons\": [\"\\x", "an escape"},
        {"\"reasons\": [\"", "\"reasons\": [\"\xff", "UTF-8"},
        {"\"reasons\": [\"", "\"reasons\": [\"\n", "control characters"},
        {"]}", "],}", "a string expected"},
        {"]}", "]} x", "nothing after the value"},
        {"]}", "]", "a comma or }"},
    };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
        refuse_changed(json, changes[i][0], changes[i][1], changes[i][2]);
    /* Cut anywhere it is refused. */
    for (size_t length = 0; length + 2 < strlen(json); length++) {
        lb_verdict *none = NULL;
        ck_assert_int_eq(lb_verdict_parse(json, length, &none, NULL), LB_ERR_FORMAT);
    }
    refused("[]", 2, "an object expected");
    refused(NULL, 0, "expected");
    /* Deeper than any verdict. */
    char deep[2000];
    memset(deep, '[', sizeof deep);
    refused(deep, sizeof deep, "64 levels");
    lb_free(json);
    lb_verdict_free(v);
    lb_trace_free(trace);
}
END_TEST

/* Members of later releases are passed over. */
START_TEST(unknown_members) {
    lb_trace *trace = empty_trace();
    lb_verdict *v = classify(trace);
    char *json = text_of(v, LB_FORMAT_JSON);
    size_t size = strlen(json) + 100;
    char *more = malloc(size);
    snprintf(more, size, "\n {\"later\": [{\"a\": -0.5e-7}, \"\\u00e9\\ud83d\\ude00\", true], %s",
             json + 1);
    lb_verdict *back = parse(more);
    char *again = text_of(back, LB_FORMAT_JSON);
    ck_assert_str_eq(json, again);
    free(more);
    lb_free(again);
    lb_free(json);
    lb_verdict_free(back);
    lb_verdict_free(v);
    lb_trace_free(trace);
}
END_TEST

START_TEST(json_strings) {
    lb_error err;
    lbi_json json;
    const char *text = "{\"a\\u00e9\\ud83d\\ude00\\n\\/\": [\"\\\"\", null, false, -1.5E2]}";
    ASSERT_OK(lbi_json_parse(text, strlen(text), &json, &err), err);
    const lbi_json_node *array = lbi_json_member(&json, json.nodes, "a\xc3\xa9\xf0\x9f\x98\x80\n/");
    ck_assert_ptr_nonnull(array);
    ck_assert_uint_eq(array->count, 4);
    const lbi_json_node *n = lbi_json_first(&json, array);
    ck_assert_str_eq(json.text + n->string, "\"");
    n = lbi_json_next(&json, n);
    ck_assert_int_eq(n->kind, LBI_JSON_NULL);
    n = lbi_json_next(&json, n);
    ck_assert_int_eq(n->kind, LBI_JSON_FALSE);
    n = lbi_json_next(&json, n);
    ck_assert_double_eq(n->number, -150);
    ck_assert_ptr_null(lbi_json_next(&json, n));
    lbi_json_free(&json);
    static const char *const none[] = {"01", "1.",  ".5",  "+1",     "1e",        "nan",   "inf",
                                       "-",  "tru", "'a'", "{1: 2}", "{\"a\" 1}", "[1 2]", "\"a"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        ck_assert_int_eq(lbi_json_parse(none[i], strlen(none[i]), &json, NULL), LB_ERR_FORMAT);
        lbi_json_free(&json);
    }
}
END_TEST

START_TEST(without_memory) {
    lb_trace *trace = predicted(&setups[1], 2);
    lb_verdict *v = classify(trace), *made = NULL;
    char *json = text_of(v, LB_FORMAT_JSON);
    lb_status status;
    lb_table *table = NULL;
    size_t failures;
    SWEEP_ALLOCATIONS(status, failures, {
        status = lb_verdict_parse(json, strlen(json), &made, NULL);
        if (status == LB_OK)
            lb_verdict_free(made);
    });
    ck_assert_uint_gt(failures, 10);
    SWEEP_ALLOCATIONS(status, failures, {
        status = lb_verdict_fairness(v, &table, NULL);
        if (status == LB_OK)
            lb_table_free(table);
    });
    ck_assert_uint_gt(failures, 2);
    SWEEP_ALLOCATIONS(status, failures, {
        status = lb_classify(trace, NULL, &made, NULL);
        if (status == LB_OK)
            lb_verdict_free(made);
    });
    ck_assert_uint_gt(failures, 50);
    lb_free(json);
    lb_verdict_free(v);
    lb_trace_free(trace);
}
END_TEST

Suite *suite(void) {
    Suite *made = suite_create("verdict");
    ADD(made, "files", reads_back_bit_for_bit, malformed, unknown_members, json_strings);
    ADD(made, "measures", a_model_goes_round, measures_by_name, unequal_cores_are_measured,
        others_take_their_part);
    ADD(made, "memory", without_memory);
    return made;
}
