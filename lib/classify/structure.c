/* SPDX-License-Identifier: BSD-3-Clause */
/* A task that was displaced waits in a queue. Where queues are per core it comes back to its core,
 * until somebody moves it; where cores share one, whichever of them is free first takes it. If the
 * tasks of a common queue are a multiple of its cores, the same core comes by again each round, so
 * that such times tell little. */
#include "classify/structure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "trace/cores.h"

#define FLOW_CORES_MAX 256u   /* with more cores groups are not looked for */
#define GROUP_CORES_MAX 1024u /* .. nor believed if the trace names them */
#define SHARING 0.15          /* cores that share a queue exchange that part of their turns */

/* Turns are not independent of each other: so much each counts, and all together at most. */
#define TEMPER 0.25
#define MOST 100
#define NO_GROUPS 0.02

/* How often a task comes to another core: queues of its own, beta(1, 20), at most a few in a
 * hundred; a common queue, beta(6, 1), nearly always; a common queue whose tasks are a multiple of
 * its cores, anything, though mostly seldom. */
typedef struct beta {
    double a, b;
} beta;
static const beta apart = {1, 20}, shared = {6, 1}, any = {1, 1};

/* The log probability of `k` out of `n` in a given order. */
static double log_sequence(beta prior, double k, double n) {
    return lgamma(prior.a + k) - lgamma(prior.a) + lgamma(prior.b + n - k) - lgamma(prior.b) -
           lgamma(prior.a + prior.b + n) + lgamma(prior.a + prior.b);
}

static double log_mean(double x, double y) {
    double top = fmax(x, y);
    return top + log((exp(x - top) + exp(y - top)) / 2);
}

/* What a way to share queues makes of all turns. */
typedef struct counts {
    const uint32_t *block; /* [core]; NULL: all cores are one */
    size_t across;
    size_t odd, odd_changes, even, even_changes;
    double log_places; /* of how many other cores each change chose one */
} counts;

typedef struct search {
    const lbi_occupancy *o;
    uint32_t cores; /* that were seen */
    uint32_t *last; /* [core]: who got on last */
    uint32_t *flow; /* [from][to]: changes; NULL: too many cores */
    size_t *turns;  /* [core]: that began there */
    counts single, grouped;
    size_t units, unit_changes;
    lbi_structure *result;
} search;

static void count_turn(counts *c, const search *s, uint32_t from, uint32_t to) {
    uint32_t width = 0, tasks = 0, cores = s->cores;
    if (c->block == NULL) {
        width = cores;
        tasks = s->o->awake;
    } else {
        for (uint32_t i = 0; i < cores; i++) {
            width += c->block[i] == c->block[from];
            tasks += c->block[i] == c->block[from] ? s->o->size[i] : 0;
        }
        if (c->block[from] != c->block[to]) {
            c->across++;
            c->log_places += log(cores - width);
            return;
        }
    }
    bool changed = from != to, odd = tasks > width && tasks % width != 0;
    *(odd ? &c->odd : &c->even) += 1;
    *(odd ? &c->odd_changes : &c->even_changes) += changed;
    if (changed)
        c->log_places += log(width - 1);
}

static void look(search *s, const lbi_sighting *run, bool second) {
    const lbi_whereabout *w = &s->o->tasks[run->task];
    uint32_t from = w->core;
    bool turn = w->awake && s->last[from] != UINT32_MAX && s->last[from] != run->task &&
                s->o->awake > s->cores;
    if (turn && second) {
        count_turn(&s->grouped, s, from, run->core);
    } else if (turn) {
        count_turn(&s->single, s, from, run->core);
        s->turns[from]++;
        s->result->turns++;
        s->result->changes += from != run->core;
        if (s->flow != NULL && from != run->core)
            s->flow[(size_t)from * s->cores + run->core]++;
    }
    s->last[run->core] = run->task;
}

/* Slices show who was displaced, and where he ran next. */
static lb_status read_turns(search *s, lbi_sightings *sightings, uint32_t cores, bool second,
                            lb_error *err) {
    lbi_occupancy o;
    lb_status status = lbi_occupancy_begin(sightings, cores, &o, err);
    s->o = &o;
    for (uint32_t i = 0; i < s->cores; i++)
        s->last[i] = UINT32_MAX;
    lbi_sightings_rewind(sightings, LBI_EACH_RUN);
    for (lbi_sighting sight; status == LB_OK && lbi_sightings_next(sightings, &sight);) {
        if (sight.kind == LBI_SIGHT_RUN)
            look(s, &sight, second);
        lbi_occupancy_update(&o, &sight);
    }
    lbi_occupancy_free(&o);
    return status;
}

