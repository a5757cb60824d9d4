/* SPDX-License-Identifier: BSD-3-Clause */
#include "tree.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char tree_root[32];

void tree_begin(void) {
    strcpy(tree_root, "/tmp/lbsched-tree-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(tree_root));
}

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *walk) {
    (void)about;
    (void)kind;
    (void)walk;
    return remove(path);
}

void tree_end(void) {
    ck_assert_int_eq(nftw(tree_root, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

void tree_put_bytes(const char *path, const char *bytes, size_t length) {
    char full[512];
    snprintf(full, sizeof full, "%s%s", tree_root, path);
    for (char *slash = full + strlen(tree_root) + 1; (slash = strchr(slash, '/')) != NULL;
         slash++) {
        *slash = '\0';
        ck_assert(mkdir(full, 0755) == 0 || errno == EEXIST);
        *slash = '/';
    }
    int file = open(full, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    ck_assert_msg(file >= 0, "%s: %s", full, strerror(errno));
    ck_assert_int_eq(write(file, bytes, length), (ssize_t)length);
    close(file);
}

void tree_put(const char *path, const char *text) {
    tree_put_bytes(path, text, strlen(text));
}

void unlink_file(const char *path) {
    char full[512];
    snprintf(full, sizeof full, "%s%s", tree_root, path);
    ck_assert_int_eq(unlink(full), 0);
}
