/* SPDX-License-Identifier: BSD-3-Clause */
#include "classify/history.h"

#include <math.h>
#include <string.h>

#define GAIN_MAX 8.0
#define LATE_SECONDS 0.2 /* moves come at most so late, .. */
#define LATE_PART 0.7    /* .. or what is over by then is judged by its end */

double lbi_length(const lbi_history *h) {
    return h->p->time[h->now.to] - h->p->time[h->now.from];
}

void lbi_history_begin(lbi_history *s) {
    s->at = 0;
    s->guest = 0;
    s->now = (lbi_interval){0};
    memset(s->size, 0, s->p->tasks * sizeof *s->size);
}

bool lbi_history_next(lbi_history *s) {
    const lbi_progress *p = s->p;
    lbi_interval *i = &s->now;
    bool first = s->at == 0;
    i->before = i->from;
    i->from = first ? 0 : i->to;
    if (i->from + 1 >= p->bounds || s->at >= s->lists->count)
        return false;
    i->step = s->lists->steps + s->at;
    i->steps = 0;
    for (; s->at < s->lists->count && s->lists->steps[s->at].bound <= i->from;
         s->at++, i->steps++) {
        const lbi_step *step = &s->lists->steps[s->at];
        if (step->kind == LBI_STEP_GUEST) {
            s->guest = step->to;
            continue;
        }
        s->size[step->task] = step->kind == LBI_STEP_END ? 0 : step->to;
        if (s->since != NULL && step->kind != LBI_STEP_END)
            s->since[step->task] = step->bound;
    }
    while (i->alive < p->tasks && p->end[i->alive] <= i->from)
        i->alive++;
    if (i->alive == p->tasks)
        return false;
    i->to = p->end[i->alive];
    if (s->at < s->lists->count && s->lists->steps[s->at].bound < i->to)
        i->to = s->lists->steps[s->at].bound;
    double late = fmin(LATE_SECONDS, LATE_PART * (p->time[i->to] - p->time[i->from]));
    i->late = i->from;
    while (p->time[i->late] < p->time[i->from] + late)
        i->late++;
    if (i->late == i->to)
        i->late = i->from;
    double lists = s->guest > 0 ? 1.0 / s->guest : 0;
    i->shortest = s->guest > 0 ? s->guest : UINT16_MAX;
    i->longest = s->guest;
    for (uint32_t task = i->alive; task < p->tasks; task++) {
        uint16_t size = s->size[task];
        lists += 1.0 / size;
        i->shortest = size < i->shortest ? size : i->shortest;
        i->longest = size > i->longest ? size : i->longest;
    }
    double idle = p->cores - round(lists);
    i->idle = idle > 0 ? (uint32_t)idle : 0;
    return true;
}

const lbi_step *lbi_step_of(const lbi_interval *i, lbi_step_kind kind) {
    for (size_t j = 0; j < i->steps; j++)
        if (i->step[j].kind == kind)
            return &i->step[j];
    return NULL;
}

size_t lbi_changed(const lbi_history *s, uint16_t from, uint16_t to, uint32_t *tasks) {
    const lbi_interval *i = &s->now;
    size_t n = 0;
    for (size_t j = 0; j < i->steps; j++) {
        const lbi_step *step = &i->step[j];
        bool is = step->from == from && step->to == to && step->kind != LBI_STEP_END &&
                  step->kind != LBI_STEP_START && step->kind != LBI_STEP_GUEST &&
                  step->kind != LBI_STEP_REPAIR && s->size[step->task] == to;
        for (size_t l = 0; is && l < n; l++)
            is = tasks[l] != step->task;
        if (is)
            tasks[n++] = step->task;
    }
    return n;
}

size_t lbi_of_size(const lbi_history *s, uint16_t size, uint32_t *tasks) {
    const lbi_interval *i = &s->now;
    size_t n = 0;
    for (uint32_t task = i->alive; task < s->p->tasks; task++)
        if (s->size[task] == size)
            tasks[n++] = task;
    return n;
}

static double gain(const lbi_history *h, uint32_t task, size_t from, size_t to, uint16_t is,
                   uint16_t would_be) {
    double difference = lbi_log_rate(h->p, task, from, to, 1.0 / is) -
                        lbi_log_rate(h->p, task, from, to, 1.0 / would_be);
    return fmax(-GAIN_MAX, fmin(difference, GAIN_MAX));
}

double lbi_gain(const lbi_history *h, uint32_t task, uint16_t is, uint16_t would_be) {
    return gain(h, task, h->now.late, h->now.to, is, would_be);
}

double lbi_gain_before(const lbi_history *h, uint32_t task, size_t since, uint16_t is,
                       uint16_t would_be) {
    return gain(h, task, since, h->now.from, is, would_be);
}
