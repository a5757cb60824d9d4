/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <hwloc.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness.h"

static lb_host *open_host(const char *xml, const char *synthetic) {
    lb_host_options options;
    lb_host_options_init(&options, sizeof options);
    options.topology_xml = xml;
    options.synthetic = synthetic;
    lb_host *host = NULL;
    lb_error err;
    ASSERT_OK(lb_host_open(&options, &host, &err), err);
    return host;
}

START_TEST(this_machine) {
    lb_host *host = NULL;
    lb_error err;
    ASSERT_OK(lb_host_open(NULL, &host, &err), err);
    cpu_set_t allowed;
    ck_assert_int_eq(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    ck_assert_int_eq(lb_host_cores(host), CPU_COUNT(&allowed));
    ck_assert_uint_ge(lb_host_physical_cores(host), 1);
    ck_assert_uint_le(lb_host_physical_cores(host), lb_host_cores(host));
    for (uint32_t core = 0; core < lb_host_cores(host); core++) {
        ck_assert(CPU_ISSET(lb_host_cpu(host, core), &allowed));
        ck_assert(core == 0 || lb_host_cpu(host, core) > lb_host_cpu(host, core - 1));
    }
    ck_assert_uint_eq(lb_host_cpu(host, lb_host_cores(host)), UINT32_MAX);
    ck_assert_ptr_nonnull(strstr(lb_host_description(host), "core"));
    lb_host_free(host);
    lb_host_free(NULL);
}
END_TEST

/* The affinity of the thread that opens the host counts, by the system's numbers. */
START_TEST(affinity) {
    cpu_set_t before, one;
    ck_assert_int_eq(sched_getaffinity(0, sizeof before, &before), 0);
    int last = -1;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &before))
            last = cpu;
    CPU_ZERO(&one);
    CPU_SET(last, &one);
    ck_assert_int_eq(sched_setaffinity(0, sizeof one, &one), 0);
    lb_host *host = open_host(NULL, NULL);
    ck_assert_uint_eq(lb_host_cores(host), 1);
    ck_assert_uint_eq(lb_host_physical_cores(host), 1);
    ck_assert_uint_eq(lb_host_cpu(host, 0), (uint32_t)last);
    lb_trace *trace = NULL;
    lb_error err;
    ASSERT_REFUSED(lb_experiment_run(host, LB_EXPERIMENT_DETECT, NULL, &trace, &err),
                   LB_ERR_UNSUPPORTED, "only one core", err);
    /* So does that of the thread that lets the library open it. */
    ASSERT_REFUSED(lb_experiment_run(NULL, LB_EXPERIMENT_DETECT, NULL, &trace, &err),
                   LB_ERR_UNSUPPORTED, "only one core", err);
    lb_host_free(host);
    ck_assert_int_eq(sched_setaffinity(0, sizeof before, &before), 0);
}
END_TEST

static bool write_text(const char *path, const char *text) {
    int file = open(path, O_WRONLY);
    bool ok = file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text);
    if (file >= 0)
        close(file);
    return ok;
}

/* A cpuset of one CPU, where this may be made (cgroup v1, root). */
START_TEST(cpuset) {
    char folder[128], path[160], text[32];
    snprintf(folder, sizeof folder, "/sys/fs/cgroup/cpuset/lbsched-check-%ld", (long)getpid());
    if (mkdir(folder, 0755) != 0) {
        printf("skipped: no cpuset of cgroup v1 can be made: %s\n", strerror(errno));
        return;
    }
    lb_host *host = open_host(NULL, NULL);
    uint32_t cpu = lb_host_cpu(host, lb_host_cores(host) - 1);
    lb_host_free(host);
    snprintf(path, sizeof path, "%s/cpuset.mems", folder);
    bool ok = write_text(path, "0");
    snprintf(path, sizeof path, "%s/cpuset.cpus", folder);
    snprintf(text, sizeof text, "%u", (unsigned)cpu);
    ok = ok && write_text(path, text);
    snprintf(path, sizeof path, "%s/tasks", folder);
    snprintf(text, sizeof text, "%ld", (long)getpid());
    ok = ok && write_text(path, text);
    uint32_t cores = 0, only = UINT32_MAX;
    if (ok) {
        host = open_host(NULL, NULL);
        cores = lb_host_cores(host);
        only = lb_host_cpu(host, 0);
        lb_host_free(host);
        write_text("/sys/fs/cgroup/cpuset/tasks", text);
    }
    ck_assert_int_eq(rmdir(folder), 0);
    if (!ok) {
        printf("skipped: a cpuset of cgroup v1 cannot be used\n");
        return;
    }
    ck_assert_uint_eq(cores, 1);
    ck_assert_uint_eq(only, cpu);
}
END_TEST

START_TEST(synthetic) {
    lb_host *host = open_host(NULL, "package:2 core:4 pu:2");
    ck_assert_uint_eq(lb_host_cores(host), 16);
    ck_assert_uint_eq(lb_host_physical_cores(host), 8);
    ck_assert_uint_eq(lb_host_cpu(host, 15), 15);
    ck_assert_ptr_nonnull(strstr(lb_host_description(host), "16 cores (8 physical)"));
    lb_trace *trace = NULL;
    lb_error err;
    ASSERT_REFUSED(lb_experiment_run(host, LB_EXPERIMENT_DETECT, NULL, &trace, &err),
                   LB_ERR_UNSUPPORTED, "description", err);
    lb_host_free(host);
    host = open_host(NULL, "package:64 core:64 pu:2");
    ck_assert_uint_eq(lb_host_cores(host), 8192);
    ck_assert_uint_eq(lb_host_physical_cores(host), 4096);
    lb_host_free(host);
    host = open_host(NULL, "core:1 pu:1");
    ck_assert_ptr_nonnull(strstr(lb_host_description(host), "1 core (1 physical)"));
    lb_host_free(host);
}
END_TEST

