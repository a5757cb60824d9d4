/* SPDX-License-Identifier: BSD-3-Clause */
#include "experiment/adaptive.h"

#include <stdbool.h>

#define SECOND INT64_C(1000000000)
#define UNEVEN_NS (SECOND * 5 / 2)
#define MUCH 0.4 /* that much of the doubt allowed is next to none */

static int64_t larger(int64_t a, int64_t b) {
    return a > b ? a : b;
}

void lbi_adaptive_begin(lbi_adaptive *ret_adaptive, uint32_t cores, uint32_t tasks, int64_t turn_ns,
                        int64_t end_ns, double confidence, uint32_t *sizes, int32_t *core) {
    *ret_adaptive = (lbi_adaptive){.cores = cores,
                                   .tasks = tasks,
                                   .turn_ns = turn_ns,
                                   .end_ns = end_ns,
                                   .confidence = confidence,
                                   .sizes = sizes,
                                   .core = core,
                                   .sure_ns = INT64_MAX,
                                   .very_sure_ns = INT64_MAX};
}

int64_t lbi_adaptive_pause(const lbi_adaptive *a) {
    return larger(SECOND / 10, a->turn_ns);
}

/* Under lists an end moves one task at most, and where nobody balances none moves. More than that
 * was seen by the controller itself: whatever the rates say, it is not so. One may be anybody's. */
static bool contradicted(const lbi_adaptive *a, int policy) {
    return policy != LB_POLICY_IMMEDIATE &&
           a->moves > 1 + (policy == LB_POLICY_NONE ? 0 : a->ended);
}

static void count_moves(lbi_adaptive *a, const lbi_view *view) {
    for (uint32_t i = 0; i < a->tasks; i++) {
        int32_t before = a->core[i];
        a->moves += a->looked && view->core[i] >= 0 && before >= 0 && before != view->core[i];
        a->core[i] = view->core[i];
    }
    a->looked = true;
}

/* Returns how many tasks are alive, and the shortest list that is not empty, and the longest. */
static uint32_t count(lbi_adaptive *a, const lbi_view *view, uint32_t *ret_shortest,
                      uint32_t *ret_longest) {
    uint32_t alive = 0, shortest = 0, longest = 0;
    for (uint32_t core = 0; core < a->cores; core++)
        a->sizes[core] = 0;
    for (uint32_t i = 0; i < a->tasks; i++)
        if (view->core[i] >= 0) {
            a->sizes[view->core[i]]++;
            alive++;
        }
    for (uint32_t core = 0; core < a->cores; core++) {
        if (a->sizes[core] > 0 && (a->sizes[shortest] == 0 || a->sizes[core] < a->sizes[shortest]))
            shortest = core;
        if (a->sizes[core] > a->sizes[longest])
            longest = core;
    }
    *ret_shortest = shortest;
    *ret_longest = longest;
    return alive;
}

static void note_sure(lbi_adaptive *a, const lbi_view *view) {
    int favourite = LB_POLICY_NONE;
    for (int policy = LB_POLICY_NONE; policy <= LB_POLICY_IMMEDIATE; policy++)
        if (view->probability[policy] > view->probability[favourite])
            favourite = policy;
    if (view->probability[favourite] < a->confidence || favourite != a->favourite)
        a->sure_ns = a->very_sure_ns = INT64_MAX;
    else if (view->probability[favourite] < 1 - (1 - a->confidence) * MUCH)
        a->very_sure_ns = INT64_MAX;
    a->favourite = favourite;
    if (view->probability[favourite] < a->confidence)
        return;
    if (a->sure_ns == INT64_MAX)
        a->sure_ns = view->now_ns;
    if (a->very_sure_ns == INT64_MAX &&
        view->probability[favourite] >= 1 - (1 - a->confidence) * MUCH)
        a->very_sure_ns = view->now_ns;
}

/* One look may be lucky. And where all share evenly, the model also wants to know how long an
 * uneven share lasts. */
static bool decided(const lbi_adaptive *a, int64_t now) {
    if (a->favourite == LB_POLICY_IMMEDIATE && a->uneven_ns < UNEVEN_NS)
        return false;
    if (contradicted(a, a->favourite))
        return false;
    return (a->very_sure_ns != INT64_MAX && now - a->very_sure_ns >= lbi_adaptive_pause(a)) ||
           (a->sure_ns != INT64_MAX && now - a->sure_ns >= 20 * lbi_adaptive_pause(a));
}

/* How long the present lists are to be watched. */
static int64_t patience(const lbi_adaptive *a, const lbi_view *view, uint32_t alive,
                        uint32_t longest) {
    const double *p = view->probability;
    /* On a wide machine the lists that change are a small part of what is seen. */
    uint32_t wide = a->cores < 8 ? 8 : a->cores < 24 ? a->cores : 24;
    int64_t least = larger(SECOND * 3 / 80 * wide, 3 * a->turn_ns * longest);
    double lists = p[LB_POLICY_NONE] + p[LB_POLICY_LAZY] + p[LB_POLICY_ACTIVE];
    if (a->ended == 0)
        return least;
    if (alive % a->cores == 0 || alive < a->cores)
        return least * 3 / 2;
    if (a->ended == 1)
        return lists >= 0.8 ? least * 3 / 2 : larger(2 * SECOND, 8 * a->turn_ns * longest);
    if (p[LB_POLICY_NONE] + p[LB_POLICY_LAZY] >= 0.9)
        return least;
    /* After the next end nothing is uneven any more: better wait than ask again. */
    if (alive == a->cores + 1)
        return larger(10 * SECOND, 30 * a->turn_ns * longest);
    return larger(4 * SECOND, 12 * a->turn_ns * longest);
}

lbi_decision lbi_adaptive_decide(lbi_adaptive *a, const lbi_view *view, uint32_t *ret_task) {
    uint32_t shortest, longest;
    uint32_t alive = count(a, view, &shortest, &longest);
    int64_t elapsed = view->now_ns - a->since_ns;
    count_moves(a, view);
    if (alive > a->cores && alive % a->cores != 0)
        a->uneven_ns += view->now_ns - a->seen_ns;
    a->seen_ns = view->now_ns;
    note_sure(a, view);
    if (decided(a, view->now_ns))
        a->stopped = "confident";
    else if (view->now_ns >= a->end_ns)
        a->stopped = "budget";
    else if (a->sizes[longest] < 2)
        a->stopped = "nothing left to balance";
    if (a->stopped != NULL)
        return LBI_DECIDED_STOP;
    if (elapsed < patience(a, view, alive, a->sizes[longest]))
        return LBI_DECIDED_WAIT;
    for (uint32_t i = 0; i < a->tasks; i++)
        if (view->core[i] == (int32_t)shortest)
            *ret_task = i;
    a->ended++;
    a->since_ns = view->now_ns;
    return LBI_DECIDED_END;
}
