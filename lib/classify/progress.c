/* SPDX-License-Identifier: BSD-3-Clause */
#include "classify/progress.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "trace/tasks.h"

/* Bounds times tasks: what may be kept, and up to where intervals are cut into windows. */
#define CELLS_MAX ((size_t)1 << 24)
#define CELLS_CUT ((size_t)1 << 20)
#define BLOCK 256      /* units of one task whose durations are judged together */
#define BLOCK_LEAST 64 /* fewer are judged by the whole trace */
#define LONG_UNIT 3.5  /* times the block's typical duration: not progress but a mishap */
#define LONG_WAIT                                                                                  \
    0.3              /* of a wait: no unit is so long, since lists change in the midst of a block */
#define TYPICAL 0.65 /* of all time passes in units up to the typical duration */
#define SCALE_WAITS 5 /* an interval must last that many waits to tell the scale */
#define SCALE_QUANTILE 0.3
#define SCALE_SAME 0.01
#define SPREAD_COUNT 14  /* fewer pairs of windows do not tell */
#define SPREAD_LEAST 0.1 /* of a unit's work: standard deviation over mean */
#define SPREAD_MOST 3.0
#define SPREAD_ROOM ((size_t)1 << 16)
#define GRAIN 0.35      /* of the CPU time that a task gets at a stretch */
#define WINDOW_WAITS 12 /* an interval is cut into windows of at least so many waits .. */
#define WINDOWS_MAX 6   /* .. and at most so many windows */

/* Durations by size, eight classes an octave: the bits of the double above the third of its
 * fraction. */
#define BIN_SHIFT 49
#define BINS 1024
#define BIN_FIRST (UINT64_C(1000) << 3) /* 2^-23 s */

typedef struct histogram {
    double time[BINS]; /* total duration of the units in a class */
    double total;
    unsigned low, high;
} histogram;

static void histogram_clear(histogram *h) {
    if (h->total > 0)
        memset(h->time + h->low, 0, (h->high - h->low + 1) * sizeof *h->time);
    h->total = 0;
    h->low = BINS;
    h->high = 0;
}

static void histogram_add(histogram *h, double duration) {
    uint64_t bits;
    memcpy(&bits, &duration, sizeof bits);
    bits >>= BIN_SHIFT;
    unsigned bin = bits < BIN_FIRST              ? 0
                   : bits - BIN_FIRST > BINS - 1 ? BINS - 1
                                                 : (unsigned)(bits - BIN_FIRST);
    h->time[bin] += duration;
    h->total += duration;
    h->low = bin < h->low ? bin : h->low;
    h->high = bin > h->high ? bin : h->high;
}

/* The duration up to which most of all time passes. Where slices are long against units most units
 * take no wait and few take all of it: those few are what time consists of (half of it where two
 * tasks share a core), while outliers, as rare, are not. */
static double typical_duration(const histogram *h) {
    double sum = 0;
    for (unsigned bin = h->low; bin <= h->high; bin++) {
        sum += h->time[bin];
        if (sum >= h->total * TYPICAL) {
            uint64_t bits = ((uint64_t)bin + BIN_FIRST) << BIN_SHIFT | UINT64_C(1)
                                                                           << (BIN_SHIFT - 1);
            double middle;
            memcpy(&middle, &bits, sizeof middle);
            return middle;
        }
    }
    return 0;
}

static double seconds(int64_t ns) {
    return (double)ns * 1e-9;
}

static double duration_of(const lb_unit *unit) {
    return lbi_seconds_between(unit->start_ns, unit->end_ns);
}

typedef struct span {
    size_t first, count; /* units */
    int64_t start, end;
    uint32_t number;
} span;

static int by_end(const void *a, const void *b) {
    const span *x = a, *y = b;
    if (x->end != y->end)
        return x->end < y->end ? -1 : 1;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->count != y->count)
        return x->count < y->count ? -1 : 1;
    return x->number < y->number ? -1 : 1;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static size_t count_tasks(const lb_unit *units, size_t n) {
    size_t tasks = n > 0;
    for (size_t i = 1; i < n; i++)
        tasks += units[i].task != units[i - 1].task;
    return tasks;
}

static void find_spans(const lb_unit *units, size_t n, span *spans) {
    size_t at = 0;
    for (size_t i = 0; i < n; at++) {
        size_t j = i;
        while (j < n && units[j].task == units[i].task)
            j++;
        spans[at] = (span){i, j - i, units[i].start_ns, units[j - 1].end_ns, units[i].task};
        i = j;
    }
}

