/* SPDX-License-Identifier: BSD-3-Clause */
/* Even sharing. Kernels with a queue per core share evenly by moving the uneven rest of tasks
 * about: a task is in a shorter or a longer list, whose lengths differ by one, and forgets in which
 * within the rotation time. In a window it stays in the shorter, or in the longer, or it changes
 * and has something around the even share. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "classify/likelihood.h"

static const double rotation_times[] = {0, 0.02, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6};
static const double log_priors[] = {-1.39, -1.9, -1.9, -1.9, -1.9, -1.9, -3.0, -4.0};
/* How long nothing may be rotated, with probabilities: some arrangements last. */
static const double still[][2] = {{0.2, 0.25}, {0.4, 0.32}, {0.8, 0.27}, {1.6, 0.1}, {3.2, 0.06}};
#define TIMES (sizeof rotation_times / sizeof *rotation_times)
#define RESTLESS 0.01  /* how often a window is uneven without being due */
#define DISTURBED -9.0 /* log of how often a disturbance begins in a window, or ends */

/* What the tasks share: all cores, all but one, or all cores with a task that is not in the trace.
 */
typedef enum mode {
    MODE_CALM,
    MODE_STOLEN,
    MODE_GUEST,
    MODES
} mode;

typedef struct state {
    lbi_track track;
    double shorter; /* probability of being in a list of the shorter length */
} state;

/* The lists of `tasks` tasks when they are as even as can be. */
typedef struct lists {
    double rate_shorter, rate_longer, rate;
    double shorter;  /* the share of tasks in shorter lists */
    double variance; /* of the tasks' rates */
} lists;

static double square(double x) {
    return x * x;
}

static lists even_lists(uint32_t tasks, uint32_t cores) {
    if (tasks <= cores)
        return (lists){1, 1, 1, 1, 0};
    uint32_t size = tasks / cores, longer = tasks % cores;
    lists l = {1.0 / size, 1.0 / (size + 1.0), (double)cores / tasks,
               (double)(cores - longer) * size / tasks, 0};
    l.variance = l.shorter * square(l.rate_shorter) + (1 - l.shorter) * square(l.rate_longer) -
                 square(l.rate);
    /* Where tasks are a multiple of cores they are not at once: an end leaves lists two apart. */
    double ended = ceil((double)tasks / cores);
    if (ended >= 2)
        l.variance += (ended - 1) / tasks / square(ended * (ended - 1));
    return l;
}

typedef struct window {
    lists l;
    double stay_shorter, stay_longer;
    double averaged; /* the part of the rates' variance that is left over the window */
} window;

static double observe(state *s, const lbi_progress *p, const window *w, double done, double seen,
                      bool *ret_unexplained) {
    lbi_way ways[] = {{w->l.rate_shorter, 0, s->shorter * w->stay_shorter},
                      {w->l.rate_longer, 0, (1 - s->shorter) * w->stay_longer},
                      {w->l.rate, w->l.variance * w->averaged, 0}};
    ways[2].weight = 1 - ways[0].weight - ways[1].weight;
    double density = lbi_track_observe(&s->track, p, ways, 3, done, seen, ret_unexplained);
    if (seen > 0 && !*ret_unexplained)
        s->shorter = ways[0].weight + ways[2].weight * w->l.shorter;
    return density;
}

static window make_window(const lists *l, double tau, double length, bool first) {
    window w = {*l, 0, 0, 0};
    if (tau <= 0)
        return w;
    double x = length / tau, calm = 1 - (first ? 5 * RESTLESS : RESTLESS);
    w.stay_shorter = calm * exp(-(1 - l->shorter) * x);
    w.stay_longer = calm * exp(-l->shorter * x);
    w.averaged = x > 1e-4 ? 2 * (x - 1 + exp(-x)) / (x * x) : 1;
    return w;
}

/* What is known if the last window was in one mode. */
typedef struct path {
    lbi_density product;
    double missed;
    state *states; /* [task] */
    lists l;
} path;

static lists lists_in(mode m, uint32_t alive, uint32_t cores) {
    return even_lists(alive + (m == MODE_GUEST), cores - (m == MODE_STOLEN));
}

/* An end, and what is moved after it, stirs up two lists. */
static void stir(path *way, const lbi_progress *p, mode m, uint32_t first, uint32_t ended) {
    double stirred = fmin(2.0 * ended / p->cores, 1);
    way->l = lists_in(m, p->tasks - first, p->cores);
    for (uint32_t i = first; i < p->tasks; i++)
        way->states[i].shorter += stirred * (way->l.shorter - way->states[i].shorter);
}

