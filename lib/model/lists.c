/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of processes that progress together: a sorted run and a heap by tag each, in one arena that
 * all share, so that a process can always move without memory being asked for. */
#include "lengths.h"

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

/* Entries behind all lists, to work with: an eighth of them is always there, and more where no list
 * has dead entries. */
static lbi_entry *scratch(lbi_engine *engine, uint32_t count) {
    if (count > engine->arena_size - engine->arena_used) {
        uint32_t used = 0;
        for (uint32_t i = engine->first_in_arena; i != LBI_ANY_CORE; i = engine->lists[i].behind) {
            lbi_list *list = &engine->lists[i];
            shift(engine, list, used);
            list->room = lbi_list_extent(list);
            used += list->room;
        }
        engine->arena_used = used;
    }
    return engine->arena + engine->arena_used;
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

/* ---- sorting ---- */

static inline bool comes_before(const lbi_entry *a, const lbi_entry *b) {
    return (a->tag < b->tag) | ((a->tag == b->tag) & (a->number < b->number));
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

static void heap_sort(lbi_entry *entries, size_t count) {
    for (size_t i = count / 2; i > 0; i--)
        sink(entries, i - 1, count);
    for (size_t i = count; i-- > 1;) {
        lbi_entry largest = entries[0];
        entries[0] = entries[i];
        entries[i] = largest;
        sink(entries, 0, i);
    }
}

static void insertion_sort(lbi_entry *entries, size_t count) {
    for (size_t i = 1; i < count; i++) {
        lbi_entry entry = entries[i];
        size_t k = i;
        for (; k > 0 && comes_before(&entry, &entries[k - 1]); k--)
            entries[k] = entries[k - 1];
        entries[k] = entry;
    }
}

static void order_two(lbi_entry *a, lbi_entry *b) {
    if (comes_before(b, a)) {
        lbi_entry entry = *a;
        *a = *b;
        *b = entry;
    }
}

/* Slot and number in one. */
static inline uint64_t rest_of(const lbi_entry *entry) {
    uint64_t rest;
    memcpy(&rest, &entry->slot, sizeof rest);
    return rest;
}

static inline void set_entry(lbi_entry *entry, double tag, uint64_t rest) {
    entry->tag = tag;
    memcpy(&entry->slot, &rest, sizeof rest);
}

/* Moves those that come before a median of three to the front, without a branch on what is
 * compared; returns how many they are. The median stands behind them. Entries are read by halves
 * as they are written, or a load would wait for the store. */
static size_t partition(lbi_entry *entries, size_t count) {
    lbi_entry *middle = &entries[count / 2], *last = &entries[count - 1];
    order_two(&entries[0], middle);
    order_two(middle, last);
    order_two(&entries[0], middle);
    lbi_entry pivot = *middle;
    *middle = *last;
    size_t below = 0;
    for (size_t i = 0; i < count - 1; i++) {
        lbi_entry *here = &entries[i], *there = &entries[below];
        double tag = here->tag;
        uint32_t number = here->number;
        uint64_t rest = rest_of(here);
        set_entry(here, there->tag, rest_of(there));
        set_entry(there, tag, rest);
        below += (tag < pivot.tag) | ((tag == pivot.tag) & (number < pivot.number));
    }
    *last = entries[below];
    entries[below] = pivot;
    return below;
}

/* In place. No order is slow: past `depth` unlucky cuts it is a heap sort. */
static void sort_within(lbi_entry *entries, size_t count, unsigned depth) {
    while (count > 12) {
        if (depth-- == 0) {
            heap_sort(entries, count);
            return;
        }
        size_t below = partition(entries, count);
        sort_within(entries, below, depth);
        entries += below + 1;
        count -= below + 1;
    }
    insertion_sort(entries, count);
}

static void sort_entries(lbi_entry *entries, size_t count) {
    unsigned depth = 4;
    for (size_t rest = count; rest > 0; rest /= 2)
        depth += 2;
    sort_within(entries, count, depth);
}

/* Which of `count` buckets: rising with the tag. One that is infinite comes last. */
static inline uint32_t bucket_of(double tag, double least, double scale, uint32_t count) {
    double bucket = (tag - least) * scale;
    return bucket < count - 1 ? (uint32_t)bucket : count - 1;
}

/* The same order, into other memory, where a pass over buckets comes first: the last of them are
 * what is left to sort, mostly a few entries each. */
static void sort_into(lbi_entry *to, const lbi_entry *from, uint32_t count) {
    enum {
        BUCKETS_MAX = 2048
    };
    uint32_t ends[BUCKETS_MAX], buckets = 1, begin = 0;
    while (buckets < BUCKETS_MAX && 4 * buckets < count)
        buckets *= 2;
    double least = INFINITY, most = 0;
    for (uint32_t i = 0; i < count; i++) {
        least = from[i].tag < least ? from[i].tag : least;
        most = from[i].tag > most ? from[i].tag : most;
    }
    double scale = most > least ? buckets / (most - least) : 0;
    memset(ends, 0, buckets * sizeof *ends);
    for (uint32_t i = 0; i < count; i++)
        ends[bucket_of(from[i].tag, least, scale, buckets)]++;
    for (uint32_t i = 0, sum = 0; i < buckets; i++) {
        uint32_t size = ends[i];
        ends[i] = sum;
        sum += size;
    }
    for (uint32_t i = 0; i < count; i++)
        to[ends[bucket_of(from[i].tag, least, scale, buckets)]++] = from[i];
    for (uint32_t i = 0; i < buckets; i++) {
        sort_entries(to + begin, ends[i] - begin);
        begin = ends[i];
    }
}

static void sort_list(lbi_engine *engine, lbi_list *list) {
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

/* The newcomers join the run, from behind, where they leave room. Dead entries met on the way are
 * passed over. */
static void merge(lbi_engine *engine, lbi_list *list) {
    uint32_t run = list->run, to = lbi_list_extent(list), left = to - run;
    lbi_entry *newcomers = scratch(engine, left);
    lbi_entry *entries = engine->arena + list->begin; /* now that it may have moved */
    sort_into(newcomers, entries + run, left);
    list->run = to;
    while (to > run) {
        if (run > 0 && entries[run - 1].slot == LBI_DEAD) {
            run--;
            list->dead--;
        } else if (left > 0 && (run == 0 || entries[run - 1].tag <= newcomers[left - 1].tag))
            put(engine, list, --to, newcomers[--left]);
        else if (run > 0)
            put(engine, list, --to, entries[--run]);
        else
            break;
    }
    list->begin += to - run;
    list->room -= to - run;
    list->dropped += to - run;
    list->run -= to - run;
}

/* After one has come. */
static void gather(lbi_engine *engine, lbi_list *list) {
    uint32_t newcomers = lbi_list_extent(list) - list->run;
    if (list->run == 0 && newcomers >= 2 * LBI_LONG)
        sort_list(engine, list);
    else if (list->run > 0 && newcomers > list->run / 4)
        merge(engine, list);
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
    engine->places[slot].either.order.older = list->newest;
    engine->places[slot].either.order.newer = LBI_ANY_CORE;
    if (list->newest == LBI_ANY_CORE)
        list->oldest = slot;
    else
        engine->places[list->newest].either.order.newer = slot;
    list->newest = slot;
}

static void forget_order(lbi_engine *engine, lbi_list *list, uint32_t slot) {
    uint32_t older = engine->places[slot].either.order.older,
             newer = engine->places[slot].either.order.newer;
    if (older == LBI_ANY_CORE)
        list->oldest = newer;
    else
        engine->places[older].either.order.newer = newer;
    if (newer == LBI_ANY_CORE)
        list->newest = older;
    else
        engine->places[newer].either.order.older = older;
}

/* ---- lists ---- */

static void note_change(lbi_engine *engine, uint32_t index) {
    if (!engine->lists[index].changed) {
        engine->lists[index].changed = true;
        engine->changed[engine->changed_count++] = index;
    }
}

static inline void book(const lbi_engine *engine, lbi_list *list) {
    double passed = lbi_twofold_minus(engine->now, list->time);
    if (passed > 0 && list->length > 0)
        list->virtual = lbi_twofold_plus(list->virtual, passed / list->pace);
    list->time = engine->now;
}

void lbi_list_sync(lbi_engine *engine, uint32_t index) {
    book(engine, &engine->lists[index]);
}

/* Virtual time that has grown large against what one second now adds to it costs digits: with
 * weights far apart it would come to swallow the work of a heavy newcomer. */
static void rebase_if_needed(lbi_engine *engine, uint32_t index) {
    lbi_list *list = &engine->lists[index];
    if (list->virtual.high * list->weight.high <=
        256 * engine->now.high * lbi_list_speed(engine, index))
        return;
    lbi_entry *entries = engine->arena + list->begin;
    for (uint32_t i = 0; i < lbi_list_extent(list); i++)
        entries[i].tag = (entries[i].tag - list->virtual.high) - list->virtual.low;
    list->virtual = lbi_twofold_of(0);
}

/* The weight that counts; while all weigh the same no sum is kept. */
static inline double add_weight(lbi_engine *engine, uint32_t index, uint32_t slot) {
    if (engine->weights == NULL)
        return 1;
    double weight = lbi_list_share(engine, index, slot);
    engine->lists[index].weight = lbi_twofold_plus(engine->lists[index].weight, weight);
    rebase_if_needed(engine, index);
    return weight;
}

static inline void count_one_more(lbi_engine *engine, uint32_t index, double tag) {
    engine->finite += tag < INFINITY;
    engine->running++;
    if (engine->shared)
        engine->lists[index].length++;
    else
        lbi_lengths_grown(engine, index);
    note_change(engine, index);
}

void lbi_list_insert(lbi_engine *engine, uint32_t index, uint32_t slot, double remaining) {
    lbi_list *list = &engine->lists[index];
    book(engine, list);
    if (list->length == 0) {
        list->virtual = list->weight = lbi_twofold_of(0);
        list->came = 0;
        list->fresh = true;
    } else if (list->run > 0 && list->length < LBI_LONG)
        list->run = 0;
    if (lbi_list_extent(list) == list->room)
        make_room(engine, index);
    double weight = add_weight(engine, index, slot);
    double tag = list->virtual.high + (list->virtual.low + remaining / weight);
    if (engine->tracked)
        engine->places[slot].list = index;
    lbi_entry entry = {.tag = tag, .slot = slot, .number = list->came++};
    uint32_t extent = lbi_list_extent(list);
    count_one_more(engine, index, tag);
    if (engine->ordered)
        note_newest(engine, list, slot);
    if (engine->watch != NULL)
        lbi_watch_hop(engine->watch, engine->now.high, slot, index, true);
    if (list->fresh) {
        put(engine, list, extent, entry);
        return;
    }
    sift_up(engine, list, extent - list->run, entry);
    gather(engine, list);
}

void lbi_list_append(lbi_engine *engine, uint32_t index, uint32_t slot, double tag) {
    lbi_list *list = &engine->lists[index];
    if (list->length == list->room)
        make_room(engine, index);
    list->run++;
    lbi_entry entry = {.tag = tag, .slot = slot, .number = list->came++};
    if (engine->tracked) {
        engine->places[slot].list = index;
        engine->state[slot] = LBI_RUNNING;
    }
    put(engine, list, list->length, entry);
    count_one_more(engine, index, tag);
}

void lbi_list_append_many(lbi_engine *engine, uint32_t index, const lbi_item *items, uint32_t count,
                          const double *works) {
    lbi_list *list = &engine->lists[index];
    for (uint32_t i = 0; i < count; i++) {
        if (i + 16 < count)
            __builtin_prefetch(&works[lbi_item_index(items[i + 16])]);
        uint32_t slot = lbi_item_index(items[i]);
        lbi_entry entry = {.tag = works[slot], .slot = slot, .number = i};
        put(engine, list, i, entry);
        engine->finite += entry.tag < INFINITY;
        if (engine->tracked) {
            engine->places[slot].list = index;
            engine->state[slot] = LBI_RUNNING;
        }
    }
    list->run = list->came = count;
    engine->running += count;
    note_change(engine, index);
}

/* The front of the run leaves, and the dead behind it. */
static inline void drop_front(lbi_engine *engine, lbi_list *list) {
    const lbi_entry *entries = engine->arena + list->begin;
    __builtin_prefetch(entries + 8);
    drop_first(list);
    for (; list->run > 0 && (++entries)->slot == LBI_DEAD; list->dead--)
        drop_first(list);
}

/* Closes the gap that an entry leaves; the list is one shorter already. */
static void close_gap(lbi_engine *engine, lbi_list *list, uint32_t position) {
    lbi_entry *entries = engine->arena + list->begin;
    uint32_t last = lbi_list_extent(list);
    if (position < list->run) {
        if (position == 0) {
            drop_front(engine, list);
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
static inline void remove_entry(lbi_engine *engine, uint32_t index, uint32_t position) {
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
    engine->finite -= gone.tag < INFINITY;
    engine->running--;
    if (list->length == 0)
        list->weight = lbi_twofold_of(0);
    else if (engine->weights != NULL)
        list->weight = lbi_twofold_plus(list->weight, -lbi_list_share(engine, index, gone.slot));
    if (position == 0 && list->run > 0)
        drop_front(engine, list);
    else
        close_gap(engine, list, position);
    tidy(engine, list);
    note_change(engine, index);
}

double lbi_list_take(lbi_engine *engine, uint32_t index, uint32_t position) {
    lbi_list *list = &engine->lists[index];
    book(engine, list);
    lbi_entry entry = engine->arena[list->begin + position];
    double left = (entry.tag - list->virtual.high) - list->virtual.low;
    remove_entry(engine, index, position);
    return left > 0 ? left * lbi_list_share(engine, index, entry.slot) : 0;
}

void lbi_list_retag(lbi_engine *engine, uint32_t index, uint32_t position, double remaining,
                    double weight_before) {
    lbi_list *list = &engine->lists[index];
    lbi_entry entry = engine->arena[list->begin + position];
    double weight = lbi_list_share(engine, index, entry.slot);
    if (weight != weight_before) {
        list->weight = lbi_twofold_plus(list->weight, -weight_before);
        list->weight = lbi_twofold_plus(list->weight, weight);
        rebase_if_needed(engine, index);
    }
    engine->finite -= entry.tag < INFINITY;
    entry.tag = list->virtual.high + (list->virtual.low + remaining / weight);
    engine->finite += entry.tag < INFINITY;
    note_change(engine, index);
    if (list->fresh) {
        put(engine, list, position, entry);
    } else if (list->run == 0 || list->length <= LBI_LONG) {
        list->run = 0;
        sift(engine, list, position, entry);
    } else { /* it leaves, and is a newcomer */
        list->length--;
        close_gap(engine, list, position);
        tidy(engine, list);
        if (list->run > 0 && list->length < LBI_LONG)
            list->run = 0;
        entry.number = list->came++;
        if (lbi_list_extent(list) == list->room)
            make_room(engine, index);
        list->length++;
        sift_up(engine, list, lbi_list_extent(list) - 1 - list->run, entry);
        gather(engine, list);
    }
}

/* Of this list something is due. */
static void complete(lbi_engine *engine, uint32_t index, double limit) {
    lbi_list *list = &engine->lists[index];
    uint32_t first = first_of(engine, list);
    lbi_entry entry = engine->arena[list->begin + first];
    if (engine->now.high == list->next.high && engine->now.low == list->next.low) {
        list->time = engine->now;
        if (entry.tag > list->virtual.high) /* known without a rounding */
            list->virtual = lbi_twofold_of(entry.tag);
    } else
        book(engine, list);
    double pace = list->pace, ahead = (limit - engine->now.high) - engine->now.low;
    do {
        engine->done[engine->done_count++] = entry.slot;
        if (engine->tracked) /* else nobody asks */
            engine->state[entry.slot] = LBI_ABSENT;
        remove_entry(engine, index, first);
        if (engine->shared)
            lbi_sharing_forget(engine, index, entry.slot);
        if (list->length == 0)
            return;
        first = first_of(engine, list);
        entry = engine->arena[list->begin + first];
    } while (((entry.tag - list->virtual.high) - list->virtual.low) * pace <= ahead);
}

/* Below a node that is due, depth first. */
static void complete_below(lbi_engine *engine, uint32_t node, double limit) {
    if (node >= engine->next_leaf) {
        complete(engine, node - engine->next_leaf, limit);
        return;
    }
    node = lbi_next_children(node);
    for (unsigned due = lbi_next_due(engine->next_tree + node, limit); due != 0; due >>= 1, node++)
        if (due & 1)
            complete_below(engine, node, limit);
}

/* The list that is the first, by its number, to complete at `time`. */
static uint32_t first_list(const lbi_engine *engine, double time) {
    uint32_t node = LBI_NEXT_ROOT;
    while (node < engine->next_leaf) {
        node = lbi_next_children(node);
        node += (uint32_t)__builtin_ctz(lbi_next_due(engine->next_tree + node, time));
    }
    return node - engine->next_leaf;
}

void lbi_lists_complete(lbi_engine *engine, double time, double limit) {
    /* Mostly one list is due. */
    uint32_t node = LBI_NEXT_ROOT;
    while (node < engine->next_leaf) {
        uint32_t child = lbi_next_children(node);
        unsigned due = lbi_next_due(engine->next_tree + child, limit);
        if ((due & (due - 1)) != 0)
            break;
        node = child + (uint32_t)__builtin_ctz(due);
    }
    if (lbi_next_completion(engine) == time) {
        /* Which is known to more digits than a double has. */
        uint32_t list =
            node >= engine->next_leaf ? node - engine->next_leaf : first_list(engine, time);
        engine->now = engine->lists[list].next;
    } else if (engine->now.high != time)
        engine->now = lbi_twofold_of(time);
    complete_below(engine, node, limit);
}

/* Who is worth fetching now, since it completes soon: of a single list, as processor sharing has,
 * the first one itself does so before it has come. */
static inline const lbi_entry *coming(const lbi_engine *engine, const lbi_list *list,
                                      const lbi_entry *first) {
    enum {
        AHEAD = 4
    };
    bool in_run = first == engine->arena + list->begin && list->run > AHEAD;
    return engine->shared && in_run && first[AHEAD].slot != LBI_DEAD ? first + AHEAD : first;
}

static inline void settle(lbi_engine *engine, uint32_t index, double pace) {
    lbi_list *list = &engine->lists[index];
    list->changed = false;
    if (list->fresh)
        sort_list(engine, list);
    list->pace = pace;
    if (engine->watch != NULL)
        lbi_watch_pace(engine->watch, engine->now.high, index, list->length == 0 ? 0 : 1 / pace);
    list->next = lbi_twofold_of(INFINITY);
    if (list->length > 0) {
        const lbi_entry *first = &engine->arena[list->begin + first_of(engine, list)];
        double left = (first->tag - list->virtual.high) - list->virtual.low;
        double wait = left > 0 ? left * pace : 0;
        if (wait < INFINITY)
            list->next = lbi_twofold_plus(list->time, wait);
        uint32_t slot = coming(engine, list, first)->slot;
        if (engine->expected != NULL)
            __builtin_prefetch(engine->expected + slot * engine->expected_size, 1);
        if (engine->tracked)
            __builtin_prefetch(&engine->places[slot], 1);
        engine->awaited = slot;
    }
    lbi_next_set(engine->next_tree, engine->next_leaf + index, list->next.high);
}

void lbi_list_settle(lbi_engine *engine, uint32_t index, double pace) {
    settle(engine, index, pace);
}

void lbi_lists_settle(lbi_engine *engine) {
    const double *speeds = engine->model->speeds;
    for (size_t i = 0; i < engine->changed_count; i++) {
        uint32_t index = engine->changed[i];
        const lbi_list *list = &engine->lists[index];
        double pace = engine->weights == NULL ? list->length : list->weight.high;
        settle(engine, index, speeds == NULL ? pace : pace / speeds[index]);
    }
}
