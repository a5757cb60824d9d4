/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "base/error.h"
#include "classify/verdict.h"

static const char *policy_sentence(lb_policy policy) {
    switch (policy) {
    case LB_POLICY_NONE:
        return "none: no task moves, even beside an idle core";
    case LB_POLICY_LAZY:
        return "lazy: a task moves only to a core that went idle";
    case LB_POLICY_ACTIVE:
        return "active: a task moves when two run queues differ by more than one";
    case LB_POLICY_IMMEDIATE:
        return "immediate: all tasks share all cores evenly";
    default:
        return "unknown";
    }
}

static const char *queues_sentence(lb_queues queues) {
    switch (queues) {
    case LB_QUEUES_PER_CORE:
        return "one for each core";
    case LB_QUEUES_SINGLE:
        return "a single one for all cores";
    case LB_QUEUES_GROUPED:
        return "one for each group of cores";
    default:
        return "unknown";
    }
}

/* Never "100.0 %" of what is not certain, nor "0.0 %" of what is possible. */
static void percent(lbi_text *text, double probability) {
    if (probability > 0.9995 && probability < 1)
        lbi_text_string(text, ">99.9 %");
    else if (probability < 0.0005 && probability > 0)
        lbi_text_string(text, "<0.1 %");
    else
        lbi_text_printf(text, "%.1f %%", 100 * probability);
}

static void seconds(lbi_text *text, double value) {
    if (isinf(value))
        lbi_text_string(text, "never");
    else if (value > 0 && value < 0.0995)
        lbi_text_printf(text, "%.2g ms", 1e3 * value);
    else
        lbi_text_printf(text, "%.2g s", value);
}

/* "never" stands apart from any number. */
static void latency_as_text(const lb_verdict *v, const char *what, lbi_measure first,
                            lbi_text *text) {
    const double *m = v->measures + first;
    double balanced = m[0], never = m[1];
    if (!(balanced + never > 0))
        return;
    lbi_text_printf(text, "%s %.0f of %.0f", what, balanced, balanced + never);
    if (balanced > 0) {
        lbi_text_string(text, ", half after ");
        seconds(text, m[2]);
        lbi_text_string(text, ", 90 % after ");
        seconds(text, m[3]);
    }
    if (never > 0)
        lbi_text_printf(text, "; %.0f never while watched", never);
    lbi_text_string(text, "\n");
}

static void measured_as_text(const lb_verdict *v, lbi_text *text) {
    const double *m = v->measures;
    if (isfinite(v->rotation_time))
        lbi_text_printf(text, "Rotation time:    %.2g s\n", v->rotation_time);
    if (m[LBI_ROTATIONS] > 0) {
        lbi_text_printf(text, "Uneven shares:    passed on %.0f times, half after ",
                        m[LBI_ROTATIONS]);
        seconds(text, m[LBI_DWELL_P50]);
        lbi_text_string(text, ", 90 % after ");
        seconds(text, m[LBI_DWELL_P90]);
        lbi_text_string(text, "\n");
    }
    latency_as_text(v, "Idle cores:       filled", LBI_IDLE_BALANCED, text);
    latency_as_text(v, "Lists apart:      evened", LBI_APART_BALANCED, text);
    if (isfinite(m[LBI_IDLE_WHILE_WAITING]))
        lbi_text_printf(text, "Idle beside work: %.2g %% of what the tasks could have used\n",
                        m[LBI_IDLE_WHILE_WAITING]);
    if (isfinite(m[LBI_ELSEWHERE]))
        lbi_text_printf(text,
                        "Other work:       %.2g %% of the cores' time, %.2g %% of core %.0f\n",
                        m[LBI_ELSEWHERE], m[LBI_ELSEWHERE_MOST], m[LBI_ELSEWHERE_CORE]);
    if (v->fairness_count > 0) {
        const lbi_fair *worst = v->fairness;
        for (size_t i = 1; i < v->fairness_count; i++)
            worst = v->fairness[i].jain < worst->jain ? &v->fairness[i] : worst;
        lbi_text_printf(text,
                        "Fairness:         %.3f at the least (Jain's index), with %u tasks: "
                        "shares of %.2g to %.2g of a core\n",
                        worst->jain, worst->concurrency, worst->least, worst->most);
    }
    if (v->speeds != NULL) {
        double slowest = 1;
        for (uint32_t i = 0; i < v->cores; i++)
            slowest = fmin(slowest, v->speeds[i]);
        lbi_text_printf(text, "Core speeds:      %.3g to 1\n", slowest);
    }
}

