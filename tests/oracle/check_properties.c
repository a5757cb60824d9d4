/* SPDX-License-Identifier: BSD-3-Clause */
/* What must hold of every prediction, on random workloads larger than an oracle can solve. */
#include <math.h>
#include <string.h>

#include "check.h"
#include "dice.h"
#include "engine.h"

enum {
    PROCESSES = 400,
    SLEEPS = 3
};

/* A workload as the tests know it: who is there when, but for the completions. */
struct load {
    int n;
    double work[PROCESSES], weight[PROCESSES], arrival[PROCESSES];
    int first_core[PROCESSES]; /* -1: not set */
    int sleeps[PROCESSES];
    double sleep[PROCESSES][SLEEPS], wake[PROCESSES][SLEEPS];
};

static void draw(uint64_t *dice, int cores, struct load *load) {
    memset(load, 0, sizeof *load);
    load->n = 1 + dice_below(dice, dice_one_in(dice, 2) ? 20 : PROCESSES);
    bool weights = dice_one_in(dice, 2), arrivals = dice_one_in(dice, 2);
    bool sleeps = dice_one_in(dice, 2), coarse = dice_one_in(dice, 3);
    bool first_cores = dice_one_in(dice, 3);
    double span = load->n;
    for (int i = 0; i < load->n; i++) {
        load->work[i] = coarse ? 1 + dice_below(dice, 4) : -log(dice_unit(dice));
        load->weight[i] = weights ? pow(10, 2 * dice_unit(dice) - 1) : 1;
        load->arrival[i] = arrivals ? span / cores * dice_unit(dice) : 0;
        load->first_core[i] = first_cores ? dice_below(dice, cores) : -1;
        double at = load->arrival[i];
        while (sleeps && load->sleeps[i] < SLEEPS && dice_one_in(dice, 2)) {
            int k = load->sleeps[i]++;
            load->sleep[i][k] = at += dice_unit(dice);
            load->wake[i][k] = at += dice_unit(dice);
        }
    }
}

static lb_workload *workload_of(const struct load *load, const int *order) {
    lb_workload *workload = NULL;
    lb_error err = {0};
    engine_must(lb_workload_new(&workload, &err), &err, "lb_workload_new");
    for (int k = 0; k < load->n; k++) {
        int i = order != NULL ? order[k] : k;
        size_t at;
        engine_must(lb_workload_add(workload, load->work[i], &at, &err), &err, "add");
        engine_must(lb_workload_set_weight(workload, at, load->weight[i], &err), &err, "weight");
        engine_must(lb_workload_set_arrival(workload, at, load->arrival[i], &err), &err, "arrival");
        if (load->first_core[i] >= 0)
            engine_must(
                lb_workload_set_first_core(workload, at, (uint32_t)load->first_core[i], &err), &err,
                "first core");
        for (int s = 0; s < load->sleeps[i]; s++) {
            engine_must(
                lb_workload_add_event(workload, at, load->sleep[i][s], LB_EVENT_SLEEP, &err), &err,
                "sleep");
            engine_must(lb_workload_add_event(workload, at, load->wake[i][s], LB_EVENT_WAKE, &err),
                        &err, "wake");
        }
    }
    return workload;
}

static lb_model *model_of(lb_policy policy, int cores, const double *speeds, double rotation) {
    lb_model_options options;
    lb_model_options_init(&options, sizeof options);
    options.cores = (uint32_t)cores;
    options.policy = (int32_t)policy;
    options.core_speeds = speeds;
    options.rotation_time = rotation;
    lb_model *model = NULL;
    lb_error err = {0};
    engine_must(lb_model_new(&options, &model, &err), &err, "lb_model_new");
    return model;
}

static void predict(lb_model *model, const struct load *load, const int *order, uint64_t seed,
                    double *seconds) {
    lb_workload *workload = workload_of(load, order);
    lb_error err = {0};
    engine_must(lb_model_sample(model, workload, seed, seconds, &err), &err, "lb_model_sample");
    lb_workload_free(workload);
}

/* ---- who was running when ---- */

struct step {
    double time;
    int by;
};

static int by_time(const void *a, const void *b) {
    double x = ((const struct step *)a)->time, y = ((const struct step *)b)->time;
    return (x > y) - (x < y);
}

