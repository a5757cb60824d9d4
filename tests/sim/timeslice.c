/* SPDX-License-Identifier: BSD-3-Clause */
/* The engine: cores with run queues and clocks of their own, one event after another. Times are
 * whole nanoseconds. A core's progress is booked when something happens to it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define NOBODY UINT32_MAX

typedef struct task {
    double left;         /* CPU nanoseconds, at speed 1, of the unit that it is at. */
    int64_t cpu_ns;      /* Time on cores so far. */
    int64_t unit_cpu_ns; /* cpu_ns when the unit began. */
    int64_t unit_start_ns;
    uint32_t unit;        /* The unit's number. */
    uint32_t unit_core;   /* Where it began. */
    uint32_t limit;       /* Units to run; UINT32_MAX: until told to end. */
    uint32_t core;        /* Whose list it is in. */
    uint32_t next;        /* In its list. */
    int64_t unit_seen_ns; /* The last recorded unit's end, and slice's. */
    int64_t slice_seen_ns;
    bool begun; /* It has been on a core. */
    bool told;  /* It was told to end. */
    bool done;
} task;

/* A run queue. Its first task runs (if the core does), the others wait. */
typedef struct core {
    int64_t next_ns;       /* When something happens here; NEVER. */
    int64_t since_ns;      /* Progress is booked up to here. */
    int64_t slice_end_ns;  /* NEVER: nobody waits. */
    int64_t slice_left_ns; /* While stolen. */
    int64_t run_start_ns;  /* When the first task got on. */
    int64_t rotate_ns;     /* When this list is rotated. */
    int64_t busy_ns;
    double speed;
    uint32_t first, last;
    bool stolen;
} core;

typedef struct told_end {
    int64_t time_ns;
    uint32_t task;
} told_end;

typedef struct simulation {
    const timeslice_config *config;
    timeslice_result *result;
    timeslice_truth *truth;
    task *tasks; /* The background task is behind the others. */
    core *cores;
    uint32_t *sizes;
    told_end *ends;
    uint32_t task_count, core_count;
    uint32_t end_next;                /* In ends. */
    uint32_t running;                 /* In lists or the single queue. */
    uint32_t left;                    /* Tasks that have not ended, the background task aside. */
    uint32_t queue_first, queue_last; /* The single queue. */
    uint32_t pinned;                  /* The task that never moves; NOBODY. */
    int64_t unit_ns, slice_ns, delay_ns;
    int64_t check_ns; /* The pending check; NEVER. */
    int64_t step_at_ns, step_ns;
    int64_t steal_from_ns, steal_until_ns;
    int64_t background_from_ns, background_until_ns;
    size_t unit_room, slice_room, event_room, move_room, size_room;
    random_stream noise, moves, loss, phases;
    double dwell_shape;
    watch watcher;
    bool no_memory;
} simulation;

/* ---- what is recorded ---- */

/* The array with room for one more of `size` bytes; where there is no memory, the array as it was,
 * and the run is over. */
static void *grown(simulation *sim, void *array, size_t used, size_t *room, size_t size) {
    if (used < *room)
        return array;
    size_t more = *room == 0 ? 64 : *room * 2;
    void *moved = realloc(array, more * size);
    if (moved == NULL) {
        sim->no_memory = true;
        return array;
    }
    *room = more;
    return moved;
}

static int64_t stamp(const simulation *sim, int64_t time) {
    return time >= sim->step_at_ns ? time + sim->step_ns : time;
}

static int32_t shown_core(const simulation *sim, uint32_t core_index) {
    return sim->config->cores_hidden ? -1 : (int32_t)core_index;
}

static void record_unit(simulation *sim, uint32_t index, int64_t now) {
    task *t = &sim->tasks[index];
    if (sim->config->lost_rate > 0 && random_unit(&sim->loss) < sim->config->lost_rate)
        return;
    int64_t start = stamp(sim, t->unit_start_ns), end = stamp(sim, now);
    /* A clock set back leaves units that end before they, or others, began: nobody keeps them. */
    if (end < start || start < t->unit_seen_ns)
        return;
    timeslice_result *result = sim->result;
    result->units =
        grown(sim, result->units, result->unit_count, &sim->unit_room, sizeof *result->units);
    if (sim->no_memory)
        return;
    t->unit_seen_ns = end;
    result->units[result->unit_count++] =
        (lb_unit){.start_ns = start,
                  .end_ns = end,
                  .cpu_ns = sim->config->cpu_time_hidden ? -1 : t->cpu_ns - t->unit_cpu_ns,
                  .task = index,
                  .index = t->unit,
                  .core_start = shown_core(sim, t->unit_core),
                  .core_end = shown_core(sim, t->core)};
}

