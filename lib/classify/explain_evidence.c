/* SPDX-License-Identifier: BSD-3-Clause */
/* Reasons from where tasks ran. */
#include <math.h>

#include "classify/explain.h"

#define TURNS_LEAST 20
#define ELSEWHERE_LEAST 2 /* percent */

static void seconds(lbi_text *text, double value) {
    if (value > 0 && value < 0.0995)
        lbi_text_printf(text, "%.2g ms", 1e3 * value);
    else
        lbi_text_printf(text, value < 100 ? "%.2g s" : "%.0f s", value);
}

static bool add_turns(lb_verdict *v, const lbi_structure *s) {
    static const char *const meanings[LBI_QUEUES] = {
        "which is neither seldom enough for queues of their own nor often enough for a common one",
        "each core has its own run queue",
        "a single run queue",
        "cores share run queues in groups",
    };
    lbi_text text = {0};
    if (s->odd_turns < TURNS_LEAST)
        return true;
    lbi_text_printf(
        &text,
        "of %zu times that a task was displaced while tasks were more than the %u cores "
        "and no multiple of them, it ran next on another core in %.1f %%: %s",
        s->odd_turns, s->cores_seen, 100 * (double)s->odd_changes / (double)s->odd_turns,
        meanings[v->queues]);
    if (v->queues == LB_QUEUES_GROUPED)
        lbi_text_printf(&text, " (%u of them)", s->groups);
    return lbi_verdict_add_reason(v, &text);
}

static bool add_latency(lb_verdict *v, const lbi_latency *l, const char *what, const char *done) {
    lbi_text text = {0};
    if (l->balanced + l->never == 0)
        return true;
    lbi_text_printf(&text, "%s %s %zu of %zu times", what, done, l->balanced,
                    l->balanced + l->never);
    if (l->balanced > 0 && isfinite(l->p50)) {
        lbi_text_string(&text, ", in half of all cases within ");
        seconds(&text, l->p50);
    }
    if (l->never > 0) {
        lbi_text_printf(&text, "; %s never in ", l->never == 1 ? "once" : "else");
        seconds(&text, l->watched);
        lbi_text_string(&text, l->never == 1 ? "" : " together");
    }
    return lbi_verdict_add_reason(v, &text);
}

static bool add_dwell(lb_verdict *v, const lbi_dwell *d) {
    lbi_text text = {0};
    if (!(d->seconds > 0))
        return true;
    lbi_text_string(&text, "for ");
    seconds(&text, d->seconds);
    lbi_text_printf(&text,
                    " lists differed by one, and a task of a longer list moved to a shorter "
                    "one %zu time%s",
                    d->rotations, d->rotations == 1 ? "" : "s");
    return lbi_verdict_add_reason(v, &text);
}

static bool add_elsewhere(lb_verdict *v) {
    const double *m = v->measures;
    lbi_text text = {0};
    if (!(m[LBI_ELSEWHERE_MOST] >= ELSEWHERE_LEAST))
        return true;
    lbi_text_printf(
        &text,
        "core %.0f ran something else than the tasks for %.1f %% of the time in which it "
        "had tasks to run (all cores: %.1f %%)",
        m[LBI_ELSEWHERE_CORE], m[LBI_ELSEWHERE_MOST], m[LBI_ELSEWHERE]);
    return lbi_verdict_add_reason(v, &text);
}

/* The seed's own question. */
static bool add_deviation(lb_verdict *v) {
    const double *m = v->measures;
    lbi_text text = {0};
    if (!isfinite(m[LBI_DEVIATION_MULTIPLES]) || !isfinite(m[LBI_DEVIATION_OTHERS]))
        return true;
    lbi_text_printf(
        &text,
        "units' durations deviated by %.1f %% where the tasks were a multiple of the %u "
        "cores, and by %.1f %% where they were more and no multiple",
        m[LBI_DEVIATION_MULTIPLES], v->cores, m[LBI_DEVIATION_OTHERS]);
    return lbi_verdict_add_reason(v, &text);
}

bool lbi_explain_evidence(lb_verdict *v, const lbi_evidence *e) {
    if (!add_turns(v, &e->structure) || !add_elsewhere(v) || !add_deviation(v))
        return false;
    if (!e->known || e->shared_queues)
        return true;
    return add_latency(v, &e->idle, "a core without a task beside one with two or more was",
                       "filled") &&
           add_latency(v, &e->apart, "lists two or more apart with no core idle were", "evened") &&
           add_dwell(v, &e->dwell);
}
