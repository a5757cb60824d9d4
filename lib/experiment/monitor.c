/* SPDX-License-Identifier: BSD-3-Clause */
#include "experiment/monitor.h"

#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "experiment/autogroup.h"
#include "experiment/culprits.h"
#include "experiment/files.h"
#include "experiment/realtime.h"

static const char online_list[] = "/sys/devices/system/cpu/online";

/* ---- beginning and end ---- */

bool lbi_monitor_begin(lbi_monitor *m, const char *root, const lb_host *host,
                       const lbi_class *class_) {
    *m = (lbi_monitor){.root = root,
                       .host = host,
                       .class_ = *class_,
                       .begin_ns = lbi_now(),
                       .steal_percent = NAN,
                       .throttled_percent = NAN};
    return lbi_cgroups_open(root, "cpu", &m->groups) && lbi_autogroup_is_on(root, &m->autogroup) &&
           lbi_processes_read(root, &m->before);
}

void lbi_monitor_end(lbi_monitor *m) {
    lbi_cgroups_free(&m->groups);
    lbi_processes_free(&m->before);
    lbi_findings_free(&m->findings);
    free(m->speeds);
    m->speeds = NULL;
}

/* ---- counters ---- */

/* False: no memory. */
static bool read_times(const lbi_monitor *m, bool *ret_known, lbi_cpu_times *ret_times) {
    char *text;
    *ret_known = false;
    if (!lbi_read(m->root, &text, "/proc/stat"))
        return false;
    *ret_known = text != NULL && lbi_stat_sum(text, m->host, ret_times) == m->host->cores;
    free(text);
    return true;
}

bool lbi_monitor_origin(lbi_monitor *m) {
    if (!read_times(m, &m->has_times, &m->times))
        return false;
    m->throttling = lbi_cgroups_throttling(m->root, &m->groups);
    if (!lbi_read_into(m->root, m->online, sizeof m->online, online_list))
        m->online[0] = '\0';
    m->origin_ns = lbi_now();
    return true;
}

void lbi_monitor_look(lbi_monitor *m) {
    char now[sizeof m->online];
    if (m->origin_ns == 0 || m->online[0] == '\0' || m->changed[0] != '\0')
        return;
    if (lbi_read_into(m->root, now, sizeof now, online_list) && strcmp(now, m->online) != 0)
        memcpy(m->changed, now, sizeof now);
}

bool lbi_monitor_calibrated(lbi_monitor *m, const double *times) {
    uint32_t cores = m->host->cores;
    free(m->speeds);
    m->speeds = lbi_array_new(cores, sizeof *m->speeds);
    if (m->speeds == NULL)
        return false;
    double least = INFINITY;
    for (uint32_t core = 0; core < cores; core++)
        least = times[core] < least ? times[core] : least;
    for (uint32_t core = 0; core < cores; core++)
        m->speeds[core] = least / times[core];
    return true;
}

/* ---- findings ---- */

static void disturb(lbi_monitor *m, lb_finding_kind kind) {
    m->disturbed |= UINT32_C(1) << kind;
}

static bool find_throttling(lbi_monitor *m, double core_seconds) {
    lbi_throttling now = lbi_cgroups_throttling(m->root, &m->groups);
    if (m->groups.count == 0 || now.count < m->throttling.count)
        return true;
    uint64_t count = now.count - m->throttling.count;
    double seconds = now.time_ns > m->throttling.time_ns
                         ? 1e-9 * (double)(now.time_ns - m->throttling.time_ns)
                         : 0;
    m->throttled_percent = 100 * seconds / core_seconds;
    if (count == 0)
        return true;
    if (seconds > LBI_THROTTLING_DISTURBS * core_seconds)
        disturb(m, LB_FINDING_THROTTLED);
    lbi_text text = {0};
    lbi_text_printf(&text,
                    "a quota of CPU time stopped the workers in %llu periods, for %.3g s of the "
                    "cores' time (%.3g %%): rates show the quota as well as the scheduler",
                    (unsigned long long)count, seconds, m->throttled_percent);
    return lbi_findings_add(&m->findings, LB_FINDING_THROTTLED, &text);
}

static bool find_steal(lbi_monitor *m) {
    bool known;
    lbi_cpu_times now;
    if (!read_times(m, &known, &now))
        return false;
    if (!known || !m->has_times)
        return true;
    double all = lbi_tick_seconds(lbi_all_ticks(&m->times), lbi_all_ticks(&now));
    double steal = all > 0 ? lbi_tick_seconds(m->times.steal, now.steal) / all : 0;
    m->steal_percent = 100 * steal;
    if (steal > LBI_STEAL_DISTURBS)
        disturb(m, LB_FINDING_STEAL);
    if (!(steal > LBI_STEAL_TOLD))
        return true;
    lbi_text text = {0};
    lbi_text_printf(&text,
                    "the machine that this one runs on as a guest took %.3g %% of the cores' time: "
                    "cores that stop unseen look like uneven sharing",
                    m->steal_percent);
    return lbi_findings_add(&m->findings, LB_FINDING_STEAL, &text);
}