static void record_slice(simulation *sim, uint32_t core_index, int64_t now) {
    const core *c = &sim->cores[core_index];
    if (!sim->config->slices || c->stolen || c->first >= sim->result->tasks ||
        now <= c->run_start_ns)
        return;
    timeslice_result *result = sim->result;
    task *t = &sim->tasks[c->first];
    int64_t start = stamp(sim, c->run_start_ns), end = stamp(sim, now);
    if (end < start || start < t->slice_seen_ns)
        return;
    result->slices =
        grown(sim, result->slices, result->slice_count, &sim->slice_room, sizeof *result->slices);
    if (sim->no_memory)
        return;
    t->slice_seen_ns = end;
    result->slices[result->slice_count++] = (lb_slice){start, end, c->first, (int32_t)core_index};
}

static void record_sizes(simulation *sim, int64_t now) {
    timeslice_truth *truth = sim->truth;
    size_t cores = sim->core_count;
    if (truth->size_rows > 0 && truth->sizes_ns[truth->size_rows - 1] == now)
        truth->size_rows--;
    size_t room = sim->size_room;
    truth->sizes_ns =
        grown(sim, truth->sizes_ns, truth->size_rows, &sim->size_room, sizeof *truth->sizes_ns);
    truth->sizes = grown(sim, truth->sizes, truth->size_rows, &room, cores * sizeof *truth->sizes);
    if (sim->no_memory)
        return;
    truth->sizes_ns[truth->size_rows] = now;
    memcpy(truth->sizes + truth->size_rows * cores, sim->sizes, cores * sizeof *truth->sizes);
    truth->size_rows++;
}

static uint32_t shown_task(const simulation *sim, uint32_t index) {
    return index < sim->result->tasks ? index : TIMESLICE_BACKGROUND;
}

static void record_event(simulation *sim, int64_t now, uint32_t index, uint32_t core_index) {
    timeslice_truth *truth = sim->truth;
    truth->events =
        grown(sim, truth->events, truth->event_count, &sim->event_room, sizeof *truth->events);
    if (!sim->no_memory)
        truth->events[truth->event_count++] =
            (timeslice_event){now, shown_task(sim, index), core_index, sim->running};
}

static void record_move(simulation *sim, int64_t now, uint32_t index, uint32_t from, uint32_t to,
                        bool rotation) {
    timeslice_truth *truth = sim->truth;
    truth->moves =
        grown(sim, truth->moves, truth->move_count, &sim->move_room, sizeof *truth->moves);
    if (!sim->no_memory)
        truth->moves[truth->move_count++] =
            (timeslice_move){now, shown_task(sim, index), from, to, rotation};
}

/* ---- one core ---- */

static bool single(const simulation *sim) {
    return sim->config->policy == TIMESLICE_SINGLE;
}

static void book(simulation *sim, uint32_t core_index, int64_t now) {
    core *c = &sim->cores[core_index];
    if (c->first != NOBODY && !c->stolen) {
        int64_t spent = now - c->since_ns;
        task *t = &sim->tasks[c->first];
        t->left -= (double)spent * c->speed;
        t->cpu_ns += spent;
        c->busy_ns += spent;
    }
    c->since_ns = now;
}

static bool ends_now(const simulation *sim, uint32_t index) {
    return sim->tasks[index].told && sim->config->end == TIMESLICE_END_AT_ONCE;
}

static void plan_core(simulation *sim, uint32_t core_index) {
    core *c = &sim->cores[core_index];
    c->next_ns = NEVER;
    if (c->first == NOBODY || c->stolen)
        return;
    if (ends_now(sim, c->first)) {
        c->next_ns = c->since_ns;
        return;
    }
    double left = sim->tasks[c->first].left;
    if (isfinite(left))
        c->next_ns = c->since_ns + (left > 0 ? (int64_t)ceil(left / c->speed) : 0);
    if (c->slice_end_ns < c->next_ns)
        c->next_ns = c->slice_end_ns;
}

static int64_t slice_length(simulation *sim) {
    double jitter = sim->config->slice_jitter;
    if (jitter == 0)
        return sim->slice_ns;
    double stretch = 1 + jitter * (2 * random_unit(&sim->phases) - 1);
    int64_t length = llround((double)sim->slice_ns * stretch);
    return length > 0 ? length : 1;
}

