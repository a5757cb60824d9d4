/* SPDX-License-Identifier: BSD-3-Clause */
/* Disturbances whose truth is known, made for real:
 *     disturbance quota   a control group that may use half a CPU less than there are cores
 *     disturbance busy    a busy process in a session of its own, autogroup on
 *     disturbance hotplug a CPU that goes offline in mid-run, and comes back: only where
 *                         LBSCHED_HOTPLUG=1 allows it, as one that stayed away would be missed
 * The finding must name it, and the verdict must never be wrong: unknown with the reason, or what
 * the undisturbed machine shows. Where it cannot be had, or where something else disturbs as well,
 * the test is skipped with the reason. */
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "guard.h"
#include "lbsched/lbsched.h"
#include "meter.h"
#include "quota.h"

#define MAX_FOREIGN 5 /* percent of the cores' time that nobody here has made */

static int failures;

static void expect(bool condition, const char *what) {
    printf("%s: %s\n", condition ? "ok" : "FAILED", what);
    failures += condition ? 0 : 1;
}

static int skip(const char *reason) {
    printf("skipped: %s\n", reason);
    return 77;
}

static const char *find(const lb_host *host, lb_finding_kind kind) {
    for (size_t i = 0; i < lb_host_finding_count(host); i++)
        if (lb_host_finding_kind(host, i) == kind)
            return lb_host_finding(host, i);
    return "";
}

static const char *meta(const lb_trace *trace, const char *key) {
    const char *value = lb_trace_meta(trace, key);
    return value == NULL ? "" : value;
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static double away; /* percent of the cores' time in the run */

static bool detect(const lb_host *host, lb_verdict **ret_verdict, lb_trace **ret_trace) {
    lb_experiment_options options;
    lb_error err;
    lb_experiment_options_init(&options, sizeof options);
    options.budget = 12;
    double begin = now(), before = meter_away();
    lb_status status = lb_detect(host, &options, ret_verdict, ret_trace, &err);
    away = 100 * meter_since(before, begin);
    printf("the cores were away for %.2f %%\n", away);
    if (status == LB_OK)
        return true;
    if (status == LB_ERR_TIMEOUT && away > MAX_FOREIGN)
        exit(skip(err.message)); /* what was changed is put back by the guard */
    printf("FAILED: %s\n", err.message);
    failures++;
    return false;
}

static void print_findings(const lb_trace *trace) {
    static const char *const keys[] = {"disturbed",           "attempts",
                                       "foreign_cpu_percent", "finding_run_throttled",
                                       "finding_run_load",    "finding_run_autogroup",
                                       "finding_run_steal"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (lb_trace_meta(trace, keys[i]) != NULL)
            printf("%s: %s\n", keys[i], lb_trace_meta(trace, keys[i]));
}

/* Unknown for that reason, which also stands in the verdict. */
static void expect_unknown(const lb_verdict *verdict, const char *kind) {
    const char *reason = lb_verdict_reason(verdict, 0);
    printf("verdict: %d, because %s\n", (int)lb_verdict_policy(verdict), reason);
    expect(lb_verdict_policy(verdict) == LB_POLICY_UNKNOWN, "the verdict is unknown");
    expect(strstr(reason, "disturbed") != NULL && strstr(reason, kind) != NULL,
           "the verdict's first reason is that the run was disturbed");
}

/* ---- a quota ---- */

/* False: something else used so much that the quota was perhaps not used up. */
static bool judge_quota(const lb_host *host, const char *words) {
    lb_verdict *verdict = NULL;
    lb_trace *trace = NULL;
    printf("finding: %s\n", find(host, LB_FINDING_QUOTA));
    expect(strstr(find(host, LB_FINDING_QUOTA), words) != NULL, "the finding names the quota");
    if (!detect(host, &verdict, &trace))
        return true;
    print_findings(trace);
    expect(strstr(meta(trace, "finding_host_quota"), words) != NULL, "the trace names the quota");
    bool judged = strtod(meta(trace, "foreign_cpu_percent"), NULL) + away <= MAX_FOREIGN ||
                  lb_trace_meta(trace, "finding_run_throttled") != NULL;
    if (judged) {
        expect(strstr(meta(trace, "finding_run_throttled"), "quota") != NULL,
               "the trace tells of the throttling");
        expect(strstr(meta(trace, "disturbed"), "throttled") != NULL, "the trace is labelled");
        expect_unknown(verdict, "throttled");
    }
    lb_verdict_free(verdict);
    lb_trace_free(trace);
    return judged;
}

static int check_quota(void) {
    const char *reason;
    lb_error err;
    lb_host *host = NULL;
    bool judged = true;
    if (lb_host_open(NULL, &host, &err) != LB_OK)
        return skip(err.message);
    double outside = lb_host_quota(host), quota = lb_host_cores(host) - 0.5;
    if (lb_host_cores(host) < 2 || outside < quota) {
        lb_host_free(host);
        return skip("fewer than two cores, or a quota already");
    }
    lb_host_free(host);
    if (!quota_begin(quota, &reason))
        return skip(reason);
    char words[64];
    snprintf(words, sizeof words, "allows %.4g CPUs' worth", quota);
    if (lb_host_open(NULL, &host, &err) != LB_OK) {
        printf("FAILED: %s\n", err.message);
        failures++;
    } else {
        expect(lb_host_quota(host) == quota, "the host's quota is the group's");
        judged = judge_quota(host, words);
    }
    lb_host_free(host);
    quota_end();
    if (failures == 0 && !judged)
        return skip("something else used CPU time too");
    return failures == 0 ? 0 : 1;
}

/* ---- a busy process in another session ---- */

static pid_t start_busy(void) {
    pid_t self = getpid(), child = fork();
    if (child != 0)
        return child;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, "lbsched-busy");
    setsid();
    if (getppid() != self)
        _exit(1);
    for (volatile uint64_t i = 0;; i++) {
    }
}

static double cpu_seconds(pid_t process) {
    clockid_t clock;
    struct timespec time;
    if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &time) != 0)
        return NAN;
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* The number behind `words` in a text; NAN: none. */
static double number_after(const char *text, const char *words) {
    const char *at = strstr(text, words);
    return at == NULL ? (double)NAN : strtod(at + strlen(words), NULL);
}

