/* SPDX-License-Identifier: BSD-3-Clause */
/* States of the search under run lists, and the stretches of equal rate that they share. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "classify/search.h"

#define BEAM 32
#define BEAM_WIDE 256
#define BEAM_LARGE 8
#define CHOICES 8
#define CHOICES_LARGE 3
#define LARGE 512 /* tasks, from which on the beam is narrow */
#define LATE 0.3  /* how often a balancer does not come round at once .. */
#define DELAY 0.1 /* .. but after so many seconds */

/* ---- states ---- */

static void lay_out(const lbi_search *s, lbi_state *state, unsigned char *memory) {
    uint32_t tasks = s->p->tasks;
    state->run_of = (uint32_t *)(void *)memory;
    state->block_of = (uint16_t *)(void *)(memory + tasks * sizeof(uint32_t));
    state->block =
        (lbi_block *)(void *)(memory + s->stride - (s->p->cores + 1) * sizeof(lbi_block));
}

void lbi_copy_state(const lbi_search *s, lbi_state *to, const lbi_state *from) {
    to->score = from->score;
    to->potential = from->potential;
    to->missed = from->missed;
    to->excused = from->excused;
    to->away_from = from->away_from;
    to->away_to = from->away_to;
    to->step = from->step;
    to->idle = from->idle;
    to->blocks = from->blocks;
    to->vacant = from->vacant;
    to->guest = from->guest;
    memcpy(to->run_of, from->run_of, s->stride);
}

static bool make_pool(const lbi_search *s, lbi_pool *pool, size_t capacity) {
    pool->states = lbi_array_new(capacity, sizeof *pool->states);
    pool->memory = lbi_array_new(capacity, s->stride);
    if (pool->states == NULL || pool->memory == NULL)
        return false;
    pool->capacity = capacity;
    for (size_t i = 0; i < capacity; i++)
        lay_out(s, &pool->states[i], (unsigned char *)pool->memory + i * s->stride);
    return true;
}

static void free_pool(lbi_pool *pool) {
    free(pool->states);
    free(pool->memory);
}

static double rank(const lbi_state *state) {
    return state->score + state->potential;
}

lbi_state *lbi_clear_state(lbi_search *s) {
    lbi_state *h = &s->scratch;
    h->score = h->potential = h->missed = h->excused = 0;
    h->away_from = h->away_to = 0;
    h->step = LBI_NOBODY;
    h->idle = 0;
    h->blocks = 0;
    h->vacant = h->guest = LBI_NO_BLOCK;
    return h;
}

void lbi_offer(const lbi_search *s, lbi_pool *pool, const lbi_state *offered) {
    size_t at = pool->count;
    if (at < pool->capacity) {
        pool->count++;
    } else {
        at = 0;
        for (size_t i = 1; i < pool->count; i++)
            if (rank(&pool->states[i]) < rank(&pool->states[at]))
                at = i;
        if (rank(&pool->states[at]) >= rank(offered))
            return;
    }
    lbi_copy_state(s, &pool->states[at], offered);
}

void lbi_swap_pools(lbi_pool *a, lbi_pool *b) {
    lbi_pool c = *a;
    *a = *b;
    *b = c;
}

/* ---- runs ---- */

uint32_t lbi_begin_run(lbi_search *s, uint32_t task, uint16_t size, uint16_t from, lbi_when when) {
    if (!s->how.disturbed && when == LBI_BALANCED)
        when = LBI_AT_ONCE;
    for (uint32_t r = s->fresh[task]; r != LBI_NOBODY; r = s->runs[r].next)
        if (s->runs[r].size == size && s->runs[r].from == from && s->runs[r].when == when)
            return r;
    if (!lbi_array_reserve(&s->runs, &s->run_capacity, s->run_count + 1, sizeof *s->runs)) {
        s->failed = true;
        return 0;
    }
    lbi_run *new = &s->runs[s->run_count];
    *new = (lbi_run){.task = task,
                     .next = s->fresh[task],
                     .begin = (uint32_t)s->bound,
                     .size = size,
                     .from = from,
                     .when = when,
                     .regretted = SIZE_MAX,
                     .advanced = s->bound};
    if (when == LBI_BALANCED) {
        new->late = LATE;
        new->delay = DELAY;
    } else if (when == LBI_WITHIN) {
        new->late = 1;
        new->delay = s->p->time[s->bound + 1] - s->p->time[s->bound];
    }
    lbi_track_begin(&new->track, s->p);
    s->fresh[task] = (uint32_t)s->run_count;
    return (uint32_t)s->run_count++;
}