/* ---- without slices ---- */

/* Since when so many tasks are awake. */
typedef struct tide {
    double time;
    uint32_t awake;
} tide;

typedef struct tides {
    tide *items;
    size_t count, capacity;
} tides;

static lb_status find_tides(lbi_sightings *sightings, uint32_t cores, tides *all, lb_error *err) {
    lbi_occupancy o;
    lb_status status = lbi_occupancy_begin(sightings, cores, &o, err);
    lbi_sightings_rewind(sightings, LBI_NO_RUNS);
    for (lbi_sighting sight; status == LB_OK && lbi_sightings_next(sightings, &sight);) {
        uint32_t before = o.awake;
        lbi_occupancy_update(&o, &sight);
        if (o.awake == before)
            continue;
        if (lbi_array_reserve(&all->items, &all->capacity, all->count + 1, sizeof *all->items))
            all->items[all->count++] = (tide){sight.time, o.awake};
        else
            status = lbi_error_nomem(err, "turns");
    }
    lbi_occupancy_free(&o);
    return status;
}

/* The cores of units do not show who was displaced, but who was elsewhere the next time. */
static lb_status read_units(search *s, lbi_sightings *sightings, uint32_t cores, lb_error *err) {
    tides all = {0};
    lb_status status = find_tides(sightings, cores, &all, err);
    lbi_sightings_rewind(sightings, LBI_EACH_RUN);
    for (uint32_t task = 0; task < sightings->tasks && status == LB_OK; task++) {
        uint32_t core = LBI_CORE_UNKNOWN;
        size_t next = 0;
        for (lbi_sighting sight; lbi_sightings_next_of(sightings, task, &sight);) {
            if (sight.kind != LBI_SIGHT_RUN) {
                core = sight.core != LBI_CORE_UNKNOWN ? sight.core : core;
                continue;
            }
            while (next < all.count && all.items[next].time <= sight.time)
                next++;
            uint32_t awake = next > 0 ? all.items[next - 1].awake : 0;
            if (core != LBI_CORE_UNKNOWN && awake > s->cores && awake % s->cores != 0) {
                s->units++;
                s->unit_changes += core != sight.core;
            }
            core = sight.core;
        }
    }
    free(all.items);
    return status;
}

/* ---- groups ---- */

static void join(uint32_t *group, uint32_t cores, uint32_t a, uint32_t b) {
    uint32_t from = group[b], to = group[a];
    for (uint32_t i = 0; i < cores && from != to; i++)
        if (group[i] == from)
            group[i] = to;
}

/* Cores between which tasks change much more often than they would if all were alike. */
static void find_groups(const search *s, uint32_t *group) {
    uint32_t n = s->cores;
    for (uint32_t a = 0; a < n; a++)
        for (uint32_t b = a + 1; b < n; b++) {
            double exchanged = (double)s->flow[(size_t)a * n + b] + s->flow[(size_t)b * n + a];
            double turns = (double)(s->turns[a] + s->turns[b]), changes = 0;
            for (uint32_t i = 0; i < n; i++)
                changes += (double)s->flow[(size_t)a * n + i] + s->flow[(size_t)b * n + i];
            if (changes > SHARING * turns && exchanged > changes / (n - 1) / 2)
                join(group, n, a, b);
        }
}

/* Groups that the trace names. False: it names none, or not all cores. */
static bool read_groups(const char *text, uint32_t *group, uint32_t cores) {
    lbi_range *ranges;
    size_t n, named = 0;
    if (text == NULL || lbi_ranges_parse(text, "groups", cores - 1, &ranges, &n, NULL) != LB_OK)
        return false;
    for (size_t i = 0; i < n; i++)
        for (uint32_t core = ranges[i].first; core <= ranges[i].last && core < cores; core++) {
            group[core] = (uint32_t)i;
            named++;
        }
    free(ranges);
    return named == cores;
}

