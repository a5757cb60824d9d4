/* SPDX-License-Identifier: BSD-3-Clause */
/* lb_experiment_throughput(): which runs there are, in which order, and what becomes of them. Each
 * round runs every point once under one condition; or under several forwards and backwards (ABBA,
 * then BAAB), which makes a block. The first round goes through the points in order and tells where
 * to stop, where they are not given; the others go through them in any order. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/random.h"
#include "experiment/controller.h"
#include "experiment/experiments.h"
#include "experiment/files.h"
#include "experiment/peak.h"
#include "experiment/throughput.h"

#define REPEATS 10       /* of one condition */
#define BLOCK_REPEATS 20 /* of several: ten blocks */
#define JOBS 16          /* of a batch, a core */
#define COMMANDS 4       /* likewise, of a user's command */
#define WIDEST 64        /* users, groups, a core */
#define WORD_BITS (sizeof(unsigned long) * CHAR_BIT)
#define LONGEST INT64_C(300000000000000000) /* ns: a budget of a decade is as good as none */

enum column {
    JOBS_PER_MINUTE,
    MESSAGES_PER_S,
    ELAPSED,
    SYSTEM,
    USER,
    CPU_PERCENT,
    JOB_MEAN,
    JOB_MAX,
    WAKE_P50,
    WAKE_P90,
    WAKE_P99,
    WAKE_MAX,
    SWITCHES,
    PREEMPTIONS,
    MIGRATIONS,
    MEAN_SLICE,
    IDLE_WAITING,
    FOREIGN,
    BLOCK,
    VALID,
    COLUMNS
};

enum {
    OF_BATCH = 1 << LB_THROUGHPUT_BATCH,
    OF_USERS = 1 << LB_THROUGHPUT_USERS,
    OF_MESSAGES = 1 << LB_THROUGHPUT_MESSAGES,
    OF_ALL = OF_BATCH | OF_USERS | OF_MESSAGES
};

static const struct {
    const char *name;
    int workloads;
} columns[COLUMNS] = {
    [JOBS_PER_MINUTE] = {"jobs_per_minute", OF_BATCH | OF_USERS},
    [MESSAGES_PER_S] = {"messages_per_s", OF_MESSAGES},
    [ELAPSED] = {"elapsed_s", OF_ALL},
    [SYSTEM] = {"system_s", OF_ALL},
    [USER] = {"user_s", OF_ALL},
    [CPU_PERCENT] = {"cpu_percent", OF_ALL},
    [JOB_MEAN] = {"job_mean_s", OF_BATCH},
    [JOB_MAX] = {"job_max_s", OF_BATCH},
    [WAKE_P50] = {"wake_p50_us", OF_MESSAGES},
    [WAKE_P90] = {"wake_p90_us", OF_MESSAGES},
    [WAKE_P99] = {"wake_p99_us", OF_MESSAGES},
    [WAKE_MAX] = {"wake_max_us", OF_MESSAGES},
    [SWITCHES] = {"switches_per_s", OF_ALL},
    [PREEMPTIONS] = {"preemptions_per_s", OF_ALL},
    [MIGRATIONS] = {"migrations_per_s", OF_ALL},
    [MEAN_SLICE] = {"mean_slice_ms", OF_ALL},
    [IDLE_WAITING] = {"idle_waiting_percent", OF_ALL},
    [FOREIGN] = {"foreign_percent", OF_ALL},
    [BLOCK] = {"block", OF_ALL},
    [VALID] = {"valid", OF_ALL},
};

/* One size of the workload. */
typedef struct point {
    uint32_t size;
    int32_t transport;
    char label[48];
} point;

/* One condition, and its result. */
typedef struct side {
    lb_condition condition;
    lbi_class class_, competitor_class;
    lbi_mask mask;
    lb_table *table;
    uint32_t runs, disturbed, by[LB_FINDING_UNMEASURED + 1];
} side;

typedef struct plan {
    const lb_host *host;
    const lb_throughput_options *options;
    side *sides;
    size_t side_count;
    point *points;
    size_t point_count, point_capacity;
    uint32_t rounds, jobs;
    int64_t begin_ns, limit_ns;
    uint64_t done;
    double fraction;
    size_t expected_points; /* about how many there will be */
} plan;

/* ---- one run ---- */

static int progress(void *user, double fraction) {
    plan *p = user;
    size_t points = p->expected_points > p->point_count ? p->expected_points : p->point_count;
    double passes = p->side_count == 1 ? 1 : 2 * (double)p->side_count;
    double all = (double)points * p->rounds * passes;
    double now = ((double)p->done + fraction) / all;
    /* There may be more points than expected. */
    p->fraction = now > p->fraction ? fmin(now, 1) : p->fraction;
    return p->options->progress(p->options->progress_user, p->fraction);
}

