/* SPDX-License-Identifier: BSD-3-Clause */
/* The engine, driven by a simulator: ids for slots, a queue of events, calls checked. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "engine.h"
#include "id_map.h"

enum {
    AWAITED = 4 /* a power of two */
};

struct lb_sim {
    lb_model *model;
    lbi_engine engine;
    bool open;

    /* of the slots, `capacity` each */
    size_t capacity;
    double *weights; /* while engine.weights is NULL all are common_weight, and not kept here */
    lbi_identity *identities;
    uint32_t *free_slots;
    size_t free_count;
    lbi_move *moves; /* the engine's, of one instant */
    double common_weight;

    lbi_id_map map;
    uint64_t next_id;
    uint32_t awaited[AWAITED]; /* the engine's, of the instants before, in a ring ... */
    unsigned oldest_awaited;   /* ... that begins here */

    uint32_t *removed; /* slots to be free when the instant closes */
    size_t removed_count;

    /* a ring */
    lb_sim_event *events;
    size_t event_capacity, first_event, event_count;
    size_t completions; /* of this instant, at the end of the queue or polled already */
};

/* ---- memory ---- */

/* An instant can complete every process and move every process once. */
static size_t events_of_one_instant(const lb_sim *sim) {
    return 2 * (sim->engine.running + sim->engine.touched_count) + 2;
}

static size_t around(const lb_sim *sim, size_t position) {
    return position < sim->event_capacity ? position : position - sim->event_capacity;
}

static bool grow_events(lb_sim *sim, size_t count) {
    size_t capacity = sim->event_capacity + sim->event_capacity / 2;
    if (capacity < count)
        capacity = count;
    lb_sim_event *events = lbi_array_new(capacity, sizeof *events);
    if (events == NULL)
        return false;
    for (size_t i = 0; i < sim->event_count; i++)
        events[i] = sim->events[around(sim, sim->first_event + i)];
    free(sim->events);
    sim->events = events;
    sim->event_capacity = capacity;
    sim->first_event = 0;
    return true;
}

static inline bool reserve_events(lb_sim *sim, size_t count) {
    return count <= sim->event_capacity || grow_events(sim, count);
}

static bool grow(void *array, size_t before, size_t capacity, size_t size) {
    return lbi_array_reserve(array, &before, capacity, size);
}

/* Each on one cache line. */
static bool grow_identities(lb_sim *sim, size_t capacity) {
    size_t whole = (capacity + 1) / 2 * 2;
    if (whole > SIZE_MAX / sizeof *sim->identities)
        return false;
    lbi_identity *grown = aligned_alloc(64, whole * sizeof *grown);
    if (grown == NULL)
        return false;
    if (sim->capacity > 0)
        memcpy(grown, sim->identities, sim->capacity * sizeof *grown);
    free(sim->identities);
    sim->identities = grown;
    return true;
}

/* Arrays that have grown when a later one cannot are no harm. */
static bool reserve_slots(lb_sim *sim, size_t capacity) {
    size_t before = sim->capacity;
    if (capacity <= before)
        return true;
    if (capacity > LBI_PROCESSES_MAX)
        return false;
    bool grown = grow(&sim->weights, before, capacity, sizeof(double)) &&
                 grow_identities(sim, capacity) &&
                 grow(&sim->free_slots, before, capacity, sizeof(uint32_t)) &&
                 grow(&sim->removed, before, capacity, sizeof(uint32_t)) &&
                 grow(&sim->moves, before, capacity + 1, sizeof(lbi_move));
    /* The engine reads through these, also when a part has not grown, or what follows fails. */
    sim->engine.identities = sim->identities;
    sim->engine.expected = (const char *)sim->identities;
    sim->engine.expected_size = sizeof *sim->identities;
    sim->engine.moves = sim->moves;
    if (sim->engine.weights != NULL)
        sim->engine.weights = sim->weights;
    if (!grown || !lbi_id_map_reserve(&sim->map, capacity, sim->identities) ||
        !reserve_events(sim, 4 * capacity + 16) || !lbi_engine_reserve(&sim->engine, capacity))
        return false;
    for (size_t slot = capacity; slot > before; slot--) {
        sim->free_slots[sim->free_count++] = (uint32_t)slot - 1;
    }
    sim->capacity = capacity;
    return true;
}

