/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* ---- memory ---- */

typedef struct part {
    void *where; /* the address of the pointer in the engine */
    size_t count, size;
} part;

enum {
    PARTS_MAX = 24,
    ALIGNMENT = 64
};

static size_t list_parts(lbi_engine *e, part *parts) {
    size_t lists = e->list_count, leaves = e->tree_size, n = 0;
    parts[n++] = (part){&e->lists, lists, sizeof *e->lists};
    parts[n++] = (part){&e->changed, lists, sizeof *e->changed};
    parts[n++] = (part){&e->next_tree, e->next_size, sizeof *e->next_tree};
    if (!e->shared) {
        parts[n++] = (part){&e->shortest_tree, 2 * leaves, sizeof *e->shortest_tree};
        parts[n++] = (part){&e->stale, lists, sizeof *e->stale};
        parts[n++] = (part){&e->by_length, lists, sizeof *e->by_length};
        parts[n++] = (part){&e->at, lists, sizeof *e->at};
        parts[n++] = (part){&e->busy, (lists + 63) / 64, sizeof *e->busy};
    }
    return n;
}

static size_t process_parts(lbi_engine *e, bool weighted, part *parts) {
    size_t n = 0, p = e->capacity;
    parts[n++] = (part){&e->arena, e->arena_size, sizeof *e->arena};
    parts[n++] = (part){&e->places, p, sizeof *e->places};
    parts[n++] = (part){&e->state, p, sizeof *e->state};
    parts[n++] = (part){&e->wanted, p, sizeof *e->wanted};
    parts[n++] = (part){&e->done, p, sizeof *e->done};
    if (!e->shared)
        parts[n++] = (part){&e->longer, p + 2, sizeof *e->longer};
    if (e->shared && weighted)
        parts[n++] = (part){&e->by_weight, p, sizeof *e->by_weight};
    return n;
}

