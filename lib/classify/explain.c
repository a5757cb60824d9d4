/* SPDX-License-Identifier: BSD-3-Clause */
/* Reasons: what shows the verdict, or what is missing for one, and what else is to be known. */
#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "classify/explain.h"

static bool tell_foreign(lb_verdict *v, const lbi_fit *fit) {
    lbi_text t = {0};
    if (!(fit->foreign_percent > LBI_FOREIGN_PERCENT))
        return true;
    lbi_text_printf(&t,
                    "foreign_cpu_percent is %.3g: other load had so much of the cores meanwhile, "
                    "which may have shaped the rates",
                    fit->foreign_percent);
    return lbi_verdict_add_reason(v, &t);
}

static bool tell_dropped(lb_verdict *v, const lbi_progress *p) {
    lbi_text t = {0};
    if (p->dropped == 0)
        return true;
    lbi_text_printf(&t,
                    "%zu of %zu units (%.2g %%) took much longer than those around them and "
                    "were left out",
                    p->dropped, p->units, 100.0 * (double)p->dropped / (double)p->units);
    return lbi_verdict_add_reason(v, &t);
}

static bool tell_disorder(lb_verdict *v, const lbi_disorder *d) {
    lbi_text t = {0};
    if (v->policy != LB_POLICY_UNKNOWN || lbi_disorder_log(d) <= 0)
        return true;
    lbi_text_printf(&t,
                    "progress from one stretch of units to the next differs by %.3g %% of what "
                    "units drawn by chance would leave (squares, %zu of %zu pairs of stretches), "
                    "where tasks that take turns leave %.3g %%: the durations look like random "
                    "numbers",
                    100 * d->squares / d->by_chance, d->irregular, d->pairs,
                    100 * d->by_turns / d->by_chance);
    return lbi_verdict_add_reason(v, &t);
}

/* Of a trace that shows a policy well, for a caller who asks for more. */
static bool tell_confidence(lb_verdict *v, lb_policy policy) {
    lbi_text t = {0};
    lbi_text_printf(&t, "%s is probable at %.6g %%, below the ", lbi_policy_name(policy),
                    100 * v->probability[policy]);
    lbi_text_number(&t, 100 * v->confidence);
    lbi_text_string(&t, " % asked for; what speaks for it:");
    return lbi_verdict_add_reason(v, &t);
}

/* There is always a reason, if only what the trace consists of. */
static bool tell_probability(lb_verdict *v) {
    lbi_text t = {0};
    lbi_text_printf(&t,
                    "the probabilities are none %.3g, lazy %.3g, active %.3g, immediate %.3g, none "
                    "of these %.3g: %s",
                    v->probability[LB_POLICY_NONE], v->probability[LB_POLICY_LAZY],
                    v->probability[LB_POLICY_ACTIVE], v->probability[LB_POLICY_IMMEDIATE],
                    v->probability[LB_POLICY_UNKNOWN],
                    v->policy == LB_POLICY_UNKNOWN ? "none reaches the confidence asked for"
                                                   : "the rest of the evidence is spread thin");
    return lbi_verdict_add_reason(v, &t);
}

bool lbi_explain(lb_verdict *v, const lbi_fit *fit) {
    const lbi_progress *p = &fit->progress;
    if (p->unusable != LBI_USABLE)
        return lbi_explain_unusable(v, p) && tell_foreign(v, fit);
    lb_policy policy = v->policy;
    for (int i = LB_POLICY_NONE; i <= LB_POLICY_IMMEDIATE; i++)
        if (v->policy == LB_POLICY_UNKNOWN && v->probability[i] >= LBI_CONFIDENCE)
            policy = (lb_policy)i;
    lb_policy shown =
        policy != LB_POLICY_UNKNOWN && policy != LB_POLICY_IMMEDIATE ? policy : LB_POLICY_LAZY;
    lbi_story s = {.h = {.p = p, .lists = &fit->lists[shown]}};
    s.h.size = lbi_array_new(p->tasks, sizeof *s.h.size);
    s.chosen = lbi_array_new(p->tasks, sizeof *s.chosen);
    s.values = lbi_array_new(p->tasks, sizeof *s.values);
    bool ok = s.h.size != NULL && s.chosen != NULL && s.values != NULL &&
              (policy == v->policy || tell_confidence(v, policy)) &&
              (policy == LB_POLICY_UNKNOWN ? lbi_explain_missing(v, p)
                                           : lbi_explain_policy(v, &s, policy));
    if (ok && v->reason_count == 0)
        ok = tell_probability(v);
    ok = ok && tell_disorder(v, &p->disorder) && tell_dropped(v, p) && tell_foreign(v, fit);
    free(s.h.size);
    free(s.chosen);
    free(s.values);
    return ok;
}