static lbi_task task_of(const plan *p, const side *s, const point *at) {
    /* The pointers are not written through: exec takes them so. */
    return (lbi_task){.workload = p->options->workload,
                      .size = at->size,
                      .transport = at->transport,
                      .jobs = p->jobs,
                      .window_ns = (int64_t)(p->options->seconds * 1e9),
                      .command = (char *const *)(uintptr_t)p->options->command,
                      .class_ = s->class_,
                      .competitor_class = s->competitor_class,
                      .competitors = s->condition.competitors,
                      .mask = &s->mask};
}

static void fill_row(const lbi_outcome *o, double block, double *values) {
    double turns = o->switches + o->preemptions;
    values[JOBS_PER_MINUTE] = 60 * o->count / o->elapsed_s;
    values[MESSAGES_PER_S] = o->count / o->elapsed_s;
    values[ELAPSED] = o->elapsed_s;
    values[SYSTEM] = o->system_s;
    values[USER] = o->user_s;
    values[CPU_PERCENT] = o->cpu_percent;
    values[JOB_MEAN] = o->job_mean_s;
    values[JOB_MAX] = o->job_max_s;
    for (int i = 0; i < 4; i++)
        values[WAKE_P50 + i] = 1e6 * o->wake_up_s[i];
    values[SWITCHES] = turns / o->elapsed_s;
    values[PREEMPTIONS] = o->preemptions / o->elapsed_s;
    values[MIGRATIONS] = o->migrations / o->elapsed_s;
    values[MEAN_SLICE] = turns > 0 ? 1e3 * (o->user_s + o->system_s) / turns : NAN;
    values[IDLE_WAITING] = o->idle_waiting_percent;
    values[FOREIGN] = o->foreign_percent;
    values[BLOCK] = block;
    values[VALID] = o->disturbed == 0;
}

/* Those of the workload's own. */
static size_t choose(const plan *p, const double *values, const char **names, double *chosen) {
    size_t n = 0;
    for (size_t i = 0; i < COLUMNS; i++) {
        if ((columns[i].workloads >> p->options->workload & 1) == 0)
            continue;
        if (names != NULL)
            names[n] = columns[i].name;
        if (chosen != NULL)
            chosen[n] = values[i];
        n++;
    }
    return n;
}

/* The first of a kind stands for all; the rows tell which runs it was. */
static lb_status keep_findings(const lbi_outcome *o, lb_table *table, lb_error *err) {
    for (size_t i = 0; i < o->findings.count; i++) {
        char key[64];
        lbi_snprintf(key, sizeof key, "finding_run_%s", lb_finding_name(o->findings.list[i].kind));
        if (lb_table_meta(table, key) != NULL)
            continue;
        lb_status status = lb_table_set_meta(table, key, o->findings.list[i].text, err);
        if (status != LB_OK)
            return status;
    }
    return LB_OK;
}

static lb_status run_one(plan *p, side *s, const point *at, double block, lb_error *err) {
    const lb_throughput_options *o = p->options;
    int64_t now = lbi_now(), limit = now + (int64_t)(o->time_limit * 1e9);
    double values[COLUMNS], chosen[COLUMNS];
    bool own = limit <= p->limit_ns;
    lbi_run_options options = {.host = p->host,
                               .limit_ns = own ? limit : p->limit_ns,
                               .time_limit = own ? o->time_limit : o->budget,
                               .output_limit = o->output_limit,
                               .expected_s = o->seconds,
                               .progress = o->progress == NULL ? NULL : progress,
                               .progress_user = p};
    lbi_task task = task_of(p, s, at);
    lbi_outcome outcome;
    lb_status status = lbi_task_run(&task, &options, &outcome, err);
    if (status != LB_OK)
        return status == LB_ERR_TIMEOUT && !own
                   ? lbi_error(err, status, "the budget of %g s is spent after %u runs", o->budget,
                               (unsigned)p->done)
                   : status;
    fill_row(&outcome, block, values);
    choose(p, values, NULL, chosen);
    status = lb_table_add_row(s->table, at->label, chosen, err);
    if (status == LB_OK)
        status = keep_findings(&outcome, s->table, err);
    lbi_findings_free(&outcome.findings);
    s->runs++;
    s->disturbed += outcome.disturbed != 0;
    for (int kind = 0; kind <= LB_FINDING_UNMEASURED; kind++)
        s->by[kind] += outcome.disturbed >> kind & 1;
    p->done++;
    return status;
}

