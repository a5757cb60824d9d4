/* SPDX-License-Identifier: BSD-3-Clause */
/* Choices in the search under run lists: which tasks, as the rates soon after speak for them. What
 * is left out lends its probability to what is kept. */
#include <math.h>

#include "classify/search.h"

#define HORIZON_WAITS 7 /* how far choices look ahead, times the list's first length */
#define GAIN_MAX 12.0   /* what one task may say for a choice */

static double log_rate_soon(const lbi_search *s, uint32_t task, uint16_t size, size_t until) {
    if (size > LBI_SIZES)
        return lbi_log_rate(s->p, task, s->bound, until, 1.0 / size);
    double *known = &s->rates[(size_t)task * LBI_SIZES + size - 1];
    if (isnan(*known))
        *known = lbi_log_rate(s->p, task, s->bound, until, 1.0 / size);
    return *known;
}

double lbi_promise(const lbi_search *s, uint32_t task, uint16_t from, uint16_t to) {
    const lbi_progress *p = s->p;
    size_t until = p->end[task] < s->horizon ? p->end[task] : s->horizon;
    if (until <= s->bound || from == to)
        return 0;
    double gain = log_rate_soon(s, task, to, until) - log_rate_soon(s, task, from, until);
    return fmax(-GAIN_MAX, fmin(gain, GAIN_MAX));
}

static bool before(const lbi_search *s, size_t i, size_t j) {
    return s->sorted[i] > s->sorted[j] ||
           (s->sorted[i] == s->sorted[j] && s->order[i] < s->order[j]);
}

static void swap(lbi_search *s, size_t i, size_t j) {
    double gain = s->sorted[i];
    uint32_t task = s->order[i];
    s->sorted[i] = s->sorted[j];
    s->order[i] = s->order[j];
    s->sorted[j] = gain;
    s->order[j] = task;
}

/* Sifts down in a heap whose root is what comes last. */
static void sift(lbi_search *s, size_t at, size_t count) {
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        child += child + 1 < count && before(s, child, child + 1);
        if (!before(s, at, child))
            return;
        swap(s, at, child);
    }
}

/* A heap of the best takes in the others. */
void lbi_sort_gains(lbi_search *s, const uint32_t *tasks, size_t count, size_t top) {
    for (size_t i = 0; i < count; i++) {
        s->order[i] = tasks[i];
        s->sorted[i] = s->gains[i];
    }
    if (top > count)
        top = count;
    for (size_t i = top / 2; i-- > 0;)
        sift(s, i, top);
    for (size_t i = top; i < count; i++)
        if (before(s, i, 0)) {
            swap(s, i, 0);
            sift(s, 0, top);
        }
    for (size_t i = top; i-- > 1;) {
        swap(s, 0, i);
        sift(s, 0, i);
    }
}

void lbi_find_mates(lbi_search *s, const lbi_state *h, uint16_t b, uint32_t without, size_t count,
                    uint16_t from, uint16_t to, size_t most, lbi_mates *ret) {
    uint32_t n = lbi_members_of(s, h, b, s->members), kept = 0;
    for (uint32_t i = 0; i < n; i++)
        if (s->members[i] != without)
            s->members[kept++] = s->members[i];
    for (uint32_t i = 0; i < kept; i++)
        s->gains[i] = lbi_promise(s, s->members[i], from, to);
    lbi_sort_gains(s, s->members, kept, count + LBI_CHOICES_MAX);
    *ret = (lbi_mates){.count = count, .members = kept, .choices = 1};
    ret->choices = lbi_best_choices(s->sorted, kept, count, most, ret->choice);
    double sum = 0;
    for (size_t i = 0; i < ret->choices; i++)
        sum += exp(ret->choice[i].gain - ret->choice[0].gain);
    if (kept > count)
        ret->log_share = lbi_log_choices(s->gains, kept, count, s->polynomial) -
                         lbi_log_binomial((double)kept, (double)count) - ret->choice[0].gain -
                         log(sum);
}

void lbi_set_horizon(lbi_search *s) {
    const lbi_progress *p = s->p;
    uint32_t next = s->alive;
    double length = ceil((double)p->tasks / p->cores);
    double until = p->time[s->bound] + HORIZON_WAITS * p->wait + HORIZON_WAITS * length * p->grain;
    while (next < p->tasks && p->end[next] <= s->bound)
        next++;
    if (next < p->tasks && s->horizon < p->end[next])
        s->horizon = p->end[next];
    while (s->horizon + 1 < p->bounds && p->time[s->horizon] < until)
        s->horizon++;
    for (size_t i = (size_t)s->alive * LBI_SIZES; i < (size_t)p->tasks * LBI_SIZES; i++)
        s->rates[i] = NAN;
}
