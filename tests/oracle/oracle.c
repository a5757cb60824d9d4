/* SPDX-License-Identifier: BSD-3-Clause */
#include "oracle.h"

#include <math.h>
#include <string.h>

#include "dice.h"

/* Events this close to the earliest one, relative to its time, are one instant with it. */
#define WINDOW 1e-12L

enum status {
    AWAY,
    RUNNING,
    ASLEEP,
    OVER
};

struct state {
    long double now;
    long double check; /* when the pending balance check is due; INFINITY: none is pending */
    enum status status[ORACLE_PROCESSES];
    double weight[ORACLE_PROCESSES];
    long double left[ORACLE_PROCESSES];     /* work not done yet */
    long double duration[ORACLE_PROCESSES]; /* INFINITY until it completes */
    int home[ORACLE_PROCESSES];             /* the list it is in, or left; -1: never placed */
    bool past[ORACLE_EVENTS];
    bool balancing; /* Step 1b is under way */
    int length[ORACLE_CORES];
    int list[ORACLE_CORES][ORACLE_PROCESSES]; /* the one longest in the list comes first */
};

struct run {
    const struct oracle_problem *problem;
    uint64_t *random; /* draws one realisation; NULL: all are weighed */
    oracle_leaf_fn leaf;
    void *user;
    size_t leaves, limit;
    bool ambiguous;
};

/* ---- what the policy makes of the lists ---- */

static bool rotates(const struct oracle_problem *p) {
    return p->policy == ORACLE_IMMEDIATE && p->rotation > 0;
}

static bool has_lists(const struct oracle_problem *p) {
    return p->policy != ORACLE_IMMEDIATE || rotates(p);
}

/* The shortest list; of the fastest core, then of the lowest index, on a tie. */
static int shortest(const struct oracle_problem *p, const struct state *s) {
    int best = 0;
    for (int j = 1; j < p->cores; j++)
        if (s->length[j] < s->length[best] ||
            (s->length[j] == s->length[best] && p->speeds[j] > p->speeds[best]))
            best = j;
    return best;
}

static int longest_length(const struct oracle_problem *p, const struct state *s) {
    int length = 0;
    for (int j = 0; j < p->cores; j++)
        if (s->length[j] > length)
            length = s->length[j];
    return length;
}

/* The lists that may give a process to `receiver` now; returns how many. */
static int givers(const struct oracle_problem *p, const struct state *s, int receiver, int *giver) {
    int least;
    if (p->policy == ORACLE_NONE || !has_lists(p))
        return 0;
    if (p->policy == ORACLE_LAZY) {
        if (s->length[receiver] > 0)
            return 0;
        least = 2;
    } else {
        least = s->length[receiver] + 2;
    }
    int longest = longest_length(p, s);
    if (p->longest && longest > least)
        least = longest;
    int count = 0;
    for (int j = 0; j < p->cores; j++)
        if (s->length[j] >= least)
            giver[count++] = j;
    return count;
}

/* ---- groups of cores, balanced by weight ---- */

/* Weights nearer to each other than this are alike. */
#define ALIKE 1e-9L

/* One thing that Step 1b may do, and how probable it is. */
struct choice {
    int from, at, to;
    long double probability;
};

/* Whether a > b, by more than rounding. */
static bool above(struct run *run, long double a, long double b) {
    long double gap = a - b, unit = ALIKE * fmaxl(fabsl(a), fabsl(b));
    if (fabsl(gap) > unit / 10 && fabsl(gap) < unit * 10)
        run->ambiguous = true;
    return gap > unit;
}

static long double group_load(const struct oracle_problem *p, const struct state *s, int group) {
    long double load = 0;
    for (int j = group * p->group; j < (group + 1) * p->group; j++)
        for (int k = 0; k < s->length[j]; k++)
            load += s->weight[s->list[j][k]];
    return load;
}

static int shortest_of(const struct oracle_problem *p, const struct state *s, int group) {
    int best = group * p->group;
    for (int j = best + 1; j < (group + 1) * p->group; j++)
        if (s->length[j] < s->length[best] ||
            (s->length[j] == s->length[best] && p->speeds[j] > p->speeds[best]))
            best = j;
    return best;
}