static bool somebody_waits(const simulation *sim, uint32_t core_index) {
    return single(sim) ? sim->queue_first != NOBODY : sim->sizes[core_index] > 1;
}

/* A new slice begins; the core's clock runs only where somebody waits for its end. */
static void begin_slice(simulation *sim, uint32_t core_index, int64_t now) {
    core *c = &sim->cores[core_index];
    bool timed = somebody_waits(sim, core_index);
    if (c->stolen)
        c->slice_left_ns = timed ? slice_length(sim) : NEVER;
    else
        c->slice_end_ns = timed ? now + slice_length(sim) : NEVER;
}

/* The first task of the list gets on. */
static void dispatch(simulation *sim, uint32_t core_index, int64_t now) {
    core *c = &sim->cores[core_index];
    c->since_ns = c->run_start_ns = now;
    if (c->first != NOBODY) {
        task *t = &sim->tasks[c->first];
        t->core = core_index;
        if (!t->begun) {
            t->begun = true;
            t->unit_start_ns = now;
            t->unit_core = core_index;
        }
        begin_slice(sim, core_index, now);
    }
    plan_core(sim, core_index);
}

static void append(simulation *sim, uint32_t core_index, uint32_t index) {
    core *c = &sim->cores[core_index];
    task *t = &sim->tasks[index];
    t->core = core_index;
    t->next = NOBODY;
    if (c->first == NOBODY)
        c->first = index;
    else
        sim->tasks[c->last].next = index;
    c->last = index;
    sim->sizes[core_index]++;
}

static void take_out(simulation *sim, uint32_t core_index, uint32_t index) {
    core *c = &sim->cores[core_index];
    uint32_t before = NOBODY;
    for (uint32_t i = c->first; i != index; i = sim->tasks[i].next)
        before = i;
    uint32_t after = sim->tasks[index].next;
    if (before == NOBODY)
        c->first = after;
    else
        sim->tasks[before].next = after;
    if (c->last == index)
        c->last = before;
    sim->sizes[core_index]--;
}

/* ---- the single queue ---- */

static void queue_put(simulation *sim, uint32_t index) {
    sim->tasks[index].next = NOBODY;
    if (sim->queue_first == NOBODY)
        sim->queue_first = index;
    else
        sim->tasks[sim->queue_last].next = index;
    sim->queue_last = index;
}

static uint32_t queue_take(simulation *sim) {
    uint32_t index = sim->queue_first;
    sim->queue_first = sim->tasks[index].next;
    return index;
}

/* ---- lists: in, out, from one to another ---- */

static void enter(simulation *sim, uint32_t core_index, uint32_t index, int64_t now) {
    append(sim, core_index, index);
    if (sim->sizes[core_index] == 1) {
        dispatch(sim, core_index, now);
    } else if (sim->sizes[core_index] == 2) {
        /* The one that had the core to itself begins a slice. */
        begin_slice(sim, core_index, now);
        plan_core(sim, core_index);
    }
}

static void leave(simulation *sim, uint32_t index, int64_t now) {
    uint32_t core_index = sim->tasks[index].core;
    core *c = &sim->cores[core_index];
    book(sim, core_index, now);
    bool was_running = c->first == index;
    if (was_running)
        record_slice(sim, core_index, now);
    take_out(sim, core_index, index);
    if (single(sim) && sim->queue_first != NOBODY)
        append(sim, core_index, queue_take(sim));
    if (was_running) {
        dispatch(sim, core_index, now);
    } else {
        if (sim->sizes[core_index] == 1)
            c->slice_end_ns = c->slice_left_ns = NEVER;
        plan_core(sim, core_index);
    }
}

static void move(simulation *sim, uint32_t index, uint32_t to, bool rotation, int64_t now) {
    uint32_t from = sim->tasks[index].core;
    leave(sim, index, now);
    enter(sim, to, index, now);
    record_move(sim, now, index, from, to, rotation);
}

/* ---- balancing ---- */

static bool movable(const simulation *sim, uint32_t core_index) {
    uint32_t pinned_here = sim->pinned != NOBODY && !sim->tasks[sim->pinned].done &&
                           sim->tasks[sim->pinned].begun &&
                           sim->tasks[sim->pinned].core == core_index;
    return sim->sizes[core_index] > pinned_here;
}

