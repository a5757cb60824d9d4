/* SPDX-License-Identifier: BSD-3-Clause */
/* Findings of hosts that are described: each test makes a tree of a machine's files. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <hwloc.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/random.h"
#include "harness.h"
#include "tree.h"

static lb_host *open_tree(const char *synthetic) {
    lb_host_options options;
    lb_host_options_init(&options, sizeof options);
    options.synthetic = synthetic;
    options.root = tree_root;
    lb_host *host = NULL;
    lb_error err;
    ASSERT_OK(lb_host_open(&options, &host, &err), err);
    return host;
}

static const char *finding(const lb_host *host, lb_finding_kind kind) {
    for (size_t i = 0; i < lb_host_finding_count(host); i++)
        if (lb_host_finding_kind(host, i) == kind)
            return lb_host_finding(host, i);
    return NULL;
}

/* A finding of that kind is there and holds the words. */
#define ASSERT_FINDING(host_, kind_, words_)                                                       \
    do {                                                                                           \
        const char *text_ = finding(host_, kind_);                                                 \
        ck_assert_msg(text_ != NULL, "no finding of kind %s", lb_finding_name(kind_));             \
        ck_assert_msg(strstr(text_, words_) != NULL, "\"%s\" lacks \"%s\"", text_, words_);        \
    } while (0)
#define ASSERT_NO_FINDING(host_, kind_)                                                            \
    do {                                                                                           \
        const char *text_ = finding(host_, kind_);                                                 \
        ck_assert_msg(text_ == NULL, "found: %s", text_);                                          \
    } while (0)

static void assert_quota(const char *synthetic, double quota, const char *words) {
    lb_host *host = open_tree(synthetic);
    if (isinf(quota))
        ck_assert(isinf(lb_host_quota(host)));
    else
        ck_assert_double_eq(lb_host_quota(host), quota);
    if (words == NULL)
        ASSERT_NO_FINDING(host, LB_FINDING_QUOTA);
    else
        ASSERT_FINDING(host, LB_FINDING_QUOTA, words);
    lb_host_free(host);
}

/* ---- quotas ---- */

static const char second_mount[] =
    "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
    "31 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";

START_TEST(quota_of_version_2) {
    tree_begin();
    tree_put("/proc/self/cgroup", "0::/user.slice/job.scope\n");
    tree_put("/proc/self/mountinfo", second_mount);
    assert_quota("pu:4", INFINITY, NULL);
    tree_put("/sys/fs/cgroup/user.slice/job.scope/cpu.max", "max 100000\n");
    tree_put("/sys/fs/cgroup/user.slice/cpu.max", "max 100000\n");
    assert_quota("pu:4", INFINITY, NULL);
    tree_put("/sys/fs/cgroup/user.slice/job.scope/cpu.max", "150000 100000\n");
    assert_quota("pu:4", 1.5, "/user.slice/job.scope allows 1.5 CPUs' worth of time to 4 cores");
    /* The least counts, an ancestor's too. */
    tree_put("/sys/fs/cgroup/user.slice/cpu.max", "25000 50000\n");
    assert_quota("pu:4", 0.5, "/sys/fs/cgroup/user.slice allows 0.5 CPUs");
    tree_put("/sys/fs/cgroup/user.slice/cpu.max", "200000 50000\n");
    assert_quota("pu:4", 1.5, "allows 1.5 CPUs");
    /* One that allows all the cores is known, and disturbs nobody. */
    tree_put("/sys/fs/cgroup/user.slice/job.scope/cpu.max", "400000 100000\n");
    assert_quota("pu:4", 4, NULL);
    tree_end();
}
END_TEST

