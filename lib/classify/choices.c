/* SPDX-License-Identifier: BSD-3-Clause */
#include "classify/choices.h"

#include <math.h>

#define ODD 0.05 /* how often a move is not what the rule says, for whatever reason */

static void count_list(lbi_choices *c, const lbi_occupancy *o, uint32_t giver) {
    uint32_t candidates = 0, longest = o->count[o->longest];
    for (uint32_t size = o->shortest + 2; size <= o->longest; size++)
        candidates += o->count[size];
    if (giver < o->shortest + 2 || candidates == longest)
        return;
    bool is_longest = giver == o->longest;
    double part = (double)longest / candidates;
    c->lists++;
    c->longest += is_longest;
    c->log_list[LB_LIST_RANDOM] += log(is_longest ? part : 1 - part);
    c->log_list[LB_LIST_LONGEST] += log(is_longest ? 1 - ODD + ODD * part : ODD * (1 - part));
}

static void count_process(lbi_choices *c, const lbi_occupancy *o, const lbi_whereabout *mover) {
    uint32_t members = 0, older = 0, younger = 0, oldest = 0, latest = 0;
    double first = INFINITY, last = -INFINITY;
    for (uint32_t i = 0; i < o->task_count; i++) {
        const lbi_whereabout *w = &o->tasks[i];
        if (!w->awake || w->core != mover->core)
            continue;
        members++;
        older += w->joined < mover->joined;
        younger += w->joined > mover->joined;
        oldest = w->joined < first ? 1 : oldest + (w->joined == first);
        latest = w->joined > last ? 1 : latest + (w->joined == last);
        first = fmin(first, w->joined);
        last = fmax(last, w->joined);
    }
    if (members < 2 || first == last)
        return;
    double any = 1.0 / members;
    c->tasks++;
    c->first += older == 0;
    c->last += younger == 0;
    c->log_process[LB_PROCESS_RANDOM] += log(any);
    c->log_process[LB_PROCESS_FIRST] += log(ODD * any + (older == 0 ? (1 - ODD) / oldest : 0));
    c->log_process[LB_PROCESS_LAST] += log(ODD * any + (younger == 0 ? (1 - ODD) / latest : 0));
}

void lbi_choices_look(lbi_choices *c, const lbi_occupancy *o, const lbi_sighting *s) {
    const lbi_whereabout *mover = &o->tasks[s->task];
    /* Such moves alone are the policy's: lists two apart, to a shortest one. */
    if (s->kind != LBI_SIGHT_RUN || !mover->awake || mover->core == s->core ||
        o->longest < o->shortest + 2 || o->size[s->core] != o->shortest)
        return;
    count_list(c, o, o->size[mover->core]);
    if (o->task_count <= LBI_CHOICE_TASKS_MAX)
        count_process(c, o, mover);
}

static void probabilities(const double *logs, int n, double *ret) {
    double top = -INFINITY, sum = 0;
    for (int i = 0; i < n; i++)
        top = fmax(top, logs[i]);
    for (int i = 0; i < n; i++)
        sum += ret[i] = exp(logs[i] - top);
    for (int i = 0; i < n; i++)
        ret[i] /= sum;
}

void lbi_choices_list(const lbi_choices *c, double ret[2]) {
    probabilities(c->log_list, 2, ret);
}

void lbi_choices_process(const lbi_choices *c, double ret[3]) {
    probabilities(c->log_process, 3, ret);
}
