/* SPDX-License-Identifier: BSD-3-Clause */
/* Policies of run lists. The hidden state is which tasks share a list; what is not yet told apart
 * stays open: a block is a number of lists of one length together with their tasks, in any
 * arrangement. An end takes its task's list out of a block, which needs a choice of mates, and
 * Step 1b moves tasks, which needs a choice of giver, mover and mates. Choices are tried in the
 * order in which the rates soon after speak for them; what is left out lends its probability to
 * what is kept. A beam holds the best states; rates are judged for as long as a task's list keeps
 * its length. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "classify/choose.h"
#include "classify/likelihood.h"

#define BEAM 32
#define BEAM_WIDE 256
#define BEAM_LARGE 8
#define CHOICES 8
#define CHOICES_LARGE 3
#define LARGE 512       /* tasks, from which on the beam is narrow */
#define HORIZON_WAITS 7 /* how far choices look ahead, times the list's first length */
#define GAIN_MAX 12.0   /* what one task may say for a choice */
#define UNEVEN_START -5 /* log of how probable it is that the lists began one off */
#define SIZES 10        /* lengths of lists whose rates are looked up but once at a bound */
#define NOBODY UINT32_MAX
#define NO_BLOCK UINT16_MAX

typedef struct block {
    uint16_t size;
    uint16_t lists;
} block;

/* A stretch in which a task's list has one length, shared by all states that hold it. */
typedef struct run {
    lbi_track track;
    uint32_t task;
    uint32_t next;  /* another of this task that began at the same bound */
    uint32_t begin; /* bound */
    uint16_t size;
    bool unexplained;
    size_t advanced; /* the bound up to which it was observed */
    double gain;     /* of the window that ended there */
} run;

typedef struct state {
    double score;     /* log probability so far */
    double potential; /* what the choices just made promise; for ranking only */
    double missed;    /* seconds unexplained */
    uint32_t step;
    uint16_t idle; /* empty lists */
    uint16_t blocks;
    uint16_t vacant;    /* a block of which one list is about to be filled up; NO_BLOCK: none */
    block *block;       /* [cores + 1] */
    uint16_t *block_of; /* [task] */
    uint32_t *run_of;   /* [task] */
} state;

typedef struct pool {
    state *states;
    void *memory;
    size_t count, capacity;
} pool;

typedef struct search {
    const lbi_progress *p;
    lb_policy policy;
    bool longest; /* lazy: the giver is one of the longest lists */
    size_t beam, choices;
    size_t stride; /* bytes of one state's arrays */
    pool now, next, spare;
    state scratch;
    void *scratch_memory;
    run *runs;
    size_t run_count, run_capacity;
    uint32_t *fresh; /* [task]: the runs that began at this bound */
    lbi_step *steps;
    size_t step_count, step_capacity;
    size_t bound;   /* where the search is */
    size_t horizon; /* the bound up to which choices look ahead */
    uint32_t alive; /* the first task that has not ended */
    bool *removed;  /* [task]: ended at this bound, and taken out */
    /* Workspaces, [task]; one set for the giver, another for the receiver. */
    uint32_t *numbers;
    double *doubles;
    uint32_t *members, *members2, *order, *order2;
    double *gains, *gains2, *sorted, *sorted2, *polynomial;
    double *rates; /* [task][SIZES]: what the rates soon after this bound say for a list's length */
    lbi_pace *pace;
    bool given_up;
    bool failed;
} search;

/* ---- states ---- */

static void lay_out(const search *s, state *state_, unsigned char *memory) {
    uint32_t tasks = s->p->tasks;
    state_->run_of = (uint32_t *)(void *)memory;
    state_->block_of = (uint16_t *)(void *)(memory + tasks * sizeof(uint32_t));
    state_->block = (block *)(void *)(memory + s->stride - (s->p->cores + 1) * sizeof(block));
}

static void copy_state(const search *s, state *to, const state *from) {
    to->score = from->score;
    to->potential = from->potential;
    to->missed = from->missed;
    to->step = from->step;
    to->idle = from->idle;
    to->blocks = from->blocks;
    to->vacant = from->vacant;
    memcpy(to->run_of, from->run_of, s->stride);
}

