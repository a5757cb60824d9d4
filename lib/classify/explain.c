/* SPDX-License-Identifier: BSD-3-Clause */
/* Reasons: which end or interval shows what, with the numbers that were measured. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "classify/explain.h"
#include "classify/history.h"

#define NAMED 4 /* tasks that a sentence names; the rest is counted */

typedef struct story {
    const lbi_fit *fit;
    lbi_history h;
    uint32_t *chosen; /* [task]: those that a sentence is about */
    double *values;   /* [task] */
} story;

static double unit_ms(const lbi_progress *p, uint32_t task, size_t from, size_t to) {
    double done = lbi_done(p, task, from, to), seen = lbi_seen(p, task, from, to);
    return done > 0 ? 1e3 * p->unit_work * seen / done : (double)NAN;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The least, the middle and the greatest unit duration of some tasks. False: none is known. */
static bool spread_ms(const story *s, const uint32_t *tasks, size_t n, size_t from, size_t to,
                      double ret[3]) {
    size_t known = 0;
    for (size_t i = 0; i < n; i++) {
        double value = unit_ms(s->h.p, tasks[i], from, to);
        if (isfinite(value))
            s->values[known++] = value;
    }
    if (known == 0)
        return false;
    qsort(s->values, known, sizeof *s->values, by_value);
    ret[0] = s->values[0];
    ret[1] = s->values[known / 2];
    ret[2] = s->values[known - 1];
    return true;
}

/* In the order of the trace's numbers, so that a reader finds them. */
static void name_tasks(lbi_text *t, const story *s, const uint32_t *tasks, size_t n) {
    uint32_t least = 0;
    size_t named = n <= NAMED + 1 ? n : NAMED;
    lbi_text_string(t, n == 1 ? "task " : "tasks ");
    for (size_t i = 0; i < named; i++) {
        uint32_t next = UINT32_MAX;
        for (size_t j = 0; j < n; j++) {
            uint32_t number = s->h.p->number[tasks[j]];
            next = number >= least && number < next ? number : next;
        }
        lbi_text_printf(t, "%s%u", i == 0 ? "" : i + 1 == n ? " and " : ", ", next);
        least = next + 1;
    }
    if (named < n)
        lbi_text_printf(t, " and %zu more", n - named);
}

/* "from 30.1 to 20.2 ms", the middle of several. */
static void name_change(lbi_text *t, const story *s, const uint32_t *tasks, size_t n,
                        const lbi_interval *i) {
    double before[3], after[3];
    if (!spread_ms(s, tasks, n, i->before, i->from, before) ||
        !spread_ms(s, tasks, n, i->from, i->to, after)) {
        lbi_text_string(t, "by an amount that is not known");
        return;
    }
    lbi_text_printf(t, "from %.4g to %.4g ms a unit", before[1], after[1]);
}

/* ---- what an interval may show; each returns how long it shows it, 0: not at all ---- */

static double shorter(const story *s) {
    double before = s->h.p->time[s->h.now.from] - s->h.p->time[s->h.now.before];
    return fmin(before, lbi_length(&s->h));
}

/* An end speeds up its mates alone. */
static double shows_mates_alone(const story *s) {
    const lbi_step *end = lbi_step_of(&s->h.now, LBI_STEP_END);
    if (end == NULL || end->from < 2 || lbi_step_of(&s->h.now, LBI_STEP_MOVE) != NULL ||
        s->h.now.longest < end->from)
        return 0;
    return shorter(s);
}

/* Lists two apart, nothing idle, nobody moves. */
static double shows_uneven_lists(const story *s) {
    return s->h.now.idle == 0 && s->h.now.longest >= s->h.now.shortest + 2 ? lbi_length(&s->h) : 0;
}

/* An idle core beside a list of two. */
static double shows_idle_core(const story *s) {
    return s->h.now.idle > 0 && s->h.now.longest >= 2 ? lbi_length(&s->h) : 0;
}

/* A move to an idle core. */
static double shows_pull(const story *s) {
    const lbi_step *move = lbi_step_of(&s->h.now, LBI_STEP_MOVE);
    return move != NULL && move->to == 1 ? shorter(s) : 0;
}

/* A move although no core was idle. */
static double shows_push(const story *s) {
    const lbi_step *move = lbi_step_of(&s->h.now, LBI_STEP_MOVE);
    return move != NULL && move->to >= 2 && s->h.now.idle == 0 ? shorter(s) : 0;
}

/* Lists one apart that stay so. */
static double shows_steps(const story *s) {
    return s->h.now.idle == 0 && s->h.now.longest > s->h.now.shortest ? lbi_length(&s->h) : 0;
}

/* Goes to the interval that shows it longest. False: none does. */
static bool seek(story *s, double (*shows)(const story *)) {
    double best = 0;
    size_t best_at = 0, at = 0;
    lbi_history_begin(&s->h);
    for (; lbi_history_next(&s->h); at++) {
        double length = shows(s);
        if (length > best) {
            best = length;
            best_at = at;
        }
    }
    if (best <= 0)
        return false;
    lbi_history_begin(&s->h);
    for (at = 0; at <= best_at; at++)
        lbi_history_next(&s->h);
    return true;
}

/* ---- sentences ---- */

static bool tell(lb_verdict *v, lbi_text *t) {
    return lbi_verdict_add_reason(v, t);
}

static double at_s(const story *s, size_t bound) {
    return s->h.p->time[bound];
}

static bool tell_mates_alone(lb_verdict *v, story *s) {
    if (!seek(s, shows_mates_alone))
        return true;
    const lbi_step *end = lbi_step_of(&s->h.now, LBI_STEP_END);
    size_t n = lbi_changed(&s->h, end->from, (uint16_t)(end->from - 1), s->chosen);
    if (n == 0)
        return true;
    lbi_text t = {0};
    double others[3];
    lbi_text_printf(&t, "when task %u ended at %.4g s, ", s->h.p->number[end->task],
                    at_s(s, s->h.now.from));
    name_tasks(&t, s, s->chosen, n);
    lbi_text_string(&t, " alone sped up, ");
    name_change(&t, s, s->chosen, n, &s->h.now);
    size_t rest = lbi_of_size(&s->h, s->h.now.longest, s->chosen);
    if (spread_ms(s, s->chosen, rest, s->h.now.from, s->h.now.to, others)) {
        lbi_text_string(&t, ", while ");
        name_tasks(&t, s, s->chosen, rest);
        lbi_text_printf(&t, " stayed at %.4g ms: no even sharing, so not immediate", others[1]);
    }
    return tell(v, &t);
}

static void name_group(lbi_text *t, story *s, uint16_t size) {
    double spread[3];
    size_t n = lbi_of_size(&s->h, size, s->chosen);
    name_tasks(t, s, s->chosen, n);
    if (spread_ms(s, s->chosen, n, s->h.now.from, s->h.now.to, spread))
        lbi_text_printf(t, " took %.4g ms a unit (%u to a core)", spread[1], size);
}

static bool tell_uneven_lists(lb_verdict *v, story *s) {
    if (!seek(s, shows_uneven_lists))
        return true;
    lbi_text t = {0};
    lbi_text_printf(&t, "from %.4g to %.4g s ", at_s(s, s->h.now.from), at_s(s, s->h.now.to));
    name_group(&t, s, s->h.now.shortest);
    lbi_text_string(&t, " while ");
    name_group(&t, s, s->h.now.longest);
    lbi_text_string(&t, " and nobody moved: not active");
    return tell(v, &t);
}

static bool tell_idle_core(lb_verdict *v, story *s) {
    if (!seek(s, shows_idle_core))
        return true;
    lbi_text t = {0};
    lbi_text_printf(&t, "from %.4g to %.4g s %u of %u cores had nothing to run while ",
                    at_s(s, s->h.now.from), at_s(s, s->h.now.to), s->h.now.idle, s->h.p->cores);
    name_group(&t, s, s->h.now.longest);
    lbi_text_string(&t, ": nobody moves even to an idle core");
    return tell(v, &t);
}

static bool tell_pull(lb_verdict *v, story *s) {
    if (!seek(s, shows_pull))
        return true;
    const lbi_step *move = lbi_step_of(&s->h.now, LBI_STEP_MOVE);
    const lbi_step *end = lbi_step_of(&s->h.now, LBI_STEP_END);
    lbi_text t = {0};
    if (end != NULL)
        lbi_text_printf(&t, "when task %u, the last on its core, ended at %.4g s, ",
                        s->h.p->number[end->task], at_s(s, s->h.now.from));
    name_tasks(&t, s, &move->task, 1);
    lbi_text_string(&t, " sped up ");
    name_change(&t, s, &move->task, 1, &s->h.now);
    lbi_text_string(&t, ": the idle core received a task, so not none");
    return tell(v, &t);
}

static bool tell_push(lb_verdict *v, story *s) {
    if (!seek(s, shows_push))
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
    name_tasks(&t, s, s->chosen, n);
    lbi_text_string(&t, " sped up ");
    name_change(&t, s, s->chosen, n, &s->h.now);
    lbi_text_string(&t, ": one of them moved although no core was idle, so not lazy");
    return tell(v, &t);
}

static bool tell_steps(lb_verdict *v, story *s) {
    if (!seek(s, shows_steps))
        return true;
    lbi_text t = {0};
    lbi_text_printf(&t, "from %.4g to %.4g s ", at_s(s, s->h.now.from), at_s(s, s->h.now.to));
    name_group(&t, s, s->h.now.shortest);
    lbi_text_string(&t, " while ");
    name_group(&t, s, s->h.now.longest);
    lbi_text_string(&t, ": shares stay uneven, so not immediate");
    return tell(v, &t);
}

/* The longest interval in which an even share differs from what lists would give. */
static bool tell_even(lb_verdict *v, story *s) {
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
    if (!spread_ms(s, s->chosen, alive, from, to, spread))
        return true;
    lbi_text t = {0};
    double alone = 1e3 * p->unit_work;
    lbi_text_printf(&t,
                    "from %.4g to %.4g s %u tasks on %u cores took between %.4g and %.4g ms a "
                    "unit: even sharing predicts %.4g ms for each, lists of %u and %u tasks %.4g "
                    "and %.4g ms",
                    p->time[from], p->time[to], alive, p->cores, spread[0], spread[2],
                    alone * alive / p->cores, size, size + 1, alone * size, alone * (size + 1));
    return tell(v, &t);
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
    return tell(v, &t);
}

static bool tell_rotation(lb_verdict *v) {
    lbi_text t = {0};
    if (!isfinite(v->rotation_time))
        return true;
    lbi_text_printf(&t, "an uneven share lasts about %.2g s before it moves on to other tasks",
                    v->rotation_time);
    return tell(v, &t);
}

static bool tell_unusable(lb_verdict *v, const lbi_progress *p) {
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
    return tell(v, &t);
}

/* ---- what is missing where nothing is decided ---- */

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
    return tell(v, &t);
}

