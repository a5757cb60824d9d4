/* SPDX-License-Identifier: BSD-3-Clause */
#include "experiment/crew.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/array.h"

#define MILLISECOND INT64_C(1000000)
#define SECOND INT64_C(1000000000)
#define CHUNK_NS INT64_C(15000)
#define LOOK_NS (50 * MILLISECOND)
#define SPANS_PER_SECOND 4000
#define MAX_SPAN_SECONDS 1000.0

/* ---- beginning and ending ---- */

static size_t aligned(size_t bytes) {
    return (bytes + 127) / 128 * 128;
}

/* Slices change a few hundred times a second on a core; disturbed, some thousand times. */
static uint32_t count_blocks(const lbi_crew *crew) {
    double seconds =
        crew->options.budget < MAX_SPAN_SECONDS ? crew->options.budget : MAX_SPAN_SECONDS;
    return (uint32_t)(seconds * crew->host->cores * SPANS_PER_SECOND / LBI_BLOCK_SPANS) +
           2 * crew->workers;
}

static lb_status share_arena(lbi_crew *crew, const size_t *capacities, const size_t *naps,
                             lb_error *err) {
    uint32_t blocks = count_blocks(crew);
    size_t slots = aligned(sizeof(lbi_arena));
    size_t pool = slots + crew->workers * sizeof(lbi_slot);
    size_t records = aligned(pool + blocks * sizeof(lbi_block)), units = 0, rests = 0;
    for (uint32_t i = 0; i < crew->workers; i++) {
        rests += naps == NULL ? 0 : naps[i];
        if (capacities[i] > SIZE_MAX / 4 / sizeof(lbi_record) - units)
            return lbi_error_nomem(err, "the workers' records");
        units += capacities[i];
    }
    size_t rest = aligned(records + units * sizeof(lbi_record));
    crew->bytes = rest + rests * sizeof(lbi_nap);
    lbi_arena *arena = lbi_share(crew->bytes);
    if (arena == NULL)
        return lbi_error(err, LB_ERR_NOMEM, "no memory for the workers' records (%zu bytes)",
                         crew->bytes);
    arena->bytes = crew->bytes;
    arena->workers = crew->workers;
    lbi_touch_pages(arena);
    arena->slots = (lbi_slot *)((char *)arena + slots);
    arena->pool = (lbi_block *)((char *)arena + pool);
    arena->records = (lbi_record *)((char *)arena + records);
    arena->naps = (lbi_nap *)((char *)arena + rest);
    arena->blocks = blocks;
    arena->limit_ns = crew->limit_ns;
    arena->tsc = lbi_tsc_usable(crew->host->cpus[crew->host->cores - 1]);
    atomic_store(&arena->heard_ns, lbi_now());
    arena->parent = getpid();
    arena->class_ = crew->class_;
    units = rests = 0;
    for (uint32_t i = 0; i < crew->workers; i++) {
        lbi_slot *slot = &arena->slots[i];
        slot->arena = arena;
        slot->class_ = crew->class_;
        slot->first_record = units;
        slot->capacity = capacities[i];
        units += capacities[i];
        slot->first_nap = rests;
        rests += naps == NULL ? 0 : naps[i];
        slot->chunks = UINT64_MAX;
        slot->work_ns = slot->stop_ns = INT64_MAX;
        slot->calibrates = i < crew->host->cores;
        atomic_store(&slot->deadline_ns, INT64_MAX);
        atomic_store(&slot->cpu, -1);
    }
    crew->arena = arena;
    return LB_OK;
}

static int start_process(lbi_crew *crew, uint32_t worker) {
    lbi_hand *hand = &crew->hands[worker];
    int error = lbi_spawn(&hand->process);
    if (error != 0 || hand->process != 0)
        return error;
    lbi_die_with(crew->arena->parent);
    lbi_disinherit();
    _exit(lbi_worker(crew->arena, worker));
}

static void *live(void *slot) {
    lbi_arena *arena = ((lbi_slot *)slot)->arena;
    lbi_worker(arena, (uint32_t)((lbi_slot *)slot - arena->slots));
    return NULL;
}

