/* SPDX-License-Identifier: BSD-3-Clause */
/* The control groups that this process is in, of version 1 and 2. */
#ifndef LBI_EXPERIMENT_CGROUP_H
#define LBI_EXPERIMENT_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A group's folder. */
typedef struct lbi_cgroup {
    char *folder; /* below the root that is looked at */
    bool second;  /* of version 2 */
    bool top;     /* the root of its hierarchy */
} lbi_cgroup;

/* A group of each hierarchy that has the controller, and its ancestors as far as they can be seen;
 * in each hierarchy from the group itself upwards. */
typedef struct lbi_cgroups {
    lbi_cgroup *list;
    size_t count, capacity;
} lbi_cgroups;

/* Finds those of a controller ("cpu", "cpuset"). False: no memory. `groups` is to be freed in any
 * case. */
bool lbi_cgroups_open(const char *root, const char *controller, lbi_cgroups *groups);
void lbi_cgroups_free(lbi_cgroups *groups);

/* The CPUs' worth of time that a quota of the groups allows; INFINITY: none does. The group that
 * allows least goes to *ret_group. */
double lbi_cgroups_quota(const char *root, const lbi_cgroups *groups, const lbi_cgroup **ret_group);

/* How often, and for how long in all cores' time, a quota has stopped the groups so far. */
typedef struct lbi_throttling {
    uint64_t count, time_ns;
} lbi_throttling;
lbi_throttling lbi_cgroups_throttling(const char *root, const lbi_cgroups *groups);

/* Whether the scheduler knows of none but the root group for this process. */
bool lbi_cgroups_are_root(const char *root, const lbi_cgroups *groups);

#endif
