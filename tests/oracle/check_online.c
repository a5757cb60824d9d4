/* SPDX-License-Identifier: BSD-3-Clause */
/* The online interface: a simulator plays random problems through lb_sim_*, stopping where nothing
 * happens, branching, asking twice. What comes out must be what lb_model_sample() draws from the
 * same seed; with weights and works that change, which only the online interface has, it must be
 * what the oracle says.
 *
 *     check_online [PROBLEMS [SEED]]
 */
#include <math.h>
#include <string.h>

#include "cases.h"
#include "check.h"
#include "dice.h"
#include "engine.h"
#include "outcomes.h"
#include "problems.h"

#define WINDOW 1e-12

struct play {
    const struct oracle_problem *problem;
    lb_sim *sim;
    uint64_t dice; /* how it is played, not what happens */
    bool restless; /* stops early, branches, looks around */
    enum {
        AWAY,
        RUNNING,
        ASLEEP,
        OVER
    } state[ORACLE_PROCESSES];
    lb_process_id id[ORACLE_PROCESSES];
    bool past[ORACLE_EVENTS];
    double *durations;
    const char *wrong; /* what went wrong first */
};

static void expect(struct play *play, bool holds, const char *what) {
    if (!holds && play->wrong == NULL)
        play->wrong = what;
}

/* ---- looking around ---- */

static double capacity(const struct oracle_problem *p, int running) {
    double sorted[ORACLE_CORES], sum = 0;
    memcpy(sorted, p->speeds, sizeof sorted);
    for (int k = 0; k < running && k < p->cores; k++) {
        for (int j = k + 1; j < p->cores; j++)
            if (sorted[j] > sorted[k]) {
                double faster = sorted[j];
                sorted[j] = sorted[k];
                sorted[k] = faster;
            }
        sum += sorted[k];
    }
    return sum;
}

/* What must hold between instants. */
static void look(struct play *play) {
    const struct oracle_problem *p = play->problem;
    lb_sim *sim = play->sim;
    double next = lb_sim_next(sim), all = 0, of_core[ORACLE_CORES] = {0};
    size_t running = 0, load[ORACLE_CORES] = {0}, longest = 0, shortest = SIZE_MAX;
    expect(play, next >= lb_sim_now(sim), "lb_sim_next lies in the past");
    for (int i = 0; i < p->n; i++) {
        if (play->state[i] != RUNNING && play->state[i] != ASLEEP)
            continue;
        double rate = lb_sim_rate(sim, play->id[i]);
        double remaining = lb_sim_remaining(sim, play->id[i]);
        uint32_t core = lb_sim_core(sim, play->id[i]);
        expect(play, remaining > 0, "an unfinished process has nothing left");
        if (play->state[i] == ASLEEP) {
            expect(play, rate == 0 && core == LB_CORE_ANY, "a sleeper has a rate, or a core");
            continue;
        }
        running++;
        all += rate;
        expect(play, rate > 0, "a running process has no rate");
        expect(play,
               lb_sim_now(sim) + remaining / rate >= next * (1 - 1e-9) || remaining == INFINITY,
               "one would complete before lb_sim_next");
        if (p->policy == ORACLE_IMMEDIATE) {
            expect(play, core == LB_CORE_ANY, "a core under processor sharing");
        } else if (core < (uint32_t)p->cores) {
            of_core[core] += rate;
            load[core]++;
        } else {
            expect(play, false, "a running process without a core");
        }
    }
    expect(play, running == lb_sim_count(sim), "lb_sim_count");
    if (p->policy == ORACLE_IMMEDIATE)
        expect(play, fabs(all - capacity(p, (int)running)) <= 1e-9 * all,
               "the rates do not sum to the capacity");
    for (int j = 0; j < p->cores && p->policy != ORACLE_IMMEDIATE; j++) {
        expect(play, load[j] == lb_sim_core_load(sim, (uint32_t)j), "lb_sim_core_load");
        if (load[j] > 0)
            expect(play, fabs(of_core[j] - p->speeds[j]) <= 1e-9 * p->speeds[j],
                   "the rates of a core do not sum to its speed");
        longest = load[j] > longest ? load[j] : longest;
        shortest = load[j] < shortest ? load[j] : shortest;
    }
    if (p->delay == 0 && p->policy == ORACLE_LAZY)
        expect(play, shortest > 0 || longest < 2, "a core idles beside a list of two");
    if (p->delay == 0 && p->policy == ORACLE_ACTIVE && p->group == 0)
        expect(play, longest <= shortest + 1, "lists differ by two");
    expect(play, next == lb_sim_next(sim), "lb_sim_next is not the same when asked again");
}