static size_t padded(size_t size) {
    return (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static bool allocate(lbi_engine *e, bool weighted) {
    part parts[PARTS_MAX];
    size_t count = list_parts(e, parts);
    count += process_parts(e, weighted, parts + count);
    size_t size = 0;
    for (size_t i = 0; i < count; i++) {
        if (parts[i].count > (SIZE_MAX / 2 - size) / parts[i].size)
            return false;
        size += padded(parts[i].count * parts[i].size);
    }
    char *block = aligned_alloc(ALIGNMENT, size > 0 ? size : ALIGNMENT);
    if (block == NULL)
        return false;
    e->block = block;
    e->block_size = size;
    for (size_t i = 0; i < count; i++) {
        memcpy(parts[i].where, &block, sizeof block);
        block += padded(parts[i].count * parts[i].size);
    }
    e->touched = e->done;
    return true;
}

/* For n processes on c lists: slack for lists to grow into and to move to. */
static bool size_arena(lbi_engine *e) {
    double size = (double)e->capacity * 1.375 + 4.0 * e->list_count + 64;
    e->arena_size = (uint32_t)size;
    return size < UINT32_MAX;
}

lb_status lbi_engine_new(lbi_engine *engine, const lb_model *model, lbi_engine_needs needs,
                         lb_error *err) {
    *engine = (lbi_engine){.model = model, .capacity = needs.processes};
    engine->shared = lbi_model_is_shared(model);
    engine->rotates = lbi_model_rotates(model);
    engine->list_count = engine->shared ? 2 : model->options.cores;
    engine->ordered = !engine->shared && model->options.policy != LB_POLICY_NONE &&
                      model->options.process_choice != LB_PROCESS_RANDOM;
    engine->tracked = needs.tracked || engine->ordered || (engine->shared && needs.weighted);
    if (needs.processes > LBI_PROCESSES_MAX || engine->list_count > LBI_PROCESSES_MAX / 4)
        return lbi_error_nomem(err, "the state of a realisation");
    engine->tree_size = 1;
    while (engine->tree_size < engine->list_count)
        engine->tree_size *= 2;
    engine->next_leaf = lbi_next_children(LBI_NEXT_ROOT);
    for (uint64_t leaves = 8; leaves < engine->list_count; leaves *= 8)
        engine->next_leaf = lbi_next_children(engine->next_leaf);
    engine->next_size = (engine->next_leaf + engine->list_count + 7) / 8 * 8;
    if (!size_arena(engine))
        return lbi_error_nomem(err, "the state of a realisation");
    if (!allocate(engine, needs.weighted))
        return lbi_error_nomem(err, "the state of a realisation");
    lbi_engine_reset(engine, 0);
    return LB_OK;
}

void lbi_engine_free(lbi_engine *engine) {
    free(engine->block);
    engine->block = NULL;
}

void lbi_engine_reset(lbi_engine *engine, uint64_t seed) {
    engine->now = lbi_twofold_of(0);
    engine->finite = engine->running = 0;
    engine->check_time = engine->rotate_time = INFINITY;
    engine->check_due = engine->rotate_due = false;
    engine->in_order = true;
    engine->hazard_time = 0;
    engine->rotating = 0;
    engine->draws = engine->foreseen_draws = 0;
    engine->foreseen_givers = 0;
    engine->awaited = LBI_NO_SLOT;
    engine->move_count = engine->done_count = engine->touched_count = engine->changed_count = 0;
    memset(engine->state, LBI_ABSENT, engine->capacity);
    memset(engine->wanted, LBI_UNTOUCHED, engine->capacity);
    lbi_lists_reset(engine);
    lbi_engine_reseed(engine, seed);
}

void lbi_engine_reseed(lbi_engine *engine, uint64_t seed) {
    lbi_random_seed(&engine->random, seed);
    if (!engine->rotates)
        return;
    /* What is left of an exponential time is exponential: it may be drawn anew. */
    engine->hazard = lbi_random_exponential(&engine->random, 1);
    engine->hazard_time = engine->now.high;
    if (engine->rotating > 0)
        engine->rotate_time = engine->now.high + engine->hazard *
                                                     engine->model->options.rotation_time /
                                                     engine->rotating;
}

void lbi_engine_copy(lbi_engine *to, const lbi_engine *from) {
    lbi_engine copy = *from;
    part parts[PARTS_MAX];
    size_t count = list_parts(&copy, parts);
    count += process_parts(&copy, copy.by_weight != NULL, parts + count);
    for (size_t i = 0; i < count; i++) {
        char *pointer;
        memcpy(&pointer, parts[i].where, sizeof pointer);
        pointer = to->block + (pointer - from->block);
        memcpy(parts[i].where, &pointer, sizeof pointer);
    }
    copy.block = to->block;
    copy.touched = copy.done;
    copy.script = to->script;
    copy.moves = to->moves;
    memcpy(copy.block, from->block, from->block_size);
    *to = copy;
}

bool lbi_engine_reserve(lbi_engine *engine, size_t processes) {
    if (processes <= engine->capacity)
        return true;
    bool weighted = engine->by_weight != NULL;
    lbi_engine grown = *engine;
    grown.capacity = processes;
    if (processes > LBI_PROCESSES_MAX || !size_arena(&grown) || !allocate(&grown, weighted))
        return false;
    part old[PARTS_MAX], new[PARTS_MAX];
    size_t count = list_parts(engine, old);
    count += process_parts(engine, weighted, old + count);
    (void)process_parts(&grown, weighted, new + list_parts(&grown, new));
    for (size_t i = 0; i < count; i++) {
        char *from, *to;
        memcpy(&from, old[i].where, sizeof from);
        memcpy(&to, new[i].where, sizeof to);
        memcpy(to, from, old[i].count * old[i].size);
    }
    size_t before = engine->capacity;
    memset(grown.state + before, LBI_ABSENT, processes - before);
    memset(grown.wanted + before, LBI_UNTOUCHED, processes - before);
    if (weighted) { /* one of its heaps grows down from the end */
        size_t below = engine->lists[0].length;
        memcpy(grown.by_weight + processes - below, engine->by_weight + before - below,
               below * sizeof *grown.by_weight);
    }
    free(engine->block);
    *engine = grown;
    return true;
}

/* ---- chance ---- */

uint32_t lbi_engine_choose(lbi_engine *engine, uint32_t ways) {
    if (ways <= 1)
        return 0;
    engine->draws++;
    lbi_script *script = engine->script;
    if (script == NULL)
        return (uint32_t)lbi_random_below(&engine->random, ways);
    if (script->used == script->length) {
        if (script->length == script->capacity) {
            script->failed = true;
            return 0;
        }
        script->taken[script->length] = 0;
        script->ways[script->length++] = ways;
    }
    return script->taken[script->used++];
}

bool lbi_script_next(lbi_script *script) {
    script->length = script->used;
    while (script->length > 0) {
        size_t last = script->length - 1;
        if (++script->taken[last] < script->ways[last])
            return true;
        script->length--;
    }
    return false;
}

/* ---- an instant ---- */

double lbi_engine_next(const lbi_engine *engine) {
    double next = lbi_next_completion(engine);
    if (engine->check_time < next)
        next = engine->check_time;
    return engine->rotate_time < next ? engine->rotate_time : next;
}

void lbi_engine_open(lbi_engine *engine, double time) {
    double limit = time + LBI_WINDOW * time;
    engine->done_count = 0;
    engine->move_count = 0;
    if (lbi_next_completion(engine) <= limit)
        lbi_lists_complete(engine, time, limit);
    else if (engine->now.high != time)
        engine->now = lbi_twofold_of(time);
    if (engine->check_time <= limit) {
        engine->check_due = true;
        engine->check_time = INFINITY;
    }
    if (engine->rotate_time <= limit) {
        engine->rotate_due = true;
        engine->rotate_time = INFINITY;
    }
}

static bool precedes(const lbi_engine *engine, uint32_t a, uint32_t b) {
    return engine->identities == NULL ? a < b : engine->identities[a].id < engine->identities[b].id;
}

static void touch(lbi_engine *engine, uint32_t slot, lbi_state wanted) {
    if (engine->wanted[slot] == LBI_UNTOUCHED) {
        if (engine->touched_count > 0 &&
            precedes(engine, slot, engine->touched[engine->touched_count - 1]))
            engine->in_order = false;
        engine->touched[engine->touched_count++] = slot;
    }
    engine->wanted[slot] = (uint8_t)wanted;
}

lbi_state lbi_engine_state(const lbi_engine *engine, uint32_t slot) {
    uint8_t wanted = engine->wanted[slot];
    return (lbi_state)(wanted == LBI_UNTOUCHED ? engine->state[slot] : wanted);
}

bool lbi_engine_arrive(lbi_engine *engine, uint32_t slot, double work, uint32_t core) {
    engine->places[slot].list = engine->shared ? LBI_ANY_CORE : core;
    engine->places[slot].either.remaining = work;
    if (!(work > 0))
        return false;
    touch(engine, slot, LBI_RUNNING);
    return true;
}

bool lbi_engine_sleep(lbi_engine *engine, uint32_t slot) {
    if (lbi_engine_state(engine, slot) != LBI_RUNNING)
        return false;
    touch(engine, slot, LBI_ASLEEP);
    return true;
}

bool lbi_engine_wake(lbi_engine *engine, uint32_t slot) {
    if (lbi_engine_state(engine, slot) != LBI_ASLEEP)
        return false;
    touch(engine, slot, LBI_RUNNING);
    return true;
}

bool lbi_engine_stop(lbi_engine *engine, uint32_t slot) {
    if (lbi_engine_state(engine, slot) == LBI_ABSENT)
        return false;
    touch(engine, slot, LBI_ABSENT);
    return true;
}

/* Shell sort: in place, and short of a few thousand as good as any. */
void lbi_engine_sort(const lbi_engine *engine, uint32_t *slots, size_t count) {
    for (size_t gap = count / 2; gap > 0; gap = gap == 2 ? 1 : gap * 5 / 11)
        for (size_t i = gap; i < count; i++) {
            uint32_t slot = slots[i];
            size_t j = i;
            for (; j >= gap && precedes(engine, slot, slots[j - gap]); j -= gap)
                slots[j] = slots[j - gap];
            slots[j] = slot;
        }
}

static void place_one(lbi_engine *engine, uint32_t slot) {
    double work = engine->places[slot].either.remaining;
    if (engine->shared) {
        lbi_sharing_insert(engine, slot, work);
        return;
    }
    uint32_t core = engine->places[slot].list;
    lbi_list_insert(engine, core == LBI_ANY_CORE ? lbi_lengths_shortest(engine) : core, slot, work);
}

static double take_one(lbi_engine *engine, uint32_t slot) {
    if (engine->shared)
        return lbi_sharing_take(engine, slot);
    return lbi_list_take(engine, engine->places[slot].list, lbi_list_position(engine, slot));
}

void lbi_engine_finish(lbi_engine *engine, uint32_t slot) {
    if (engine->state[slot] == LBI_RUNNING)
        take_one(engine, slot);
    engine->state[slot] = LBI_ABSENT;
    if (engine->wanted[slot] == LBI_UNTOUCHED)
        return;
    /* It stays among the touched, where another process may come to stand in its slot. */
    engine->wanted[slot] = LBI_ABSENT;
    engine->in_order = false;
}

void lbi_engine_place(lbi_engine *engine) {
    size_t count = engine->touched_count;
    if (count == 0)
        return;
    if (!engine->in_order)
        lbi_engine_sort(engine, engine->touched, count);
    for (size_t i = 0; i < count; i++) {
        uint32_t slot = engine->touched[i];
        if (engine->state[slot] == LBI_RUNNING && engine->wanted[slot] != LBI_RUNNING)
            engine->places[slot].either.remaining = take_one(engine, slot);
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t slot = engine->touched[i];
        lbi_state before = (lbi_state)engine->state[slot];
        engine->state[slot] = engine->wanted[slot];
        engine->wanted[slot] = LBI_UNTOUCHED;
        if (engine->state[slot] == LBI_RUNNING && before != LBI_RUNNING)
            place_one(engine, slot);
    }
    engine->touched_count = 0;
    engine->in_order = true;
}

bool lbi_engine_must_balance(const lbi_engine *engine) {
    if (engine->shared || !lbi_balance_is_needed(engine))
        return false;
    return engine->rotates || engine->model->options.balance_delay == 0 || engine->check_due;
}

void lbi_engine_balance(lbi_engine *engine) {
    /* No policy moves anybody where lists differ by less, but by weight. */
    bool uneven = engine->longest >= engine->shortest + 2 || lbi_model_is_grouped(engine->model);
    if (uneven && lbi_engine_must_balance(engine))
        lbi_balance(engine);
    engine->check_due = false;
    if (!engine->rotate_due)
        return;
    engine->rotate_due = false;
    lbi_rotate(engine);
    engine->hazard = lbi_random_exponential(&engine->random, 1);
    engine->hazard_time = engine->now.high;
    engine->rotating = 0;
}

/* A rotation is due when the hazard of all lists that may rotate has used up one exponential draw:
 * so nothing is drawn at instants that change nothing. */
static void schedule_rotation(lbi_engine *engine) {
    uint32_t rotating = 0;
    if (engine->longest >= 2 && engine->longest == engine->shortest + 1)
        rotating = lbi_lengths_at_least(engine, engine->longest);
    if (rotating == engine->rotating)
        return;
    double mean = engine->model->options.rotation_time, now = engine->now.high;
    engine->hazard -= (now - engine->hazard_time) * engine->rotating / mean;
    if (!(engine->hazard > 0))
        engine->hazard = 0;
    engine->hazard_time = now;
    engine->rotating = rotating;
    engine->rotate_time = rotating == 0 ? INFINITY : now + engine->hazard * mean / rotating;
}

void lbi_engine_close(lbi_engine *engine) {
    if (!engine->shared)
        lbi_lists_settle(engine);
    else if (engine->changed_count > 0)
        lbi_sharing_settle(engine);
    engine->changed_count = 0;
    lbi_balance_foresee(engine);
    if (engine->rotates)
        schedule_rotation(engine);
    else if (engine->model->options.balance_delay > 0 && engine->check_time == INFINITY &&
             !engine->shared && lbi_balance_is_needed(engine))
        engine->check_time = engine->now.high + engine->model->options.balance_delay;
}
