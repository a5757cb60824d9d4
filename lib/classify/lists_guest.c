/* SPDX-License-Identifier: BSD-3-Clause */
/* A task that is not in the trace, and comes and goes at any time: a background task in somebody's
 * list, which is longer for it, and is balanced as any. It may come wherever the rates soon after
 * speak for it. */
#include <math.h>

#include "classify/search.h"

#define COMES -7.0     /* log of how often a guest comes in a window .. */
#define GOES -4.0      /* .. and goes again */
#define COMES_GAIN 8.0 /* what rates must say for it */
#define GOES_GAIN 3.0
#define CHOICES 2 /* of those whose list it comes to */

static void come(lbi_search *s, const lbi_state *before, uint16_t b) {
    lbi_state *h = &s->scratch;
    lbi_block from = before->block[b];
    uint16_t size = (uint16_t)(from.size + 1);
    lbi_mates m;
    lbi_find_mates(s, before, b, LBI_NOBODY, from.size, from.size, size, CHOICES, &m);
    for (size_t i = 0; i < m.choices && m.choice[i].gain > COMES_GAIN && !s->failed; i++) {
        lbi_copy_state(s, h, before);
        h->score += COMES + log((double)from.lists / s->p->cores) + m.log_share;
        h->potential += m.choice[i].gain;
        h->block[b].lists--;
        uint16_t fresh = lbi_new_block(h, size, 1);
        for (size_t j = 0; j < m.count; j++)
            lbi_place(s, h, lbi_chosen(s, &m, i, j), fresh, LBI_WITHIN);
        lbi_set_guest(s, h, fresh);
        lbi_offer(s, &s->next, h);
    }
}

static void go(lbi_search *s, const lbi_state *before) {
    lbi_state *h = &s->scratch;
    uint16_t b = before->guest, size = before->block[b].size, left = (uint16_t)(size - 1);
    uint32_t n = lbi_members_of(s, before, b, s->members);
    double gain = 0;
    for (uint32_t i = 0; i < n; i++)
        gain += lbi_promise(s, s->members[i], size, left);
    /* Alone on its core it is missed only if that core pulls somebody. */
    bool pulls = left == 0 && before->idle == 0 && s->policy != LB_POLICY_NONE &&
                 lbi_longest_list(before) >= 2;
    if (gain < GOES_GAIN && !pulls)
        return;
    lbi_copy_state(s, h, before);
    h->score += GOES;
    h->potential += gain;
    h->block[b].lists--;
    h->guest = LBI_NO_BLOCK;
    if (left == 0) {
        h->idle++;
    } else {
        uint16_t fresh = lbi_new_block(h, left, 1);
        for (uint32_t i = 0; i < n; i++)
            lbi_place(s, h, s->members[i], fresh, LBI_WITHIN);
    }
    lbi_set_guest(s, h, LBI_NO_BLOCK);
    lbi_offer(s, &s->next, h);
}

void lbi_consider_guests(lbi_search *s) {
    s->next.count = 0;
    for (size_t i = 0; i < s->now.count && !s->failed; i++) {
        const lbi_state *before = &s->now.states[i];
        lbi_offer(s, &s->next, before);
        if (before->guest != LBI_NO_BLOCK) {
            go(s, before);
            continue;
        }
        for (uint16_t b = 0; b < before->blocks && !s->failed; b++)
            if (before->block[b].lists > 0)
                come(s, before, b);
    }
    lbi_swap_pools(&s->now, &s->next);
    lbi_balance_lists(s);
}
