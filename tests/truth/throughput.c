/* SPDX-License-Identifier: BSD-3-Clause */
/* Differences that are known are found, with the size that single cores' measured speeds say
 * beforehand: two cores against one; and SCHED_IDLE with both cores to itself against SCHED_IDLE
 * beside one process of the default class, which takes a core. Skipped where others use the
 * machine. */
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lbsched/lbsched.h"

#define USERS 8
#define SECONDS 0.25
#define SPEED_RUNS 7
#define REPEATS 16     /* of each condition: eight blocks */
#define WIDEST 0.10    /* of the interval, relative */
#define MOST_INVALID 4 /* runs of a condition */

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y ? 1 : 0;
}

static void give_up(const lb_error *err) {
    printf("%s: %s\n", err->status == LB_ERR_UNSUPPORTED ? "skipped" : "FAILED", err->message);
    exit(err->status == LB_ERR_UNSUPPORTED ? 77 : 1);
}

static lb_throughput_options options(uint32_t repeats) {
    static const uint32_t points[] = {USERS};
    lb_throughput_options o;
    lb_throughput_options_init(&o, sizeof o);
    o.workload = LB_THROUGHPUT_USERS;
    o.points = points;
    o.point_count = 1;
    o.seconds = SECONDS;
    o.repeats = repeats;
    return o;
}

/* The median throughput of one core, while this process keeps the other busy (or not). Whether the
 * run counts as disturbed does not matter: the disturbance is meant. */
static double speed_of(const lb_host *host, uint32_t core, bool other_busy) {
    lb_condition c;
    lb_condition_init(&c, sizeof c);
    c.cores = &core;
    c.core_count = 1;
    const lb_condition *const conditions[] = {&c};
    lb_throughput_options o = options(SPEED_RUNS);
    pid_t busy = other_busy ? fork() : -1;
    if (busy == 0) {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET(lb_host_cpu(host, 1 - core), &set);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        sched_setaffinity(0, sizeof set, &set);
        for (volatile unsigned value = 0;; value++) {
        }
    }
    lb_table *t;
    lb_error err;
    lb_status status = lb_experiment_throughput(host, conditions, 1, &o, &t, &err);
    if (busy > 0) {
        kill(busy, SIGKILL);
        waitpid(busy, NULL, 0);
    }
    if (status != LB_OK)
        give_up(&err);
    double values[SPEED_RUNS];
    for (size_t i = 0; i < SPEED_RUNS; i++)
        values[i] = lb_table_get(t, i, "jobs_per_minute");
    qsort(values, SPEED_RUNS, sizeof *values, compare_doubles);
    lb_table_free(t);
    return values[SPEED_RUNS / 2];
}

/* 0: as expected; 1: not; 77: disturbed. */
static int judge(const lb_host *host, const char *what, const lb_condition *base,
                 const lb_condition *other, double expected) {
    const lb_condition *const conditions[] = {base, other};
    lb_throughput_options o = options(REPEATS);
    lb_compare_options how;
    lb_table *tables[2], *t;
    lb_error err;
    printf("%s: expected %.3f\n", what, expected);
    fflush(stdout);
    lb_compare_options_init(&how, sizeof how);
    how.metric = "jobs_per_minute";
    if (lb_experiment_throughput(host, conditions, 2, &o, tables, &err) != LB_OK ||
        lb_compare(tables[0], tables[1], &how, &t, &err) != LB_OK)
        give_up(&err);
    double low = lb_table_get(t, 0, "ratio_low"), high = lb_table_get(t, 0, "ratio_high");
    double ratio = lb_table_get(t, 0, "ratio"), called = lb_table_get(t, 0, "difference");
    double invalid = fmax(lb_table_get(t, 0, "invalid_base"), lb_table_get(t, 0, "invalid_other"));
    printf("    measured %.3f (%.3f to %.3f, %.1f %% wide), p %.4f, called %+g, at most %g of %d "
           "runs disturbed\n",
           ratio, low, high, 100 * (high / low - 1), lb_table_get(t, 0, "p"), called, invalid,
           REPEATS);
    lb_table_free(t);
    lb_table_free(tables[0]);
    lb_table_free(tables[1]);
    if (invalid > MOST_INVALID)
        return 77;
    bool good = called == (expected > 1 ? 1 : -1) && high / low - 1 <= WIDEST && low <= expected &&
                expected <= high;
    if (!good)
        printf("    FAILED\n");
    return good ? 0 : 1;
}

int main(void) {
    lb_host *host;
    lb_error err;
    static const uint32_t first[] = {0}, both[] = {0, 1};
    if (lb_host_open(NULL, &host, &err) != LB_OK)
        give_up(&err);
    if (lb_host_cores(host) < 2) {
        printf("skipped: one core only\n");
        return 77;
    }
    double alone = speed_of(host, 0, false);
    double beside[] = {speed_of(host, 0, true), speed_of(host, 1, true)};
    printf("one core does %.0f jobs a minute; beside a busy one %.0f and %.0f\n", alone, beside[0],
           beside[1]);

    lb_condition one, two, idle, beaten;
    lb_condition_init(&one, sizeof one);
    one.cores = first;
    one.core_count = 1;
    lb_condition_init(&two, sizeof two);
    two.cores = both;
    two.core_count = 2;
    idle = beaten = two;
    idle.scheduling = beaten.scheduling = LB_SCHEDULING_IDLE;
    beaten.competitors = 1;
    int worst = judge(host, "two cores against one", &one, &two, (beside[0] + beside[1]) / alone);
    /* The other class has 1024 against 3 for each of those that share its core: half of them. */
    double taken = 1 / (1 + USERS / 2.0 * LB_WEIGHT_IDLE);
    double mean = (beside[0] + beside[1]) / 2;
    int second = judge(host, "SCHED_IDLE beside one of the default class", &idle, &beaten,
                       (mean + (1 - taken) * mean) / (2 * mean));
    lb_host_free(host);
    worst = worst == 1 || second == 1 ? 1 : worst > second ? worst : second;
    if (worst == 77)
        printf("skipped: others used the machine\n");
    return worst;
}
