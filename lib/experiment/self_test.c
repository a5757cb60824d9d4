/* SPDX-License-Identifier: BSD-3-Clause */
/* lb_self_test(): is each scheduler, emulated here, detected as what it is? */
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "experiment/experiments.h"
#include "experiment/options.h"

static const struct scheduler {
    const char *name;
    lb_policy policy;
    lb_queues queues;
} schedulers[] = {
    {"none", LB_POLICY_NONE, LB_QUEUES_PER_CORE},
    {"lazy", LB_POLICY_LAZY, LB_QUEUES_PER_CORE},
    {"active", LB_POLICY_ACTIVE, LB_QUEUES_PER_CORE},
    {"immediate", LB_POLICY_IMMEDIATE, LB_QUEUES_PER_CORE},
    {"single queue", LB_POLICY_IMMEDIATE, LB_QUEUES_SINGLE},
};
enum {
    SCHEDULERS = sizeof schedulers / sizeof *schedulers
};

static const char *const columns[] = {
    "right", "policy", "probability", "queues", "queues_probability", "seconds", "foreign_percent"};
enum {
    COLUMNS = sizeof columns / sizeof *columns
};

/* The caller's progress, over all of them. */
typedef struct share {
    lb_progress_fn progress;
    void *user;
    int done;
} share;

static int report(void *user, double fraction) {
    const share *s = user;
    return s->progress(s->user, (s->done + fraction) / SCHEDULERS);
}

static double meta_number(const lb_trace *trace, const char *key) {
    const char *text = lb_trace_meta(trace, key);
    double number = NAN;
    if (text == NULL || !lbi_parse_number(text, text + strlen(text), &number))
        number = NAN;
    return number;
}

static lb_status judge(const struct scheduler *scheduler, const lb_trace *trace, double confidence,
                       lb_table *table, lb_error *err) {
    lb_classify_options options;
    lb_classify_options_init(&options, sizeof options);
    options.confidence = confidence;
    lb_verdict *verdict = NULL;
    lb_status status = lb_classify(trace, &options, &verdict, err);
    if (status != LB_OK)
        return status;
    lb_policy policy = lb_verdict_policy(verdict);
    lb_queues queues = lb_verdict_queues(verdict);
    /* Not to know the queues is no error, to mistake them is. */
    bool right =
        policy == scheduler->policy && (queues == scheduler->queues || queues == LB_QUEUES_UNKNOWN);
    double row[COLUMNS] = {right,
                           policy,
                           lb_verdict_probability(verdict, scheduler->policy),
                           queues,
                           lb_verdict_queues_probability(verdict, scheduler->queues),
                           meta_number(trace, "decided_after_s"),
                           meta_number(trace, "foreign_cpu_percent")};
    lb_verdict_free(verdict);
    return lb_table_add_row(table, scheduler->name, row, err);
}

static lb_status try_one(const lb_host *host, const struct scheduler *scheduler, uint64_t seed,
                         const lb_experiment_options *options, lb_table *table, lb_error *err) {
    lb_model_options made;
    lb_model *model = NULL;
    lb_trace *trace = NULL;
    lb_model_options_init(&made, sizeof made);
    made.cores = lb_host_cores(host);
    made.policy = (int32_t)scheduler->policy;
    lb_status status = lb_model_new(&made, &model, err);
    if (status == LB_OK)
        status = lb_experiment_emulate(host, model, scheduler->queues, seed, options, &trace, err);
    if (status == LB_OK)
        status = judge(scheduler, trace, options->confidence, table, err);
    lb_trace_free(trace);
    lb_model_free(model);
    return status;
}

lb_status lb_self_test(const lb_host *host, uint64_t seed, const lb_experiment_options *options,
                       lb_table **ret_table, lb_error *err) {
    lb_experiment_options read;
    lb_host *opened = NULL;
    lb_table *table = NULL;
    lb_status status = lbi_experiment_options_read(options, &read, err);
    if (status == LB_OK)
        status = lbi_usable_host(host, &host, &opened, err);
    if (status == LB_OK)
        status = lb_table_new(columns, COLUMNS, &table, err);
    share whole = {read.progress, read.progress_user, 0};
    if (read.progress != NULL) {
        read.progress = report;
        read.progress_user = &whole;
    }
    for (; whole.done < SCHEDULERS && status == LB_OK; whole.done++)
        status = try_one(host, &schedulers[whole.done], seed, &read, table, err);
    if (status == LB_OK)
        *ret_table = table;
    else
        lb_table_free(table);
    lb_host_free(opened);
    return status;
}