/* Each mode goes on from what was best before the window. */
static void switch_modes(path paths[MODES], size_t modes, uint32_t first, uint32_t tasks) {
    size_t best = 0;
    double logs[MODES];
    for (size_t m = 0; m < modes; m++) {
        logs[m] = lbi_log_of(&paths[m].product);
        best = logs[m] > logs[best] ? m : best;
    }
    for (size_t m = 0; m < modes; m++) {
        if (logs[best] + DISTURBED <= logs[m])
            continue;
        paths[m].product = paths[best].product;
        lbi_multiply(&paths[m].product, exp(DISTURBED));
        paths[m].missed = paths[best].missed;
        memcpy(paths[m].states + first, paths[best].states + first,
               (tasks - first) * sizeof *paths[m].states);
    }
}

static void observe_window(path *way, const lbi_progress *p, double tau, size_t k, uint32_t first,
                           bool ends) {
    window w = make_window(&way->l, tau, p->time[k + 1] - p->time[k], ends);
    for (uint32_t i = first; i < p->tasks; i++) {
        bool unexplained;
        double seen = lbi_seen(p, i, k, k + 1);
        lbi_multiply(&way->product,
                     observe(&way->states[i], p, &w, lbi_done(p, i, k, k + 1), seen, &unexplained));
        way->missed += unexplained ? seen : 0;
    }
}

static double fit_time(const lbi_progress *p, double tau, size_t modes, state *states,
                       lbi_pace *pace, double *ret_misfit) {
    double all = 0;
    uint32_t first = 0; /* tasks are in the order of their ends */
    path paths[MODES];
    for (size_t m = 0; m < modes; m++) {
        paths[m] = (path){{1, 0}, 0, states + m * p->tasks, lists_in((mode)m, p->tasks, p->cores)};
        for (uint32_t i = 0; i < p->tasks; i++) {
            lbi_track_begin(&paths[m].states[i].track, p);
            paths[m].states[i].shorter = paths[m].l.shorter;
        }
    }
    size_t best = 0;
    for (size_t k = 0; k + 1 < p->bounds; k++) {
        uint32_t gone = first;
        while (first < p->tasks && p->end[first] <= k)
            first++;
        if (modes > 1)
            switch_modes(paths, modes, first, p->tasks);
        double top = -DBL_MAX;
        for (size_t m = 0; m < modes; m++) {
            if (first > gone)
                stir(&paths[m], p, (mode)m, first, first - gone);
            observe_window(&paths[m], p, tau, k, first, first > gone);
            double log = lbi_log_of(&paths[m].product);
            if (log > top) {
                top = log;
                best = m;
            }
        }
        for (uint32_t i = first; i < p->tasks; i++)
            all += lbi_seen(p, i, k, k + 1);
        if (lbi_pace_note(pace, p, k + 1, top)) {
            *ret_misfit = 1;
            return LBI_GIVEN_UP;
        }
    }
    *ret_misfit = all > 0 ? paths[best].missed / all : 1;
    return lbi_log_of(&paths[best].product);
}

/* How probable it is that no uneven share moved on as long as there were any. */
static double log_still(const lbi_progress *p) {
    double uneven_time = 0, sum = 0;
    uint32_t first = 0;
    for (size_t k = 0; k + 1 < p->bounds; k++) {
        while (first < p->tasks && p->end[first] <= k)
            first++;
        uint32_t alive = p->tasks - first;
        if (alive > p->cores && alive % p->cores != 0)
            uneven_time += p->time[k + 1] - p->time[k];
    }
    for (size_t t = 0; t < sizeof still / sizeof *still; t++)
        sum += still[t][1] * exp(-uneven_time / still[t][0]);
    return log(sum);
}

size_t lbi_sharing_workspace(const lbi_progress *progress) {
    return MODES * progress->tasks * (sizeof(state) / sizeof(double));
}

void lbi_sharing_fit(const lbi_progress *progress, bool disturbed, double *workspace,
                     lbi_pace *pace, lbi_sharing *ret_sharing) {
    state *states = (state *)workspace;
    double logs[TIMES], best = -DBL_MAX, sum = 0;
    for (size_t i = 0; i < TIMES; i++) {
        double misfit;
        size_t t = (i + TIMES / 2) % TIMES; /* a fit of the middle is seldom far behind */
        logs[t] =
            fit_time(progress, rotation_times[t], disturbed ? MODES : 1, states, pace, &misfit) +
            log_priors[t];
        if (logs[t] > best) {
            best = logs[t];
            ret_sharing->rotation_time = rotation_times[t];
            ret_sharing->misfit = misfit;
        }
    }
    for (size_t t = 0; t < TIMES; t++)
        sum += exp(logs[t] - best);
    ret_sharing->log_likelihood = best + log(sum);
    ret_sharing->log_still = log_still(progress);
}