lb_status lb_sim_reserve(lb_sim *sim, size_t processes, lb_error *err) {
    return reserve_slots(sim, processes) ? LB_OK : lbi_error_nomem(err, "a simulation's processes");
}

static lb_status new_sim(const lb_model *model, size_t processes, lb_sim **ret_sim, lb_error *err) {
    lb_sim *sim = malloc(sizeof *sim);
    if (sim == NULL)
        return lbi_error_nomem(err, "a simulation");
    *sim = (lb_sim){.next_id = 1};
    for (int i = 0; i < AWAITED; i++)
        sim->awaited[i] = LBI_NO_SLOT;
    lb_status status = lbi_model_copy(model, &sim->model, err);
    if (status == LB_OK)
        status = lbi_engine_new(&sim->engine, sim->model,
                                (lbi_engine_needs){.tracked = true, .weighted = true}, err);
    if (status == LB_OK)
        status = lb_sim_reserve(sim, processes, err);
    if (status != LB_OK) {
        lb_sim_free(sim);
        return status;
    }
    *ret_sim = sim;
    return LB_OK;
}

lb_status lb_sim_new(const lb_model *model, uint64_t seed, lb_sim **ret_sim, lb_error *err) {
    lb_sim *sim = NULL;
    lb_status status = new_sim(model, 8, &sim, err);
    if (status != LB_OK)
        return status;
    lbi_engine_reset(&sim->engine, seed);
    *ret_sim = sim;
    return LB_OK;
}

void lb_sim_free(lb_sim *sim) {
    if (sim == NULL)
        return;
    lbi_engine_free(&sim->engine);
    lb_model_free(sim->model);
    free(sim->weights);
    free(sim->identities);
    free(sim->free_slots);
    free(sim->removed);
    free(sim->moves);
    free(sim->map.heads);
    free(sim->events);
    free(sim);
}

lb_status lb_sim_clone(const lb_sim *sim, lb_sim **ret_sim, lb_error *err) {
    if (sim->open)
        return lbi_error(err, LB_ERR_INVALID, "clone at %g s: an instant is open",
                         sim->engine.now.high);
    lb_sim *clone = NULL;
    lb_status status = new_sim(sim->model, sim->capacity, &clone, err);
    if (status != LB_OK)
        return status;
    if (!reserve_events(clone, sim->event_capacity)) {
        lb_sim_free(clone);
        return lbi_error_nomem(err, "a simulation");
    }
    size_t n = sim->capacity;
    if (sim->engine.weights != NULL)
        memcpy(clone->weights, sim->weights, n * sizeof *sim->weights);
    memcpy(clone->identities, sim->identities, n * sizeof *sim->identities);
    memcpy(clone->free_slots, sim->free_slots, n * sizeof *sim->free_slots);
    clone->free_count = sim->free_count;
    clone->common_weight = sim->common_weight;
    clone->next_id = sim->next_id;
    memcpy(clone->map.heads, sim->map.heads, sim->map.size * sizeof *sim->map.heads);
    for (size_t i = 0; i < sim->event_count; i++)
        clone->events[i] = sim->events[around(sim, sim->first_event + i)];
    clone->event_count = sim->event_count;
    lbi_engine_copy(&clone->engine, &sim->engine);
    clone->engine.model = clone->model;
    clone->engine.identities = clone->identities;
    clone->engine.expected = (const char *)clone->identities;
    clone->engine.weights = sim->engine.weights == NULL ? NULL : clone->weights;
    *ret_sim = clone;
    return LB_OK;
}

void lb_sim_reseed(lb_sim *sim, uint64_t seed) {
    lbi_engine_reseed(&sim->engine, seed);
}

/* ---- events ---- */

static lb_sim_event *event_at(lb_sim *sim, size_t position) {
    return &sim->events[around(sim, sim->first_event + position)];
}

