/* SPDX-License-Identifier: BSD-3-Clause */
/* Where this process's control groups are: /proc/self/cgroup tells their paths inside hierarchies,
 * and the mounts tell where those can be seen. */
#include "experiment/cgroup.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "experiment/files.h"

#define LEVELS 64 /* deeper ones are left out */

/* ---- pieces of lines ---- */

/* Whether `word` is in a list parted by commas. */
static bool lists(lbi_line list, const char *word) {
    while (list.begin <= list.end) {
        const char *comma = memchr(list.begin, ',', (size_t)(list.end - list.begin));
        lbi_line item = {list.begin, comma == NULL ? list.end : comma};
        if (lbi_word_is(item, word))
            return true;
        list.begin = item.end + 1;
    }
    return false;
}

/* A copy in which the octal escapes of mount tables (\040 is a space) are undone; NULL: no memory.
 */
static char *unescape(lbi_line word) {
    char *copy = lbi_array_new((size_t)(word.end - word.begin) + 1, 1), *to = copy;
    if (copy == NULL)
        return NULL;
    for (const char *from = word.begin; from < word.end;) {
        bool octal = *from == '\\' && word.end - from > 3;
        for (int i = 1; i <= 3 && octal; i++)
            octal = from[i] >= '0' && from[i] <= '7';
        if (octal) {
            *to++ = (char)((from[1] - '0') * 64 + (from[2] - '0') * 8 + (from[3] - '0'));
            from += 4;
        } else {
            *to++ = *from++;
        }
    }
    *to = '\0';
    return copy;
}

/* ---- mounts ---- */

typedef struct mount {
    char *root, *point; /* what of the hierarchy is mounted, and where */
} mount;

static void mount_free(mount *m) {
    free(m->root);
    free(m->point);
    *m = (mount){0};
}

/* "36 35 0:28 ROOT POINT options [tags] - TYPE source SUPER", or "source POINT TYPE SUPER 0 0". */
static bool split_mount(lbi_line line, bool info, lbi_line *ret_root, lbi_line *ret_point,
                        lbi_line *ret_type, lbi_line *ret_super) {
    static const char slash[] = "/";
    lbi_line word;
    *ret_root = (lbi_line){slash, slash + 1};
    for (int i = 0; i < (info ? 3 : 1); i++)
        if (!lbi_next_word(&line, &word))
            return false;
    if ((info && !lbi_next_word(&line, ret_root)) || !lbi_next_word(&line, ret_point))
        return false;
    while (info && lbi_next_word(&line, &word))
        if (lbi_word_is(word, "-"))
            break;
    return lbi_next_word(&line, ret_type) && (!info || lbi_next_word(&line, &word)) &&
           lbi_next_word(&line, ret_super);
}