/* Any task of a list but the pinned one. */
static uint32_t choose_task(simulation *sim, uint32_t core_index) {
    for (;;) {
        uint32_t place = random_below(&sim->moves, sim->sizes[core_index]);
        uint32_t index = sim->cores[core_index].first;
        while (place-- > 0)
            index = sim->tasks[index].next;
        if (index != sim->pinned)
            return index;
    }
}

static void bounds(const simulation *sim, uint32_t *ret_shortest, uint32_t *ret_longest) {
    uint32_t shortest = UINT32_MAX, longest = 0;
    for (uint32_t i = 0; i < sim->core_count; i++) {
        shortest = sim->sizes[i] < shortest ? sim->sizes[i] : shortest;
        longest = sim->sizes[i] > longest ? sim->sizes[i] : longest;
    }
    *ret_shortest = shortest;
    *ret_longest = longest;
}

/* Uniformly one of the lists of that size (of at least that size, with a task that may move, where
 * `giver`); NOBODY. */
static uint32_t choose_list(simulation *sim, uint32_t size, bool giver) {
    uint32_t chosen = NOBODY, found = 0;
    for (uint32_t i = 0; i < sim->core_count; i++) {
        if (giver ? sim->sizes[i] < size || !movable(sim, i) : sim->sizes[i] != size)
            continue;
        if (random_below(&sim->moves, ++found) == 0)
            chosen = i;
    }
    return chosen;
}

/* One list that the policy lets give, and one that shall receive. */
static bool imbalance(simulation *sim, uint32_t *ret_from, uint32_t *ret_to) {
    uint32_t shortest, longest;
    bounds(sim, &shortest, &longest);
    uint32_t least; /* The size from which on a list may give. */
    switch (sim->config->policy) {
    case TIMESLICE_LAZY:
        if (shortest > 0)
            return false;
        least = 2;
        break;
    case TIMESLICE_ACTIVE:
    case TIMESLICE_IMMEDIATE:
        least = shortest + 2;
        break;
    default:
        return false;
    }
    if (longest < least)
        return false;
    if (sim->config->choice == TIMESLICE_LONGEST)
        least = longest;
    *ret_from = choose_list(sim, least, true);
    *ret_to = choose_list(sim, shortest, false);
    return *ret_from != NOBODY;
}

static int64_t dwell(simulation *sim) {
    const timeslice_config *config = sim->config;
    double halvings = -log2(random_unit(&sim->moves));
    return nanoseconds(config->dwell_median * pow(halvings, 1 / sim->dwell_shape)) + 1;
}

/* Lists that are one longer than the shortest get a clock, all others none. */
static void set_rotations(simulation *sim, int64_t now) {
    if (sim->config->policy != TIMESLICE_IMMEDIATE)
        return;
    uint32_t shortest, longest;
    bounds(sim, &shortest, &longest);
    for (uint32_t i = 0; i < sim->core_count; i++) {
        core *c = &sim->cores[i];
        bool due =
            longest == shortest + 1 && longest >= 2 && sim->sizes[i] == longest && movable(sim, i);
        if (!due)
            c->rotate_ns = NEVER;
        else if (c->rotate_ns == NEVER)
            c->rotate_ns = now + dwell(sim);
    }
}

static void balance(simulation *sim, int64_t now) {
    uint32_t from, to;
    while (imbalance(sim, &from, &to))
        move(sim, choose_task(sim, from), to, false, now);
    set_rotations(sim, now);
    record_sizes(sim, now);
}

/* The lists changed by an end, or by the background task. */
static void answer(simulation *sim, int64_t now) {
    watch_begin_interval(&sim->watcher, now, sim->sizes);
    uint32_t from, to;
    if (sim->delay_ns == 0) {
        balance(sim, now);
        return;
    }
    random_stream kept = sim->moves;
    if (sim->check_ns == NEVER && imbalance(sim, &from, &to))
        sim->check_ns = now + sim->delay_ns;
    sim->moves = kept;
    set_rotations(sim, now);
    record_sizes(sim, now);
}

static void rotate(simulation *sim, uint32_t from, int64_t now) {
    uint32_t shortest, longest;
    bounds(sim, &shortest, &longest);
    sim->cores[from].rotate_ns = NEVER;
    move(sim, choose_task(sim, from), choose_list(sim, shortest, false), true, now);
    set_rotations(sim, now);
    record_sizes(sim, now);
}

/* ---- tasks ---- */

