/* SPDX-License-Identifier: BSD-3-Clause */
/* Stands between the library's objects and the system, by the linker's --wrap. Meson asks for
 * 64-bit offsets, hence the names. */
#include "calls.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "surroundings.h"

static atomic_long fails_number = -1;
static atomic_int countdown;
static atomic_bool happened;
static int error_number;
static bool always;
static pid_t owner;

void calls_arm(long number, int n, int error, bool for_ever) {
    owner = getpid();
    happened = false;
    countdown = n;
    error_number = error;
    always = for_ever;
    fails_number = number;
}

bool calls_fired(void) {
    fails_number = -1;
    return happened;
}

static bool comes_now(long number) {
    if (number != fails_number || getpid() != owner)
        return false;
    int left = atomic_fetch_sub(&countdown, 1);
    if (left > 1 || (left < 1 && !always))
        return false;
    if (!atomic_exchange(&happened, true) && !always)
        note_fault();
    return true;
}

static bool fails(long number) {
    if (!comes_now(number))
        return false;
    errno = error_number;
    return true;
}

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);
void *__real_mmap64(void *address, size_t length, int protection, int flags, int file,
                    off_t offset);
void *__wrap_mmap64(void *address, size_t length, int protection, int flags, int file,
                    off_t offset);
FILE *__real_fopen64(const char *path, const char *mode);
FILE *__wrap_fopen64(const char *path, const char *mode);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*life)(void *), void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*life)(void *), void *argument);
int __real_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);
ssize_t __real_read(int file, void *buffer, size_t size);
ssize_t __wrap_read(int file, void *buffer, size_t size);
ssize_t __real_write(int file, const void *buffer, size_t size);
ssize_t __wrap_write(int file, const void *buffer, size_t size);
int __real_close(int file);
int __wrap_close(int file);
int __real_pipe2(int ends[2], int flags);
int __wrap_pipe2(int ends[2], int flags);
int __real_clock_gettime(clockid_t clock, struct timespec *time);
int __wrap_clock_gettime(clockid_t clock, struct timespec *time);
int __real_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to);
int __real_fsync(int file);
int __wrap_fsync(int file);
int __real_poll(struct pollfd *files, nfds_t n, int timeout);
int __wrap_poll(struct pollfd *files, nfds_t n, int timeout);
DIR *__real_opendir(const char *path);
DIR *__wrap_opendir(const char *path);

/* It reads as many arguments as a call may have, also those that were not passed. */
__attribute__((no_sanitize_address)) long __wrap_syscall(long number, ...) {
    va_list list;
    long a[6];
    va_start(list, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(list, long);
    va_end(list);
    return fails(number) ? -1 : __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

void *__wrap_mmap64(void *address, size_t length, int protection, int flags, int file,
                    off_t offset) {
    return fails(CALL_MMAP) ? MAP_FAILED
                            : __real_mmap64(address, length, protection, flags, file, offset);
}

FILE *__wrap_fopen64(const char *path, const char *mode) {
    return fails(CALL_FOPEN) ? NULL : __real_fopen64(path, mode);
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*life)(void *), void *argument) {
    return fails(CALL_THREAD) ? error_number
                              : __real_pthread_create(thread, attributes, life, argument);
}

int __wrap_open64(const char *path, int flags, ...) {
    va_list list;
    va_start(list, flags);
    int mode = flags & O_CREAT ? va_arg(list, int) : 0;
    va_end(list);
    return fails(CALL_OPEN) ? -1 : __real_open64(path, flags, mode);
}

static bool is_short(size_t size) {
    return error_number == CALLS_SHORT && size > 1;
}

ssize_t __wrap_read(int file, void *buffer, size_t size) {
    if (!comes_now(CALL_READ))
        return __real_read(file, buffer, size);
    if (is_short(size))
        return __real_read(file, buffer, 1);
    errno = error_number;
    return -1;
}

ssize_t __wrap_write(int file, const void *buffer, size_t size) {
    if (!comes_now(CALL_WRITE))
        return __real_write(file, buffer, size);
    if (is_short(size))
        return __real_write(file, buffer, 1);
    errno = error_number;
    return -1;
}

/* Linux closes all the same. */
int __wrap_close(int file) {
    int result = __real_close(file);
    return fails(CALL_CLOSE) ? -1 : result;
}

int __wrap_pipe2(int ends[2], int flags) {
    return fails(CALL_PIPE) ? -1 : __real_pipe2(ends, flags);
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *time) {
    return fails(CALL_CLOCK) ? -1 : __real_clock_gettime(clock, time);
}

int __wrap_rename(const char *from, const char *to) {
    return fails(CALL_RENAME) ? -1 : __real_rename(from, to);
}

int __wrap_fsync(int file) {
    return fails(CALL_SYNC) ? -1 : __real_fsync(file);
}

int __wrap_poll(struct pollfd *files, nfds_t n, int timeout) {
    return fails(CALL_POLL) ? -1 : __real_poll(files, n, timeout);
}

DIR *__wrap_opendir(const char *path) {
    return fails(CALL_FOLDER) ? NULL : __real_opendir(path);
}
