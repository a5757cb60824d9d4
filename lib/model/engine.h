/* SPDX-License-Identifier: BSD-3-Clause */
/* The one engine behind batch and online predictions: the state of one realisation.
 *
 * Processes are slots, 0 .. capacity - 1. Time advances from instant to instant:
 *
 *     lbi_engine_open(engine, time);    books progress, takes out what completes (engine->done)
 *     lbi_engine_arrive(), _sleep() ..  what happens to single processes
 *     lbi_engine_place(engine);         Step 1a: the net effect of these
 *     lbi_engine_balance(engine);       Step 1b
 *     lbi_engine_close(engine);         Step 2: the rates until the next instant
 *
 * Nothing in it allocates between lbi_engine_new() and lbi_engine_free() except
 * lbi_engine_reserve(). */
#ifndef LBI_MODEL_ENGINE_H
#define LBI_MODEL_ENGINE_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/random.h"
#include "id_map.h"
#include "model.h"
#include "next_tree.h"
#include "order.h"
#include "twofold.h"
#include "watch.h"
#include "workload_parts.h"

/* Events this near to the earliest pending one, relative to its time, are one instant. */
#define LBI_WINDOW 1e-12

/* Progress on one list is one number, its virtual time; a process completes when that reaches its
 * tag, which is the virtual time at which it came plus its work over its weight. */
typedef struct lbi_entry {
    double tag;
    uint32_t slot;
    uint32_t number; /* in the list's order of coming */
} lbi_entry;

/* How the entries of a list stand. All came in the instant at hand: as they came, which is
 * list.fresh. When that is closed they are sorted: a run, from whose front completions are taken
 * without a comparison. Behind the run lies a heap.
 *
 * Whatever comes or goes otherwise makes a short run a heap, which a sorted one is already. In a
 * long list, of more than LBI_LONG, only newcomers enter the heap, and join the run when they are a
 * quarter of it; an entry that leaves from the middle of the run stays there, dead (slot LBI_DEAD),
 * until an eighth of the run is. A heap alone becomes a run when it is twice as long as that. */
enum {
    /* No tree of realisations (tree.h) has as many branches at one choice among as many processes:
     * so its choices are never those of a long list, which draws otherwise than it enumerates. */
    LBI_LONG = 512
};
#define LBI_DEAD UINT32_MAX

/* Processes that progress in proportion to their weights: the run list of a core or, of processor
 * sharing, those below the cap of one core (list 0) and those at it (list 1). */
typedef struct lbi_list {
    lbi_twofold virtual;     /* the virtual time ... */
    lbi_twofold time;        /* ... at this time */
    lbi_twofold weight;      /* the sum of the weights */
    lbi_twofold next;        /* when the first completes, were nothing else to happen */
    double pace;             /* seconds in which virtual time advances by 1 */
    uint32_t length;         /* the living */
    uint32_t dead;           /* entries of the run */
    uint32_t run;            /* entries in order, the first one alive; behind them the heap */
    uint32_t came;           /* since it was empty */
    uint32_t begin, room;    /* its part of the arena */
    uint32_t dropped;        /* gone from the front of the run: positions count these */
    uint32_t before, behind; /* the neighbours in the arena */
    uint32_t oldest, newest; /* by the time they came, where the model asks for it */
    bool fresh;
    bool stale;   /* in shortest_tree */
    bool changed; /* since the last instant was closed */
} lbi_list;

typedef enum lbi_state {
    LBI_ABSENT,  /* not arrived yet, or gone */
    LBI_RUNNING, /* in a list */
    LBI_ASLEEP
} lbi_state;

/* What is kept of a process either while it is not running or while it is: one memory, which keeps
 * the state within 48 bytes a process in every model. */
typedef union lbi_either {
    double remaining; /* not running: the work left */
    struct {
        uint32_t older, newer; /* running: who came before and after it, where that is kept */
    } order;
    uint32_t weight_position; /* running: in by_weight, under processor sharing */
} lbi_either;