/* The integral over time of capacity[number of processes that are there and awake]. Those that are
 * not on `core` (-1: any) are left out. */
static double capacity_used(const struct load *load, const double *seconds, int core,
                            const double *capacity) {
    static struct step steps[PROCESSES * (2 + 2 * SLEEPS)];
    size_t count = 0;
    for (int i = 0; i < load->n; i++) {
        if (core >= 0 && load->first_core[i] != core)
            continue;
        double end = load->arrival[i] + seconds[i];
        steps[count++] = (struct step){load->arrival[i], 1};
        for (int s = 0; s < load->sleeps[i] && load->sleep[i][s] < end; s++) {
            steps[count++] = (struct step){load->sleep[i][s], -1};
            steps[count++] = (struct step){load->wake[i][s], 1};
        }
        steps[count++] = (struct step){end, -1};
    }
    qsort(steps, count, sizeof *steps, by_time);
    double used = 0;
    int running = 0;
    for (size_t k = 0; k < count; k++) {
        if (k > 0)
            used += capacity[running] * (steps[k].time - steps[k - 1].time);
        running += steps[k].by;
    }
    return used;
}

static double total_work(const struct load *load, int core) {
    double sum = 0;
    for (int i = 0; i < load->n; i++)
        if (core < 0 || load->first_core[i] == core)
            sum += load->work[i];
    return sum;
}

static bool equal(double a, double b) {
    return fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b));
}

/* Work is conserved, and no core idles while a list holds two: with speeds of 1 the work done is
 * the time that min(cores, processes) cores were busy, to the last bit that rounding leaves. With
 * other speeds, and under none, the same is known of each core, or of the fastest. */
static void conserves(uint64_t *dice, int round) {
    static double capacity[PROCESSES + 1];
    static struct load load;
    double seconds[PROCESSES], speeds[64], sorted[64];
    int cores = 1 + dice_below(dice, dice_one_in(dice, 4) ? 64 : 8);
    draw(dice, cores, &load);
    double work = total_work(&load, -1);
    for (int k = 0; k <= load.n; k++)
        capacity[k] = k < cores ? k : cores;
    static const lb_policy policies[] = {LB_POLICY_LAZY, LB_POLICY_ACTIVE, LB_POLICY_IMMEDIATE,
                                         LB_POLICY_IMMEDIATE};
    for (int k = 0; k < 4; k++) {
        double rotation = k == 3 ? 0.1 : 0;
        lb_model *model = model_of(policies[k], cores, NULL, rotation);
        predict(model, &load, NULL, (uint64_t)round, seconds);
        double used = capacity_used(&load, seconds, -1, capacity);
        check(equal(used, work), "round %d, policy %d, rotation %g: %.17g s of work, %.17g s busy",
              round, policies[k], rotation, work, used);
        for (int i = 0; i < load.n; i++)
            check(seconds[i] >= load.work[i] * (1 - 1e-9), "round %d, policy %d: %g s for %g s",
                  round, policies[k], seconds[i], load.work[i]);
        lb_model_free(model);
    }

    /* Sharing uses the fastest cores there are. */
    for (int j = 0; j < cores; j++)
        sorted[j] = speeds[j] = 0.25 + dice_unit(dice);
    for (int j = 1; j < cores; j++)
        for (int l = j; l > 0 && sorted[l] > sorted[l - 1]; l--) {
            double faster = sorted[l];
            sorted[l] = sorted[l - 1];
            sorted[l - 1] = faster;
        }
    for (int k = 1; k <= load.n; k++)
        capacity[k] = capacity[k - 1] + (k <= cores ? sorted[k - 1] : 0);
    lb_model *model = model_of(LB_POLICY_IMMEDIATE, cores, speeds, 0);
    predict(model, &load, NULL, 0, seconds);
    check(equal(capacity_used(&load, seconds, -1, capacity), work), "round %d: speeds, immediate",
          round);
    lb_model_free(model);

    /* Under none every core keeps its own. */
    for (int i = 0; i < load.n; i++)
        load.first_core[i] = dice_below(dice, cores);
    model = model_of(LB_POLICY_NONE, cores, speeds, 0);
    predict(model, &load, NULL, 0, seconds);
    for (int j = 0; j < cores; j++) {
        for (int k = 1; k <= load.n; k++)
            capacity[k] = speeds[j];
        check(equal(capacity_used(&load, seconds, j, capacity), total_work(&load, j)),
              "round %d: none, core %d", round, j);
    }
    lb_model_free(model);
}