/* ---- all runs ---- */

/* One condition: a run. Several: a block, forwards and backwards, so that what drifts steadily
 * meets all alike; and every second one the other way round, so that each is as often at its ends.
 */
static lb_status run_block(plan *p, const point *at, uint32_t round, lb_error *err) {
    lb_status status = LB_OK;
    size_t n = p->side_count;
    if (n == 1)
        return run_one(p, &p->sides[0], at, NAN, err);
    for (size_t i = 0; i < 2 * n && status == LB_OK; i++) {
        size_t turn = i < n ? i : 2 * n - 1 - i;
        status = run_one(p, &p->sides[round % 2 == 0 ? turn : n - 1 - turn], at, round, err);
    }
    return status;
}

static lb_status add_point(plan *p, uint32_t size, int32_t transport, lb_error *err) {
    static const char *const transports[] = {"sockets", "pipes", "tcp"};
    if (!lbi_array_reserve(&p->points, &p->point_capacity, p->point_count + 1, sizeof *p->points))
        return lbi_error_nomem(err, "the runs");
    point *at = &p->points[p->point_count++];
    *at = (point){.size = size, .transport = transport};
    if (p->options->workload == LB_THROUGHPUT_MESSAGES)
        lbi_snprintf(at->label, sizeof at->label, "%s, groups %u", transports[transport],
                     (unsigned)size);
    else if (p->options->workload == LB_THROUGHPUT_USERS)
        lbi_snprintf(at->label, sizeof at->label, "users %u", (unsigned)size);
    else if (size == 0)
        lbi_snprintf(at->label, sizeof at->label, "maximal");
    else
        lbi_snprintf(at->label, sizeof at->label, "parallel %u", (unsigned)size);
    return LB_OK;
}

static lb_status add_points(plan *p, const uint32_t *sizes, size_t n, lb_error *err) {
    lb_status status = LB_OK;
    uint32_t transports = p->options->transports == 0 ? 7 : p->options->transports;
    if (p->options->workload != LB_THROUGHPUT_MESSAGES)
        transports = 1;
    for (int32_t t = 0; t <= LB_TRANSPORT_TCP; t++)
        for (size_t i = 0; (transports >> t & 1) != 0 && i < n && status == LB_OK; i++)
            status = add_point(p, sizes[i], t, err);
    return status;
}

/* 1, 2, 3, 4, 6, 8, 12, 16, .. */
static uint32_t next_size(uint32_t size) {
    return size < 3 ? size + 1 : (size & (size - 1)) == 0 ? size / 2 * 3 : size / 3 * 4;
}

/* Whether every condition's peak is well passed. */
static bool passed(const plan *p, uint32_t size) {
    for (size_t i = 0; i < p->side_count; i++)
        if (!lbi_peak_passed(p->sides[i].table, size))
            return false;
    return true;
}

static lb_status first_round(plan *p, lb_error *err) {
    const lb_throughput_options *o = p->options;
    uint32_t cores = p->host->cores, widest = WIDEST * (cores < 64 ? cores : 64);
    uint32_t batch[] = {2 * cores, 0}, groups[] = {1, cores, 4 * cores};
    lb_status status = LB_OK;
    if (o->points != NULL)
        status = add_points(p, o->points, o->point_count, err);
    else if (o->workload == LB_THROUGHPUT_BATCH)
        status = add_points(p, batch, 2, err);
    else if (o->workload == LB_THROUGHPUT_MESSAGES)
        status = add_points(p, groups, 3, err);
    if (o->workload != LB_THROUGHPUT_USERS || o->points != NULL) {
        for (size_t i = 0; i < p->point_count && status == LB_OK; i++)
            status = run_block(p, &p->points[i], 0, err);
        return status;
    }
    p->expected_points = 12;
    for (uint32_t size = 1; status == LB_OK && size <= widest; size = next_size(size)) {
        status = add_point(p, size, 0, err);
        if (status == LB_OK)
            status = run_block(p, &p->points[p->point_count - 1], 0, err);
        if (status == LB_OK && passed(p, size))
            break;
    }
    p->expected_points = 0;
    return status;
}

static void shuffle(lbi_random *random, point *points, size_t n) {
    for (size_t i = n; i > 1; i--) {
        size_t at = (size_t)lbi_random_below(random, i);
        point other = points[at];
        points[at] = points[i - 1];
        points[i - 1] = other;
    }
}

