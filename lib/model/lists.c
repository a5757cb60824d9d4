/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of processes that progress together: a sorted run and a heap by tag each, in one arena that
 * all share, so that a process can always move without memory being asked for. */
#include "engine.h"

#include <string.h>

/* ---- the arena ---- */

static void link_last(lbi_engine *engine, uint32_t list) {
    lbi_list *lists = engine->lists;
    lists[list].before = engine->last_in_arena;
    lists[list].behind = LBI_ANY_CORE;
    if (engine->last_in_arena == LBI_ANY_CORE)
        engine->first_in_arena = list;
    else
        lists[engine->last_in_arena].behind = list;
    engine->last_in_arena = list;
}

static void unlink_from_arena(lbi_engine *engine, uint32_t list) {
    lbi_list *lists = engine->lists;
    uint32_t before = lists[list].before, behind = lists[list].behind;
    if (before == LBI_ANY_CORE)
        engine->first_in_arena = behind;
    else
        lists[before].behind = behind;
    if (behind == LBI_ANY_CORE)
        engine->last_in_arena = before;
    else
        lists[behind].before = before;
}

static void shift(lbi_engine *engine, lbi_list *list, uint32_t to) {
    memmove(engine->arena + to, engine->arena + list->begin,
            lbi_list_extent(list) * sizeof *engine->arena);
    list->begin = to;
}

/* Packs all lists and gives each a share of half of what is free; the other half stays at the end
 * for short lists to move to, so that packing is rare. */
static void pack(lbi_engine *engine) {
    uint32_t used = 0;
    for (uint32_t i = engine->first_in_arena; i != LBI_ANY_CORE; i = engine->lists[i].behind) {
        shift(engine, &engine->lists[i], used);
        used += lbi_list_extent(&engine->lists[i]);
    }
    double slack = (engine->arena_size - used) / 2.0 / ((double)used + (double)engine->list_count);
    /* From the last to the first, so that nothing is overwritten. */
    uint32_t end = used;
    for (uint32_t i = engine->last_in_arena; i != LBI_ANY_CORE; i = engine->lists[i].before) {
        lbi_list *list = &engine->lists[i];
        uint32_t extent = lbi_list_extent(list);
        list->room = extent + (uint32_t)((extent + 1.0) * slack);
        end += list->room - extent;
    }
    engine->arena_used = end;
    for (uint32_t i = engine->last_in_arena; i != LBI_ANY_CORE; i = engine->lists[i].before) {
        end -= engine->lists[i].room;
        shift(engine, &engine->lists[i], end);
    }
}

static void make_room(lbi_engine *engine, uint32_t index) {
    lbi_list *list = &engine->lists[index];
    uint32_t extent = lbi_list_extent(list);
    while (extent == list->room) {
        uint32_t room = extent + extent / 2 + 4;
        if (room <= engine->arena_size - engine->arena_used) {
            unlink_from_arena(engine, index);
            link_last(engine, index);
            shift(engine, list, engine->arena_used);
            list->room = room;
            engine->arena_used += room;
        } else
            pack(engine);
    }
}

void lbi_lists_reset(lbi_engine *engine) {
    uint32_t count = engine->list_count;
    /* Room for an even deal; processor sharing begins with all in its list 0. */
    uint32_t even = engine->shared ? 0 : (uint32_t)(engine->capacity / count) + 2;
    engine->arena_used = 0;
    engine->first_in_arena = engine->last_in_arena = LBI_ANY_CORE;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t room = engine->shared ? (uint32_t)engine->capacity + 1 : even;
        if (engine->shared && i == 1)
            room = 4;
        engine->lists[i] = (lbi_list){.next = {INFINITY, 0},
                                      .begin = engine->arena_used,
                                      .room = room,
                                      .oldest = LBI_ANY_CORE,
                                      .newest = LBI_ANY_CORE};
        engine->arena_used += room;
        link_last(engine, i);
    }
    for (uint32_t i = 0; i < engine->next_size; i++)
        engine->next_tree[i] = INFINITY;
    if (!engine->shared)
        lbi_lengths_reset(engine);
}

/* ---- the heap, four children to a node; positions in it ---- */

