/* SPDX-License-Identifier: BSD-3-Clause */
#include "guard.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t guard;
static int alive; /* closes when this process ends: then the guard acts */

/* Out of reach of the terminal's signals. */
static void watch_over(int ended, bool (*undo)(void)) {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    setsid();
    char byte;
    while (read(ended, &byte, 1) < 0 && errno == EINTR) {
    }
    _exit(undo() ? 0 : 1);
}

bool guard_begin(bool (*undo)(void), const char **ret_reason) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        *ret_reason = strerror(errno);
        return false;
    }
    guard = fork();
    if (guard == 0) {
        close(ends[1]);
        watch_over(ends[0], undo);
    }
    close(ends[0]);
    alive = ends[1];
    if (guard > 0)
        return true;
    *ret_reason = strerror(errno);
    close(alive);
    return false;
}

void guard_end(void) {
    close(alive);
    waitpid(guard, NULL, 0);
}