static int judge_busy(const lb_host *host, pid_t busy) {
    lb_verdict *verdict = NULL;
    lb_trace *trace = NULL;
    char words[64];
    double cores = lb_host_cores(host);
    printf("before: %s\nbefore: %s\n", find(host, LB_FINDING_LOAD),
           find(host, LB_FINDING_AUTOGROUP));
    expect(strcmp(find(host, LB_FINDING_LOAD), "") != 0, "the load is found before the run");
    double begin = now(), used = cpu_seconds(busy);
    if (!detect(host, &verdict, &trace))
        return 1;
    double share = (cpu_seconds(busy) - used) / (now() - begin);
    print_findings(trace);
    double foreign = strtod(meta(trace, "foreign_cpu_percent"), NULL);
    printf("the busy process had %.3g cores\n", share);
    lb_policy policy = lb_verdict_policy(verdict);
    /* What the default class of Linux shows undisturbed. */
    expect(policy == LB_POLICY_UNKNOWN || policy == LB_POLICY_IMMEDIATE,
           "the verdict is not wrong");
    bool quiet = fabs(foreign - 100 * share / cores) + away <= MAX_FOREIGN;
    if (quiet) {
        expect_unknown(verdict, "load");
        snprintf(words, sizeof words, "lbsched-busy (process %ld)", (long)busy);
        expect(strstr(meta(trace, "finding_run_load"), words) != NULL,
               "the finding names the process");
        const char *autogroup = meta(trace, "finding_run_autogroup");
        double left = number_after(autogroup, "left them ");
        expect(strstr(autogroup, "1 other busy session") != NULL, "the finding names the session");
        expect(fabs(left - (cores - share)) < 0.02 * MAX_FOREIGN * cores,
               "the share that autogroup left is what the busy process did not have");
        expect(left < number_after(autogroup, "would have had "),
               "that is less than counted by process");
    }
    lb_verdict_free(verdict);
    lb_trace_free(trace);
    if (failures == 0 && !quiet)
        return skip("something else than the busy process used CPU time too");
    return failures == 0 ? 0 : 1;
}