/* Among the completions of this instant that were not polled yet, by id. */
static void push_completion(lb_sim *sim, uint32_t slot) {
    lb_sim_event event = {.time = sim->engine.now.high,
                          .id = sim->identities[slot].id,
                          .tag = sim->identities[slot].tag,
                          .kind = LB_SIM_COMPLETED,
                          .from = LB_CORE_ANY,
                          .to = LB_CORE_ANY};
    size_t position = sim->event_count++;
    for (size_t i = 0; i < sim->completions && position > 0; i++, position--) {
        lb_sim_event *before = event_at(sim, position - 1);
        if (before->id < event.id)
            break;
        *event_at(sim, position) = *before;
    }
    *event_at(sim, position) = event;
    sim->completions++;
    lbi_id_map_expect(&sim->map, event.id); /* soon polled */
}

static void push_completions(lb_sim *sim) {
    lbi_engine *engine = &sim->engine;
    if (engine->done_count > 1)
        lbi_engine_sort(engine, engine->done, engine->done_count);
    for (size_t i = 0; i < engine->done_count; i++)
        push_completion(sim, engine->done[i]);
}

static void push_moves(lb_sim *sim) {
    for (size_t i = 0; i < sim->engine.move_count; i++) {
        lbi_move move = sim->moves[i];
        *event_at(sim, sim->event_count++) = (lb_sim_event){.time = sim->engine.now.high,
                                                            .id = sim->identities[move.slot].id,
                                                            .tag = sim->identities[move.slot].tag,
                                                            .kind = LB_SIM_MIGRATED,
                                                            .from = move.from,
                                                            .to = move.to};
    }
}

int lb_sim_poll(lb_sim *sim, lb_sim_event *ret_event) {
    if (sim->event_count == 0)
        return 0;
    *ret_event = *event_at(sim, 0);
    sim->event_count--;
    /* An empty queue begins again where it did, which is in the cache. */
    sim->first_event = sim->event_count == 0 ? 0 : around(sim, sim->first_event + 1);
    if (ret_event->kind == LB_SIM_COMPLETED) {
        uint32_t slot = lbi_id_map_remove(&sim->map, ret_event->id, sim->identities);
        sim->free_slots[sim->free_count++] = slot;
    }
    return 1;
}

/* ---- instants ---- */

static lb_status open_instant(lb_sim *sim, double time, lb_error *err) {
    /* And what one call more needs, so that leave() cannot fail. */
    if (!reserve_events(sim, sim->event_count + events_of_one_instant(sim) + 4))
        return lbi_error_nomem(err, "a simulation's events");
    sim->completions = 0;
    lbi_engine_open(&sim->engine, time);
    push_completions(sim);
    return LB_OK;
}

/* Whoever completes next in the list settled last is fetched by the engine; some instants later it
 * is there, and tells where its id will be looked for. */
static void expect_next(lb_sim *sim) {
    uint32_t *awaited = &sim->awaited[sim->oldest_awaited++ % AWAITED];
    if (*awaited != LBI_NO_SLOT)
        lbi_id_map_expect(&sim->map, sim->identities[*awaited].id);
    *awaited = sim->engine.awaited;
}

static lb_status close_instant(lb_sim *sim, lb_error *err) {
    if (!reserve_events(sim, sim->event_count + events_of_one_instant(sim)))
        return lbi_error_nomem(err, "a simulation's events");
    lbi_engine_place(&sim->engine);
    lbi_engine_balance(&sim->engine);
    lbi_engine_close(&sim->engine);
    expect_next(sim);
    push_moves(sim);
    for (size_t i = 0; i < sim->removed_count; i++)
        sim->free_slots[sim->free_count++] = sim->removed[i];
    sim->removed_count = 0;
    return LB_OK;
}

/* All instants before `time`, but not what is one instant with it. */
static lb_status run_until(lb_sim *sim, double time, lb_error *err) {
    for (;;) {
        double next = lbi_engine_next(&sim->engine);
        if (!(next < time) || next + LBI_WINDOW * next >= time)
            return LB_OK;
        /* Only rotations are left, and they have no end. */
        if (time == INFINITY && sim->engine.finite == 0 && sim->engine.rotates)
            return LB_OK;
        lb_status status = open_instant(sim, next, err);
        if (status == LB_OK)
            status = close_instant(sim, err);
        if (status != LB_OK)
            return status;
    }
}