/* In a namespace of groups, the container's own group is the root that it sees. */
START_TEST(quota_in_a_container) {
    tree_begin();
    tree_put("/proc/self/cgroup", "0::/\n");
    tree_put("/proc/self/mountinfo", second_mount);
    tree_put("/sys/fs/cgroup/cpu.max", "50000 100000\n");
    assert_quota("pu:2", 0.5, "the control group /sys/fs/cgroup allows 0.5");
    /* A group outside of what is mounted: what can be seen is the mount. */
    tree_put("/proc/self/cgroup", "0::/../other\n");
    assert_quota("pu:2", 0.5, "the control group /sys/fs/cgroup allows 0.5");
    /* Version 1 without a namespace: the path begins with what is mounted. */
    tree_put("/proc/self/cgroup", "5:cpuset:/docker/8a\n4:cpu,cpuacct:/docker/8a/b\n");
    tree_put(
        "/proc/self/mountinfo",
        "42 41 0:31 /docker/8a /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup rw,cpu,cpuacct\n");
    tree_put("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "120000\n");
    tree_put("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
    tree_put("/sys/fs/cgroup/cpu,cpuacct/b/cpu.cfs_quota_us", "-1\n");
    tree_put("/sys/fs/cgroup/cpu,cpuacct/b/cpu.cfs_period_us", "100000\n");
    assert_quota("pu:2", 1.2, "/sys/fs/cgroup/cpu,cpuacct allows 1.2 CPUs");
    tree_end();
}
END_TEST

START_TEST(quota_of_version_1) {
    tree_begin();
    tree_put("/proc/self/cgroup", "9:cpuset:/\n4:cpuacct,cpu:/a/b\n0::/\n");
    /* A space in the mount's path, and no mountinfo: systems of old. */
    tree_put("/proc/mounts", "cgroup /cgroups\\040of/cpu cgroup rw,cpuacct,cpu 0 0\n"
                             "cgroup /cgroups\\040of/cpuset cgroup rw,cpuset 0 0\n"
                             "none /cgroups\\040of/unified cgroup2 rw 0 0\n");
    tree_put("/cgroups of/cpu/a/b/cpu.cfs_quota_us", "-1\n");
    tree_put("/cgroups of/cpu/a/b/cpu.cfs_period_us", "100000\n");
    assert_quota("pu:2", INFINITY, NULL);
    tree_put("/cgroups of/cpu/a/b/cpu.cfs_quota_us", "150000\n");
    assert_quota("pu:2", 1.5, "the control group /cgroups of/cpu/a/b allows 1.5 CPUs");
    tree_put("/cgroups of/cpu/a/cpu.cfs_quota_us", "130000");
    tree_put("/cgroups of/cpu/a/cpu.cfs_period_us", "100000");
    assert_quota("pu:2", 1.3, "the control group /cgroups of/cpu/a allows 1.3 CPUs");
    tree_end();
}
END_TEST

START_TEST(quota_is_none) {
    static const char *const texts[] = {
        "",         "max",          "150000",     "-1 100000", "0 100000",
        "150000 0", "x 100000",     "1e5 100000", "150000 -5", "99999999999999999999999 100000",
        " \n",      "150000,100000"};
    tree_begin();
    tree_put("/proc/self/cgroup", "0::/a\n");
    tree_put("/proc/self/mountinfo", second_mount);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        tree_put("/sys/fs/cgroup/a/cpu.max", texts[i]);
        assert_quota("pu:4", INFINITY, NULL);
    }
    tree_put("/sys/fs/cgroup/a/cpu.max", "18446744073709551615 1");
    assert_quota("pu:4", 18446744073709551615.0, NULL);
    /* Lines of /proc/self/cgroup that lead nowhere. */
    static const char *const lines[] = {
        "", ":", "0:", "0::", "0::a\n", "::::::", "4:cpu\n:cpu:/", "0::/nowhere"};
    tree_put("/sys/fs/cgroup/a/cpu.max", "100000 100000");
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        tree_put("/proc/self/cgroup", lines[i]);
        assert_quota("pu:4", INFINITY, NULL);
    }
    /* Deeper than anybody goes. */
    char deep[3000] = "0::";
    for (int i = 0; i < 1000; i++)
        strcat(deep, "/a");
    tree_put("/proc/self/cgroup", deep);
    assert_quota("pu:4", INFINITY, NULL);
    tree_end();
}
END_TEST

/* ---- what else wants the cores ---- */

static void put_process(int id, const char *name, char state, int session) {
    char path[64], text[256];
    snprintf(path, sizeof path, "/proc/%d/stat", id);
    snprintf(text, sizeof text,
             "%d (%s) %c 1 %d %d 0 -1 4194304 90 0 0 0 7 5 3 2 20 0 1 0 8433 2232320 180", id, name,
             state, session, session);
    tree_put(path, text);
}