static bool tell_missing(lb_verdict *v, const story *s) {
    const lbi_progress *p = s->h.p;
    double none = v->probability[LB_POLICY_NONE], lazy = v->probability[LB_POLICY_LAZY];
    double active = v->probability[LB_POLICY_ACTIVE];
    double even = v->probability[LB_POLICY_IMMEDIATE], least = (1 - v->confidence) / 4;
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
        if (!tell(v, &t))
            return false;
    }
    if (none > least && lazy + active > least) {
        lbi_text_printf(&t,
                        "none and lazy (%.2g and %.2g) differ only while a core is idle and "
                        "another has two tasks or more: the trace has no such moment of %.3g s or "
                        "more",
                        none, lazy, long_enough);
        if (!tell(v, &t))
            return false;
    }
    if (even > least && none + lazy + active > least) {
        lbi_text_printf(&t,
                        "even sharing and fixed lists (%.2g and %.2g) differ only while the tasks "
                        "are no multiple of the cores: the trace has %.3g s of that, and a rotated "
                        "share takes a second or two to even out",
                        even, none + lazy + active, uneven_seconds(p));
        if (!tell(v, &t))
            return false;
    }
    return v->probability[LB_POLICY_UNKNOWN] <= 1 - v->confidence || tell_none_of_these(v);
}