/* Writes the topology of which only the CPUs of `list` may be used. */
static void write_xml(const char *path, const char *synthetic_, const char *list) {
    hwloc_topology_t topology;
    hwloc_bitmap_t allowed = hwloc_bitmap_alloc();
    ck_assert_int_eq(hwloc_bitmap_list_sscanf(allowed, list), 0);
    ck_assert_int_eq(hwloc_topology_init(&topology), 0);
    ck_assert_int_eq(hwloc_topology_set_synthetic(topology, synthetic_), 0);
    hwloc_topology_set_flags(topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
    ck_assert_int_eq(hwloc_topology_load(topology), 0);
    ck_assert_int_eq(hwloc_topology_allow(topology, allowed, NULL, HWLOC_ALLOW_FLAG_CUSTOM), 0);
    ck_assert_int_eq(hwloc_topology_export_xml(topology, path, 0), 0);
    hwloc_topology_destroy(topology);
    hwloc_bitmap_free(allowed);
}

static void temporary(char path[32]) {
    strcpy(path, "/tmp/lbsched-check-XXXXXX");
    int file = mkstemp(path);
    ck_assert_int_ge(file, 0);
    close(file);
}

/* Sparse numbers: the CPUs 3, 8, 9 and 15 of 16, on three physical cores. */
START_TEST(xml) {
    char path[32];
    temporary(path);
    write_xml(path, "package:2 core:4 pu:2", "3,8-9,15");
    lb_host *host = open_host(path, NULL);
    ck_assert_uint_eq(lb_host_cores(host), 4);
    ck_assert_uint_eq(lb_host_physical_cores(host), 3);
    static const uint32_t cpus[] = {3, 8, 9, 15};
    for (uint32_t core = 0; core < 4; core++)
        ck_assert_uint_eq(lb_host_cpu(host, core), cpus[core]);
    lb_host_free(host);
    unlink(path);
}
END_TEST

START_TEST(refused) {
    lb_host_options options;
    lb_host_options_init(&options, sizeof options);
    ck_assert_uint_eq(options.size, sizeof options);
    ck_assert_ptr_null(options.topology_xml);
    ck_assert_ptr_null(options.synthetic);
    ck_assert_ptr_null(options.root);
    lb_host *host = NULL;
    lb_error err;
    options.synthetic = "no such thing";
    ASSERT_REFUSED(lb_host_open(&options, &host, &err), LB_ERR_INVALID, "no such thing", err);
    options.topology_xml = "/nonexistent.xml";
    ASSERT_REFUSED(lb_host_open(&options, &host, &err), LB_ERR_INVALID, "one of them", err);
    options.synthetic = NULL;
    ASSERT_REFUSED(lb_host_open(&options, &host, &err), LB_ERR_IO, "/nonexistent.xml", err);
    ck_assert_int_eq(err.os_errno, ENOENT);
    options.root = "/nonexistent";
    options.topology_xml = NULL;
    ASSERT_REFUSED(lb_host_open(&options, &host, &err), LB_ERR_IO, "root \"/nonexistent\"", err);
    options.root = NULL;
    char path[32];
    temporary(path);
    options.topology_xml = path;
    static const char *const texts[] = {"", "<a>", "<?xml version=\"1.0\"?>\n<topology>\n", "0,1"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        ck_assert_int_eq(truncate(path, 0), 0);
        ck_assert(texts[i][0] == '\0' || write_text(path, texts[i]));
        ASSERT_REFUSED(lb_host_open(&options, &host, &err), LB_ERR_INVALID, path, err);
    }
    /* A machine of which no CPU may be used. */
    char text[8192];
    write_xml(path, "core:2 pu:1", "1");
    FILE *file = fopen(path, "r+");
    ck_assert_ptr_nonnull(file);
    size_t length = fread(text, 1, sizeof text - 1, file);
    text[length] = '\0';
    static const char allowed[] = " allowed_cpuset=\"0x0000000";
    char *digit = strstr(text, allowed);
    ck_assert_ptr_nonnull(digit);
    digit[sizeof allowed - 1] = '0';
    rewind(file);
    ck_assert_uint_eq(fwrite(text, 1, length, file), length);
    ck_assert_int_eq(fclose(file), 0);
    ASSERT_REFUSED(lb_host_open(&options, &host, &err), LB_ERR_UNSUPPORTED, "no core that may be",
                   err);
    unlink(path);
    options.size = 4;
    ASSERT_REFUSED(lb_host_open(&options, &host, &err), LB_ERR_INVALID, "lb_host_options.size",
                   err);
    ck_assert_ptr_null(host);
    ck_assert_int_eq(lb_host_open(&options, &host, NULL), LB_ERR_INVALID);
}
END_TEST

START_TEST(allocations) {
    lb_host_options options;
    lb_host_options_init(&options, sizeof options);
    options.synthetic = "package:2 core:4 pu:2";
    lb_status status;
    size_t count;
    for (int described = 0; described < 2; described++) {
        SWEEP_ALLOCATIONS(status, count, {
            lb_host *host = NULL;
            status = lb_host_open(described ? &options : NULL, &host, NULL);
            lb_host_free(host);
        });
        ck_assert_uint_ge(count, 3);
    }
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("host");
    ADD(s, "host", this_machine, affinity, cpuset, synthetic, xml, refused, allocations);
    return s;
}
