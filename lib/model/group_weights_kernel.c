/* SPDX-License-Identifier: BSD-3-Clause */
/* Balancing by group weight as Linux 2.6.25 does it, tick by tick: each core looks for a busiest
 * group in its own time, by decayed loads, within its group first and then among the groups. Every
 * number is that of v2.6.25-rc6, the seed's kernel, held against its files; none was fitted to a
 * measurement. docs/weights.md lists them. */
#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "model/weights.h"

#define TICKS 1000 /* a second: HZ of the seed's machine, 16,400 interrupts/s on 16 CPUs */
#define WARM_UP 1  /* seconds before the first that counts */
/* SCHED_LOAD_SCALE, SCHED_LOAD_SCALE_FUZZ: include/linux/sched.h. */
#define SCALE 1024
/* SD_MC_INIT and SD_CPU_INIT: include/linux/topology.h. They differ in the idle indices only. */
#define IMBALANCE_PERCENT 125
#define MIN_INTERVAL 1 /* ms */
#define MAX_INTERVAL 4
#define BUSY_FACTOR 64
#define NICE_TRIES 1 /* cache_nice_tries */
/* kernel/sched.c: CPU_LOAD_IDX_MAX, sysctl_sched_nr_migrate, WEIGHT_IDLEPRIO. */
#define LOADS 5
#define MOST_MOVES 32
#define IDLE_WEIGHT 2
/* kernel/sched_fair.c: sysctl_sched_latency, sysctl_sched_min_granularity, before they are scaled
 * by 1 + ilog2(CPUs), 200 ms at most (sched_init_granularity()). */
#define LATENCY 20 /* ms */
#define GRANULARITY 4
#define MAX_LATENCY 200

#define BEAT 100000 /* core ticks */

#define NOBODY UINT32_MAX

enum occasion {
    BUSY,
    IDLE,
    NEWLY_IDLE
};

enum {
    WITHIN, /* a group: SD_MC_INIT */
    AMONG,  /* groups: SD_CPU_INIT */
    LEVELS
};

/* busy_idx, idle_idx, newidle_idx. */
static const int load_index[LEVELS][3] = {{2, 0, 0}, {2, 1, 2}};

typedef struct domain {
    int64_t last_balance; /* tick */
    uint32_t interval;    /* ms */
    uint32_t failed;
} domain;

typedef struct task {
    int64_t weight;
    double runtime; /* virtual */
    int64_t ran;    /* the last tick it ran in */
    uint32_t next;  /* of its core */
} task;

typedef struct core {
    uint32_t first, current, tasks;
    int64_t load, loads[LOADS];
    double least_runtime;
    uint32_t turn; /* ticks that the current one has run */
    domain domains[LEVELS];
} core;

typedef struct machine {
    uint32_t groups, group_cores, cores, count;
    double latency, granularity; /* ticks */
    int64_t now;
    uint32_t since_beat;
    core *core;
    task *task;
} machine;

/* What a set of cores looks like to one that balances. */
typedef struct sight {
    int64_t load, weight, highest, lowest;
    uint32_t first, count, tasks;
    bool uneven;
} sight;

/* ---- one core ---- */

/* The waiting one of the least virtual time above that of `after`, or the first. */
static uint32_t next_waiting(const machine *m, const core *c, uint32_t after) {
    uint32_t best = NOBODY;
    for (uint32_t i = c->first; i != NOBODY; i = m->task[i].next) {
        bool later = after == NOBODY || m->task[i].runtime > m->task[after].runtime ||
                     (m->task[i].runtime == m->task[after].runtime && i > after);
        bool sooner = best == NOBODY || m->task[i].runtime < m->task[best].runtime ||
                      (m->task[i].runtime == m->task[best].runtime && i < best);
        if (i != c->current && later && sooner)
            best = i;
    }
    return best;
}

static void pick(machine *m, core *c) {
    c->current = NOBODY;
    c->current = next_waiting(m, c, NOBODY);
    c->turn = 0;
}

/* A move takes the distance to the core's least virtual time along. */
static void attach(machine *m, core *c, uint32_t index) {
    task *t = &m->task[index];
    t->runtime += c->least_runtime;
    t->next = c->first;
    c->first = index;
    c->tasks++;
    c->load += t->weight;
    if (c->current == NOBODY)
        pick(m, c);
}

static void detach(machine *m, core *c, uint32_t index) {
    uint32_t *link = &c->first;
    while (*link != index)
        link = &m->task[*link].next;
    *link = m->task[index].next;
    m->task[index].runtime -= c->least_runtime;
    c->tasks--;
    c->load -= m->task[index].weight;
    if (c->current == index)
        pick(m, c);
}

