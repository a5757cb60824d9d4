/* SPDX-License-Identifier: BSD-3-Clause */
#include "experiment/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/text.h"

#define DEEPEST 32 /* folders within folders; what is deeper stays */

lb_status lbi_scratch_new(char **ret_path, lb_error *err) {
    const char *folder = getenv("TMPDIR");
    lbi_text text = {0};
    lbi_text_printf(&text, "%s/lbsched-XXXXXX",
                    folder == NULL || folder[0] != '/' ? "/tmp" : folder);
    char *path = lbi_text_take(&text, NULL);
    if (path == NULL)
        return lbi_error_nomem(err, "a temporary folder");
    if (mkdtemp(path) == NULL) {
        lb_status status = lbi_error_os(err, LB_ERR_IO, errno,
                                        "cannot make the temporary folder %s (TMPDIR)", path);
        free(path);
        return status;
    }
    *ret_path = path;
    return LB_OK;
}

/* As the kernel fills it in. */
typedef struct entry {
    uint64_t inode;
    int64_t offset;
    unsigned short length;
    unsigned char type;
    char name[];
} entry;

static bool is_self_or_parent(const char *name) {
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* opendir() would ask for memory, which is not safe in a child of a program with threads. */
static void empty(int folder, int depth) {
    _Alignas(8) char buffer[2048];
    long got;
    while ((got = syscall(SYS_getdents64, folder, buffer, sizeof buffer)) > 0)
        for (long at = 0; at < got;) {
            const entry *e = (const entry *)(buffer + at);
            at += e->length;
            if (is_self_or_parent(e->name) || unlinkat(folder, e->name, 0) == 0 || depth == DEEPEST)
                continue;
            int inner = openat(folder, e->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
            if (inner < 0 && errno == EACCES && fchmodat(folder, e->name, 0700, 0) == 0)
                inner = openat(folder, e->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
            if (inner < 0)
                continue;
            fchmod(inner, 0700);
            empty(inner, depth + 1);
            close(inner);
            unlinkat(folder, e->name, AT_REMOVEDIR);
        }
}

void lbi_scratch_remove(const char *path) {
    /* Again: on some file systems reading on after a removal misses names. */
    for (int i = 0; i < 3; i++) {
        int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (folder < 0)
            return;
        empty(folder, 0);
        close(folder);
        if (rmdir(path) == 0)
            return;
    }
}