static lb_status check_time(const lb_sim *sim, const char *what, double time, lb_error *err) {
    if (sim->open)
        return lbi_error(err, LB_ERR_INVALID, "%s at %g s: an instant is open", what,
                         sim->engine.now.high);
    if (!(time >= sim->engine.now.high))
        return lbi_error(err, LB_ERR_INVALID, "%s to %g s: not before now, %g s, expected", what,
                         time, sim->engine.now.high);
    return LB_OK;
}

lb_status lb_sim_begin(lb_sim *sim, double time, lb_error *err) {
    lb_status status = check_time(sim, "begin", time, err);
    if (status == LB_OK && time == INFINITY)
        status = lbi_error(err, LB_ERR_INVALID, "begin at %g s: a finite time expected", time);
    if (status == LB_OK)
        status = run_until(sim, time, err);
    if (status == LB_OK)
        status = open_instant(sim, time, err);
    if (status == LB_OK)
        sim->open = true;
    return status;
}

lb_status lb_sim_commit(lb_sim *sim, lb_error *err) {
    if (!sim->open)
        return lbi_error(err, LB_ERR_INVALID, "commit at %g s: no instant is open",
                         sim->engine.now.high);
    lb_status status = close_instant(sim, err);
    if (status == LB_OK)
        sim->open = false;
    return status;
}

lb_status lb_sim_advance(lb_sim *sim, double until, lb_error *err) {
    lb_status status = check_time(sim, "advance", until, err);
    if (status == LB_OK)
        status = run_until(sim, until, err);
    if (status != LB_OK || until == INFINITY)
        return status;
    /* What is due at that very time; else nothing happens, and time passes. */
    if (lbi_engine_next(&sim->engine) <= until + LBI_WINDOW * until) {
        status = open_instant(sim, until, err);
        return status == LB_OK ? close_instant(sim, err) : status;
    }
    if (until > sim->engine.now.high)
        sim->engine.now = lbi_twofold_of(until);
    return LB_OK;
}

double lb_sim_next(const lb_sim *sim) {
    return sim->open ? sim->engine.now.high : lbi_engine_next(&sim->engine);
}

double lb_sim_now(const lb_sim *sim) {
    return sim->engine.now.high;
}

size_t lb_sim_count(const lb_sim *sim) {
    return sim->engine.running;
}

/* ---- calls: outside an open instant each is one of its own ---- */

static lb_status enter(lb_sim *sim, lb_error *err) {
    return sim->open ? LB_OK : open_instant(sim, sim->engine.now.high, err);
}

/* Cannot fail: enter() has reserved what one call needs. */
static void leave(lb_sim *sim) {
    if (!sim->open)
        (void)close_instant(sim, NULL);
}

static lb_status find(const lb_sim *sim, const char *call, lb_process_id id, uint32_t *ret_slot,
                      lb_error *err) {
    uint32_t slot = lbi_id_map_find(&sim->map, id, sim->identities);
    if (slot == LBI_NO_SLOT || lbi_engine_state(&sim->engine, slot) == LBI_ABSENT)
        return lbi_error(err, LB_ERR_INVALID, "%s of process %llu: it %s", call,
                         (unsigned long long)id,
                         slot == LBI_NO_SLOT ? "is not known" : "has completed");
    *ret_slot = slot;
    return LB_OK;
}

/* Finds and enters. *ret_completed: it was due at this very instant, and completion wins. */
static lb_status enter_with(lb_sim *sim, const char *call, lb_process_id id, uint32_t *ret_slot,
                            bool *ret_completed, lb_error *err) {
    lb_status status = find(sim, call, id, ret_slot, err);
    if (status == LB_OK)
        status = enter(sim, err);
    if (status == LB_OK)
        *ret_completed = lbi_engine_state(&sim->engine, *ret_slot) == LBI_ABSENT;
    return status;
}

/* While all weights are the same the engine need not look at them. */
static void use_weight(lb_sim *sim, double weight, bool only) {
    lbi_engine *engine = &sim->engine;
    if (only) {
        engine->weights = NULL;
        sim->common_weight = weight;
    } else if (engine->weights == NULL && weight != sim->common_weight) {
        for (size_t slot = 0; slot < sim->capacity; slot++)
            sim->weights[slot] = sim->common_weight;
        lbi_engine_use_weights(engine, sim->weights);
    }
}

static double weight_of(const lb_sim *sim, uint32_t slot) {
    return sim->engine.weights == NULL ? sim->common_weight : sim->weights[slot];
}