static bool tell_foreign(lb_verdict *v, const lbi_fit *fit) {
    lbi_text t = {0};
    if (!(fit->foreign_percent > LBI_FOREIGN_PERCENT))
        return true;
    lbi_text_printf(&t,
                    "foreign_cpu_percent is %.3g: other load had so much of the cores meanwhile, "
                    "which may have shaped the rates",
                    fit->foreign_percent);
    return tell(v, &t);
}

static bool tell_dropped(lb_verdict *v, const lbi_progress *p) {
    lbi_text t = {0};
    if (p->dropped == 0)
        return true;
    lbi_text_printf(&t,
                    "%zu of %zu units (%.2g %%) took much longer than those around them and "
                    "were left out",
                    p->dropped, p->units, 100.0 * (double)p->dropped / (double)p->units);
    return tell(v, &t);
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
    return tell(v, &t);
}

static bool tell_policy(lb_verdict *v, story *s, lb_policy policy) {
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
        return tell_missing(v, s);
    }
}

/* Of a trace that shows a policy well, for a caller who asks for more. */
static bool tell_confidence(lb_verdict *v, lb_policy policy) {
    lbi_text t = {0};
    lbi_text_printf(&t, "%s is probable at %.6g %%, below the ", lbi_policy_name(policy),
                    100 * v->probability[policy]);
    lbi_text_number(&t, 100 * v->confidence);
    lbi_text_string(&t, " % asked for; what speaks for it:");
    return tell(v, &t);
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
    return tell(v, &t);
}

bool lbi_explain(lb_verdict *v, const lbi_fit *fit) {
    const lbi_progress *p = &fit->progress;
    if (p->unusable != LBI_USABLE)
        return tell_unusable(v, p) && tell_foreign(v, fit);
    lb_policy policy = v->policy;
    for (int i = LB_POLICY_NONE; i <= LB_POLICY_IMMEDIATE; i++)
        if (v->policy == LB_POLICY_UNKNOWN && v->probability[i] >= LBI_CONFIDENCE)
            policy = (lb_policy)i;
    lb_policy shown =
        policy != LB_POLICY_UNKNOWN && policy != LB_POLICY_IMMEDIATE ? policy : LB_POLICY_LAZY;
    story s = {.fit = fit, .h = {.p = p, .lists = &fit->lists[shown]}};
    s.h.size = lbi_array_new(p->tasks, sizeof *s.h.size);
    s.chosen = lbi_array_new(p->tasks, sizeof *s.chosen);
    s.values = lbi_array_new(p->tasks, sizeof *s.values);
    bool ok = s.h.size != NULL && s.chosen != NULL && s.values != NULL &&
              (policy == v->policy || tell_confidence(v, policy)) && tell_policy(v, &s, policy);
    if (ok && v->reason_count == 0)
        ok = tell_probability(v);
    ok = ok && tell_disorder(v, &p->disorder) && tell_dropped(v, p) && tell_foreign(v, fit);
    free(s.h.size);
    free(s.chosen);
    free(s.values);
    return ok;
}
