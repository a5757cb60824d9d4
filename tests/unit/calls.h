/* SPDX-License-Identifier: BSD-3-Clause */
/* System calls of the library that fail when a test says so (--wrap in meson.build). */
#ifndef TESTS_CALLS_H
#define TESTS_CALLS_H

#include <stdbool.h>

/* A number of syscall() (SYS_clone, ..), or one of these. */
enum {
    CALL_MMAP = -2,
    CALL_FOPEN = -3,
    CALL_THREAD = -4, /* pthread_create() */
    CALL_OPEN = -5,
    CALL_READ = -6,
    CALL_WRITE = -7,
    CALL_CLOSE = -8,
    CALL_PIPE = -9,
    CALL_CLOCK = -10, /* clock_gettime() */
    CALL_RENAME = -11,
    CALL_SYNC = -12, /* fsync() */
    CALL_POLL = -13,
    CALL_FOLDER = -14 /* opendir() */
};

/* Instead of an error number: read() and write() move one byte, however many were asked for. */
#define CALLS_SHORT (-1)

/* The n-th of these calls of this process from now on fails with that error (n from 1), and only
 * that one, or, `for_ever`, all from it on. Calls of workers that are processes do not. */
void calls_arm(long number, int n, int error, bool for_ever);
/* Whether it has; disarms. */
bool calls_fired(void);

#endif
