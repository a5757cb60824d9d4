/* SPDX-License-Identifier: BSD-3-Clause */
/* What a result must say of the system for it to be compared with another: kernel, class, cores,
 * the scheduler's settings, the file system and its I/O scheduler, what was found about the host.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>

#include "base/array.h"
#include "base/text.h"
#include "experiment/files.h"
#include "experiment/throughput.h"

/* Sets what is printed; an empty text is not set. */
LBI_PRINTF(4, 5)
static lb_status set(lb_table *table, lb_error *err, const char *key, const char *format, ...) {
    char buffer[1024];
    va_list arguments;
    va_start(arguments, format);
    lbi_vsnprintf(buffer, sizeof buffer, format, arguments);
    va_end(arguments);
    /* Others' words: printable, on one line. */
    for (char *at = buffer; *at != '\0'; at++)
        *at = *at >= ' ' && *at <= '~' ? *at : ' ';
    size_t length = strlen(buffer);
    while (length > 0 && buffer[length - 1] == ' ')
        buffer[--length] = '\0';
    return length == 0 ? LB_OK : lb_table_set_meta(table, key, buffer, err);
}

static lb_status set_kernel(lb_table *table, lb_error *err) {
    struct utsname name;
    if (uname(&name) != 0)
        return LB_OK;
    lb_status status = set(table, err, "kernel", "%s %s", name.sysname, name.release);
    if (status == LB_OK)
        status = set(table, err, "kernel_build", "%s %s", name.version, name.machine);
    return status;
}

static lb_status set_class(const char *prefix, const lbi_class *class_, lb_table *table,
                           lb_error *err) {
    char key[32];
    lbi_snprintf(key, sizeof key, "%sclass", prefix);
    if (class_->real_time)
        return set(table, err, key, "%s, priority %d", lbi_class_name(class_), class_->priority);
    return set(table, err, key, "%s, nice %d", lbi_class_name(class_), class_->nice);
}

static lb_status set_cores(const lb_condition *c, const lb_host *host, lb_table *table,
                           lb_error *err) {
    lbi_text text = {0};
    size_t n = c->cores == NULL ? host->cores : c->core_count;
    for (size_t i = 0; i < n; i++)
        lbi_text_printf(&text, "%s%u", i == 0 ? "" : " ",
                        (unsigned)host->cpus[c->cores == NULL ? i : c->cores[i]]);
    char *list = lbi_text_take(&text, NULL);
    if (list == NULL)
        return lbi_error_nomem(err, "the result's metadata");
    lb_status status = set(table, err, "cores", "%zu of %u", n, (unsigned)host->cores);
    if (status == LB_OK)
        status = set(table, err, "cpus", "%s", list);
    free(list);
    return status;
}

/* ---- settings ---- */

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void free_names(char **names, size_t n) {
    for (size_t i = 0; i < n; i++)
        free(names[i]);
    free(names);
}

/* The names in a folder that begin so, in order. False: no memory. */
static bool list_names(const char *path, const char *prefix, char ***ret_names, size_t *ret_n) {
    DIR *folder = opendir(path);
    const struct dirent *entry;
    char **names = NULL;
    size_t n = 0, capacity = 0;
    bool ok = true;
    while (ok && folder != NULL && (entry = readdir(folder)) != NULL) {
        if (strncmp(entry->d_name, prefix, strlen(prefix)) != 0 || entry->d_name[0] == '.')
            continue;
        ok = lbi_array_reserve(&names, &capacity, n + 1, sizeof *names) &&
             (names[n] = lbi_string_copy(entry->d_name)) != NULL;
        n += ok;
    }
    if (folder != NULL)
        closedir(folder);
    if (!ok) {
        free_names(names, n);
        return false;
    }
    if (n > 0)
        qsort(names, n, sizeof *names, by_name);
    *ret_names = names;
    *ret_n = n;
    return true;
}

/* Every file of a folder whose name begins so is a setting. */
static lb_status set_settings(const char *path, const char *prefix, lb_table *table,
                              lb_error *err) {
    char **names;
    size_t n;
    if (!list_names(path, prefix, &names, &n))
        return lbi_error_nomem(err, "the result's metadata");
    lb_status status = LB_OK;
    for (size_t i = 0; i < n && status == LB_OK; i++) {
        char text[512], key[160];
        if (!lbi_read_into("", text, sizeof text, "%s/%s", path, names[i]))
            continue;
        lbi_snprintf(key, sizeof key, "setting_%s%s", prefix[0] == '\0' ? "debug_" : "", names[i]);
        status = set(table, err, key, "%s", text);
    }
    free_names(names, n);
    return status;
}