/* The copy goes on in place of the original, which is led astray first. */
static void branch(struct play *play) {
    lb_sim *copy = NULL;
    lb_error err = {0};
    engine_must(lb_sim_clone(play->sim, &copy, &err), &err, "lb_sim_clone");
    lb_sim_reseed(play->sim, 1);
    engine_must(lb_sim_advance(play->sim, lb_sim_now(play->sim) + 1, &err), &err, "astray");
    lb_sim_free(play->sim);
    play->sim = copy;
}

/* ---- playing ---- */

static void poll(struct play *play) {
    lb_sim_event event;
    double before = 0;
    while (lb_sim_poll(play->sim, &event)) {
        int i = (int)event.tag;
        expect(play, event.time >= before, "events are not in order");
        before = event.time;
        expect(play, play->id[i] == event.id, "an event has the wrong id or tag");
        if (event.kind == LB_SIM_MIGRATED) {
            expect(play, event.from != event.to && (int)event.to < play->problem->cores,
                   "a migration to nowhere");
            continue;
        }
        expect(play, isinf(play->durations[i]), "a process completes twice");
        play->state[i] = OVER;
        play->durations[i] = event.time - play->problem->arrival[i];
        /* The instant may be a little before the arrival that it joined. */
        if (play->durations[i] < 0)
            play->durations[i] = 0;
        expect(play, isnan(lb_sim_remaining(play->sim, event.id)), "known after its last event");
    }
}

static void call(struct play *play, const struct oracle_event *event) {
    lb_error err = {0};
    int i = event->process;
    if (play->state[i] == OVER)
        return;
    bool completes = lb_sim_remaining(play->sim, play->id[i]) == 0;
    lb_status status, expected = LB_OK;
    switch (event->kind) {
    case ORACLE_STOP:
        status = lb_sim_remove(play->sim, play->id[i], &err);
        play->state[i] = completes ? play->state[i] : OVER;
        break;
    case ORACLE_SLEEP:
        expected = play->state[i] == ASLEEP ? LB_ERR_INVALID : LB_OK;
        status = lb_sim_sleep(play->sim, play->id[i], &err);
        play->state[i] = ASLEEP;
        break;
    case ORACLE_WAKE:
        expected = play->state[i] == RUNNING ? LB_ERR_INVALID : LB_OK;
        status = lb_sim_wake(play->sim, play->id[i], &err);
        play->state[i] = RUNNING;
        break;
    case ORACLE_WEIGH:
        status = lb_sim_set_weight(play->sim, play->id[i], event->value, &err);
        break;
    default:
        status = lb_sim_set_work(play->sim, play->id[i], event->value, &err);
        break;
    }
    expect(play, completes || status == expected, "a call has another status");
}

/* One instant at `time` by hand: what is due arrives, and calls come in the order added. */
static void instant(struct play *play, double time) {
    const struct oracle_problem *p = play->problem;
    lb_error err = {0};
    double limit = time + WINDOW * time;
    engine_must(lb_sim_begin(play->sim, time, &err), &err, "lb_sim_begin");
    for (int i = 0; i < p->n; i++) {
        if (play->state[i] != AWAY || p->arrival[i] > limit)
            continue;
        uint32_t core = p->first_core[i] < 0 ? LB_CORE_ANY : (uint32_t)p->first_core[i];
        engine_must(
            lb_sim_add(play->sim, p->work[i], p->weight[i], core, (uint64_t)i, &play->id[i], &err),
            &err, "lb_sim_add");
        play->state[i] = RUNNING;
    }
    for (int e = 0; e < p->events; e++)
        if (!play->past[e] && p->event[e].time <= limit) {
            play->past[e] = true;
            call(play, &p->event[e]);
        }
    engine_must(lb_sim_commit(play->sim, &err), &err, "lb_sim_commit");
}

