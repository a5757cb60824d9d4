/* SPDX-License-Identifier: BSD-3-Clause */
/* lb_experiment_weights(): a crew for each level and repeat. Its soakers work alone first; then the
 * normal tasks, which waited so long, join them. */
#include <math.h>
#include <sched.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/random.h"
#include "base/statistics.h"
#include "base/text.h"
#include "experiment/crew.h"
#include "experiment/experiments.h"
#include "experiment/gaps.h"
#include "experiment/options.h"
#include "experiment/proc_stat.h"
#include "model/weights.h"

#define REPEATS 3
#define UNIT 0.01  /* CPU seconds */
#define SPARE 20.0 /* seconds beyond what is asked for, until a crew counts as stuck */
/* Before anything counts, the cores have this part of the time to come to rest, or so much. */
#define REST_PART 0.2
#define REST 0.5 /* seconds */

static const char *const names[] = {"weight_ratio",
                                    "ideal_idle_percent",
                                    "idle_percent",
                                    "idle_stddev",
                                    "control_idle_percent",
                                    "user",
                                    "nice",
                                    "system",
                                    "iowait",
                                    "irq",
                                    "softirq",
                                    "steal",
                                    "interrupts_per_s",
                                    "ideal_normal_percent",
                                    "normal_percent",
                                    "normal_stddev",
                                    "ideal_soaker_percent",
                                    "soaker_percent",
                                    "idle_waiting_percent",
                                    "foreign_percent",
                                    "disturbed"};
enum {
    COLUMNS = sizeof names / sizeof *names
};

/* What one crew showed. */
typedef struct result {
    lbi_stat_change change, control;
    double interrupts; /* a second */
    double normal, soaker, waiting, foreign;
    bool disturbed, measured;
} result;

typedef struct plan {
    const lb_host *host;
    const lb_weights_options *options;
    uint32_t repeats, samples; /* samples: in a repeat */
    int64_t rest_ns, time_ns;
    result *results; /* [level][repeat] */
    double *idle;    /* [level][repeat][sample] */
    uint64_t done, all;
    lbi_text refused; /* levels, and why */
    int64_t *clocks;  /* of each worker, as the time that counts begins */
} plan;

/* ---- one crew ---- */

static int progress(void *user, double fraction) {
    const plan *p = user;
    return p->options->progress(p->options->progress_user,
                                ((double)p->done + fraction) / (double)p->all);
}

static lb_status wait_until(lbi_crew *crew, int64_t time_ns, lb_error *err) {
    lb_status status = LB_OK;
    do
        status = lbi_crew_step(crew, time_ns, err);
    while (status == LB_OK && lbi_now() < time_ns);
    return status;
}

static lb_status read_stat(char **ret_text, lb_error *err) {
    *ret_text = NULL;
    if (!lbi_stat_read(ret_text))
        return lbi_error_nomem(err, "/proc/stat");
    if (*ret_text == NULL)
        return lbi_error(err, LB_ERR_UNSUPPORTED, "/proc/stat cannot be read");
    return LB_OK;
}

/* Waits until `until` and tells what the cores did since `*before`, which becomes the text of now
 */
static lb_status sample(const plan *p, lbi_crew *crew, int64_t until, char **before,
                        lbi_stat_change *ret_change, lb_error *err) {
    char *now = NULL;
    lb_status status = wait_until(crew, until, err);
    if (status == LB_OK)
        status = read_stat(&now, err);
    if (status == LB_OK && !lbi_stat_compare(*before, now, p->host, ret_change))
        status = lbi_error_nomem(err, "/proc/stat");
    if (status == LB_OK) {
        free(*before);
        *before = now;
    } else {
        free(now);
    }
    return status;
}

static lb_status control(const plan *p, lbi_crew *crew, result *r, lb_error *err) {
    char *before = NULL;
    lb_status status = wait_until(crew, lbi_now() + p->rest_ns, err);
    if (status == LB_OK)
        status = read_stat(&before, err);
    if (status == LB_OK)
        status = sample(p, crew, lbi_now() + p->time_ns, &before, &r->control, err);
    free(before);
    return status;
}

static lb_status clocks(const plan *p, const lbi_crew *crew, bool begin, result *r, lb_error *err) {
    uint32_t soakers = p->host->cores;
    double sums[2] = {0, 0};
    for (uint32_t i = 0; i < crew->workers; i++) {
        int64_t now;
        int error = lbi_cpu_of(crew->hands[i].process, crew->threads, &now);
        if (error != 0)
            return lbi_error_os(err, LB_ERR_SYSTEM, error, "cannot read the CPU time of worker %u",
                                (unsigned)i);
        sums[i >= soakers] += begin ? 0 : (double)(now - p->clocks[i]);
        if (begin)
            p->clocks[i] = now;
    }
    r->soaker = sums[0] / soakers;
    r->normal = sums[1] / p->options->normal_tasks;
    return LB_OK;
}

