/* SPDX-License-Identifier: BSD-3-Clause */
#include "surroundings.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "harness.h"
#include "meter.h"

lb_host *open_two_cores(void) {
    lb_host *host = NULL;
    lb_error err;
    ASSERT_OK(lb_host_open(NULL, &host, &err), err);
    if (lb_host_cores(host) < 2) {
        printf("skipped: only one core may be used\n");
        lb_host_free(host);
        exit(EXIT_SUCCESS);
    }
    return host;
}

static int count_files(void) {
    int count = 0;
    DIR *folder = opendir("/proc/self/fd");
    while (folder != NULL && readdir(folder) != NULL)
        count++;
    closedir(folder);
    return count;
}

/* Of the mappings, those shared with workers: the others are the allocator's affair. */
static int count_mappings(void) {
    int count = 0;
    char line[512];
    FILE *file = fopen("/proc/self/maps", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        count += strstr(line, "rw-s") != NULL ? 1 : 0;
    fclose(file);
    return count;
}

void look_around(surroundings *s) {
    memset(s, 0, sizeof *s);
    struct sched_param param;
    sched_getaffinity(0, sizeof s->affinity, &s->affinity);
    pthread_sigmask(SIG_SETMASK, NULL, &s->mask);
    s->policy = sched_getscheduler(0);
    sched_getparam(0, &param);
    s->priority = param.sched_priority;
    s->files = count_files();
    s->mappings = count_mappings();
}

void assert_unchanged(const surroundings *before) {
    surroundings now;
    look_around(&now);
    ck_assert(CPU_EQUAL(&now.affinity, &before->affinity));
    for (int s = 1; s < NSIG; s++)
        ck_assert_int_eq(sigismember(&now.mask, s), sigismember(&before->mask, s));
    ck_assert_int_eq(now.policy, before->policy);
    ck_assert_int_eq(now.priority, before->priority);
    ck_assert_int_eq(now.files, before->files);
    ck_assert_int_eq(now.mappings, before->mappings);
}

void assert_childless(void) {
    ck_assert_int_eq(waitpid(-1, NULL, WNOHANG | __WALL), -1);
    ck_assert_int_eq(errno, ECHILD);
}

/* ---- what else goes on ---- */

#define MAX_FOREIGN 0.02
#define MAX_ANSWER 1.0 /* seconds */

static double cpu_seconds(int who) {
    struct rusage usage;
    getrusage(who, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

/* User, nice, system, irq, softirq and steal of the whole machine. */
static double busy_seconds(void) {
    unsigned long long t[8] = {0};
    int file = open("/proc/stat", O_RDONLY | O_CLOEXEC);
    char line[256] = "";
    if (file >= 0 && read(file, line, sizeof line - 1) > 0)
        sscanf(line, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &t[0], &t[1], &t[2], &t[3],
               &t[4], &t[5], &t[6], &t[7]);
    if (file >= 0)
        close(file);
    return (double)(t[0] + t[1] + t[2] + t[5] + t[6] + t[7]) / (double)sysconf(_SC_CLK_TCK);
}

moment moment_now(void) {
    struct timespec time;
    meter_begin();
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (moment){.time = (double)time.tv_sec + 1e-9 * (double)time.tv_nsec,
                    .busy = busy_seconds(),
                    .own = cpu_seconds(RUSAGE_SELF) + cpu_seconds(RUSAGE_CHILDREN),
                    .away = meter_away()};
}

double foreign_since(const moment *then) {
    moment now = moment_now();
    double all = (now.time - then->time) * (double)sysconf(_SC_NPROCESSORS_ONLN);
    double foreign = (now.busy - then->busy - (now.own - then->own)) / all;
    return (foreign > 0 ? foreign : 0) + meter_since(then->away, then->time);
}

bool missed_beside_others(bool there, const char *what, const moment *begin) {
    double foreign = foreign_since(begin);
    if (there || foreign <= MAX_FOREIGN)
        return false;
    printf("skipped: %s, as others used %.1f %% of the machine\n", what, 100 * foreign);
    return true;
}

lb_status run_patiently(const lb_host *host, const lb_workload *workload,
                        const lb_experiment_options *options, lb_trace **ret_trace, lb_error *err) {
    lb_experiment_options patient = *options;
    lb_status status;
    do {
        status = lb_experiment_workload(host, workload, &patient, ret_trace, err);
        patient.budget *= 2;
    } while (status == LB_ERR_TIMEOUT && patient.budget < 200);
    return status;
}

bool timed_out_beside_others(lb_status status, const moment *begin) {
    return missed_beside_others(status != LB_ERR_TIMEOUT, "the budget did not do", begin);
}

static moment fault;

void note_fault(void) {
    fault = moment_now();
}

void assert_answered(void) {
    if (fault.time == 0)
        return;
    double foreign = foreign_since(&fault), took = moment_now().time - fault.time;
    fault.time = 0;
    if (took <= MAX_ANSWER)
        return;
    if (foreign > MAX_FOREIGN)
        printf("skipped: a fault was answered after %.2f s, but others used %.1f %% of the "
               "machine\n",
               took, 100 * foreign);
    else
        ck_abort_msg("the fault was answered after %.2f s", took);
}

int list_workers(pid_t *workers, int max) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%ld/children", syscall(SYS_gettid));
    FILE *file = fopen(path, "r");
    int count = 0;
    long process;
    while (file != NULL && count < max && fscanf(file, "%ld", &process) == 1)
        workers[count++] = (pid_t)process;
    if (file != NULL)
        fclose(file);
    return count;
}
