/* SPDX-License-Identifier: BSD-3-Clause */
/* The machine as hwloc, the process's affinity and the system's files tell it. */
#include "experiment/host.h"

#include <errno.h>
#include <hwloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/text.h"
#include "experiment/files.h"
#include "experiment/findings.h"
#include "experiment/options.h"

static const char *info(hwloc_topology_t topology, const char *name) {
    hwloc_obj_t package = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PACKAGE, 0);
    const char *value = package == NULL ? NULL : hwloc_obj_get_info_by_name(package, name);
    return value != NULL ? value : hwloc_obj_get_info_by_name(hwloc_get_root_obj(topology), name);
}

/* Of the physical cores, those of which a logical CPU may be used. */
static uint32_t count_physical(hwloc_topology_t topology, hwloc_const_bitmap_t allowed) {
    uint32_t count = 0;
    hwloc_obj_t core = NULL;
    while ((core = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_CORE, core)) != NULL)
        count += hwloc_bitmap_intersects(core->cpuset, allowed) ? 1 : 0;
    return count;
}

static char *describe(hwloc_topology_t topology, const lb_host_options *options,
                      const lb_host *host) {
    lbi_text text = {0};
    const char *model = info(topology, "CPUModel");
    if (model == NULL)
        model = info(topology, "PlatformModel");
    if (model == NULL)
        model = info(topology, "Architecture");
    if (model == NULL)
        model = options->synthetic;
    if (model != NULL) {
        /* Some vendors pad the name. */
        while (*model == ' ')
            model++;
        size_t length = strlen(model);
        while (length > 0 && model[length - 1] == ' ')
            length--;
        lbi_text_append(&text, model, length);
        lbi_text_string(&text, ", ");
    }
    lbi_text_printf(&text, "%u core%s (%u physical)", (unsigned)host->cores,
                    host->cores == 1 ? "" : "s", (unsigned)host->physical_cores);
    const char *system = info(topology, "OSName"), *release = info(topology, "OSRelease");
    if (system != NULL)
        lbi_text_printf(&text, ", %s%s%s", system, release == NULL ? "" : " ",
                        release == NULL ? "" : release);
    return lbi_text_take(&text, NULL);
}

/* Keeps in `set` what the topology has and this process may use. */
static lb_status allowed_cpus(hwloc_topology_t topology, bool described, hwloc_bitmap_t set,
                              lb_error *err) {
    if (hwloc_bitmap_copy(set, hwloc_topology_get_allowed_cpuset(topology)) != 0)
        return lbi_error_nomem(err, "the set of CPUs");
    if (described)
        return LB_OK;
    hwloc_bitmap_t bound = hwloc_bitmap_alloc();
    if (bound == NULL)
        return lbi_error_nomem(err, "the set of CPUs");
    lb_status status = LB_OK;
    errno = 0;
    if (hwloc_get_cpubind(topology, bound, HWLOC_CPUBIND_THREAD) != 0)
        status = lbi_error_os(err, LB_ERR_SYSTEM, errno, "cannot read the CPU affinity");
    else
        hwloc_bitmap_and(set, set, bound);
    hwloc_bitmap_free(bound);
    return status;
}

static bool find_all(const lbi_sight *sight, lb_host *host) {
    static bool (*const finders[])(const lbi_sight *, lbi_findings *) = {
        lbi_find_load,     lbi_find_steal,      lbi_find_frequency,
        lbi_find_siblings, lbi_find_core_kinds, lbi_find_domain,
        lbi_find_offline,  lbi_find_numbering,  lbi_find_real_time,
    };
    if (!lbi_find_quota(sight, &host->quota, &host->findings))
        return false;
    for (size_t i = 0; i < sizeof finders / sizeof *finders; i++)
        if (!finders[i](sight, &host->findings))
            return false;
    return true;
}

