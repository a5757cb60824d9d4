/* SPDX-License-Identifier: BSD-3-Clause */
/* What shows a policy: the end or the interval, the tasks, and the numbers that were measured. */
#include <math.h>

#include "classify/explain.h"

/* ---- what an interval may show; each returns how long it shows it, 0: not at all ---- */

static double shorter(const lbi_story *s) {
    double before = s->h.p->time[s->h.now.from] - s->h.p->time[s->h.now.before];
    return fmin(before, lbi_length(&s->h));
}

/* An end speeds up its mates alone. */
static double shows_mates_alone(const lbi_story *s) {
    const lbi_step *end = lbi_step_of(&s->h.now, LBI_STEP_END);
    if (end == NULL || end->from < 2 || lbi_step_of(&s->h.now, LBI_STEP_MOVE) != NULL ||
        s->h.now.longest < end->from)
        return 0;
    return shorter(s);
}

/* Lists two apart, nothing idle, nobody moves. */
static double shows_uneven_lists(const lbi_story *s) {
    return s->h.now.idle == 0 && s->h.now.longest >= s->h.now.shortest + 2 ? lbi_length(&s->h) : 0;
}

/* An idle core beside a list of two. */
static double shows_idle_core(const lbi_story *s) {
    return s->h.now.idle > 0 && s->h.now.longest >= 2 ? lbi_length(&s->h) : 0;
}

/* A move to an idle core. */
static double shows_pull(const lbi_story *s) {
    const lbi_step *move = lbi_step_of(&s->h.now, LBI_STEP_MOVE);
    return move != NULL && move->to == 1 ? shorter(s) : 0;
}

/* A move although no core was idle. */
static double shows_push(const lbi_story *s) {
    const lbi_step *move = lbi_step_of(&s->h.now, LBI_STEP_MOVE);
    return move != NULL && move->to >= 2 && s->h.now.idle == 0 ? shorter(s) : 0;
}

/* Lists one apart that stay so. */
static double shows_steps(const lbi_story *s) {
    return s->h.now.idle == 0 && s->h.now.longest > s->h.now.shortest ? lbi_length(&s->h) : 0;
}

static double at_s(const lbi_story *s, size_t bound) {
    return s->h.p->time[bound];
}

static bool tell_mates_alone(lb_verdict *v, lbi_story *s) {
    if (!lbi_story_seek(s, shows_mates_alone))
        return true;
    const lbi_step *end = lbi_step_of(&s->h.now, LBI_STEP_END);
    size_t n = lbi_changed(&s->h, end->from, (uint16_t)(end->from - 1), s->chosen);
    if (n == 0)
        return true;
    lbi_text t = {0};
    double others[3];
    lbi_text_printf(&t, "when task %u ended at %.4g s, ", s->h.p->number[end->task],
                    at_s(s, s->h.now.from));
    lbi_story_name_tasks(&t, s, s->chosen, n);
    lbi_text_string(&t, " alone sped up, ");
    lbi_story_name_change(&t, s, s->chosen, n);
    size_t rest = lbi_of_size(&s->h, s->h.now.longest, s->chosen);
    if (lbi_story_spread_ms(s, s->chosen, rest, s->h.now.from, s->h.now.to, others)) {
        lbi_text_string(&t, ", while ");
        lbi_story_name_tasks(&t, s, s->chosen, rest);
        lbi_text_printf(&t, " stayed at %.4g ms: no even sharing, so not immediate", others[1]);
    }
    return lbi_verdict_add_reason(v, &t);
}

static bool tell_uneven_lists(lb_verdict *v, lbi_story *s) {
    if (!lbi_story_seek(s, shows_uneven_lists))
        return true;
    lbi_text t = {0};
    lbi_text_printf(&t, "from %.4g to %.4g s ", at_s(s, s->h.now.from), at_s(s, s->h.now.to));
    lbi_story_name_group(&t, s, s->h.now.shortest);
    lbi_text_string(&t, " while ");
    lbi_story_name_group(&t, s, s->h.now.longest);
    lbi_text_string(&t, " and nobody moved: not active");
    return lbi_verdict_add_reason(v, &t);
}

static bool tell_idle_core(lb_verdict *v, lbi_story *s) {
    if (!lbi_story_seek(s, shows_idle_core))
        return true;
    lbi_text t = {0};
    lbi_text_printf(&t, "from %.4g to %.4g s %u of %u cores had nothing to run while ",
                    at_s(s, s->h.now.from), at_s(s, s->h.now.to), s->h.now.idle, s->h.p->cores);
    lbi_story_name_group(&t, s, s->h.now.longest);
    lbi_text_string(&t, ": nobody moves even to an idle core");
    return lbi_verdict_add_reason(v, &t);
}

static bool tell_pull(lb_verdict *v, lbi_story *s) {
    if (!lbi_story_seek(s, shows_pull))
        return true;
    const lbi_step *move = lbi_step_of(&s->h.now, LBI_STEP_MOVE);
    const lbi_step *end = lbi_step_of(&s->h.now, LBI_STEP_END);
    lbi_text t = {0};
    if (end != NULL)
        lbi_text_printf(&t, "when task %u, the last on its core, ended at %.4g s, ",
                        s->h.p->number[end->task], at_s(s, s->h.now.from));
    lbi_story_name_tasks(&t, s, &move->task, 1);
    lbi_text_string(&t, " sped up ");
    lbi_story_name_change(&t, s, &move->task, 1);
    lbi_text_string(&t, ": the idle core received a task, so not none");
    return lbi_verdict_add_reason(v, &t);
}