static inline void put(lbi_engine *engine, const lbi_list *list, uint32_t position,
                       lbi_entry entry) {
    engine->arena[list->begin + position] = entry;
    if (engine->tracked)
        engine->places[entry.slot].position = position + list->dropped;
}

static void sift_up(lbi_engine *engine, const lbi_list *list, uint32_t position, lbi_entry entry) {
    uint32_t run = list->run;
    const lbi_entry *heap = engine->arena + list->begin + run;
    while (position > 0) {
        uint32_t parent = (position - 1) / 4;
        if (heap[parent].tag <= entry.tag)
            break;
        put(engine, list, run + position, heap[parent]);
        position = parent;
    }
    put(engine, list, run + position, entry);
}

/* The hole goes down to a leaf along the least children, and the entry, which mostly came from a
 * leaf, up from there: fewer comparisons, and hardly one that is hard to foresee. */
static void sift_down(lbi_engine *engine, const lbi_list *list, uint32_t position,
                      lbi_entry entry) {
    uint32_t run = list->run, length = lbi_list_extent(list) - run;
    const lbi_entry *heap = engine->arena + list->begin + run;
    uint32_t top = position, child;
    while ((child = 4 * position + 1) + 3 < length) {
        uint32_t left = child + (heap[child + 1].tag < heap[child].tag);
        uint32_t right = child + 2 + (heap[child + 3].tag < heap[child + 2].tag);
        uint32_t least = heap[right].tag < heap[left].tag ? right : left;
        put(engine, list, run + position, heap[least]);
        position = least;
    }
    if (child < length) {
        uint32_t least = child;
        for (uint32_t i = child + 1; i < length; i++)
            least = heap[i].tag < heap[least].tag ? i : least;
        put(engine, list, run + position, heap[least]);
        position = least;
    }
    while (position > top && entry.tag < heap[(position - 1) / 4].tag) {
        put(engine, list, run + position, heap[(position - 1) / 4]);
        position = (position - 1) / 4;
    }
    put(engine, list, run + position, entry);
}

static void sift(lbi_engine *engine, const lbi_list *list, uint32_t position, lbi_entry entry) {
    if (position > 0 && entry.tag < engine->arena[list->begin + list->run + (position - 1) / 4].tag)
        sift_up(engine, list, position, entry);
    else
        sift_down(engine, list, position, entry);
}

/* ---- a fresh list is sorted once ---- */

static bool comes_before(const lbi_entry *a, const lbi_entry *b) {
    return a->tag != b->tag ? a->tag < b->tag : a->number < b->number;
}

static void sink(lbi_entry *entries, size_t at, size_t count) {
    lbi_entry entry = entries[at];
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && comes_before(&entries[child], &entries[child + 1]))
            child++;
        if (!comes_before(&entry, &entries[child]))
            break;
        entries[at] = entries[child];
    }
    entries[at] = entry;
}

static void sort_entries(lbi_entry *entries, size_t count) {
    if (count > 32) { /* heap sort: in place, whatever the order */
        for (size_t i = count / 2; i > 0; i--)
            sink(entries, i - 1, count);
        for (size_t i = count - 1; i > 0; i--) {
            lbi_entry largest = entries[0];
            entries[0] = entries[i];
            entries[i] = largest;
            sink(entries, 0, i);
        }
        return;
    }
    for (size_t i = 1; i < count; i++) {
        lbi_entry entry = entries[i];
        size_t k = i;
        for (; k > 0 && comes_before(&entry, &entries[k - 1]); k--)
            entries[k] = entries[k - 1];
        entries[k] = entry;
    }
}

static void sort_fresh(lbi_engine *engine, lbi_list *list) {
    lbi_entry *entries = engine->arena + list->begin;
    sort_entries(entries, list->length);
    list->fresh = false;
    list->run = list->length;
    for (uint32_t i = 0; engine->tracked && i < list->length; i++)
        engine->places[entries[i].slot].position = i + list->dropped;
}

/* ---- the run before the heap ---- */

static bool is_mixed(const lbi_list *list) {
    return list->run > 0 && (list->dead > 0 || list->length > list->run);
}