/* Whether the objects of a type part the cores into two or more sets of one size. */
static bool parts(hwloc_topology_t topology, hwloc_const_bitmap_t set, hwloc_obj_type_t type,
                  lb_host *host) {
    uint32_t groups = 0, size = 0, sum = 0;
    for (hwloc_obj_t o = NULL; (o = hwloc_get_next_obj_by_type(topology, type, o)) != NULL;) {
        uint32_t cores = 0;
        for (int cpu = -1; (cpu = hwloc_bitmap_next(o->cpuset, cpu)) >= 0;)
            cores += hwloc_bitmap_isset(set, (unsigned)cpu) ? 1 : 0;
        if (cores == 0)
            continue;
        if (size != 0 && cores != size)
            return false;
        size = cores;
        sum += cores;
        groups++;
    }
    if (groups < 2 || sum != host->cores)
        return false;
    host->groups = groups;
    host->group_cores = size;
    return true;
}

/* What a scheduler balances among: packages, or within one its NUMA nodes or caches. */
static void find_groups(hwloc_topology_t topology, hwloc_const_bitmap_t set, lb_host *host) {
    if (parts(topology, set, HWLOC_OBJ_PACKAGE, host) ||
        parts(topology, set, HWLOC_OBJ_NUMANODE, host) ||
        parts(topology, set, HWLOC_OBJ_L3CACHE, host) ||
        parts(topology, set, HWLOC_OBJ_L2CACHE, host))
        return;
    host->groups = 1;
    host->group_cores = host->cores;
}

static lb_status host_new(hwloc_topology_t topology, hwloc_const_bitmap_t set,
                          const lb_host_options *options, bool described, lb_host **ret_host,
                          lb_error *err) {
    int weight = hwloc_bitmap_weight(set);
    if (weight <= 0)
        return lbi_error(err, LB_ERR_UNSUPPORTED, "there is no core that may be used");
    lb_host *host = calloc(1, sizeof *host);
    if (host == NULL)
        return lbi_error_nomem(err, "the host");
    host->described = described;
    host->cores = (uint32_t)weight;
    host->physical_cores = count_physical(topology, set);
    /* Some systems tell nothing of physical cores. */
    if (host->physical_cores == 0)
        host->physical_cores = host->cores;
    find_groups(topology, set, host);
    host->cpus = lbi_array_new(host->cores, sizeof *host->cpus);
    host->description = describe(topology, options, host);
    if (host->cpus == NULL || host->description == NULL) {
        lb_host_free(host);
        return lbi_error_nomem(err, "the host");
    }
    int cpu = -1;
    for (uint32_t core = 0; core < host->cores; core++) {
        cpu = hwloc_bitmap_next(set, cpu);
        host->cpus[core] = (uint32_t)cpu;
    }
    lbi_sight sight = {host, topology, set, options->root, !described};
    if (!described)
        sight.root = "";
    if (!find_all(&sight, host)) {
        lb_host_free(host);
        return lbi_error_nomem(err, "the findings");
    }
    *ret_host = host;
    return LB_OK;
}

/* Whether a file may describe a machine with a CPU: of one without, hwloc would complain on stderr.
 * False: no memory. */
static bool mentions_pu(const char *path, bool *ret_mentions) {
    char *text;
    if (!lbi_read("", &text, "%s", path))
        return false;
    /* No plain file, such as a pipe, is left for hwloc to read. */
    *ret_mentions = text == NULL || strstr(text, "\"PU\"") != NULL;
    free(text);
    return true;
}

static lb_status choose_source(hwloc_topology_t topology, const lb_host_options *options,
                               lb_error *err) {
    errno = 0;
    if (options->root != NULL && access(options->root, X_OK) != 0)
        return lbi_error_os(err, LB_ERR_IO, errno, "root \"%s\" cannot be read", options->root);
    if (options->topology_xml != NULL) {
        /* hwloc tells a missing file and a malformed one apart by chance. */
        if (access(options->topology_xml, R_OK) != 0)
            return lbi_error_os(err, LB_ERR_IO, errno, "topology_xml \"%s\" cannot be read",
                                options->topology_xml);
        bool mentions;
        if (!mentions_pu(options->topology_xml, &mentions))
            return lbi_error_nomem(err, "the topology");
        if (!mentions || hwloc_topology_set_xml(topology, options->topology_xml) != 0)
            return lbi_error(err, LB_ERR_INVALID,
                             "topology_xml \"%s\": a topology as hwloc writes it, with a CPU that "
                             "may be used, expected",
                             options->topology_xml);
    }
    if (options->synthetic != NULL &&
        hwloc_topology_set_synthetic(topology, options->synthetic) != 0)
        return lbi_error(err, LB_ERR_INVALID,
                         "synthetic is \"%s\": an hwloc description such as \"package:2 core:4 "
                         "pu:2\" expected",
                         options->synthetic);
    return LB_OK;
}