static int start_thread(lbi_crew *crew, uint32_t worker) {
    lbi_hand *hand = &crew->hands[worker];
    lbi_slot *slot = &crew->arena->slots[worker];
    int error = lbi_thread_start(&hand->thread, live, slot);
    /* Its number is needed for all that is done to it. */
    while (error == 0 && (hand->process = atomic_load(&slot->number)) == 0)
        lbi_sleep_until(lbi_now() + 50000);
    return error;
}

lb_status lbi_crew_fork(lbi_crew *crew, lb_error *err) {
    uint32_t worker = crew->made;
    lbi_hand *hand = &crew->hands[worker];
    lb_status status = lbi_crew_mark(crew, worker, LB_MARK_FORK, err);
    if (status != LB_OK)
        return status;
    int error = crew->threads ? start_thread(crew, worker) : start_process(crew, worker);
    if (error != 0)
        return lbi_error_os(err, error == ENOMEM ? LB_ERR_NOMEM : LB_ERR_SYSTEM, error,
                            "cannot make worker %u of %u", (unsigned)worker,
                            (unsigned)crew->workers);
    hand->alive = true;
    crew->alive++;
    crew->made++;
    return LB_OK;
}

static lb_status spawn(lbi_crew *crew, uint32_t made, lb_error *err) {
    while (crew->made < made) {
        lb_status status = lbi_crew_fork(crew, err);
        if (status == LB_OK)
            status = lbi_crew_bind(crew, crew->made - 1, (crew->made - 1) % crew->host->cores, err);
        if (status == LB_OK)
            status = lbi_crew_step(crew, 0, err);
        if (status != LB_OK)
            return status;
    }
    return LB_OK;
}

static lb_status check_class(lbi_crew *crew, lb_error *err) {
    int error = lbi_class_get(&crew->caller);
    if (error != 0)
        return lbi_error_os(err, LB_ERR_SYSTEM, error, "cannot read the scheduling class");
    crew->class_ = lbi_class_chosen(&crew->options, &crew->caller);
    if (!lbi_class_inherits(&crew->class_))
        return lbi_error(err, LB_ERR_UNSUPPORTED,
                         "the caller's scheduling class is %s: workers cannot inherit it",
                         lbi_class_name(&crew->class_));
    crew->slice_ns = lbi_class_slice();
    return LB_OK;
}

lb_status lbi_crew_begin(lbi_crew *ret_crew, const lb_host *host,
                         const lb_experiment_options *options, uint32_t workers,
                         const size_t *capacities, lb_error *err) {
    return lbi_crew_begin_with(ret_crew, host, options, workers, workers, capacities, err);
}

lb_status lbi_crew_begin_with(lbi_crew *ret_crew, const lb_host *host,
                              const lb_experiment_options *options, uint32_t workers, uint32_t made,
                              const size_t *capacities, lb_error *err) {
    return lbi_crew_begin_napping(ret_crew, host, options, workers, made, capacities, NULL, err);
}

lb_status lbi_crew_begin_napping(lbi_crew *ret_crew, const lb_host *host,
                                 const lb_experiment_options *options, uint32_t workers,
                                 uint32_t made, const size_t *capacities, const size_t *naps,
                                 lb_error *err) {
    lbi_crew crew = {.host = host,
                     .options = *options,
                     .workers = workers,
                     .threads = options->workers == LB_WORKERS_THREADS,
                     .begin_ns = lbi_now(),
                     .cutoff_ns = INT64_MAX,
                     .foreign = NAN};
    /* A budget of centuries is as good as one of a decade. */
    crew.limit_ns = crew.begin_ns + (int64_t)(options->budget < 3e8 ? options->budget * 1e9 : 3e17);
    crew.expected_ns = crew.limit_ns;
    lb_status status = check_class(&crew, err);
    if (status != LB_OK)
        return status;
    /* Cancelled in the middle, the thread would leave the mapping and its class behind. */
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &crew.cancel_state);
    if (!lbi_monitor_begin(&crew.monitor, "", host, &crew.class_))
        status = lbi_error_nomem(err, "the findings");
    crew.mask = lbi_mask_new(host);
    crew.hands = lbi_array_new(workers, sizeof *crew.hands);
    if (status == LB_OK && (crew.mask.bits == NULL || crew.hands == NULL))
        status = lbi_error_nomem(err, "the workers");
    if (status == LB_OK)
        status = share_arena(&crew, capacities, naps, err);
    if (status == LB_OK) {
        for (uint32_t i = 0; i < workers; i++)
            crew.hands[i] = (lbi_hand){0};
        lbi_size_chunks(crew.arena, CHUNK_NS);
        /* Before the workers are there, as among real-time ones it would starve. Refused, it
         * manages less well. */
        lbi_class_raise(&crew.caller, &crew.class_);
        status = spawn(&crew, made, err);
    }
    if (status != LB_OK)
        lbi_crew_end(&crew);
    else
        *ret_crew = crew;
    return status;
}

