/* SPDX-License-Identifier: BSD-3-Clause */
/* Estimates by enumeration. Up to an instant at which chance decides a realisation is run once; at
 * such an instant all sequences of choices are tried, those that move the same processes to the
 * same lists are merged, and each outcome is followed in turn, depth first. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "estimate.h"
#include "jobs.h"

enum {
    CHOICES_MAX = 4096
}; /* in one instant */

typedef struct outcome {
    double probability;
    uint64_t hash;                /* of its moves */
    size_t choices, choice_count; /* its part of fork.choices */
    size_t moves, move_count;     /* its part of fork.moves */
} outcome;

typedef struct fork { /* an instant at which chance decides */
    bool made;
    lbi_run run; /* as it was before */
    double *durations;
    double probability;
    outcome *outcomes;
    uint32_t *choices;
    lbi_move *moves;
    size_t outcome_count, outcome_capacity, choice_count, choice_capacity, move_count,
        move_capacity;
    size_t next;
} fork;

typedef struct enumeration {
    lbi_job job;
    const lbi_estimate *estimate;
    uint64_t limit, leaves;
    uint64_t pending; /* outcomes not followed yet: as many leaves at least */
    lbi_run run;
    double *durations;
    lbi_move *moves; /* of one instant */
    lbi_script script;
    uint32_t taken[CHOICES_MAX], ways[CHOICES_MAX];
    uint32_t *table; /* outcomes of the fork at hand by hash, open addressing; UINT32_MAX: free */
    size_t table_size, table_capacity;
    fork forks[LBI_EXACT_DEPTH];
    size_t depth;
    lbi_moments *moments;
    lb_status status;
    lb_error error;
    double weighed;    /* probability so far */
    atomic_uint shown; /* the same in millionths, for whoever watches */
} enumeration;

static lb_status out_of_reach(enumeration *e) {
    return lbi_error(&e->error, LB_ERR_LIMIT,
                     "more than %llu realisations to weigh, or more than %u instants of chance in "
                     "one: LB_METHOD_SAMPLE estimates",
                     (unsigned long long)e->limit, LBI_EXACT_DEPTH);
}

/* ---- one fork ---- */

static lb_status save(enumeration *e, fork *f) {
    if (!f->made) {
        lb_status status = lbi_run_new(&f->run, e->estimate->plan, &e->error);
        if (status != LB_OK)
            return status;
        f->durations = lbi_array_new(e->estimate->plan->size, sizeof *f->durations);
        if (f->durations == NULL) {
            lbi_run_free(&f->run);
            return lbi_error_nomem(&e->error, "an enumeration");
        }
        f->made = true;
    }
    lbi_engine_copy(&f->run.engine, &e->run.engine);
    f->run.next_action = e->run.next_action;
    memcpy(f->durations, e->durations, e->estimate->plan->size * sizeof *f->durations);
    f->outcome_count = f->choice_count = f->move_count = f->next = 0;
    return LB_OK;
}

static void restore(enumeration *e, const fork *f) {
    lbi_engine_copy(&e->run.engine, &f->run.engine);
    e->run.next_action = f->run.next_action;
    memcpy(e->durations, f->durations, e->estimate->plan->size * sizeof *f->durations);
}

/* Balances once by the script; what lies beyond its end is the first of each choice. */
static bool balance(enumeration *e) {
    e->script.used = 0;
    e->script.failed = false;
    e->run.engine.script = &e->script;
    e->run.engine.moves = e->moves;
    e->run.engine.move_count = 0;
    lbi_engine_balance(&e->run.engine);
    return !e->script.failed;
}

static int by_slot(const void *left, const void *right) {
    const lbi_move *a = left, *b = right;
    return a->slot < b->slot ? -1 : a->slot > b->slot;
}

static uint64_t hash_moves(const enumeration *e) {
    uint64_t hash = 0;
    for (size_t i = 0; i < e->run.engine.move_count; i++)
        hash = lbi_mix(hash + ((uint64_t)e->moves[i].slot << 32 | e->moves[i].to));
    return hash;
}

static bool same_moves(const enumeration *e, const fork *f, const outcome *o) {
    if (o->move_count != e->run.engine.move_count)
        return false;
    for (size_t i = 0; i < o->move_count; i++)
        if (f->moves[o->moves + i].slot != e->moves[i].slot ||
            f->moves[o->moves + i].to != e->moves[i].to)
            return false;
    return true;
}

/* Where the outcome with the moves at hand is in the table, or would be. */
static uint32_t *find(const enumeration *e, const fork *f, uint64_t hash) {
    for (size_t i = hash;; i++) {
        uint32_t *cell = &e->table[i & (e->table_size - 1)];
        if (*cell == UINT32_MAX)
            return cell;
        const outcome *o = &f->outcomes[*cell];
        if (o->hash == hash && same_moves(e, f, o))
            return cell;
    }
}

