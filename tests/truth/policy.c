/* SPDX-License-Identifier: BSD-3-Clause */
/* The verdict under a condition whose policy is known:
 *
 *   other        the default class of this kernel: immediate, by the seed's criterion
 *   rr           SCHED_RR of equal priority: real-time queues pull when they run dry only: lazy
 *   unbalanced   load balancing off in the root cpuset: none
 *   none, lazy, active, immediate, single      that scheduler, emulated (lb_experiment_emulate())
 *   all          each of these, one after another
 *
 *     truth_policy CONDITION [RUNS]      truth_policy all 20 prints the whole table
 *
 * Consecutive runs are judged, each printed, with the CPU time that others used meanwhile. A run
 * that more than 2 % of that disturbed, or that was without the cores for so long, is counted and
 * repeated, whatever its verdict, and no run for any other reason. None may be wrong, and one in
 * twenty unknown. Exit status 77: cannot be had here, with the reason. */
#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "balancing.h"
#include "lbsched/lbsched.h"
#include "meter.h"

#define SKIP 77
#define MAX_FOREIGN 2.0
#define MAX_RUNS 1000

typedef enum setting {
    AS_IT_IS,
    REAL_TIME,
    UNBALANCED,
    EMULATED
} setting;

static const struct condition {
    const char *name;
    setting setting;
    lb_policy policy;
    lb_queues queues; /* LB_QUEUES_UNKNOWN: any will do */
} conditions[] = {
    {"other", AS_IT_IS, LB_POLICY_IMMEDIATE, LB_QUEUES_PER_CORE},
    {"rr", REAL_TIME, LB_POLICY_LAZY, LB_QUEUES_PER_CORE},
    {"unbalanced", UNBALANCED, LB_POLICY_NONE, LB_QUEUES_PER_CORE},
    {"none", EMULATED, LB_POLICY_NONE, LB_QUEUES_PER_CORE},
    {"lazy", EMULATED, LB_POLICY_LAZY, LB_QUEUES_PER_CORE},
    {"active", EMULATED, LB_POLICY_ACTIVE, LB_QUEUES_PER_CORE},
    {"immediate", EMULATED, LB_POLICY_IMMEDIATE, LB_QUEUES_PER_CORE},
    {"single", EMULATED, LB_POLICY_IMMEDIATE, LB_QUEUES_SINGLE},
};
enum {
    CONDITIONS = sizeof conditions / sizeof *conditions
};

static const char *const policies[] = {"unknown", "none", "lazy", "active", "immediate"};
static const char *const queue_names[] = {"unknown", "per core", "single", "grouped"};

/* What came of a condition. */
typedef struct tally {
    int right, unknown, wrong, disturbed, queues_known;
    double seconds[MAX_RUNS], foreign[MAX_RUNS]; /* of the judged runs */
    const char *reason;                          /* why it cannot be had */
} tally;

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

static lb_status emulate(const struct condition *condition, uint64_t seed, lb_verdict **ret_verdict,
                         lb_trace **ret_trace, lb_error *err) {
    lb_host *host = NULL;
    lb_model *model = NULL;
    lb_model_options options;
    lb_model_options_init(&options, sizeof options);
    lb_status status = lb_host_open(NULL, &host, err);
    options.policy = (int32_t)condition->policy;
    if (status == LB_OK) {
        options.cores = lb_host_cores(host);
        status = lb_model_new(&options, &model, err);
    }
    if (status == LB_OK)
        status = lb_experiment_emulate(host, model, condition->queues, seed, NULL, ret_trace, err);
    if (status == LB_OK)
        status = lb_classify(*ret_trace, NULL, ret_verdict, err);
    lb_model_free(model);
    lb_host_free(host);
    return status;
}

/* One run, printed and counted. */
static void run(const struct condition *condition, int number, tally *t) {
    lb_error err;
    lb_trace *trace = NULL;
    lb_verdict *verdict = NULL;
    double start = now(), before = meter_away();
    lb_status status = condition->setting == EMULATED
                           ? emulate(condition, (uint64_t)number, &verdict, &trace, &err)
                           : lb_detect(NULL, NULL, &verdict, &trace, &err);
    /* Beside real-time workers the meter is throttled as they are. */
    double seconds = now() - start;
    double away = condition->setting == REAL_TIME ? 0 : 100 * meter_since(before, start);
    if (status == LB_ERR_TIMEOUT && away > MAX_FOREIGN) {
        printf("%s %d: %s, the cores were away for %.2f %%\n", condition->name, number, err.message,
               away);
        t->disturbed++;
        return;
    }
    if (status != LB_OK) {
        printf("%s: %s\n", lb_status_name(status), err.message);
        exit(status == LB_ERR_UNSUPPORTED ? SKIP : EXIT_FAILURE);
    }
    const char *percent = lb_trace_meta(trace, "foreign_cpu_percent");
    double foreign = percent == NULL ? 100 : strtod(percent, NULL);
    lb_policy policy = lb_verdict_policy(verdict);
    lb_queues queues = lb_verdict_queues(verdict);
    bool quiet = foreign <= MAX_FOREIGN && away <= MAX_FOREIGN;
    printf(
        "%s %d: %s (%.4f), queues %s, %.1f s, foreign CPU time %.2f %%, away %.2f %%, start %s%s\n",
        condition->name, number, policies[policy], lb_verdict_probability(verdict, policy),
        queue_names[queues], seconds, foreign, away, lb_trace_meta(trace, "even_start"),
        quiet ? "" : ", disturbed");
    if (policy != condition->policy)
        for (size_t i = 0; i < lb_verdict_reason_count(verdict); i++)
            printf("  %s\n", lb_verdict_reason(verdict, i));
    keep(trace, condition->name, number);
    if (quiet && seconds > 20.5) {
        printf("longer than the budget of 20 s\n");
        exit(EXIT_FAILURE);
    }
    int judged = t->right + t->unknown + t->wrong;
    if (quiet) {
        t->seconds[judged] = seconds;
        t->foreign[judged] = foreign;
    }
    if (!quiet)
        t->disturbed++;
    else if (policy == LB_POLICY_UNKNOWN)
        t->unknown++;
    else if (policy == condition->policy &&
             (queues == condition->queues || queues == LB_QUEUES_UNKNOWN))
        t->right++;
    else
        t->wrong++;
    t->queues_known += quiet && queues == condition->queues;
    lb_verdict_free(verdict);
    lb_trace_free(trace);
}

