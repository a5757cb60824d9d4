/* SPDX-License-Identifier: BSD-3-Clause */
#include "surroundings.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"

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
