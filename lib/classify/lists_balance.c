/* SPDX-License-Identifier: BSD-3-Clause */
/* What happens to lists when a task ends. Step 1a takes its list out of a block, which needs a
 * choice of mates, and Step 1b moves tasks, which needs a choice of giver, mover and mates. */
#include <math.h>

#include "classify/search.h"

/* Removes `task` from its list: its mates, who are chosen, become a list of their own. Where the
 * policy is about to fill the place at once (`alone`: no other task ended with it), they need not
 * be known: the list stays in its block with a vacancy. */
static void remove_task(lbi_search *s, const lbi_state *before, uint32_t task, bool alone) {
    uint16_t b = before->block_of[task];
    lbi_block from = before->block[b];
    lbi_state *h = &s->scratch;
    uint16_t left = (uint16_t)(from.size - 1);
    if (left == 0 ||
        (alone && s->policy == LB_POLICY_ACTIVE && lbi_longest_list(before) > from.size)) {
        lbi_copy_state(s, h, before);
        lbi_add_step(s, h, LBI_STEP_END, task, from.size, 0);
        if (left == 0) {
            h->block[b].lists--;
            h->idle++;
        } else {
            h->vacant = b;
        }
        lbi_offer(s, &s->next, h);
        return;
    }
    bool with_guest = before->guest == b;
    lbi_mates m;
    lbi_find_mates(s, before, b, task, left - (size_t)with_guest, from.size, left, s->choices, &m);
    for (size_t i = 0; i < m.choices && !s->failed; i++) {
        lbi_copy_state(s, h, before);
        h->score += m.log_share;
        h->potential += m.choice[i].gain;
        h->block[b].lists--;
        lbi_add_step(s, h, LBI_STEP_END, task, from.size, 0);
        uint16_t fresh = lbi_new_block(h, left, 1);
        for (size_t j = 0; j < m.count; j++)
            lbi_place(s, h, lbi_chosen(s, &m, i, j), fresh, LBI_AT_ONCE);
        if (with_guest)
            lbi_set_guest(s, h, fresh);
        lbi_offer(s, &s->next, h);
    }
}

typedef struct balance {
    uint16_t receiver_size; /* the shortest list's length */
    uint16_t giver_least;   /* lists of at least this length may give */
    uint32_t givers;        /* lists */
    uint32_t receivers;
} balance;

/* Whether the policy moves a task now. */
static bool must_move(const lbi_search *s, const lbi_state *h, balance *ret) {
    uint16_t shortest = UINT16_MAX, longest = lbi_longest_list(h);
    for (uint16_t b = 0; b < h->blocks; b++)
        if (h->block[b].lists > 0 && h->block[b].size < shortest)
            shortest = h->block[b].size;
    if (h->vacant != LBI_NO_BLOCK)
        shortest = (uint16_t)(h->block[h->vacant].size - 1);
    if (h->idle > 0)
        shortest = 0;
    if (longest < 2 || s->policy == LB_POLICY_NONE || longest < shortest + 2)
        return false;
    if (s->policy == LB_POLICY_LAZY && h->idle == 0)
        return false;
    *ret = (balance){shortest, (uint16_t)(s->how.longest ? longest : shortest + 2), 0, 0};
    for (uint16_t b = 0; b < h->blocks; b++) {
        if (h->block[b].size >= ret->giver_least)
            ret->givers += h->block[b].lists;
        if (h->block[b].size == shortest)
            ret->receivers += h->block[b].lists;
    }
    return true;
}

/* A task that is moved forth and back within an instant keeps its run. */
static void place_again(lbi_search *s, lbi_state *h, uint32_t task, uint16_t block,
                        uint32_t old_run) {
    uint16_t size = h->block[block].size, old_size = s->runs[old_run].size;
    h->block_of[task] = block;
    h->run_of[task] =
        old_size == size ? old_run : lbi_begin_run(s, task, size, old_size, LBI_BALANCED);
}

/* One list of a block becomes one longer: that of the tasks whose rates speak for it. `mover` is
 * not among them. Returns its block. */
static uint16_t grow_list(lbi_search *s, lbi_state *h, uint16_t into, uint32_t mover) {
    lbi_block to = h->block[into];
    uint16_t size = (uint16_t)(to.size + 1);
    bool with_guest = h->guest == into;
    lbi_mates m;
    uint32_t *order = s->order, *members = s->members;
    double *gains = s->gains, *sorted = s->sorted;
    s->order = s->order2;
    s->members = s->members2;
    s->gains = s->gains2;
    s->sorted = s->sorted2;
    lbi_find_mates(s, h, into, mover, to.size - (size_t)with_guest, to.size, size, 1, &m);
    h->score += m.log_share;
    h->potential += m.choice[0].gain;
    h->block[into].lists--;
    uint16_t grown = lbi_new_block(h, size, 1);
    for (size_t j = 0; j < m.count; j++)
        lbi_place(s, h, lbi_chosen(s, &m, 0, j), grown, LBI_BALANCED);
    if (with_guest)
        lbi_set_guest(s, h, grown);
    s->order = order;
    s->members = members;
    s->gains = gains;
    s->sorted = sorted;
    return grown;
}

