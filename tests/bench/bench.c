/* SPDX-License-Identifier: BSD-3-Clause */
/* What the model costs, against the plainest thing that does as much. tests/bench/run.sh builds and
 * runs it as it should be.
 *
 *     bench [PAIRS [sorting|loop|heap]]    pairs of runs for each row (default 15); one part
 */
#include "bench.h"

#include <string.h>

#include "lbsched/lbsched.h"
#include "plain.h"

static void must(lb_status status, const lb_error *err) {
    if (status == LB_OK)
        return;
    printf("%s: %s\n", lb_status_name(status), err->message);
    exit(EXIT_FAILURE);
}

static uint64_t random_next(void) {
    static uint64_t state = 88172645463325252u;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static double random_work(void) {
    return -log(((double)(random_next() >> 11) + 0.5) * 0x1p-53);
}

static lb_model *model_of(lb_policy policy, uint32_t cores) {
    lb_model_options options;
    lb_model *model = NULL;
    lb_error err;
    lb_model_options_init(&options, sizeof options);
    options.cores = cores;
    options.policy = (int32_t)policy;
    must(lb_model_new(&options, &model, &err), &err);
    return model;
}

static lb_workload *workload_of(const double *works, size_t n) {
    lb_workload *workload = NULL;
    lb_error err;
    must(lb_workload_new(&workload, &err), &err);
    must(lb_workload_add_many(workload, works, n, NULL, &err), &err);
    return workload;
}

static void *memory(size_t size) {
    void *new = malloc(size);
    if (new == NULL) {
        printf("no memory\n");
        exit(EXIT_FAILURE);
    }
    return new;
}

/* ---- one realisation of many processes, against sorting their works ---- */

struct sorting {
    size_t n;
    double *works, *copy, *seconds;
    lb_model *model;
    lb_workload *workload;
};

static double sample_once(void *user) {
    struct sorting *s = user;
    lb_error err;
    double begun = bench_now();
    must(lb_model_sample(s->model, s->workload, 1, s->seconds, &err), &err);
    return bench_now() - begun;
}

static double sort_once(void *user) {
    struct sorting *s = user;
    memcpy(s->copy, s->works, s->n * sizeof *s->copy);
    double begun = bench_now();
    qsort(s->copy, s->n, sizeof *s->copy, bench_compare);
    return bench_now() - begun;
}

static void against_sorting(int pairs) {
    static const struct {
        lb_policy policy;
        const char *name;
        double goal;
    } rows[] = {{LB_POLICY_IMMEDIATE, "immediate", 0.35},
                {LB_POLICY_NONE, "none", 0.6},
                {LB_POLICY_LAZY, "lazy", 0.8},
                {LB_POLICY_ACTIVE, "active", 1.5}};
    struct sorting s = {.n = 1000000};
    s.works = memory(s.n * sizeof(double));
    s.copy = memory(s.n * sizeof(double));
    s.seconds = memory(s.n * sizeof(double));
    for (size_t i = 0; i < s.n; i++)
        s.works[i] = random_work();
    s.workload = workload_of(s.works, s.n);
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        char what[128];
        s.model = model_of(rows[k].policy, 64);
        snprintf(what, sizeof what, "%s: lb_model_sample, 64 cores, 1,000,000; qsort of the works",
                 rows[k].name);
        bench_row(what, sample_once, sort_once, &s, pairs, 0, rows[k].goal);
        lb_model_free(s.model);
    }
    lb_workload_free(s.workload);
    free(s.works);
    free(s.copy);
    free(s.seconds);
}

/* ---- many realisations of few processes, against a loop over arrays ---- */

struct small {
    const double *works;
    lb_model *model;
    lb_workload *workload;
    long samples;
    uint64_t seed;
    void (*plain)(const double *work, uint64_t seed, long samples, struct plain_sums *ret_sums);
    lb_duration durations[PLAIN_PROCESSES];
    struct plain_sums sums;
};

static double library_loop(void *user) {
    struct small *s = user;
    lb_estimate_options options;
    lb_error err;
    lb_estimate_options_init(&options, sizeof options);
    options.method = LB_METHOD_SAMPLE;
    options.samples = (uint64_t)s->samples;
    options.seed = s->seed++;
    double begun = bench_now();
    must(lb_model_durations(s->model, s->workload, &options, s->durations, &err), &err);
    return bench_now() - begun;
}

static double plain_loop(void *user) {
    struct small *s = user;
    double begun = bench_now();
    s->plain(s->works, s->seed, s->samples, &s->sums);
    return bench_now() - begun;
}