/* sched_slice() and check_preempt_tick() of kernel/sched_fair.c, to a tick. */
static void run(machine *m, core *c) {
    if (c->current == NOBODY)
        return;
    task *t = &m->task[c->current];
    t->runtime += (double)SCALE / (double)t->weight;
    t->ran = m->now;
    c->turn++;
    double least = t->runtime;
    for (uint32_t i = c->first; i != NOBODY; i = m->task[i].next)
        least = fmin(least, m->task[i].runtime);
    c->least_runtime = fmax(c->least_runtime, least);
    double period = m->latency;
    if (c->tasks > LATENCY / GRANULARITY)
        period = m->granularity * c->tasks;
    if (c->tasks > 1 && c->turn > period * (double)t->weight / (double)c->load)
        pick(m, c);
}

/* update_cpu_load() of kernel/sched.c. */
static void decay(core *c) {
    for (int i = 0; i < LOADS; i++) {
        int64_t old = c->loads[i], now = c->load;
        if (now > old)
            now += (INT64_C(1) << i) - 1;
        c->loads[i] = (old * ((INT64_C(1) << i) - 1) + now) >> i;
    }
}

/* target_load() and source_load(): a core's own side is taken for heavier, another's for lighter.
 */
static int64_t seen_load(const core *c, int index, bool own) {
    if (index == 0)
        return c->load;
    int64_t past = c->loads[index - 1];
    return own == (past > c->load) ? past : c->load;
}

/* ---- find_busiest_group() and find_busiest_queue() ---- */

static sight look(const machine *m, uint32_t first, uint32_t count, int index, bool own) {
    sight s = {.first = first, .count = count, .lowest = INT64_MAX};
    for (uint32_t i = first; i < first + count; i++) {
        int64_t load = seen_load(&m->core[i], index, own);
        s.load += load;
        s.highest = load > s.highest ? load : s.highest;
        s.lowest = load < s.lowest ? load : s.lowest;
        s.tasks += m->core[i].tasks;
        s.weight += m->core[i].load;
    }
    s.uneven = !own && s.highest - s.lowest > SCALE;
    return s;
}

/* Of its group the first idle core, or else the first, balances with other groups. */
static bool may_balance(const machine *m, uint32_t self, uint32_t first, uint32_t count) {
    for (uint32_t i = first; i < first + count; i++)
        if (m->core[i].tasks == 0)
            return i == self;
    return self == first;
}

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* One task's weight, where a move of that makes loads more even than they are. */
static int64_t small_imbalance(const sight *own, const sight *busiest, int64_t per_task,
                               int64_t amount) {
    int factor = 2;
    int64_t own_per_task = SCALE;
    if (own->tasks > 0) {
        own_per_task = own->weight / own->tasks;
        factor = per_task > own_per_task ? 1 : 2;
    }
    if (busiest->load - own->load + SCALE >= per_task * factor)
        return per_task;
    int64_t now = least(per_task, busiest->load) + least(own_per_task, own->load);
    int64_t moved = busiest->load > per_task ? least(per_task, busiest->load - per_task) : 0;
    int64_t added = busiest->load < per_task ? busiest->load : per_task;
    moved += least(own_per_task, own->load + added);
    return moved > now ? per_task : amount;
}

/* How much weight is to move to `self`, and from which of the other sets; -1: none is busier. 0 is
 * an imbalance too: nothing can be pulled, but after a few failures a task is pushed. A set counts
 * as one core's worth of power, as cores of a package share a cache (init_sched_groups_power()). */