static lb_status run_all(plan *p, lb_error *err) {
    lbi_random random;
    lbi_random_seed(&random, p->options->seed);
    lb_status status = first_round(p, err);
    for (uint32_t round = 1; round < p->rounds && status == LB_OK; round++) {
        shuffle(&random, p->points, p->point_count);
        for (size_t i = 0; i < p->point_count && status == LB_OK; i++)
            status = run_block(p, &p->points[i], round, err);
    }
    return status;
}

/* ---- before and after ---- */

static lb_status set_number(lb_table *table, const char *key, double value, lb_error *err) {
    char text[32];
    if (!isfinite(value))
        return LB_OK;
    lbi_snprintf(text, sizeof text, "%.6g", value);
    return lb_table_set_meta(table, key, text, err);
}

static lb_status set_command(const plan *p, lb_table *table, lb_error *err) {
    lbi_text text = {0};
    const char *const *command = p->options->command;
    if (command == NULL)
        return LB_OK;
    for (size_t i = 0; command[i] != NULL; i++) {
        lbi_text_string(&text, i == 0 ? "" : " ");
        lbi_text_foreign(&text, command[i], strlen(command[i]));
    }
    char *whole = lbi_text_take(&text, NULL);
    if (whole == NULL)
        return lbi_error_nomem(err, "the result's metadata");
    lb_status status = lb_table_set_meta(table, "command", whole, err);
    free(whole);
    return status;
}

/* What was measured. */
static lb_status describe_work(const plan *p, lb_table *table, lb_error *err) {
    static const char *const names[] = {"batch", "users", "messages"};
    const lb_throughput_options *o = p->options;
    lb_status status = lb_table_set_meta(table, "experiment", "throughput", err);
    if (status == LB_OK)
        status = lb_table_set_meta(table, "workload", names[o->workload], err);
    if (status == LB_OK)
        status = set_command(p, table, err);
    if (status == LB_OK && o->workload == LB_THROUGHPUT_BATCH)
        status = set_number(table, "jobs", p->jobs, err);
    if (status == LB_OK && o->workload != LB_THROUGHPUT_BATCH)
        status = set_number(table, "seconds", o->seconds, err);
    return status;
}

static lb_status name_side(const side *s, size_t index, lb_table *table, lb_error *err) {
    char text[96];
    if (s->condition.name != NULL)
        return lb_table_set_meta(table, "condition", s->condition.name, err);
    if (s->class_.real_time)
        lbi_snprintf(text, sizeof text, "%zu: %s, priority %d", index + 1,
                     lbi_class_name(&s->class_), s->class_.priority);
    else
        lbi_snprintf(text, sizeof text, "%zu: %s, nice %d", index + 1, lbi_class_name(&s->class_),
                     s->class_.nice);
    return lb_table_set_meta(table, "condition", text, err);
}

static lb_status choose_cores(const plan *p, side *s, size_t index, lb_error *err) {
    const lb_condition *c = &s->condition;
    s->mask = lbi_mask_new(p->host);
    if (s->mask.bits == NULL)
        return lbi_error_nomem(err, "the cores");
    for (size_t i = 0; i < (c->cores == NULL ? p->host->cores : c->core_count); i++) {
        size_t core = c->cores == NULL ? i : c->cores[i];
        if (core >= p->host->cores)
            return lbi_error(err, LB_ERR_INVALID,
                             "conditions[%zu]: cores[%zu] is %zu: below %u expected", index, i,
                             core, (unsigned)p->host->cores);
        uint32_t cpu = p->host->cpus[core];
        s->mask.bits[cpu / WORD_BITS] |= 1ul << cpu % WORD_BITS;
    }
    return LB_OK;
}

static lb_status open_side(const plan *p, const lb_condition *condition, size_t index, side *s,
                           lb_error *err) {
    lbi_class caller;
    const char *names[COLUMNS];
    lb_status status = lbi_condition_read(condition, &s->condition, err);
    if (status != LB_OK)
        return status;
    int error = lbi_class_get(&caller);
    if (error != 0)
        return lbi_error_os(err, LB_ERR_SYSTEM, error, "cannot read the scheduling class");
    if (!lbi_class_inherits(&caller))
        return lbi_error(err, LB_ERR_UNSUPPORTED,
                         "the caller's scheduling class is %s: processes cannot inherit it",
                         lbi_class_name(&caller));
    lb_experiment_options o = {.scheduling = s->condition.scheduling,
                               .nice = s->condition.nice,
                               .priority = s->condition.priority};
    s->class_ = lbi_class_chosen(&o, &caller);
    o = (lb_experiment_options){.scheduling = s->condition.competitor_scheduling,
                                .nice = s->condition.competitor_nice};
    s->competitor_class = lbi_class_chosen(&o, &caller);
    status = choose_cores(p, s, index, err);
    if (status == LB_OK)
        status = lb_table_new(names, choose(p, NULL, names, NULL), &s->table, err);
    if (status == LB_OK)
        status = name_side(s, index, s->table, err);
    if (status == LB_OK)
        status = describe_work(p, s->table, err);
    if (status == LB_OK)
        status = lbi_condition_describe(&s->condition, p->host, &s->class_, &s->competitor_class,
                                        s->table, err);
    return status;
}