/* Makes the table more than twice as large as there are outcomes. */
static bool index_outcomes(enumeration *e, const fork *f) {
    size_t size = f->outcome_count == 0 ? 64 : e->table_size;
    if (f->outcome_count > 0 && size > 2 * f->outcome_count)
        return true;
    if (f->outcome_count > 0)
        size *= 2;
    if (!lbi_array_reserve(&e->table, &e->table_capacity, size, sizeof *e->table))
        return false;
    e->table_size = size;
    memset(e->table, 0xff, size * sizeof *e->table);
    for (size_t i = 0; i < f->outcome_count; i++) {
        size_t at = f->outcomes[i].hash;
        while (e->table[at & (size - 1)] != UINT32_MAX)
            at++;
        e->table[at & (size - 1)] = (uint32_t)i;
    }
    return true;
}

static bool append_outcome(enumeration *e, fork *f, double probability, uint64_t hash) {
    size_t moved = e->run.engine.move_count, chosen = e->script.used;
    if (!lbi_array_reserve(&f->outcomes, &f->outcome_capacity, f->outcome_count + 1,
                           sizeof *f->outcomes) ||
        !lbi_array_reserve(&f->choices, &f->choice_capacity, f->choice_count + chosen,
                           sizeof *f->choices) ||
        !lbi_array_reserve(&f->moves, &f->move_capacity, f->move_count + moved, sizeof *f->moves))
        return false;
    f->outcomes[f->outcome_count++] = (outcome){.probability = probability,
                                                .hash = hash,
                                                .choices = f->choice_count,
                                                .choice_count = chosen,
                                                .moves = f->move_count,
                                                .move_count = moved};
    for (size_t i = 0; i < chosen; i++)
        f->choices[f->choice_count++] = e->taken[i];
    for (size_t i = 0; i < moved; i++)
        f->moves[f->move_count++] = e->moves[i];
    return true;
}

/* Adds what balance() did to the outcomes, or its probability to an equal one. */
static lb_status note_outcome(enumeration *e, fork *f) {
    double probability = f->probability;
    for (size_t i = 0; i < e->script.used; i++)
        probability /= e->ways[i];
    /* In what order processes came matters only where that decides who moves. */
    if (!e->run.engine.ordered && e->run.engine.move_count > 1)
        qsort(e->moves, e->run.engine.move_count, sizeof *e->moves, by_slot);
    uint64_t hash = hash_moves(e);
    if (!index_outcomes(e, f))
        return lbi_error_nomem(&e->error, "an enumeration");
    uint32_t *cell = find(e, f, hash);
    if (*cell != UINT32_MAX) {
        f->outcomes[*cell].probability += probability;
        return LB_OK;
    }
    *cell = (uint32_t)f->outcome_count;
    if (!append_outcome(e, f, probability, hash))
        return lbi_error_nomem(&e->error, "an enumeration");
    return LB_OK;
}

static lb_status find_outcomes(enumeration *e, fork *f) {
    e->script.length = 0;
    uint64_t tried = 0;
    for (;;) {
        if (!balance(e) || tried++ > e->limit || e->leaves + e->pending > e->limit)
            return out_of_reach(e);
        size_t before = f->outcome_count;
        lb_status status = note_outcome(e, f);
        if (status != LB_OK)
            return status;
        e->pending += f->outcome_count - before;
        bool more = lbi_script_next(&e->script);
        if (!more && tried == 1)
            return LB_OK; /* nothing was chosen: the run stands as balanced */
        restore(e, f);
        if (!more)
            return LB_OK;
    }
}

static void follow(enumeration *e, fork *f) {
    const outcome *o = &f->outcomes[f->next++];
    for (size_t i = 0; i < o->choice_count; i++)
        e->taken[i] = f->choices[o->choices + i];
    e->script.length = o->choice_count;
    balance(e);
    lbi_run_close(&e->run);
    e->pending--;
}

/* ---- the tree ---- */

/* Runs on from here to the next fork or the end. *ret_end: the end. */
static lb_status descend(enumeration *e, double *probability, bool *ret_end) {
    while (lbi_run_open(&e->run)) {
        if (e->job.cancelled)
            return LB_ERR_CANCELLED;
        if (!lbi_engine_must_balance(&e->run.engine)) {
            lbi_engine_balance(&e->run.engine);
            lbi_run_close(&e->run);
            continue;
        }
        if (e->depth == LBI_EXACT_DEPTH)
            return out_of_reach(e);
        fork *f = &e->forks[e->depth];
        lb_status status = save(e, f);
        if (status != LB_OK)
            return status;
        f->probability = *probability;
        status = find_outcomes(e, f);
        if (status != LB_OK)
            return status;
        if (f->outcome_count > 1) {
            e->depth++;
            *ret_end = false;
            return LB_OK;
        }
        follow(e, f);
    }
    *ret_end = true;
    return LB_OK;
}