/* A process of weight w goes from the heaviest group b to the lightest l where b weighs more than
 * 1.25 times l, and both are w or more away from the mean. */
static int choices_among(struct run *run, const struct state *s, struct choice *choice) {
    const struct oracle_problem *p = run->problem;
    int groups = p->cores / p->group, b = 0, l = 0, count = 0;
    long double load[ORACLE_CORES], mean = 0;
    for (int g = 0; g < groups; g++) {
        load[g] = group_load(p, s, g);
        mean += load[g] / groups;
        b = above(run, load[g], load[b]) ? g : b;
        l = above(run, load[l], load[g]) ? g : l;
    }
    if (b == l || !above(run, load[b], 1.25L * load[l]))
        return 0;
    for (int j = b * p->group; j < (b + 1) * p->group; j++)
        for (int k = 0; k < s->length[j]; k++) {
            double w = s->weight[s->list[j][k]];
            if (!above(run, w, load[b] - mean) && !above(run, w, mean - load[l]))
                choice[count++] = (struct choice){j, k, shortest_of(p, s, l), 0};
        }
    for (int i = 0; i < count; i++)
        choice[i].probability = 1.0L / count;
    return count;
}

/* Within a group the shortest list takes from any that is at least two longer. */
static int choices_within(const struct oracle_problem *p, const struct state *s, int group,
                          struct choice *choice) {
    int to = shortest_of(p, s, group), givers = 0, count = 0;
    for (int j = group * p->group; j < (group + 1) * p->group; j++)
        givers += s->length[j] >= s->length[to] + 2;
    for (int j = group * p->group; j < (group + 1) * p->group; j++)
        for (int k = 0; k < s->length[j] && s->length[j] >= s->length[to] + 2; k++)
            choice[count++] = (struct choice){j, k, to, 1.0L / givers / s->length[j]};
    return count;
}

static int group_choices(struct run *run, const struct state *s, struct choice *choice) {
    const struct oracle_problem *p = run->problem;
    int count = choices_among(run, s, choice);
    for (int g = 0; g < p->cores / p->group && count == 0; g++)
        count = choices_within(p, s, g, choice);
    return count;
}

static bool is_grouped(const struct oracle_problem *p) {
    return p->group > 0 && p->policy == ORACLE_ACTIVE;
}

/* Whether the policy asks for a move. */
static bool is_uneven(struct run *run, const struct state *s) {
    struct choice choice[ORACLE_PROCESSES];
    int giver[ORACLE_CORES];
    if (is_grouped(run->problem))
        return group_choices(run, s, choice) > 0;
    return givers(run->problem, s, shortest(run->problem, s), giver) > 0;
}

/* ---- lists ---- */

static void append(struct state *s, int i, int j) {
    s->list[j][s->length[j]++] = i;
    s->home[i] = j;
}

static void take_out(struct state *s, int i) {
    int j = s->home[i], at = 0;
    while (s->list[j][at] != i)
        at++;
    s->length[j]--;
    for (; at < s->length[j]; at++)
        s->list[j][at] = s->list[j][at + 1];
}

/* ---- Step 2: progress ---- */

/* Processor sharing: min(S / m, lambda * w), lambda such that the rates sum to S. The processes
 * that hit the cap are found one by one, the heaviest first. */
static void sharing_rates(const struct oracle_problem *p, const struct state *s,
                          long double *rate) {
    double fastest[ORACLE_CORES];
    int count = 0;
    for (int i = 0; i < p->n; i++)
        count += s->status[i] == RUNNING;
    if (count == 0)
        return;
    memcpy(fastest, p->speeds, sizeof fastest);
    int m = count < p->cores ? count : p->cores;
    long double sum = 0;
    for (int k = 0; k < m; k++) {
        int best = k;
        for (int j = k + 1; j < p->cores; j++)
            if (fastest[j] > fastest[best])
                best = j;
        double speed = fastest[best];
        fastest[best] = fastest[k];
        fastest[k] = speed;
        sum += speed;
    }
    long double cap = sum / m;
    bool capped[ORACLE_PROCESSES] = {false};
    for (int left = m;;) {
        long double rest = cap * left, weights = 0;
        int heaviest = -1;
        for (int i = 0; i < p->n; i++) {
            if (s->status[i] != RUNNING || capped[i])
                continue;
            weights += s->weight[i];
            if (heaviest < 0 || s->weight[i] > s->weight[heaviest])
                heaviest = i;
        }
        if (rest * (s->weight[heaviest] / weights) > cap) {
            capped[heaviest] = true;
            left--;
            continue;
        }
        for (int i = 0; i < p->n; i++)
            if (s->status[i] == RUNNING)
                rate[i] = capped[i] ? cap : rest * (s->weight[i] / weights);
        return;
    }
}