/* As many as there can be of these still have a sum that a double holds. */
#define HEAVIEST 1e298

static lb_status check_weight(double weight, lb_error *err) {
    if (weight > 0 && weight <= HEAVIEST)
        return LB_OK;
    return lbi_error(err, LB_ERR_INVALID, "weight is %g: above 0 and at most 1e298 expected",
                     weight);
}

static lb_status check_work(const lb_sim *sim, double work, lb_error *err) {
    if (!(work >= 0))
        return lbi_error(err, LB_ERR_INVALID, "work is %g s: 0 to infinity expected", work);
    if (lbi_model_is_fast_enough(sim->model, work))
        return LB_OK;
    return lbi_error(err, LB_ERR_INVALID,
                     "work is %g s: the time that it takes on the slowest core exceeds a double",
                     work);
}

static lb_status check_quotient(double work, double weight, lb_error *err) {
    if (lbi_is_heavy_enough(weight, work))
        return LB_OK;
    return lbi_error(err, LB_ERR_INVALID, "weight is %g: work of %g s over it exceeds a double",
                     weight, work);
}

static lb_status check_process(const lb_sim *sim, double work, double weight, uint32_t core,
                               lb_error *err) {
    lb_status status = check_work(sim, work, err);
    if (status == LB_OK)
        status = check_weight(weight, err);
    if (status == LB_OK)
        status = check_quotient(work, weight, err);
    if (status == LB_OK && core != LB_CORE_ANY && core >= sim->model->options.cores)
        status = lbi_error(err, LB_ERR_INVALID, "core is %u: the model has %u cores",
                           (unsigned)core, (unsigned)sim->model->options.cores);
    return status;
}

lb_status lb_sim_add(lb_sim *sim, double work, double weight, uint32_t core, uint64_t tag,
                     lb_process_id *ret_id, lb_error *err) {
    lb_status status = check_process(sim, work, weight, core, err);
    if (status != LB_OK)
        return status;
    if (sim->free_count == 0 && !reserve_slots(sim, sim->capacity + sim->capacity / 2 + 8))
        return lbi_error_nomem(err, "a simulation's processes");
    if (sim->open && !reserve_events(sim, sim->event_count + events_of_one_instant(sim) + 4))
        return lbi_error_nomem(err, "a simulation's events");
    lbi_id_map_expect(&sim->map, sim->next_id);
    status = enter(sim, err);
    if (status != LB_OK)
        return status;
    uint32_t slot = sim->free_slots[--sim->free_count];
    use_weight(sim, weight, sim->capacity - sim->free_count == 1);
    if (sim->engine.weights != NULL)
        sim->weights[slot] = weight;
    sim->identities[slot].id = sim->next_id++;
    sim->identities[slot].tag = tag;
    lbi_id_map_add(&sim->map, slot, sim->identities);
    if (!lbi_engine_arrive(&sim->engine, slot, work, core))
        push_completion(sim, slot);
    if (ret_id != NULL)
        *ret_id = sim->identities[slot].id;
    leave(sim);
    return LB_OK;
}

lb_status lb_sim_sleep(lb_sim *sim, lb_process_id id, lb_error *err) {
    uint32_t slot = LBI_NO_SLOT;
    bool completed = false;
    lb_status status = find(sim, "sleep", id, &slot, err);
    if (status == LB_OK && lbi_engine_state(&sim->engine, slot) == LBI_ASLEEP)
        status = lbi_error(err, LB_ERR_INVALID, "sleep of process %llu: it is asleep",
                           (unsigned long long)id);
    if (status == LB_OK)
        status = enter_with(sim, "sleep", id, &slot, &completed, err);
    if (status != LB_OK)
        return status;
    if (!completed)
        lbi_engine_sleep(&sim->engine, slot);
    leave(sim);
    return LB_OK;
}

lb_status lb_sim_wake(lb_sim *sim, lb_process_id id, lb_error *err) {
    uint32_t slot = LBI_NO_SLOT;
    lb_status status = find(sim, "wake", id, &slot, err);
    if (status == LB_OK && lbi_engine_state(&sim->engine, slot) != LBI_ASLEEP)
        status = lbi_error(err, LB_ERR_INVALID, "wake of process %llu: it is awake",
                           (unsigned long long)id);
    if (status == LB_OK)
        status = enter(sim, err);
    if (status != LB_OK)
        return status;
    lbi_engine_wake(&sim->engine, slot);
    leave(sim);
    return LB_OK;
}

