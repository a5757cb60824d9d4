/* SPDX-License-Identifier: BSD-3-Clause */
/* What disturbs a run while it lasts: others' CPU time and who they are, steal, throttling by a
 * quota, CPUs that come and go, cores of unequal or changing speed. */
#ifndef LBI_EXPERIMENT_MONITOR_H
#define LBI_EXPERIMENT_MONITOR_H

#include "experiment/cgroup.h"
#include "experiment/findings.h"
#include "experiment/processes.h"
#include "experiment/stat.h"
#include "experiment/system.h"

typedef struct lbi_monitor {
    const char *root; /* where the files are: "" but in tests */
    const lb_host *host;
    lbi_class class_;
    bool autogroup;
    lbi_cgroups groups;
    lbi_processes before; /* all, before there were workers */
    int64_t begin_ns;
    /* At the origin. */
    int64_t origin_ns;
    bool has_times;
    lbi_cpu_times times;
    lbi_throttling throttling;
    char online[256], changed[256]; /* the list of CPUs then, and one that differed later */
    /* What came of it. */
    double *speeds; /* of each core, relative to the fastest; NULL: not measured */
    double steal_percent, throttled_percent; /* of the cores' time; NAN: not known */
    uint32_t disturbed;                      /* kinds that make a result doubtful, as bits */
    lbi_findings findings;
} lbi_monitor;

/* Before there are workers. False: no memory; lbi_monitor_end() is due in any case. */
bool lbi_monitor_begin(lbi_monitor *ret_monitor, const char *root, const lb_host *host,
                       const lbi_class *class_);
/* The calibration: CPU time of the same work on each core. */
bool lbi_monitor_calibrated(lbi_monitor *monitor, const double *times);
bool lbi_monitor_origin(lbi_monitor *monitor);
void lbi_monitor_look(lbi_monitor *monitor); /* now and then, while the workers run */
/* Once all have ended: `foreign` is others' CPU time (steal included) as a part of the cores' time;
 * NAN: not known. False: no memory. */
bool lbi_monitor_finish(lbi_monitor *monitor, uint32_t workers, double foreign);
void lbi_monitor_end(lbi_monitor *monitor);

/* Writes all that was found, of the host too, into the metadata of a sealed trace. */
lb_status lbi_monitor_describe(const lbi_monitor *monitor, lb_trace *trace, lb_error *err);

/* Parts of the cores' time, unless said otherwise. */
#define LBI_FOREIGN_TOLD 0.02     /* from which on it is told .. */
#define LBI_FOREIGN_DISTURBS 0.10 /* .. and makes a result doubtful */
#define LBI_PROCESS_DISTURBS 0.25 /* of one core, by one process */
#define LBI_STEAL_TOLD 0.01
#define LBI_STEAL_DISTURBS 0.05
#define LBI_THROTTLING_DISTURBS 0.01
#define LBI_SPEEDS_TOLD 0.05
#define LBI_DRIFT_TOLD 0.05

#endif
