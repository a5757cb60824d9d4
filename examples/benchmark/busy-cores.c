/* SPDX-License-Identifier: BSD-3-Clause */
/* A benchmark in plain C that looks at the host before it measures, and tells how busy cores
 * changed its times, beside what the model says.
 *
 *     busy-cores-c [SECONDS]    for each number of busy cores (default 1)
 *
 * Prints a table as CSV with what was found about the host in front, as `# finding_KIND: ...`; it
 * reads back with lb_table_parse().
 */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <lbsched/lbsched.h>

enum {
    MOST_BUSY = 128
};

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- what is measured, and what keeps cores busy ---- */

/* Written to memory each time, lest a compiler leaves out what nobody reads. */
static volatile double sink;

static double work(void) {
    double begun = now();
    for (int i = 1; i < 2000000; i++)
        sink += 1.0 / i;
    return now() - begun;
}

static atomic_bool stop;

static void *spin(void *unused) {
    while (!atomic_load_explicit(&stop, memory_order_relaxed))
        ;
    return unused;
}

/* The mean time of work in so many seconds, beside so many threads; NAN: they cannot be had. */
static double measure(int busy, double seconds) {
    pthread_t threads[MOST_BUSY];
    int started = 0;
    atomic_store(&stop, false);
    while (started < busy && pthread_create(&threads[started], NULL, spin, NULL) == 0)
        started++;
    double begun = now(), sum = 0;
    int n = 0;
    do {
        sum += work();
        n++;
    } while (now() - begun < seconds);
    atomic_store(&stop, true);
    for (int i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    return started == busy ? sum / n : NAN;
}

/* ---- lbsched's part ---- */

/* What was found about the host goes into the metadata of the results. */
static lb_status preflight(lb_table *table, uint32_t *ret_cores, lb_error *err) {
    lb_host *host;
    lb_status status = lb_host_open(NULL, &host, err);
    if (status != LB_OK)
        return status;
    *ret_cores = lb_host_cores(host);
    status = lb_table_set_meta(table, "host", lb_host_description(host), err);
    for (size_t i = 0; i < lb_host_finding_count(host) && status == LB_OK; i++) {
        char key[64];
        snprintf(key, sizeof key, "finding_%s", lb_finding_name(lb_host_finding_kind(host, i)));
        status = lb_table_set_meta(table, key, lb_host_finding(host, i), err);
    }
    lb_host_free(host);
    return status;
}

/* How much longer work takes beside so many that never end, if all share the cores evenly. */
static lb_status model_slowdown(uint32_t cores, int busy, double *ret_slowdown, lb_error *err) {
    lb_model_options options;
    lb_model *model = NULL;
    lb_workload *workload = NULL;
    lb_duration duration;
    lb_model_options_init(&options, sizeof options);
    options.cores = cores;
    lb_status status = lb_model_new(&options, &model, err);
    if (status == LB_OK)
        status = lb_workload_new(&workload, err);
    if (status == LB_OK)
        status = lb_workload_add(workload, 1, NULL, err);
    for (int i = 0; i < busy && status == LB_OK; i++)
        status = lb_workload_add(workload, INFINITY, NULL, err);
    if (status == LB_OK)
        status = lb_model_duration(model, workload, 0, NULL, &duration, err);
    if (status == LB_OK)
        *ret_slowdown = duration.mean;
    lb_workload_free(workload);
    lb_model_free(model);
    return status;
}

static lb_status benchmark(lb_table *table, double seconds, lb_error *err) {
    uint32_t cores;
    lb_status status = preflight(table, &cores, err);
    double alone = NAN;
    for (int busy = 0; busy < MOST_BUSY && status == LB_OK && (uint32_t)busy <= 2 * cores;
         busy = busy == 0 ? 1 : 2 * busy) {
        double slowdown, mean = measure(busy, seconds);
        if (busy == 0)
            alone = mean;
        status = model_slowdown(cores, busy, &slowdown, err);
        if (status == LB_OK)
            status = lb_table_add_row(table, NULL,
                                      (double[]){busy, 1e3 * mean, mean / alone, slowdown}, err);
    }
    return status;
}

int main(int argc, char **argv) {
    static const char *const columns[] = {"busy", "mean_ms", "slowdown", "model_slowdown"};
    char *end = NULL;
    double seconds = argc > 1 ? strtod(argv[1], &end) : 1;
    lb_table *table = NULL;
    lb_error err;
    char *text = NULL;
    if (argc > 2 || (end != NULL && *end != '\0') || !(seconds > 0 && seconds <= 3600)) {
        fprintf(stderr, "usage: busy-cores-c [SECONDS]: above 0, 3600 at most\n");
        return 2;
    }
    int failed = lb_table_new(columns, 4, &table, &err) != LB_OK ||
                 benchmark(table, seconds, &err) != LB_OK ||
                 lb_table_format(table, LB_FORMAT_CSV, &text, &err) != LB_OK;
    if (failed)
        fprintf(stderr, "busy-cores-c: %s\n", err.message);
    else
        printf("%s", text);
    lb_free(text);
    lb_table_free(table);
    return failed;
}