static int64_t imbalance(const machine *m, uint32_t self, int level, enum occasion occasion,
                         sight *ret_busiest) {
    uint32_t count = level == WITHIN ? 1 : m->group_cores;
    uint32_t begin = level == WITHIN ? self / m->group_cores * m->group_cores : 0;
    uint32_t end = level == WITHIN ? begin + m->group_cores : m->cores;
    int index = load_index[level][occasion];
    sight own = {0}, busiest = {0};
    int64_t total = 0;
    uint32_t first = self / count * count;
    if (occasion != NEWLY_IDLE && !may_balance(m, self, first, count))
        return -1;
    /* Round from its own on: of two that are equally busy the nearer one is taken. */
    for (uint32_t i = begin; i < end; i += count) {
        bool is_own = i == begin;
        sight s = look(m, first, count, index, is_own);
        first = first + count < end ? first + count : begin;
        total += s.load;
        if (is_own)
            own = s;
        else if (s.load > busiest.load && (s.tasks > 1 || s.uneven))
            busiest = s;
    }
    int64_t average = total / ((end - begin) / count);
    if (busiest.tasks == 0 || own.load >= busiest.load || own.load >= average ||
        100 * busiest.load <= IMBALANCE_PERCENT * own.load)
        return -1;
    int64_t per_task = busiest.weight / busiest.tasks;
    if (busiest.uneven)
        per_task = least(per_task, average);
    if (busiest.load <= per_task)
        return -1;
    *ret_busiest = busiest;
    if (busiest.load < average)
        return small_imbalance(&own, &busiest, per_task, 0);
    int64_t amount =
        least(least(busiest.load - average, busiest.load - per_task), average - own.load);
    return amount < per_task ? small_imbalance(&own, &busiest, per_task, amount) : amount;
}

static core *busiest_core(machine *m, const sight *set, int64_t amount) {
    core *found = NULL;
    for (uint32_t i = set->first; i < set->first + set->count; i++) {
        core *c = &m->core[i];
        if (c->tasks == 1 && c->load > amount)
            continue;
        if (c->load > (found == NULL ? 0 : found->load))
            found = c;
    }
    return found;
}

/* ---- load_balance() ---- */

/* balance_tasks(): those that wait, and have not just run, until the weight has moved. The weight
 * of a single task is no hindrance: SCHED_LOAD_SCALE_FUZZ is above half of any that is here. */
static bool pull(machine *m, core *to, core *from, int64_t amount, bool hot_too) {
    bool moved = false;
    uint32_t next, index = next_waiting(m, from, NOBODY);
    for (int i = 0; i < MOST_MOVES && index != NOBODY && amount > 0; i++, index = next) {
        next = next_waiting(m, from, index);
        if (m->task[index].ran == m->now && !hot_too)
            continue;
        amount -= m->task[index].weight;
        detach(m, from, index);
        attach(m, to, index);
        moved = true;
    }
    return moved;
}

/* idle_balance() and load_balance_newidle(). */
static void balance_newly_idle(machine *m, uint32_t self) {
    for (int level = 0; level < LEVELS; level++) {
        domain *d = &m->core[self].domains[level];
        sight set;
        int64_t amount = imbalance(m, self, level, NEWLY_IDLE, &set);
        core *from = amount >= 0 ? busiest_core(m, &set, amount) : NULL;
        bool moved = from != NULL && from->tasks > 1 &&
                     pull(m, &m->core[self], from, amount, d->failed > NICE_TRIES);
        if (moved || from == NULL)
            d->failed = 0;
        if (moved)
            return;
    }
}

/* active_load_balance(): the one that runs is stopped and moved, even if it is alone. */
static void push(machine *m, core *to, core *from) {
    uint32_t current = from->current;
    from->current = NOBODY;
    uint32_t index = next_waiting(m, from, NOBODY);
    from->current = current;
    detach(m, from, index);
    attach(m, to, index);
    if (from->tasks == 0)
        balance_newly_idle(m, (uint32_t)(from - m->core));
}

static void relax(domain *d) {
    if (d->interval < MAX_INTERVAL)
        d->interval *= 2;
}

static bool balance(machine *m, uint32_t self, int level, enum occasion occasion) {
    core *to = &m->core[self];
    domain *d = &to->domains[level];
    sight set;
    int64_t amount = imbalance(m, self, level, occasion, &set);
    core *from = amount >= 0 ? busiest_core(m, &set, amount) : NULL;
    if (from == NULL) {
        d->failed = 0;
        relax(d);
        return false;
    }
    if (from->tasks > 1 && pull(m, to, from, amount, d->failed > NICE_TRIES)) {
        d->failed = 0;
        d->interval = MIN_INTERVAL;
        return true;
    }
    if (++d->failed <= NICE_TRIES + 2) {
        d->interval = MIN_INTERVAL;
        return false;
    }
    d->failed = NICE_TRIES + 1;
    relax(d);
    push(m, to, from);
    return false;
}

/* rebalance_domains(), at a tick. */
static void rebalance(machine *m, uint32_t self) {
    enum occasion occasion = m->core[self].tasks == 0 ? IDLE : BUSY;
    for (int level = 0; level < LEVELS; level++) {
        domain *d = &m->core[self].domains[level];
        uint32_t interval = d->interval * (occasion == BUSY ? BUSY_FACTOR : 1);
        if (m->now < d->last_balance + interval)
            continue;
        if (balance(m, self, level, occasion))
            occasion = BUSY;
        d->last_balance = m->now;
    }
}

