/* SPDX-License-Identifier: BSD-3-Clause */
/* A condition compared with itself, again and again: how often is that called a difference? Takes
 * some 6 s a comparison, so it is no test of its own: `truth_same 40`. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "lbsched/lbsched.h"

/* At most so many of 40 at 5 %: with probability 0.986, where each is called with 0.05. */
#define MOST 6
#define OF 40

static lb_throughput_options options(int32_t workload, uint64_t seed) {
    static const uint32_t points[] = {4, 4, 2};
    lb_throughput_options o;
    lb_throughput_options_init(&o, sizeof o);
    o.workload = workload;
    o.points = &points[workload];
    o.point_count = 1;
    o.transports = 1u << LB_TRANSPORT_PIPES;
    o.jobs = 16;
    o.seconds = 0.1;
    o.seed = seed;
    return o;
}

/* Whether it was called a difference; *ret_p is its p. */
static bool compare_same(const lb_host *host, int32_t workload, uint64_t seed, double *ret_p) {
    static const char *const names[] = {"batch", "users", "messages"};
    static const char *const metrics[] = {"jobs_per_minute", "jobs_per_minute", "messages_per_s"};
    lb_condition c;
    lb_condition_init(&c, sizeof c);
    const lb_condition *const conditions[] = {&c, &c};
    lb_throughput_options o = options(workload, seed);
    lb_compare_options how;
    lb_table *tables[2], *t;
    lb_error err;
    lb_compare_options_init(&how, sizeof how);
    how.metric = metrics[workload];
    if (lb_experiment_throughput(host, conditions, 2, &o, tables, &err) != LB_OK ||
        lb_compare(tables[0], tables[1], &how, &t, &err) != LB_OK) {
        printf("FAILED: %s\n", err.message);
        exit(1);
    }
    double difference = lb_table_get(t, 0, "difference");
    *ret_p = lb_table_get(t, 0, "p");
    printf("%s: ratio %.4f (%.4f to %.4f), p %.4f, difference %g, %g blocks, %g disturbed\n",
           names[workload], lb_table_get(t, 0, "ratio"), lb_table_get(t, 0, "ratio_low"),
           lb_table_get(t, 0, "ratio_high"), *ret_p, difference, lb_table_get(t, 0, "blocks"),
           lb_table_get(t, 0, "invalid_base") + lb_table_get(t, 0, "invalid_other"));
    fflush(stdout);
    lb_table_free(t);
    lb_table_free(tables[0]);
    lb_table_free(tables[1]);
    return difference == 1 || difference == -1;
}

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : OF, called = 0, significant = 0;
    lb_host *host;
    lb_error err;
    if (lb_host_open(NULL, &host, &err) != LB_OK) {
        printf("skipped: %s\n", err.message);
        return 77;
    }
    for (int i = 0; i < n; i++) {
        double p;
        called += compare_same(host, i % 3, (uint64_t)i + 1, &p);
        significant += p < 0.05;
    }
    lb_host_free(host);
    printf("of %d comparisons of a condition with itself %d had p below 0.05, and %d were called "
           "different\n",
           n, significant, called);
    return significant * OF > MOST * n ? 1 : 0;
}