void lbi_add_step(lbi_search *s, lbi_state *h, lbi_step_kind kind, uint32_t task, uint16_t from,
                  uint16_t to) {
    if (!lbi_array_reserve(&s->steps, &s->step_capacity, s->step_count + 1, sizeof *s->steps)) {
        s->failed = true;
        return;
    }
    s->steps[s->step_count] = (lbi_step){h->step, (uint32_t)s->bound, task, from, to, kind};
    h->step = (uint32_t)s->step_count++;
}

void lbi_place(lbi_search *s, lbi_state *h, uint32_t task, uint16_t block, lbi_when when) {
    h->block_of[task] = block;
    uint16_t size = h->block[block].size;
    uint16_t old_size = s->runs[h->run_of[task]].size;
    if (old_size == size)
        return;
    h->run_of[task] = lbi_begin_run(s, task, size, old_size, when);
    lbi_add_step(s, h, LBI_STEP_MATE, task, old_size, size);
}

/* ---- blocks ---- */

uint16_t lbi_new_block(lbi_state *h, uint16_t size, uint16_t lists) {
    for (uint16_t b = 0; b < h->blocks; b++)
        if (h->block[b].lists == 0) {
            h->block[b] = (lbi_block){size, lists};
            return b;
        }
    h->block[h->blocks] = (lbi_block){size, lists};
    return h->blocks++;
}

uint32_t lbi_members_of(const lbi_search *s, const lbi_state *h, uint16_t block,
                        uint32_t *members) {
    uint32_t count = 0;
    for (uint32_t i = s->alive; i < s->p->tasks; i++)
        if (!s->removed[i] && h->block_of[i] == block)
            members[count++] = i;
    return count;
}

uint16_t lbi_longest_list(const lbi_state *h) {
    uint16_t longest = 0;
    for (uint16_t b = 0; b < h->blocks; b++)
        if (h->block[b].lists > 0 && h->block[b].size > longest)
            longest = h->block[b].size;
    return longest;
}

void lbi_set_guest(lbi_search *s, lbi_state *h, uint16_t block) {
    uint16_t size = block == LBI_NO_BLOCK ? 0 : h->block[block].size;
    h->guest = block;
    lbi_add_step(s, h, LBI_STEP_GUEST, 0, 0, size);
}

lb_status lbi_compact_runs(lbi_search *s, lb_error *err) {
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

lb_status lbi_search_make(lbi_search *s, lb_error *err) {
    const lbi_progress *p = s->p;
    size_t tasks = p->tasks, beam = BEAM;
    if (tasks >= LARGE)
        beam = BEAM_LARGE;
    else if (s->how.wide)
        beam = BEAM_WIDE;
    s->choices = tasks < LARGE ? CHOICES : CHOICES_LARGE;
    size_t bytes = tasks * (sizeof(uint32_t) + sizeof(uint16_t));
    s->stride = (bytes + 7) / 8 * 8 + (p->cores + 1 + 1) / 2 * 2 * sizeof(lbi_block);
    bool ok = make_pool(s, &s->now, beam);
    ok = ok && make_pool(s, &s->next, beam);
    ok = ok && make_pool(s, &s->spare, beam);
    s->scratch_memory = lbi_array_new(1, s->stride);
    s->fresh = lbi_array_new(tasks, sizeof *s->fresh);
    s->removed = calloc(tasks, sizeof *s->removed);
    s->numbers = lbi_array_new(4 * tasks + p->cores + 1, sizeof *s->numbers);
    s->doubles = lbi_array_new((5 + LBI_SIZES) * tasks + 1, sizeof *s->doubles);
    s->claims = lbi_array_new(LBI_CLAIMS * tasks, sizeof *s->claims);
    if (!ok || s->claims == NULL || s->scratch_memory == NULL || s->fresh == NULL ||
        s->removed == NULL || s->numbers == NULL || s->doubles == NULL)
        return lbi_error_nomem(err, "states");
    s->starving = s->numbers + 4 * tasks;
    s->members = s->numbers;
    s->members2 = s->numbers + tasks;
    s->order = s->numbers + 2 * tasks;
    s->order2 = s->numbers + 3 * tasks;
    s->gains = s->doubles;
    s->gains2 = s->doubles + tasks;
    s->sorted = s->doubles + 2 * tasks;
    s->sorted2 = s->doubles + 3 * tasks;
    s->rates = s->doubles + 4 * tasks;
    s->polynomial = s->rates + LBI_SIZES * tasks;
    memset(s->scratch_memory, 0, s->stride);
    lay_out(s, &s->scratch, s->scratch_memory);
    return LB_OK;
}

void lbi_search_free(lbi_search *s) {
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
    free(s->claims);
}