static bool make_pool(const search *s, pool *pool_, size_t capacity) {
    pool_->states = lbi_array_new(capacity, sizeof *pool_->states);
    pool_->memory = lbi_array_new(capacity, s->stride);
    if (pool_->states == NULL || pool_->memory == NULL)
        return false;
    pool_->capacity = capacity;
    for (size_t i = 0; i < capacity; i++)
        lay_out(s, &pool_->states[i], (unsigned char *)pool_->memory + i * s->stride);
    return true;
}

static void free_pool(pool *pool_) {
    free(pool_->states);
    free(pool_->memory);
}

static double rank(const state *state_) {
    return state_->score + state_->potential;
}

/* Keeps a copy of the state if it is among the best. */
static void offer(const search *s, pool *pool_, const state *offered) {
    size_t at = pool_->count;
    if (at < pool_->capacity) {
        pool_->count++;
    } else {
        at = 0;
        for (size_t i = 1; i < pool_->count; i++)
            if (rank(&pool_->states[i]) < rank(&pool_->states[at]))
                at = i;
        if (rank(&pool_->states[at]) >= rank(offered))
            return;
    }
    copy_state(s, &pool_->states[at], offered);
}

static void swap_pools(pool *a, pool *b) {
    pool c = *a;
    *a = *b;
    *b = c;
}

/* ---- runs ---- */

/* The run of a task whose list has a new length from this bound on. */
static uint32_t begin_run(search *s, uint32_t task, uint16_t size) {
    for (uint32_t r = s->fresh[task]; r != NOBODY; r = s->runs[r].next)
        if (s->runs[r].size == size)
            return r;
    if (!lbi_array_reserve(&s->runs, &s->run_capacity, s->run_count + 1, sizeof *s->runs)) {
        s->failed = true;
        return 0;
    }
    run *new = &s->runs[s->run_count];
    *new = (run){.task = task,
                 .next = s->fresh[task],
                 .begin = (uint32_t)s->bound,
                 .size = size,
                 .advanced = s->bound};
    lbi_track_begin(&new->track, s->p);
    s->fresh[task] = (uint32_t)s->run_count;
    return (uint32_t)s->run_count++;
}

static void add_step(search *s, state *h, lbi_step_kind kind, uint32_t task, uint16_t from,
                     uint16_t to) {
    if (!lbi_array_reserve(&s->steps, &s->step_capacity, s->step_count + 1, sizeof *s->steps)) {
        s->failed = true;
        return;
    }
    s->steps[s->step_count] = (lbi_step){h->step, (uint32_t)s->bound, task, from, to, kind};
    h->step = (uint32_t)s->step_count++;
}

/* Gives a task the run that fits its block; the old one goes on where the length is the same. */
static void place(search *s, state *h, uint32_t task, uint16_t block_) {
    h->block_of[task] = block_;
    uint16_t size = h->block[block_].size;
    uint16_t old_size = s->runs[h->run_of[task]].size;
    if (old_size == size)
        return;
    h->run_of[task] = begin_run(s, task, size);
    add_step(s, h, LBI_STEP_MATE, task, old_size, size);
}

/* A task that is moved forth and back within an instant keeps its run. */
static void place_again(search *s, state *h, uint32_t task, uint16_t block_, uint32_t old_run) {
    h->block_of[task] = block_;
    h->run_of[task] = s->runs[old_run].size == h->block[block_].size
                          ? old_run
                          : begin_run(s, task, h->block[block_].size);
}

/* ---- blocks ---- */

static uint16_t new_block(state *h, uint16_t size, uint16_t lists) {
    for (uint16_t b = 0; b < h->blocks; b++)
        if (h->block[b].lists == 0) {
            h->block[b] = (block){size, lists};
            return b;
        }
    h->block[h->blocks] = (block){size, lists};
    return h->blocks++;
}

static uint32_t members_of(const search *s, const state *h, uint16_t block_, uint32_t *members) {
    uint32_t count = 0;
    for (uint32_t i = s->alive; i < s->p->tasks; i++)
        if (!s->removed[i] && h->block_of[i] == block_)
            members[count++] = i;
    return count;
}