/* More cores never hurt under immediate, and neither does it matter how the processes are called.
 */
static void more_cores_and_other_names(uint64_t *dice, int round) {
    static struct load load;
    double seconds[PROCESSES], other[PROCESSES], speeds[64];
    int order[PROCESSES];
    int cores = 1 + dice_below(dice, 16);
    draw(dice, cores, &load);
    lb_model *model = model_of(LB_POLICY_IMMEDIATE, cores, NULL, 0);
    lb_model *larger = model_of(LB_POLICY_IMMEDIATE, cores + 1 + dice_below(dice, 3), NULL, 0);
    predict(model, &load, NULL, 0, seconds);
    predict(larger, &load, NULL, 0, other);
    for (int i = 0; i < load.n; i++)
        check(other[i] <= seconds[i] + 1e-9 * (load.arrival[i] + seconds[i]),
              "round %d: %g s, with more cores %g s", round, seconds[i], other[i]);
    lb_model_free(larger);
    lb_model_free(model);

    for (int j = 0; j < cores; j++)
        speeds[j] = 0.25 + dice_unit(dice);
    model = model_of(LB_POLICY_IMMEDIATE, cores, speeds, 0);
    for (int i = 0; i < load.n; i++)
        order[i] = i;
    for (int i = load.n - 1; i > 0; i--) {
        int with = dice_below(dice, i + 1), old = order[i];
        order[i] = order[with];
        order[with] = old;
    }
    predict(model, &load, NULL, 0, seconds);
    predict(model, &load, order, 1, other);
    for (int k = 0; k < load.n; k++)
        check(fabs(other[k] - seconds[order[k]]) <=
                  1e-9 * (load.arrival[order[k]] + seconds[order[k]]),
              "round %d: %.17g s, by another name %.17g s", round, seconds[order[k]], other[k]);
    lb_model_free(model);
}

/* ---- very many processes ---- */

enum {
    MANY = 100000,
    MANY_CORES = 64
};

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Works of all sorts: few that are equal, many, nearly equal ones, and ones far apart. */
static double odd_work(uint64_t *dice, int sort) {
    switch (sort) {
    case 0:
        return -log(dice_unit(dice));
    case 1:
        return 1 + dice_below(dice, 5);
    case 2:
        return 1 + 1e-13 * dice_below(dice, MANY);
    default:
        return pow(10, 200 * dice_unit(dice) - 100);
    }
}

/* When the last of the sorted works, all there at time 0 on `cores`, are done: ends[k] is that of
 * the k-th least. */
static void share(const double *sorted, int n, int cores, double *ends) {
    long double now = 0, done = 0;
    for (int k = 0; k < n; k++) {
        int left = n - k;
        now += (sorted[k] - done) * left / (left < cores ? left : cores);
        done = sorted[k];
        ends[k] = (double)now;
    }
}

static bool all_equal(const double *a, const double *b, int n) {
    for (int k = 0; k < n; k++)
        if (!equal(a[k], b[k]))
            return false;
    return true;
}