lb_status lb_sim_remove(lb_sim *sim, lb_process_id id, lb_error *err) {
    uint32_t slot = LBI_NO_SLOT;
    bool completed = false;
    lb_status status = enter_with(sim, "remove", id, &slot, &completed, err);
    if (status != LB_OK)
        return status;
    if (!completed) {
        lbi_engine_stop(&sim->engine, slot);
        lbi_id_map_remove(&sim->map, id, sim->identities);
        sim->removed[sim->removed_count++] = slot;
    }
    leave(sim);
    return LB_OK;
}

lb_status lb_sim_set_weight(lb_sim *sim, lb_process_id id, double weight, lb_error *err) {
    uint32_t slot = LBI_NO_SLOT;
    bool completed = false;
    lb_status status = check_weight(weight, err);
    if (status == LB_OK)
        status = find(sim, "set_weight", id, &slot, err);
    if (status == LB_OK)
        status = check_quotient(lb_sim_remaining(sim, id), weight, err);
    if (status == LB_OK)
        status = enter_with(sim, "set_weight", id, &slot, &completed, err);
    if (status != LB_OK)
        return status;
    if (!completed && weight != weight_of(sim, slot)) {
        use_weight(sim, weight, false);
        if (sim->engine.state[slot] == LBI_RUNNING)
            lbi_engine_set_weight(&sim->engine, slot, &sim->weights[slot], weight);
        else
            sim->weights[slot] = weight;
    }
    leave(sim);
    return LB_OK;
}

lb_status lb_sim_set_work(lb_sim *sim, lb_process_id id, double remaining, lb_error *err) {
    uint32_t slot = LBI_NO_SLOT;
    bool completed = false;
    lb_status status = check_work(sim, remaining, err);
    if (status == LB_OK)
        status = find(sim, "set_work", id, &slot, err);
    if (status == LB_OK)
        status = check_quotient(remaining, weight_of(sim, slot), err);
    if (status == LB_OK)
        status = enter_with(sim, "set_work", id, &slot, &completed, err);
    if (status != LB_OK)
        return status;
    if (!completed && remaining == 0) {
        lbi_engine_finish(&sim->engine, slot);
        push_completion(sim, slot);
    } else if (!completed && sim->engine.state[slot] == LBI_RUNNING)
        lbi_engine_set_work(&sim->engine, slot, remaining);
    else if (!completed)
        sim->engine.places[slot].either.remaining = remaining;
    leave(sim);
    return LB_OK;
}

/* ---- looking ---- */

double lb_sim_remaining(const lb_sim *sim, lb_process_id id) {
    uint32_t slot = lbi_id_map_find(&sim->map, id, sim->identities);
    if (slot == LBI_NO_SLOT)
        return NAN;
    if (lbi_engine_state(&sim->engine, slot) == LBI_ABSENT)
        return 0;
    if (sim->engine.state[slot] == LBI_RUNNING)
        return lbi_engine_remaining(&sim->engine, slot);
    return sim->engine.places[slot].either.remaining;
}

double lb_sim_rate(const lb_sim *sim, lb_process_id id) {
    uint32_t slot = lbi_id_map_find(&sim->map, id, sim->identities);
    if (slot == LBI_NO_SLOT)
        return NAN;
    return sim->engine.state[slot] == LBI_RUNNING ? lbi_engine_rate(&sim->engine, slot) : 0;
}

uint32_t lb_sim_core(const lb_sim *sim, lb_process_id id) {
    uint32_t slot = lbi_id_map_find(&sim->map, id, sim->identities);
    if (slot == LBI_NO_SLOT || sim->engine.shared || sim->engine.state[slot] != LBI_RUNNING)
        return LB_CORE_ANY;
    return sim->engine.places[slot].list;
}

size_t lb_sim_core_load(const lb_sim *sim, uint32_t core) {
    if (sim->engine.shared || core >= sim->engine.list_count)
        return 0;
    return sim->engine.lists[core].length;
}