/* The next thing that the simulator itself has to do. */
static double next_own(const struct play *play) {
    const struct oracle_problem *p = play->problem;
    double next = INFINITY;
    for (int i = 0; i < p->n; i++)
        if (play->state[i] == AWAY)
            next = fmin(next, p->arrival[i]);
    for (int e = 0; e < p->events; e++)
        if (!play->past[e] && play->state[p->event[e].process] != OVER)
            next = fmin(next, p->event[e].time);
    return next;
}

static const char *play_through(const struct oracle_problem *p, const lb_model *model,
                                uint64_t seed, bool restless, double *durations) {
    struct play play = {
        .problem = p, .dice = seed + 17, .restless = restless, .durations = durations};
    lb_error err = {0};
    for (int i = 0; i < p->n; i++)
        durations[i] = INFINITY;
    engine_must(lb_sim_new(model, seed, &play.sim, &err), &err, "lb_sim_new");
    for (int steps = 0; steps < 10000; steps++) {
        double own = next_own(&play), next = lb_sim_next(play.sim);
        double time = fmin(own, next);
        if (isinf(time))
            break;
        bool alone = next + WINDOW * next < own && own > time + WINDOW * time;
        if (restless && dice_one_in(&play.dice, 4)) {
            double now = lb_sim_now(play.sim);
            double early = now + (time - now) * dice_unit(&play.dice);
            if (early < time * (1 - 1e-9))
                engine_must(lb_sim_advance(play.sim, early, &err), &err, "an early stop");
        }
        if (restless && dice_one_in(&play.dice, 8))
            branch(&play);
        if (restless && alone && dice_one_in(&play.dice, 2))
            engine_must(lb_sim_advance(play.sim,
                                       dice_one_in(&play.dice, 2) && isinf(own) ? INFINITY : next,
                                       &err),
                        &err, "lb_sim_advance");
        else
            instant(&play, time);
        poll(&play);
        if (restless)
            look(&play);
    }
    lb_sim_free(play.sim);
    return play.wrong;
}

/* ---- the problems ---- */

/* Ids count up as processes come; the problem's own numbers must do so too. */
static void sort_by_arrival(struct oracle_problem *p) {
    for (int k = 1; k < p->n; k++)
        for (int i = k; i > 0 && p->arrival[i] < p->arrival[i - 1]; i--) {
            double arrival = p->arrival[i], work = p->work[i], weight = p->weight[i];
            int core = p->first_core[i];
            p->arrival[i] = p->arrival[i - 1];
            p->work[i] = p->work[i - 1];
            p->weight[i] = p->weight[i - 1];
            p->first_core[i] = p->first_core[i - 1];
            p->arrival[i - 1] = arrival;
            p->work[i - 1] = work;
            p->weight[i - 1] = weight;
            p->first_core[i - 1] = core;
            for (int e = 0; e < p->events; e++) {
                int *process = &p->event[e].process;
                *process = *process == i ? i - 1 : *process == i - 1 ? i : *process;
            }
        }
}

/* Whether playing it differs from lb_model_sample(); says how where `user` is not NULL. */
static bool batch_differs(const struct oracle_problem *p, void *user) {
    struct oracle_result result;
    if (!oracle_solve(p, 20000, NULL, NULL, &result) || result.ambiguous)
        return false;
    for (int i = 1; i < p->n; i++)
        if (p->arrival[i] < p->arrival[i - 1])
            return false;
    bool differs = false;
    lb_model *model = engine_model(p);
    lb_workload *workload = engine_workload(p);
    for (uint64_t seed = 0; seed < 6 && !differs; seed++) {
        double batch[ORACLE_PROCESSES], online[ORACLE_PROCESSES];
        lb_error err = {0};
        engine_must(lb_model_sample(model, workload, seed, batch, &err), &err, "lb_model_sample");
        const char *wrong = play_through(p, model, seed, seed > 0, online);
        differs = wrong != NULL;
        for (int i = 0; i < p->n; i++)
            differs = differs || !outcomes_same_time(p->arrival[i], batch[i], online[i]);
        if (differs && user != NULL) {
            printf("seed %d: %s\n", (int)seed, wrong != NULL ? wrong : "other durations");
            for (int i = 0; i < p->n; i++)
                printf("    p%d  batch %.17g  online %.17g\n", i, batch[i], online[i]);
        }
    }
    lb_workload_free(workload);
    lb_model_free(model);
    return differs;
}