static bool tell_load(lbi_monitor *m, const lbi_culprits *culprits, double foreign) {
    lbi_text text = {0};
    lbi_text_printf(&text, "others used %.3g of %u cores (%.3g %%) while the workers ran",
                    foreign * m->host->cores, (unsigned)m->host->cores, 100 * foreign);
    for (size_t i = 0; i < culprits->shown; i++) {
        const lbi_culprit *culprit = &culprits->list[i];
        lbi_text_string(&text, i == 0 ? ": " : ", ");
        lbi_text_foreign(&text, culprit->name, strlen(culprit->name));
        lbi_text_printf(&text, " (process %lld) %.2g", (long long)culprit->id, culprit->cores);
    }
    lbi_text_string(&text, "; rates show them as well as the scheduler");
    return lbi_findings_add(&m->findings, LB_FINDING_LOAD, &text);
}

/* What counting by process would have left is said of the start, when all workers run. */
static bool tell_autogroup(lbi_monitor *m, const lbi_culprits *culprits, uint32_t workers,
                           double foreign) {
    double cores = m->host->cores, busy = culprits->steady;
    lbi_text text = {0};
    lbi_text_printf(&text,
                    "autogroup counts all workers as one against each of %zu other busy session%s: "
                    "that left them %.3g of %u cores, where counted by process %u workers beside "
                    "%.0f would have had %.3g",
                    culprits->sessions, culprits->sessions == 1 ? "" : "s", cores * (1 - foreign),
                    (unsigned)m->host->cores, (unsigned)workers, busy,
                    cores * workers / (workers + busy));
    return lbi_findings_add(&m->findings, LB_FINDING_AUTOGROUP, &text);
}

static bool find_load(lbi_monitor *m, uint32_t workers, double foreign) {
    lbi_processes now;
    lbi_culprits culprits;
    double seconds = 1e-9 * (double)(lbi_now() - m->begin_ns);
    bool ok = lbi_processes_read(m->root, &now) &&
              lbi_find_culprits(&m->before, &now, getpid(), seconds, &culprits);
    lbi_processes_free(&now);
    if (!ok)
        return false;
    /* Real-time workers pass over what is below them. */
    bool steady = !m->class_.real_time && culprits.shown > 0 &&
                  culprits.list[0].cores >= LBI_PROCESS_DISTURBS;
    if (foreign > LBI_FOREIGN_DISTURBS || steady)
        disturb(m, LB_FINDING_LOAD);
    if (!(foreign > LBI_FOREIGN_TOLD) && !steady)
        return true;
    if (!tell_load(m, &culprits, foreign))
        return false;
    int policy = m->class_.policy & ~SCHED_RESET_ON_FORK;
    bool grouped = m->autogroup && (policy == SCHED_OTHER || policy == SCHED_BATCH);
    return !grouped || culprits.sessions == 0 || tell_autogroup(m, &culprits, workers, foreign);
}

static bool find_unmeasured(lbi_monitor *m) {
    lbi_text text = {0};
    lbi_text_string(&text,
                    "the system does not tell what CPU time others used: whether the run was "
                    "disturbed is not known");
    return lbi_findings_add(&m->findings, LB_FINDING_UNMEASURED, &text);
}

static bool find_hotplug(lbi_monitor *m) {
    lbi_monitor_look(m);
    if (m->changed[0] == '\0')
        return true;
    disturb(m, LB_FINDING_HOTPLUG);
    lbi_text text = {0};
    lbi_text_string(&text, "the CPUs that are online were ");
    lbi_text_foreign(&text, m->online, strcspn(m->online, "\n"));
    lbi_text_string(&text, " and became ");
    lbi_text_foreign(&text, m->changed, strcspn(m->changed, "\n"));
    lbi_text_string(&text, " during the run: it is about no one machine");
    return lbi_findings_add(&m->findings, LB_FINDING_HOTPLUG, &text);
}

static bool find_speeds(lbi_monitor *m) {
    if (m->speeds == NULL)
        return true;
    uint32_t slowest = 0, fastest = 0;
    for (uint32_t core = 1; core < m->host->cores; core++) {
        slowest = m->speeds[core] < m->speeds[slowest] ? core : slowest;
        fastest = m->speeds[core] > m->speeds[fastest] ? core : fastest;
    }
    if (!(m->speeds[slowest] < 1 - LBI_SPEEDS_TOLD))
        return true;
    lbi_text text = {0};
    lbi_text_printf(&text,
                    "core %u (CPU %u) was measured to work at %.3g of the speed of core %u (CPU "
                    "%u): the same work takes different CPU time on them, and a model of equal "
                    "cores predicts less well",
                    (unsigned)slowest, (unsigned)m->host->cpus[slowest], m->speeds[slowest],
                    (unsigned)fastest, (unsigned)m->host->cpus[fastest]);
    return lbi_findings_add(&m->findings, LB_FINDING_SPEEDS, &text);
}

