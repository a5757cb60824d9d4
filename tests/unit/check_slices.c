/* SPDX-License-Identifier: BSD-3-Clause */
/* Slices: what recording them costs, and whether their edges are where a task was switched. */
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "experiment/crew.h"
#include "experiment/gaps.h"
#include "harness.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>
#endif

static lb_host *host;
static lb_error err;

static void open_machine(void) {
    ASSERT_OK(lb_host_open(NULL, &host, &err), err);
    if (lb_host_cores(host) < 2) {
        printf("skipped: only one core may be used\n");
        exit(EXIT_SUCCESS);
    }
}

/* ---- the readings ---- */

/* On a core to which it is bound, a thread reads that core; and time does not go backwards. */
static void assert_readings(bool tsc) {
    lbi_mask mask = lbi_mask_new(host);
    int64_t last = INT64_MIN;
    for (int round = 0; round < 20; round++) {
        uint32_t core = (uint32_t)round % lb_host_cores(host);
        ck_assert_int_eq(lbi_bind(0, host, core, &mask), 0);
        for (int i = 0; i < 100; i++) {
            lbi_reading reading = lbi_read(tsc);
            ck_assert_int_eq(reading.cpu, (int32_t)lb_host_cpu(host, core));
            ck_assert_int_ge(reading.ticks, last);
            last = reading.ticks;
        }
    }
    ck_assert_int_eq(lbi_bind(0, host, UINT32_MAX, &mask), 0);
    lbi_mask_free(&mask);
}

START_TEST(readings) {
    open_machine();
    assert_readings(false);
    bool tsc = lbi_tsc_usable(host->cpus[host->cores - 1]);
    if (tsc)
        assert_readings(true);
    printf("slices are read from %s\n", tsc ? "the time-stamp counter" : "the system's clock");
    ck_assert(!lbi_tsc_usable(LBI_TSC_CPU_MASK + 1));
    lb_host_free(host);
}
END_TEST

/* Ticks become the nanoseconds that the system's clock shows. */
START_TEST(conversion) {
    open_machine();
    for (int tsc = 0; tsc <= (lbi_tsc_usable(host->cpus[host->cores - 1]) ? 1 : 0); tsc++) {
        lbi_instant before = lbi_instant_now(tsc != 0), middle[20];
        for (int i = 0; i < 20; i++) {
            lbi_sleep_until(lbi_now() + 5000000);
            middle[i] = lbi_instant_now(tsc != 0);
        }
        lbi_instant after = lbi_instant_now(tsc != 0);
        for (int i = 0; i < 20; i++)
            ck_assert_int_lt(llabs(lbi_ticks_to_ns(middle[i].ticks, before, after) - middle[i].ns),
                             20000);
        ck_assert_int_eq(lbi_ticks_to_ns(before.ticks, before, after), before.ns);
        ck_assert_int_eq(lbi_ticks_to_ns(after.ticks, before, after), after.ns);
        ck_assert_int_eq(lbi_ticks_to_ns(5, before, before), before.ns);
    }
    lb_host_free(host);
}
END_TEST

/* ---- what recording costs ---- */

enum {
    SHORT = 10,
    CHUNKS = 60,
    BLOCKS = 4000
};

/* An arena of one worker, to be run by the calling thread itself. */
static lbi_arena *private_arena(bool tsc) {
    lbi_arena *arena = calloc(1, sizeof *arena);
    ck_assert_ptr_nonnull(arena);
    arena->slots = aligned_alloc(128, sizeof *arena->slots);
    arena->pool = calloc(BLOCKS, sizeof *arena->pool);
    arena->records = calloc(10, sizeof *arena->records);
    ck_assert(arena->slots != NULL && arena->pool != NULL && arena->records != NULL);
    memset(arena->slots, 0, sizeof *arena->slots);
    arena->slots->work_ns = arena->slots->stop_ns = INT64_MAX;
    arena->slots->deadline_ns = INT64_MAX;
    arena->slots->capacity = 10;
    arena->limit_ns = INT64_MAX;
    arena->heard_ns = INT64_MAX;
    arena->workers = 1;
    arena->blocks = BLOCKS;
    arena->tsc = tsc;
    arena->unit_chunks = 1000;
    arena->phase = LBI_PHASE_RUN;
    lbi_size_chunks(arena, 15000);
    return arena;
}

