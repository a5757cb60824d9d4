/* SPDX-License-Identifier: BSD-3-Clause */
/* The lists at the beginning. */
#include <math.h>

#include "classify/search.h"

#define UNEVEN_START -5 /* log of how probable it is that the lists began one off */

static void add_start(lbi_search *s, lbi_state *h) {
    for (uint32_t i = 0; i < s->p->tasks && !s->failed; i++)
        lbi_add_step(s, h, LBI_STEP_START, i, 0, h->block[h->block_of[i]].size);
}

/* All tasks dealt evenly; where that leaves some lists longer, the rates tell whose. */
static void begin_even(lbi_search *s) {
    const lbi_progress *p = s->p;
    lbi_state *h = lbi_clear_state(s);
    uint16_t size = (uint16_t)(p->tasks / p->cores);
    uint16_t longer = (uint16_t)(p->tasks % p->cores);
    uint16_t shorter_block = lbi_new_block(h, size, (uint16_t)(p->cores - longer));
    uint16_t longer_block = longer > 0 ? lbi_new_block(h, (uint16_t)(size + 1), longer) : 0;
    for (uint32_t i = 0; i < p->tasks; i++) {
        h->block_of[i] = shorter_block;
        h->run_of[i] = lbi_begin_run(s, i, size, 0, LBI_AT_ONCE);
        if (s->failed)
            return;
        s->members[i] = i;
        s->gains[i] = lbi_promise(s, i, size, (uint16_t)(size + 1));
    }
    size_t take = (size_t)longer * (size + 1u);
    lbi_sort_gains(s, s->members, p->tasks, take + LBI_CHOICES_MAX);
    lbi_choice choices[LBI_CHOICES_MAX];
    size_t n = lbi_best_choices(s->sorted, p->tasks, take, s->choices, choices);
    double log_all = lbi_log_choices(s->gains, p->tasks, take, s->polynomial) -
                     lbi_log_binomial(p->tasks, (double)take);
    double kept = 0;
    for (size_t i = 0; i < n; i++)
        kept += exp(choices[i].gain - choices[0].gain);
    double log_kept = choices[0].gain + log(kept);
    for (size_t i = 0; i < n; i++) {
        for (uint32_t j = 0; j < p->tasks; j++) {
            h->block_of[j] = shorter_block;
            h->run_of[j] = lbi_begin_run(s, j, size, 0, LBI_AT_ONCE);
        }
        h->step = LBI_NOBODY;
        for (size_t j = 0; j < take; j++) {
            uint32_t task = s->order[j == choices[i].out ? choices[i].in : j];
            h->block_of[task] = longer_block;
            h->run_of[task] = lbi_begin_run(s, task, (uint16_t)(size + 1), 0, LBI_AT_ONCE);
        }
        add_start(s, h);
        h->score = log_all - log_kept;
        h->potential = choices[i].gain;
        if (s->failed)
            return;
        lbi_offer(s, &s->now, h);
    }
}

/* One list more and one less than even: starts are not always as they should be. */
static void begin_uneven(lbi_search *s) {
    const lbi_progress *p = s->p;
    lbi_state *h = lbi_clear_state(s);
    uint32_t size = p->tasks / p->cores;
    if (p->tasks % p->cores != 0 || size < 2 || s->policy == LB_POLICY_ACTIVE)
        return;
    h->score = UNEVEN_START;
    uint16_t even = lbi_new_block(h, (uint16_t)size, (uint16_t)(p->cores - 2));
    uint16_t more = lbi_new_block(h, (uint16_t)(size + 1), 1);
    uint16_t less = lbi_new_block(h, (uint16_t)(size - 1), 1);
    for (uint32_t i = 0; i < p->tasks; i++) {
        h->block_of[i] = even;
        h->run_of[i] = lbi_begin_run(s, i, (uint16_t)size, 0, LBI_AT_ONCE);
        if (s->failed)
            return;
        s->members[i] = i;
        s->gains[i] = lbi_promise(s, i, (uint16_t)size, (uint16_t)(size - 1));
    }
    lbi_sort_gains(s, s->members, p->tasks, p->tasks);
    /* The fastest are in the short list, the slowest in the long one. */
    double gain = 0;
    for (uint32_t i = 0; i + 1 < size; i++) {
        gain += s->sorted[i];
        lbi_place(s, h, s->order[i], less, LBI_AT_ONCE);
    }
    for (uint32_t i = p->tasks - size - 1; i < p->tasks; i++) {
        gain += lbi_promise(s, s->order[i], (uint16_t)size, (uint16_t)(size + 1));
        lbi_place(s, h, s->order[i], more, LBI_AT_ONCE);
    }
    h->potential = gain;
    h->step = LBI_NOBODY;
    add_start(s, h);
    if (gain > 0 && !s->failed)
        lbi_offer(s, &s->now, h);
}

void lbi_begin_lists(lbi_search *s) {
    begin_even(s);
    if (!s->failed)
        begin_uneven(s);
}