START_TEST(load) {
    tree_begin();
    tree_put("/proc/loadavg", "0.00 0.01 0.05 1/100 77\n");
    lb_host *host = open_tree("pu:2");
    ASSERT_NO_FINDING(host, LB_FINDING_LOAD);
    lb_host_free(host);
    tree_put("/proc/loadavg", "1.25 0.50 0.20 2/100 77\n");
    host = open_tree("pu:2");
    ASSERT_FINDING(host, LB_FINDING_LOAD, "1 other thread runs or waits for a core now");
    ASSERT_FINDING(host, LB_FINDING_LOAD, "1.25");
    lb_host_free(host);
    tree_put("/proc/loadavg", "64.1 0.50 0.20 65/100 77\n");
    host = open_tree("pu:2");
    ASSERT_FINDING(host, LB_FINDING_LOAD, "64 other threads run or wait");
    lb_host_free(host);
    static const char *const texts[] = {
        "", "1", "1 2 3", "1 2 3 4", "1 2 3 /", "a b c 3/4", "1 2 3 99999999999/1", "1 2 3 0/0"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        tree_put("/proc/loadavg", texts[i]);
        host = open_tree("pu:2");
        ASSERT_NO_FINDING(host, LB_FINDING_LOAD);
        lb_host_free(host);
    }
    tree_end();
}
END_TEST

START_TEST(autogroup) {
    tree_begin();
    lb_host *host = open_tree("pu:2");
    ASSERT_NO_FINDING(host, LB_FINDING_AUTOGROUP);
    lb_host_free(host);
    tree_put("/proc/sys/kernel/sched_autogroup_enabled", "0\n");
    host = open_tree("pu:2");
    ASSERT_NO_FINDING(host, LB_FINDING_AUTOGROUP);
    lb_host_free(host);
    tree_put("/proc/sys/kernel/sched_autogroup_enabled", "1\n");
    host = open_tree("pu:2");
    ASSERT_FINDING(host, LB_FINDING_AUTOGROUP, "count as one against each other session");
    ck_assert_ptr_null(strstr(finding(host, LB_FINDING_AUTOGROUP), "beside"));
    lb_host_free(host);
    /* One busy process in a session of its own leaves one of two cores, .. */
    tree_put("/proc/loadavg", "1.25 0.50 0.20 2/100 77\n");
    put_process(41, "idle (one)", 'S', 40);
    put_process(42, "busy ) R 1", 'R', 42);
    host = open_tree("pu:2");
    ASSERT_FINDING(host, LB_FINDING_AUTOGROUP,
                   "beside the 1 that runs in 1 other session now it leaves the workers 1 of 2 "
                   "cores");
    lb_host_free(host);
    /* .. on eight it cannot use more than one; of two sessions the larger gets no more than us. */
    for (int id = 50; id < 70; id++)
        put_process(id, "many", 'R', 50);
    tree_put("/proc/loadavg", "1.25 0.50 0.20 22/100 77\n");
    host = open_tree("pu:8");
    ASSERT_FINDING(host, LB_FINDING_AUTOGROUP,
                   "beside the 21 that run in 2 other sessions now it leaves the workers 3.5 of 8");
    lb_host_free(host);
    /* Where a control group shares, autogroup does not. */
    tree_put("/proc/self/cgroup", "0::/a\n");
    tree_put("/proc/self/mountinfo", second_mount);
    host = open_tree("pu:8");
    ASSERT_FINDING(host, LB_FINDING_AUTOGROUP, "autogroup is on");
    lb_host_free(host);
    tree_put("/sys/fs/cgroup/a/cpu.max", "max 100000\n");
    host = open_tree("pu:8");
    ASSERT_NO_FINDING(host, LB_FINDING_AUTOGROUP);
    lb_host_free(host);
    tree_put("/proc/self/cgroup", "4:cpu:/a\n");
    tree_put("/proc/self/mountinfo", "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n");
    host = open_tree("pu:8");
    ASSERT_NO_FINDING(host, LB_FINDING_AUTOGROUP);
    lb_host_free(host);
    tree_end();
}
END_TEST

START_TEST(steal) {
    tree_begin();
    tree_put("/proc/stat",
             "cpu  0 0 0 0 0 0 0 9999\ncpu0 500 0 300 100 50 10 10 30 0 0\n"
             "cpu1 500 0 300 100 50 10 10 30 0 0\ncpu2 0 0 0 0 0 0 0 9999\nintr 1 2\n");
    lb_host *host = open_tree("pu:2");
    ASSERT_FINDING(host, LB_FINDING_STEAL, "3 % was stolen");
    lb_host_free(host);
    /* Hardly any, and kernels that have no such column. */
    static const char *const texts[] = {"cpu0 500 0 300 100 50 10 10 3 0 0\n",
                                        "cpu0 500 0 300 100\ncpu1 1",
                                        "cpu0",
                                        "cpu\n",
                                        "",
                                        "cpu0 -1 x",
                                        "cpux 1 2 3 4 5 6 7 8\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        tree_put("/proc/stat", texts[i]);
        host = open_tree("pu:2");
        ASSERT_NO_FINDING(host, LB_FINDING_STEAL);
        lb_host_free(host);
    }
    tree_end();
}
END_TEST