static void free_arena(lbi_arena *arena) {
    free(arena->slots);
    free(arena->pool);
    free(arena->records);
    free(arena);
}

static int64_t least_of(int64_t least, int64_t value) {
    return value < least ? value : least;
}

/* The worker's loop against the arithmetic alone: both take turns, and the least that each took is
 * what it takes undisturbed. Twice as long and short pieces, of which the difference is free of
 * what it takes to begin and to end one. */
static double cost_of_recording(bool tsc) {
    lbi_arena *arena = private_arena(tsc);
    int64_t recorded[2] = {INT64_MAX, INT64_MAX}, bare[2] = {INT64_MAX, INT64_MAX};
    uint64_t value = 1;
    for (int repeat = 0; repeat < 1000; repeat++) {
        int i = repeat % 2;
        arena->slots->chunks = i == 0 ? SHORT : SHORT + CHUNKS;
        arena->slots->units = 0;
        int64_t start = lbi_read(tsc).ticks;
        lbi_run(arena, 0);
        int64_t middle = lbi_read(tsc).ticks;
        value = lbi_arithmetic(value, arena->slots->chunks * arena->chunk_rounds);
        int64_t end = lbi_read(tsc).ticks;
        recorded[i] = least_of(recorded[i], middle - start);
        bare[i] = least_of(bare[i], end - middle);
        ck_assert_uint_eq(arena->slots->units, 1);
    }
    ck_assert_uint_ne(value, 0);
    double ratio = (double)(recorded[1] - recorded[0]) / (double)(bare[1] - bare[0]);
    printf("recording by %s costs %.3f %% (%d chunks take %.1f us instead of %.1f)\n",
           tsc ? "the time-stamp counter" : "the system's clock", 100 * (ratio - 1), CHUNKS,
           (double)(recorded[1] - recorded[0]) / arena->ticks_per_ns / 1e3,
           (double)(bare[1] - bare[0]) / arena->ticks_per_ns / 1e3);
    free_arena(arena);
    return ratio;
}

/* The system's clock costs more, and is not held to it. What the register would cost where the
 * kernel does not trust it to tell the time is measured too, where the CPU has it. */
START_TEST(perturbation) {
    open_machine();
    bool usable = lbi_tsc_usable(host->cpus[host->cores - 1]);
    ck_assert_double_gt(cost_of_recording(false), 0.9);
#if defined(__x86_64__) && defined(__GNUC__)
    unsigned a, b, c, d;
    if (usable || (__get_cpuid(0x80000001u, &a, &b, &c, &d) != 0 && (d & 1u << 27) != 0)) {
        double ratio = cost_of_recording(true);
        if (usable)
            ck_assert_double_le(ratio, 1.002);
    }
#endif
    lb_host_free(host);
}
END_TEST

/* ---- edges ---- */

static int compare_starts(const void *a, const void *b) {
    const lb_slice *x = a, *y = b;
    return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns ? 1 : 0;
}

static int compare_gaps(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y ? 1 : 0;
}

/* Two workers bound to one core for so long, with chunks of about so much, and so many blocks for
 * their spans (0: as many as there are). */
static lb_trace *two_on_one(int64_t run_ns, int64_t chunk_ns, uint32_t blocks) {
    lb_experiment_options options;
    lb_experiment_options_init(&options, sizeof options);
    options.budget = 30;
    static const size_t capacities[] = {2000, 2000};
    lbi_crew crew;
    lb_trace *trace = NULL;
    ASSERT_OK(lbi_crew_begin(&crew, host, &options, 2, capacities, &err), err);
    lbi_size_chunks(crew.arena, chunk_ns);
    if (blocks > 0)
        crew.arena->blocks = blocks;
    ASSERT_OK(lbi_crew_calibrate(&crew, &err), err);
    for (uint32_t i = 0; i < 2; i++) {
        ASSERT_OK(lbi_crew_bind(&crew, i, 1, &err), err);
        atomic_store(&crew.arena->slots[i].deadline_ns, run_ns);
    }
    ASSERT_OK(lbi_crew_spin(&crew, &err), err);
    ASSERT_OK(lbi_crew_release(&crew, &err), err);
    ASSERT_OK(lbi_crew_finish(&crew, &err), err);
    ASSERT_OK(lbi_crew_trace(&crew, "test", &trace, &err), err);
    lbi_crew_end(&crew);
    return trace;
}