static void judge(const struct condition *condition, int runs, tally *t) {
    for (int number = 1; t->right + t->unknown + t->wrong < runs && t->disturbed < runs / 2 + 3;
         number++)
        run(condition, number, t);
}

/* The condition is there while it is judged, and then all is as before. */
static void judge_under(const struct condition *condition, int runs, tally *t) {
    struct sched_param before = {0}, first = {.sched_priority = 1};
    if (sched_getscheduler(0) != SCHED_OTHER) {
        t->reason = "this process is not in the default class";
    } else if (condition->setting == REAL_TIME) {
        if (sched_setscheduler(0, SCHED_RR, &first) != 0)
            t->reason = strerror(errno);
        else
            judge(condition, runs, t);
        sched_setscheduler(0, SCHED_OTHER, &before);
    } else if (condition->setting == UNBALANCED) {
        if (!balancing_off(&t->reason))
            return;
        judge(condition, runs, t);
        balancing_restore();
    } else {
        judge(condition, runs, t);
    }
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void print_row(const struct condition *condition, tally *t) {
    int judged = t->right + t->unknown + t->wrong;
    if (judged == 0) {
        printf("%-11s skipped: %s\n", condition->name,
               t->reason != NULL ? t->reason : "disturbed every time");
        return;
    }
    qsort(t->seconds, (size_t)judged, sizeof *t->seconds, ascending);
    qsort(t->foreign, (size_t)judged, sizeof *t->foreign, ascending);
    printf("%-11s %-10s %5d %5d %7d %5d %9d %7d %7.1f %6.1f %6.1f %8.2f %8.2f\n", condition->name,
           policies[condition->policy], judged, t->right, t->unknown, t->wrong, t->disturbed,
           t->queues_known, t->seconds[0], t->seconds[judged / 2], t->seconds[judged - 1],
           t->foreign[judged / 2], t->foreign[judged - 1]);
}

/* The exit status. One unknown in twenty is allowed, and so one of fewer runs. */
static int assess(const tally *t, int runs) {
    if (t->wrong > 0 || t->unknown > (runs < 20 ? 1 : runs / 20))
        return EXIT_FAILURE;
    return t->right + t->unknown == runs ? EXIT_SUCCESS : SKIP;
}

int main(int argc, char **argv) {
    static tally tallies[CONDITIONS];
    setvbuf(stdout, NULL, _IOLBF, 0);
    meter_begin();
    const char *name = argc > 1 ? argv[1] : "";
    int runs = argc > 2 ? atoi(argv[2]) : 3, found = 0, result = EXIT_SUCCESS;
    bool all = strcmp(name, "all") == 0, skipped = false;
    if (runs < 1 || runs > MAX_RUNS)
        runs = 3;
    for (int i = 0; i < CONDITIONS; i++)
        if (all || strcmp(name, conditions[i].name) == 0) {
            judge_under(&conditions[i], runs, &tallies[i]);
            found++;
        }
    if (found == 0) {
        fprintf(stderr, "usage: truth_policy CONDITION|all [RUNS]\n");
        return EXIT_FAILURE;
    }
    printf("\n%-11s %-10s %5s %5s %7s %5s %9s %7s %22s %17s\n", "condition", "policy", "runs",
           "right", "unknown", "wrong", "disturbed", "queues", "seconds min/med/max",
           "foreign % med/max");
    for (int i = 0; i < CONDITIONS; i++) {
        if (!all && strcmp(name, conditions[i].name) != 0)
            continue;
        print_row(&conditions[i], &tallies[i]);
        int status = assess(&tallies[i], runs);
        skipped = skipped || status == SKIP;
        result = status == EXIT_FAILURE ? EXIT_FAILURE : result;
    }
    if (result == EXIT_SUCCESS && skipped) {
        printf("skipped: not every condition, or not every run, could be had\n");
        return SKIP;
    }
    return result;
}