static void enter(lbi_crew *crew, uint32_t phase) {
    atomic_store(&crew->arena->phase, phase);
    lbi_word_wake(&crew->arena->phase);
}

static void end_processes(lbi_crew *crew) {
    /* All are killed before any is waited for: the living would delay the dying. */
    for (uint32_t i = 0; i < crew->made; i++)
        if (crew->hands[i].alive)
            lbi_kill(crew->hands[i].process);
    for (uint32_t i = 0; i < crew->made; i++)
        if (crew->hands[i].alive)
            lbi_reap(crew->hands[i].process);
}

static void end_threads(lbi_crew *crew) {
    enter(crew, LBI_PHASE_QUIT);
    for (uint32_t i = 0; i < crew->made; i++)
        if (crew->hands[i].alive)
            pthread_join(crew->hands[i].thread, NULL);
}

/* Cut short in mid-run, what was recorded may be kept. */
static void keep_partial(lbi_crew *crew) {
    if (crew->interrupted == LB_OK || crew->origin_ns == 0 || crew->options.partial == NULL)
        return;
    const char *experiment = crew->experiment == NULL ? "unknown" : crew->experiment;
    lbi_crew_trace(crew, experiment, crew->options.partial, NULL);
}

void lbi_crew_end(lbi_crew *crew) {
    if (crew->alive > 0) {
        crew->threads ? end_threads(crew) : end_processes(crew);
        crew->alive = 0;
    }
    if (crew->arena != NULL) {
        lbi_class_restore(&crew->caller);
        keep_partial(crew);
        lbi_unshare(crew->arena, crew->bytes);
    }
    lbi_monitor_end(&crew->monitor);
    lbi_mask_free(&crew->mask);
    free(crew->marks);
    free(crew->hands);
    pthread_setcancelstate(crew->cancel_state, NULL);
}

/* ---- looking after the workers ---- */

static lb_status failed(const lbi_slot *slot, uint32_t worker, lb_error *err) {
    return lbi_error_os(err, slot->error == EPERM ? LB_ERR_PERMISSION : LB_ERR_SYSTEM, slot->error,
                        "worker %u cannot set its scheduling class", (unsigned)worker);
}

static lb_status out_of_time(const lbi_crew *crew, lb_error *err) {
    return lbi_error(err, LB_ERR_TIMEOUT, "the budget of %g s is spent, %u of %u workers run",
                     crew->options.budget, (unsigned)crew->alive, (unsigned)crew->workers);
}

static lbi_fate fate_of_thread(lbi_hand *hand, const lbi_slot *slot) {
    if (atomic_load(&slot->state) < LBI_STATE_ENDED)
        return LBI_FATE_RUNS;
    pthread_join(hand->thread, NULL);
    hand->cpu_ns = slot->cpu_ns;
    return LBI_FATE_EXITED;
}

