/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the search under run lists share. The hidden state is which tasks share a list;
 * what is not yet told apart stays open: a block is a number of lists of one length together with
 * their tasks, in any arrangement. A beam holds the best states. */
#ifndef LBI_CLASSIFY_SEARCH_H
#define LBI_CLASSIFY_SEARCH_H

#include "classify/choose.h"
#include "classify/likelihood.h"

#define LBI_SIZES 10 /* lengths of lists whose rates are looked up but once at a bound */
#define LBI_NOBODY UINT32_MAX
#define LBI_NO_BLOCK UINT16_MAX

typedef struct lbi_block {
    uint16_t size;
    uint16_t lists;
} lbi_block;

/* When a list's new length shows in its tasks' rates. */
typedef enum lbi_when {
    LBI_AT_ONCE,
    LBI_BALANCED, /* as soon as a balancer has come round */
    LBI_WITHIN,   /* at any time within the window */
    LBI_REPAIRED  /* long since: it is another task's stretch that is gone over to */
} lbi_when;

/* A change of length at a bound, which tasks may claim to have made. */
typedef struct lbi_claim {
    uint32_t begin;
    uint16_t from, to;
} lbi_claim;

/* What is gained by that, and seconds that are unexplained then. */
typedef struct lbi_claim_value {
    double log, missed;
} lbi_claim_value;

/* A stretch in which a task's list has one length, shared by all states that hold it. */
typedef struct lbi_run {
    lbi_track track;
    uint32_t task;
    uint32_t next;  /* another of this task that began at the same bound */
    uint32_t begin; /* bound */
    uint16_t size;
    uint16_t from; /* the length before, which it may have for a while yet; 0: not that */
    double late;   /* how probable it is that it still has */
    double delay;  /* how long that lasts: the mean, seconds */
    lbi_when when;
    bool unexplained;
    bool starved;           /* .. since it got less than its share */
    size_t regretted;       /* the bound up to which .. */
    lbi_claim_value regret; /* .. its rates speak so against the change that it began with */
    size_t advanced;        /* the bound up to which it was observed */
    double gain;            /* of the window that ended there */
} lbi_run;

typedef struct lbi_state {
    double score;                /* log probability so far */
    double potential;            /* what the choices just made promise; for ranking only */
    double missed;               /* seconds unexplained .. */
    double excused;              /* .. of which a core that was away explains so many */
    uint32_t away_from, away_to; /* the bounds between which a core was away for once; equal: not
                                    yet */
    uint32_t step;
    uint16_t idle; /* empty lists */
    uint16_t blocks;
    uint16_t vacant;    /* a block of which one list is about to be filled up; LBI_NO_BLOCK: none */
    uint16_t guest;     /* a block of one list which a task that is not in the trace is in, and
                           counted in its size; LBI_NO_BLOCK: none */
    lbi_block *block;   /* [cores + 1] */
    uint16_t *block_of; /* [task] */
    uint32_t *run_of;   /* [task] */
} lbi_state;

typedef struct lbi_pool {
    lbi_state *states;
    void *memory;
    size_t count, capacity;
} lbi_pool;

#define LBI_CLAIMS 8

typedef struct lbi_search {
    const lbi_progress *p;
    lb_policy policy;
    lbi_how how;
    size_t choices;
    size_t stride; /* bytes of one state's arrays */
    lbi_pool now, next, spare;
    lbi_state scratch;
    void *scratch_memory;
    lbi_run *runs;
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
    uint32_t *starving; /* [block] */
    double *gains, *gains2, *sorted, *sorted2, *polynomial;
    double *rates; /* [task][LBI_SIZES]: what the rates soon after this bound say for a length */
    lbi_claim claim[LBI_CLAIMS];
    size_t claim_count, claim_next;
    lbi_claim_value *claims; /* [LBI_CLAIMS][task] */
    lbi_pace *pace;
    bool given_up;
    bool failed;
} lbi_search;

/* ---- states (lists_state.c) ---- */

lb_status lbi_search_make(lbi_search *s, lb_error *err);
void lbi_search_free(lbi_search *s);
void lbi_copy_state(const lbi_search *s, lbi_state *to, const lbi_state *from);
/* An empty one in the scratch. */
lbi_state *lbi_clear_state(lbi_search *s);
/* Keeps a copy of the state if it is among the best. */
void lbi_offer(const lbi_search *s, lbi_pool *pool, const lbi_state *offered);
void lbi_swap_pools(lbi_pool *a, lbi_pool *b);

/* The run of a task whose list has a new length from this bound on; `from`: the length before. */
uint32_t lbi_begin_run(lbi_search *s, uint32_t task, uint16_t size, uint16_t from, lbi_when when);
/* Drops runs that no state holds any more. */
lb_status lbi_compact_runs(lbi_search *s, lb_error *err);
void lbi_add_step(lbi_search *s, lbi_state *h, lbi_step_kind kind, uint32_t task, uint16_t from,
                  uint16_t to);
/* Gives a task the run that fits its block; the old one goes on where the length is the same. */
void lbi_place(lbi_search *s, lbi_state *h, uint32_t task, uint16_t block, lbi_when when);
uint16_t lbi_new_block(lbi_state *h, uint16_t size, uint16_t lists);
uint32_t lbi_members_of(const lbi_search *s, const lbi_state *h, uint16_t block, uint32_t *members);
uint16_t lbi_longest_list(const lbi_state *h);
/* The guest's list is another, or of another length, now. LBI_NO_BLOCK: it is gone. */
void lbi_set_guest(lbi_search *s, lbi_state *h, uint16_t block);

/* ---- choices (lists_choose.c) ---- */

/* Up to the next end at least: nobody's list changes before that. */
void lbi_set_horizon(lbi_search *s);
/* What the rates soon after this bound say for a change of a task's list. */
double lbi_promise(const lbi_search *s, uint32_t task, uint16_t from, uint16_t to);
/* Puts the `top` of s->gains first, in descending order, ties by index: s->order and s->sorted. */
void lbi_sort_gains(lbi_search *s, const uint32_t *tasks, size_t count, size_t top);

/* A set of tasks that share one list of a block: which, is open unless the block has only that one
 * list. */
typedef struct lbi_mates {
    size_t count;   /* how many share the list */
    size_t members; /* of the block, in s->order, those that speak for it most first */
    size_t choices;
    lbi_choice choice[LBI_CHOICES_MAX];
    double log_share; /* what each choice is worth before its rates are seen */
} lbi_mates;

/* The tasks of the block that would go from lists of length `from` to `to`: `count` of them are
 * sought. `without` is a member that is known not to be among them (it ended, or it is the mover),
 * or LBI_NOBODY. Leaves their order in s->order. */
void lbi_find_mates(lbi_search *s, const lbi_state *h, uint16_t b, uint32_t without, size_t count,
                    uint16_t from, uint16_t to, size_t most, lbi_mates *ret);

static inline uint32_t lbi_chosen(const lbi_search *s, const lbi_mates *m, size_t choice,
                                  size_t j) {
    return s->order[j == m->choice[choice].out ? m->choice[choice].in : j];
}

/* ---- what happens to lists ---- */

void lbi_begin_lists(lbi_search *s);                         /* lists_start.c */
void lbi_end_task(lbi_search *s, uint32_t task, bool alone); /* lists_balance.c: Step 1a .. */
void lbi_balance_lists(lbi_search *s);                       /* .. and 1b */
void lbi_consider_guests(lbi_search *s);                     /* lists_guest.c */
void lbi_repair_choices(lbi_search *s);                      /* lists_repair.c */

#endif