/* What may be said from the ends alone. `spans` by end. */
static lbi_unusable judge_ends(lbi_progress *p, const span *spans) {
    uint32_t tasks = p->tasks;
    if (tasks == 1)
        return LBI_ONE_TASK;
    if (p->cores == 1)
        return LBI_ONE_CORE;
    p->first_end = seconds(spans[0].end);
    p->last_end = seconds(spans[tasks - 1].end);
    uint32_t cohort = 0;
    const span *late = NULL;
    for (uint32_t i = 0; i < tasks; i++) {
        if (spans[i].start < spans[0].end)
            cohort++;
        else if (late == NULL || spans[i].start < late->start)
            late = &spans[i];
    }
    if (late != NULL) {
        p->late_start = seconds(late->start);
        p->late_task = late->number;
    }
    if (cohort < tasks)
        return cohort <= 1 ? LBI_NO_OVERLAP : LBI_LATE_TASK;
    if (tasks <= p->cores)
        return LBI_NEVER_SHARED;
    if (spans[0].end == spans[tasks - 1].end)
        return LBI_ENDED_AT_ONCE;
    return LBI_USABLE;
}

/* Walks the blocks of a task's units and calls what is to be done with each. */
static size_t block_length(size_t left) {
    return left < 2 * BLOCK ? left : BLOCK;
}

typedef struct coarseness {
    double *typical; /* of each block; blocks are numbered along the units */
    double *stretch; /* CPU time that a task gets at a stretch, in units */
    size_t blocks;
} coarseness;

static void measure_blocks(lbi_progress *p, const lb_unit *units, const span *spans,
                           histogram *local, histogram *whole, coarseness *c) {
    for (uint32_t i = 0; i < p->tasks; i++)
        for (size_t at = 0; at < spans[i].count; at += block_length(spans[i].count - at)) {
            const lb_unit *u = units + spans[i].first + at;
            size_t length = block_length(spans[i].count - at);
            histogram_clear(local);
            for (size_t j = 0; j < length; j++) {
                double duration = duration_of(u + j);
                histogram_add(local, duration);
                histogram_add(whole, duration);
                p->least = fmin(p->least, duration);
            }
            c->typical[c->blocks] = length < BLOCK_LEAST ? 0 : typical_duration(local);
            c->stretch[c->blocks] = typical_duration(local) * (double)length / local->total;
            c->blocks++;
        }
    p->wait = typical_duration(whole);
    for (size_t b = 0; b < c->blocks; b++)
        if (c->typical[b] == 0)
            c->typical[b] = p->wait;
    /* A block without time has no stretch. */
    size_t finite = 0;
    for (size_t b = 0; b < c->blocks; b++)
        if (isfinite(c->stretch[b]))
            c->stretch[finite++] = c->stretch[b];
    qsort(c->stretch, finite, sizeof *c->stretch, by_value);
    p->grain = finite > 0 ? c->stretch[finite / 2] : 1;
}

/* Bounds at the ends, and between them where an interval is long enough to be cut. */
static lb_status place_bounds(lbi_progress *p, const span *spans, lb_error *err) {
    double start = -DBL_MAX;
    for (uint32_t i = 0; i < p->tasks; i++)
        if (seconds(spans[i].start) > start)
            start = seconds(spans[i].start);
    bool cut = (size_t)p->tasks * p->tasks * 2 <= CELLS_CUT;
    p->time = lbi_array_new((size_t)p->tasks * (cut ? WINDOWS_MAX : 1) + 1, sizeof *p->time);
    if (p->time == NULL)
        return lbi_error_nomem(err, "bounds");
    p->time[0] = start;
    p->bounds = 1;
    for (uint32_t i = 0; i < p->tasks; i++) {
        double before = p->time[p->bounds - 1], end = seconds(spans[i].end), length = end - before;
        double parts =
            cut && length > 0 ? fmin(floor(length / (WINDOW_WAITS * p->wait)), WINDOWS_MAX) : 1;
        if ((size_t)p->tasks * (p->bounds + WINDOWS_MAX) > CELLS_CUT)
            parts = 1;
        for (int part = 1; part < parts; part++)
            p->time[p->bounds++] = before + length * part / parts;
        if (end > before)
            p->time[p->bounds++] = end;
        p->end[i] = (uint32_t)(p->bounds - 1);
    }
    return LB_OK;
}