static void rates(const struct oracle_problem *p, const struct state *s, long double *rate) {
    if (!has_lists(p)) {
        sharing_rates(p, s, rate);
        return;
    }
    for (int j = 0; j < p->cores; j++) {
        long double weights = 0;
        for (int k = 0; k < s->length[j]; k++)
            weights += s->weight[s->list[j][k]];
        for (int k = 0; k < s->length[j]; k++) {
            int i = s->list[j][k];
            rate[i] = p->speeds[j] * (s->weight[i] / weights);
        }
    }
}

/* ---- Step 1: an instant ---- */

struct pending {
    long double completion[ORACLE_PROCESSES];
    long double rotation;
    int rotating; /* the list that then gives a process up */
};

/* Each longest list, of two or more and one longer than the shortest, has an exponential time of
 * its own. Such times have no memory, so they may be drawn anew at every instant. */
static void draw_rotation(const struct run *run, const struct state *s, struct pending *pending) {
    const struct oracle_problem *p = run->problem;
    pending->rotation = INFINITY;
    if (!rotates(p))
        return;
    int longest = longest_length(p, s);
    if (longest < 2 || longest != s->length[shortest(p, s)] + 1)
        return;
    for (int j = 0; j < p->cores; j++) {
        if (s->length[j] != longest)
            continue;
        long double at = s->now - p->rotation * logl(dice_unit(run->random));
        if (at < pending->rotation) {
            pending->rotation = at;
            pending->rotating = j;
        }
    }
}

static void rotate(const struct run *run, struct state *s, int from) {
    int receivers[ORACLE_CORES], count = 0;
    int least = s->length[shortest(run->problem, s)];
    for (int j = 0; j < run->problem->cores; j++)
        if (s->length[j] == least)
            receivers[count++] = j;
    int i = s->list[from][dice_below(run->random, s->length[from])];
    take_out(s, i);
    append(s, i, receivers[dice_below(run->random, count)]);
}

/* The earliest pending event; INFINITY: nothing will happen any more. */
static long double earliest(struct run *run, const struct state *s, const long double *rate,
                            struct pending *pending) {
    const struct oracle_problem *p = run->problem;
    draw_rotation(run, s, pending);
    long double t = fminl(s->check, pending->rotation);
    bool anyone = false; /* whose completion, or event, is still to come */
    for (int i = 0; i < p->n; i++) {
        pending->completion[i] = INFINITY;
        if (s->status[i] == RUNNING) {
            pending->completion[i] = s->now + s->left[i] / rate[i];
            /* The last digit of a double's work, at this rate, is how much of the time? */
            if (isfinite(p->work[i]) &&
                1e-15L * p->work[i] / rate[i] > 1e-10L * pending->completion[i])
                run->ambiguous = true;
        }
        if (s->status[i] == AWAY)
            t = fminl(t, p->arrival[i]);
        t = fminl(t, pending->completion[i]);
        anyone = anyone || s->status[i] == AWAY || pending->completion[i] < INFINITY;
    }
    for (int e = 0; e < p->events; e++)
        if (!s->past[e] && s->status[p->event[e].process] != OVER) {
            t = fminl(t, p->event[e].time);
            anyone = true;
        }
    /* Rotations and checks alone go on for ever, or to no end. */
    return anyone ? t : INFINITY;
}

/* Whether an event at `time` belongs to the instant at t. */
static bool due(struct run *run, long double time, long double t) {
    long double gap = time - t;
    if (gap > WINDOW / 10 * t && gap < WINDOW * 10 * t)
        run->ambiguous = true;
    return gap <= WINDOW * t;
}