/* Gives the mover to its new list. `into`: a block of which one list, with a vacancy or of the
 * length that the mover brings it to, takes it; LBI_NO_BLOCK: an idle core. */
static void receive(lbi_search *s, lbi_state *h, uint32_t mover, uint32_t mover_run,
                    uint16_t into) {
    if (h->idle > 0) {
        h->idle--;
        place_again(s, h, mover, lbi_new_block(h, 1, 1), mover_run);
        return;
    }
    if (into == h->vacant) {
        h->vacant = LBI_NO_BLOCK;
        place_again(s, h, mover, into, mover_run);
        return;
    }
    place_again(s, h, mover, grow_list(s, h, into, mover), mover_run);
}

/* Mover and mates end up in lists of one length, so that nobody can tell who of them moved: their
 * list and the receiver become two lists of one block. */
static void move_any(lbi_search *s, const lbi_state *before, uint16_t b, uint16_t into,
                     double log_prior) {
    lbi_state *h = &s->scratch;
    lbi_block from = before->block[b];
    uint16_t left = (uint16_t)(from.size - 1);
    lbi_mates m;
    lbi_find_mates(s, before, b, LBI_NOBODY, from.size, from.size, left, s->choices, &m);
    for (size_t i = 0; i < m.choices && !s->failed; i++) {
        lbi_copy_state(s, h, before);
        h->score += log_prior + m.log_share;
        h->potential += m.choice[i].gain;
        h->block[b].lists--;
        uint16_t even = into;
        if (h->idle > 0) {
            h->idle--;
            even = lbi_new_block(h, left, 2);
        } else {
            h->vacant = LBI_NO_BLOCK;
            h->block[into].lists++;
        }
        for (size_t j = 0; j < m.count; j++)
            lbi_place(s, h, lbi_chosen(s, &m, i, j), even, LBI_BALANCED);
        lbi_add_step(s, h, LBI_STEP_MOVE, lbi_chosen(s, &m, i, 0), from.size, left);
        lbi_offer(s, &s->spare, h);
    }
}

/* The movers whose rates speak most for it, against staying with the giver. */
static size_t find_movers(lbi_search *s, const lbi_state *before, uint16_t b, uint16_t to_size,
                          uint32_t movers[LBI_CHOICES_MAX], double *ret_log_mean) {
    uint16_t from = before->block[b].size, left = (uint16_t)(from - 1);
    uint32_t count = lbi_members_of(s, before, b, s->members);
    double relative[LBI_CHOICES_MAX], mean = 0;
    size_t found = 0;
    for (uint32_t i = 0; i < count; i++) {
        double own = lbi_promise(s, s->members[i], from, to_size);
        double over = own - lbi_promise(s, s->members[i], from, left);
        mean += exp(own) / count;
        size_t at = found < s->choices ? found++ : s->choices - 1;
        if (at == s->choices - 1 && i >= s->choices && relative[at] >= over)
            continue;
        for (; at > 0 && relative[at - 1] < over; at--) {
            relative[at] = relative[at - 1];
            movers[at] = movers[at - 1];
        }
        relative[at] = over;
        movers[at] = s->members[i];
    }
    *ret_log_mean = log(mean);
    return found;
}

/* Moves one task from a list of block `b` to a longer or shorter one than it leaves. */
static void move_one(lbi_search *s, const lbi_state *before, uint16_t b, uint16_t into,
                     uint16_t to_size, double log_prior) {
    lbi_state *h = &s->scratch;
    lbi_block from = before->block[b];
    uint16_t left = (uint16_t)(from.size - 1);
    uint32_t movers[LBI_CHOICES_MAX];
    double log_mean, kept = 0;
    bool with_guest = before->guest == b;
    if (with_guest)
        log_prior += log((double)left / from.size); /* that it is not the guest who moves */
    size_t n = find_movers(s, before, b, to_size, movers, &log_mean);
    for (size_t i = 0; i < n; i++)
        kept += exp(lbi_promise(s, movers[i], from.size, to_size));
    for (size_t i = 0; i < n && !s->failed; i++) {
        lbi_mates m;
        double own = lbi_promise(s, movers[i], from.size, to_size);
        lbi_find_mates(s, before, b, movers[i], left - (size_t)with_guest, from.size, left,
                       (s->choices + 1) / 2, &m);
        for (size_t j = 0; j < m.choices && !s->failed; j++) {
            lbi_copy_state(s, h, before);
            h->score += log_prior + log_mean - log(kept) + m.log_share;
            h->potential += own + m.choice[j].gain;
            h->block[b].lists--;
            uint16_t rest = lbi_new_block(h, left, 1);
            for (size_t l = 0; l < m.count; l++)
                lbi_place(s, h, lbi_chosen(s, &m, j, l), rest, LBI_BALANCED);
            if (with_guest)
                lbi_set_guest(s, h, rest);
            lbi_add_step(s, h, LBI_STEP_MOVE, movers[i], from.size, to_size);
            receive(s, h, movers[i], before->run_of[movers[i]], into);
            lbi_offer(s, &s->spare, h);
        }
    }
}