/* Where units are spread over the windows. */
typedef struct filler {
    lbi_progress *p;
    double *done_at, *seen_at; /* of the task, at bound 0 */
    size_t next;               /* the first bound that is not filled */
    double done, seen;
} filler;

/* Work that was done evenly from one time to another; not `known`: nobody knows. */
static void fill(filler *f, double from, double to, double work, bool known) {
    const lbi_progress *p = f->p;
    double length = to - from;
    for (; f->next < p->bounds && p->time[f->next] <= to; f->next++) {
        double inside =
            p->time[f->next] > from && length > 0 && known ? p->time[f->next] - from : 0;
        f->done_at[f->next * p->tasks] = f->done + (length > 0 ? work * inside / length : 0);
        f->seen_at[f->next * p->tasks] = f->seen + inside;
    }
    if (known) {
        f->done += work;
        f->seen += length;
    }
}

/* A stretch of units for lbi_disorder lasts so many waits. */
#define STRETCH_WAITS 2

/* Tells disorder of a unit, unless a task ends in it: stretches lie between ends. */
static void tell_disorder(lbi_progress *p, uint32_t *next, double from, double to, double work) {
    lbi_disorder *d = &p->disorder;
    if (*next == p->tasks)
        return;
    if (to > p->time[p->end[*next]]) {
        while (*next < p->tasks && to > p->time[p->end[*next]])
            ++*next;
        lbi_disorder_restart(d, d->length);
    } else {
        lbi_disorder_unit(d, to - from, work);
    }
}

/* Spreads one task's units over the windows. A unit much longer than those around it is a mishap,
 * unless its CPU time says that it was a long one. Lost units were as the others are; any other gap
 * is sleep. */
static void fill_task(lbi_progress *p, uint32_t task, const lb_unit *units, size_t count,
                      const double *typical, double mean_cpu) {
    filler f = {.p = p, .done_at = p->done + task, .seen_at = p->seen + task};
    double limit = 0, work = 1, rate = 0;
    size_t block_end = 0;
    uint32_t next_end = 0;
    for (size_t j = 0; j < count; j++) {
        if (j == block_end) {
            size_t length = block_length(count - j);
            block_end += length;
            limit = LONG_UNIT * fmax(*typical++, LONG_WAIT * p->wait);
            double lasts = seconds(units[block_end - 1].end_ns) - seconds(units[j].start_ns);
            rate = mean_cpu * (double)length / lasts;
            double stretch = STRETCH_WAITS * p->wait * (double)length / lasts;
            lbi_disorder_restart(&p->disorder, (size_t)ceil(fmin(stretch, BLOCK)));
        }
        double from = seconds(units[j].start_ns), to = seconds(units[j].end_ns);
        if (j > 0) {
            double before = seconds(units[j - 1].end_ns), lost = units[j].index - 1.0;
            lost -= units[j - 1].index;
            double each = (from - before) / lost;
            if (lost > 0 && each > p->least && each < limit)
                fill(&f, before, from, lost * (mean_cpu > 0 ? mean_cpu : 1), true);
        }
        if (mean_cpu > 0)
            work = seconds(units[j].cpu_ns);
        bool mishap = to - from > limit && !(mean_cpu > 0 && work > rate / 3 * (to - from));
        p->dropped += mishap;
        if (mishap)
            lbi_disorder_restart(&p->disorder, p->disorder.length);
        else
            tell_disorder(p, &next_end, from, to, work);
        fill(&f, from, to, work, !mishap);
    }
    fill(&f, p->time[p->bounds - 1], p->time[p->bounds - 1], 0, false);
}

typedef struct share {
    double factor, weight;
} share;

static int by_factor(const void *a, const void *b) {
    const share *x = a, *y = b;
    return (x->factor > y->factor) - (x->factor < y->factor);
}

/* Progress in an interval, all tasks together, if all its time had been observed. */
static double progress_of_all(const lbi_progress *p, uint32_t first, size_t from, size_t to) {
    double work = 0;
    uint32_t known = 0;
    for (uint32_t i = first; i < p->tasks; i++) {
        double seen = lbi_seen(p, i, from, to);
        if (seen <= 0)
            continue;
        work += lbi_done(p, i, from, to) / seen;
        known++;
    }
    uint32_t alive = p->tasks - first;
    return 2 * known < alive ? 0 : work * alive / known * (p->time[to] - p->time[from]);
}