static int check_busy(void) {
    lb_error err;
    lb_host *host = NULL;
    pid_t busy = start_busy();
    if (busy < 0)
        return skip("no process can be made");
    nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
    int status;
    if (lb_host_open(NULL, &host, &err) != LB_OK)
        status = skip(err.message);
    else if (lb_host_cores(host) < 2)
        status = skip("fewer than two cores");
    else if (strcmp(find(host, LB_FINDING_AUTOGROUP), "") == 0)
        status = skip("autogroup is off, or a control group shares in its stead");
    else
        status = judge_busy(host, busy);
    lb_host_free(host);
    kill(busy, SIGKILL);
    waitpid(busy, NULL, 0);
    return status;
}

/* ---- a CPU that goes and comes back ---- */

static char online[64]; /* the file that tells, and decides */

static bool set_online(bool on) {
    FILE *file = fopen(online, "we");
    if (file == NULL)
        return false;
    bool written = fputs(on ? "1" : "0", file) >= 0;
    return fclose(file) == 0 && written;
}

static bool put_online(void) {
    return set_online(true);
}

typedef struct absence {
    double begin; /* of the run */
    int changes;  /* made: away, and back */
} absence;

static int go_and_come(void *user, double fraction) {
    absence *a = user;
    (void)fraction;
    if (a->changes == 0 && now() > a->begin + 1)
        a->changes += set_online(false) ? 1 : 2;
    else if (a->changes == 1 && now() > a->begin + 1.5)
        a->changes += set_online(true) ? 1 : 0;
    return 0;
}

static void judge_hotplug(const lb_host *host) {
    lb_experiment_options options;
    lb_error err;
    lb_trace *trace = NULL;
    lb_verdict *verdict = NULL;
    absence a = {.begin = now()};
    lb_experiment_options_init(&options, sizeof options);
    options.progress = go_and_come;
    options.progress_user = &a;
    lb_status status = lb_experiment_run(host, LB_EXPERIMENT_DETECT, &options, &trace, &err);
    if (status == LB_OK)
        status = lb_classify(trace, NULL, &verdict, &err);
    expect(status == LB_OK, status == LB_OK ? "the run ends" : err.message);
    expect(a.changes == 2, "the CPU went, and came back");
    if (status == LB_OK) {
        printf("finding: %s\n", meta(trace, "finding_run_hotplug"));
        expect(strcmp(meta(trace, "finding_run_hotplug"), "") != 0, "the trace tells of it");
        expect(strstr(meta(trace, "disturbed"), "hotplug") != NULL, "the trace is labelled");
        expect_unknown(verdict, "hotplug");
    }
    lb_verdict_free(verdict);
    lb_trace_free(trace);
}

static int check_hotplug(void) {
    lb_error err;
    lb_host *host = NULL;
    const char *reason, *allowed = getenv("LBSCHED_HOTPLUG");
    if (allowed == NULL || strcmp(allowed, "1") != 0)
        return skip("CPUs are left alone (LBSCHED_HOTPLUG=1 allows to take one away)");
    if (lb_host_open(NULL, &host, &err) != LB_OK)
        return skip(err.message);
    uint32_t cores = lb_host_cores(host);
    snprintf(online, sizeof online, "/sys/devices/system/cpu/cpu%u/online",
             (unsigned)lb_host_cpu(host, cores - 1));
    int status = 0;
    if (cores < 2 || access(online, W_OK) != 0)
        status = skip("no core can be taken offline");
    else if (!guard_begin(put_online, &reason))
        status = skip(reason);
    else {
        judge_hotplug(host);
        guard_end();
        status = failures == 0 ? 0 : 1;
    }
    lb_host_free(host);
    return status;
}

int main(int argc, char **argv) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    /* Without a meter: control groups of version 1 take no process with real-time threads. */
    if (argc == 2 && strcmp(argv[1], "quota") == 0)
        return check_quota();
    meter_begin();
    if (argc == 2 && strcmp(argv[1], "busy") == 0)
        return check_busy();
    if (argc == 2 && strcmp(argv[1], "hotplug") == 0)
        return check_hotplug();
    fprintf(stderr, "usage: disturbance quota|busy|hotplug\n");
    return 2;
}
