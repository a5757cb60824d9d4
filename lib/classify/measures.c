/* SPDX-License-Identifier: BSD-3-Clause */
#include "classify/measures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/text.h"

#define AGREE 0.75 /* so many of the imbalances must agree with a delay that is always the same */

const char *const lbi_measure_names[LBI_MEASURES] = {
    [LBI_BALANCE_DELAY] = "balance_delay_s",
    [LBI_IDLE_BALANCED] = "idle_balanced",
    [LBI_IDLE_NEVER] = "idle_never",
    [LBI_IDLE_P50] = "idle_p50_s",
    [LBI_IDLE_P90] = "idle_p90_s",
    [LBI_IDLE_P99] = "idle_p99_s",
    [LBI_APART_BALANCED] = "apart_balanced",
    [LBI_APART_NEVER] = "apart_never",
    [LBI_APART_P50] = "apart_p50_s",
    [LBI_APART_P90] = "apart_p90_s",
    [LBI_APART_P99] = "apart_p99_s",
    [LBI_ROTATIONS] = "rotations",
    [LBI_DWELL_P50] = "dwell_p50_s",
    [LBI_DWELL_P90] = "dwell_p90_s",
    [LBI_TURNS] = "turns",
    [LBI_TURN_CHANGES] = "turn_changes_percent",
    [LBI_IDLE_WHILE_WAITING] = "idle_while_waiting_percent",
    [LBI_ELSEWHERE] = "elsewhere_percent",
    [LBI_ELSEWHERE_MOST] = "elsewhere_most_percent",
    [LBI_ELSEWHERE_CORE] = "elsewhere_most_core",
    [LBI_DEVIATION_MULTIPLES] = "deviation_multiples_percent",
    [LBI_DEVIATION_OTHERS] = "deviation_others_percent",
    [LBI_LIST_CHOICES] = "list_choices",
    [LBI_LIST_LONGEST] = "list_longest_probability",
    [LBI_PROCESS_CHOICES] = "process_choices",
    [LBI_PROCESS_ANY] = "process_random_probability",
    [LBI_PROCESS_OLDEST] = "process_first_probability",
    [LBI_PROCESS_LATEST] = "process_last_probability",
    [LBI_MOVES_FILLING] = "moves_to_idle_cores",
    [LBI_MOVES_EVENING] = "moves_to_shorter_lists",
    [LBI_MOVES_ROTATING] = "moves_of_one_uneven",
    [LBI_MOVES_OTHER] = "moves_otherwise",
    [LBI_FOREIGN] = "foreign_cpu_percent",
};

const char *const lbi_fair_names[LBI_FAIR_NUMBERS] = {"seconds", "mean_share", "deviation",
                                                      "jain",    "least",      "most"};

static void set_latency(double m[LBI_MEASURES], lbi_measure first, const lbi_latency *l) {
    m[first] = (double)l->balanced;
    m[first + 1] = (double)l->never;
    m[first + 2] = l->p50;
    m[first + 3] = l->p90;
    m[first + 4] = l->p99;
}

static void set_choices(double m[LBI_MEASURES], const lbi_choices *c) {
    double list[2], process[3];
    lbi_choices_list(c, list);
    lbi_choices_process(c, process);
    m[LBI_LIST_CHOICES] = (double)c->lists;
    m[LBI_PROCESS_CHOICES] = (double)c->tasks;
    if (c->lists > 0)
        m[LBI_LIST_LONGEST] = list[LB_LIST_LONGEST];
    for (int i = 0; c->tasks > 0 && i < 3; i++)
        m[LBI_PROCESS_ANY + i] = process[i];
}