typedef struct lbi_place {
    lbi_either either;
    uint32_t list;     /* where it is, or was before it slept; LBI_ANY_CORE: never placed */
    uint32_t position; /* there, and list.dropped */
} lbi_place;

/* Choices laid down beforehand, for enumeration. */
typedef struct lbi_script {
    uint32_t *taken, *ways; /* of each choice: which was taken out of how many */
    size_t used, length, capacity;
    bool failed; /* no memory, or too long */
} lbi_script;

/* To the next sequence of choices, as an odometer counts; false: that was the last. */
bool lbi_script_next(lbi_script *script);

typedef struct lbi_move {
    uint32_t slot, from, to;
} lbi_move;

typedef struct lbi_engine {
    const lb_model *model;
    const double *weights; /* NULL: all equal */
    /* Of the slots; the order of their ids is that of placement. NULL: the slots'. */
    const lbi_identity *identities;
    size_t capacity; /* processes */
    uint32_t list_count;
    bool shared;  /* processor sharing: list 0 below the cap, list 1 at it */
    bool rotates; /* processor sharing with grain */
    bool tracked; /* positions are kept: single processes can be taken out */
    bool ordered; /* who came when is kept */

    lbi_twofold now;
    size_t finite;      /* running processes of finite work */
    size_t running;     /* processes in lists */
    double check_time;  /* the pending delayed check; INFINITY: none */
    double rotate_time; /* the pending rotation */
    double hazard;      /* what of it is left, in mean times of one list, at hazard_time */
    double hazard_time;
    uint32_t rotating; /* lists that may rotate */
    bool check_due, rotate_due, in_order;

    lbi_random random;
    uint64_t draws;           /* choices made at random so far */
    uint64_t foreseen_draws;  /* for which choice lbi_balance_foresee() ... */
    uint32_t foreseen_givers; /* ... has looked among how many lists */
    uint32_t awaited;         /* a slot that soon completes, of the list settled last */
    lbi_script *script;
    lbi_move *moves;  /* NULL: not recorded */
    lbi_watch *watch; /* NULL: nobody watches */
    /* What the caller looks at when a process completes, of slot 0 and how far apart; NULL:
     * nothing. It is fetched ahead. */
    const char *expected;
    size_t expected_size;
    size_t move_count;

    size_t done_count, touched_count, changed_count, stale_count;

    /* ---- arrays, all in one block ---- */
    char *block;
    size_t block_size;
    /* of the lists */
    lbi_list *lists;
    uint32_t *changed;
    double *next_tree; /* winner tree over lists by time of their next completion: see there */
    uint64_t *shortest_tree; /* over cores by length, then rank ... */
    uint32_t *stale;         /* ... but for the lengths of these */
    uint32_t *by_length;     /* the cores by falling length ... */
    uint32_t *at;            /* ... and where each stands there */
    uint64_t *busy;          /* a bit for each core whose list holds two or more */
    uint32_t tree_size;      /* leaves of shortest_tree */
    uint32_t next_leaf;      /* where those of next_tree begin ... */
    uint32_t next_size;      /* ... and its nodes */
    uint32_t longest, shortest;
    uint32_t first_in_arena, last_in_arena;
    uint32_t arena_used, arena_size;
    /* of the processes */
    lbi_entry *arena;
    uint32_t *longer; /* [length]: how many lists are that long or longer */
    lbi_place *places;
    uint8_t *state;      /* an lbi_state ... */
    uint8_t *wanted;     /* ... and what it is to be when the instant closes; LBI_UNTOUCHED */
    uint32_t *done;      /* completed in this instant, in the order found */
    uint32_t *touched;   /* whose state is to change: the same memory, after those were read */
    uint32_t *by_weight; /* heaps: at the cap from the front, least first; below from the back */
} lbi_engine;

#define LBI_UNTOUCHED 0xff