static lb_status weigh(enumeration *e, double probability) {
    const lbi_estimate *estimate = e->estimate;
    lbi_moments_add(e->moments, e->durations + estimate->first, estimate->count, probability);
    lb_distribution *d = estimate->keep;
    if (d == NULL)
        return LB_OK;
    size_t row = d->rows, n = d->processes;
    if (!lbi_distribution_reserve(d, row + 1))
        return lbi_error_nomem(&e->error, "a distribution");
    d->numbers[row] = row;
    d->weights[row] = probability;
    for (size_t i = 0; i < n; i++)
        d->values[row * (n + 1) + i] = e->durations[i];
    d->values[row * (n + 1) + n] = lbi_plan_makespan(estimate->plan, e->durations);
    d->rows++;
    return LB_OK;
}

/* Nothing is left to chance: one realisation is all. */
static lb_status weigh_the_only_one(enumeration *e) {
    if (!lbi_run_all(&e->run, 0, e->durations, &e->job.cancelled))
        return LB_ERR_CANCELLED;
    e->leaves = 1;
    return weigh(e, 1);
}

static lb_status enumerate(enumeration *e) {
    if (!lbi_model_is_random(e->estimate->plan->model))
        return weigh_the_only_one(e);
    lbi_run_begin(&e->run, 0, e->durations);
    double probability = 1;
    for (;;) {
        bool end;
        lb_status status = descend(e, &probability, &end);
        if (status != LB_OK)
            return status;
        if (end) {
            if (e->leaves++ >= e->limit)
                return out_of_reach(e);
            status = weigh(e, probability);
            if (status != LB_OK)
                return status;
            e->weighed += probability;
            e->shown = (unsigned)(e->weighed * 1e6);
        }
        while (e->depth > 0 && e->forks[e->depth - 1].next == e->forks[e->depth - 1].outcome_count)
            e->depth--;
        if (e->depth == 0)
            return LB_OK;
        fork *f = &e->forks[e->depth - 1];
        if (f->next > 0)
            restore(e, f);
        probability = f->outcomes[f->next].probability;
        follow(e, f);
    }
}

static void run(lbi_job *job, uint32_t thread) {
    (void)thread;
    enumeration *e = (enumeration *)job;
    e->status = enumerate(e);
}

static double fraction(lbi_job *job) {
    return ((enumeration *)job)->shown / 1e6;
}

/* ---- */

static void free_enumeration(enumeration *e) {
    for (size_t i = 0; i < LBI_EXACT_DEPTH; i++) {
        fork *f = &e->forks[i];
        if (f->made)
            lbi_run_free(&f->run);
        free(f->durations);
        free(f->outcomes);
        free(f->choices);
        free(f->moves);
    }
    lbi_run_free(&e->run);
    free(e->durations);
    free(e->moves);
    free(e->table);
    free(e->moments);
    free(e);
}

static lb_status prepare(enumeration *e, lb_error *err) {
    lb_status status = lbi_run_new(&e->run, e->estimate->plan, err);
    if (status != LB_OK)
        return status;
    size_t size = e->estimate->plan->size;
    e->durations = lbi_array_new(size, sizeof *e->durations);
    e->moves = lbi_array_new(size, sizeof *e->moves);
    e->moments = lbi_array_new(e->estimate->count, sizeof *e->moments);
    if (e->durations == NULL || e->moves == NULL || e->moments == NULL)
        return lbi_error_nomem(err, "an enumeration");
    lbi_moments_clear(e->moments, e->estimate->count);
    return LB_OK;
}

lb_status lbi_estimate_exactly(const lbi_estimate *estimate, uint64_t limit, lb_error *err) {
    const lb_estimate_options *options = estimate->options;
    enumeration *e = calloc(1, sizeof *e);
    if (e == NULL)
        return lbi_error_nomem(err, "an enumeration");
    e->estimate = estimate;
    e->limit = limit;
    e->script = (lbi_script){.taken = e->taken, .ways = e->ways, .capacity = CHOICES_MAX};
    e->job = (lbi_job){.run = run,
                       .fraction = fraction,
                       .progress = options->progress,
                       .progress_user = options->progress_user,
                       .threads = 1};
    lb_status status = prepare(e, err);
    if (status == LB_OK)
        status = lbi_job_run(&e->job, err);
    if (status == LB_OK && e->status != LB_OK) {
        status = e->status;
        if (err != NULL)
            *err = e->error;
    }
    for (size_t i = 0; status == LB_OK && i < estimate->count; i++)
        estimate->ret_durations[i] = lbi_moments_duration(&e->moments[i], e->leaves, 1);
    free_enumeration(e);
    return status;
}