static void against_plain_loop(int pairs) {
    static const double works[PLAIN_PROCESSES] = {5.64, 0.29, 8.68, 3.67, 9.47, 3.52,
                                                  6.84, 8.27, 4.4,  3.05, 7.05, 9.1};
    struct small s = {.works = works, .samples = 500000};
    s.workload = workload_of(works, PLAIN_PROCESSES);
    for (int lazy = 1; lazy >= 0; lazy--) {
        char what[128];
        s.model = model_of(lazy ? LB_POLICY_LAZY : LB_POLICY_ACTIVE, PLAIN_CORES);
        s.plain = lazy ? plain_lazy : plain_active;
        snprintf(what, sizeof what,
                 "%s: 500,000 realisations, 4 cores, 12, all results; a loop over arrays",
                 lazy ? "lazy" : "active");
        bench_row(what, library_loop, plain_loop, &s, pairs, 1, 1.2);
        /* Both must have done the same. */
        for (int i = 0; i < PLAIN_PROCESSES; i++) {
            double mean = s.sums.sum[i] / (double)s.samples;
            double apart = fabs(mean - s.durations[i].mean);
            if (apart > 10 * s.durations[i].standard_error + 1e-6)
                printf("the loop is wrong: p%d %g, %g\n", i, mean, s.durations[i].mean);
        }
        printf("%45s %.2f million realisations a second, the loop %.2f\n", "",
               (double)s.samples / library_loop(&s) / 1e6,
               (double)s.samples / plain_loop(&s) / 1e6);
        lb_model_free(s.model);
    }
    lb_workload_free(s.workload);
}

/* ---- online, against a binary heap ---- */

enum {
    ALIVE = 100000,
    STEPS = 200000
};

struct online {
    struct {
        double key;
        uint64_t payload;
    } heap[ALIVE + 1]; /* from 1 on; the least first */
    size_t count;
    double works[STEPS];
    lb_sim *sim;
    double checksum;
};

static void heap_push(struct online *o, double key, uint64_t payload) {
    size_t at = ++o->count;
    for (; at > 1 && o->heap[at / 2].key > key; at /= 2)
        o->heap[at] = o->heap[at / 2];
    o->heap[at].key = key;
    o->heap[at].payload = payload;
}

static double heap_pop(struct online *o, uint64_t *ret_payload) {
    double top = o->heap[1].key, key = o->heap[o->count].key;
    uint64_t payload = o->heap[o->count--].payload;
    *ret_payload = o->heap[1].payload;
    size_t at = 1, child;
    while ((child = 2 * at) <= o->count) {
        child += child < o->count && o->heap[child + 1].key < o->heap[child].key;
        if (o->heap[child].key >= key)
            break;
        o->heap[at] = o->heap[child];
        at = child;
    }
    o->heap[at].key = key;
    o->heap[at].payload = payload;
    return top;
}

static double heap_steps(void *user) {
    struct online *o = user;
    double begun = bench_now();
    for (int k = 0; k < STEPS; k++) {
        uint64_t payload;
        double top = heap_pop(o, &payload);
        heap_push(o, top + o->works[k], payload + 1);
        o->checksum += top;
    }
    return bench_now() - begun;
}

static double sim_steps(void *user) {
    struct online *o = user;
    lb_error err;
    lb_sim_event event;
    lb_process_id id;
    double begun = bench_now();
    for (int k = 0; k < STEPS;) {
        must(lb_sim_advance(o->sim, lb_sim_next(o->sim), &err), &err);
        while (lb_sim_poll(o->sim, &event)) {
            if (event.kind != LB_SIM_COMPLETED)
                continue;
            must(
                lb_sim_add(o->sim, o->works[k++ % STEPS], 1, LB_CORE_ANY, event.tag + 1, &id, &err),
                &err);
            o->checksum += event.time;
        }
    }
    return bench_now() - begun;
}

static void against_heap(int pairs) {
    static const struct {
        lb_policy policy;
        const char *name;
    } rows[] = {{LB_POLICY_IMMEDIATE, "immediate"},
                {LB_POLICY_NONE, "none"},
                {LB_POLICY_LAZY, "lazy"},
                {LB_POLICY_ACTIVE, "active"}};
    struct online *o = memory(sizeof *o);
    memset(o, 0, sizeof *o);
    for (int k = 0; k < STEPS; k++)
        o->works[k] = random_work();
    for (int k = 0; k < ALIVE; k++)
        heap_push(o, random_work(), 0);
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        char what[128];
        lb_error err;
        lb_process_id id;
        lb_model *model = model_of(rows[k].policy, 64);
        must(lb_sim_new(model, 1, &o->sim, &err), &err);
        must(lb_sim_reserve(o->sim, ALIVE + 1000, &err), &err);
        must(lb_sim_begin(o->sim, 0, &err), &err);
        for (int i = 0; i < ALIVE; i++)
            must(lb_sim_add(o->sim, random_work(), 1, LB_CORE_ANY, 0, &id, &err), &err);
        must(lb_sim_commit(o->sim, &err), &err);
        snprintf(what, sizeof what,
                 "%s: 200,000 completions and arrivals online, 100,000 alive; heap pops and pushes",
                 rows[k].name);
        bench_row(what, sim_steps, heap_steps, o, pairs, 0, 1.5);
        lb_sim_free(o->sim);
        lb_model_free(model);
    }
    if (isnan(o->checksum))
        printf("not a number\n");
    free(o);
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*run)(int pairs);
    } parts[] = {
        {"sorting", against_sorting}, {"loop", against_plain_loop}, {"heap", against_heap}};
    int pairs = argc > 1 ? atoi(argv[1]) : 15;
    if (pairs < 1 || pairs > BENCH_PAIRS_MAX) {
        fprintf(stderr, "usage: bench [PAIRS [sorting|loop|heap]]\n");
        return 2;
    }
    bench_head();
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
        if (argc < 3 || strcmp(argv[2], parts[k].name) == 0)
            parts[k].run(pairs);
    return 0;
}
