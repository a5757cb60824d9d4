/* SPDX-License-Identifier: BSD-3-Clause */
/* What classifying costs, against loading the trace's file; and loading, against reading the file
 * and strtod() over its numbers. tests/bench/run.sh builds and runs it as it should be.
 *
 *     bench_classify [PAIRS [UNITS]]    pairs of runs for each row (default 15); units (1,000,000)
 */
#include "bench.h"

#include <string.h>
#include <unistd.h>

#include "lbsched/lbsched.h"
#include "timeslice.h"

enum {
    CORES = 64,
    TASKS_PER_CORE = 3
};

struct job {
    char path[32];
    lb_trace *trace;
};

static void must(lb_status status, const lb_error *err) {
    if (status == LB_OK)
        return;
    printf("%s: %s\n", lb_status_name(status), err->message);
    exit(EXIT_FAILURE);
}

static double classify_once(void *user) {
    struct job *job = user;
    lb_error err;
    lb_verdict *verdict;
    double begun = bench_now();
    must(lb_classify(job->trace, NULL, &verdict, &err), &err);
    double took = bench_now() - begun;
    lb_verdict_free(verdict);
    return took;
}

static double load_once(void *user) {
    struct job *job = user;
    lb_error err;
    lb_trace *trace;
    double begun = bench_now();
    must(lb_trace_load(job->path, &trace, &err), &err);
    double took = bench_now() - begun;
    lb_trace_free(trace);
    return took;
}

/* Reads the file and every number in it, and keeps nothing. */
static double read_numbers_once(void *user) {
    struct job *job = user;
    double begun = bench_now(), sum = 0;
    FILE *file = fopen(job->path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
        perror(job->path);
        exit(EXIT_FAILURE);
    }
    size_t size = (size_t)ftell(file);
    char *text = malloc(size + 1);
    rewind(file);
    if (text == NULL || fread(text, 1, size, file) != size) {
        perror(job->path);
        exit(EXIT_FAILURE);
    }
    fclose(file);
    text[size] = '\0';
    for (char *at = text, *end; at < text + size; at = end) {
        sum += strtod(at, &end);
        end += end == at;
    }
    free(text);
    double took = bench_now() - begun;
    return isnan(sum) ? 0 : took;
}

static const char *verdict_name(const lb_trace *trace) {
    static const char *const names[] = {"unknown", "none", "lazy", "active", "immediate"};
    lb_error err;
    lb_verdict *verdict;
    must(lb_classify(trace, NULL, &verdict, &err), &err);
    const char *name = names[lb_verdict_policy(verdict)];
    lb_verdict_free(verdict);
    return name;
}

/* A trace of at least so many units, simulated, in a file that is loaded again. */
static void make_trace(timeslice_policy policy, double jitter, double units, struct job *job) {
    timeslice_config config;
    timeslice_result result;
    lb_error err;
    timeslice_defaults(&config);
    config.policy = policy;
    config.cores = CORES;
    config.tasks_per_core = TASKS_PER_CORE;
    config.jitter = jitter;
    config.seed = 1;
    /* Tasks end one after another; cores idle for up to a quarter of the time. */
    config.gap = 1.31 * units * config.unit_work / CORES / (CORES * TASKS_PER_CORE);
    if (timeslice_run(&config, &result) != TIMESLICE_OK) {
        printf("the simulation failed\n");
        exit(EXIT_FAILURE);
    }
    lb_trace *made;
    must(timeslice_trace(&result, &made, &err), &err);
    timeslice_free(&result);
    must(lb_trace_save(made, job->path, LB_TRACE_CSV, &err), &err);
    lb_trace_free(made);
    must(lb_trace_load(job->path, &job->trace, &err), &err);
}

int main(int argc, char **argv) {
    static const struct {
        timeslice_policy policy;
        double jitter;
    } rows[] = {{TIMESLICE_NONE, 0},      {TIMESLICE_LAZY, 0},   {TIMESLICE_ACTIVE, 0},
                {TIMESLICE_IMMEDIATE, 0}, {TIMESLICE_SINGLE, 0}, {TIMESLICE_LAZY, 0.05},
                {TIMESLICE_ACTIVE, 0.05}};
    int pairs = argc > 1 ? atoi(argv[1]) : 15;
    double units = argc > 2 ? atof(argv[2]) : 1e6;
    if (pairs < 1 || pairs > BENCH_PAIRS_MAX || !(units >= 1e4)) {
        fprintf(stderr, "usage: bench_classify [PAIRS [UNITS]]\n");
        return 2;
    }
    struct job job = {.path = "/tmp/bench-XXXXXX"};
    int fd = mkstemp(job.path);
    if (fd < 0) {
        perror("mkstemp");
        return 1;
    }
    close(fd);
    bench_head();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char what[160];
        size_t n;
        make_trace(rows[i].policy, rows[i].jitter, units, &job);
        lb_trace_units(job.trace, &n);
        snprintf(what, sizeof what,
                 "%s%s: lb_classify (%s), %d cores, %d tasks, %zu units; lb_trace_load of its file",
                 timeslice_policy_name(rows[i].policy),
                 rows[i].jitter > 0 ? ", units of 5 % jitter" : "", verdict_name(job.trace), CORES,
                 CORES * TASKS_PER_CORE, n);
        bench_row(what, classify_once, load_once, &job, pairs, 0, 1);
        if (i == 0) {
            snprintf(what, sizeof what,
                     "lb_trace_load, %zu units; reading the file and strtod() over its numbers", n);
            bench_row(what, load_once, read_numbers_once, &job, pairs, 0, 1.5);
        }
        lb_trace_free(job.trace);
    }
    unlink(job.path);
    return 0;
}
