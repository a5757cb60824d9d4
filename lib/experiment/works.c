/* SPDX-License-Identifier: BSD-3-Clause */
#include "experiment/works.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

void *lbi_work_memory(size_t bytes) {
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

bool lbi_work_write(const char *name, const char *bytes, size_t n) {
    int file = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0)
        return false;
    size_t at = 0;
    ssize_t wrote = 1;
    while (at < n && (wrote = write(file, bytes + at, n - at)) > 0)
        at += (size_t)wrote;
    return close(file) == 0 && at == n;
}

bool lbi_work_read(const char *name, char *bytes, size_t n) {
    int file = open(name, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    size_t at = 0;
    ssize_t got = 1;
    while (at < n && (got = read(file, bytes + at, n - at)) > 0)
        at += (size_t)got;
    if (got == 0)
        errno = EIO;
    close(file);
    return at == n;
}
