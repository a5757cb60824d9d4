/* SPDX-License-Identifier: BSD-3-Clause */
/* Policies of run lists: the search, from end to end. Choices are tried in the order in which the
 * rates soon after speak for them; rates are judged for as long as a task's list keeps its length.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "classify/search.h"

#define LATE_LEAST 1e-3 /* an old rate less probable than that is over */
#define AWAY_WINDOWS 8  /* for how many windows a core may be away */

static double square(double x) {
    return x * x;
}

/* The old rate may last for a while; then it changes within a window. */
static void advance_run(lbi_search *s, lbi_run *r) {
    const lbi_progress *p = s->p;
    double length = p->time[s->bound + 1] - p->time[s->bound];
    lbi_way ways[3] = {{1.0 / r->size, 0, 1}};
    size_t n = 1;
    if (r->late > LATE_LEAST) {
        double stays = exp(-length / r->delay), change = 1.0 / r->from - 1.0 / r->size;
        double part = (1 - stays) * r->delay / length;
        ways[0].weight = 1 - r->late;
        ways[1] = (lbi_way){1.0 / r->from, 0, r->late * stays};
        ways[2] = (lbi_way){1.0 / r->size + part * change, square(part * change) / 3,
                            r->late * (1 - stays)};
        r->late *= stays;
        n = 3;
    }
    double density =
        lbi_track_observe(&r->track, p, ways, n, lbi_done(p, r->task, s->bound, s->bound + 1),
                          lbi_seen(p, r->task, s->bound, s->bound + 1), &r->unexplained);
    if (n == 3 && !r->unexplained)
        r->late = ways[1].weight;
    r->starved = r->unexplained && lbi_done(p, r->task, s->bound, s->bound + 1) <
                                       lbi_seen(p, r->task, s->bound, s->bound + 1) / r->size;
    r->gain = log(density);
    r->advanced = s->bound + 1;
}

/* Whether all tasks of one list got less than their share, and no others did. */
static bool one_list_starves(lbi_search *s, const lbi_state *h) {
    uint32_t list = LBI_NO_BLOCK;
    for (uint16_t b = 0; b < h->blocks; b++)
        s->starving[b] = 0;
    for (uint32_t task = s->alive; task < s->p->tasks; task++)
        s->starving[h->block_of[task]] += s->runs[h->run_of[task]].starved;
    for (uint16_t b = 0; b < h->blocks; b++) {
        if (s->starving[b] == 0 || h->block[b].lists == 0)
            continue;
        if (list != LBI_NO_BLOCK || s->starving[b] + (h->guest == b) != h->block[b].size)
            return false;
        list = b;
    }
    return list != LBI_NO_BLOCK;
}

/* A core may be away for a while, once: taken by a hypervisor, say. What its tasks miss then is
 * explained. */
static void excuse_core(lbi_search *s, lbi_state *h) {
    const lbi_progress *p = s->p;
    bool goes_on = h->away_to == s->bound && s->bound - h->away_from < AWAY_WINDOWS;
    if ((h->away_to > h->away_from && !goes_on) || !one_list_starves(s, h))
        return;
    if (h->away_to == h->away_from)
        h->away_from = (uint32_t)s->bound;
    h->away_to = (uint32_t)s->bound + 1;
    for (uint32_t task = s->alive; task < p->tasks; task++)
        if (s->runs[h->run_of[task]].starved)
            h->excused += lbi_seen(p, task, s->bound, s->bound + 1);
}

static void observe_window(lbi_search *s) {
    const lbi_progress *p = s->p;
    for (size_t i = 0; i < s->now.count; i++) {
        lbi_state *h = &s->now.states[i];
        h->potential = 0;
        bool starved = false;
        for (uint32_t task = s->alive; task < p->tasks; task++) {
            lbi_run *r = &s->runs[h->run_of[task]];
            if (r->advanced == s->bound)
                advance_run(s, r);
            h->score += r->gain;
            if (r->unexplained)
                h->missed += lbi_seen(p, task, s->bound, s->bound + 1);
            starved = starved || r->starved;
        }
        if (starved)
            excuse_core(s, h);
    }
}