/* Takes a factor for a candidate unless there is one much like it. */
static void propose(lbi_progress *p, double factor) {
    if (!isfinite(factor) || factor <= 0)
        return;
    for (size_t i = 0; i < p->scales; i++)
        if (fabs(p->scale[i] / factor - 1) < SCALE_SAME)
            return;
    p->scale[p->scales++] = factor;
}

/* While every core works, progress adds up to the number of cores. In some intervals a core is idle
 * (or stolen), and these ask for a larger factor than is true: so not the middle one of all
 * intervals' factors counts, but a lower one. */
static double common_factor(const lbi_progress *p, share *shares) {
    size_t count = 0;
    double all = 0, sum = 0;
    for (int coarse = 0; coarse < 2 && count == 0; coarse++)
        for (uint32_t first = 0; first < p->tasks; first++) {
            size_t from = first == 0 ? 0 : p->end[first - 1], to = p->end[first];
            uint32_t alive = p->tasks - first;
            double length = p->time[to] - p->time[from];
            if (length <= 0 || (coarse == 0 && length < SCALE_WAITS * p->wait))
                continue;
            double work = progress_of_all(p, first, from, to);
            double factor = (alive < p->cores ? alive : p->cores) * length / work;
            if (!isfinite(factor) || factor <= 0)
                continue;
            shares[count++] = (share){factor, length};
            all += length;
        }
    qsort(shares, count, sizeof *shares, by_factor);
    for (size_t i = 0; i < count; i++) {
        sum += shares[i].weight;
        if (sum >= SCALE_QUANTILE * all)
            return shares[i].factor;
    }
    return NAN;
}

/* As long as no list can have run dry, if all are of one length: the first so many intervals. */
static double early_factor(const lbi_progress *p) {
    uint32_t ends = p->tasks / p->cores;
    double work = 0, length = 0;
    for (uint32_t first = 0; first < ends; first++) {
        size_t from = first == 0 ? 0 : p->end[first - 1], to = p->end[first];
        work += progress_of_all(p, first, from, to);
        length += p->time[to] - p->time[from];
    }
    return p->cores * length / work;
}

void lbi_progress_scale(lbi_progress *p, double factor) {
    for (size_t j = 0; j < p->bounds * p->tasks; j++)
        p->done[j] *= factor;
    p->unit_work *= factor;
    p->grain *= factor;
    p->factor *= factor;
}

/* The mean CPU time of a unit; 0: some are not known. */
static double mean_cpu_time(const lb_unit *units, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        if (units[i].cpu_ns < 0)
            return 0;
        sum += seconds(units[i].cpu_ns);
    }
    return sum / (double)n;
}

/* How much work units of equal length do beside each other: neighbouring windows of one interval
 * tell. Rotation moves some of them apart, so that a low quantile is taken. */
static double unit_spread(const lbi_progress *p, double *values, size_t room) {
    size_t count = 0;
    uint32_t ended = 0;
    for (size_t k = 0; k + 2 < p->bounds; k++) {
        while (ended < p->tasks && p->end[ended] <= k)
            ended++;
        if (ended < p->tasks && p->end[ended] == k + 1)
            continue;
        double first = p->time[k + 1] - p->time[k], second = p->time[k + 2] - p->time[k + 1];
        if (fabs(first / second - 1) > 1e-6)
            continue;
        for (uint32_t i = 0; i < p->tasks && count < room; i++) {
            double done = lbi_done(p, i, k, k + 2), seen = lbi_seen(p, i, k, k + 2);
            if (p->end[i] < k + 2 || seen < 0.9 * (first + second) || done <= 0)
                continue;
            double off = lbi_done(p, i, k + 1, k + 2) - lbi_done(p, i, k, k + 1);
            values[count++] = (off * off - 6 * p->grain * p->grain) / (p->unit_work * done);
        }
    }
    if (count < SPREAD_COUNT)
        return SPREAD_LEAST;
    qsort(values, count, sizeof *values, by_value);
    double variance = values[(size_t)(0.4 * (double)count)] / 0.275;
    return fmin(fmax(sqrt(fmax(variance, 0)), SPREAD_LEAST), SPREAD_MOST);
}