/* The time that counts, in samples of a second or so, and as a whole. */
static lb_status measure(const plan *p, lbi_crew *crew, result *r, double *idle, lb_error *err) {
    char *before = NULL, *first = NULL;
    lb_status status = wait_until(crew, crew->origin_ns + p->rest_ns, err);
    int64_t begin = lbi_now();
    if (status == LB_OK)
        status = read_stat(&before, err);
    if (status == LB_OK && (first = lbi_string_copy(before)) == NULL)
        status = lbi_error_nomem(err, "/proc/stat");
    if (status == LB_OK)
        status = clocks(p, crew, true, r, err);
    for (uint32_t i = 0; i < p->samples && status == LB_OK; i++) {
        lbi_stat_change change;
        status = sample(p, crew, begin + p->time_ns * (i + 1) / p->samples, &before, &change, err);
        idle[i] = status == LB_OK ? change.percent[LBI_STAT_IDLE] : NAN;
    }
    if (status == LB_OK)
        status = clocks(p, crew, false, r, err);
    double time = (double)(lbi_now() - begin);
    if (status == LB_OK && !lbi_stat_compare(first, before, p->host, &r->change))
        status = lbi_error_nomem(err, "/proc/stat");
    r->soaker *= 100 / time;
    r->normal *= 100 / time;
    r->interrupts = r->change.interrupts / (time / 1e9);
    free(before);
    free(first);
    return status;
}

static lb_status look_at_trace(const plan *p, const lbi_crew *crew, result *r, lb_error *err) {
    lb_trace *trace;
    lb_status status = lbi_crew_trace(crew, "weights", &trace, err);
    if (status != LB_OK)
        return status;
    /* There are always more workers than cores, so one waits. */
    status = lbi_gaps_percent(trace, p->host->cores, p->rest_ns, p->rest_ns + p->time_ns,
                              &r->waiting, err);
    r->disturbed = lb_trace_meta(trace, "disturbed") != NULL;
    r->foreign = 100 * crew->foreign;
    lb_trace_free(trace);
    return status;
}

static lb_status play(const plan *p, lbi_crew *crew, int32_t level, result *r, double *idle,
                      lb_error *err) {
    lb_status status = lbi_crew_calibrate(crew, err);
    if (status != LB_OK)
        return status;
    crew->expected_ns = lbi_now() + 2 * (p->rest_ns + p->time_ns);
    for (uint32_t i = 0; i < crew->workers; i++) {
        lbi_slot *slot = &crew->arena->slots[i];
        /* Whatever the caller's own class is. */
        slot->class_ = (lbi_class){.policy = SCHED_OTHER};
        if (i < p->host->cores)
            lbi_class_weigh(&slot->class_, lbi_level_weight(level));
        else
            slot->late = true;
    }
    /* Each core begins with one soaker; then all go where the system wants them. */
    status = lbi_crew_spin(crew, err);
    for (uint32_t i = 0; i < crew->workers && status == LB_OK; i++)
        status = lbi_crew_bind(crew, i, UINT32_MAX, err);
    if (status == LB_OK)
        status = control(p, crew, r, err);
    if (status == LB_OK)
        status = lbi_crew_release(crew, err);
    if (status == LB_OK)
        status = measure(p, crew, r, idle, err);
    /* Only now: however late the controller is, nobody ends before all is measured. */
    for (uint32_t i = 0; i < crew->workers; i++)
        atomic_store(&crew->arena->slots[i].deadline_ns, lbi_now());
    if (status == LB_OK)
        status = lbi_crew_finish(crew, err);
    return status == LB_OK ? look_at_trace(p, crew, r, err) : status;
}

static lb_status run_crew(plan *p, int32_t level, result *r, double *idle, lb_error *err) {
    lb_experiment_options options;
    lb_experiment_options_init(&options, sizeof options);
    double seconds = 1e-9 * (double)(p->rest_ns + p->time_ns);
    options.unit_work = UNIT;
    options.budget = 2 * seconds + SPARE;
    options.progress = p->options->progress == NULL ? NULL : progress;
    options.progress_user = p;
    uint32_t workers = p->host->cores + p->options->normal_tasks;
    size_t *capacities = lbi_array_new(workers, sizeof *capacities);
    if (capacities == NULL)
        return lbi_error_nomem(err, "the workers");
    for (uint32_t i = 0; i < workers; i++)
        capacities[i] = (size_t)(2 * seconds / UNIT) + 16;
    lbi_crew crew;
    lb_status status = lbi_crew_begin(&crew, p->host, &options, workers, capacities, err);
    free(capacities);
    if (status != LB_OK)
        return status;
    status = play(p, &crew, level, r, idle, err);
    lbi_crew_end(&crew);
    return status;
}

