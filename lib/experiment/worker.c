/* SPDX-License-Identifier: BSD-3-Clause */
/* The worker's side: only async-signal-safe calls, nothing but the mapping is written. */
#include "experiment/worker.h"

#include <errno.h>

#define MAX_REPEATS 64
/* How often a worker looks up from its work, and how long it goes on without the controller. */
#define LOOK_NS INT64_C(10000000)
#define PATIENCE_NS INT64_C(500000000)
/* By all workers together: each page costs each of them, at its end as well. */
#define TOUCHED_BYTES ((size_t)256 << 20)
#define PAGE ((size_t)4096)
#define DOZE_NS INT64_C(4000000)

/* A chain of multiplications, each waiting for the last: no memory, no vector unit, little for a
 * hyperthread sibling to take away. */
uint64_t lbi_arithmetic(uint64_t value, uint64_t rounds) {
    for (uint64_t i = 0; i < rounds; i++)
        value = value * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return value;
}

/* The least ticks that so many rounds take: the first are slow on a core that was asleep, some are
 * interrupted. */
static int64_t least_ticks(bool tsc, uint64_t rounds) {
    int64_t least = INT64_MAX;
    volatile uint64_t value = 1;
    for (int i = 0; i < 50; i++) {
        int64_t start = lbi_read(tsc).ticks;
        value = lbi_arithmetic(value, rounds);
        int64_t ticks = lbi_read(tsc).ticks - start;
        least = ticks > 0 && ticks < least ? ticks : least;
    }
    return least;
}

void lbi_size_chunks(lbi_arena *arena, int64_t chunk_ns) {
    enum {
        ROUNDS = 20000
    };
    lbi_instant before = lbi_instant_now(arena->tsc);
    int64_t ticks = least_ticks(arena->tsc, ROUNDS);
    lbi_instant after = lbi_instant_now(arena->tsc);
    arena->ticks_per_ns = (double)(after.ticks - before.ticks) / (double)(after.ns - before.ns);
    double rounds = (double)chunk_ns * arena->ticks_per_ns / (double)ticks * ROUNDS;
    arena->chunk_rounds = rounds < 1 ? 1 : (uint64_t)rounds;
    arena->chunk_ticks = least_ticks(arena->tsc, arena->chunk_rounds);
}

/* ---- recording ---- */

typedef struct recorder {
    lbi_arena *arena;
    lbi_slot *slot;
    uint32_t worker;
    bool on;
    lbi_block *block; /* NULL: the pool is empty, or nothing recorded yet */
    lbi_span *span;   /* the one that goes on */
    int64_t usual;    /* ticks of a chunk without a gap */
    int64_t look;     /* ticks: when to look up */
} recorder;

static lbi_span *new_span(recorder *r) {
    lbi_slot *slot = r->slot;
    if (!r->on)
        return &slot->unseen;
    uint32_t spans = r->block == NULL
                         ? LBI_BLOCK_SPANS
                         : atomic_load_explicit(&r->block->spans, memory_order_relaxed);
    if (spans == LBI_BLOCK_SPANS) {
        /* Not counted on once the pool is empty, so that the counter never runs over. */
        uint32_t taken = atomic_load_explicit(&r->arena->used, memory_order_relaxed);
        if (taken < r->arena->blocks)
            taken = atomic_fetch_add_explicit(&r->arena->used, 1, memory_order_relaxed);
        if (taken >= r->arena->blocks) {
            slot->lost_spans++;
            return &slot->unseen;
        }
        r->block = &r->arena->pool[taken];
        r->block->worker = r->worker;
        spans = 0;
    }
    return &r->block->span[spans];
}

static void begin_span(recorder *r, lbi_reading now) {
    r->span = new_span(r);
    r->span->start = r->span->end = now.ticks;
    r->span->cpu = now.cpu;
    /* Only now it is there for the controller, which may look at any moment. */
    if (r->span != &r->slot->unseen)
        atomic_fetch_add_explicit(&r->block->spans, 1, memory_order_release);
    atomic_store_explicit(&r->slot->cpu, now.cpu, memory_order_relaxed);
}

/* A gap as long as a chunk ends a slice: whoever ran a whole chunk in it left such a gap, so two
 * slices of one core never overlap. What is usual follows the core's speed: slowly while chunks are
 * near it, and up in case all of them seem to be gaps. */