/* Where the first to complete is. */
static uint32_t first_of(const lbi_engine *engine, const lbi_list *list) {
    const lbi_entry *entries = engine->arena + list->begin;
    if (list->run == 0 || list->run == lbi_list_extent(list))
        return 0;
    return entries[0].tag <= entries[list->run].tag ? 0 : list->run;
}

static void drop_first(lbi_list *list) {
    list->begin++;
    list->room--;
    list->dropped++;
    list->run--;
}

/* The living move up to the heap, whose positions so stay. */
static void bury(lbi_engine *engine, lbi_list *list) {
    lbi_entry *entries = engine->arena + list->begin;
    uint32_t to = list->run;
    for (uint32_t from = list->run; from-- > 0;)
        if (entries[from].slot != LBI_DEAD && --to != from)
            put(engine, list, to, entries[from]);
    list->begin += to;
    list->room -= to;
    list->dropped += to;
    list->run -= to;
    list->dead = 0;
}

static void make_heap(lbi_engine *engine, lbi_list *list) {
    uint32_t run = list->run, extent = lbi_list_extent(list);
    list->run = 0;
    for (uint32_t i = run; i < extent; i++)
        sift_up(engine, list, i, engine->arena[list->begin + i]);
}

/* When is a matter of the list alone and not of the room there is, since it decides what a draw
 * means. */
static void tidy(lbi_engine *engine, lbi_list *list) {
    if (!is_mixed(list))
        return;
    if (list->length <= LBI_LONG) {
        bury(engine, list);
        make_heap(engine, list);
    } else if (list->dead > list->run / 8)
        bury(engine, list);
}

uint32_t lbi_list_choose(lbi_engine *engine, uint32_t index) {
    const lbi_list *list = &engine->lists[index];
    if (list->dead == 0)
        return lbi_engine_choose(engine, list->length);
    const lbi_entry *entries = engine->arena + list->begin;
    uint32_t position;
    if (engine->script == NULL) {
        do
            position = lbi_engine_choose(engine, lbi_list_extent(list));
        while (entries[position].slot == LBI_DEAD);
        return position;
    }
    uint32_t number = lbi_engine_choose(engine, list->length);
    for (position = 0; number > 0 || entries[position].slot == LBI_DEAD; position++)
        number -= entries[position].slot != LBI_DEAD;
    return position;
}

/* ---- who came when ---- */

static void note_newest(lbi_engine *engine, lbi_list *list, uint32_t slot) {
    engine->either[slot].order.older = list->newest;
    engine->either[slot].order.newer = LBI_ANY_CORE;
    if (list->newest == LBI_ANY_CORE)
        list->oldest = slot;
    else
        engine->either[list->newest].order.newer = slot;
    list->newest = slot;
}

static void forget_order(lbi_engine *engine, lbi_list *list, uint32_t slot) {
    uint32_t older = engine->either[slot].order.older, newer = engine->either[slot].order.newer;
    if (older == LBI_ANY_CORE)
        list->oldest = newer;
    else
        engine->either[older].order.newer = newer;
    if (newer == LBI_ANY_CORE)
        list->newest = older;
    else
        engine->either[newer].order.older = older;
}

/* ---- lists ---- */

static void note_change(lbi_engine *engine, uint32_t index) {
    if (!engine->lists[index].changed) {
        engine->lists[index].changed = true;
        engine->changed[engine->changed_count++] = index;
    }
}

void lbi_list_sync(lbi_engine *engine, uint32_t index) {
    lbi_list *list = &engine->lists[index];
    double passed = lbi_twofold_minus(engine->now, list->time);
    if (passed > 0 && list->length > 0)
        list->virtual = lbi_twofold_plus(list->virtual, passed / list->pace);
    list->time = engine->now;
}

/* Virtual time that has grown large against what one second now adds to it costs digits: with
 * weights far apart it would come to swallow the work of a heavy newcomer. */
static void rebase_if_needed(lbi_engine *engine, uint32_t index) {
    lbi_list *list = &engine->lists[index];
    if (engine->weights == NULL || list->virtual.high * list->weight.high <=
                                       256 * engine->now.high * lbi_list_speed(engine, index))
        return;
    lbi_entry *entries = engine->arena + list->begin;
    for (uint32_t i = 0; i < lbi_list_extent(list); i++)
        entries[i].tag = (entries[i].tag - list->virtual.high) - list->virtual.low;
    list->virtual = lbi_twofold_of(0);
}