/* ---- all of them ---- */

static lb_status refuse(plan *p, int32_t level, const lb_error *why, lb_error *err) {
    char label[16];
    lbi_level_label(level, label, sizeof label);
    /* Once for a level. */
    if (p->refused.data == NULL || strstr(p->refused.data, label) == NULL)
        lbi_text_printf(&p->refused, "%s%s (%s)", p->refused.length == 0 ? "" : "; ", label,
                        why->message);
    return p->refused.failed ? lbi_error_nomem(err, "the findings") : LB_OK;
}

/* A level that this process may not have stays unmeasured; other faults end the call. */
static lb_status run_level(plan *p, size_t level, uint32_t repeat, lb_error *err) {
    size_t at = level * p->repeats + repeat;
    lb_error why = {0};
    lb_status status =
        run_crew(p, p->options->levels[level], &p->results[at], &p->idle[at * p->samples], &why);
    p->done++;
    p->results[at].measured = status == LB_OK;
    if (status == LB_ERR_PERMISSION)
        return refuse(p, p->options->levels[level], &why, err);
    if (status != LB_OK && err != NULL)
        *err = why;
    return status;
}

/* Every repeat takes all levels, each time in another order: what drifts meets them all alike. */
static lb_status run_all(plan *p, lb_error *err) {
    size_t n = p->options->level_count;
    size_t *order = lbi_array_new(n, sizeof *order);
    if (order == NULL)
        return lbi_error_nomem(err, "the levels");
    lbi_random random;
    lbi_random_seed(&random, p->options->seed);
    lb_status status = LB_OK;
    for (uint32_t repeat = 0; repeat < p->repeats && status == LB_OK; repeat++) {
        for (size_t i = 0; i < n; i++) {
            size_t at = (size_t)lbi_random_below(&random, i + 1);
            order[i] = order[at];
            order[at] = i;
        }
        for (size_t i = 0; i < n && status == LB_OK; i++)
            status = run_level(p, order[i], repeat, err);
    }
    free(order);
    return status;
}

/* ---- the table ---- */

/* The repeats' mean of what stands so many bytes from the beginning of a result. */
static double mean_of(const result *results, uint32_t n, size_t offset) {
    double sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        double value;
        memcpy(&value, (const char *)&results[i] + offset, sizeof value);
        sum += value;
    }
    return sum / n;
}

static double mean_column(const result *results, uint32_t n, enum lbi_stat_column column) {
    return mean_of(results, n, offsetof(result, change.percent) + column * sizeof(double));
}

static double normal_stddev(const result *results, uint32_t n) {
    double mean = mean_of(results, n, offsetof(result, normal)), sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += (results[i].normal - mean) * (results[i].normal - mean);
    return n < 2 ? 0 : sqrt(sum / (n - 1));
}

static lb_status add_level(const plan *p, size_t level, lb_table *table, lb_error *err) {
    const result *r = &p->results[level * p->repeats];
    uint32_t n = p->repeats, disturbed = 0;
    double ratio = lbi_level_weight(p->options->levels[level]), normal, soaker;
    lbi_weights_ideal(p->host->cores, p->options->normal_tasks, ratio, &normal, &soaker);
    double values[COLUMNS];
    for (size_t i = 0; i < COLUMNS; i++)
        values[i] = NAN;
    bool measured = true;
    for (uint32_t i = 0; i < n; i++) {
        measured = measured && r[i].measured;
        disturbed += r[i].disturbed;
    }
    values[0] = ratio;
    values[1] = 0;
    values[13] = 100 * normal;
    values[16] = 100 * soaker;
    if (measured) {
        static const enum lbi_stat_column columns[] = {
            LBI_STAT_USER, LBI_STAT_NICE,    LBI_STAT_SYSTEM, LBI_STAT_IOWAIT,
            LBI_STAT_IRQ,  LBI_STAT_SOFTIRQ, LBI_STAT_STEAL};
        values[2] = mean_column(r, n, LBI_STAT_IDLE);
        values[3] = lbi_stddev(&p->idle[level * n * p->samples], (size_t)n * p->samples);
        values[4] =
            mean_of(r, n, offsetof(result, control.percent) + LBI_STAT_IDLE * sizeof(double));
        for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
            values[5 + i] = mean_column(r, n, columns[i]);
        values[12] = mean_of(r, n, offsetof(result, interrupts));
        values[14] = mean_of(r, n, offsetof(result, normal));
        values[15] = normal_stddev(r, n);
        values[17] = mean_of(r, n, offsetof(result, soaker));
        values[18] = mean_of(r, n, offsetof(result, waiting));
        values[19] = mean_of(r, n, offsetof(result, foreign));
        values[20] = disturbed;
    }
    char label[16];
    lbi_level_label(p->options->levels[level], label, sizeof label);
    return lb_table_add_row(table, label, values, err);
}