static lb_status look_after(lbi_crew *crew, uint32_t worker, lb_error *err) {
    lbi_hand *hand = &crew->hands[worker];
    const lbi_slot *slot = &crew->arena->slots[worker];
    int detail = 0;
    lbi_fate fate = crew->threads ? fate_of_thread(hand, slot)
                                  : lbi_fate_of(hand->process, &detail, &hand->cpu_ns);
    if (fate == LBI_FATE_RUNS)
        return LB_OK;
    if (fate == LBI_FATE_STOPPED && hand->held)
        return LB_OK;
    if (fate == LBI_FATE_STOPPED)
        return lbi_error(err, LB_ERR_WORKER, "worker %u (process %ld) was stopped by signal %d",
                         (unsigned)worker, (long)hand->process, detail);
    hand->alive = false;
    crew->alive--;
    /* Its CPU time went to whoever waited for it. */
    if (fate == LBI_FATE_LOST)
        crew->busy_ns = -1;
    uint32_t state = atomic_load(&slot->state);
    if (state == LBI_STATE_ENDED)
        return LB_OK;
    if (state == LBI_STATE_FAILED)
        return failed(slot, worker, err);
    if (state == LBI_STATE_OVERTIME)
        return out_of_time(crew, err);
    if (fate == LBI_FATE_KILLED)
        return lbi_error(err, LB_ERR_WORKER, "worker %u (process %ld) was killed by signal %d",
                         (unsigned)worker, (long)hand->process, detail);
    if (fate == LBI_FATE_LOST)
        return lbi_error(err, LB_ERR_WORKER,
                         "worker %u (process %ld) is gone: something else waited for it",
                         (unsigned)worker, (long)hand->process);
    return lbi_error(err, LB_ERR_WORKER, "worker %u (process %ld) exited with status %d",
                     (unsigned)worker, (long)hand->process, detail);
}

static lb_status report_progress(lbi_crew *crew, int64_t now, lb_error *err) {
    if (crew->options.progress == NULL)
        return LB_OK;
    double fraction = (double)(now - crew->begin_ns) / (double)(crew->expected_ns - crew->begin_ns);
    fraction = fraction > 1 ? 1 : fraction;
    /* What is expected may move away. */
    if (fraction > crew->fraction)
        crew->fraction = fraction;
    if (crew->options.progress(crew->options.progress_user, crew->fraction) != 0)
        return lbi_error(err, LB_ERR_CANCELLED, "the progress callback asked to stop");
    return LB_OK;
}

static lb_status look(lbi_crew *crew, int64_t now, lb_error *err) {
    crew->look_ns = now + LOOK_NS;
    for (uint32_t i = 0; i < crew->made; i++) {
        lb_status status = crew->hands[i].alive ? look_after(crew, i, err) : LB_OK;
        if (status != LB_OK)
            return status;
    }
    lbi_monitor_look(&crew->monitor);
    lb_status status = report_progress(crew, now, err);
    if (status != LB_OK)
        return status;
    return now > crew->limit_ns && crew->alive > 0 ? out_of_time(crew, err) : LB_OK;
}

lb_status lbi_crew_step(lbi_crew *crew, int64_t until_ns, lb_error *err) {
    int64_t target = until_ns < crew->look_ns ? until_ns : crew->look_ns;
    if (lbi_now() < target)
        lbi_sleep_until(target);
    int64_t now = lbi_now();
    atomic_store(&crew->arena->heard_ns, now);
    if (now < crew->look_ns)
        return LB_OK;
    lb_status status = look(crew, now, err);
    if (status == LB_ERR_CANCELLED || status == LB_ERR_TIMEOUT)
        crew->interrupted = status;
    return status;
}

static bool reached(const lbi_crew *crew, uint32_t workers, uint32_t state) {
    for (uint32_t i = 0; i < workers; i++)
        if (atomic_load(&crew->arena->slots[i].state) < state)
            return false;
    return true;
}

/* Waits until the first so many workers have come so far. */
static lb_status await(lbi_crew *crew, uint32_t workers, uint32_t state, lb_error *err) {
    lb_status status = LB_OK;
    while (status == LB_OK && !reached(crew, workers, state))
        status = lbi_crew_step(crew, lbi_now() + 2 * MILLISECOND, err);
    return status;
}

/* ---- calibration ---- */

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y ? 1 : 0;
}