static void draw_unit(simulation *sim, task *t) {
    const timeslice_config *config = sim->config;
    double work = (double)sim->unit_ns;
    if (config->jitter > 0) {
        double deviation = random_normal(&sim->noise);
        deviation = deviation > 4 ? 4 : deviation < -4 ? -4 : deviation;
        work *= 1 + config->jitter * deviation;
    }
    if (config->outlier_rate > 0 && random_unit(&sim->noise) < config->outlier_rate)
        work *= config->outlier_factor;
    /* What the last unit overshot, less than a nanosecond, belongs to this one. */
    t->left += work > 1 ? work : 1;
}

static void end_task(simulation *sim, uint32_t index, int64_t now) {
    task *t = &sim->tasks[index];
    uint32_t core_index = t->core;
    watch_end_interval(&sim->watcher, now, sim->sizes, sim->running);
    leave(sim, index, now);
    t->done = true;
    sim->running--;
    if (index < sim->result->tasks)
        sim->left--;
    record_event(sim, now, index, core_index);
    answer(sim, now);
}

static void end_unit(simulation *sim, uint32_t core_index, int64_t now) {
    uint32_t index = sim->cores[core_index].first;
    task *t = &sim->tasks[index];
    record_unit(sim, index, now);
    t->unit++;
    if (t->unit >= t->limit || t->told) {
        end_task(sim, index, now);
        return;
    }
    draw_unit(sim, t);
    t->unit_start_ns = now;
    t->unit_cpu_ns = t->cpu_ns;
    t->unit_core = core_index;
    plan_core(sim, core_index);
}

static void end_slice(simulation *sim, uint32_t core_index, int64_t now) {
    core *c = &sim->cores[core_index];
    record_slice(sim, core_index, now);
    uint32_t index = c->first;
    if (single(sim)) {
        take_out(sim, core_index, index);
        queue_put(sim, index);
        append(sim, core_index, queue_take(sim));
    } else {
        take_out(sim, core_index, index);
        append(sim, core_index, index);
    }
    dispatch(sim, core_index, now);
}

static void core_event(simulation *sim, uint32_t core_index, int64_t now) {
    core *c = &sim->cores[core_index];
    book(sim, core_index, now);
    if (ends_now(sim, c->first))
        end_task(sim, c->first, now);
    else if (sim->tasks[c->first].left <= 0)
        end_unit(sim, core_index, now);
    else
        end_slice(sim, core_index, now);
}

static void tell_to_end(simulation *sim, uint32_t index) {
    task *t = &sim->tasks[index];
    if (t->done)
        return;
    t->told = true;
    /* Waiting in the single queue it is on no core; its turn will come. */
    if (t->begun && sim->cores[t->core].first == index) {
        int64_t now = sim->ends[sim->end_next].time_ns;
        book(sim, t->core, now);
        plan_core(sim, t->core);
    }
}

/* ---- what comes from outside ---- */

static void steal(simulation *sim, bool begins, int64_t now) {
    uint32_t core_index = sim->config->steal_core;
    core *c = &sim->cores[core_index];
    book(sim, core_index, now);
    if (begins) {
        if (c->first != NOBODY)
            record_slice(sim, core_index, now);
        c->slice_left_ns = c->slice_end_ns == NEVER ? NEVER : c->slice_end_ns - now;
        c->slice_end_ns = NEVER;
        c->stolen = true;
        sim->steal_from_ns = NEVER;
    } else {
        c->stolen = false;
        c->slice_end_ns = c->slice_left_ns == NEVER ? NEVER : now + c->slice_left_ns;
        c->run_start_ns = now;
        sim->steal_until_ns = NEVER;
    }
    plan_core(sim, core_index);
}

static void background(simulation *sim, bool comes, int64_t now) {
    uint32_t index = sim->result->tasks;
    task *t = &sim->tasks[index];
    if (!comes) {
        sim->background_until_ns = NEVER;
        if (single(sim) && sim->cores[t->core].first != index) {
            /* It is killed in the queue: take it out of there. */
            uint32_t before = NOBODY;
            for (uint32_t i = sim->queue_first; i != index; i = sim->tasks[i].next)
                before = i;
            if (before == NOBODY)
                sim->queue_first = t->next;
            else
                sim->tasks[before].next = t->next;
            if (sim->queue_last == index)
                sim->queue_last = before;
            watch_end_interval(&sim->watcher, now, sim->sizes, sim->running);
            t->done = true;
            sim->running--;
            record_event(sim, now, index, t->core);
            answer(sim, now);
        } else {
            end_task(sim, index, now);
        }
        return;
    }
    sim->background_from_ns = NEVER;
    watch_end_interval(&sim->watcher, now, sim->sizes, sim->running);
    sim->running++;
    t->left = INFINITY;
    t->core = sim->config->background_core;
    if (single(sim) && sim->sizes[t->core] > 0) {
        queue_put(sim, index);
        for (uint32_t i = 0; i < sim->core_count; i++) {
            if (sim->cores[i].slice_end_ns != NEVER || sim->sizes[i] == 0)
                continue;
            begin_slice(sim, i, now);
            plan_core(sim, i);
        }
    } else {
        t->begun = true; /* It has no units. */
        enter(sim, t->core, index, now);
    }
    record_event(sim, now, index, t->core);
    answer(sim, now);
}

