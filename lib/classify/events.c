/* SPDX-License-Identifier: BSD-3-Clause */
/* lb_trace_events(): which events start balancing, and who moves then. */
#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "classify/whereabouts.h"
#include "trace/tasks.h"

/* Marks so close are one event: what is done to many tasks takes its time. */
#define TOGETHER INT64_C(20000000)

enum {
    EVENTS,
    FOLLOWED,
    CONTROL,
    MOVES,
    TO_IDLE,
    FROM_LONGEST,
    FROM_OTHER,
    FIRST,
    LAST,
    NEITHER,
    PLACED,
    COLUMNS
};
static const char *const columns[COLUMNS] = {"events",  "followed",     "control",    "moves",
                                             "to_idle", "from_longest", "from_other", "first",
                                             "last",    "neither",      "placed"};

static const struct kind {
    lb_mark_kind kind;
    const char *name;
} kinds[] = {{LB_MARK_END, "end"},
             {LB_MARK_SLEEP, "sleep"},
             {LB_MARK_WAKE, "wake"},
             {LB_MARK_FORK, "fork"},
             {LB_MARK_UNPIN, "unpin"}};
enum {
    KINDS = sizeof kinds / sizeof *kinds
};

/* A task that came to another core. */
typedef struct move {
    int64_t time;
    size_t slice; /* its first one there */
} move;

static int by_time(const void *a, const void *b) {
    int64_t x = ((const move *)a)->time, y = ((const move *)b)->time;
    return x < y ? -1 : x > y;
}

static bool is_listed(const lbi_whereabouts *w, uint32_t task, int64_t time, uint32_t core,
                      size_t *ret_slice) {
    *ret_slice = lbi_whereabouts_at(w, task, time);
    return *ret_slice != SIZE_MAX && w->slices[*ret_slice].core == (int32_t)core &&
           lbi_whereabouts_mark(w, task, time, LB_MARK_SLEEP, LB_MARK_WAKE) != LB_MARK_SLEEP;
}

static bool is_bound(const lbi_whereabouts *w, uint32_t task, int64_t time) {
    return lbi_whereabouts_mark(w, task, time, LB_MARK_PIN, LB_MARK_UNPIN) == LB_MARK_PIN;
}

static size_t length(const lbi_whereabouts *w, uint32_t core, int64_t time) {
    size_t n = 0, slice;
    for (uint32_t task = 0; task < w->tasks; task++)
        n += is_listed(w, task, time, core, &slice);
    return n;
}

/* What a move tells of the choice behind it: the lists are those just before. */
static void count_choice(const lbi_whereabouts *w, const move *m, double *row) {
    const lb_slice *to = &w->slices[m->slice], *from = to - 1;
    int64_t before = to->start_ns - 1;
    size_t given = length(w, (uint32_t)from->core, before);
    bool longest = true, older = false, younger = false;
    for (uint32_t core = 0; core < w->cores && longest; core++)
        longest = length(w, core, before) <= given;
    int64_t since = lbi_whereabouts_since(w, m->slice - 1);
    for (uint32_t task = 0; task < w->tasks; task++) {
        size_t slice;
        if (task == to->task || !is_listed(w, task, before, (uint32_t)from->core, &slice))
            continue;
        int64_t other = lbi_whereabouts_since(w, slice);
        older = older || other < since;
        younger = younger || other > since;
    }
    row[MOVES]++;
    row[TO_IDLE] += length(w, (uint32_t)to->core, before) == 0;
    row[longest ? FROM_LONGEST : FROM_OTHER]++;
    row[older == younger ? NEITHER : younger ? FIRST : LAST]++;
}

/* Moves that the system made of its own accord: not those of a task that was bound, nor where one
 * comes to that slept. */
