/* SPDX-License-Identifier: BSD-3-Clause */
#include "balancing.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char path[] = "/sys/fs/cgroup/cpuset/cpuset.sched_load_balance";
static pid_t guard;
static int alive; /* closes when this process ends: then the guard acts */

static bool write_flag(char flag) {
    int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    bool ok = write(file, &flag, 1) == 1;
    int error = errno;
    close(file);
    errno = error;
    return ok;
}

/* Out of reach of the terminal's signals, and waiting for the last copy of the pipe to close. */
static void watch_over(int ended) {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    setsid();
    char byte;
    while (read(ended, &byte, 1) < 0 && errno == EINTR) {
    }
    _exit(write_flag('1') ? 0 : 1);
}

bool balancing_off(const char **ret_reason) {
    char flag = '?';
    int file = open(path, O_RDONLY | O_CLOEXEC), ends[2];
    if (file < 0 || read(file, &flag, 1) != 1 || flag != '1') {
        *ret_reason = file < 0 ? "no cpuset hierarchy of cgroup v1 at /sys/fs/cgroup/cpuset"
                               : "the root cpuset's load balancing is off already";
        if (file >= 0)
            close(file);
        return false;
    }
    close(file);
    if (pipe2(ends, O_CLOEXEC) != 0 || (guard = fork()) < 0) {
        *ret_reason = strerror(errno);
        return false;
    }
    if (guard == 0) {
        close(ends[1]);
        watch_over(ends[0]);
    }
    close(ends[0]);
    alive = ends[1];
    if (write_flag('0'))
        return true;
    *ret_reason = strerror(errno);
    balancing_restore();
    return false;
}

void balancing_restore(void) {
    close(alive);
    waitpid(guard, NULL, 0);
}
