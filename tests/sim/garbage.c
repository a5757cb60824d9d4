/* SPDX-License-Identifier: BSD-3-Clause */
/* Traces that no scheduler of ours made: each must come out unknown, with a reason.
 *
 *     garbage [--first SEED] [--count N] [--kind KIND] [--verbose]
 *
 * Classifies so many traces of each kind (1,000 unless told), prints how many were decided, and
 * fails where one was. */
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"
#include "lbsched/lbsched.h"

typedef struct maker {
    lb_trace *trace;
    random_stream random;
    uint32_t cores, tasks;
} maker;

static void die(const char *what, const lb_error *err) {
    fprintf(stderr, "garbage: %s: %s\n", what, err->message);
    exit(2);
}

static void add_unit(maker *m, uint32_t task, uint32_t index, double start, double end) {
    lb_unit unit = {nanoseconds(start), nanoseconds(end), -1, task, index, -1, -1};
    lb_error err;
    if (lb_trace_add_unit(m->trace, &unit, &err) != LB_OK)
        die("a unit is refused", &err);
}

/* Units of a task one after another from `time` on, of lengths that the caller draws. */
static double add_row(maker *m, uint32_t task, double time, uint32_t units,
                      double (*length)(random_stream *random)) {
    for (uint32_t i = 0; i < units; i++) {
        double end = time + length(&m->random);
        add_unit(m, task, i, time, end);
        time = end;
    }
    return time;
}

static double uniform(random_stream *random) {
    return random_unit(random);
}

static double exponential(random_stream *random) {
    return -0.03 * log(random_unit(random));
}

/* Most are short, few are very long. */
static double heavy(random_stream *random) {
    return 0.01 * exp(1.5 * random_normal(random));
}

static double constant(random_stream *random) {
    (void)random;
    return 0.03;
}

/* Durations that have nothing to do with who else runs. */
static void random_lengths(maker *m, double (*length)(random_stream *random)) {
    for (uint32_t task = 0; task < m->tasks; task++)
        add_row(m, task, 0, 5 + random_below(&m->random, 150), length);
}

static void random_uniform(maker *m) {
    random_lengths(m, uniform);
}

static void random_exponential(maker *m) {
    random_lengths(m, exponential);
}

static void random_heavy(maker *m) {
    random_lengths(m, heavy);
}

/* Each task has a rate of its own, and keeps it, whoever ends. */
static void random_rates(maker *m) {
    for (uint32_t task = 0; task < m->tasks; task++) {
        double each = 0.01 + 0.09 * random_unit(&m->random), time = 0;
        uint32_t units = 5 + random_below(&m->random, 150);
        for (uint32_t i = 0; i < units; i++, time += each)
            add_unit(m, task, i, time, time + each);
    }
}

static void one_task(maker *m) {
    add_row(m, random_below(&m->random, 1000), 0, 1 + random_below(&m->random, 300), exponential);
}

/* Units as they come, the last one of each until the end of all. */
static void all_at_once(maker *m) {
    double end = 0;
    uint32_t units = 5 + random_below(&m->random, 50);
    double *last = calloc(m->tasks, sizeof *last);
    double (*length)(random_stream *) = random_below(&m->random, 2) == 0 ? exponential : constant;
    for (uint32_t task = 0; task < m->tasks; task++) {
        last[task] = add_row(m, task, 0, units, length);
        end = fmax(end, last[task]);
    }
    for (uint32_t task = 0; task < m->tasks; task++)
        add_unit(m, task, units, last[task], end + 0.01);
    free(last);
}

/* All begin, and then nothing for as long as the trace lasts; some hundred milliseconds at the end
 * of it may go on as before. */