static bool tell_push(lb_verdict *v, lbi_story *s) {
    if (!lbi_story_seek(s, shows_push))
        return true;
    const lbi_step *move = lbi_step_of(&s->h.now, LBI_STEP_MOVE);
    const lbi_step *end = lbi_step_of(&s->h.now, LBI_STEP_END);
    size_t n = lbi_changed(&s->h, move->from, move->to, s->chosen);
    if (end == NULL || n == 0)
        return true;
    lbi_text t = {0};
    lbi_text_printf(
        &t, "when task %u ended at %.4g s and left a core with %u to run beside one with %u, ",
        s->h.p->number[end->task], at_s(s, s->h.now.from), end->from - 1u, move->from);
    lbi_story_name_tasks(&t, s, s->chosen, n);
    lbi_text_string(&t, " sped up ");
    lbi_story_name_change(&t, s, s->chosen, n);
    lbi_text_string(&t, ": one of them moved although no core was idle, so not lazy");
    return lbi_verdict_add_reason(v, &t);
}

static bool tell_steps(lb_verdict *v, lbi_story *s) {
    if (!lbi_story_seek(s, shows_steps))
        return true;
    lbi_text t = {0};
    lbi_text_printf(&t, "from %.4g to %.4g s ", at_s(s, s->h.now.from), at_s(s, s->h.now.to));
    lbi_story_name_group(&t, s, s->h.now.shortest);
    lbi_text_string(&t, " while ");
    lbi_story_name_group(&t, s, s->h.now.longest);
    lbi_text_string(&t, ": shares stay uneven, so not immediate");
    return lbi_verdict_add_reason(v, &t);
}

/* The longest interval in which an even share differs from what lists would give. */
static bool tell_even(lb_verdict *v, lbi_story *s) {
    const lbi_progress *p = s->h.p;
    double best = 0;
    size_t from = 0, to = 0;
    uint32_t first = 0;
    for (uint32_t i = 0; i <= p->tasks - p->cores; i++) {
        uint32_t alive = p->tasks - i;
        size_t begin = i == 0 ? 0 : p->end[i - 1], end = p->end[i];
        if (alive > p->cores && alive % p->cores != 0 && p->time[end] - p->time[begin] > best) {
            best = p->time[end] - p->time[begin];
            from = begin;
            to = end;
            first = i;
        }
    }
    if (best <= 0)
        return true;
    uint32_t alive = p->tasks - first, size = alive / p->cores;
    double spread[3];
    for (uint32_t i = 0; i < alive; i++)
        s->chosen[i] = first + i;
    if (!lbi_story_spread_ms(s, s->chosen, alive, from, to, spread))
        return true;
    lbi_text t = {0};
    double alone = 1e3 * p->unit_work;
    lbi_text_printf(&t,
                    "from %.4g to %.4g s %u tasks on %u cores took between %.4g and %.4g ms a "
                    "unit: even sharing predicts %.4g ms for each, lists of %u and %u tasks %.4g "
                    "and %.4g ms",
                    p->time[from], p->time[to], alive, p->cores, spread[0], spread[2],
                    alone * alive / p->cores, size, size + 1, alone * size, alone * (size + 1));
    return lbi_verdict_add_reason(v, &t);
}

static bool tell_queues(lb_verdict *v) {
    lbi_text t = {0};
    const lbi_changes *c = &v->changes;
    if (c->waits == 0)
        lbi_text_string(&t,
                        "units alone do not tell a single run queue from one for each core: both "
                        "share evenly");
    else
        lbi_text_printf(&t, "%.3g %% of %zu units that had to wait ended on another core%s",
                        100.0 * (double)c->changes / (double)c->waits, c->waits,
                        v->queues == LB_QUEUES_SINGLE ? ": who waits gets the first core that "
                                                        "comes free, from a single run queue"
                        : v->queues == LB_QUEUES_PER_CORE
                            ? ": who waits stays where it is, so each core has its own run queue"
                            : ", which does not tell a single run queue from one for each core");
    return lbi_verdict_add_reason(v, &t);
}

static bool tell_rotation(lb_verdict *v) {
    lbi_text t = {0};
    if (!isfinite(v->rotation_time))
        return true;
    lbi_text_printf(&t, "an uneven share lasts about %.2g s before it moves on to other tasks",
                    v->rotation_time);
    return lbi_verdict_add_reason(v, &t);
}

bool lbi_explain_policy(lb_verdict *v, lbi_story *s, lb_policy policy) {
    switch (policy) {
    case LB_POLICY_NONE:
        return tell_idle_core(v, s) && tell_mates_alone(v, s);
    case LB_POLICY_LAZY:
        return tell_mates_alone(v, s) && tell_uneven_lists(v, s) && tell_pull(v, s);
    case LB_POLICY_ACTIVE:
        return tell_push(v, s) && tell_steps(v, s);
    case LB_POLICY_IMMEDIATE:
        return tell_even(v, s) && tell_rotation(v) && tell_queues(v);
    default:
        return true;
    }
}