/* ---- what the rates soon after this bound say for a change of a task's list ---- */

static double log_rate_soon(const search *s, uint32_t task, uint16_t size, size_t until) {
    if (size > SIZES)
        return lbi_log_rate(s->p, task, s->bound, until, 1.0 / size);
    double *known = &s->rates[(size_t)task * SIZES + size - 1];
    if (isnan(*known))
        *known = lbi_log_rate(s->p, task, s->bound, until, 1.0 / size);
    return *known;
}

static double promise(const search *s, uint32_t task, uint16_t from, uint16_t to) {
    const lbi_progress *p = s->p;
    size_t until = p->end[task] < s->horizon ? p->end[task] : s->horizon;
    if (until <= s->bound || from == to)
        return 0;
    double gain = log_rate_soon(s, task, to, until) - log_rate_soon(s, task, from, until);
    return fmax(-GAIN_MAX, fmin(gain, GAIN_MAX));
}

static bool before(const search *s, size_t i, size_t j) {
    return s->sorted[i] > s->sorted[j] ||
           (s->sorted[i] == s->sorted[j] && s->order[i] < s->order[j]);
}

static void swap(search *s, size_t i, size_t j) {
    double gain = s->sorted[i];
    uint32_t task = s->order[i];
    s->sorted[i] = s->sorted[j];
    s->order[i] = s->order[j];
    s->sorted[j] = gain;
    s->order[j] = task;
}

/* Sifts down in a heap whose root is what comes last. */
static void sift(search *s, size_t at, size_t count) {
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        child += child + 1 < count && before(s, child, child + 1);
        if (!before(s, at, child))
            return;
        swap(s, at, child);
    }
}

/* Puts the `top` tasks of highest gain first, in descending order, ties by index: `order` and
 * `sorted`. A heap of them takes in the others. */