void lbi_list_insert(lbi_engine *engine, uint32_t index, uint32_t slot, double remaining) {
    lbi_list *list = &engine->lists[index];
    lbi_list_sync(engine, index);
    if (list->length == 0) {
        list->virtual = list->weight = lbi_twofold_of(0);
        list->fresh = true;
    } else if (list->run > 0 && list->length < LBI_LONG)
        list->run = 0;
    if (lbi_list_extent(list) == list->room)
        make_room(engine, index);
    double weight = lbi_list_share(engine, index, slot);
    list->weight = lbi_twofold_plus(list->weight, weight);
    rebase_if_needed(engine, index);
    double tag = list->virtual.high + (list->virtual.low + remaining / weight);
    if (tag < INFINITY)
        engine->finite++;
    engine->running++;
    if (engine->tracked)
        engine->places[slot].list = index;
    lbi_entry entry = {.tag = tag, .slot = slot, .number = list->length};
    if (list->fresh)
        put(engine, list, list->length, entry);
    else
        sift_up(engine, list, lbi_list_extent(list) - list->run, entry);
    if (engine->ordered)
        note_newest(engine, list, slot);
    if (engine->watch != NULL)
        lbi_watch_hop(engine->watch, engine->now.high, slot, index, true);
    if (engine->shared)
        list->length++;
    else
        lbi_lengths_grown(engine, index);
    note_change(engine, index);
}

void lbi_list_append(lbi_engine *engine, uint32_t index, uint32_t slot, double tag) {
    lbi_list *list = &engine->lists[index];
    if (list->length == list->room)
        make_room(engine, index);
    list->run++;
    if (engine->tracked)
        engine->places[slot].list = index;
    put(engine, list, list->length, (lbi_entry){.tag = tag, .slot = slot});
    engine->finite += tag < INFINITY;
    engine->running++;
    if (engine->tracked)
        engine->state[slot] = LBI_RUNNING;
    lbi_lengths_grown(engine, index);
    note_change(engine, index);
}

/* Closes the gap that an entry leaves; the list is one shorter already. */
static void close_gap(lbi_engine *engine, lbi_list *list, uint32_t position) {
    lbi_entry *entries = engine->arena + list->begin;
    uint32_t last = lbi_list_extent(list);
    if (position < list->run) {
        if (position == 0) {
            drop_first(list);
            for (; list->run > 0 && (++entries)->slot == LBI_DEAD; list->dead--)
                drop_first(list);
            return;
        }
        if (list->length >= LBI_LONG) {
            entries[position].slot = LBI_DEAD;
            list->dead++;
            return;
        }
        list->run = 0;
    }
    if (position == last)
        return;
    if (list->fresh)
        put(engine, list, position, entries[last]);
    else
        sift(engine, list, position - list->run, entries[last]);
}

/* Takes an entry out of a list whose progress is booked. */
static void remove_entry(lbi_engine *engine, uint32_t index, uint32_t position) {
    lbi_list *list = &engine->lists[index];
    lbi_entry gone = engine->arena[list->begin + position];
    if (engine->ordered)
        forget_order(engine, list, gone.slot);
    if (engine->watch != NULL)
        lbi_watch_hop(engine->watch, engine->now.high, gone.slot, index, false);
    if (engine->shared)
        list->length--;
    else
        lbi_lengths_shrunk(engine, index);
    if (gone.tag < INFINITY)
        engine->finite--;
    engine->running--;
    list->weight = list->length == 0
                       ? lbi_twofold_of(0)
                       : lbi_twofold_plus(list->weight, -lbi_list_share(engine, index, gone.slot));
    close_gap(engine, list, position);
    tidy(engine, list);
    note_change(engine, index);
}

double lbi_list_take(lbi_engine *engine, uint32_t index, uint32_t position) {
    lbi_list *list = &engine->lists[index];
    lbi_list_sync(engine, index);
    lbi_entry entry = engine->arena[list->begin + position];
    double left = (entry.tag - list->virtual.high) - list->virtual.low;
    remove_entry(engine, index, position);
    return left > 0 ? left * lbi_list_share(engine, index, entry.slot) : 0;
}