static void set_lists(double m[LBI_MEASURES], const lbi_evidence *e) {
    set_latency(m, LBI_IDLE_BALANCED, &e->idle);
    set_latency(m, LBI_APART_BALANCED, &e->apart);
    m[LBI_ROTATIONS] = (double)e->dwell.rotations;
    m[LBI_DWELL_P50] = e->dwell.p50;
    m[LBI_DWELL_P90] = e->dwell.p90;
    set_choices(m, &e->choices);
    m[LBI_MOVES_FILLING] = (double)e->moves.filling;
    m[LBI_MOVES_EVENING] = (double)e->moves.evening;
    m[LBI_MOVES_ROTATING] = (double)e->moves.rotating;
    m[LBI_MOVES_OTHER] = (double)(e->moves.other + e->moves.alone);
}

static double number_of(const lb_table *table, const char *key) {
    const char *text = lb_table_meta(table, key);
    double value;
    return text != NULL && lbi_parse_number(text, text + strlen(text), &value) ? value
                                                                               : (double)NAN;
}

lb_status lbi_measure_all(const lb_trace *trace, const lbi_evidence *e, double m[LBI_MEASURES],
                          lb_error *err) {
    for (int i = 0; i < LBI_MEASURES; i++)
        m[i] = NAN;
    if (e->known && !e->shared_queues)
        set_lists(m, e);
    if (e->structure.turns > 0) {
        m[LBI_TURNS] = (double)e->structure.odd_turns;
        if (e->structure.odd_turns > 0)
            m[LBI_TURN_CHANGES] =
                100.0 * (double)e->structure.odd_changes / (double)e->structure.odd_turns;
    }
    if (e->known && e->slices) {
        uint32_t core;
        m[LBI_IDLE_WHILE_WAITING] = lbi_idle_percent(&e->waste, e->shared_queues);
        if (!e->shared_queues) {
            m[LBI_ELSEWHERE] = lbi_elsewhere_percent(&e->waste);
            m[LBI_ELSEWHERE_MOST] = lbi_elsewhere_most(&e->waste, &core);
            if (!isnan(m[LBI_ELSEWHERE_MOST]))
                m[LBI_ELSEWHERE_CORE] = core;
        }
    }
    const char *foreign = lb_trace_meta(trace, "foreign_cpu_percent");
    if (foreign == NULL || !lbi_parse_number(foreign, foreign + strlen(foreign), &m[LBI_FOREIGN]) ||
        m[LBI_FOREIGN] < 0)
        m[LBI_FOREIGN] = NAN;
    lb_table *profile;
    lb_status status = lb_trace_profile(trace, NULL, &profile, err);
    if (status != LB_OK)
        return status;
    m[LBI_DEVIATION_MULTIPLES] = 100 * number_of(profile, "deviation_multiples");
    m[LBI_DEVIATION_OTHERS] = 100 * number_of(profile, "deviation_others");
    lb_table_free(profile);
    return LB_OK;
}

lb_status lbi_measure_delay(const lbi_evidence *e, lb_policy policy, double *ret_delay,
                            lb_error *err) {
    size_t n = 0;
    *ret_delay = NAN;
    if (policy != LB_POLICY_LAZY && policy != LB_POLICY_ACTIVE)
        return LB_OK;
    lbi_imbalance *acted = lbi_array_new(e->imbalances.count, sizeof *acted);
    double *workspace = lbi_array_new(2 * e->imbalances.count, sizeof *workspace);
    if (acted == NULL || workspace == NULL) {
        free(acted);
        free(workspace);
        return lbi_error_nomem(err, "delays");
    }
    /* Lists apart with no core idle are none of lazy balancing's business. */
    for (size_t i = 0; i < e->imbalances.count; i++)
        if (e->imbalances.items[i].idle || policy == LB_POLICY_ACTIVE)
            acted[n++] = e->imbalances.items[i];
    double part, constant = lbi_constant_delay(acted, n, workspace, &part);
    double p50 = policy == LB_POLICY_ACTIVE && e->apart.balanced > e->idle.balanced ? e->apart.p50
                                                                                    : e->idle.p50;
    *ret_delay = part >= AGREE ? constant : isfinite(p50) ? p50 : (double)NAN;
    free(acted);
    free(workspace);
    return LB_OK;
}