static inline void read_on(recorder *r) {
    lbi_reading now = lbi_read(r->arena->tsc);
    int64_t ticks = now.ticks - r->span->end;
    if (now.cpu == r->span->cpu && ticks < 2 * r->usual) {
        r->usual += (ticks - r->usual) / 16;
        r->span->end = now.ticks;
        return;
    }
    r->usual += r->usual / 32;
    begin_span(r, now);
}

/* ---- working ---- */

static inline bool quits(lbi_arena *arena) {
    return atomic_load_explicit(&arena->phase, memory_order_relaxed) == LBI_PHASE_QUIT;
}

/* The one thing that a worker does, in every phase: so what calibration measures is what runs.
 * Returns how many chunks it did: less than asked for when it is time to look up. */
static uint64_t work(recorder *r, uint64_t chunks) {
    lbi_slot *slot = r->slot;
    uint64_t rounds = r->arena->chunk_rounds, done = 0;
    uint64_t progress = atomic_load_explicit(&slot->progress, memory_order_relaxed);
    while (done < chunks && !quits(r->arena)) {
        slot->value = lbi_arithmetic(slot->value, rounds);
        read_on(r);
        atomic_store_explicit(&slot->progress, progress + ++done, memory_order_relaxed);
        if (r->span->end >= r->look)
            break;
    }
    return done;
}

/* Whoever stops the controller (Ctrl-Z) must not leave its workers running. */
static void wait_for_controller(recorder *r, int64_t now) {
    int64_t start = now;
    while (now - atomic_load(&r->arena->heard_ns) > PATIENCE_NS && !quits(r->arena)) {
        lbi_word_wait_until(&r->arena->phase, atomic_load(&r->arena->phase), now + LOOK_NS);
        now = lbi_now();
    }
    r->slot->stalled_ns += now - start;
}

/* False: the time is up, or it was told to leave. */
static bool look_up(recorder *r) {
    int64_t now = lbi_now();
    if (now - atomic_load_explicit(&r->arena->heard_ns, memory_order_relaxed) > PATIENCE_NS)
        wait_for_controller(r, now);
    r->look = r->span->end + (int64_t)((double)LOOK_NS * r->arena->ticks_per_ns);
    return lbi_now() < r->arena->limit_ns && !quits(r->arena);
}

static recorder begin_recording(lbi_arena *arena, uint32_t index) {
    recorder r = {
        .arena = arena, .slot = &arena->slots[index], .worker = index, .usual = arena->chunk_ticks};
    begin_span(&r, lbi_read(arena->tsc));
    look_up(&r);
    return r;
}

/* ---- calibrating ---- */

