/* SPDX-License-Identifier: BSD-3-Clause */
/* Each task's sightings are in order; a tournament merges the tasks, so that a trace is never
 * sorted and nothing is kept that grows with its length. */
#include "classify/sightings.h"

#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "trace/tasks.h"

/* Between two units so far apart, of which none was lost, a task slept. Clock readings alone put
 * microseconds between them. */
#define SLEEP_LEAST_S 1e-3

static double seconds(const lbi_sightings *s, int64_t time_ns) {
    return lbi_seconds_between(s->origin_ns, time_ns);
}

/* ---- one task ---- */

static uint32_t core_of(int32_t core) {
    return core < 0 ? LBI_CORE_UNKNOWN : (uint32_t)core;
}

/* The run that is next, from slices: the whole slice. */
static bool next_slice(const lbi_sightings *s, const lbi_cursor *c, lbi_sighting *run) {
    if (c->run >= c->slice_count)
        return false;
    const lb_slice *slice = &c->slices[c->run];
    run->time = seconds(s, slice->start_ns);
    run->until = seconds(s, slice->end_ns);
    run->core = core_of(slice->core);
    run->busy = run->until - run->time;
    return true;
}

/* From units: all of one that began and ended on one core, else its two ends. */
static bool next_unit_end(const lbi_sightings *s, lbi_cursor *c, lbi_sighting *run) {
    for (; c->run < 2 * c->unit_count; c->run++) {
        const lb_unit *unit = &c->units[c->run / 2];
        bool at_end = c->run % 2 == 1;
        if (unit->core_start == unit->core_end && unit->core_start >= 0) {
            if (at_end)
                continue;
            run->time = seconds(s, unit->start_ns);
            run->until = seconds(s, unit->end_ns);
            run->core = core_of(unit->core_start);
            return true;
        }
        int32_t core = at_end ? unit->core_end : unit->core_start;
        if (core < 0)
            continue;
        run->time = run->until = seconds(s, at_end ? unit->end_ns : unit->start_ns);
        run->core = core_of(core);
        return true;
    }
    return false;
}

static bool next_run(const lbi_sightings *s, lbi_cursor *c, lbi_sighting *run) {
    run->kind = LBI_SIGHT_RUN;
    return s->slices ? next_slice(s, c, run) : next_unit_end(s, c, run);
}

/* The next falling asleep, or waking, that a gap between units shows. */
static bool next_gap(const lbi_sightings *s, lbi_cursor *c, lbi_sighting *gap) {
    if (c->sleeping) {
        *gap = (lbi_sighting){.kind = LBI_SIGHT_WAKE, .core = LBI_CORE_UNKNOWN};
        gap->time = gap->until = seconds(s, c->units[c->unit + 1].start_ns);
        return true;
    }
    for (; c->unit + 1 < c->unit_count; c->unit++) {
        const lb_unit *unit = &c->units[c->unit];
        if (unit[1].index != unit->index + 1 ||
            lbi_seconds_between(unit->end_ns, unit[1].start_ns) < SLEEP_LEAST_S)
            continue;
        *gap = (lbi_sighting){.kind = LBI_SIGHT_SLEEP, .core = LBI_CORE_UNKNOWN};
        gap->time = gap->until = seconds(s, unit->end_ns);
        return true;
    }
    return false;
}

static bool earlier(double a_time, uint32_t a_kind, uint32_t a_task, double b_time, uint32_t b_kind,
                    uint32_t b_task) {
    if (a_time != b_time)
        return a_time < b_time;
    if (a_kind != b_kind)
        return a_kind < b_kind;
    return a_task < b_task;
}

/* Whether `a` comes before `b`. */
static bool is_before(const lbi_sighting *a, const lbi_sighting *b) {
    return earlier(a->time, a->kind, a->task, b->time, b->kind, b->task);
}

/* Makes one sighting of a run and those that follow on the same core, as far as the task does not
 * sleep between them. */
static void join_stay(const lbi_sightings *s, lbi_cursor *c, lbi_sighting *stay,
                      const lbi_sighting *gap) {
    lbi_sighting next = {.task = stay->task};
    for (size_t at = c->run;; at = c->run) {
        c->run++;
        if (!next_run(s, c, &next) || next.core != stay->core ||
            (gap != NULL && !is_before(&next, gap))) {
            c->run = at;
            return;
        }
        stay->until = next.until;
        stay->busy += next.busy;
    }
}