lb_status lbi_crew_calibrate(lbi_crew *crew, lb_error *err) {
    lbi_arena *arena = crew->arena;
    uint32_t n = crew->host->cores < crew->made ? crew->host->cores : crew->made;
    /* A hundredth of the budget, within reason: 50 to 300 ms, a fifth of it to wake the cores. */
    double time = crew->options.budget * 1e9 / 100;
    time = time < 5e7 ? 5e7 : time > 3e8 ? 3e8 : time;
    arena->warm_up_ns = (int64_t)(time / 5);
    /* What a short time leaves is dozed off sooner; 240 ms do even beside others' load. Where all
     * calibrate they are alike without. */
    double doze = time < 1e8 ? 1e8 : time > 2.4e8 ? 2.4e8 : time;
    arena->doze_ns = n < crew->workers ? (int64_t)doze : 0;
    arena->repeats = 25;
    arena->repeat = (uint64_t)(time * 4 / 5 / 25 / (double)CHUNK_NS);
    lb_status status = await(crew, crew->made, LBI_STATE_READY, err);
    if (status != LB_OK)
        return status;
    crew->slice_ns = arena->slots[0].slice_ns;
    enter(crew, LBI_PHASE_CALIBRATE);
    status = await(crew, n, LBI_STATE_CALIBRATED, err);
    if (status != LB_OK)
        return status;
    double *times = lbi_array_new(n, sizeof *times);
    if (times == NULL)
        return lbi_error_nomem(err, "the calibration");
    for (uint32_t i = 0; i < n; i++)
        times[i] = arena->slots[i].chunk_ns;
    if (n == crew->host->cores && !lbi_monitor_calibrated(&crew->monitor, times)) {
        free(times);
        return lbi_error_nomem(err, "the calibration");
    }
    qsort(times, n, sizeof *times, compare);
    crew->chunk_work = (times[(n - 1) / 2] + times[n / 2]) / 2 / 1e9;
    free(times);
    double chunks = round(crew->options.unit_work / crew->chunk_work);
    arena->unit_chunks = chunks < 1 ? 1 : (uint64_t)chunks;
    arena->chunk_ns = crew->chunk_work * 1e9;
    crew->unit_work = (double)arena->unit_chunks * crew->chunk_work;
    return LB_OK;
}

/* ---- cores ---- */

lb_status lbi_crew_bind(lbi_crew *crew, uint32_t worker, uint32_t core, lb_error *err) {
    lbi_hand *hand = &crew->hands[worker];
    bool free = core == UINT32_MAX;
    /* Beforehand, so that no move that comes of it precedes it. */
    if (crew->origin_ns == 0)
        *(free ? &hand->unpinned_ns : &hand->pinned_ns) = lbi_now();
    lb_status status = lbi_crew_mark(crew, worker, free ? LB_MARK_UNPIN : LB_MARK_PIN, err);
    int error = status == LB_OK ? lbi_bind(hand->process, crew->host, core, &crew->mask) : 0;
    if (error != 0)
        return lbi_error_os(err, error == EPERM ? LB_ERR_PERMISSION : LB_ERR_SYSTEM, error,
                            free ? "cannot unbind worker %u" : "cannot bind worker %u to one core",
                            (unsigned)worker);
    return status;
}

lb_status lbi_crew_hold(lbi_crew *crew, uint32_t worker, bool held, lb_error *err) {
    lbi_hand *hand = &crew->hands[worker];
    /* A signal that stops a thread stops the whole process. */
    if (crew->threads)
        return lbi_error(err, LB_ERR_UNSUPPORTED,
                         "workers is LB_WORKERS_THREADS: threads cannot be held, processes "
                         "expected");
    hand->held = held;
    if (held)
        lbi_stop(hand->process);
    else
        lbi_continue(hand->process);
    return lbi_crew_mark(crew, worker, held ? LB_MARK_SLEEP : LB_MARK_WAKE, err);
}

lb_status lbi_crew_mark(lbi_crew *crew, uint32_t worker, lb_mark_kind kind, lb_error *err) {
    if (crew->origin_ns == 0)
        return LB_OK;
    if (!lbi_array_reserve(&crew->marks, &crew->mark_capacity, crew->mark_count + 1,
                           sizeof *crew->marks))
        return lbi_error_nomem(err, "a mark");
    crew->marks[crew->mark_count++] =
        (lb_mark){.time_ns = lbi_now(), .task = worker, .kind = (int32_t)kind};
    return LB_OK;
}

int32_t lbi_crew_core(const lbi_crew *crew, uint32_t worker) {
    return lbi_host_core(crew->host, atomic_load(&crew->arena->slots[worker].cpu));
}

/* ---- start ---- */

lb_status lbi_crew_spin(lbi_crew *crew, lb_error *err) {
    bool spins = false;
    for (uint32_t i = 0; i < crew->made; i++)
        spins = spins || !crew->arena->slots[i].late;
    if (spins && !lbi_class_shares(&crew->class_))
        return lbi_error(err, LB_ERR_UNSUPPORTED,
                         "the workers' scheduling class is %s: they would not share a core",
                         lbi_class_name(&crew->class_));
    enter(crew, LBI_PHASE_SPIN);
    return lbi_crew_settle(crew, err);
}