/* "load 3, steal 1": which kinds, in how many runs. */
static lb_status tell_disturbed(const side *s, lb_error *err) {
    lbi_text text = {0};
    for (int kind = 0; kind <= LB_FINDING_UNMEASURED; kind++)
        if (s->by[kind] > 0)
            lbi_text_printf(&text, "%s%s %u", text.length == 0 ? "" : ", ",
                            lb_finding_name((lb_finding_kind)kind), (unsigned)s->by[kind]);
    char *kinds = lbi_text_take(&text, NULL);
    if (kinds == NULL)
        return lbi_error_nomem(err, "the result's metadata");
    lb_status status =
        kinds[0] == '\0' ? LB_OK : lb_table_set_meta(s->table, "disturbed_by", kinds, err);
    free(kinds);
    return status;
}

static lb_status close_side(const plan *p, side *s, lb_error *err) {
    lb_status status = set_number(s->table, "runs", s->runs, err);
    if (status == LB_OK)
        status = set_number(s->table, "disturbed_runs", s->disturbed, err);
    if (status == LB_OK)
        status = tell_disturbed(s, err);
    if (status == LB_OK && p->options->workload == LB_THROUGHPUT_USERS)
        status = lbi_peak_describe(s->table, err);
    return status;
}

static lb_status measure(plan *p, const lb_condition *const *conditions, lb_table **ret_tables,
                         lb_error *err) {
    lb_status status = LB_OK;
    p->sides = lbi_array_new(p->side_count, sizeof *p->sides);
    if (p->sides == NULL)
        return lbi_error_nomem(err, "the conditions");
    memset(p->sides, 0, p->side_count * sizeof *p->sides);
    for (size_t i = 0; i < p->side_count && status == LB_OK; i++)
        status = open_side(p, conditions == NULL ? NULL : conditions[i], i, &p->sides[i], err);
    if (status == LB_OK)
        status = run_all(p, err);
    for (size_t i = 0; i < p->side_count && status == LB_OK; i++)
        status = close_side(p, &p->sides[i], err);
    for (size_t i = 0; i < p->side_count; i++) {
        if (status == LB_OK)
            ret_tables[i] = p->sides[i].table;
        else
            lb_table_free(p->sides[i].table);
        lbi_mask_free(&p->sides[i].mask);
    }
    free(p->sides);
    free(p->points);
    return status;
}

lb_status lb_experiment_throughput(const lb_host *host, const lb_condition *const *conditions,
                                   size_t n, const lb_throughput_options *options,
                                   lb_table **ret_tables, lb_error *err) {
    lb_throughput_options read;
    lb_host *opened = NULL;
    lb_status status = lbi_throughput_options_read(options, &read, err);
    if (status == LB_OK && (n < 1 || (conditions == NULL && n > 1)))
        status = lbi_error(err, LB_ERR_INVALID,
                           "n is %zu: 1 or more conditions, or 1 without them, expected", n);
    if (status == LB_OK)
        status = lbi_real_host(host, &host, &opened, err);
    if (status == LB_OK) {
        uint32_t repeats = read.repeats != 0 ? read.repeats : n == 1 ? REPEATS : BLOCK_REPEATS;
        uint32_t jobs = (read.command == NULL ? JOBS : COMMANDS) * host->cores;
        plan p = {.host = host,
                  .options = &read,
                  .side_count = n,
                  .rounds = n == 1 ? repeats : (repeats + 1) / 2,
                  .jobs = read.jobs != 0 ? read.jobs : jobs,
                  .begin_ns = lbi_now()};
        double budget = read.budget > 0 ? read.budget * 1e9 : (double)LONGEST;
        p.limit_ns = p.begin_ns + (budget < (double)LONGEST ? (int64_t)budget : LONGEST);
        status = measure(&p, conditions, ret_tables, err);
    }
    lb_host_free(opened);
    return status;
}