/* From one instant to the next: Step 2, then Step 1a. False: nothing happens any more. */
static bool advance(struct run *run, struct state *s) {
    const struct oracle_problem *p = run->problem;
    long double rate[ORACLE_PROCESSES] = {0};
    struct pending pending = {.rotating = -1};
    rates(p, s, rate);
    long double t = earliest(run, s, rate, &pending);
    if (isinf(t))
        return false;

    /* What each process's own events make of it: its completion, then its arrival, then the others
     * in the order added; nothing but the last counts. */
    enum status after[ORACLE_PROCESSES];
    for (int i = 0; i < p->n; i++) {
        after[i] = s->status[i];
        if (s->status[i] == RUNNING) {
            s->left[i] -= rate[i] * (t - s->now);
            if (due(run, pending.completion[i], t)) {
                after[i] = OVER;
                s->duration[i] = t - p->arrival[i];
            }
        }
        if (s->status[i] == AWAY && due(run, p->arrival[i], t)) {
            after[i] = RUNNING;
            if (p->work[i] == 0) {
                after[i] = OVER;
                s->duration[i] = 0;
            }
        }
    }
    for (int e = 0; e < p->events; e++) {
        int i = p->event[e].process;
        if (s->past[e] || s->status[i] == OVER || !due(run, p->event[e].time, t))
            continue;
        s->past[e] = true;
        if (after[i] == OVER)
            continue;
        switch (p->event[e].kind) {
        case ORACLE_STOP:
            after[i] = OVER;
            break;
        case ORACLE_SLEEP:
            after[i] = ASLEEP;
            break;
        case ORACLE_WAKE:
            after[i] = RUNNING;
            break;
        case ORACLE_WEIGH:
            s->weight[i] = p->event[e].value;
            break;
        case ORACLE_WORK:
            s->left[i] = p->event[e].value;
            if (s->left[i] == 0) {
                after[i] = OVER;
                s->duration[i] = t - p->arrival[i];
            }
            break;
        }
    }
    s->now = t;

    /* 1a: who goes leaves first; who comes is placed in index order. */
    for (int i = 0; i < p->n; i++)
        if (s->status[i] == RUNNING && after[i] != RUNNING && has_lists(p))
            take_out(s, i);
    for (int i = 0; i < p->n; i++) {
        if (s->status[i] != RUNNING && after[i] == RUNNING && has_lists(p)) {
            if (s->home[i] >= 0)
                append(s, i, s->home[i]);
            else if (p->first_core[i] >= 0)
                append(s, i, p->first_core[i]);
            else
                append(s, i, shortest(p, s));
        }
        s->status[i] = after[i];
    }

    /* 1b follows, unless it has to wait for its check. */
    if (pending.rotating >= 0 && pending.rotation <= t)
        rotate(run, s, pending.rotating);
    s->balancing = true;
    if (p->delay > 0 && (p->policy == ORACLE_LAZY || p->policy == ORACLE_ACTIVE)) {
        s->balancing = due(run, s->check, t);
        if (s->balancing)
            s->check = INFINITY;
        else if (isinf(s->check) && is_uneven(run, s))
            s->check = t + p->delay;
    }
    return true;
}

/* Moves the process at place `at` of list `from`. */
static void move(struct state *s, int from, int at, int to) {
    int i = s->list[from][at];
    take_out(s, i);
    append(s, i, to);
}

static void explore(struct run *run, const struct state *before, long double probability);

/* The same for groups; false: nothing is to be balanced. */
static bool explore_groups(struct run *run, struct state *s, long double probability) {
    struct choice choice[ORACLE_PROCESSES];
    int count = s->balancing ? group_choices(run, s, choice) : 0;
    if (count == 0)
        return false;
    if (run->random != NULL) {
        long double draw = dice_unit(run->random);
        int i = 0;
        while (i < count - 1 && (draw -= choice[i].probability) > 0)
            i++;
        move(s, choice[i].from, choice[i].at, choice[i].to);
        return true;
    }
    for (int i = 0; i < count; i++) {
        struct state next = *s;
        move(&next, choice[i].from, choice[i].at, choice[i].to);
        explore(run, &next, probability * choice[i].probability);
    }
    return true;
}