static void count_observed(lbi_progress *p) {
    size_t count = 0;
    uint32_t first = 0;
    for (size_t k = 0; k < p->bounds; k++) {
        p->observed[k] = count;
        while (first < p->tasks && p->end[first] <= k)
            first++;
        for (uint32_t i = first; i < p->tasks && k + 1 < p->bounds; i++)
            count += lbi_seen(p, i, k, k + 1) > 0;
    }
}

lb_status lbi_progress_make(lbi_progress *ret_progress, uint32_t cores, double unit_work,
                            const lb_unit *units, size_t n, lb_error *err) {
    lbi_progress *p = ret_progress;
    *p = (lbi_progress){.cores = cores, .units = n, .least = INFINITY, .factor = 1};
    if (n == 0) {
        p->unusable = LBI_NO_UNITS;
        return LB_OK;
    }
    lb_status status = LB_OK;
    p->tasks = (uint32_t)count_tasks(units, n);
    coarseness c = {0};
    histogram *histograms = NULL;
    share *shares = NULL;
    size_t blocks = n / BLOCK + p->tasks + 1;
    span *spans = lbi_array_new(p->tasks, sizeof *spans);
    if (spans == NULL)
        return lbi_error_nomem(err, "tasks");
    find_spans(units, n, spans);
    qsort(spans, p->tasks, sizeof *spans, by_end);
    p->unusable = judge_ends(p, spans);
    if (p->unusable == LBI_USABLE && (size_t)p->tasks * (p->tasks + 1) > CELLS_MAX)
        p->unusable = LBI_TOO_LARGE;
    if (p->unusable != LBI_USABLE)
        goto out;

    p->number = lbi_array_new(p->tasks, sizeof *p->number);
    p->end = lbi_array_new(p->tasks, sizeof *p->end);
    histograms = calloc(2, sizeof *histograms);
    c.typical = lbi_array_new(blocks, sizeof *c.typical);
    c.stretch = lbi_array_new(blocks, sizeof *c.stretch);
    if (p->number == NULL || p->end == NULL || histograms == NULL || c.typical == NULL ||
        c.stretch == NULL) {
        status = lbi_error_nomem(err, "tasks");
        goto out;
    }
    for (uint32_t i = 0; i < p->tasks; i++)
        p->number[i] = spans[i].number;
    histogram_clear(&histograms[0]);
    histogram_clear(&histograms[1]);
    measure_blocks(p, units, spans, &histograms[0], &histograms[1], &c);
    status = place_bounds(p, spans, err);
    if (status != LB_OK)
        goto out;
    p->done = lbi_array_new(p->bounds * p->tasks, sizeof *p->done);
    p->seen = lbi_array_new(p->bounds * p->tasks, sizeof *p->seen);
    p->observed = lbi_array_new(p->bounds, sizeof *p->observed);
    shares = lbi_array_new(p->tasks, sizeof *shares);
    if (p->observed == NULL || p->done == NULL || p->seen == NULL || shares == NULL) {
        status = lbi_error_nomem(err, "progress");
        goto out;
    }
    double mean_cpu = mean_cpu_time(units, n);
    p->unit_work = mean_cpu > 0 ? mean_cpu : 1;
    p->grain *= GRAIN * p->unit_work;
    p->disorder = (lbi_disorder){.unit_work = p->unit_work, .grain = p->grain};
    size_t block = 0;
    for (uint32_t i = 0; i < p->tasks; i++) {
        fill_task(p, i, units + spans[i].first, spans[i].count, c.typical + block, mean_cpu);
        for (size_t at = 0; at < spans[i].count; at += block_length(spans[i].count - at))
            block++;
    }
    double *values = lbi_array_new(SPREAD_ROOM, sizeof *values);
    if (values == NULL) {
        status = lbi_error_nomem(err, "progress");
        goto out;
    }
    count_observed(p);
    p->unit_spread = unit_spread(p, values, SPREAD_ROOM);
    free(values);
    propose(p, early_factor(p));
    propose(p, common_factor(p, shares));
    p->known_scale = mean_cpu > 0 ? 1 : unit_work / p->unit_work;
    propose(p, p->known_scale);
    if (p->scales == 0)
        p->unusable = LBI_TOO_COARSE;
out:
    free(c.typical);
    free(c.stretch);
    free(histograms);
    free(shares);
    free(spans);
    return status;
}

void lbi_progress_free(lbi_progress *progress) {
    free(progress->number);
    free(progress->time);
    free(progress->done);
    free(progress->seen);
    free(progress->end);
    free(progress->observed);
    *progress = (lbi_progress){0};
}
