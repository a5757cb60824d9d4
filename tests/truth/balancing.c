/* SPDX-License-Identifier: BSD-3-Clause */
#include "balancing.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "guard.h"

static const char path[] = "/sys/fs/cgroup/cpuset/cpuset.sched_load_balance";

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

static bool put_back(void) {
    return write_flag('1');
}

bool balancing_off(const char **ret_reason) {
    char flag = '?';
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0 || read(file, &flag, 1) != 1 || flag != '1') {
        *ret_reason = file < 0 ? "no cpuset hierarchy of cgroup v1 at /sys/fs/cgroup/cpuset"
                               : "the root cpuset's load balancing is off already";
        if (file >= 0)
            close(file);
        return false;
    }
    close(file);
    if (!guard_begin(put_back, ret_reason))
        return false;
    if (write_flag('0'))
        return true;
    *ret_reason = strerror(errno);
    balancing_restore();
    return false;
}

void balancing_restore(void) {
    guard_end();
}