typedef struct lbi_engine_needs {
    size_t processes;
    bool tracked;  /* processes sleep, or are stopped or looked at */
    bool weighted; /* weights may differ */
} lbi_engine_needs;

lb_status lbi_engine_new(lbi_engine *engine, const lb_model *model, lbi_engine_needs needs,
                         lb_error *err);
void lbi_engine_free(lbi_engine *engine);
/* To time 0, without processes. */
void lbi_engine_reset(lbi_engine *engine, uint64_t seed);
void lbi_engine_reseed(lbi_engine *engine, uint64_t seed);
/* Of an engine that was made for the same model and needs. */
void lbi_engine_copy(lbi_engine *to, const lbi_engine *from);

/* Room for more processes; their state is as it was. False: no memory, nothing has changed. */
bool lbi_engine_reserve(lbi_engine *engine, size_t processes);

/* When something next happens by itself; INFINITY: never. */
double lbi_engine_next(const lbi_engine *engine);
void lbi_engine_open(lbi_engine *engine, double time);
/* False: it had no work, and is completed. engine->done is no longer there from here on. */
bool lbi_engine_arrive(lbi_engine *engine, uint32_t slot, double work, uint32_t core);
/* False: it is in that state already, or not there. */
bool lbi_engine_sleep(lbi_engine *engine, uint32_t slot);
bool lbi_engine_wake(lbi_engine *engine, uint32_t slot);
bool lbi_engine_stop(lbi_engine *engine, uint32_t slot);
/* It is gone at once, and not only when the instant closes. */
void lbi_engine_finish(lbi_engine *engine, uint32_t slot);
/* What becomes of the slot in the instant at hand. */
lbi_state lbi_engine_state(const lbi_engine *engine, uint32_t slot);
/* Puts slots into the order of their ids. */
void lbi_engine_sort(const lbi_engine *engine, uint32_t *slots, size_t count);
void lbi_engine_place(lbi_engine *engine);
/* Whether lbi_engine_balance() may choose. */
bool lbi_engine_must_balance(const lbi_engine *engine);
void lbi_engine_balance(lbi_engine *engine);
void lbi_engine_close(lbi_engine *engine);

/* One of `ways`, from the script or the random numbers; no draw where there is one only. */
uint32_t lbi_engine_choose(lbi_engine *engine, uint32_t ways);

/* ---- adjust.c: between _open() and _place() ---- */

/* From now on weights differ: `weights` holds the common one for every slot so far. */
void lbi_engine_use_weights(lbi_engine *engine, const double *weights);
/* Of a running process; *weight is the element of engine->weights to change. */
void lbi_engine_set_weight(lbi_engine *engine, uint32_t slot, double *weight, double value);
void lbi_engine_set_work(lbi_engine *engine, uint32_t slot, double remaining);
/* Of a running process at engine->now. */
double lbi_engine_remaining(const lbi_engine *engine, uint32_t slot);
double lbi_engine_rate(const lbi_engine *engine, uint32_t slot);

/* ---- lists.c ---- */

/* When the first list completes something. */
static inline double lbi_next_completion(const lbi_engine *engine) {
    return engine->next_tree[LBI_NEXT_ROOT];
}

void lbi_lists_reset(lbi_engine *engine);
/* Books progress up to engine->now. */
void lbi_list_sync(lbi_engine *engine, uint32_t list);
void lbi_list_insert(lbi_engine *engine, uint32_t list, uint32_t slot, double remaining);
/* A process whose tag is known and at least that of all in the list; equal weights. */
void lbi_list_append(lbi_engine *engine, uint32_t list, uint32_t slot, double tag);
/* So `count` of them come to an empty list, whose works are their tags; its length is not counted.
 */
void lbi_list_append_many(lbi_engine *engine, uint32_t list, const lbi_item *items, uint32_t count,
                          const double *works);