void lbi_list_retag(lbi_engine *engine, uint32_t index, uint32_t position, double remaining,
                    double weight_before) {
    lbi_list *list = &engine->lists[index];
    lbi_entry *heap = engine->arena + list->begin;
    uint32_t slot = heap[position].slot;
    double weight = lbi_list_share(engine, index, slot);
    if (weight != weight_before) {
        list->weight = lbi_twofold_plus(list->weight, -weight_before);
        list->weight = lbi_twofold_plus(list->weight, weight);
        rebase_if_needed(engine, index);
    }
    double tag = list->virtual.high + (list->virtual.low + remaining / weight);
    engine->finite += (tag < INFINITY);
    engine->finite -= (heap[position].tag < INFINITY);
    lbi_entry entry = {.tag = tag, .slot = slot, .number = heap[position].number};
    if (list->fresh) {
        put(engine, list, position, entry);
    } else {
        if (is_mixed(list)) {
            bury(engine, list);
            make_heap(engine, list);
            position = lbi_list_position(engine, slot);
        }
        list->run = 0;
        sift(engine, list, position, entry);
    }
    note_change(engine, index);
}

void lbi_list_complete(lbi_engine *engine, uint32_t index, double limit) {
    lbi_list *list = &engine->lists[index];
    lbi_list_sync(engine, index);
    double ahead = (limit - engine->now.high) - engine->now.low;
    double reach = list->virtual.high + (list->virtual.low + ahead / list->pace);
    uint32_t first = first_of(engine, list);
    do {
        uint32_t slot = engine->arena[list->begin + first].slot;
        engine->done[engine->done_count++] = slot;
        if (engine->tracked) /* else nobody asks */
            engine->state[slot] = LBI_ABSENT;
        remove_entry(engine, index, first);
        if (engine->shared)
            lbi_sharing_forget(engine, index, slot);
        first = first_of(engine, list);
    } while (list->length > 0 && engine->arena[list->begin + first].tag <= reach);
}

/* Below a node that is due, depth first. */
static void complete_below(lbi_engine *engine, uint32_t node, double limit) {
    if (node >= engine->next_leaf) {
        lbi_list_complete(engine, node - engine->next_leaf, limit);
        return;
    }
    node = lbi_next_children(node);
    const double *children = engine->next_tree + node;
    unsigned due = 0;
    for (unsigned k = 0; k < 8; k++)
        due |= (unsigned)(children[k] <= limit) << k;
    for (; due != 0; due >>= 1, node++)
        if (due & 1)
            complete_below(engine, node, limit);
}

void lbi_lists_complete(lbi_engine *engine, double limit) {
    complete_below(engine, LBI_NEXT_ROOT, limit);
}

void lbi_list_settle(lbi_engine *engine, uint32_t index, double pace) {
    lbi_list *list = &engine->lists[index];
    list->changed = false;
    if (list->fresh)
        sort_fresh(engine, list);
    list->pace = pace;
    if (engine->watch != NULL)
        lbi_watch_pace(engine->watch, engine->now.high, index, list->length == 0 ? 0 : 1 / pace);
    list->next = lbi_twofold_of(INFINITY);
    if (list->length > 0) {
        double tag = engine->arena[list->begin + first_of(engine, list)].tag;
        double left = (tag - list->virtual.high) - list->virtual.low;
        double wait = left > 0 ? left * pace : 0;
        if (wait < INFINITY)
            list->next = lbi_twofold_plus(list->time, wait);
    }
    double *tree = engine->next_tree;
    uint32_t node = engine->next_leaf + index;
    tree[node] = list->next.high;
    while (node > LBI_NEXT_ROOT) {
        const double *siblings = tree + node / 8 * 8;
        double least[4];
        for (int k = 0; k < 4; k++)
            least[k] = siblings[k] < siblings[k + 4] ? siblings[k] : siblings[k + 4];
        least[0] = least[0] < least[2] ? least[0] : least[2];
        least[1] = least[1] < least[3] ? least[1] : least[3];
        node = lbi_next_parent(node);
        tree[node] = least[0] < least[1] ? least[0] : least[1];
    }
}
