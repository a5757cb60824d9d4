/* SPDX-License-Identifier: BSD-3-Clause */
/* The verdict on this kernel under a condition whose policy is known:
 *
 *   other       the default class: immediate, by the seed's criterion
 *   rr          SCHED_RR of equal priority: real-time queues pull when they run dry only: lazy
 *   unbalanced  load balancing off in the root cpuset: none
 *
 * Five consecutive runs are judged, each printed. A run that more than 2 % foreign CPU time
 * disturbed is counted and repeated, whatever its verdict, and no run for any other reason. Exit
 * status 77: cannot be had here, with the reason. */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "balancing.h"
#include "lbsched/lbsched.h"

#define SKIP 77
#define MAX_FOREIGN 2.0

#define MAX_DISTURBED 5

/* A second argument says otherwise. */
static int judged_runs = 5;

static const char *const policies[] = {"unknown", "none", "lazy", "active", "immediate"};

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* To look into afterwards: LBSCHED_TRUTH_TRACES is a folder, or the beginning of a path. */
static void keep(const lb_trace *trace, const char *condition, int number) {
    const char *prefix = getenv("LBSCHED_TRUTH_TRACES");
    char path[512];
    lb_error err;
    if (prefix == NULL)
        return;
    snprintf(path, sizeof path, "%s%s-%d.csv", prefix, condition, number);
    if (lb_trace_save(trace, path, LB_TRACE_CSV, &err) != LB_OK)
        printf("%s\n", err.message);
}

/* Prints the run, and says whether it may be judged. */
static bool run(const char *condition, int number, lb_verdict **ret_verdict, double *ret_foreign) {
    lb_error err;
    lb_trace *trace = NULL;
    double start = now();
    lb_status status = lb_detect(NULL, NULL, ret_verdict, &trace, &err);
    double seconds = now() - start;
    if (status != LB_OK) {
        printf("%s: %s\n", lb_status_name(status), err.message);
        exit(status == LB_ERR_UNSUPPORTED ? SKIP : EXIT_FAILURE);
    }
    const char *foreign = lb_trace_meta(trace, "foreign_cpu_percent");
    *ret_foreign = foreign == NULL ? 100 : strtod(foreign, NULL);
    lb_policy policy = lb_verdict_policy(*ret_verdict);
    printf("%s: %s (%.4f) in %.1f s, foreign CPU time %.2f %%, class %s, start %s\n", condition,
           policies[policy], lb_verdict_probability(*ret_verdict, policy), seconds, *ret_foreign,
           lb_trace_meta(trace, "class"), lb_trace_meta(trace, "even_start"));
    for (size_t i = 0; i < lb_verdict_reason_count(*ret_verdict); i++)
        printf("  %s\n", lb_verdict_reason(*ret_verdict, i));
    keep(trace, condition, number);
    lb_trace_free(trace);
    if (seconds > 20.5) {
        printf("longer than the budget of 20 s\n");
        exit(EXIT_FAILURE);
    }
    return *ret_foreign <= MAX_FOREIGN;
}

static int judge(const char *condition, lb_policy expected) {
    double foreign = 0;
    int right = 0, wrong = 0, disturbed = 0;
    while (right + wrong < judged_runs && disturbed < MAX_DISTURBED) {
        lb_verdict *verdict = NULL;
        bool quiet = run(condition, right + wrong + disturbed, &verdict, &foreign);
        lb_policy policy = lb_verdict_policy(verdict);
        lb_verdict_free(verdict);
        if (!quiet)
            disturbed++;
        else if (policy == expected)
            right++;
        else
            wrong++;
    }
    printf("%s: %d of %d runs %s, %d disturbed ones repeated\n", condition, right, right + wrong,
           policies[expected], disturbed);
    if (wrong > 0)
        return EXIT_FAILURE;
    if (right == judged_runs)
        return EXIT_SUCCESS;
    printf("skipped: foreign CPU time of more than %g %% in %d runs, %.2f %% in the last\n",
           MAX_FOREIGN, disturbed, foreign);
    return SKIP;
}

static int skip(const char *reason) {
    printf("skipped: %s\n", reason);
    return SKIP;
}

static int unbalanced(void) {
    const char *reason;
    if (!balancing_off(&reason))
        return skip(reason);
    int result = judge("unbalanced", LB_POLICY_NONE);
    balancing_restore();
    return result;
}

int main(int argc, char **argv) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    const char *condition = argc > 1 ? argv[1] : "";
    if (argc > 2)
        judged_runs = atoi(argv[2]);
    struct sched_param param = {.sched_priority = 1};
    if (strcmp(condition, "other") == 0) {
        if (sched_getscheduler(0) != SCHED_OTHER)
            return skip("this process is not in the default class");
        return judge(condition, LB_POLICY_IMMEDIATE);
    }
    if (strcmp(condition, "rr") == 0) {
        if (sched_setscheduler(0, SCHED_RR, &param) != 0)
            return skip(strerror(errno));
        return judge(condition, LB_POLICY_LAZY);
    }
    if (strcmp(condition, "unbalanced") == 0)
        return unbalanced();
    fprintf(stderr, "usage: truth_policy other|rr|unbalanced [RUNS]\n");
    return EXIT_FAILURE;
}