/* ---- a realisation ---- */

static void start(machine *m, const lbi_weights_machine *setting, lbi_random *random,
                  uint32_t *order) {
    uint32_t octaves = 0;
    while (m->cores >> (octaves + 1) != 0)
        octaves++;
    m->latency = fmin(LATENCY * (1 + octaves), MAX_LATENCY);
    m->granularity = GRANULARITY * (1 + octaves);
    for (uint32_t i = 0; i < m->cores; i++) {
        m->core[i] = (core){.first = NOBODY, .current = NOBODY};
        for (int level = 0; level < LEVELS; level++)
            m->core[i].domains[level] = (domain){
                .last_balance =
                    -(int64_t)lbi_random_below(random, BUSY_FACTOR * (uint64_t)MAX_INTERVAL),
                .interval = MIN_INTERVAL,
            };
        /* Cores tick one after another, in an order of their own. */
        uint32_t at = (uint32_t)lbi_random_below(random, i + 1);
        order[i] = order[at];
        order[at] = i;
    }
    int64_t soaker =
        setting->ratio == LB_WEIGHT_IDLE ? IDLE_WEIGHT : llround(SCALE * setting->ratio);
    for (uint32_t i = 0; i < m->count; i++) {
        bool normal = i >= m->cores;
        m->task[i] = (task){
            .weight = normal ? SCALE : soaker,
            .ran = -1,
        };
        attach(m, &m->core[normal ? lbi_random_below(random, m->cores) : i], i);
    }
    for (uint32_t i = 0; i < m->cores; i++)
        for (int level = 0; level < LOADS; level++)
            m->core[i].loads[level] = m->core[i].load;
}

/* Returns how many cores idled. */
static uint32_t tick(machine *m, const uint32_t *order, uint64_t *normal) {
    uint32_t idle = 0;
    for (uint32_t i = 0; i < m->cores; i++) {
        core *c = &m->core[i];
        idle += c->tasks == 0;
        *normal += c->current != NOBODY && c->current >= m->cores;
    }
    for (uint32_t i = 0; i < m->cores; i++) {
        core *c = &m->core[order[i]];
        run(m, c);
        decay(c);
        rebalance(m, order[i]);
    }
    m->now++;
    return idle;
}

/* A second; a long one of many cores beats now and then. */
static lb_status pass_second(machine *m, const uint32_t *order, const lbi_weights_pulse *pulse,
                             uint64_t *idle, uint64_t *normal, lb_error *err) {
    *idle = 0;
    for (int i = 0; i < TICKS; i++) {
        bool due = (m->since_beat += m->cores) >= BEAT;
        lb_status status = due ? pulse->beat(pulse->user, err) : LB_OK;
        if (status != LB_OK)
            return status;
        m->since_beat = due ? 0 : m->since_beat;
        *idle += tick(m, order, normal);
    }
    return LB_OK;
}

lb_status lbi_weights_dynamic(const lbi_weights_machine *setting, lbi_random *random,
                              uint32_t seconds, const lbi_weights_pulse *pulse, double *ret_idle,
                              double *ret_normal, lb_error *err) {
    machine m = {.groups = setting->groups,
                 .group_cores = setting->group_cores,
                 .cores = setting->groups * setting->group_cores};
    m.count = m.cores + setting->normal_tasks;
    m.core = lbi_array_new(m.cores, sizeof *m.core);
    m.task = lbi_array_new(m.count, sizeof *m.task);
    uint32_t *order = lbi_array_new(m.cores, sizeof *order);
    lb_status status = LB_OK;
    if (m.core == NULL || m.task == NULL || order == NULL)
        status = lbi_error_nomem(err, "the tasks");
    else
        start(&m, setting, random, order);
    uint64_t idle, normal = 0;
    for (int i = 0; i < WARM_UP && status == LB_OK; i++)
        status = pass_second(&m, order, pulse, &idle, &normal, err);
    normal = 0;
    for (uint32_t i = 0; i < seconds && status == LB_OK; i++) {
        status = pass_second(&m, order, pulse, &idle, &normal, err);
        ret_idle[i] = (double)idle / TICKS / m.cores;
    }
    *ret_normal = (double)normal / TICKS / seconds / setting->normal_tasks;
    free(order);
    free(m.task);
    free(m.core);
    return status;
}