/* ---- the run ---- */

static int by_time(const void *left, const void *right) {
    const told_end *a = left, *b = right;
    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns ? -1 : 1;
    return a->task < b->task ? -1 : a->task > b->task;
}

static bool prepare(simulation *sim, plan *made) {
    const timeslice_config *config = sim->config;
    timeslice_truth *truth = sim->truth;
    uint32_t tasks = sim->result->tasks, cores = sim->core_count;
    sim->task_count = tasks + 1;
    sim->tasks = calloc(sim->task_count, sizeof *sim->tasks);
    sim->cores = calloc(cores, sizeof *sim->cores);
    sim->sizes = calloc(cores, sizeof *sim->sizes);
    sim->ends = calloc(tasks, sizeof *sim->ends);
    truth->task_cpu_ns = calloc(sim->task_count, sizeof *truth->task_cpu_ns);
    truth->core_busy_ns = calloc(cores, sizeof *truth->core_busy_ns);
    if (sim->tasks == NULL || sim->cores == NULL || sim->sizes == NULL || sim->ends == NULL ||
        truth->task_cpu_ns == NULL || truth->core_busy_ns == NULL)
        return false;
    for (uint32_t i = 0; i < cores; i++) {
        core *c = &sim->cores[i];
        *c = (core){.next_ns = NEVER,
                    .slice_end_ns = NEVER,
                    .slice_left_ns = NEVER,
                    .rotate_ns = NEVER,
                    .speed = config->speeds != NULL ? config->speeds[i] : 1,
                    .first = NOBODY,
                    .last = NOBODY};
    }
    for (uint32_t i = 0; i < tasks; i++) {
        sim->tasks[i].unit_seen_ns = sim->tasks[i].slice_seen_ns = INT64_MIN;
        sim->tasks[i].limit = made->count[i];
        draw_unit(sim, &sim->tasks[i]);
        sim->ends[i] = (told_end){made->end_ns[i], i};
    }
    sim->tasks[tasks].limit = UINT32_MAX;
    qsort(sim->ends, tasks, sizeof *sim->ends, by_time);
    return true;
}

static void start(simulation *sim, const plan *made) {
    sim->running = sim->left = sim->result->tasks;
    for (uint32_t i = 0; i < sim->result->tasks; i++) {
        uint32_t home = made->first_core[i];
        if (single(sim) && sim->sizes[home] > 0)
            queue_put(sim, i);
        else
            append(sim, home, i);
    }
    /* A first core that nobody was put on is no reason to idle beside a queue. */
    for (uint32_t i = 0; single(sim) && i < sim->core_count && sim->queue_first != NOBODY; i++)
        if (sim->sizes[i] == 0)
            append(sim, i, queue_take(sim));
    for (uint32_t i = 0; i < sim->core_count; i++) {
        core *c = &sim->cores[i];
        dispatch(sim, i, 0);
        if (!sim->config->aligned_start && c->slice_end_ns != NEVER) {
            c->slice_end_ns = (int64_t)ceil((double)c->slice_end_ns * random_unit(&sim->phases));
            plan_core(sim, i);
        }
    }
    answer(sim, 0);
}

typedef enum source {
    FROM_STEAL,
    FROM_STEAL_END,
    FROM_BACKGROUND,
    FROM_BACKGROUND_END,
    FROM_TOLD,
    FROM_CORE,
    FROM_CHECK,
    FROM_ROTATION
} source;

typedef struct upcoming {
    int64_t time_ns;
    source from;
    uint32_t core;
} upcoming;

static void consider(upcoming *next, int64_t time, source from, uint32_t core_index) {
    if (time < next->time_ns)
        *next = (upcoming){time, from, core_index};
}