static double meta_number(const lb_trace *trace, const char *key, double otherwise) {
    const char *text = lb_trace_meta(trace, key);
    double number;
    if (text == NULL || !lbi_parse_number(text, text + strlen(text), &number))
        return otherwise;
    return number;
}

/* The gaps at switches between two tasks. */
typedef struct gaps {
    double median_s, chunk_s;
    double foreign; /* percent */
} gaps;

/* The tasks take turns without an overlap. */
static gaps tile(int64_t chunk_ns) {
    lb_trace *trace = two_on_one(400000000, chunk_ns, 0);
    size_t n, count = 0;
    const lb_slice *slices = lb_trace_slices(trace, &n);
    lb_slice *sorted = calloc(n, sizeof *sorted);
    int64_t *ns = calloc(n, sizeof *ns), covered = 0;
    ck_assert(n > 20 && sorted != NULL && ns != NULL);
    memcpy(sorted, slices, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, compare_starts);
    for (size_t i = 0; i < n; i++) {
        ck_assert_int_eq(sorted[i].core, 1);
        covered += sorted[i].end_ns - sorted[i].start_ns;
        if (i == 0)
            continue;
        ck_assert_int_ge(sorted[i].start_ns, sorted[i - 1].end_ns);
        if (sorted[i].task != sorted[i - 1].task)
            ns[count++] = sorted[i].start_ns - sorted[i - 1].end_ns;
    }
    qsort(ns, count, sizeof *ns, compare_gaps);
    ck_assert_uint_gt(count, 10);
    ck_assert_ptr_null(lb_trace_meta(trace, "lost_slices"));
    gaps g = {.median_s = 1e-9 * (double)ns[count / 2],
              .chunk_s = meta_number(trace, "chunk_s", 0),
              .foreign = meta_number(trace, "foreign_cpu_percent", 100)};
    printf("two tasks on one core, chunks of %.1f us: %zu slices, %zu switches, gaps %.1f us at "
           "the median, %.1f at the 90th percentile; %.2f %% covered, foreign %.2f %%\n",
           1e6 * g.chunk_s, n, count, 1e6 * g.median_s, 1e-3 * (double)ns[count * 9 / 10],
           100.0 * (double)covered / (double)(sorted[n - 1].end_ns - sorted[0].start_ns),
           g.foreign);
    free(ns);
    free(sorted);
    lb_trace_free(trace);
    return g;
}

/* A gap is what the machine takes for a switch, which tiny chunks show, and at most the rest of a
 * chunk on either side, half of that at the median. What a machine takes for a switch changes by
 * more than that when its host is busy, which nothing in it shows (57 and 125 us within two
 * seconds): so chunks of both kinds take turns, and the pair that shows the least is judged. */
START_TEST(tiling) {
    enum {
        PAIRS = 5
    };
    open_machine();
    int judged = 0;
    double least_s = INFINITY;
    for (int i = 0; i < PAIRS; i++) {
        gaps fine = tile(1000), usual = tile(15000);
        if (fine.foreign > 2 || usual.foreign > 2) {
            printf("skipped: a pair of gaps beside foreign CPU time of %.2f and %.2f %%\n",
                   fine.foreign, usual.foreign);
            continue;
        }
        judged++;
        least_s = fmin(least_s, usual.median_s - fine.median_s - 2 * usual.chunk_s);
    }
    if (judged > 0)
        ck_assert_double_lt(least_s, 0);
    lb_host_free(host);
}
END_TEST

/* Room for 42 slices each, where more come: the trace says how many are missing, and the units are
 * all there. */
