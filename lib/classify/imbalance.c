/* SPDX-License-Identifier: BSD-3-Clause */
#include "classify/imbalance.h"

#include <math.h>
#include <stdlib.h>

#include "base/array.h"

enum {
    APART,
    IDLE
};

static bool add(lbi_imbalances *list, const lbi_imbalance *item) {
    if (!lbi_array_reserve(&list->items, &list->capacity, list->count + 1, sizeof *list->items))
        return false;
    list->items[list->count++] = *item;
    return true;
}

static bool is_open(const lbi_imbalance *i) {
    return i->watched >= 0;
}

static uint32_t shortest_core(const lbi_occupancy *o) {
    uint32_t core = 0;
    while (core + 1 < o->seen && o->size[core] > o->shortest)
        core++;
    return core;
}

static void open_one(lbi_imbalance_watch *w, const lbi_occupancy *o, int kind) {
    w->open[kind] = (lbi_imbalance){.cause = w->cause,
                                    .idle = kind == IDLE,
                                    .longest = o->longest,
                                    .shortest = o->shortest,
                                    .core = shortest_core(o),
                                    .time = w->time,
                                    .latency = NAN,
                                    .least = NAN,
                                    .most = NAN};
}

/* It is over, by a move or by an event. Who came to an idle core ran at once, so slices show when
 * that was; elsewhere the mover waited for its turn, and came at some time before. */
static bool close_one(lbi_imbalance_watch *w, int kind, double time, const lbi_change *move,
                      bool exact) {
    lbi_imbalance item = w->open[kind];
    w->open[kind].watched = -1;
    item.watched = time - item.time;
    item.balanced = move != NULL;
    if (move != NULL) {
        item.most = item.watched;
        item.least = exact && move->filled ? item.most : fmax(move->last_seen - item.time, 0);
        item.least = fmin(item.least, item.most);
        item.latency = item.least + (item.most - item.least) / 2;
    }
    return add(w->list, &item);
}

bool lbi_imbalance_look(lbi_imbalance_watch *w, const lbi_occupancy *o, const lbi_sighting *s,
                        const lbi_change *change, bool slices) {
    /* What follows is the doing of whoever bound the task: nothing that was open is waited for. */
    bool binds = s->kind == LBI_SIGHT_PIN;
    bool now[2] = {!binds && lbi_lists_apart(o), !binds && lbi_one_idles(o)};
    if (!w->began) {
        w->open[APART].watched = w->open[IDLE].watched = -1;
        w->began = true;
    }
    if (change->event) {
        w->cause = s->kind;
        w->time = s->time;
    } else if (!change->moved && !binds) {
        return true;
    }
    for (int kind = APART; kind <= IDLE; kind++)
        if (is_open(&w->open[kind]) && !now[kind] &&
            !close_one(w, kind, s->time, change->moved ? change : NULL, slices))
            return false;
    for (int kind = APART; kind <= IDLE; kind++) {
        /* What a move left over is the same event's doing. */
        bool arises = change->event || (kind == APART && change->filled);
        if (arises && now[kind] && !is_open(&w->open[kind]))
            open_one(w, o, kind);
    }
    return true;
}

bool lbi_imbalance_finish(lbi_imbalance_watch *w, double time) {
    for (int kind = APART; w->began && kind <= IDLE; kind++)
        if (is_open(&w->open[kind]) && !close_one(w, kind, time, NULL, false))
            return false;
    return true;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double lbi_constant_delay(const lbi_imbalance *items, size_t n, double *workspace,
                          double *ret_part) {
    double *least = workspace, *most = workspace + n;
    size_t balanced = 0, passed = 0, best_agree = 0;
    double best = NAN;
    for (size_t i = 0; i < n; i++) {
        if (!items[i].balanced)
            continue;
        least[balanced] = items[i].least;
        most[balanced++] = items[i].most;
    }
    qsort(least, balanced, sizeof *least, ascending);
    qsort(most, balanced, sizeof *most, ascending);
    /* The most intervals overlap where one of them begins. */
    for (size_t i = 0; i < balanced; i++) {
        while (most[passed] < least[i])
            passed++;
        if (i + 1 - passed > best_agree) {
            best_agree = i + 1 - passed;
            best = least[i];
        }
    }
    *ret_part = balanced > 0 ? (double)best_agree / (double)balanced : 0;
    return best;
}