/* The earliest; at one time what comes from outside is first, then cores, then balancing. */
static upcoming find_next(const simulation *sim) {
    upcoming next = {NEVER, FROM_CORE, 0};
    consider(&next, sim->steal_from_ns, FROM_STEAL, 0);
    if (sim->steal_from_ns == NEVER)
        consider(&next, sim->steal_until_ns, FROM_STEAL_END, 0);
    consider(&next, sim->background_from_ns, FROM_BACKGROUND, 0);
    if (sim->background_from_ns == NEVER)
        consider(&next, sim->background_until_ns, FROM_BACKGROUND_END, 0);
    if (sim->end_next < sim->result->tasks)
        consider(&next, sim->ends[sim->end_next].time_ns, FROM_TOLD, 0);
    for (uint32_t i = 0; i < sim->core_count; i++)
        consider(&next, sim->cores[i].next_ns, FROM_CORE, i);
    consider(&next, sim->check_ns, FROM_CHECK, 0);
    if (sim->config->policy == TIMESLICE_IMMEDIATE)
        for (uint32_t i = 0; i < sim->core_count; i++)
            consider(&next, sim->cores[i].rotate_ns, FROM_ROTATION, i);
    return next;
}

static void happen(simulation *sim, upcoming next) {
    switch (next.from) {
    case FROM_STEAL:
    case FROM_STEAL_END:
        steal(sim, next.from == FROM_STEAL, next.time_ns);
        break;
    case FROM_BACKGROUND:
    case FROM_BACKGROUND_END:
        background(sim, next.from == FROM_BACKGROUND, next.time_ns);
        break;
    case FROM_TOLD:
        tell_to_end(sim, sim->ends[sim->end_next].task);
        sim->end_next++;
        break;
    case FROM_CORE:
        core_event(sim, next.core, next.time_ns);
        break;
    case FROM_CHECK:
        sim->check_ns = NEVER;
        balance(sim, next.time_ns);
        break;
    case FROM_ROTATION:
        rotate(sim, next.core, next.time_ns);
        break;
    }
}

static void simulate(simulation *sim, const plan *made) {
    start(sim, made);
    int64_t now = 0;
    while (sim->left > 0 && !sim->no_memory) {
        upcoming next = find_next(sim);
        now = next.time_ns;
        happen(sim, next);
    }
    for (uint32_t i = 0; i < sim->core_count; i++)
        book(sim, i, now);
    watch_finish(&sim->watcher, now);
    for (uint32_t i = 0; i < sim->task_count; i++)
        sim->truth->task_cpu_ns[i] = sim->tasks[i].cpu_ns;
    for (uint32_t i = 0; i < sim->core_count; i++)
        sim->truth->core_busy_ns[i] = sim->cores[i].busy_ns;
}

/* ---- what callers see ---- */

void timeslice_defaults(timeslice_config *config) {
    *config = (timeslice_config){.policy = TIMESLICE_NONE,
                                 .cores = 2,
                                 .tasks_per_core = 3,
                                 .unit_work = 0.01,
                                 .slice = 0.005,
                                 .order = TIMESLICE_SHUFFLED,
                                 .gap_factor = 15,
                                 .dwell_median = 0.38,
                                 .dwell_p90 = 1.1,
                                 .outlier_factor = 10};
}

static bool part(double value) {
    return value >= 0 && value < 1;
}

static bool some_time(double value) {
    return value >= 0 && value < 1e9;
}

static bool valid(const timeslice_config *config, uint32_t tasks) {
    if (config->cores == 0 || config->cores > TIMESLICE_CORES_MAX || tasks == 0 ||
        tasks > LB_TASK_MAX || (unsigned)config->policy > TIMESLICE_SINGLE ||
        (unsigned)config->choice > TIMESLICE_LONGEST ||
        (unsigned)config->order > TIMESLICE_DESIGNED ||
        (unsigned)config->end > TIMESLICE_END_BY_COUNT)
        return false;
    if (!(config->unit_work >= 1e-6 && some_time(config->unit_work)) ||
        !(config->slice >= 1e-6 && some_time(config->slice)) || !part(config->slice_jitter) ||
        !some_time(config->balance_delay) || !some_time(config->gap) || !part(config->gap_jitter) ||
        !(config->gap > 0 || config->gap_factor > 0) || !part(config->jitter * 4) ||
        !part(config->outlier_rate) || !part(config->lost_rate) || !(config->outlier_factor > 0) ||
        !(config->dwell_median > 0) || !(config->dwell_p90 > config->dwell_median) ||
        !some_time(config->steal_from) || !some_time(config->steal_until) ||
        !some_time(config->background_from) || !some_time(config->background_until) ||
        !(fabs(config->clock_step) < 1e9) || config->steal_core >= config->cores ||
        config->background_core >= config->cores)
        return false;
    for (uint32_t i = 0; i < tasks; i++)
        if ((config->first_core != NULL && config->first_core[i] >= config->cores) ||
            (config->count != NULL && config->count[i] == 0) ||
            (config->end_time != NULL && !some_time(config->end_time[i])))
            return false;
    for (uint32_t i = 0; config->speeds != NULL && i < config->cores; i++)
        if (!(config->speeds[i] >= 1e-3 && config->speeds[i] <= 1e3))
            return false;
    return true;
}