static bool find_real_time(lbi_monitor *m) {
    double limit = m->class_.real_time ? lbi_real_time_limit(m->root) : 1;
    if (!(limit < 1 && limit > 0))
        return true;
    lbi_text text = {0};
    lbi_text_printf(&text,
                    "the workers' class is a real-time one, which gets %.4g %% of a core at most "
                    "where others want it: works may take %.3g %% longer than predicted",
                    100 * limit, 100 / limit - 100);
    return lbi_findings_add(&m->findings, LB_FINDING_REAL_TIME, &text);
}

bool lbi_monitor_finish(lbi_monitor *m, uint32_t workers, double foreign) {
    double core_seconds = 1e-9 * (double)(lbi_now() - m->origin_ns) * m->host->cores;
    if (!(find_throttling(m, core_seconds) && find_steal(m) && find_hotplug(m) && find_speeds(m) &&
          find_real_time(m)))
        return false;
    if (isnan(foreign))
        return find_unmeasured(m);
    /* Stolen time is nobody's here. */
    double stolen = isnan(m->steal_percent) ? 0 : m->steal_percent / 100;
    return find_load(m, workers, foreign > stolen ? foreign - stolen : 0);
}

/* ---- the trace ---- */

/* Written by whoever compares the workers' CPU time with the calibration. */
static bool find_drift(const lb_trace *trace, lbi_findings *findings) {
    const char *percent = lb_trace_meta(trace, "work_drift_percent");
    double drift;
    if (percent == NULL || !lbi_parse_number(percent, percent + strlen(percent), &drift) ||
        !(fabs(drift) > 100 * LBI_DRIFT_TOLD))
        return true;
    lbi_text text = {0};
    lbi_text_printf(&text,
                    "a unit of work took %.3g times the CPU time that was calibrated: the cores' "
                    "speed changed in between, and works take so much longer or shorter than "
                    "predicted; shares of time do not suffer from it",
                    1 + drift / 100);
    return lbi_findings_add(findings, LB_FINDING_DRIFT, &text);
}

static lb_status set_findings(lb_trace *trace, const lbi_findings *findings, const char *prefix,
                              lb_error *err) {
    for (size_t i = 0; i < findings->count; i++) {
        char key[64];
        lbi_snprintf(key, sizeof key, "finding_%s_%s", prefix,
                     lb_finding_name(findings->list[i].kind));
        lb_status status = lb_trace_set_meta(trace, key, findings->list[i].text, err);
        if (status != LB_OK)
            return status;
    }
    return LB_OK;
}

static lb_status set_number(lb_trace *trace, const char *key, double value, lb_error *err) {
    char text[32];
    if (!isfinite(value))
        return LB_OK;
    lbi_snprintf(text, sizeof text, "%.4g", value);
    return lb_trace_set_meta(trace, key, text, err);
}

/* Takes `text`; an empty one is not set. */
static lb_status set_text(lb_trace *trace, const char *key, lbi_text *text, lb_error *err) {
    char *value = lbi_text_take(text, NULL);
    if (value == NULL)
        return lbi_error_nomem(err, "the trace's metadata");
    lb_status status = value[0] == '\0' ? LB_OK : lb_trace_set_meta(trace, key, value, err);
    free(value);
    return status;
}

static lb_status set_speeds(const lbi_monitor *m, lb_trace *trace, lb_error *err) {
    lbi_text text = {0};
    for (uint32_t core = 0; m->speeds != NULL && core < m->host->cores; core++)
        lbi_text_printf(&text, "%s%.3g", core == 0 ? "" : ",", m->speeds[core]);
    return set_text(trace, "core_speeds", &text, err);
}

static lb_status set_disturbed(const lbi_monitor *m, lb_trace *trace, lb_error *err) {
    lbi_text text = {0};
    for (int kind = 0; kind <= LB_FINDING_UNMEASURED; kind++)
        if ((m->disturbed >> kind & 1) != 0)
            lbi_text_printf(&text, "%s%s", text.length == 0 ? "" : ",",
                            lb_finding_name((lb_finding_kind)kind));
    return set_text(trace, "disturbed", &text, err);
}

lb_status lbi_monitor_describe(const lbi_monitor *m, lb_trace *trace, lb_error *err) {
    lbi_findings drift = {0};
    lb_status status = LB_OK;
    if (!find_drift(trace, &drift))
        status = lbi_error_nomem(err, "the findings");
    if (status == LB_OK)
        status = set_findings(trace, &m->host->findings, "host", err);
    if (status == LB_OK)
        status = set_findings(trace, &drift, "run", err);
    lbi_findings_free(&drift);
    if (status == LB_OK)
        status = set_findings(trace, &m->findings, "run", err);
    if (status == LB_OK)
        status = set_disturbed(m, trace, err);
    if (status == LB_OK)
        status = set_speeds(m, trace, err);
    if (status == LB_OK)
        status = set_number(trace, "quota_cpus", m->host->quota, err);
    if (status == LB_OK)
        status = set_number(trace, "steal_percent", m->steal_percent, err);
    if (status == LB_OK)
        status = set_number(trace, "throttled_percent", m->throttled_percent, err);
    return status;
}