static void against_batch(long problems, uint64_t seed) {
    uint64_t dice = seed;
    for (long k = 0; k < problems; k++) {
        struct oracle_problem p;
        problem_draw(&dice, &p);
        sort_by_arrival(&p);
        if (check(!batch_differs(&p, NULL), "online: problem %ld of seed %llu; made small:", k,
                  (unsigned long long)seed))
            continue;
        problem_shrink(&p, batch_differs, NULL);
        case_print(stdout, &p);
        batch_differs(&p, &p);
    }
    printf("%ld problems played against lb_model_sample\n", problems);
}

static struct outcomes all;

/* Whether playing it gives what the oracle does not, or not as often. */
static bool oracle_differs(const struct oracle_problem *p, void *user) {
    struct oracle_result result;
    long draws = 200;
    outcomes_reset(&all, p);
    if (!oracle_solve(p, 2000, outcomes_collect, &all, &result) || result.ambiguous || all.full)
        return false;
    for (int i = 1; i < p->n; i++)
        if (p->arrival[i] < p->arrival[i - 1])
            return false;
    if (result.realisations == 1)
        draws = 3;
    bool differs = false;
    lb_model *model = engine_model(p);
    for (long k = 0; k < draws && !differs; k++) {
        double online[ORACLE_PROCESSES];
        long double durations[ORACLE_PROCESSES];
        const char *wrong = play_through(p, model, (uint64_t)k, k % 4 != 0, online);
        for (int i = 0; i < p->n; i++)
            durations[i] = online[i];
        struct outcome *outcome = outcomes_find(&all, durations);
        differs = wrong != NULL || outcome == NULL;
        if (outcome != NULL)
            outcome->seen++;
        if (differs && user != NULL) {
            printf("seed %ld: %s\n", k, wrong != NULL ? wrong : "no such outcome");
            for (int i = 0; i < p->n; i++)
                printf("    p%d  %.17g  oracle %.17Lg to %.17Lg\n", i, online[i],
                       result.duration[i].min, result.duration[i].max);
        }
    }
    for (size_t k = 0; k < all.count && !differs; k++)
        if (!outcomes_share(all.outcome[k].seen, all.outcome[k].probability, (double)draws)) {
            differs = true;
            if (user != NULL)
                printf("an outcome of probability %.3Lg came %ld times in %ld\n",
                       all.outcome[k].probability, all.outcome[k].seen, draws);
        }
    lb_model_free(model);
    return differs;
}

/* Weights and works that change. */
static void draw_changes(uint64_t *dice, struct oracle_problem *p) {
    double span = 0;
    for (int i = 0; i < p->n; i++)
        span = fmax(span, p->arrival[i] + (isinf(p->work[i]) ? 0 : p->work[i]));
    for (int k = 1 + dice_below(dice, 5); k > 0 && p->n > 0 && p->events < ORACLE_EVENTS; k--) {
        struct oracle_event e = {.process = dice_below(dice, p->n)};
        double at = dice_one_in(dice, 2) ? (double)dice_below(dice, 16) / 8 : 2 * dice_unit(dice);
        e.time = p->arrival[e.process] + span * at;
        e.kind = dice_one_in(dice, 2) ? ORACLE_WEIGH : ORACLE_WORK;
        if (e.kind == ORACLE_WEIGH)
            e.value = pow(2, dice_below(dice, 9) - 4);
        else
            e.value = dice_one_in(dice, 8)    ? 0
                      : dice_one_in(dice, 10) ? INFINITY
                                              : span * dice_unit(dice);
        p->event[p->events++] = e;
    }
}

static void against_oracle(long problems, uint64_t seed) {
    uint64_t dice = seed;
    for (long k = 0; k < problems; k++) {
        struct oracle_problem p;
        problem_draw(&dice, &p);
        sort_by_arrival(&p);
        draw_changes(&dice, &p);
        if (check(!oracle_differs(&p, NULL), "changes: problem %ld of seed %llu; made small:", k,
                  (unsigned long long)seed))
            continue;
        problem_shrink(&p, oracle_differs, NULL);
        case_print(stdout, &p);
        oracle_differs(&p, &p);
    }
    printf("%ld problems with changing weights and works played against the oracle\n", problems);
}

int main(int argc, char **argv) {
    long problems = argc > 1 ? atol(argv[1]) : 4000;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 3;
    against_batch(problems, seed);
    against_oracle(problems / 2, seed + 1000000);
    return checks_report();
}