static void sort_gains(search *s, const uint32_t *tasks, size_t count, size_t top) {
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

/* A set of tasks that share one list of a block: which, is open unless the block has only that one
 * list. `keep` is a member that is known not to be among them (it ended, or it is the mover), or
 * NOBODY. */
typedef struct mates {
    size_t count;   /* how many share the list */
    size_t members; /* of the block, in `order`, those that speak for it most first */
    size_t choices;
    lbi_choice choice[LBI_CHOICES_MAX];
    double log_share; /* what each choice is worth before its rates are seen */
} mates;

/* The tasks of the block that would go from lists of length `from` to `to`: `count` of them are
 * sought. Leaves their order in s->order. */
static void find_mates(search *s, const state *h, uint16_t b, uint32_t without, size_t count,
                       uint16_t from, uint16_t to, size_t most, mates *ret) {
    uint32_t n = members_of(s, h, b, s->members), kept = 0;
    for (uint32_t i = 0; i < n; i++)
        if (s->members[i] != without)
            s->members[kept++] = s->members[i];
    for (uint32_t i = 0; i < kept; i++)
        s->gains[i] = promise(s, s->members[i], from, to);
    sort_gains(s, s->members, kept, count + LBI_CHOICES_MAX);
    *ret = (mates){.count = count, .members = kept, .choices = 1};
    ret->choices = lbi_best_choices(s->sorted, kept, count, most, ret->choice);
    double sum = 0;
    for (size_t i = 0; i < ret->choices; i++)
        sum += exp(ret->choice[i].gain - ret->choice[0].gain);
    if (kept > count)
        ret->log_share = lbi_log_choices(s->gains, kept, count, s->polynomial) -
                         lbi_log_binomial((double)kept, (double)count) - ret->choice[0].gain -
                         log(sum);
}

static uint32_t chosen(const search *s, const mates *m, size_t choice, size_t j) {
    return s->order[j == m->choice[choice].out ? m->choice[choice].in : j];
}

/* ---- Step 1a ---- */

static uint16_t longest_list(const state *h) {
    uint16_t longest = 0;
    for (uint16_t b = 0; b < h->blocks; b++)
        if (h->block[b].lists > 0 && h->block[b].size > longest)
            longest = h->block[b].size;
    return longest;
}

/* Removes `task` from its list: its mates, who are chosen, become a list of their own. Where the
 * policy is about to fill the place at once (`alone`: no other task ended with it), they need not
 * be known: the list stays in its block with a vacancy. */
static void remove_task(search *s, const state *before, uint32_t task, bool alone) {
    uint16_t b = before->block_of[task];
    block from = before->block[b];
    state *h = &s->scratch;
    uint16_t left = (uint16_t)(from.size - 1);
    if (left == 0 || (alone && s->policy == LB_POLICY_ACTIVE && longest_list(before) > from.size)) {
        copy_state(s, h, before);
        add_step(s, h, LBI_STEP_END, task, from.size, 0);
        if (left == 0) {
            h->block[b].lists--;
            h->idle++;
        } else {
            h->vacant = b;
        }
        offer(s, &s->next, h);
        return;
    }
    mates m;
    find_mates(s, before, b, task, left, from.size, left, s->choices, &m);
    for (size_t i = 0; i < m.choices && !s->failed; i++) {
        copy_state(s, h, before);
        h->score += m.log_share;
        h->potential += m.choice[i].gain;
        h->block[b].lists--;
        add_step(s, h, LBI_STEP_END, task, from.size, 0);
        uint16_t fresh = new_block(h, left, 1);
        for (size_t j = 0; j < m.count; j++)
            place(s, h, chosen(s, &m, i, j), fresh);
        offer(s, &s->next, h);
    }
}

/* ---- Step 1b ---- */

typedef struct balance {
    uint16_t receiver_size; /* the shortest list's length */
    uint16_t giver_least;   /* lists of at least this length may give */
    uint32_t givers;        /* lists */
    uint32_t receivers;
} balance;

/* Whether the policy moves a task now. */
static bool must_move(const search *s, const state *h, balance *ret) {
    uint16_t shortest = UINT16_MAX, longest = longest_list(h);
    for (uint16_t b = 0; b < h->blocks; b++)
        if (h->block[b].lists > 0 && h->block[b].size < shortest)
            shortest = h->block[b].size;
    if (h->vacant != NO_BLOCK)
        shortest = (uint16_t)(h->block[h->vacant].size - 1);
    if (h->idle > 0)
        shortest = 0;
    if (longest < 2 || s->policy == LB_POLICY_NONE || longest < shortest + 2)
        return false;
    if (s->policy == LB_POLICY_LAZY && h->idle == 0)
        return false;
    *ret = (balance){shortest, (uint16_t)(s->longest ? longest : shortest + 2), 0, 0};
    for (uint16_t b = 0; b < h->blocks; b++) {
        if (h->block[b].size >= ret->giver_least)
            ret->givers += h->block[b].lists;
        if (h->block[b].size == shortest)
            ret->receivers += h->block[b].lists;
    }
    return true;
}

/* Gives the mover to its new list. `into`: a block of which one list, with a vacancy or of the
 * length that the mover brings it to, takes it; NO_BLOCK: an idle core. */
static void receive(search *s, state *h, uint32_t mover, uint32_t mover_run, uint16_t into) {
    if (h->idle > 0) {
        h->idle--;
        place_again(s, h, mover, new_block(h, 1, 1), mover_run);
        return;
    }
    if (into == h->vacant) {
        h->vacant = NO_BLOCK;
        place_again(s, h, mover, into, mover_run);
        return;
    }
    /* One list of the receiving block grows: that of the tasks whose rates speak for it. */
    block to = h->block[into];
    uint16_t grown_size = (uint16_t)(to.size + 1);
    mates m;
    uint32_t *order = s->order, *members = s->members;
    double *gains = s->gains, *sorted = s->sorted;
    s->order = s->order2;
    s->members = s->members2;
    s->gains = s->gains2;
    s->sorted = s->sorted2;
    find_mates(s, h, into, mover, to.size, to.size, grown_size, 1, &m);
    h->score += m.log_share;
    h->potential += m.choice[0].gain;
    h->block[into].lists--;
    uint16_t grown = new_block(h, grown_size, 1);
    for (size_t j = 0; j < m.count; j++)
        place(s, h, chosen(s, &m, 0, j), grown);
    place_again(s, h, mover, grown, mover_run);
    s->order = order;
    s->members = members;
    s->gains = gains;
    s->sorted = sorted;
}

/* Mover and mates end up in lists of one length, so that nobody can tell who of them moved: their
 * list and the receiver become two lists of one block. */
static void move_any(search *s, const state *before, uint16_t b, uint16_t into, double log_prior) {
    state *h = &s->scratch;
    block from = before->block[b];
    uint16_t left = (uint16_t)(from.size - 1);
    mates m;
    find_mates(s, before, b, NOBODY, from.size, from.size, left, s->choices, &m);
    for (size_t i = 0; i < m.choices && !s->failed; i++) {
        copy_state(s, h, before);
        h->score += log_prior + m.log_share;
        h->potential += m.choice[i].gain;
        h->block[b].lists--;
        uint16_t even = into;
        if (h->idle > 0) {
            h->idle--;
            even = new_block(h, left, 2);
        } else {
            h->vacant = NO_BLOCK;
            h->block[into].lists++;
        }
        for (size_t j = 0; j < m.count; j++)
            place(s, h, chosen(s, &m, i, j), even);
        add_step(s, h, LBI_STEP_MOVE, chosen(s, &m, i, 0), from.size, left);
        offer(s, &s->spare, h);
    }
}

/* The movers whose rates speak most for it, against staying with the giver. */
static size_t find_movers(search *s, const state *before, uint16_t b, uint16_t to_size,
                          uint32_t movers[LBI_CHOICES_MAX], double *ret_log_mean) {
    uint16_t from = before->block[b].size, left = (uint16_t)(from - 1);
    uint32_t count = members_of(s, before, b, s->members);
    double relative[LBI_CHOICES_MAX], mean = 0;
    size_t found = 0;
    for (uint32_t i = 0; i < count; i++) {
        double own = promise(s, s->members[i], from, to_size);
        double over = own - promise(s, s->members[i], from, left);
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
static void move_one(search *s, const state *before, uint16_t b, uint16_t into, uint16_t to_size,
                     double log_prior) {
    state *h = &s->scratch;
    block from = before->block[b];
    uint16_t left = (uint16_t)(from.size - 1);
    uint32_t movers[LBI_CHOICES_MAX];
    double log_mean, kept = 0;
    size_t n = find_movers(s, before, b, to_size, movers, &log_mean);
    for (size_t i = 0; i < n; i++)
        kept += exp(promise(s, movers[i], from.size, to_size));
    for (size_t i = 0; i < n && !s->failed; i++) {
        mates m;
        double own = promise(s, movers[i], from.size, to_size);
        find_mates(s, before, b, movers[i], left, from.size, left, (s->choices + 1) / 2, &m);
        for (size_t j = 0; j < m.choices && !s->failed; j++) {
            copy_state(s, h, before);
            h->score += log_prior + log_mean - log(kept) + m.log_share;
            h->potential += own + m.choice[j].gain;
            h->block[b].lists--;
            uint16_t rest = new_block(h, left, 1);
            for (size_t l = 0; l < m.count; l++)
                place(s, h, chosen(s, &m, j, l), rest);
            add_step(s, h, LBI_STEP_MOVE, movers[i], from.size, to_size);
            receive(s, h, movers[i], before->run_of[movers[i]], into);
            offer(s, &s->spare, h);
        }
    }
}

static void move_from(search *s, const state *before, uint16_t b, uint16_t into, double log_prior) {
    uint16_t left = (uint16_t)(before->block[b].size - 1);
    uint16_t to_size = 1;
    if (before->idle == 0)
        to_size = (uint16_t)(before->block[into].size + (into != before->vacant));
    if (left == to_size && (before->idle > 0 || into == before->vacant))
        move_any(s, before, b, into, log_prior);
    else
        move_one(s, before, b, into, to_size, log_prior);
}

static void move_task(search *s, const state *before, const balance *need) {
    for (uint16_t b = 0; b < before->blocks && !s->failed; b++) {
        block giver = before->block[b];
        if (giver.lists == 0 || giver.size < need->giver_least)
            continue;
        double log_giver = log((double)giver.lists / need->givers);
        if (before->idle > 0 || before->vacant != NO_BLOCK) {
            move_from(s, before, b, before->vacant, log_giver);
            continue;
        }
        for (uint16_t r = 0; r < before->blocks && !s->failed; r++) {
            block receiver = before->block[r];
            if (receiver.lists > 0 && receiver.size == need->receiver_size)
                move_from(s, before, b, r,
                          log_giver + log((double)receiver.lists / need->receivers));
        }
    }
}

static void settle(search *s) {
    for (bool moved = true; moved && !s->failed;) {
        moved = false;
        s->spare.count = 0;
        for (size_t i = 0; i < s->now.count && !s->failed; i++) {
            balance need;
            if (must_move(s, &s->now.states[i], &need)) {
                move_task(s, &s->now.states[i], &need);
                moved = true;
            } else {
                offer(s, &s->spare, &s->now.states[i]);
            }
        }
        swap_pools(&s->now, &s->spare);
    }
}

/* ---- windows ---- */

static void observe_window(search *s) {
    const lbi_progress *p = s->p;
    for (size_t i = 0; i < s->now.count; i++) {
        state *h = &s->now.states[i];
        h->potential = 0;
        for (uint32_t task = s->alive; task < p->tasks; task++) {
            run *r = &s->runs[h->run_of[task]];
            if (r->advanced == s->bound) {
                lbi_way way = {1.0 / r->size, 0, 1};
                r->gain = log(lbi_track_observe(
                    &r->track, p, &way, 1, lbi_done(p, task, s->bound, s->bound + 1),
                    lbi_seen(p, task, s->bound, s->bound + 1), &r->unexplained));
                r->advanced = s->bound + 1;
            }
            h->score += r->gain;
            if (r->unexplained)
                h->missed += lbi_seen(p, task, s->bound, s->bound + 1);
        }
    }
}

/* Drops runs that no state holds any more. */
static lb_status compact_runs(search *s, lb_error *err) {
    uint32_t *moved = lbi_array_new(s->run_count, sizeof *moved);
    if (moved == NULL)
        return lbi_error_nomem(err, "runs");
    memset(moved, 0xff, s->run_count * sizeof *moved);
    for (size_t i = 0; i < s->now.count; i++)
        for (uint32_t task = s->alive; task < s->p->tasks; task++)
            moved[s->now.states[i].run_of[task]] = 0;
    uint32_t kept = 0;
    for (size_t r = 0; r < s->run_count; r++)
        if (moved[r] == 0) {
            s->runs[kept] = s->runs[r];
            moved[r] = kept++;
        }
    for (size_t i = 0; i < s->now.count; i++)
        for (uint32_t task = s->alive; task < s->p->tasks; task++)
            s->now.states[i].run_of[task] = moved[s->now.states[i].run_of[task]];
    s->run_count = kept;
    free(moved);
    return LB_OK;
}

/* Up to the next end at least: nobody's list changes before that. */
static void set_horizon(search *s) {
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
    for (size_t i = (size_t)s->alive * SIZES; i < (size_t)p->tasks * SIZES; i++)
        s->rates[i] = NAN;
}

/* ---- the start ---- */

static void add_start(search *s, state *h) {
    for (uint32_t i = 0; i < s->p->tasks && !s->failed; i++)
        add_step(s, h, LBI_STEP_START, i, 0, h->block[h->block_of[i]].size);
}

/* All tasks dealt evenly; where that leaves some lists longer, the rates tell whose. */
static void begin_even(search *s) {
    const lbi_progress *p = s->p;
    state *h = &s->scratch;
    uint16_t size = (uint16_t)(p->tasks / p->cores);
    uint16_t longer = (uint16_t)(p->tasks % p->cores);
    h->score = h->potential = h->missed = 0;
    h->step = NOBODY;
    h->idle = 0;
    h->blocks = 0;
    h->vacant = NO_BLOCK;
    uint16_t shorter_block = new_block(h, size, (uint16_t)(p->cores - longer));
    uint16_t longer_block = longer > 0 ? new_block(h, (uint16_t)(size + 1), longer) : 0;
    for (uint32_t i = 0; i < p->tasks; i++) {
        h->block_of[i] = shorter_block;
        h->run_of[i] = begin_run(s, i, size);
        if (s->failed)
            return;
        s->members[i] = i;
        s->gains[i] = promise(s, i, size, (uint16_t)(size + 1));
    }
    size_t take = (size_t)longer * (size + 1u);
    sort_gains(s, s->members, p->tasks, take + LBI_CHOICES_MAX);
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
            h->run_of[j] = begin_run(s, j, size);
        }
        h->step = NOBODY;
        for (size_t j = 0; j < take; j++) {
            uint32_t task = s->order[j == choices[i].out ? choices[i].in : j];
            h->block_of[task] = longer_block;
            h->run_of[task] = begin_run(s, task, (uint16_t)(size + 1));
        }
        add_start(s, h);
        h->score = log_all - log_kept;
        h->potential = choices[i].gain;
        if (s->failed)
            return;
        offer(s, &s->now, h);
    }
}

/* One list more and one less than even: starts are not always as they should be. */
static void begin_uneven(search *s) {
    const lbi_progress *p = s->p;
    state *h = &s->scratch;
    uint32_t size = p->tasks / p->cores;
    if (p->tasks % p->cores != 0 || size < 2 || s->policy == LB_POLICY_ACTIVE)
        return;
    h->score = UNEVEN_START;
    h->potential = h->missed = 0;
    h->step = NOBODY;
    h->idle = 0;
    h->blocks = 0;
    h->vacant = NO_BLOCK;
    uint16_t even = new_block(h, (uint16_t)size, (uint16_t)(p->cores - 2));
    uint16_t more = new_block(h, (uint16_t)(size + 1), 1);
    uint16_t less = new_block(h, (uint16_t)(size - 1), 1);
    for (uint32_t i = 0; i < p->tasks; i++) {
        h->block_of[i] = even;
        h->run_of[i] = begin_run(s, i, (uint16_t)size);
        if (s->failed)
            return;
        s->members[i] = i;
        s->gains[i] = promise(s, i, (uint16_t)size, (uint16_t)(size - 1));
    }
    sort_gains(s, s->members, p->tasks, p->tasks);
    /* The fastest are in the short list, the slowest in the long one. */
    double gain = 0;
    for (uint32_t i = 0; i + 1 < size; i++) {
        gain += s->sorted[i];
        place(s, h, s->order[i], less);
    }
    for (uint32_t i = p->tasks - size - 1; i < p->tasks; i++) {
        gain += promise(s, s->order[i], (uint16_t)size, (uint16_t)(size + 1));
        place(s, h, s->order[i], more);
    }
    h->potential = gain;
    h->step = NOBODY;
    add_start(s, h);
    if (gain > 0 && !s->failed)
        offer(s, &s->now, h);
}

/* ---- the search ---- */

static void forget_fresh(search *s) {
    for (uint32_t i = s->alive; i < s->p->tasks; i++)
        s->fresh[i] = NOBODY;
}

static double best_score(const search *s) {
    double best = -INFINITY;
    for (size_t i = 0; i < s->now.count; i++)
        best = fmax(best, s->now.states[i].score);
    return best;
}

static lb_status search_all(search *s, lb_error *err) {
    const lbi_progress *p = s->p;
    forget_fresh(s);
    set_horizon(s);
    begin_even(s);
    begin_uneven(s);
    for (s->bound = 0; s->bound + 1 < p->bounds && !s->failed;) {
        observe_window(s);
        s->bound++;
        if (lbi_pace_note(s->pace, p, s->bound, best_score(s))) {
            s->given_up = true;
            return LB_OK;
        }
        uint32_t first = s->alive;
        if (p->end[first] > s->bound)
            continue;
        forget_fresh(s);
        set_horizon(s);
        uint32_t last = first;
        while (last < p->tasks && p->end[last] == s->bound)
            last++;
        if (last == p->tasks)
            break;
        for (uint32_t task = first; task < last && !s->failed; task++) {
            s->next.count = 0;
            for (size_t i = 0; i < s->now.count && !s->failed; i++)
                remove_task(s, &s->now.states[i], task, last == first + 1);
            s->removed[task] = true;
            swap_pools(&s->now, &s->next);
        }
        s->alive = last;
        if (!s->failed)
            settle(s);
        if (!s->failed && s->run_count > 64 * (size_t)p->tasks + 4096) {
            lb_status status = compact_runs(s, err);
            if (status != LB_OK)
                return status;
        }
    }
    return s->failed ? lbi_error_nomem(err, "states") : LB_OK;
}

static lb_status search_make(search *s, const lbi_progress *p, lb_policy policy, bool longest,
                             bool wide, lbi_pace *pace, lb_error *err) {
    size_t tasks = p->tasks;
    *s = (search){.p = p, .policy = policy, .longest = longest, .pace = pace};
    s->beam = tasks >= LARGE ? BEAM_LARGE : wide ? BEAM_WIDE : BEAM;
    s->choices = tasks < LARGE ? CHOICES : CHOICES_LARGE;
    size_t bytes = tasks * (sizeof(uint32_t) + sizeof(uint16_t));
    s->stride = (bytes + 7) / 8 * 8 + (p->cores + 1 + 1) / 2 * 2 * sizeof(block);
    bool ok = make_pool(s, &s->now, s->beam);
    ok = ok && make_pool(s, &s->next, s->beam);
    ok = ok && make_pool(s, &s->spare, s->beam);
    s->scratch_memory = lbi_array_new(1, s->stride);
    s->fresh = lbi_array_new(tasks, sizeof *s->fresh);
    s->removed = calloc(tasks, sizeof *s->removed);
    s->numbers = lbi_array_new(4 * tasks, sizeof *s->numbers);
    s->doubles = lbi_array_new((5 + SIZES) * tasks + 1, sizeof *s->doubles);
    if (!ok || s->scratch_memory == NULL || s->fresh == NULL || s->removed == NULL ||
        s->numbers == NULL || s->doubles == NULL)
        return lbi_error_nomem(err, "states");
    s->members = s->numbers;
    s->members2 = s->numbers + tasks;
    s->order = s->numbers + 2 * tasks;
    s->order2 = s->numbers + 3 * tasks;
    s->gains = s->doubles;
    s->gains2 = s->doubles + tasks;
    s->sorted = s->doubles + 2 * tasks;
    s->sorted2 = s->doubles + 3 * tasks;
    s->rates = s->doubles + 4 * tasks;
    s->polynomial = s->rates + SIZES * tasks;
    memset(s->scratch_memory, 0, s->stride);
    lay_out(s, &s->scratch, s->scratch_memory);
    return LB_OK;
}

static void search_free(search *s) {
    free_pool(&s->now);
    free_pool(&s->next);
    free_pool(&s->spare);
    free(s->scratch_memory);
    free(s->runs);
    free(s->fresh);
    free(s->steps);
    free(s->removed);
    free(s->numbers);
    free(s->doubles);
}

static lb_status read_history(const search *s, lbi_lists *ret, lb_error *err) {
    const state *best = NULL;
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
    for (uint32_t at = best->step; at != NOBODY; at = s->steps[at].parent)
        ret->count++;
    ret->steps = lbi_array_new(ret->count, sizeof *ret->steps);
    if (ret->steps == NULL)
        return lbi_error_nomem(err, "history");
    size_t to = ret->count;
    for (uint32_t at = best->step; at != NOBODY; at = s->steps[at].parent)
        ret->steps[--to] = s->steps[at];
    return LB_OK;
}

lb_status lbi_lists_fit(const lbi_progress *progress, lb_policy policy, bool longest, bool wide,
                        lbi_pace *pace, lbi_lists *ret_lists, lb_error *err) {
    search s;
    *ret_lists = (lbi_lists){0};
    lb_status status = search_make(&s, progress, policy, longest, wide, pace, err);
    if (status == LB_OK)
        status = search_all(&s, err);
    if (status == LB_OK)
        status = read_history(&s, ret_lists, err);
    search_free(&s);
    return status;
}

void lbi_lists_free(lbi_lists *lists) {
    free(lists->steps);
    *lists = (lbi_lists){0};
}
