/* SPDX-License-Identifier: BSD-3-Clause */
/* data/model-cases.jsonl: 180 problems solved by exact enumeration, independently. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "harness.h"

enum {
    MANY = 64
};

/* ---- the little of JSON that the file needs ---- */

typedef struct reader {
    const char *at;
} reader;

/* Where the value of a key begins in this line. */
static reader value_of(const char *line, const char *key) {
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\": ", key);
    const char *at = strstr(line, quoted);
    ck_assert_msg(at != NULL, "no %s in %s", key, line);
    return (reader){at + strlen(quoted)};
}

static void expect(reader *r, char c) {
    ck_assert_msg(*r->at == c, "'%c' expected at %.40s", c, r->at);
    r->at++;
    while (*r->at == ' ')
        r->at++;
}

static bool opens(reader *r) {
    expect(r, '[');
    if (*r->at != ']')
        return true;
    expect(r, ']');
    return false;
}

/* Behind an element: whether another follows. */
static bool more(reader *r) {
    bool another = *r->at == ',';
    expect(r, another ? ',' : ']');
    return another;
}

/* null is NAN. */
static double number(reader *r) {
    if (strncmp(r->at, "null", 4) == 0) {
        r->at += 4;
        return NAN;
    }
    double value = NAN;
    size_t length = strspn(r->at, "+-.0123456789eE");
    ck_assert_msg(lbi_parse_number(r->at, r->at + length, &value), "no number: %.40s", r->at);
    r->at += length;
    return value;
}

static size_t numbers(reader r, double values[MANY]) {
    size_t n = 0;
    if (opens(&r))
        do {
            ck_assert_uint_lt(n, MANY);
            values[n++] = number(&r);
        } while (more(&r));
    return n;
}

static int word(reader *r, const char *const *words, int count) {
    for (int i = 0; i < count; i++) {
        char quoted[32];
        snprintf(quoted, sizeof quoted, "\"%s\"", words[i]);
        if (strncmp(r->at, quoted, strlen(quoted)) == 0) {
            r->at += strlen(quoted);
            return i;
        }
    }
    ck_abort_msg("unknown word at %.40s", r->at);
}

/* ---- one problem ---- */

static const char *const policies[] = {"none", "lazy", "active", "immediate"};
static const char *const lists[] = {"random", "longest"};
static const char *const processes[] = {"random", "first", "last"};
static const char *const kinds[] = {"stop", "sleep", "wake"};

static int word_of(const char *line, const char *key, const char *const *words, int count) {
    reader r = value_of(line, key);
    return word(&r, words, count);
}

static lb_model *read_model(const char *line) {
    double speeds[MANY];
    lb_model_options options;
    lb_model_options_init(&options, sizeof options);
    reader cores = value_of(line, "cores"), delay = value_of(line, "delay");
    options.cores = (uint32_t)number(&cores);
    options.policy = LB_POLICY_NONE + word_of(line, "policy", policies, 4);
    options.balance_delay = number(&delay);
    ck_assert_uint_eq(numbers(value_of(line, "speeds"), speeds), options.cores);
    options.core_speeds = speeds;
    options.list_choice = word_of(line, "list_choice", lists, 2);
    options.process_choice = word_of(line, "process_choice", processes, 3);
    lb_model *model = NULL;
    lb_error err = {0};
    ASSERT_OK(lb_model_new(&options, &model, &err), err);
    return model;
}

static lb_workload *read_workload(const char *line) {
    double works[MANY], values[MANY];
    size_t n = numbers(value_of(line, "works"), works);
    for (size_t i = 0; i < n; i++)
        works[i] = isnan(works[i]) ? INFINITY : works[i];
    lb_workload *workload = NULL;
    lb_error err = {0};
    ASSERT_OK(lb_workload_new(&workload, &err), err);
    ASSERT_OK(lb_workload_add_many(workload, works, n, NULL, &err), err);
    ck_assert_uint_eq(numbers(value_of(line, "weights"), values), n);
    ASSERT_OK(lb_workload_set_weights(workload, 0, values, n, &err), err);
    ck_assert_uint_eq(numbers(value_of(line, "arrivals"), values), n);
    for (size_t i = 0; i < n; i++)
        ASSERT_OK(lb_workload_set_arrival(workload, i, values[i], &err), err);
    ck_assert_uint_eq(numbers(value_of(line, "placement"), values), n);
    for (size_t i = 0; i < n; i++)
        if (!isnan(values[i]))
            ASSERT_OK(lb_workload_set_first_core(workload, i, (uint32_t)values[i], &err), err);
    reader events = value_of(line, "events");
    if (opens(&events))
        do {
            expect(&events, '[');
            double time = number(&events);
            expect(&events, ',');
            lb_event_kind kind = (lb_event_kind)word(&events, kinds, 3);
            expect(&events, ',');
            size_t index = (size_t)number(&events);
            expect(&events, ']');
            ASSERT_OK(lb_workload_add_event(workload, index, time, kind, &err), err);
        } while (more(&events));
    return workload;
}