static lb_status find_moves(const lbi_whereabouts *w, move **ret_moves, size_t *ret_n,
                            lb_error *err) {
    move *moves = lbi_array_new(w->slice_count, sizeof *moves);
    size_t n = 0;
    if (moves == NULL)
        return lbi_error_nomem(err, "the moves");
    for (size_t i = 1; i < w->slice_count; i++) {
        const lb_slice *slice = &w->slices[i];
        if (slice->task == slice[-1].task && slice->core != slice[-1].core &&
            !is_bound(w, slice->task, slice->start_ns))
            moves[n++] = (move){slice->start_ns, i};
    }
    qsort(moves, n, sizeof *moves, by_time);
    *ret_moves = moves;
    *ret_n = n;
    return LB_OK;
}

static const struct kind *kind_of(const lb_mark *mark) {
    for (int i = 0; i < KINDS; i++)
        if (mark->kind == (int32_t)kinds[i].kind)
            return &kinds[i];
    return NULL;
}

/* One event, from marks[first] to before marks[end], with the time until the next: whether somebody
 * moved in its first half, and, for comparison, in the second. */
static void count_event(const lbi_whereabouts *w, size_t first, size_t end, int64_t until,
                        const move *moves, size_t n, double *row) {
    const lb_mark *mark = &w->marks[end - 1];
    int64_t from = w->marks[first].time_ns, half = mark->time_ns + (until - mark->time_ns) / 2;
    bool followed = false, control = false, placed = false;
    for (size_t i = 0; i < n; i++) {
        const lb_slice *slice = &w->slices[moves[i].slice];
        if (moves[i].time <= from || moves[i].time > until)
            continue;
        bool own = slice->task == mark->task && mark->kind == LB_MARK_WAKE &&
                   slice[-1].end_ns <= mark->time_ns;
        if (own) {
            placed = true;
        } else if (moves[i].time <= half) {
            followed = true;
            count_choice(w, &moves[i], row);
        } else {
            control = true;
        }
    }
    row[EVENTS]++;
    row[FOLLOWED] += followed;
    row[CONTROL] += control;
    row[PLACED] += placed;
}

static void count_all(const lbi_whereabouts *w, const move *moves, size_t n,
                      double rows[KINDS][COLUMNS]) {
    int64_t last = INT64_MIN;
    for (size_t i = 0; i < w->slice_count; i++)
        last = w->slices[i].end_ns > last ? w->slices[i].end_ns : last;
    for (size_t first = 0, end; first < w->mark_count; first = end) {
        const lb_mark *mark = &w->marks[first];
        for (end = first + 1; end < w->mark_count; end++)
            if (w->marks[end].kind != mark->kind ||
                (uint64_t)w->marks[end].time_ns - (uint64_t)w->marks[end - 1].time_ns > TOGETHER)
                break;
        int64_t until = end < w->mark_count ? w->marks[end].time_ns : last;
        const struct kind *kind = kind_of(mark);
        /* What was done before the first slice is the arranging of the start. */
        if (kind != NULL && mark->time_ns >= 0 && until > w->marks[end - 1].time_ns)
            count_event(w, first, end, until, moves, n, rows[kind - kinds]);
    }
}

lb_status lb_trace_events(const lb_trace *trace, lb_table **ret_table, lb_error *err) {
    if (!lbi_trace_sealed(trace))
        return lbi_error(err, LB_ERR_INVALID,
                         "the trace is not sealed: call lb_trace_seal() first");
    lbi_whereabouts where = {0};
    move *moves = NULL;
    lb_table *table = NULL;
    size_t n = 0;
    double rows[KINDS][COLUMNS] = {{0}};
    lb_status status = lbi_whereabouts_make(trace, &where, err);
    if (status == LB_OK)
        status = find_moves(&where, &moves, &n, err);
    if (status == LB_OK)
        status = lb_table_new(columns, COLUMNS, &table, err);
    if (status == LB_OK && where.slice_count > 0)
        count_all(&where, moves, n, rows);
    for (int i = 0; i < KINDS && status == LB_OK; i++)
        status = lb_table_add_row(table, kinds[i].name, rows[i], err);
    if (status == LB_OK)
        status = lb_table_set_meta(table, "source", where.slice_count > 0 ? "slices" : "none", err);
    if (status == LB_OK)
        *ret_table = table;
    else
        lb_table_free(table);
    free(moves);
    lbi_whereabouts_free(&where);
    return status;
}