static lb_status set_meta(plan *p, lb_table *table, lb_error *err) {
    char text[64];
    lbi_snprintf(text, sizeof text, "%u", (unsigned)p->host->cores);
    lb_status status = lb_table_set_meta(table, "cores", text, err);
    if (status == LB_OK)
        status = lb_table_set_meta(table, "host", p->host->description, err);
    lbi_kernel(text, sizeof text);
    if (status == LB_OK)
        status = lb_table_set_meta(table, "kernel", text, err);
    lbi_snprintf(text, sizeof text, "%u", (unsigned)p->options->normal_tasks);
    if (status == LB_OK)
        status = lb_table_set_meta(table, "normal_tasks", text, err);
    lbi_snprintf(text, sizeof text, "%u", (unsigned)p->repeats);
    if (status == LB_OK)
        status = lb_table_set_meta(table, "repeats", text, err);
    lbi_snprintf(text, sizeof text, "%g", p->options->seconds);
    if (status == LB_OK)
        status = lb_table_set_meta(table, "seconds", text, err);
    if (status != LB_OK || p->refused.length == 0)
        return status;
    lbi_text finding = {0};
    lbi_text_printf(&finding,
                    "this process may not have some of the levels, which are not measured: %s",
                    p->refused.data);
    char *sentence = lbi_text_take(&finding, NULL);
    if (sentence == NULL)
        return lbi_error_nomem(err, "the findings");
    status = lb_table_set_meta(table, "finding_not_measured", sentence, err);
    free(sentence);
    return status;
}

static lb_status make_table(plan *p, lb_table **ret_table, lb_error *err) {
    lb_table *table = NULL;
    lb_status status = lb_table_new(names, COLUMNS, &table, err);
    for (size_t i = 0; i < p->options->level_count && status == LB_OK; i++)
        status = add_level(p, i, table, err);
    if (status == LB_OK)
        status = set_meta(p, table, err);
    if (status == LB_OK)
        *ret_table = table;
    else
        lb_table_free(table);
    return status;
}

static lb_status run(const lb_host *host, const lb_weights_options *options, lb_table **ret_table,
                     lb_error *err) {
    if (options->normal_tasks > LBI_MAX_WORKERS - host->cores || host->cores >= LBI_MAX_WORKERS)
        return lbi_error(err, LB_ERR_INVALID,
                         "normal_tasks is %u: with %u soakers %u processes at most expected",
                         (unsigned)options->normal_tasks, (unsigned)host->cores, LBI_MAX_WORKERS);
    plan p = {.host = host, .options = options};
    p.repeats = options->repeats == 0 ? REPEATS : options->repeats;
    p.samples = options->seconds < 2 ? 1 : (uint32_t)options->seconds;
    p.time_ns = (int64_t)(options->seconds * 1e9);
    p.rest_ns = (int64_t)(fmin(REST, REST_PART * options->seconds) * 1e9);
    size_t n = p.repeats * options->level_count;
    p.all = n;
    p.results = lbi_array_new(n, sizeof *p.results);
    p.idle = lbi_array_new(n * p.samples, sizeof *p.idle);
    p.clocks = lbi_array_new(host->cores + options->normal_tasks, sizeof *p.clocks);
    lb_status status = LB_OK;
    if (p.results == NULL || p.idle == NULL || p.clocks == NULL)
        status = lbi_error_nomem(err, "the results");
    if (status == LB_OK) {
        /* What cannot be measured stays so. */
        memset(p.results, 0, n * sizeof *p.results);
        status = run_all(&p, err);
    }
    if (status == LB_OK)
        status = make_table(&p, ret_table, err);
    lbi_text_free(&p.refused);
    free(p.clocks);
    free(p.idle);
    free(p.results);
    return status;
}

lb_status lb_experiment_weights(const lb_host *host, const lb_weights_options *options,
                                lb_table **ret_table, lb_error *err) {
    lb_weights_options read;
    lb_host *opened = NULL;
    lb_status status = lbi_weights_options_read(options, &read, err);
    if (status == LB_OK)
        status = lbi_usable_host(host, &host, &opened, err);
    if (status == LB_OK)
        status = run(host, &read, ret_table, err);
    lb_host_free(opened);
    return status;
}