static int64_t start_ns(const lbi_cursor *c) {
    int64_t start = INT64_MAX;
    if (c->unit_count > 0)
        start = c->units[0].start_ns;
    if (c->slice_count > 0 && c->slices[0].start_ns < start)
        start = c->slices[0].start_ns;
    return start;
}

static int64_t end_ns(const lbi_cursor *c) {
    int64_t end = INT64_MIN;
    if (c->unit_count > 0)
        end = c->units[c->unit_count - 1].end_ns;
    if (c->slice_count > 0 && c->slices[c->slice_count - 1].end_ns > end)
        end = c->slices[c->slice_count - 1].end_ns;
    return end;
}

/* Sets what the task shows next, and where it runs thereafter; false: it has ended. */
static bool look(const lbi_sightings *s, lbi_cursor *c) {
    uint32_t task = c->next.task;
    lbi_sighting run = {.task = task}, gap = {.task = task};
    if (c->done)
        return false;
    bool has_run = next_run(s, c, &run), has_gap = next_gap(s, c, &gap);
    run.task = gap.task = task;
    if (!c->begun) {
        c->next = (lbi_sighting){.kind = LBI_SIGHT_BEGIN,
                                 .time = seconds(s, start_ns(c)),
                                 .task = task,
                                 .core = has_run ? run.core : LBI_CORE_UNKNOWN};
        return true;
    }
    has_run = has_run && s->grain != LBI_NO_RUNS;
    if (!has_run && !has_gap)
        c->next =
            (lbi_sighting){.kind = LBI_SIGHT_END, .time = seconds(s, end_ns(c)), .task = task};
    else if (has_run && (!has_gap || is_before(&run, &gap))) {
        if (s->grain == LBI_EACH_STAY)
            join_stay(s, c, &run, has_gap ? &gap : NULL);
        c->next = run;
    } else
        c->next = gap;
    if (c->next.kind == LBI_SIGHT_WAKE && has_run)
        c->next.core = run.core;
    return true;
}

static void consume(lbi_cursor *c) {
    switch (c->next.kind) {
    case LBI_SIGHT_BEGIN:
        c->begun = true;
        break;
    case LBI_SIGHT_RUN:
        c->run++;
        break;
    case LBI_SIGHT_SLEEP:
        c->sleeping = true;
        break;
    case LBI_SIGHT_WAKE:
        c->sleeping = false;
        c->unit++;
        break;
    default:
        c->done = true;
        break;
    }
}

/* ---- all tasks ---- */

/* The task's next sighting goes up as long as it wins; who loses stays where it lost. */
static void play(lbi_sightings *s, lbi_entry entry) {
    uint32_t task = entry.task;
    for (uint32_t node = (task + s->tasks) / 2; node > 0; node /= 2) {
        lbi_entry *other = &s->match[node];
        if (earlier(other->time, other->kind, other->task, entry.time, entry.kind, entry.task)) {
            lbi_entry winner = *other;
            *other = entry;
            entry = winner;
        }
    }
    s->match[0] = entry;
}

static lbi_entry entry_of(const lbi_sightings *s, uint32_t task, bool ended) {
    const lbi_sighting *next = &s->cursors[task].next;
    return (lbi_entry){ended ? INFINITY : next->time, next->kind, task};
}

void lbi_sightings_rewind(lbi_sightings *s, lbi_grain grain) {
    s->mark = 0;
    s->grain = grain;
    /* Those who win against everybody are on their way out until all have played. */
    for (uint32_t i = 0; i < s->tasks; i++)
        s->match[i] = (lbi_entry){-INFINITY, 0, 0};
    for (uint32_t i = 0; i < s->tasks; i++) {
        lbi_cursor *c = &s->cursors[i];
        c->unit = c->run = 0;
        c->begun = c->sleeping = c->done = false;
        c->next.task = i;
        bool more = look(s, c);
        play(s, entry_of(s, i, !more));
    }
}