/* ---- the cores ---- */

START_TEST(frequency) {
    tree_begin();
    tree_put("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n");
    tree_put("/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "performance\n");
    lb_host *host = open_tree("pu:2");
    ASSERT_NO_FINDING(host, LB_FINDING_FREQUENCY);
    lb_host_free(host);
    tree_put("/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "schedutil\n");
    host = open_tree("pu:2");
    ASSERT_FINDING(host, LB_FINDING_FREQUENCY, "governor is schedutil on 1 core:");
    lb_host_free(host);
    tree_put("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
    tree_put("/sys/devices/system/cpu/intel_pstate/no_turbo", "0\n");
    host = open_tree("pu:2");
    ASSERT_FINDING(host, LB_FINDING_FREQUENCY,
                   "powersave on 1 core, schedutil on 1 core, and turbo");
    lb_host_free(host);
    tree_put("/sys/devices/system/cpu/intel_pstate/no_turbo", "1\n");
    tree_put("/sys/devices/system/cpu/cpufreq/boost", "1\n");
    tree_put("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "\x01\xff\x1b[31m\n");
    host = open_tree("pu:2");
    ASSERT_FINDING(host, LB_FINDING_FREQUENCY,
                   "??"
                   "?[31m on 1 core");
    ck_assert_ptr_null(strstr(finding(host, LB_FINDING_FREQUENCY), "turbo"));
    lb_host_free(host);
    /* More names than are told apart. */
    for (int cpu = 0; cpu < 8; cpu++) {
        char path[128], name[16];
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_governor", cpu);
        snprintf(name, sizeof name, "g%d", cpu);
        tree_put(path, name);
    }
    host = open_tree("pu:8");
    ASSERT_FINDING(host, LB_FINDING_FREQUENCY, "g2 on 1 core");
    lb_host_free(host);
    tree_end();
}
END_TEST

START_TEST(siblings) {
    tree_begin();
    lb_host *host = open_tree("package:2 core:4 pu:2");
    ASSERT_FINDING(host, LB_FINDING_SMT, "the 16 cores are hyperthreads of 8 physical ones");
    lb_host_free(host);
    host = open_tree("package:2 core:4 pu:1");
    ck_assert_uint_eq(lb_host_finding_count(host), 0);
    ck_assert_ptr_null(lb_host_finding(host, 0));
    ck_assert_int_eq(lb_host_finding_kind(host, 0), LB_FINDING_NONE);
    lb_host_free(host);
    tree_end();
}
END_TEST

static void write_xml(const char *path, const char *synthetic, const char *allowed,
                      const char *fast) {
    hwloc_topology_t topology;
    hwloc_bitmap_t set = hwloc_bitmap_alloc();
    ck_assert_int_eq(hwloc_topology_init(&topology), 0);
    ck_assert_int_eq(hwloc_topology_set_synthetic(topology, synthetic), 0);
    hwloc_topology_set_flags(topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
    ck_assert_int_eq(hwloc_topology_load(topology), 0);
    if (allowed != NULL) {
        ck_assert_int_eq(hwloc_bitmap_list_sscanf(set, allowed), 0);
        ck_assert_int_eq(hwloc_topology_allow(topology, set, NULL, HWLOC_ALLOW_FLAG_CUSTOM), 0);
    }
    if (fast != NULL) {
        ck_assert_int_eq(hwloc_bitmap_list_sscanf(set, fast), 0);
        ck_assert_int_eq(hwloc_cpukinds_register(topology, set, 2, 0, NULL, 0), 0);
        hwloc_bitmap_andnot(set, hwloc_topology_get_topology_cpuset(topology), set);
        ck_assert_int_eq(hwloc_cpukinds_register(topology, set, 1, 0, NULL, 0), 0);
    }
    ck_assert_int_eq(hwloc_topology_export_xml(topology, path, 0), 0);
    hwloc_topology_destroy(topology);
    hwloc_bitmap_free(set);
}

static lb_host *open_xml(bool with_root, const char *synthetic, const char *allowed,
                         const char *fast) {
    char path[64];
    snprintf(path, sizeof path, "%s/topology.xml", tree_root);
    write_xml(path, synthetic, allowed, fast);
    lb_host_options options;
    lb_host_options_init(&options, sizeof options);
    options.topology_xml = path;
    options.root = with_root ? tree_root : NULL;
    lb_host *host = NULL;
    lb_error err;
    ASSERT_OK(lb_host_open(&options, &host, &err), err);
    return host;
}

START_TEST(core_kinds) {
    tree_begin();
    lb_host *host = open_xml(false, "core:8 pu:1", NULL, "0-1");
    ASSERT_FINDING(host, LB_FINDING_CORE_KINDS, "(6: CPUs 2-7; 2: CPUs 0-1)");
    lb_host_free(host);
    /* Of one kind, as far as they may be used. */
    host = open_xml(false, "core:8 pu:1", "2-5", "0-1");
    ASSERT_NO_FINDING(host, LB_FINDING_CORE_KINDS);
    lb_host_free(host);
    tree_end();
}
END_TEST

START_TEST(isolated) {
    tree_begin();
    tree_put("/sys/devices/system/cpu/online", "0-7\n");
    tree_put("/sys/devices/system/cpu/isolated", "\n");
    lb_host *host = open_tree("pu:8");
    ck_assert_uint_eq(lb_host_finding_count(host), 0);
    lb_host_free(host);
    tree_put("/sys/devices/system/cpu/isolated", "2-3,7\n");
    host = open_tree("pu:8");
    ASSERT_FINDING(host, LB_FINDING_ISOLATED, "isolates CPUs 2-3,7 among the cores");
    ASSERT_NO_FINDING(host, LB_FINDING_PARTIAL_DOMAIN);
    lb_host_free(host);
    /* Those that are not used anyway leave the others whole. */
    host = open_xml(true, "pu:8", "0-1,4-6", NULL);
    ASSERT_NO_FINDING(host, LB_FINDING_ISOLATED);
    ASSERT_NO_FINDING(host, LB_FINDING_PARTIAL_DOMAIN);
    lb_host_free(host);
    static const char *const texts[] = {
        "0-", "-1", "a", "3-2", "0-4294967295", "0,,1", ",", "1 2", "0-99999999999999999999"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        tree_put("/sys/devices/system/cpu/isolated", texts[i]);
        host = open_tree("pu:8");
        ASSERT_NO_FINDING(host, LB_FINDING_ISOLATED);
        lb_host_free(host);
    }
    tree_end();
}
END_TEST

START_TEST(domains) {
    tree_begin();
    tree_put("/sys/devices/system/cpu/online", "0-15\n");
    lb_host *host = open_xml(true, "pu:16", "0-3", NULL);
    ASSERT_FINDING(host, LB_FINDING_PARTIAL_DOMAIN, "it counts CPUs 4-15 too");
    lb_host_free(host);
    /* Without files the topology tells. */
    host = open_xml(false, "pu:16", "0-3", NULL);
    ASSERT_FINDING(host, LB_FINDING_PARTIAL_DOMAIN, "it counts CPUs 4-15 too");
    lb_host_free(host);
    /* A partition of version 2 is a domain of its own, .. */
    tree_put("/proc/self/cgroup", "0::/part/job\n");
    tree_put("/proc/self/mountinfo", second_mount);
    tree_put("/sys/fs/cgroup/part/job/cpuset.cpus.partition", "member\n");
    tree_put("/sys/fs/cgroup/part/cpuset.cpus.partition", "root\n");
    tree_put("/sys/fs/cgroup/part/cpuset.cpus.effective", "0-3\n");
    host = open_xml(true, "pu:16", "0-3", NULL);
    ck_assert_uint_eq(lb_host_finding_count(host), 0);
    lb_host_free(host);
    /* .. of which a mask may again be a part; an invalid one is none. */
    host = open_xml(true, "pu:16", "0-1", NULL);
    ASSERT_FINDING(host, LB_FINDING_PARTIAL_DOMAIN, "it counts CPUs 2-3 too");
    lb_host_free(host);
    tree_put("/sys/fs/cgroup/part/cpuset.cpus.partition",
             "root invalid (Parent is not a partition)\n");
    host = open_xml(true, "pu:16", "0-3", NULL);
    ASSERT_FINDING(host, LB_FINDING_PARTIAL_DOMAIN, "it counts CPUs 4-15 too");
    lb_host_free(host);
    /* Nobody is balanced in an isolated one. */
    tree_put("/sys/fs/cgroup/part/cpuset.cpus.partition", "isolated\n");
    host = open_xml(true, "pu:16", "0-3", NULL);
    ASSERT_FINDING(host, LB_FINDING_UNBALANCED, "off in the control group /sys/fs/cgroup/part");
    lb_host_free(host);
    tree_end();
}
END_TEST

START_TEST(domains_of_version_1) {
    tree_begin();
    tree_put("/sys/devices/system/cpu/online", "0-15\n");
    tree_put("/proc/self/cgroup", "3:cpuset:/a/b\n");
    tree_put("/proc/self/mountinfo", "34 31 0:31 / /cpuset rw - cgroup cgroup rw,cpuset\n");
    tree_put("/cpuset/cpuset.sched_load_balance", "1\n");
    tree_put("/cpuset/cpuset.cpus", "0-15\n");
    tree_put("/cpuset/a/cpuset.sched_load_balance", "0\n");
    tree_put("/cpuset/a/b/cpuset.sched_load_balance", "1\n");
    tree_put("/cpuset/a/b/cpuset.cpus", "0-3\n");
    /* Balanced at the tree_root, all are. */
    lb_host *host = open_xml(true, "pu:16", "0-3", NULL);
    ASSERT_FINDING(host, LB_FINDING_PARTIAL_DOMAIN, "it counts CPUs 4-15 too");
    lb_host_free(host);
    tree_put("/cpuset/cpuset.sched_load_balance", "0\n");
    host = open_xml(true, "pu:16", "0-3", NULL);
    ck_assert_uint_eq(lb_host_finding_count(host), 0);
    lb_host_free(host);
    tree_put("/cpuset/a/b/cpuset.sched_load_balance", "0\n");
    host = open_xml(true, "pu:16", "0-3", NULL);
    ASSERT_FINDING(host, LB_FINDING_UNBALANCED, "off in the control group /cpuset/a/b:");
    lb_host_free(host);
    tree_end();
}
END_TEST

START_TEST(offline) {
    tree_begin();
    tree_put("/sys/devices/system/cpu/present", "0-7\n");
    tree_put("/sys/devices/system/cpu/online", "0,2-5\n");
    tree_put("/sys/devices/system/cpu/offline", "1,6-255\n");
    lb_host *host = open_xml(true, "pu:8", "0,2-5", NULL);
    ASSERT_FINDING(host, LB_FINDING_OFFLINE, "CPUs 1,6-7 are there but offline");
    ASSERT_FINDING(host, LB_FINDING_SPARSE, "(CPUs 0,2-5)");
    ASSERT_NO_FINDING(host, LB_FINDING_PARTIAL_DOMAIN);
    lb_host_free(host);
    tree_end();
    /* Kernels of old have a file for each CPU only. */
    tree_begin();
    tree_put("/sys/devices/system/cpu/cpu0/online", "1\n");
    tree_put("/sys/devices/system/cpu/cpu3/online", "0\n");
    host = open_xml(true, "pu:4", "0-2", NULL);
    ASSERT_FINDING(host, LB_FINDING_OFFLINE, "CPUs 3 are there but offline");
    ASSERT_NO_FINDING(host, LB_FINDING_PARTIAL_DOMAIN);
    lb_host_free(host);
    tree_end();
}
END_TEST

START_TEST(numbers) {
    tree_begin();
    lb_host *host = open_xml(false, "package:2 core:4 pu:2", "0,2,4,6,8,10,12,14", NULL);
    ASSERT_FINDING(host, LB_FINDING_SPARSE, "gaps (CPUs 0,2,4,6,8,10,12,14)");
    ASSERT_NO_FINDING(host, LB_FINDING_MANY_CPUS);
    lb_host_free(host);
    host = open_xml(false, "pu:24", "0,2,4,6,8,10,12,14,16-20", NULL);
    ASSERT_FINDING(host, LB_FINDING_SPARSE, "gaps (CPUs 0,2,4,6,8,10,12,14,..)");
    lb_host_free(host);
    host = open_tree("pu:1025");
    ASSERT_FINDING(host, LB_FINDING_MANY_CPUS, "go up to 1024");
    ck_assert_uint_eq(lb_host_cpu(host, 1024), 1024);
    ASSERT_NO_FINDING(host, LB_FINDING_SPARSE);
    lb_host_free(host);
    host = open_tree("pu:1024");
    ASSERT_NO_FINDING(host, LB_FINDING_MANY_CPUS);
    lb_host_free(host);
    tree_end();
}
END_TEST

START_TEST(real_time) {
    tree_begin();
    tree_put("/proc/sys/kernel/sched_rt_period_us", "1000000\n");
    tree_put("/proc/sys/kernel/sched_rt_runtime_us", "950000\n");
    lb_host *host = open_tree("pu:2");
    ASSERT_FINDING(host, LB_FINDING_REAL_TIME, "get 95 % of a core at most");
    ASSERT_FINDING(host, LB_FINDING_REAL_TIME, "5.26 % longer");
    lb_host_free(host);
    tree_put("/proc/sys/kernel/sched_rt_runtime_us", "0\n");
    host = open_tree("pu:2");
    ASSERT_FINDING(host, LB_FINDING_REAL_TIME, "get 0 % of a core at most");
    lb_host_free(host);
    static const char *const texts[] = {"-1\n", "1000000\n", "", "many"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        tree_put("/proc/sys/kernel/sched_rt_runtime_us", texts[i]);
        host = open_tree("pu:2");
        ASSERT_NO_FINDING(host, LB_FINDING_REAL_TIME);
        lb_host_free(host);
    }
    tree_end();
}
END_TEST

/* ---- everything at once ---- */

static const struct {
    const char *path, *text;
} files[] = {
    {"/proc/self/cgroup", "4:cpu,cpuacct:/a\n3:cpuset:/a\n0::/a/b\n"},
    {"/proc/self/mountinfo", "31 23 0:26 / /two rw,nosuid shared:4 - cgroup2 cgroup2 rw\n"
                             "32 23 0:27 / /one\\040cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
                             "33 23 0:28 / /one\\040set rw - cgroup cgroup rw,cpuset\n"},
    {"/two/a/b/cpu.max", "150000 100000\n"},
    {"/two/a/b/cpuset.cpus.partition", "root\n"},
    {"/two/a/b/cpuset.cpus.effective", "0-9\n"},
    {"/one cpu/a/cpu.cfs_quota_us", "170000\n"},
    {"/one cpu/a/cpu.cfs_period_us", "100000\n"},
    {"/one set/a/cpuset.sched_load_balance", "1\n"},
    {"/one set/a/cpuset.effective_cpus", "0-11\n"},
    {"/proc/loadavg", "4.20 3.10 2.00 5/321 4711\n"},
    {"/proc/stat", "cpu  1 2 3 4\ncpu0 500 0 300 100 50 10 10 300 0 0\n"},
    {"/proc/sys/kernel/sched_autogroup_enabled", "1\n"},
    {"/proc/sys/kernel/sched_rt_period_us", "1000000\n"},
    {"/proc/sys/kernel/sched_rt_runtime_us", "950000\n"},
    {"/proc/12/stat", "12 (busy) R 1 12 12 0 -1 4194304 90 0 0 0 7 5 3 2 20 0 1 0 84 2 1\n"},
    {"/sys/devices/system/cpu/online", "0-11\n"},
    {"/sys/devices/system/cpu/present", "0-15\n"},
    {"/sys/devices/system/cpu/isolated", "3\n"},
    {"/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "schedutil\n"},
    {"/sys/devices/system/cpu/intel_pstate/no_turbo", "0\n"},
};
enum {
    FILES = sizeof files / sizeof *files
};

/* Whatever a file holds: a host, and sentences that a trace's metadata would take. */
static void assert_bears(lb_trace *trace) {
    lb_host *host = open_tree("core:6 pu:2");
    lb_error err;
    double quota = lb_host_quota(host);
    ck_assert(quota > 0);
    for (size_t i = 0; i < lb_host_finding_count(host); i++) {
        const char *text = lb_host_finding(host, i);
        ck_assert_uint_lt(strlen(text), 600);
        ASSERT_OK(lb_trace_set_meta(trace, "finding", text, &err), err);
    }
    lb_host_free(host);
}

START_TEST(hostile) {
    lb_trace *trace = NULL;
    lb_error err;
    ASSERT_OK(lb_trace_new(2, &trace, &err), err);
    tree_begin();
    for (size_t i = 0; i < FILES; i++)
        tree_put(files[i].path, files[i].text);
    assert_bears(trace);
    static const char *const texts[] = {
        "",
        "\n",
        " ",
        "-1",
        "18446744073709551615",
        "99999999999999999999999999 1",
        "nan",
        "inf",
        "cpu0 18446744073709551615 18446744073709551615 1 1 1 1 1 18446744073709551615\n",
        "0-1048575",
        "0-1048576",
        "0::/\n",
        "0::////////\n",
        "0::/a/../../..\n",
        "1 1 1 / / - - - cgroup2 - cgroup2 cgroup2\n",
        "1 1 1 \\057 \\777 - cgroup2 x y\n",
        "1 () R",
        "1 )( R 1 1 1",
        "\x1b[2J\x07\xff\xfe"};
    char *large = malloc(6u << 20);
    ck_assert_ptr_nonnull(large);
    lbi_random random;
    lbi_random_seed(&random, 11);
    for (size_t i = 0; i < FILES; i++) {
        size_t length = strlen(files[i].text);
        for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
            tree_put(files[i].path, texts[t]);
            assert_bears(trace);
        }
        /* Cut, and with bytes changed. */
        for (size_t cut = 0; cut < length; cut += 1 + length / 8) {
            tree_put_bytes(files[i].path, files[i].text, cut);
            assert_bears(trace);
            memcpy(large, files[i].text, length);
            for (int k = 0; k < 4; k++)
                large[lbi_random_below(&random, length)] = (char)lbi_random_below(&random, 256);
            tree_put_bytes(files[i].path, large, length);
            assert_bears(trace);
        }
        /* Megabytes of one thing. */
        static const char *const repeated[] = {"9", "0-1,", "4:cpu:/a\n", "cpu0 1\n", " "};
        for (size_t r = 0; r < sizeof repeated / sizeof *repeated; r++) {
            size_t one = strlen(repeated[r]), n = r == 2 ? 1000 : (6u << 20) / one;
            for (size_t k = 0; k < n; k++)
                memcpy(large + k * one, repeated[r], one);
            tree_put_bytes(files[i].path, large, n * one);
            assert_bears(trace);
        }
        /* No file at all, a folder, a pipe that nobody writes to. */
        char path[512];
        snprintf(path, sizeof path, "%s%s", tree_root, files[i].path);
        ck_assert_int_eq(unlink(path), 0);
        assert_bears(trace);
        ck_assert_int_eq(mkdir(path, 0755), 0);
        assert_bears(trace);
        ck_assert_int_eq(rmdir(path), 0);
        ck_assert_int_eq(mkfifo(path, 0644), 0);
        assert_bears(trace);
        ck_assert_int_eq(unlink(path), 0);
        tree_put(files[i].path, files[i].text);
    }
    free(large);
    lb_trace_free(trace);
    tree_end();
}
END_TEST

START_TEST(allocations) {
    tree_begin();
    for (size_t i = 0; i < FILES; i++)
        tree_put(files[i].path, files[i].text);
    lb_host_options options;
    lb_host_options_init(&options, sizeof options);
    options.synthetic = "core:6 pu:2";
    options.root = tree_root;
    lb_status status;
    size_t count;
    SWEEP_ALLOCATIONS(status, count, {
        lb_host *host = NULL;
        status = lb_host_open(&options, &host, NULL);
        lb_host_free(host);
    });
    printf("%zu allocations failed, one at a time\n", count);
    ck_assert_uint_ge(count, 50);
    tree_end();
}
END_TEST

/* Without a topology beside it, a root is this machine with other files; nothing runs on it. */
START_TEST(root_alone) {
    tree_begin();
    tree_put("/proc/sys/kernel/sched_rt_period_us", "1000000\n");
    tree_put("/proc/sys/kernel/sched_rt_runtime_us", "500000\n");
    lb_host *host = open_tree(NULL), *plain = NULL;
    lb_error err;
    ASSERT_OK(lb_host_open(NULL, &plain, &err), err);
    ck_assert_uint_ge(lb_host_cores(host), lb_host_cores(plain));
    ASSERT_FINDING(host, LB_FINDING_REAL_TIME, "get 50 %");
    lb_trace *trace = NULL;
    ASSERT_REFUSED(lb_experiment_run(host, LB_EXPERIMENT_DETECT, NULL, &trace, &err),
                   LB_ERR_UNSUPPORTED, "description", err);
    lb_host_free(plain);
    lb_host_free(host);
    tree_end();
}
END_TEST

START_TEST(names) {
    for (int kind = LB_FINDING_NONE; kind <= LB_FINDING_UNMEASURED; kind++)
        ck_assert_str_ne(lb_finding_name((lb_finding_kind)kind), "unknown");
    ck_assert_str_eq(lb_finding_name(LB_FINDING_PARTIAL_DOMAIN), "partial_domain");
    ck_assert_str_eq(lb_finding_name((lb_finding_kind)(LB_FINDING_UNMEASURED + 1)), "unknown");
    ck_assert_str_eq(lb_finding_name((lb_finding_kind)-1), "unknown");
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("findings");
    ADD(s, "findings", quota_of_version_2, quota_in_a_container, quota_of_version_1, quota_is_none,
        load, autogroup, steal, frequency, siblings, core_kinds, isolated, domains,
        domains_of_version_1, offline, numbers, real_time, root_alone, names, hostile, allocations);
    return s;
}