/* The guest moves, and its list is that of its mates alone. Not into one of several lists with a
 * vacancy: nobody could tell which. */
static void move_guest(lbi_search *s, const lbi_state *before, uint16_t b, uint16_t into,
                       double log_prior) {
    lbi_state *h = &s->scratch;
    uint16_t size = before->block[b].size;
    if (before->idle == 0 && into == before->vacant && before->block[into].lists > 1)
        return;
    uint32_t n = lbi_members_of(s, before, b, s->members);
    lbi_copy_state(s, h, before);
    h->score += log_prior - log(size);
    h->block[b].lists--;
    h->guest = LBI_NO_BLOCK;
    uint16_t rest = lbi_new_block(h, (uint16_t)(size - 1), 1);
    for (uint32_t i = 0; i < n; i++) {
        h->potential += lbi_promise(s, s->members[i], size, (uint16_t)(size - 1));
        lbi_place(s, h, s->members[i], rest, LBI_BALANCED);
    }
    if (h->idle > 0) {
        h->idle--;
        into = lbi_new_block(h, 1, 1);
    } else if (into == h->vacant) {
        h->vacant = LBI_NO_BLOCK;
    } else {
        into = grow_list(s, h, into, LBI_NOBODY);
    }
    lbi_set_guest(s, h, into);
    lbi_offer(s, &s->spare, h);
}

static void move_from(lbi_search *s, const lbi_state *before, uint16_t b, uint16_t into,
                      double log_prior) {
    uint16_t left = (uint16_t)(before->block[b].size - 1);
    uint16_t to_size = 1;
    if (before->idle == 0)
        to_size = (uint16_t)(before->block[into].size + (into != before->vacant));
    bool guest = before->guest != LBI_NO_BLOCK && (before->guest == b || before->guest == into);
    if (before->guest == b)
        move_guest(s, before, b, into, log_prior);
    if (left == to_size && !guest && (before->idle > 0 || into == before->vacant))
        move_any(s, before, b, into, log_prior);
    else
        move_one(s, before, b, into, to_size, log_prior);
}

static void move_task(lbi_search *s, const lbi_state *before, const balance *need) {
    for (uint16_t b = 0; b < before->blocks && !s->failed; b++) {
        lbi_block giver = before->block[b];
        if (giver.lists == 0 || giver.size < need->giver_least)
            continue;
        double log_giver = log((double)giver.lists / need->givers);
        if (before->idle > 0 || before->vacant != LBI_NO_BLOCK) {
            move_from(s, before, b, before->vacant, log_giver);
            continue;
        }
        for (uint16_t r = 0; r < before->blocks && !s->failed; r++) {
            lbi_block receiver = before->block[r];
            if (receiver.lists > 0 && receiver.size == need->receiver_size)
                move_from(s, before, b, r,
                          log_giver + log((double)receiver.lists / need->receivers));
        }
    }
}

void lbi_balance_lists(lbi_search *s) {
    for (bool moved = true; moved && !s->failed;) {
        moved = false;
        s->spare.count = 0;
        for (size_t i = 0; i < s->now.count && !s->failed; i++) {
            balance need;
            if (must_move(s, &s->now.states[i], &need)) {
                move_task(s, &s->now.states[i], &need);
                moved = true;
            } else {
                lbi_offer(s, &s->spare, &s->now.states[i]);
            }
        }
        lbi_swap_pools(&s->now, &s->spare);
    }
}

void lbi_end_task(lbi_search *s, uint32_t task, bool alone) {
    s->next.count = 0;
    for (size_t i = 0; i < s->now.count && !s->failed; i++)
        remove_task(s, &s->now.states[i], task, alone);
    s->removed[task] = true;
    lbi_swap_pools(&s->now, &s->next);
}