static lb_status set_scheduler(lb_table *table, lb_error *err) {
    char text[256];
    lb_status status = set_settings("/proc/sys/kernel", "sched_", table, err);
    if (status == LB_OK)
        status = set_settings("/sys/kernel/debug/sched", "", table, err);
    if (status == LB_OK && lbi_read_into("", text, sizeof text, "/sys/kernel/sched_ext/root/ops"))
        status = set(table, err, "sched_ext", "%s", text);
    return status;
}

/* ---- files ---- */

/* "none [mq-deadline] kyber": the one in brackets. */
static void set_active(char *text) {
    char *open = strchr(text, '['), *close = open == NULL ? NULL : strchr(open, ']');
    if (close == NULL)
        return;
    *close = '\0';
    memmove(text, open + 1, strlen(open + 1) + 1);
}

static const char *file_system(const char *path) {
    static const struct {
        unsigned long magic;
        const char *name;
    } known[] = {{0x01021994, "tmpfs"}, {0xEF53, "ext"},           {0x58465342, "xfs"},
                 {0x9123683E, "btrfs"}, {0x794C7630, "overlayfs"}, {0x858458F6, "ramfs"},
                 {0x2FC12FC1, "zfs"},   {0xF2F52010, "f2fs"},      {0x6969, "nfs"}};
    struct statfs about;
    if (statfs(path, &about) != 0)
        return "unknown";
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if ((unsigned long)about.f_type == known[i].magic)
            return known[i].name;
    return "other";
}

static lb_status set_files(lb_table *table, lb_error *err) {
    const char *folder = getenv("TMPDIR");
    struct stat about;
    char text[256];
    if (folder == NULL || folder[0] != '/')
        folder = "/tmp";
    if (stat(folder, &about) != 0)
        return LB_OK;
    lb_status status = set(table, err, "file_system", "%s", file_system(folder));
    unsigned major_number = major(about.st_dev), minor_number = minor(about.st_dev);
    /* A partition's is its disk's. */
    if (status != LB_OK || major_number == 0 ||
        !(lbi_read_into("", text, sizeof text, "/sys/dev/block/%u:%u/queue/scheduler", major_number,
                        minor_number) ||
          lbi_read_into("", text, sizeof text, "/sys/dev/block/%u:%u/../queue/scheduler",
                        major_number, minor_number)))
        return status == LB_OK ? set(table, err, "io_scheduler", "none") : status;
    set_active(text);
    return set(table, err, "io_scheduler", "%s", text);
}

/* ---- all of it ---- */

static lb_status set_findings(const lb_host *host, lb_table *table, lb_error *err) {
    for (size_t i = 0; i < host->findings.count; i++) {
        char key[64];
        lbi_snprintf(key, sizeof key, "finding_host_%s",
                     lb_finding_name(host->findings.list[i].kind));
        lb_status status = lb_table_set_meta(table, key, host->findings.list[i].text, err);
        if (status != LB_OK)
            return status;
    }
    return LB_OK;
}

lb_status lbi_condition_describe(const lb_condition *c, const lb_host *host,
                                 const lbi_class *class_, const lbi_class *competitor_class,
                                 lb_table *table, lb_error *err) {
    lb_status status = set_kernel(table, err);
    if (status == LB_OK)
        status = set(table, err, "host", "%s", host->description);
    if (status == LB_OK)
        status = set_cores(c, host, table, err);
    if (status == LB_OK)
        status = set_class("", class_, table, err);
    if (status == LB_OK)
        status = set(table, err, "competitors", "%u", (unsigned)c->competitors);
    if (status == LB_OK && c->competitors > 0)
        status = set_class("competitor_", competitor_class, table, err);
    if (status == LB_OK)
        status = set_scheduler(table, err);
    if (status == LB_OK)
        status = set_files(table, err);
    if (status == LB_OK)
        status = set(table, err, "library", "lbsched %s", lb_version());
    if (status == LB_OK)
        status = set_findings(host, table, err);
    return status;
}
