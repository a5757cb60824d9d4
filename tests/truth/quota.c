/* SPDX-License-Identifier: BSD-3-Clause */
#include "quota.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "guard.h"
#include "setting.h"

static const char first[] = "/sys/fs/cgroup/cpu", second[] = "/sys/fs/cgroup";
static const char *parent;
static char folder[128];

/* Whoever is still in the group goes back, and the group is removed. */
static bool dissolve(void) {
    for (int i = 0; i < 500; i++) {
        char path[256], line[32];
        snprintf(path, sizeof path, "%s/cgroup.procs", folder);
        FILE *members = fopen(path, "re");
        while (members != NULL && fgets(line, sizeof line, members) != NULL)
            setting_write(parent, "cgroup.procs", line);
        if (members != NULL)
            fclose(members);
        if (rmdir(folder) == 0 || errno == ENOENT)
            return true;
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    return false;
}

static bool set_quota(double cpus) {
    char text[64];
    snprintf(text, sizeof text, "%.0f", cpus * 100000);
    if (parent == first)
        return setting_write(folder, "cpu.cfs_period_us", "100000") &&
               setting_write(folder, "cpu.cfs_quota_us", text);
    strcat(text, " 100000");
    return setting_write(folder, "cpu.max", text);
}

bool quota_begin(double cpus, const char **ret_reason) {
    char self[32];
    parent = access("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", W_OK) == 0 ? first : second;
    /* Version 2 gives its children the controller only when told. */
    if (parent == second)
        setting_write(second, "cgroup.subtree_control", "+cpu");
    snprintf(folder, sizeof folder, "%s/lbsched-test-%ld", parent, (long)getpid());
    if (mkdir(folder, 0755) != 0) {
        *ret_reason = strerror(errno);
        return false;
    }
    if (!guard_begin(dissolve, ret_reason)) {
        rmdir(folder);
        return false;
    }
    snprintf(self, sizeof self, "%ld", (long)getpid());
    if (set_quota(cpus) && setting_write(folder, "cgroup.procs", self))
        return true;
    *ret_reason = strerror(errno);
    quota_end();
    return false;
}

void quota_end(void) {
    guard_end();
}
