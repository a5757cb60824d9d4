/* SPDX-License-Identifier: BSD-3-Clause */
/* What a trace lacks, where no policy is decided. */
#include <math.h>

#include "classify/explain.h"

bool lbi_explain_unusable(lb_verdict *v, const lbi_progress *p) {
    lbi_text t = {0};
    switch (p->unusable) {
    case LBI_NO_UNITS:
        lbi_text_string(&t, "the trace holds no units: nothing was timed");
        break;
    case LBI_ONE_CORE:
        lbi_text_string(&t, "there is one core only: nothing to balance");
        break;
    case LBI_ONE_TASK:
        lbi_text_string(&t, "there is one task only: nobody to share a core with");
        break;
    case LBI_NEVER_SHARED:
        lbi_text_printf(&t,
                        "%u tasks on %u cores never shared a core: more tasks than cores are "
                        "needed",
                        p->tasks, p->cores);
        break;
    case LBI_NO_OVERLAP:
        lbi_text_printf(&t,
                        "the first task ended at %.4g s, before another began at %.4g s: they "
                        "never ran together",
                        p->first_end, p->late_start);
        break;
    case LBI_ENDED_AT_ONCE:
        lbi_text_printf(&t,
                        "all tasks ended at once, at %.4g s: who speeds up when a task ends was "
                        "never seen",
                        p->first_end);
        break;
    case LBI_LATE_TASK:
        lbi_text_printf(&t,
                        "task %u began at %.4g s, after another had ended at %.4g s: tasks must "
                        "start together and end one after another",
                        p->late_task, p->late_start, p->first_end);
        break;
    case LBI_TOO_LARGE:
        lbi_text_printf(&t, "%u tasks are more than can be followed (about 4000)", p->tasks);
        break;
    default:
        lbi_text_string(&t, "units are too long against the time between ends: no interval holds "
                            "any progress");
        break;
    }
    return lbi_verdict_add_reason(v, &t);
}

static double uneven_seconds(const lbi_progress *p) {
    double sum = 0;
    for (uint32_t i = 0; i < p->tasks; i++) {
        uint32_t alive = p->tasks - i;
        size_t begin = i == 0 ? 0 : p->end[i - 1];
        if (alive > p->cores && alive % p->cores != 0)
            sum += p->time[p->end[i]] - p->time[begin];
    }
    return sum;
}

static bool tell_none_of_these(lb_verdict *v) {
    lbi_text t = {0};
    int best = LB_POLICY_NONE;
    for (int i = LB_POLICY_NONE; i < LBI_POLICIES; i++)
        best = v->misfit[i] < v->misfit[best] ? i : best;
    if (v->probability[LB_POLICY_UNKNOWN] > 0.5 && v->misfit[best] > 0.02)
        lbi_text_printf(&t,
                        "no policy explains the rates: %s comes nearest and leaves %.0f %% of the "
                        "tasks' time unexplained",
                        lbi_policy_name((lb_policy)best), 100 * v->misfit[best]);
    else
        lbi_text_printf(
            &t,
            "rates that follow no policy explain the trace as well (%.2g): it holds too "
            "little that only a policy explains",
            v->probability[LB_POLICY_UNKNOWN]);
    return lbi_verdict_add_reason(v, &t);
}

bool lbi_explain_missing(lb_verdict *v, const lbi_progress *p) {
    double none = v->probability[LB_POLICY_NONE], lazy = v->probability[LB_POLICY_LAZY];
    double active = v->probability[LB_POLICY_ACTIVE];
    double even = v->probability[LB_POLICY_IMMEDIATE];
    /* Every policy has a little of what is none of these. */
    double least = fmax((1 - v->confidence) / 4, v->probability[LB_POLICY_UNKNOWN] / 10);
    double long_enough = 10 * p->wait;
    lbi_text t = {0};
    if (lazy > least && active > least) {
        if (p->tasks <= 2 * p->cores)
            lbi_text_printf(&t,
                            "%u tasks on %u cores cannot tell lazy from active: with two tasks a "
                            "core no run queue is ever two longer than another while all cores "
                            "work; three tasks a core are needed",
                            p->tasks, p->cores);
        else
            lbi_text_printf(&t,
                            "lazy and active (%.2g and %.2g) differ only while one run queue is "
                            "two longer than another and no core is idle: the trace has no such "
                            "moment of %.3g s or more",
                            lazy, active, long_enough);
        if (!lbi_verdict_add_reason(v, &t))
            return false;
    }
    if (none > least && lazy + active > least) {
        lbi_text_printf(&t,
                        "none and lazy (%.2g and %.2g) differ only while a core is idle and "
                        "another has two tasks or more: the trace has no such moment of %.3g s or "
                        "more",
                        none, lazy, long_enough);
        if (!lbi_verdict_add_reason(v, &t))
            return false;
    }
    if (even > least && none + lazy + active > least) {
        lbi_text_printf(&t,
                        "even sharing and fixed lists (%.2g and %.2g) differ only while the tasks "
                        "are no multiple of the cores: the trace has %.3g s of that, and a rotated "
                        "share takes a second or two to even out",
                        even, none + lazy + active, uneven_seconds(p));
        if (!lbi_verdict_add_reason(v, &t))
            return false;
    }
    return v->probability[LB_POLICY_UNKNOWN] <= 1 - v->confidence || tell_none_of_these(v);
}