timeslice_status timeslice_run(const timeslice_config *config, timeslice_result *ret_result) {
    uint32_t tasks = config->tasks > 0 ? config->tasks : config->cores * config->tasks_per_core;
    if (!valid(config, tasks))
        return TIMESLICE_INVALID;
    timeslice_result result = {.cores = config->cores,
                               .tasks = tasks,
                               .unit_work = config->unit_work_hidden ? NAN : config->unit_work};
    bool steals = config->steal_until > config->steal_from;
    bool disturbs = config->background_until > config->background_from;
    simulation sim = {
        .config = config,
        .result = &result,
        .truth = &result.truth,
        .core_count = config->cores,
        .queue_first = NOBODY,
        .queue_last = NOBODY,
        .pinned = config->background_pinned ? tasks : NOBODY,
        .unit_ns = nanoseconds(config->unit_work),
        .slice_ns = nanoseconds(config->slice),
        .delay_ns = nanoseconds(config->balance_delay),
        .check_ns = NEVER,
        .step_at_ns = config->clock_step != 0 ? nanoseconds(config->clock_step_at) : NEVER,
        .step_ns = nanoseconds(config->clock_step),
        .steal_from_ns = steals ? nanoseconds(config->steal_from) : NEVER,
        .steal_until_ns = steals ? nanoseconds(config->steal_until) : NEVER,
        .background_from_ns = disturbs ? nanoseconds(config->background_from) : NEVER,
        .background_until_ns = disturbs ? nanoseconds(config->background_until) : NEVER,
        /* Halvings at the 90th percentile: log2(10). */
        .dwell_shape = log2(log2(10)) / log2(config->dwell_p90 / config->dwell_median),
    };
    random_stream seeds = {config->seed}, order;
    order.state = random_next(&seeds);
    sim.noise.state = random_next(&seeds);
    sim.moves.state = random_next(&seeds);
    sim.loss.state = random_next(&seeds);
    sim.phases.state = random_next(&seeds);
    watch_init(&sim.watcher, config, &result.truth);
    plan made;
    sim.no_memory = !plan_make(config, tasks, &order, &made);
    if (!sim.no_memory) {
        if (prepare(&sim, &made))
            simulate(&sim, &made);
        else
            sim.no_memory = true;
        result.truth.first_core = made.first_core;
        made.first_core = NULL;
        plan_free(&made);
    }
    free(sim.tasks);
    free(sim.cores);
    free(sim.sizes);
    free(sim.ends);
    if (sim.no_memory) {
        timeslice_free(&result);
        return TIMESLICE_NOMEM;
    }
    *ret_result = result;
    return TIMESLICE_OK;
}

void timeslice_free(timeslice_result *result) {
    timeslice_truth *truth = &result->truth;
    free(result->units);
    free(result->slices);
    free(truth->events);
    free(truth->moves);
    free(truth->sizes_ns);
    free(truth->sizes);
    free(truth->task_cpu_ns);
    free(truth->core_busy_ns);
    free(truth->first_core);
    *result = (timeslice_result){0};
}

const char *timeslice_policy_name(timeslice_policy policy) {
    static const char *const names[] = {"none", "lazy", "active", "immediate", "single"};
    return (unsigned)policy <= TIMESLICE_SINGLE ? names[policy] : "?";
}

lb_policy timeslice_verdict(timeslice_policy policy) {
    static const lb_policy verdicts[] = {LB_POLICY_NONE, LB_POLICY_LAZY, LB_POLICY_ACTIVE,
                                         LB_POLICY_IMMEDIATE, LB_POLICY_IMMEDIATE};
    return verdicts[policy];
}