static void as_text(const lb_verdict *v, lbi_text *text) {
    lbi_text_printf(text, "Balancing policy: %s", policy_sentence(v->policy));
    if (v->policy != LB_POLICY_UNKNOWN) {
        lbi_text_string(text, " (");
        percent(text, v->probability[v->policy]);
        lbi_text_string(text, ")");
    }
    lbi_text_printf(text, "\nRun queues:       %s", queues_sentence(v->queues));
    if (v->queues != LB_QUEUES_UNKNOWN) {
        lbi_text_string(text, " (");
        percent(text, v->queues_probability[v->queues]);
        lbi_text_string(text, ")");
    }
    lbi_text_string(text, "\nProbabilities:    ");
    for (int i = 1; i <= LBI_POLICIES; i++) {
        lb_policy policy = (lb_policy)(i % LBI_POLICIES);
        lbi_text_printf(text, "%s%s ", i > 1 ? ", " : "",
                        policy == LB_POLICY_UNKNOWN ? "none of these" : lbi_policy_name(policy));
        percent(text, v->probability[policy]);
    }
    lbi_text_string(text, "\n");
    measured_as_text(v, text);
    for (size_t i = 0; i < v->reason_count; i++)
        lbi_text_printf(text, "%s%s\n", i == 0 ? "Because:\n- " : "- ", v->reasons[i]);
}

/* null: not measured. */
static void json_measure(lbi_text *text, double value) {
    if (isinf(value))
        lbi_text_string(text, "\"never\"");
    else
        lbi_text_json_number(text, value);
}

static void json_measures(const lb_verdict *v, lbi_text *text) {
    lbi_text_string(text, ", \"measures\": {");
    for (int i = 0; i < LBI_MEASURES; i++) {
        lbi_text_printf(text, "%s\"%s\": ", i > 0 ? ", " : "", lbi_measure_names[i]);
        json_measure(text, v->measures[i]);
    }
    lbi_text_string(text, "}, \"core_speeds\": ");
    lbi_text_string(text, v->speeds == NULL ? "null" : "[");
    for (uint32_t i = 0; v->speeds != NULL && i < v->cores; i++) {
        lbi_text_string(text, i > 0 ? ", " : "");
        lbi_text_json_number(text, v->speeds[i]);
    }
    lbi_text_string(text, v->speeds == NULL ? "" : "]");
    lbi_text_string(text, ", \"fairness\": [");
    for (size_t i = 0; i < v->fairness_count; i++) {
        const lbi_fair *f = &v->fairness[i];
        const double values[] = {f->seconds, f->mean, f->deviation, f->jain, f->least, f->most};
        lbi_text_printf(text, "%s{\"concurrency\": %u", i > 0 ? ", " : "", f->concurrency);
        for (int j = 0; j < LBI_FAIR_NUMBERS; j++) {
            lbi_text_printf(text, ", \"%s\": ", lbi_fair_names[j]);
            lbi_text_json_number(text, values[j]);
        }
        lbi_text_string(text, "}");
    }
    lbi_text_string(text, "]");
}

static void as_json(const lb_verdict *v, lbi_text *text) {
    lbi_text_printf(text, "{\"lbsched_verdict\": %d, \"policy\": \"%s\", \"probabilities\": {",
                    LBI_VERDICT_FORM, lbi_policy_name(v->policy));
    for (int i = 0; i < LBI_POLICIES; i++) {
        lbi_text_printf(text, "%s\"%s\": ", i > 0 ? ", " : "", lbi_policy_name((lb_policy)i));
        lbi_text_json_number(text, v->probability[i]);
    }
    lbi_text_printf(text, "}, \"queues\": \"%s\", \"queues_probabilities\": {",
                    lbi_queues_name(v->queues));
    for (int i = 0; i < LBI_QUEUES; i++) {
        lbi_text_printf(text, "%s\"%s\": ", i > 0 ? ", " : "", lbi_queues_name((lb_queues)i));
        lbi_text_json_number(text, v->queues_probability[i]);
    }
    lbi_text_string(text, "}, \"confidence\": ");
    lbi_text_json_number(text, v->confidence);
    lbi_text_printf(text,
                    ", \"cores\": %u, \"tasks\": %u, \"units\": %zu, \"inferred_unit_work_s\": ",
                    v->cores, v->tasks, v->units);
    lbi_text_json_number(text, v->unit_work);
    lbi_text_string(text, ", \"rotation_time_s\": ");
    json_measure(text, v->rotation_time);
    lbi_text_string(text, ", \"disturbed\": ");
    if (v->disturbed == NULL)
        lbi_text_string(text, "null");
    else
        lbi_text_json_string(text, v->disturbed);
    json_measures(v, text);
    lbi_text_string(text, ", \"reasons\": [");
    for (size_t i = 0; i < v->reason_count; i++) {
        lbi_text_string(text, i > 0 ? ", " : "");
        lbi_text_json_string(text, v->reasons[i]);
    }
    lbi_text_string(text, "]}\n");
}

lb_status lb_verdict_format(const lb_verdict *verdict, lb_format format, char **ret_text,
                            lb_error *err) {
    lbi_text text = {0};
    if (format == LB_FORMAT_TEXT)
        as_text(verdict, &text);
    else if (format == LB_FORMAT_JSON)
        as_json(verdict, &text);
    else
        return lbi_error(err, LB_ERR_INVALID,
                         "format is %d: LB_FORMAT_TEXT or LB_FORMAT_JSON expected", (int)format);
    char *data = lbi_text_take(&text, NULL);
    if (data == NULL)
        return lbi_error_nomem(err, "the verdict's text");
    *ret_text = data;
    return LB_OK;
}