/* Which of the tasks has a number; UINT32_MAX: none. */
static uint32_t find_task(const lbi_sightings *s, uint32_t number) {
    uint32_t low = 0, high = s->tasks;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (s->cursors[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < s->tasks && s->cursors[low].number == number ? low : UINT32_MAX;
}

/* The next mark that says something that units and slices do not; false: none. A task that is told
 * to end, or is put to sleep, has its unit to finish. */
static bool peek_mark(lbi_sightings *s, lbi_sighting *ret) {
    for (; s->mark < s->mark_count; s->mark++) {
        const lb_mark *m = &s->marks[s->mark];
        bool pin = m->kind == LB_MARK_PIN;
        uint32_t task = pin || m->kind == LB_MARK_UNPIN ? find_task(s, m->task) : UINT32_MAX;
        if (task == UINT32_MAX)
            continue;
        *ret = (lbi_sighting){
            .kind = pin ? LBI_SIGHT_PIN : LBI_SIGHT_UNPIN, .task = task, .core = LBI_CORE_UNKNOWN};
        ret->time = ret->until = seconds(s, m->time_ns);
        return true;
    }
    return false;
}

bool lbi_sightings_next_of(lbi_sightings *s, uint32_t task, lbi_sighting *ret_sighting) {
    lbi_cursor *c = &s->cursors[task];
    if (c->done)
        return false;
    *ret_sighting = c->next;
    consume(c);
    look(s, c);
    return true;
}

bool lbi_sightings_next(lbi_sightings *s, lbi_sighting *ret_sighting) {
    lbi_sighting mark;
    if (s->tasks == 0 || s->match[0].time == INFINITY)
        return false;
    uint32_t task = s->match[0].task;
    lbi_cursor *c = &s->cursors[task];
    if (peek_mark(s, &mark) && is_before(&mark, &c->next)) {
        s->mark++;
        *ret_sighting = mark;
        return true;
    }
    lbi_sightings_next_of(s, task, ret_sighting);
    play(s, entry_of(s, task, c->done));
    return true;
}

static uint32_t count_tasks(const lb_trace *trace) {
    uint32_t tasks = 0;
    for (lbi_task task = {0}; lbi_trace_next_task(trace, &task);)
        tasks++;
    return tasks;
}

/* Takes a core that was seen into account; false: there are too many. */
static bool saw(lbi_sightings *s, int32_t core) {
    if (core >= 0 && (uint32_t)core >= s->cores_seen)
        s->cores_seen = (uint32_t)core + 1;
    return s->cores_seen <= LBI_SIGHT_CORES_MAX;
}

/* Whether every task is seen somewhere. */
static bool all_seen(lbi_sightings *s) {
    bool few = true;
    for (uint32_t i = 0; i < s->tasks; i++) {
        const lbi_cursor *c = &s->cursors[i];
        bool seen = false;
        for (size_t j = 0; s->slices && j < c->slice_count; j++) {
            few = saw(s, c->slices[j].core) && few;
            seen = true;
        }
        for (size_t j = 0; !s->slices && j < c->unit_count; j++) {
            few = saw(s, c->units[j].core_start) && saw(s, c->units[j].core_end) && few;
            seen = seen || c->units[j].core_start >= 0 || c->units[j].core_end >= 0;
        }
        /* One that was there for no time matters to nobody. */
        if (!seen && lbi_seconds_between(start_ns(c), end_ns(c)) > SLEEP_LEAST_S)
            return false;
    }
    return few && s->cores_seen > 0;
}

lb_status lbi_sightings_begin(const lb_trace *trace, lbi_sightings *ret_sightings, lb_error *err) {
    size_t slices;
    lb_trace_slices(trace, &slices);
    lbi_sightings *s = ret_sightings;
    *s = (lbi_sightings){.slices = slices > 0, .tasks = count_tasks(trace)};
    s->marks = lb_trace_marks(trace, &s->mark_count);
    s->cursors = lbi_array_new(s->tasks, sizeof *s->cursors);
    s->match = lbi_array_new(s->tasks, sizeof *s->match);
    if (s->cursors == NULL || s->match == NULL)
        return lbi_error_nomem(err, "where tasks were seen");
    uint32_t at = 0;
    s->origin_ns = INT64_MAX;
    for (lbi_task task = {0}; lbi_trace_next_task(trace, &task);) {
        lbi_cursor *c = &s->cursors[at++];
        *c = (lbi_cursor){.units = task.units,
                          .slices = task.slices,
                          .unit_count = task.unit_count,
                          .slice_count = task.slice_count,
                          .number = task.task};
        s->origin_ns = start_ns(c) < s->origin_ns ? start_ns(c) : s->origin_ns;
    }
    s->known = all_seen(s);
    lbi_sightings_rewind(s, LBI_EACH_STAY);
    return LB_OK;
}

void lbi_sightings_free(lbi_sightings *s) {
    free(s->cursors);
    free(s->match);
    *s = (lbi_sightings){0};
}