static lb_status load(hwloc_topology_t topology, const lb_host_options *options, lb_error *err) {
    lb_status status = choose_source(topology, options, err);
    if (status != LB_OK)
        return status;
    /* Where no CPU is allowed, hwloc would write to stderr, unless it is to keep the others too.
     * What is not a core or above it is not looked at, and cannot be complained of. */
    hwloc_topology_set_flags(topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
    hwloc_topology_set_cache_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE);
    hwloc_topology_set_type_filter(topology, HWLOC_OBJ_GROUP, HWLOC_TYPE_FILTER_KEEP_NONE);
    errno = 0;
    if (hwloc_topology_load(topology) == 0)
        return LB_OK;
    if (options->topology_xml != NULL)
        return lbi_error(err, LB_ERR_INVALID,
                         "topology_xml \"%s\": a topology as hwloc writes it, with a CPU that may "
                         "be used, expected",
                         options->topology_xml);
    return lbi_error_os(err, LB_ERR_SYSTEM, errno, "hwloc cannot read the topology");
}

lb_status lb_host_open(const lb_host_options *options, lb_host **ret_host, lb_error *err) {
    lb_host_options read;
    lb_status status = lbi_host_options_read(options, &read, err);
    if (status != LB_OK)
        return status;
    hwloc_topology_t topology;
    if (hwloc_topology_init(&topology) != 0)
        return lbi_error_nomem(err, "the topology");
    hwloc_bitmap_t set = hwloc_bitmap_alloc();
    status = set == NULL ? lbi_error_nomem(err, "the set of CPUs") : load(topology, &read, err);
    if (status == LB_OK) {
        /* Also described where hwloc's environment variables put another machine in its place. */
        bool described = hwloc_topology_is_thissystem(topology) == 0 || read.root != NULL;
        status = allowed_cpus(topology, described, set, err);
        if (status == LB_OK)
            status = host_new(topology, set, &read, described, ret_host, err);
    }
    hwloc_bitmap_free(set);
    hwloc_topology_destroy(topology);
    return status;
}

void lb_host_free(lb_host *host) {
    if (host == NULL)
        return;
    lbi_findings_free(&host->findings);
    free(host->cpus);
    free(host->description);
    free(host);
}

double lb_host_quota(const lb_host *host) {
    return host->quota;
}

size_t lb_host_finding_count(const lb_host *host) {
    return host->findings.count;
}

lb_finding_kind lb_host_finding_kind(const lb_host *host, size_t index) {
    return index < host->findings.count ? host->findings.list[index].kind : LB_FINDING_NONE;
}

const char *lb_host_finding(const lb_host *host, size_t index) {
    return index < host->findings.count ? host->findings.list[index].text : NULL;
}

uint32_t lb_host_cores(const lb_host *host) {
    return host->cores;
}

void lb_host_groups(const lb_host *host, uint32_t *ret_groups, uint32_t *ret_cores) {
    *ret_groups = host->groups;
    *ret_cores = host->group_cores;
}

uint32_t lb_host_physical_cores(const lb_host *host) {
    return host->physical_cores;
}

uint32_t lb_host_cpu(const lb_host *host, uint32_t core) {
    return core < host->cores ? host->cpus[core] : UINT32_MAX;
}

const char *lb_host_description(const lb_host *host) {
    return host->description;
}

int32_t lbi_host_core(const lb_host *host, int64_t cpu) {
    uint32_t low = 0, high = host->cores;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (host->cpus[middle] < cpu)
            low = middle + 1;
        else
            high = middle;
    }
    return low < host->cores && host->cpus[low] == cpu ? (int32_t)low : -1;
}
