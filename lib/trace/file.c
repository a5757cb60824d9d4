/* SPDX-License-Identifier: BSD-3-Clause */
#include "trace/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/text.h"

static int open_file(const char *path, int flags) {
    int fd;
    do
        fd = open(path, flags | O_CLOEXEC, 0666);
    while (fd < 0 && errno == EINTR);
    return fd;
}

/* The line of the first zero byte, from 1; 0: there is none. Text has none, and devices without an
 * end have little else. */
static size_t zero_line(const char *data, size_t from, size_t length) {
    const char *zero = memchr(data + from, 0, length - from);
    if (zero == NULL)
        return 0;
    size_t line = 1;
    for (const char *at = data; at < zero; at++)
        line += *at == '\n';
    return line;
}

/* Reads to the end; 0, or the system's error number (ENOMEM: no memory for it). */
static int read_all(int fd, char **ret_data, size_t *ret_length, size_t *ret_zero_line) {
    struct stat status;
    char *data = NULL;
    size_t length = 0, capacity = 0, step = 65536;
    /* One byte more than it has, so that the end shows without growing. */
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0 &&
        (uintmax_t)status.st_size < SIZE_MAX)
        step = (size_t)status.st_size + 1;
    for (;;) {
        if (length == capacity) {
            if (length > SIZE_MAX - step ||
                !lbi_array_reserve(&data, &capacity, length + step, 1)) {
                free(data);
                return ENOMEM;
            }
            step = 65536;
        }
        size_t room = capacity - length;
        ssize_t got = read(fd, data + length, room < SSIZE_MAX ? room : SSIZE_MAX);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            int error = errno;
            free(data);
            return error;
        }
        if (got == 0)
            break;
        length += (size_t)got;
        *ret_zero_line = zero_line(data, length - (size_t)got, length);
        if (*ret_zero_line > 0) {
            free(data);
            return EILSEQ;
        }
    }
    *ret_data = data;
    *ret_length = length;
    return 0;
}

lb_status lbi_file_read(const char *path, char **ret_data, size_t *ret_length, lb_error *err) {
    int fd = open_file(path, O_RDONLY);
    if (fd < 0)
        return lbi_error_os(err, LB_ERR_IO, errno, "cannot open %s", path);
    size_t line = 0;
    int error = read_all(fd, ret_data, ret_length, &line);
    close(fd);
    if (line > 0)
        return lbi_error(err, LB_ERR_FORMAT, "line %zu: expected text, got a zero byte", line);
    if (error == ENOMEM)
        return lbi_error_nomem(err, path);
    if (error != 0)
        return lbi_error_os(err, LB_ERR_IO, error, "cannot read %s", path);
    return LB_OK;
}

static int write_all(int fd, const char *data, size_t length) {
    while (length > 0) {
        ssize_t written = write(fd, data, length < SSIZE_MAX ? length : SSIZE_MAX);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return errno;
        data += written;
        length -= (size_t)written;
    }
    return 0;
}

/* Linux has closed the descriptor when it says EINTR. */
static int close_file(int fd) {
    return close(fd) != 0 && errno != EINTR ? errno : 0;
}

/* What was there may go only when the new one is safe; some disks tell of their being full, or
 * broken, no earlier. */
static int sync_file(int fd) {
    int result;
    do
        result = fsync(fd);
    while (result != 0 && errno == EINTR);
    return result != 0 && errno != EINVAL ? errno : 0;
}

static int write_in_place(const char *path, const char *data, size_t length) {
    struct stat before;
    bool is_new = stat(path, &before) != 0 && errno == ENOENT;
    /* Not O_CREAT where it is there: Linux may refuse that for pipes of others (protected_fifos).
     */
    int fd = open_file(path, O_WRONLY | O_TRUNC | O_NOCTTY | (is_new ? O_CREAT : 0));
    if (fd < 0)
        return errno;
    int error = write_all(fd, data, length);
    int close_error = close_file(fd);
    if (error == 0)
        error = close_error;
    /* `path` may be a symbolic link, which must stay: what it leads to goes. */
    char target[PATH_MAX];
    if (error != 0 && is_new && realpath(path, target) != NULL)
        unlink(target);
    return error;
}

/* A new file in the directory of `path`, under a name of its own. O_EXCL follows no link that
 * somebody may have laid there. Returns the descriptor, or -1 with errno. */
static int create_beside(const char *path, char *name, size_t size) {
    const char *slash = strrchr(path, '/');
    int directory = slash == NULL ? 0 : (int)(slash + 1 - path);
    for (int attempt = 0; attempt < 1000; attempt++) {
        lbi_snprintf(name, size, "%.*s.lbsched-%ld-%d.tmp", directory, path, (long)getpid(),
                     attempt);
        int fd = open_file(name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW);
        if (fd >= 0 || errno != EEXIST)
            return fd;
    }
    return -1;
}

/* Makes the new file like the one that it shall replace. */
static bool take_after(int fd, const struct stat *old) {
    struct stat new;
    if (fstat(fd, &new) != 0)
        return false;
    if ((new.st_uid != old->st_uid || new.st_gid != old->st_gid) &&
        fchown(fd, old->st_uid, old->st_gid) != 0)
        return false;
    return fchmod(fd, old->st_mode & 0777) == 0;
}

/* Whether it could be done this way; then *ret_error is 0 or what failed. `old` is NULL where no
 * file was there. */
static bool write_beside(const char *path, const struct stat *old, const char *data, size_t length,
                         int *ret_error) {
    char name[PATH_MAX];
    if (strlen(path) > PATH_MAX - 64)
        return false;
    int fd = create_beside(path, name, sizeof name);
    if (fd < 0)
        return false;
    bool possible = old == NULL || take_after(fd, old);
    int error = 0;
    if (possible)
        error = write_all(fd, data, length);
    if (possible && error == 0)
        error = sync_file(fd);
    int close_error = close_file(fd);
    if (error == 0)
        error = close_error;
    if (possible && error == 0 && rename(name, path) != 0)
        error = errno;
    if (!possible || error != 0)
        unlink(name);
    *ret_error = error;
    return possible;
}

/* 0, or the system's error number. */
static int write_file(const char *path, const char *data, size_t length) {
    struct stat old;
    bool is_new = lstat(path, &old) != 0;
    if (is_new && errno != ENOENT)
        return errno;
    if (!is_new && S_ISREG(old.st_mode)) {
        /* Renaming asks for the directory's permission alone: ask for the file's too. */
        int fd = open_file(path, O_WRONLY);
        if (fd < 0)
            return errno;
        close(fd);
    }
    int error;
    if ((is_new || (S_ISREG(old.st_mode) && old.st_nlink == 1)) &&
        write_beside(path, is_new ? NULL : &old, data, length, &error))
        return error;
    return write_in_place(path, data, length);
}

lb_status lbi_file_write(const char *path, const char *data, size_t length, lb_error *err) {
    int error = write_file(path, data, length);
    if (error != 0)
        return lbi_error_os(err, LB_ERR_IO, error, "cannot write %s", path);
    return LB_OK;
}