static void very_many(uint64_t *dice) {
    static double works[MANY], sorted[MANY], seconds[MANY], ends[MANY], expected[MANY];
    for (int sort = 0; sort < 4; sort++) {
        lb_workload *workload = NULL;
        lb_error err = {0};
        double total = 0;
        for (int i = 0; i < MANY; i++)
            total += works[i] = odd_work(dice, sort);
        engine_must(lb_workload_new(&workload, &err), &err, "lb_workload_new");
        engine_must(lb_workload_add_many(workload, works, MANY, NULL, &err), &err, "add_many");
        for (lb_policy policy = LB_POLICY_NONE; policy <= LB_POLICY_IMMEDIATE; policy++) {
            lb_model *model = model_of(policy, MANY_CORES, NULL, 0);
            engine_must(lb_model_sample(model, workload, 1, seconds, &err), &err, "sample");
            lb_model_free(model);
            memcpy(ends, seconds, sizeof ends);
            qsort(ends, MANY, sizeof *ends, by_value);
            if (policy == LB_POLICY_IMMEDIATE) {
                memcpy(sorted, works, sizeof sorted);
                qsort(sorted, MANY, sizeof *sorted, by_value);
                share(sorted, MANY, MANY_CORES, expected);
                check(all_equal(ends, expected, MANY), "very many: works %d, immediate", sort);
                continue;
            }
            if (policy == LB_POLICY_NONE) {
                int at = 0;
                for (int core = 0; core < MANY_CORES; core++) {
                    int n = 0;
                    for (int i = core; i < MANY; i += MANY_CORES)
                        sorted[n++] = works[i];
                    qsort(sorted, (size_t)n, sizeof *sorted, by_value);
                    share(sorted, n, 1, expected + at);
                    at += n;
                }
                qsort(expected, MANY, sizeof *expected, by_value);
                check(all_equal(ends, expected, MANY), "very many: works %d, none", sort);
                continue;
            }
            /* All cores are busy until fewer processes than cores are left. */
            double used = 0;
            for (int k = 0; k < MANY; k++)
                used += (ends[k] - (k > 0 ? ends[k - 1] : 0)) *
                        (MANY - k < MANY_CORES ? MANY - k : MANY_CORES);
            check(equal(used, total), "very many: works %d, policy %d: %.17g s of %.17g s", sort,
                  (int)policy, used, total);
            for (int i = 0; i < MANY; i++)
                check(seconds[i] >= works[i] * (1 - 1e-9), "very many: %g s for %g s", seconds[i],
                      works[i]);
        }
        lb_workload_free(workload);
    }
}

/* ---- the largest that is promised ---- */

enum {
    LARGEST = 1000000,
    LARGEST_CORES = 65536
};

/* A million processes on 65,536 cores, of the twenty nice levels above 0; every seventh sleeps for
 * a second in between. */
static void largest(uint64_t *dice) {
    static double works[LARGEST], seconds[LARGEST];
    lb_workload *workload = NULL;
    lb_error err = {0};
    double total = 0;
    for (int i = 0; i < LARGEST; i++)
        total += works[i] = 1 + dice_unit(dice);
    engine_must(lb_workload_new(&workload, &err), &err, "lb_workload_new");
    engine_must(lb_workload_add_many(workload, works, LARGEST, NULL, &err), &err, "add_many");
    for (size_t i = 0; i < LARGEST; i++) {
        engine_must(lb_workload_set_weight(workload, i, lb_nice_weight((int)(i % 20)), &err), &err,
                    "weight");
        if (i % 7 != 0)
            continue;
        engine_must(lb_workload_add_event(workload, i, 0.5, LB_EVENT_SLEEP, &err), &err, "sleep");
        engine_must(lb_workload_add_event(workload, i, 1.5, LB_EVENT_WAKE, &err), &err, "wake");
    }
    for (lb_policy policy = LB_POLICY_NONE; policy <= LB_POLICY_IMMEDIATE; policy++) {
        lb_model *model = model_of(policy, LARGEST_CORES, NULL, 0);
        engine_must(lb_model_sample(model, workload, 1, seconds, &err), &err, "sample");
        lb_model_free(model);
        double last = 0;
        for (int i = 0; i < LARGEST; i++) {
            double least = works[i] + (i % 7 == 0 ? 1 : 0);
            check(seconds[i] >= least * (1 - 1e-9) && seconds[i] < INFINITY,
                  "largest: policy %d: %g s where %g s are the least", (int)policy, seconds[i],
                  least);
            last = fmax(last, seconds[i]);
        }
        check(last >= total / LARGEST_CORES, "largest: policy %d: all done after %g s", (int)policy,
              last);
    }
    lb_workload_free(workload);
}

int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 500;
    uint64_t dice = 5;
    for (int round = 0; round < rounds; round++) {
        conserves(&dice, round);
        more_cores_and_other_names(&dice, round);
    }
    very_many(&dice);
    largest(&dice);
    return checks_report();
}