static void frozen(maker *m) {
    double share = 0.01 * m->tasks / m->cores, thaw = 10 + 90 * random_unit(&m->random);
    uint32_t before = 1 + random_below(&m->random, 20);
    bool after = random_below(&m->random, 2) == 0;
    for (uint32_t task = 0; task < m->tasks; task++) {
        double time = add_row(m, task, 0, before, constant);
        double end = thaw + 0.1 * random_unit(&m->random);
        add_unit(m, task, before, time, end);
        uint32_t units = after ? random_below(&m->random, 30) : 0;
        for (uint32_t i = 1; i <= units; i++, end += share)
            add_unit(m, task, before + i, end, end + share);
    }
}

static const struct {
    const char *name;
    void (*make)(maker *m);
} kinds[] = {
    {"uniform", random_uniform}, {"exponential", random_exponential},
    {"heavy", random_heavy},     {"rates", random_rates},
    {"one-task", one_task},      {"at-once", all_at_once},
    {"frozen", frozen},
};
#define KINDS (sizeof kinds / sizeof *kinds)

/* Whether the trace was left undecided, and a reason told. */
static bool is_unknown(size_t kind, uint64_t seed, bool verbose) {
    static const char *const names[] = {"unknown", "none", "lazy", "active", "immediate"};
    lb_error err;
    maker m = {.random = {seed * KINDS + kind}};
    random_next(&m.random);
    m.cores = 2 + random_below(&m.random, 5);
    m.tasks = m.cores + 1 + random_below(&m.random, 3 * m.cores);
    if (lb_trace_new(m.cores, &m.trace, &err) != LB_OK)
        die("no trace", &err);
    kinds[kind].make(&m);
    lb_verdict *v;
    if (lb_trace_seal(m.trace, &err) != LB_OK || lb_classify(m.trace, NULL, &v, &err) != LB_OK)
        die("not classified", &err);
    lb_policy policy = lb_verdict_policy(v);
    bool unknown = policy == LB_POLICY_UNKNOWN && lb_verdict_reason_count(v) > 0;
    if (!unknown || verbose)
        printf("%s: seed %" PRIu64 ", %u tasks on %u cores: %s (none of these %.4f, none %.4f, "
               "lazy %.4f, active %.4f, immediate %.4f)\n",
               kinds[kind].name, seed, m.tasks, m.cores, names[policy],
               lb_verdict_probability(v, LB_POLICY_UNKNOWN),
               lb_verdict_probability(v, LB_POLICY_NONE), lb_verdict_probability(v, LB_POLICY_LAZY),
               lb_verdict_probability(v, LB_POLICY_ACTIVE),
               lb_verdict_probability(v, LB_POLICY_IMMEDIATE));
    for (size_t i = 0; verbose && i < lb_verdict_reason_count(v); i++)
        printf("    %s\n", lb_verdict_reason(v, i));
    lb_verdict_free(v);
    lb_trace_free(m.trace);
    return unknown;
}

int main(int argc, char **argv) {
    static const struct option options[] = {{"first", required_argument, NULL, 'f'},
                                            {"count", required_argument, NULL, 'c'},
                                            {"kind", required_argument, NULL, 'k'},
                                            {"verbose", no_argument, NULL, 'v'},
                                            {NULL, 0, NULL, 0}};
    uint64_t first = 0, count = 1000, all = 0;
    const char *only = NULL;
    bool verbose = false;
    for (int o; (o = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        switch (o) {
        case 'f':
            first = strtoull(optarg, NULL, 10);
            break;
        case 'c':
            count = strtoull(optarg, NULL, 10);
            break;
        case 'k':
            only = optarg;
            break;
        case 'v':
            verbose = true;
            break;
        default:
            return 2;
        }
    }
    bool none_seen = true;
    for (size_t kind = 0; kind < KINDS; kind++) {
        if (only != NULL && strcmp(only, kinds[kind].name) != 0)
            continue;
        uint64_t decided = 0;
        for (uint64_t i = 0; i < count; i++)
            decided += !is_unknown(kind, first + i, verbose);
        printf("%-11s %" PRIu64 " traces, %" PRIu64 " decided\n", kinds[kind].name, count, decided);
        fflush(stdout);
        all += decided;
        none_seen = none_seen && count == 0;
    }
    return all > 0 || none_seen;
}
