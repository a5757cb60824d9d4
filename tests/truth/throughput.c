/* SPDX-License-Identifier: BSD-3-Clause */
/* Differences that are known are found, with the size that is written down beforehand: two cores
 * against one, from what single cores were measured to do; and, beside processes of SCHED_IDLE,
 * that class against the default one, from the classes' weights. The work is this program itself,
 * which computes: a chain of multiplications, as the threads of one core do not slow each other
 * down in it (virtual CPUs often are such threads).
 *
 * In its short form it judges the first alone, its direction and size. With LBSCHED_LONG=1 both,
 * and the interval, which is to be at most 10 % wide and to hold what was expected: a matter of
 * chance in one of twenty cases, so that is no test for every day. Skipped where others use the
 * machine. */
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lbsched/lbsched.h"
#include "meter.h"

#define PARALLEL 4
#define COMPETITORS 2
#define STEPS 20000000 /* some 25 ms */
#define SPEED_RUNS 5
#define WIDEST 0.10 /* of the interval, relative */
#define NEAR 0.15   /* of the ratio, in the short form */
#define AWAY 0.02   /* of the cores' time, more than which nothing can be said */

static const char *const command[] = {"/proc/self/exe", "compute", NULL};

typedef struct form {
    bool whole;
    uint32_t jobs, repeats, most_invalid;
} form;

static int compute(void) {
    uint64_t value = 1;
    for (int i = 0; i < STEPS; i++)
        value = value * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return value == 0;
}

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y ? 1 : 0;
}

static void give_up(const lb_error *err) {
    printf("%s: %s\n", err->status == LB_ERR_UNSUPPORTED ? "skipped" : "FAILED", err->message);
    exit(err->status == LB_ERR_UNSUPPORTED ? 77 : 1);
}

static lb_throughput_options options(const form *f, uint32_t repeats) {
    static const uint32_t points[] = {PARALLEL};
    lb_throughput_options o;
    lb_throughput_options_init(&o, sizeof o);
    o.command = command;
    o.jobs = f->jobs;
    o.points = points;
    o.point_count = 1;
    o.repeats = repeats;
    return o;
}

/* The median throughput of one core. Whether runs count as disturbed does not matter: what the
 * other core does meanwhile is meant. */
static double speed_of(const lb_host *host, const form *f, uint32_t core) {
    lb_condition c;
    lb_condition_init(&c, sizeof c);
    c.cores = &core;
    c.core_count = 1;
    const lb_condition *const conditions[] = {&c};
    lb_throughput_options o = options(f, SPEED_RUNS);
    lb_table *t;
    lb_error err;
    if (lb_experiment_throughput(host, conditions, 1, &o, &t, &err) != LB_OK)
        give_up(&err);
    double values[SPEED_RUNS];
    for (size_t i = 0; i < SPEED_RUNS; i++)
        values[i] = lb_table_get(t, i, "jobs_per_minute");
    qsort(values, SPEED_RUNS, sizeof *values, compare_doubles);
    lb_table_free(t);
    return values[SPEED_RUNS / 2];
}

/* A core's while the other does the same work: two at once may be slower than each alone, as they
 * share caches, or are one core's threads. */
static double speed_beside(const lb_host *host, const form *f, uint32_t core) {
    pid_t other = fork();
    if (other == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;)
            speed_of(host, f, 1 - core);
    }
    double speed = speed_of(host, f, core);
    kill(other, SIGKILL);
    waitpid(other, NULL, 0);
    return speed;
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* 0: as expected; 1: not; 77: disturbed. */
static int judge(const lb_host *host, const form *f, const char *what, const lb_condition *base,
                 const lb_condition *other, double expected) {
    const lb_condition *const conditions[] = {base, other};
    lb_throughput_options o = options(f, f->repeats);
    lb_compare_options how;
    lb_table *tables[2], *t = NULL;
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
    printf("    measured %.3f (%.3f to %.3f, %.1f %% wide), p %.4f, called %+g, at most %g of %u "
           "runs disturbed\n",
           ratio, low, high, 100 * (high / low - 1), lb_table_get(t, 0, "p"), called, invalid,
           (unsigned)f->repeats);
    lb_table_free(t);
    lb_table_free(tables[0]);
    lb_table_free(tables[1]);
    if (invalid > f->most_invalid)
        return 77;
    bool good = called == (expected > 1 ? 1 : -1) && fabs(ratio / expected - 1) <= NEAR;
    if (f->whole)
        good = good && high / low - 1 <= WIDEST && low <= expected && expected <= high;
    if (!good)
        printf("    FAILED\n");
    return good ? 0 : 1;
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "compute") == 0)
        return compute();
    form f = {.jobs = 8, .repeats = 14, .most_invalid = 6};
    if (getenv("LBSCHED_LONG") != NULL)
        f = (form){.whole = true, .jobs = 24, .repeats = 24, .most_invalid = 8};
    lb_host *host;
    lb_error err;
    static const uint32_t first[] = {0}, both[] = {0, 1};
    if (lb_host_open(NULL, &host, &err) != LB_OK)
        give_up(&err);
    if (lb_host_cores(host) < 2) {
        printf("skipped: one core only\n");
        return 77;
    }
    meter_begin();
    double begin = now();
    double alone = speed_of(host, &f, 0);
    double together = speed_beside(host, &f, 0) + speed_beside(host, &f, 1);
    printf("jobs a minute: one core %.0f, two, each by itself, %.0f\n", alone, together);

    lb_condition one, two, other, idle;
    lb_condition_init(&one, sizeof one);
    one.cores = first;
    one.core_count = 1;
    lb_condition_init(&two, sizeof two);
    two.cores = both;
    two.core_count = 2;
    int worst = judge(host, &f, "two cores against one", &one, &two, together / alone);
    other = idle = two;
    other.competitors = idle.competitors = COMPETITORS;
    other.competitor_scheduling = idle.competitor_scheduling = LB_SCHEDULING_IDLE;
    other.scheduling = LB_SCHEDULING_OTHER;
    idle.scheduling = LB_SCHEDULING_IDLE;
    double light = COMPETITORS * LB_WEIGHT_IDLE;
    int second = 0;
    if (f.whole)
        second = judge(host, &f, "SCHED_IDLE against the default class, beside SCHED_IDLE", &other,
                       &idle, (PARALLEL + light) / (double)(PARALLEL + COMPETITORS));
    lb_host_free(host);
    worst = worst == 1 || second == 1 ? 1 : worst > second ? worst : second;
    double away = meter_since(0, begin);
    printf("the cores were away for %.2f %%\n", 100 * away);
    worst = worst == 1 && away > AWAY ? 77 : worst;
    if (worst == 77)
        printf("skipped: others used the machine, or it was away\n");
    return worst;
}
