/* SPDX-License-Identifier: BSD-3-Clause */
/* Two tasks a core cannot tell lazy from active balancing on any number of cores: no list is ever
 * two longer than another while none is empty. Each such trace must be unknown, with the two about
 * equally probable and a reason that says why; with units alone, with the cores of units, and with
 * slices. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "timeslice.h"

#define SEEDS 2
#define APART 0.02 /* the two probabilities at most */

static void die(const char *what, const lb_error *err) {
    fprintf(stderr, "two_a_core: %s%s%s\n", what, err ? ": " : "", err ? err->message : "");
    exit(2);
}

static bool tells_why(const lb_verdict *v) {
    for (size_t i = 0; i < lb_verdict_reason_count(v); i++)
        if (strstr(lb_verdict_reason(v, i), "cannot tell lazy from active: with two tasks a core"))
            return true;
    return false;
}

typedef struct tally {
    unsigned traces, good;
    double apart, least; /* the most that the two differed; the least probable of them */
} tally;

static void run(timeslice_policy policy, uint32_t cores, uint64_t seed, int seen, tally *t) {
    timeslice_config config;
    timeslice_result result;
    timeslice_defaults(&config);
    config.seed = seed;
    config.policy = policy;
    config.cores = cores;
    config.tasks_per_core = 2;
    config.order = (timeslice_order)(seed % 3);
    config.gap = 0.3;
    config.cores_hidden = seen == 0;
    config.slices = seen == 2;
    if (timeslice_run(&config, &result) != TIMESLICE_OK)
        die("the simulation failed", NULL);
    lb_error err;
    lb_trace *trace;
    lb_verdict *v = NULL;
    if (timeslice_trace(&result, &trace, &err) != LB_OK ||
        lb_classify(trace, NULL, &v, &err) != LB_OK)
        die("no verdict", &err);
    double lazy = lb_verdict_probability(v, LB_POLICY_LAZY);
    double active = lb_verdict_probability(v, LB_POLICY_ACTIVE);
    bool good =
        lb_verdict_policy(v) == LB_POLICY_UNKNOWN && fabs(lazy - active) <= APART && tells_why(v);
    t->traces++;
    t->good += good;
    t->apart = fmax(t->apart, fabs(lazy - active));
    t->least = fmin(t->least, fmin(lazy, active));
    if (!good)
        printf("  %s on %u cores, seed %u, seen %d: lazy %.4f, active %.4f; %s\n",
               timeslice_policy_name(policy), cores, (unsigned)seed, seen, lazy, active,
               lb_verdict_reason(v, 0));
    lb_verdict_free(v);
    lb_trace_free(trace);
    timeslice_free(&result);
}

int main(void) {
    static const uint32_t sizes[] = {2, 3, 4, 8, 16, 64};
    bool passed = true;
    printf("cores  traces  as they should  lazy and active apart by  least probable\n");
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        tally t = {.least = 1};
        for (int policy = TIMESLICE_LAZY; policy <= TIMESLICE_ACTIVE; policy++)
            for (uint64_t seed = 0; seed < SEEDS; seed++)
                for (int seen = 0; seen < 3; seen++)
                    run((timeslice_policy)policy, sizes[i], seed, seen, &t);
        printf("%5u %7u %15u %25.4f %15.4f\n", sizes[i], t.traces, t.good, t.apart, t.least);
        passed = passed && t.good == t.traces;
    }
    return !passed;
}