START_TEST(pool_runs_dry) {
    open_machine();
    lb_trace *trace = two_on_one(1000000000, 15000, 2);
    size_t n, units_n;
    const lb_slice *slices = lb_trace_slices(trace, &n);
    const lb_unit *units = lb_trace_units(trace, &units_n);
    double brief = meta_number(trace, "brief_slices", 0);
    double lost = meta_number(trace, "lost_slices", 0);
    ck_assert_double_gt(lost, 0);
    ck_assert_double_eq((double)n + brief, 2 * LBI_BLOCK_SPANS);
    int64_t last_slice = 0, last_unit = 0;
    for (size_t i = 0; i < n; i++)
        last_slice = slices[i].end_ns > last_slice ? slices[i].end_ns : last_slice;
    for (size_t i = 0; i < units_n; i++)
        last_unit = units[i].end_ns > last_unit ? units[i].end_ns : last_unit;
    ck_assert_int_ge(last_unit, INT64_C(1000000000));
    ck_assert_int_lt(last_slice, last_unit);
    ck_assert_ptr_null(lb_trace_meta(trace, "lost_units"));
    lb_trace_free(trace);
    lb_host_free(host);
}
END_TEST

/* What switches and interrupts leave is no gap; what is before and after the first slice may be. */
START_TEST(long_gaps_alone_count) {
    lb_trace *trace = NULL;
    ASSERT_OK(lb_trace_new(2, &trace, &err), err);
    static const lb_slice slices[] = {
        {2000000, 4000000, 0, 0}, /* after 1 ms */
        {4400000, 6000000, 1, 0}, /* after 0.4 */
        {6500000, 9000000, 0, 0}, /* after 0.5; and 1 until the end */
        {500000, 8000000, 2, 1},  /* begins before; 2 until the end */
    };
    for (size_t i = 0; i < sizeof slices / sizeof *slices; i++)
        ASSERT_OK(lb_trace_add_slice(trace, &slices[i], &err), err);
    ASSERT_OK(lb_trace_seal(trace, &err), err);
    double percent;
    ASSERT_OK(lbi_gaps_percent(trace, 2, 1000000, 10000000, &percent, &err), err);
    ck_assert_double_eq_tol(percent, 100 * 4.5 / 18, 1e-9);
    ASSERT_OK(lbi_gaps_percent(trace, 3, 1000000, 10000000, &percent, &err), err);
    ck_assert_double_eq_tol(percent, 100 * 13.5 / 27, 1e-9); /* the third did nothing */
    lb_trace_free(trace);
    ASSERT_OK(lb_trace_new(2, &trace, &err), err);
    ASSERT_OK(lb_trace_seal(trace, &err), err);
    ASSERT_OK(lbi_gaps_percent(trace, 2, 0, 1000, &percent, &err), err);
    ck_assert(isnan(percent));
    lb_trace_free(trace);
}
END_TEST

/* How busy the kernel takes a task that slept for (1024: a whole core), -1 where it does not say.
 */
static double remembered(pid_t process) {
    char path[64], line[256];
    double most = -1, value;
    snprintf(path, sizeof path, "/proc/%ld/sched", (long)process);
    FILE *file = fopen(path, "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        const char *colon = strchr(line, ':');
        if (strstr(line, "util_est") != NULL && colon != NULL &&
            sscanf(colon + 1, "%lf", &value) == 1)
            most = fmax(most, value);
    }
    if (file != NULL)
        fclose(file);
    return most;
}

/* Workers that calibrated are not taken for busier than those that did not: balancing would wait
 * longer where two of them share a core. */
START_TEST(calibration_leaves_nothing_behind) {
    open_machine();
    lb_experiment_options options;
    lb_experiment_options_init(&options, sizeof options);
    options.budget = 30;
    uint32_t workers = host->cores + 1;
    size_t *capacities = calloc(workers, sizeof *capacities);
    ck_assert_ptr_nonnull(capacities);
    lbi_crew crew;
    ASSERT_OK(lbi_crew_begin(&crew, host, &options, workers, capacities, &err), err);
    ASSERT_OK(lbi_crew_calibrate(&crew, &err), err);
    for (uint32_t i = 0; i < workers; i++) {
        double busy = remembered(crew.hands[i].process);
        if (busy < 0)
            printf("skipped: the kernel does not tell how busy it takes a worker for\n");
        ck_assert_double_lt(busy, 1024.0 / 3);
    }
    lbi_crew_end(&crew);
    free(capacities);
    lb_host_free(host);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("slices");
    ADD(s, "gaps", long_gaps_alone_count);
    ADD(s, "history", calibration_leaves_nothing_behind);
    ADD(s, "readings", readings, conversion);
    ADD(s, "cost", perturbation);
    ADD(s, "edges", tiling, pool_runs_dry);
    return s;
}
