/* SPDX-License-Identifier: BSD-3-Clause */
/* The worker's side: only async-signal-safe calls, nothing but the mapping is written. */
#include "experiment/worker.h"

#include <errno.h>
#include <unistd.h>

#define MAX_REPEATS 64

/* A chain of multiplications, each waiting for the last: no memory, no vector unit, little for a
 * hyperthread sibling to take away. */
static uint64_t arithmetic(uint64_t value, uint64_t rounds) {
    for (uint64_t i = 0; i < rounds; i++)
        value = value * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return value;
}

uint64_t lbi_chunk_rounds(int64_t chunk_ns) {
    enum {
        ROUNDS = 20000
    };
    int64_t least = INT64_MAX;
    volatile uint64_t value = 1;
    /* The least of many: the first are slow on a core that was asleep, some are interrupted. */
    for (int i = 0; i < 50; i++) {
        int64_t start = lbi_now();
        value = arithmetic(value, ROUNDS);
        int64_t time = lbi_now() - start;
        least = time > 0 && time < least ? time : least;
    }
    uint64_t rounds = (uint64_t)((double)chunk_ns / (double)least * ROUNDS);
    return rounds == 0 ? 1 : rounds;
}

static void store_relaxed(_Atomic uint32_t *word, uint32_t value) {
    atomic_store_explicit(word, value, memory_order_relaxed);
}

/* The one thing that a worker does, in every phase: so what calibration measures is what runs. */
static void work(const lbi_arena *arena, lbi_slot *slot, uint64_t chunks) {
    uint64_t progress = atomic_load_explicit(&slot->progress, memory_order_relaxed);
    for (uint64_t i = 0; i < chunks; i++) {
        slot->value = arithmetic(slot->value, arena->chunk_rounds);
        atomic_store_explicit(&slot->cpu, lbi_cpu(), memory_order_relaxed);
        atomic_store_explicit(&slot->progress, ++progress, memory_order_relaxed);
    }
}

static void hold(lbi_arena *arena, uint32_t phase) {
    uint32_t now;
    while ((now = atomic_load(&arena->phase)) < phase)
        lbi_word_wait(&arena->phase, now);
}

static double median(double *values, uint64_t n) {
    for (uint64_t i = 1; i < n; i++)
        for (uint64_t j = i; j > 0 && values[j] < values[j - 1]; j--) {
            double swapped = values[j];
            values[j] = values[j - 1];
            values[j - 1] = swapped;
        }
    return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/* The CPU time of a chunk, alone on a core: the median of the repeats. */
static void calibrate(const lbi_arena *arena, lbi_slot *slot) {
    for (int64_t start = lbi_now(); lbi_now() < start + arena->warm_up_ns;)
        work(arena, slot, 10);
    double times[MAX_REPEATS];
    uint64_t n = arena->repeats < MAX_REPEATS ? arena->repeats : MAX_REPEATS;
    for (uint64_t i = 0; i < n; i++) {
        int64_t start = lbi_thread_cpu();
        work(arena, slot, arena->repeat);
        times[i] = (double)(lbi_thread_cpu() - start) / (double)arena->repeat;
    }
    slot->chunk_ns = median(times, n);
}

/* Units without a gap between them: one's end is the next one's start. */
static void run(const lbi_arena *arena, lbi_slot *slot) {
    lbi_record *records = arena->records + slot->first_record;
    lbi_record unit = {.start_ns = lbi_now(), .cpu_start = lbi_cpu()};
    int64_t cpu = lbi_thread_cpu();
    uint64_t left = slot->chunks;
    size_t units = 0;
    /* At least one, so that a task without work leaves its end in the trace. */
    do {
        uint64_t chunks = left < arena->unit_chunks ? left : arena->unit_chunks;
        work(arena, slot, chunks);
        left -= chunks;
        int64_t cpu_before = cpu;
        cpu = lbi_thread_cpu();
        unit.cpu_ns = cpu - cpu_before;
        unit.cpu_end = lbi_cpu();
        unit.end_ns = lbi_now();
        if (units < slot->capacity)
            records[units] = unit;
        /* The controller may look at what is recorded so far. */
        atomic_store_explicit(&slot->units, ++units, memory_order_release);
        if (unit.end_ns >= atomic_load_explicit(&slot->deadline_ns, memory_order_relaxed))
            break;
        unit.start_ns = unit.end_ns;
        unit.cpu_start = unit.cpu_end;
    } while (left > 0);
}

static _Noreturn void fail(lbi_slot *slot, int error) {
    slot->error = error;
    atomic_store(&slot->state, LBI_STATE_FAILED);
    _exit(1);
}

void lbi_worker(lbi_arena *arena, uint32_t index) {
    lbi_slot *slot = &arena->slots[index];
    lbi_die_with(arena->parent);
    lbi_disinherit();
    int error = lbi_class_set(&arena->class_);
    if (error != 0)
        fail(slot, error);
    slot->value = index;
    atomic_store(&slot->state, LBI_STATE_READY);
    if (slot->calibrates) {
        hold(arena, LBI_PHASE_CALIBRATE);
        calibrate(arena, slot);
        atomic_store(&slot->state, LBI_STATE_CALIBRATED);
    }
    hold(arena, LBI_PHASE_SPIN);
    while (atomic_load(&arena->phase) < LBI_PHASE_RUN)
        work(arena, slot, 1);
    store_relaxed(&slot->state, LBI_STATE_RUNS);
    run(arena, slot);
    atomic_store(&slot->state, LBI_STATE_ENDED);
    _exit(0);
}