static double median(double *values, uint64_t n) {
    for (uint64_t i = 1; i < n; i++)
        for (uint64_t j = i; j > 0 && values[j] < values[j - 1]; j--) {
            double swapped = values[j];
            values[j] = values[j - 1];
            values[j - 1] = swapped;
        }
    return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

static void work_all(recorder *r, uint64_t chunks) {
    while (chunks > 0) {
        uint64_t done = work(r, chunks);
        chunks -= done;
        if (chunks > 0 && !look_up(r))
            return;
    }
}

/* The CPU time of a chunk, alone on a core: the median of the repeats. */
static void calibrate(recorder *r) {
    lbi_arena *arena = r->arena;
    for (int64_t start = lbi_now(); lbi_now() < start + arena->warm_up_ns;)
        work_all(r, 10);
    double times[MAX_REPEATS];
    uint64_t n = arena->repeats < MAX_REPEATS ? arena->repeats : MAX_REPEATS;
    for (uint64_t i = 0; i < n; i++) {
        int64_t start = lbi_thread_cpu();
        work_all(r, arena->repeat);
        times[i] = (double)(lbi_thread_cpu() - start) / (double)arena->repeat;
    }
    r->slot->chunk_ns = median(times, n);
}

/* Linux remembers of a task that slept how busy it was before (util_est), and takes a core as full
 * by that until the task sleeps again. Those that calibrated would be remembered as twice as busy
 * as the others, and two of them on a core waited twice as long for balancing: so they doze that
 * off. Busyness halves every 32 ms; with each sleep its memory comes nearer by a quarter. */
static void doze(lbi_arena *arena) {
    int64_t until = lbi_now() + arena->doze_ns;
    while (lbi_now() < until && atomic_load(&arena->phase) == LBI_PHASE_CALIBRATE)
        lbi_word_wait_until(&arena->phase, LBI_PHASE_CALIBRATE, lbi_now() + DOZE_NS);
}

/* ---- running ---- */

typedef struct running {
    recorder recorder;
    lbi_record unit;
    uint64_t left, done;    /* chunks: of the whole work, and done of this unit */
    int64_t cpu_start, cpu; /* CPU time, at the start and at the last look */
    double chunk_ns;
    size_t nap;
} running;

static void begin_unit(running *task) {
    task->unit.start = task->recorder.span->end;
    task->unit.cpu_start = task->recorder.span->cpu;
    task->unit.whole = true;
    task->done = 0;
}

static void end_unit(running *task) {
    lbi_arena *arena = task->recorder.arena;
    lbi_slot *slot = task->recorder.slot;
    int64_t before = task->cpu;
    task->cpu = lbi_thread_cpu();
    task->unit.cpu_ns = task->cpu - before;
    task->unit.end = task->recorder.span->end;
    task->unit.cpu_end = task->recorder.span->cpu;
    task->unit.whole = task->unit.whole && task->done == arena->unit_chunks;
    if (task->unit.whole)
        task->chunk_ns = (double)task->unit.cpu_ns / (double)task->done;
    size_t units = atomic_load_explicit(&slot->units, memory_order_relaxed);
    if (units < slot->capacity)
        arena->records[slot->first_record + units] = task->unit;
    atomic_store_explicit(&slot->units, units + 1, memory_order_release);
    begin_unit(task);
}

/* How many chunks may be done before the CPU clock must be asked again; 0: the work is done. */
static uint64_t chunks_left(running *task) {
    uint64_t left = task->left, unit = task->recorder.arena->unit_chunks - task->done;
    int64_t work_ns = task->recorder.slot->work_ns;
    if (work_ns != INT64_MAX && left > 0) {
        double cpu = (double)(task->cpu - task->cpu_start) + (double)task->done * task->chunk_ns;
        double chunks = ((double)work_ns - cpu) / task->chunk_ns;
        if (chunks < 1.5 * (double)unit + 16) {
            chunks = (double)(work_ns - (lbi_thread_cpu() - task->cpu_start)) / task->chunk_ns;
            /* Towards the end in steps that get shorter: a chunk may take longer than it did. */
            chunks = chunks > 16 ? 0.75 * chunks : chunks;
            left = chunks < 0.5 ? 0 : (uint64_t)(chunks + 0.5);
        }
    }
    return left < unit ? left : unit;
}

static void sleep_through(running *task, lbi_nap *nap) {
    recorder *r = &task->recorder;
    if (task->done > 0) {
        task->unit.whole = false;
        end_unit(task);
    }
    nap->slept = r->span->end;
    while (lbi_now() < nap->to_ns && !quits(r->arena))
        lbi_word_wait_until(&r->arena->phase, LBI_PHASE_RUN, nap->to_ns);
    task->nap++;
    begin_span(r, lbi_read(r->arena->tsc));
    /* Who is stopped in its sleep does not wake. */
    if (lbi_now() < r->slot->stop_ns)
        nap->woke = r->span->end;
    begin_unit(task);
}

/* Whether the last reading, not this moment, is past that time: in between others may have run. */
static bool has_passed(const recorder *r, int64_t time_ns) {
    int64_t now = lbi_now();
    if (now < time_ns)
        return false;
    int64_t ticks = lbi_read(r->arena->tsc).ticks - r->span->end;
    return now - (int64_t)((double)ticks / r->arena->ticks_per_ns) >= time_ns;
}

/* Whether it was to end by then, and its last reading says so. */
static bool is_due(const running *task, int64_t time_ns) {
    const recorder *r = &task->recorder;
    if (!has_passed(r, time_ns))
        return false;
    r->slot->due_ns = time_ns;
    return true;
}

/* What is due at the last reading. False: it is time to end. */
static bool attend(running *task) {
    recorder *r = &task->recorder;
    lbi_slot *slot = r->slot;
    lbi_nap *nap = task->nap < slot->naps ? &r->arena->naps[slot->first_nap + task->nap] : NULL;
    if (nap != NULL && lbi_now() >= nap->from_ns)
        sleep_through(task, nap);
    if (!look_up(r)) {
        atomic_store(&slot->state, LBI_STATE_OVERTIME);
        return false;
    }
    int64_t now = lbi_now(), next = slot->stop_ns;
    if (task->nap < slot->naps && r->arena->naps[slot->first_nap + task->nap].from_ns < next)
        next = r->arena->naps[slot->first_nap + task->nap].from_ns;
    double ticks = next > now ? (double)(next - now) * r->arena->ticks_per_ns : 0;
    if (ticks < (double)(r->look - r->span->end))
        r->look = r->span->end + (int64_t)ticks;
    slot->stopped = is_due(task, slot->stop_ns);
    return !slot->stopped;
}

/* Between two units only, so that a trace of tasks that are told to end holds whole ones. */
static bool ends(const running *task) {
    const recorder *r = &task->recorder;
    return task->done == 0 &&
           is_due(task, atomic_load_explicit(&r->slot->deadline_ns, memory_order_relaxed));
}

/* Units without a gap between them: one's end is the next one's start. */
void lbi_run(lbi_arena *arena, uint32_t index) {
    lbi_slot *slot = &arena->slots[index];
    running task = {.recorder = begin_recording(arena, index),
                    .left = slot->chunks,
                    .chunk_ns = arena->chunk_ns};
    recorder *r = &task.recorder;
    task.cpu = task.cpu_start = lbi_thread_cpu();
    r->on = true;
    begin_span(r, lbi_read(arena->tsc));
    begin_unit(&task);
    bool goes_on = attend(&task);
    while (goes_on) {
        uint64_t chunks = chunks_left(&task);
        uint64_t done = work(r, chunks);
        task.done += done;
        task.left -= done;
        if (task.done == arena->unit_chunks)
            end_unit(&task);
        goes_on = chunks > 0 && !quits(arena) && !ends(&task) &&
                  (r->span->end < r->look || attend(&task));
    }
    /* What remains; and a task without work leaves its end all the same. */
    if (task.done > 0 || slot->units == 0)
        end_unit(&task);
}

/* ---- a whole life ---- */

static bool hold(lbi_arena *arena, uint32_t phase) {
    uint32_t now;
    while ((now = atomic_load(&arena->phase)) < phase)
        lbi_word_wait_until(&arena->phase, now, INT64_MAX);
    return now != LBI_PHASE_QUIT;
}

static bool prepare(lbi_arena *arena, uint32_t index) {
    lbi_slot *slot = &arena->slots[index];
    slot->value = index;
    if (slot->calibrates) {
        if (!hold(arena, LBI_PHASE_CALIBRATE))
            return false;
        recorder r = begin_recording(arena, index);
        calibrate(&r);
        doze(arena);
        atomic_store(&slot->state, LBI_STATE_CALIBRATED);
    }
    if (!hold(arena, LBI_PHASE_SPIN))
        return false;
    slot->error = lbi_class_set(&slot->class_);
    if (slot->error != 0)
        return false;
    if (slot->late)
        return hold(arena, LBI_PHASE_RUN);
    recorder r = begin_recording(arena, index);
    while (atomic_load(&arena->phase) < LBI_PHASE_RUN) {
        work(&r, 1);
        if (r.span->end >= r.look && !look_up(&r))
            return false;
    }
    return !quits(arena);
}

void lbi_touch_pages(const lbi_arena *arena) {
    size_t most = TOUCHED_BYTES / (arena->workers + 1);
    size_t bytes = arena->bytes < most ? arena->bytes : most;
    for (size_t at = 0; at < bytes; at += PAGE)
        (void)*((const volatile char *)arena + at);
}

int lbi_worker(lbi_arena *arena, uint32_t index) {
    lbi_slot *slot = &arena->slots[index];
    lbi_touch_pages(arena);
    slot->error = lbi_class_set(&arena->class_);
    slot->slice_ns = lbi_class_slice();
    atomic_store(&slot->number, lbi_thread_number());
    if (slot->error == 0)
        atomic_store(&slot->state, LBI_STATE_READY);
    if (slot->error != 0 || !prepare(arena, index)) {
        atomic_store(&slot->state, slot->error != 0 ? LBI_STATE_FAILED : LBI_STATE_OVERTIME);
        return 1;
    }
    atomic_store_explicit(&slot->state, LBI_STATE_RUNS, memory_order_relaxed);
    lbi_run(arena, index);
    slot->cpu_ns = lbi_thread_cpu();
    if (atomic_load(&slot->state) == LBI_STATE_RUNS)
        atomic_store(&slot->state, LBI_STATE_ENDED);
    return 0;
}