/* Numbers groups from 0 by their first cores; returns how many there are. */
static uint32_t renumber(uint32_t *group, uint32_t cores, uint32_t *workspace) {
    uint32_t groups = 0;
    for (uint32_t i = 0; i < cores; i++) {
        uint32_t first = 0;
        while (group[first] != group[i])
            first++;
        workspace[i] = first == i ? groups++ : workspace[first];
    }
    memcpy(group, workspace, cores * sizeof *group);
    return groups;
}

/* ---- likelihoods ---- */

static double log_of(const counts *c, double scale) {
    double inside = (double)(c->odd + c->even), across = (double)c->across;
    double even = scale * (double)c->even, changes = scale * (double)c->even_changes;
    double sum = log_sequence(shared, scale * (double)c->odd_changes, scale * (double)c->odd) +
                 log_mean(log_sequence(apart, changes, even), log_sequence(any, changes, even)) -
                 scale * c->log_places;
    if (c->block != NULL)
        sum += log_sequence(apart, scale * across, scale * (inside + across));
    return sum;
}

static void weigh(search *s) {
    lbi_structure *r = s->result;
    r->shared = (double)s->unit_changes > SHARING * (double)s->units;
    if (r->turns == 0 || s->cores < 2)
        return;
    double n = (double)r->turns, scale = fmin(TEMPER, MOST / n);
    double places = scale * (double)r->changes * log(s->cores - 1);
    double *logs = r->log_likelihood;
    logs[LB_QUEUES_UNKNOWN] = log_sequence(any, scale * (double)r->changes, scale * n) - places;
    logs[LB_QUEUES_PER_CORE] = log_sequence(apart, scale * (double)r->changes, scale * n) - places;
    logs[LB_QUEUES_SINGLE] = log_of(&s->single, scale);
    /* Groups that nobody names, and that turns do not show, are hardly there. */
    logs[LB_QUEUES_GROUPED] = s->grouped.block != NULL ? log_of(&s->grouped, scale)
                                                       : logs[LB_QUEUES_UNKNOWN] + log(NO_GROUPS);
    r->shared = fmax(logs[LB_QUEUES_SINGLE], logs[LB_QUEUES_GROUPED]) > logs[LB_QUEUES_PER_CORE];
    r->odd_turns = s->single.odd;
    r->odd_changes = s->single.odd_changes;
}

lb_status lbi_structure_find(const lb_trace *trace, lbi_sightings *sightings,
                             lbi_structure *ret_structure, lb_error *err) {
    uint32_t cores = lb_trace_cores(trace), n = sightings->cores_seen;
    lbi_structure *r = ret_structure;
    *r = (lbi_structure){.cores_seen = n, .groups = n};
    search s = {.cores = n, .result = r};
    s.last = lbi_array_new(n, sizeof *s.last);
    s.turns = calloc((size_t)n + 1, sizeof *s.turns);
    r->group = calloc((size_t)n + 1, sizeof *r->group);
    s.flow = n <= FLOW_CORES_MAX ? calloc((size_t)n * n + 1, sizeof *s.flow) : NULL;
    lb_status status = LB_OK;
    if (s.last == NULL || s.turns == NULL || r->group == NULL ||
        (s.flow == NULL && n <= FLOW_CORES_MAX))
        status = lbi_error_nomem(err, "turns");
    if (status == LB_OK && !sightings->slices)
        status = read_units(&s, sightings, cores, err);
    else if (status == LB_OK)
        status = read_turns(&s, sightings, cores, false, err);
    if (status == LB_OK) {
        bool named =
            n <= GROUP_CORES_MAX && read_groups(lb_trace_meta(trace, "groups"), r->group, n);
        for (uint32_t i = 0; i < n && !named; i++)
            r->group[i] = i;
        if (!named && s.flow != NULL)
            find_groups(&s, r->group);
        r->groups = renumber(r->group, n, s.last);
        if (r->groups > 1 && r->groups < n)
            s.grouped.block = r->group;
        if (s.grouped.block != NULL && sightings->slices)
            status = read_turns(&s, sightings, cores, true, err);
    }
    if (status == LB_OK)
        weigh(&s);
    free(s.flow);
    free(s.turns);
    free(s.last);
    return status;
}

void lbi_structure_free(lbi_structure *structure) {
    free(structure->group);
    *structure = (lbi_structure){0};
}
