/* SPDX-License-Identifier: BSD-3-Clause */
#include "classify/verdict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "classify/explain.h"

#define CHOICES_LEAST 4
#define CHOICE_SURE 0.9

void lb_verdict_free(lb_verdict *verdict) {
    if (verdict == NULL)
        return;
    for (size_t i = 0; i < verdict->reason_count; i++)
        free(verdict->reasons[i]);
    free(verdict->reasons);
    free(verdict->disturbed);
    free(verdict->speeds);
    free(verdict->fairness);
    free(verdict);
}

bool lbi_verdict_add_reason(lb_verdict *verdict, lbi_text *text) {
    char *sentence = lbi_text_take(text, NULL);
    if (sentence == NULL)
        return false;
    if (!lbi_array_reserve(&verdict->reasons, &verdict->reason_capacity, verdict->reason_count + 1,
                           sizeof *verdict->reasons)) {
        free(sentence);
        return false;
    }
    verdict->reasons[verdict->reason_count++] = sentence;
    return true;
}

const char *lbi_policy_name(lb_policy policy) {
    static const char *const names[] = {"unknown", "none", "lazy", "active", "immediate"};
    return names[policy];
}

const char *lbi_queues_name(lb_queues queues) {
    static const char *const names[] = {"unknown", "per_core", "single", "grouped"};
    return names[queues];
}

lb_policy lb_verdict_policy(const lb_verdict *verdict) {
    return verdict->policy;
}

double lb_verdict_probability(const lb_verdict *verdict, lb_policy policy) {
    return (unsigned)policy < LBI_POLICIES ? verdict->probability[policy] : (double)NAN;
}

lb_queues lb_verdict_queues(const lb_verdict *verdict) {
    return verdict->queues;
}

double lb_verdict_queues_probability(const lb_verdict *verdict, lb_queues queues) {
    return (unsigned)queues < LBI_QUEUES ? verdict->queues_probability[queues] : (double)NAN;
}

size_t lb_verdict_reason_count(const lb_verdict *verdict) {
    return verdict->reason_count;
}

const char *lb_verdict_reason(const lb_verdict *verdict, size_t index) {
    return index < verdict->reason_count ? verdict->reasons[index] : NULL;
}

double lb_verdict_measure(const lb_verdict *verdict, const char *name) {
    if (strcmp(name, "rotation_time_s") == 0)
        return verdict->rotation_time;
    for (int i = 0; i < LBI_MEASURES; i++)
        if (strcmp(name, lbi_measure_names[i]) == 0)
            return verdict->measures[i];
    return NAN;
}

lb_status lb_verdict_fairness(const lb_verdict *verdict, lb_table **ret_table, lb_error *err) {
    static const char *const names[] = {"concurrency", "seconds", "mean_share", "deviation",
                                        "jain",        "least",   "most"};
    lb_table *table;
    lb_status status = lb_table_new(names, sizeof names / sizeof *names, &table, err);
    if (status != LB_OK)
        return status;
    for (size_t i = 0; i < verdict->fairness_count && status == LB_OK; i++) {
        const lbi_fair *f = &verdict->fairness[i];
        const double values[] = {
            (double)f->concurrency, f->seconds, f->mean, f->deviation, f->jain, f->least, f->most};
        status = lb_table_add_row(table, NULL, values, err);
    }
    if (status != LB_OK) {
        lb_table_free(table);
        return status;
    }
    *ret_table = table;
    return LB_OK;
}

/* A choice is taken over where moves enough show it; elsewhere any is as good. */
static bool is_shown(const lb_verdict *v, lbi_measure count, lbi_measure probability) {
    return v->measures[count] >= CHOICES_LEAST && v->measures[probability] >= CHOICE_SURE;
}

/* What a core is worth beside what others used of the cores meanwhile, which on an idle machine is
 * what always runs; a disturbed run tells nothing of that. */
static double worth(const lb_verdict *verdict) {
    double foreign = verdict->measures[LBI_FOREIGN];
    bool known = foreign > 0 && foreign <= LBI_FOREIGN_PERCENT;
    return known && verdict->disturbed == NULL ? 1 - foreign / 100 : 1;
}

/* The speeds of the verdict's cores, NULL if all are 1. */
static lb_status effective_speeds(const lb_verdict *verdict, double **ret_speeds, lb_error *err) {
    double factor = worth(verdict);
    *ret_speeds = NULL;
    if (factor == 1 && verdict->speeds == NULL)
        return LB_OK;
    double *speeds = lbi_array_new(verdict->cores, sizeof *speeds);
    if (speeds == NULL)
        return lbi_error_nomem(err, "core speeds");
    for (uint32_t i = 0; i < verdict->cores; i++)
        speeds[i] = factor * (verdict->speeds == NULL ? 1 : verdict->speeds[i]);
    *ret_speeds = speeds;
    return LB_OK;
}

lb_status lb_verdict_model(const lb_verdict *verdict, lb_model **ret_model, lb_error *err) {
    if (verdict->policy == LB_POLICY_UNKNOWN)
        return lbi_error(err, LB_ERR_UNSUPPORTED,
                         "the verdict is unknown: no policy to make a model of");
    double *speeds;
    lb_status status = effective_speeds(verdict, &speeds, err);
    if (status != LB_OK)
        return status;
    lb_model_options options;
    lb_model_options_init(&options, sizeof options);
    options.cores = verdict->cores;
    options.policy = (int32_t)verdict->policy;
    options.core_speeds = speeds;
    if (verdict->policy == LB_POLICY_IMMEDIATE && isfinite(verdict->rotation_time))
        options.rotation_time = verdict->rotation_time;
    if (isfinite(verdict->measures[LBI_BALANCE_DELAY]))
        options.balance_delay = verdict->measures[LBI_BALANCE_DELAY];
    if (is_shown(verdict, LBI_LIST_CHOICES, LBI_LIST_LONGEST))
        options.list_choice = LB_LIST_LONGEST;
    if (is_shown(verdict, LBI_PROCESS_CHOICES, LBI_PROCESS_OLDEST))
        options.process_choice = LB_PROCESS_FIRST;
    else if (is_shown(verdict, LBI_PROCESS_CHOICES, LBI_PROCESS_LATEST))
        options.process_choice = LB_PROCESS_LAST;
    status = lb_model_new(&options, ret_model, err);
    free(speeds);
    return status;
}