/* Goes on from a state to the end, by every way in which the choices of Step 1b may fall. */
static void explore(struct run *run, const struct state *before, long double probability) {
    const struct oracle_problem *p = run->problem;
    struct state s = *before;
    while (run->leaves <= run->limit) {
        int giver[ORACLE_CORES], count = 0;
        int to = shortest(p, &s);
        if (is_grouped(p) && explore_groups(run, &s, probability)) {
            if (run->random != NULL)
                continue;
            return;
        }
        if (s.balancing && !is_grouped(p))
            count = givers(p, &s, to, giver);
        if (count == 0) {
            if (advance(run, &s))
                continue;
            run->leaves++;
            run->leaf(run->user, probability, s.duration);
            return;
        }
        if (run->random != NULL) {
            int from = giver[dice_below(run->random, count)], length = s.length[from];
            int at = p->process == ORACLE_FIRST  ? 0
                     : p->process == ORACLE_LAST ? length - 1
                                                 : dice_below(run->random, length);
            move(&s, from, at, to);
            continue;
        }
        for (int g = 0; g < count; g++) {
            int from = giver[g], length = s.length[from];
            int first = p->process == ORACLE_LAST ? length - 1 : 0;
            int last = p->process == ORACLE_FIRST ? 0 : length - 1;
            for (int at = first; at <= last; at++) {
                struct state next = s;
                move(&next, from, at, to);
                explore(run, &next, probability / count / (last - first + 1));
            }
        }
        return;
    }
}

static void start(const struct oracle_problem *p, struct state *s) {
    memset(s, 0, sizeof *s);
    s->check = INFINITY;
    for (int i = 0; i < p->n; i++) {
        s->status[i] = AWAY;
        s->weight[i] = p->weight[i];
        s->left[i] = p->work[i];
        s->duration[i] = INFINITY;
        s->home[i] = -1;
    }
}

/* ---- moments ---- */

struct moments {
    int n;
    struct oracle_result *result;
    long double squares[ORACLE_PROCESSES]; /* weighed squares of deviations from the mean */
    oracle_leaf_fn leaf;
    void *user;
};

static void add(void *user, long double probability, const long double *durations) {
    struct moments *m = user;
    m->result->probability += probability;
    for (int i = 0; i < m->n; i++) {
        struct oracle_duration *d = &m->result->duration[i];
        if (isinf(durations[i]))
            continue;
        d->completion += probability;
        long double delta = durations[i] - d->mean;
        d->mean += delta * probability / d->completion;
        m->squares[i] += probability * delta * (durations[i] - d->mean);
        d->min = fminl(d->min, durations[i]);
        d->max = fmaxl(d->max, durations[i]);
    }
    if (m->leaf != NULL)
        m->leaf(m->user, probability, durations);
}

bool oracle_solve(const struct oracle_problem *problem, size_t limit, oracle_leaf_fn leaf,
                  void *user, struct oracle_result *result) {
    struct moments m = {.n = problem->n, .result = result, .leaf = leaf, .user = user};
    struct run run = {.problem = problem, .leaf = add, .user = &m, .limit = limit};
    struct state s;
    memset(result, 0, sizeof *result);
    for (int i = 0; i < problem->n; i++) {
        result->duration[i].min = INFINITY;
        result->duration[i].max = -INFINITY;
    }
    start(problem, &s);
    explore(&run, &s, 1);
    for (int i = 0; i < problem->n; i++) {
        struct oracle_duration *d = &result->duration[i];
        d->stddev = sqrtl(fmaxl(m.squares[i], 0) / d->completion);
        if (d->completion == 0)
            *d = (struct oracle_duration){INFINITY, NAN, INFINITY, INFINITY, 0};
    }
    result->realisations = run.leaves;
    result->ambiguous = run.ambiguous;
    return run.leaves <= limit;
}

static void keep(void *user, long double probability, const long double *durations) {
    (void)probability;
    memcpy(user, durations, ORACLE_PROCESSES * sizeof *durations);
}

void oracle_draw(const struct oracle_problem *problem, uint64_t *random, long double *durations) {
    long double all[ORACLE_PROCESSES];
    struct run run = {
        .problem = problem, .random = random, .leaf = keep, .user = all, .limit = SIZE_MAX - 1};
    struct state s;
    start(problem, &s);
    explore(&run, &s, 1);
    memcpy(durations, all, (size_t)problem->n * sizeof *durations);
}