/* Whether `path` is `root` or below it. */
static bool is_below(const char *path, const char *root) {
    size_t length = strlen(root);
    if (length > 0 && root[length - 1] == '/')
        length--;
    return strncmp(path, root, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

/* The mount of a hierarchy that shows most of the way to `path`: one whose root is above it, the
 * nearest to the top. False: no memory; ret_mount->point is NULL where there is none. */
static bool find_mount(const char *mounts, bool info, const char *controller, bool second,
                       const char *path, mount *ret_mount) {
    lbi_line line, root, point, type, super;
    *ret_mount = (mount){0};
    while (mounts != NULL && lbi_next_line(&mounts, &line)) {
        if (!split_mount(line, info, &root, &point, &type, &super) ||
            !lbi_word_is(type, second ? "cgroup2" : "cgroup") ||
            (!second && !lists(super, controller)))
            continue;
        mount found = {.root = unescape(root), .point = unescape(point)};
        if (found.root == NULL || found.point == NULL) {
            mount_free(&found);
            mount_free(ret_mount);
            return false;
        }
        bool better =
            ret_mount->point == NULL ||
            (is_below(path, found.root) &&
             (!is_below(path, ret_mount->root) || strlen(found.root) < strlen(ret_mount->root)));
        mount_free(better ? ret_mount : &found);
        if (better)
            *ret_mount = found;
    }
    return true;
}

/* ---- levels ---- */

static bool add(lbi_cgroups *groups, const mount *m, const char *path, size_t length, bool second) {
    lbi_text folder = {0};
    lbi_text_string(&folder, m->point);
    lbi_text_append(&folder, path, length);
    char *copy = lbi_text_take(&folder, NULL);
    if (copy == NULL || !lbi_array_reserve(&groups->list, &groups->capacity, groups->count + 1,
                                           sizeof *groups->list)) {
        free(copy);
        return false;
    }
    groups->list[groups->count++] =
        (lbi_cgroup){copy, second, length == 0 && strcmp(m->root, "/") == 0};
    return true;
}

/* Adds the folders of `path` from itself up to the mount's. */
static bool add_levels(lbi_cgroups *groups, const mount *m, const char *path, bool second) {
    /* In another namespace of groups than the mount's there is no telling. */
    const char *inside = "";
    if (is_below(path, m->root) && strstr(path, "/..") == NULL)
        inside = path + strlen(m->root) - (m->root[strlen(m->root) - 1] == '/' ? 1 : 0);
    size_t length = strlen(inside);
    while (length > 0 && inside[length - 1] == '/')
        length--;
    for (int level = 0; level < LEVELS; level++) {
        if (!add(groups, m, inside, length, second))
            return false;
        if (length == 0)
            return true;
        while (length > 0 && inside[length - 1] != '/')
            length--;
        while (length > 0 && inside[length - 1] == '/')
            length--;
    }
    return true;
}

/* A line of /proc/self/cgroup: "4:cpu,cpuacct:/a/b", of version 2 "0::/a/b". */
static bool add_hierarchy(lbi_cgroups *groups, lbi_line line, const char *controller,
                          const char *mounts, bool info) {
    const char *first = memchr(line.begin, ':', (size_t)(line.end - line.begin));
    if (first == NULL)
        return true;
    const char *then = memchr(first + 1, ':', (size_t)(line.end - first - 1));
    lbi_line controllers = {first + 1, then};
    if (then == NULL || then[1] != '/')
        return true;
    bool second = first + 1 == then;
    if (!second && !lists(controllers, controller))
        return true;
    char *path = lbi_array_new((size_t)(line.end - then), 1);
    if (path == NULL)
        return false;
    memcpy(path, then + 1, (size_t)(line.end - then - 1));
    path[line.end - then - 1] = '\0';
    mount m;
    bool ok = find_mount(mounts, info, controller, second, path, &m);
    if (ok && m.point != NULL)
        ok = add_levels(groups, &m, path, second);
    mount_free(&m);
    free(path);
    return ok;
}

bool lbi_cgroups_open(const char *root, const char *controller, lbi_cgroups *groups) {
    *groups = (lbi_cgroups){0};
    char *own, *mounts = NULL;
    bool ok = lbi_read(root, &own, "/proc/self/cgroup") &&
              lbi_read(root, &mounts, "/proc/self/mountinfo"),
         info = mounts != NULL;
    if (ok && !info)
        ok = lbi_read(root, &mounts, "/proc/mounts");
    const char *at = own;
    lbi_line line;
    while (ok && at != NULL && lbi_next_line(&at, &line))
        ok = add_hierarchy(groups, line, controller, mounts, info);
    free(mounts);
    free(own);
    return ok;
}

void lbi_cgroups_free(lbi_cgroups *groups) {
    for (size_t i = 0; i < groups->count; i++)
        free(groups->list[i].folder);
    free(groups->list);
    *groups = (lbi_cgroups){0};
}

bool lbi_cgroups_are_root(const char *root, const lbi_cgroups *groups) {
    for (size_t i = 0; i < groups->count; i++) {
        const lbi_cgroup *group = &groups->list[i];
        /* Version 2 has the file in every group with the controller but the system's root. */
        if (group->second ? lbi_file_exists(root, "%s/cpu.max", group->folder) : !group->top)
            return false;
    }
    return true;
}