static bool settled(const lbi_crew *crew) {
    /* Two chunks: the first may have begun before. */
    for (uint32_t i = 0; i < crew->made; i++) {
        const lbi_slot *slot = &crew->arena->slots[i];
        if (!slot->late && atomic_load(&slot->progress) < crew->hands[i].progress + 2)
            return false;
    }
    return true;
}

lb_status lbi_crew_settle(lbi_crew *crew, lb_error *err) {
    int64_t rounds = 4 * crew->slice_ns * (crew->workers / crew->host->cores + 1);
    int64_t until = lbi_now() + (rounds > SECOND ? rounds : SECOND);
    for (uint32_t i = 0; i < crew->made; i++)
        crew->hands[i].progress = atomic_load(&crew->arena->slots[i].progress);
    lb_status status = LB_OK;
    while (status == LB_OK && !settled(crew) && lbi_now() < until)
        status = lbi_crew_step(crew, lbi_now() + 2 * MILLISECOND, err);
    return status;
}

static int64_t absolute(const lbi_crew *crew, int64_t time_ns) {
    return time_ns == INT64_MAX ? INT64_MAX : crew->origin_ns + time_ns;
}

lb_status lbi_crew_release(lbi_crew *crew, lb_error *err) {
    lbi_arena *arena = crew->arena;
    if (!lbi_monitor_origin(&crew->monitor))
        return lbi_error_nomem(err, "the findings");
    if (lbi_busy(crew->host, &crew->busy_ns) != 0)
        crew->busy_ns = -1;
    for (uint32_t i = 0; i < crew->made; i++) {
        lbi_hand *hand = &crew->hands[i];
        int error = lbi_cpu_of(hand->process, crew->threads, &hand->cpu_origin_ns);
        if (error == ESRCH)
            return lbi_error(err, LB_ERR_WORKER, "worker %u (process %ld) is gone", (unsigned)i,
                             (long)hand->process);
        if (error != 0)
            return lbi_error_os(err, LB_ERR_SYSTEM, error, "cannot read the CPU time of worker %u",
                                (unsigned)i);
    }
    crew->own_ns = lbi_thread_cpu();
    crew->before = lbi_instant_now(arena->tsc);
    crew->origin_ns = lbi_now();
    for (uint32_t i = 0; i < crew->made; i++) {
        lbi_slot *slot = &arena->slots[i];
        atomic_store(&slot->deadline_ns, absolute(crew, atomic_load(&slot->deadline_ns)));
        slot->stop_ns = absolute(crew, slot->stop_ns);
        for (lbi_nap *nap = &arena->naps[slot->first_nap];
             nap < &arena->naps[slot->first_nap] + slot->naps; nap++) {
            nap->from_ns = absolute(crew, nap->from_ns);
            nap->to_ns = absolute(crew, nap->to_ns);
        }
    }
    enter(crew, LBI_PHASE_RUN);
    return LB_OK;
}

/* ---- end ---- */

static void measure_foreign(lbi_crew *crew) {
    int64_t busy, time = lbi_now() - crew->origin_ns;
    if (crew->busy_ns < 0 || lbi_busy(crew->host, &busy) != 0)
        return;
    int64_t own = lbi_thread_cpu() - crew->own_ns;
    for (uint32_t i = 0; i < crew->made; i++)
        own += crew->hands[i].cpu_ns - crew->hands[i].cpu_origin_ns;
    double foreign = (double)(busy - crew->busy_ns - own) / ((double)time * crew->host->cores);
    crew->foreign = foreign < 0 ? 0 : foreign;
}

lb_status lbi_crew_finish(lbi_crew *crew, lb_error *err) {
    lb_status status = LB_OK;
    while (status == LB_OK && crew->alive > 0)
        status = lbi_crew_step(crew, INT64_MAX, err);
    crew->after = lbi_instant_now(crew->arena->tsc);
    if (status != LB_OK)
        return status;
    measure_foreign(crew);
    if (!lbi_monitor_finish(&crew->monitor, crew->made, crew->foreign))
        return lbi_error_nomem(err, "the findings");
    return LB_OK;
}