/* The process at `position` leaves; returns its remaining work. */
double lbi_list_take(lbi_engine *engine, uint32_t list, uint32_t position);
/* Gives the process at `position`, whose list is in step with now, another remaining work, or the
 * list another sum of weights by the difference that its own has made. */
void lbi_list_retag(lbi_engine *engine, uint32_t list, uint32_t position, double remaining,
                    double weight_before);
/* At the cap of processor sharing weights have no say. */
static inline double lbi_list_share(const lbi_engine *engine, uint32_t list, uint32_t slot) {
    return engine->weights == NULL || (engine->shared && list == 1) ? 1 : engine->weights[slot];
}
/* One of the list's processes at random; its position. */
uint32_t lbi_list_choose(lbi_engine *engine, uint32_t list);
/* Sets engine->now to `time`, when the first completes, and takes out what completes up to `limit`,
 * into engine->done. */
void lbi_lists_complete(lbi_engine *engine, double time, double limit);
/* Pace and next completion, for a list that has changed. */
void lbi_list_settle(lbi_engine *engine, uint32_t list, double pace);
/* The same for all run lists that have. */
void lbi_lists_settle(lbi_engine *engine);

/* What the list's processes can get together at most. */
static inline double lbi_list_speed(const lbi_engine *engine, uint32_t list) {
    const lb_model *model = engine->model;
    if (engine->shared)
        return model->fastest == NULL ? model->options.cores : model->fastest[model->options.cores];
    return model->speeds == NULL ? 1 : model->speeds[list];
}

static inline lbi_entry *lbi_list_entries(const lbi_engine *engine, uint32_t list) {
    return engine->arena + engine->lists[list].begin;
}

/* Entries in the arena, the dead included. */
static inline uint32_t lbi_list_extent(const lbi_list *list) {
    return list->length + list->dead;
}

/* Where in its list a process of a tracked engine is. */
static inline uint32_t lbi_list_position(const lbi_engine *engine, uint32_t slot) {
    const lbi_place *place = &engine->places[slot];
    return place->position - engine->lists[place->list].dropped;
}

/* ---- lengths.c; lengths.h has the rest ---- */

void lbi_lengths_reset(lbi_engine *engine);
/* All lists, empty before, are as long as that, as if they had grown in turns by rank. */
void lbi_lengths_even(lbi_engine *engine, uint32_t length);
/* The shortest list; the fastest core, then the lowest index, on a tie. */
uint32_t lbi_lengths_shortest(lbi_engine *engine);
/* Of the lists of two or more the one of that number, by index: unlike by_length whatever has
 * happened before. */
uint32_t lbi_lengths_busy(const lbi_engine *engine, uint32_t number);
static inline uint32_t lbi_lengths_at_least(const lbi_engine *engine, uint32_t length) {
    return length > engine->longest ? 0 : engine->longer[length];
}

/* ---- balance.c ---- */

void lbi_balance(lbi_engine *engine);
bool lbi_balance_is_needed(const lbi_engine *engine);
void lbi_balance_move(lbi_engine *engine, uint32_t from, uint32_t position, uint32_t to);
void lbi_rotate(lbi_engine *engine);
/* Fetches the process that would move next. */
void lbi_balance_foresee(lbi_engine *engine);

/* ---- groups.c: the same for a model whose groups of cores are balanced by weight ---- */

void lbi_groups_balance(lbi_engine *engine);
bool lbi_groups_need_balance(const lbi_engine *engine);

/* ---- sharing.c ---- */

void lbi_sharing_insert(lbi_engine *engine, uint32_t slot, double remaining);
double lbi_sharing_take(lbi_engine *engine, uint32_t slot);
/* Sorts the heaps by weight anew. */
void lbi_sharing_build(lbi_engine *engine);
/* A completed process has left its list. */
void lbi_sharing_forget(lbi_engine *engine, uint32_t list, uint32_t slot);
void lbi_sharing_settle(lbi_engine *engine);

#endif