static void assert_near(double value, double expected, double tolerance, const char *what,
                        size_t line, size_t process) {
    ck_assert_msg(fabs(value - expected) <= tolerance,
                  "line %zu, process %zu: %s is %.17g, expected %.17g", line, process, what, value,
                  expected);
}

/* Against the solution in the line. */
static void compare(const char *line, size_t number_of_line, const lb_duration *durations,
                    size_t n) {
    reader r = value_of(line, "durations");
    expect(&r, '[');
    for (size_t i = 0; i < n; i++) {
        double expected[MANY];
        ck_assert_uint_eq(numbers(r, expected), 5);
        r.at = strchr(r.at, ']') + 1;
        (void)more(&r);
        const lb_duration *d = &durations[i];
        ck_assert_int_eq(d->exact, 1);
        ck_assert_double_eq(d->standard_error, 0);
        assert_near(d->completion, expected[4], 1e-12, "completion", number_of_line, i);
        if (expected[4] == 0) {
            ck_assert(d->mean == INFINITY && d->min == INFINITY && d->max == INFINITY);
            ck_assert(isnan(d->stddev));
            continue;
        }
        double tolerance = 1e-9 * expected[3];
        assert_near(d->mean, expected[0], tolerance, "mean", number_of_line, i);
        assert_near(d->stddev, expected[1], 1e-6 * expected[3], "stddev", number_of_line, i);
        assert_near(d->min, expected[2], tolerance, "min", number_of_line, i);
        assert_near(d->max, expected[3], tolerance, "max", number_of_line, i);
    }
}

static void solve(const char *line, size_t number_of_line) {
    lb_model *model = read_model(line);
    lb_workload *workload = read_workload(line);
    size_t n = lb_workload_size(workload);
    ck_assert_uint_le(n, MANY);
    lb_duration durations[MANY], single;
    lb_estimate_options options;
    lb_estimate_options_init(&options, sizeof options);
    options.method = LB_METHOD_EXACT;
    lb_error err = {0};
    ASSERT_OK(lb_model_durations(model, workload, &options, durations, &err), err);
    compare(line, number_of_line, durations, n);
    for (size_t i = 0; i < n; i++) {
        ASSERT_OK(lb_model_duration(model, workload, i, &options, &single, &err), err);
        ck_assert_int_eq(memcmp(&single, &durations[i], sizeof single), 0);
    }
    /* Sampling agrees within five standard errors, and stays inside the exact range. */
    options.method = LB_METHOD_SAMPLE;
    options.samples = 2000;
    options.seed = number_of_line;
    lb_duration sampled[MANY];
    ASSERT_OK(lb_model_durations(model, workload, &options, sampled, &err), err);
    for (size_t i = 0; i < n; i++) {
        if (durations[i].completion == 0 || sampled[i].completion == 0)
            continue;
        double tolerance = 1e-12 * durations[i].max;
        ck_assert(sampled[i].min >= durations[i].min - tolerance);
        ck_assert(sampled[i].max <= durations[i].max + tolerance);
        double error = durations[i].stddev / sqrt(2000 * durations[i].completion);
        assert_near(sampled[i].mean, durations[i].mean, 5 * error + tolerance, "sampled mean",
                    number_of_line, i);
    }
    lb_workload_free(workload);
    lb_model_free(model);
}

static FILE *open_cases(void) {
    const char *shared = getenv("LBSCHED_SHARED");
    char path[4096];
    snprintf(path, sizeof path, "%s/data/model-cases.jsonl",
             shared != NULL ? shared : SOURCE_ROOT "/../shared");
    return fopen(path, "r");
}

START_TEST(all_solved_problems) {
    FILE *file = open_cases();
    ck_assert_ptr_nonnull(file);
    static char line[65536];
    size_t lines = 0;
    while (fgets(line, sizeof line, file) != NULL)
        solve(line, ++lines);
    fclose(file);
    ck_assert_uint_eq(lines, 180);
    printf("%zu solved problems\n", lines);
}
END_TEST

Suite *suite(void) {
    FILE *file = open_cases();
    if (file == NULL) {
        printf("skipped: no ../shared/data/model-cases.jsonl (LBSCHED_SHARED names its root)\n");
        exit(77);
    }
    fclose(file);
    Suite *s = suite_create("model_cases");
    ADD(s, "cases", all_solved_problems);
    return s;
}
