/* SPDX-License-Identifier: BSD-3-Clause */
/* What one realisation costs as processes and cores grow over four decades: a table in CSV on
 * standard output, and on standard error the exponents fitted.
 */
#include <string.h>

#include "bench.h"
#include "lbsched/lbsched.h"

static void must(lb_status status, const lb_error *err) {
    if (status == LB_OK)
        return;
    fprintf(stderr, "%s: %s\n", lb_status_name(status), err->message);
    exit(EXIT_FAILURE);
}

/* The median of five times (less where it takes long) that a realisation takes. */
static double cost(lb_policy policy, uint32_t cores, size_t n) {
    lb_model_options options;
    lb_model *model = NULL;
    lb_workload *workload = NULL;
    lb_sampler *sampler = NULL;
    lb_error err;
    uint64_t state = 88172645463325252u;
    lb_model_options_init(&options, sizeof options);
    options.cores = cores;
    options.policy = (int32_t)policy;
    must(lb_model_new(&options, &model, &err), &err);
    must(lb_workload_new(&workload, &err), &err);
    for (size_t i = 0; i < n; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        must(lb_workload_add(workload, -log(((double)(state >> 11) + 0.5) * 0x1p-53), NULL, &err),
             &err);
    }
    must(lb_sampler_new(model, workload, &sampler, &err), &err);
    double *seconds = malloc(n * sizeof *seconds);
    if (seconds == NULL)
        exit(EXIT_FAILURE);
    double times[5];
    for (int k = 0; k < 5; k++) {
        /* As many as take a hundredth of a second. */
        long runs = 0;
        double begun = bench_now(), took;
        do {
            must(lb_sampler_run(sampler, (uint64_t)runs, seconds, &err), &err);
            runs++;
        } while ((took = bench_now() - begun) < 0.01);
        times[k] = took / (double)runs;
    }
    qsort(times, 5, sizeof *times, bench_compare);
    free(seconds);
    lb_sampler_free(sampler);
    lb_workload_free(workload);
    lb_model_free(model);
    return times[2];
}

/* The slope of log y over log x. */
static double slope(const double *x, const double *y, int n) {
    double mx = 0, my = 0, xy = 0, xx = 0;
    for (int k = 0; k < n; k++) {
        mx += log(x[k]) / n;
        my += log(y[k]) / n;
    }
    for (int k = 0; k < n; k++) {
        xy += (log(x[k]) - mx) * (log(y[k]) - my);
        xx += (log(x[k]) - mx) * (log(x[k]) - mx);
    }
    return xy / xx;
}

int main(void) {
    static const struct {
        lb_policy policy;
        const char *name;
    } policies[] = {{LB_POLICY_NONE, "none"},
                    {LB_POLICY_LAZY, "lazy"},
                    {LB_POLICY_ACTIVE, "active"},
                    {LB_POLICY_IMMEDIATE, "immediate"}};
    enum {
        POINTS = 9
    };
    printf("policy,cores,processes,seconds\n");
    for (int p = 0; p < 4; p++) {
        double n[POINTS], nlogn[POINTS], c[POINTS], by_n[POINTS], by_c[POINTS];
        for (int k = 0; k < POINTS; k++) { /* 100 to 1,000,000 processes on 64 cores */
            n[k] = round(100 * pow(10, k / 2.0));
            nlogn[k] = n[k] * log(n[k]);
            by_n[k] = cost(policies[p].policy, 64, (size_t)n[k]);
            printf("%s,64,%.0f,%.9g\n", policies[p].name, n[k], by_n[k]);
            fflush(stdout);
        }
        for (int k = 0; k < POINTS; k++) { /* 4 to 40,000 cores for 100,000 processes */
            c[k] = round(4 * pow(10, k / 2.0));
            by_c[k] = cost(policies[p].policy, (uint32_t)c[k], 100000);
            printf("%s,%.0f,100000,%.9g\n", policies[p].name, c[k], by_c[k]);
            fflush(stdout);
        }
        fprintf(stderr, "%s: processes^%.3f, (n log n)^%.3f, cores^%.3f\n", policies[p].name,
                slope(n, by_n, POINTS), slope(nlogn, by_n, POINTS), slope(c, by_c, POINTS));
    }
    return 0;
}