static void forget_fresh(lbi_search *s) {
    for (uint32_t i = s->alive; i < s->p->tasks; i++)
        s->fresh[i] = LBI_NOBODY;
}

static double best_score(const lbi_search *s) {
    double best = -INFINITY;
    for (size_t i = 0; i < s->now.count; i++)
        best = fmax(best, s->now.states[i].score);
    return best;
}

/* The ends at the present bound. False: the last task has ended. */
static bool end_tasks(lbi_search *s) {
    const lbi_progress *p = s->p;
    uint32_t first = s->alive, last = first;
    while (last < p->tasks && p->end[last] == s->bound)
        last++;
    if (last == p->tasks)
        return false;
    for (uint32_t task = first; task < last && !s->failed; task++)
        lbi_end_task(s, task, last == first + 1);
    s->alive = last;
    if (!s->failed)
        lbi_balance_lists(s);
    return true;
}

static lb_status search_all(lbi_search *s, lb_error *err) {
    const lbi_progress *p = s->p;
    forget_fresh(s);
    lbi_set_horizon(s);
    lbi_begin_lists(s);
    while (!s->failed) {
        if (s->how.disturbed)
            lbi_consider_guests(s);
        if (s->failed)
            break;
        observe_window(s);
        s->bound++;
        if (lbi_pace_note(s->pace, p, s->bound, best_score(s))) {
            s->given_up = true;
            return LB_OK;
        }
        bool ends = p->end[s->alive] <= s->bound;
        if (ends || s->how.disturbed) {
            forget_fresh(s);
            lbi_set_horizon(s);
        }
        if (ends)
            lbi_repair_choices(s);
        if (ends && !s->failed && !end_tasks(s))
            break;
        if (!s->failed && s->run_count > 64 * (size_t)p->tasks + 4096) {
            lb_status status = lbi_compact_runs(s, err);
            if (status != LB_OK)
                return status;
        }
    }
    return s->failed ? lbi_error_nomem(err, "states") : LB_OK;
}

static lb_status read_history(const lbi_search *s, lbi_lists *ret, lb_error *err) {
    const lbi_state *best = NULL;
    double sum = 0, seen = 0;
    for (size_t i = 0; i < s->now.count; i++)
        if (best == NULL || s->now.states[i].score > best->score)
            best = &s->now.states[i];
    for (size_t i = 0; i < s->now.count; i++)
        sum += exp(s->now.states[i].score - best->score);
    ret->log_likelihood = s->given_up ? LBI_GIVEN_UP : best->score + log(sum);
    for (uint32_t i = 0; i < s->p->tasks; i++)
        seen += lbi_seen(s->p, i, 0, s->p->end[i]);
    ret->misfit = seen > 0 && !s->given_up ? best->missed / seen : 1;
    ret->excused = seen > 0 ? fmin(best->excused / seen, ret->misfit) : 0;
    for (uint32_t at = best->step; at != LBI_NOBODY; at = s->steps[at].parent)
        ret->count++;
    ret->steps = lbi_array_new(ret->count, sizeof *ret->steps);
    if (ret->steps == NULL)
        return lbi_error_nomem(err, "history");
    size_t to = ret->count;
    for (uint32_t at = best->step; at != LBI_NOBODY; at = s->steps[at].parent)
        ret->steps[--to] = s->steps[at];
    return LB_OK;
}

lb_status lbi_lists_fit(const lbi_progress *progress, lb_policy policy, lbi_how how, lbi_pace *pace,
                        lbi_lists *ret_lists, lb_error *err) {
    lbi_search s = {.p = progress, .policy = policy, .how = how, .pace = pace};
    *ret_lists = (lbi_lists){0};
    lb_status status = lbi_search_make(&s, err);
    if (status == LB_OK)
        status = search_all(&s, err);
    if (status == LB_OK)
        status = read_history(&s, ret_lists, err);
    lbi_search_free(&s);
    return status;
}

void lbi_lists_free(lbi_lists *lists) {
    free(lists->steps);
    *lists = (lbi_lists){0};
}
