/* SPDX-License-Identifier: BSD-3-Clause */
/* Traces whose makers know that something else shaped them. */
#include "classify/disturbed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "classify/classify.h"

#define TRUST 0.49 /* below every confidence that can be asked for */
#define WORD 64

static bool tell(lb_verdict *v, lbi_text *text) {
    return lbi_verdict_add_reason(v, text);
}

static bool tell_that(lb_verdict *v, const lb_trace *trace, const char *kinds) {
    const char *attempts = lb_trace_meta(trace, "attempts");
    int best = LB_POLICY_NONE;
    for (int i = LB_POLICY_NONE; i < LBI_POLICIES; i++)
        best = v->probability[i] > v->probability[best] ? i : best;
    lbi_text text = {0};
    lbi_text_string(&text, "the run was disturbed (");
    lbi_text_string(&text, kinds);
    lbi_text_string(&text, "), so its rates are not taken for the scheduler's alone");
    if (attempts != NULL && strcmp(attempts, "1") != 0) {
        lbi_text_string(&text, "; so were all of ");
        lbi_text_string(&text, attempts);
        lbi_text_string(&text, " attempts");
    }
    if (v->policy != LB_POLICY_UNKNOWN)
        lbi_text_printf(&text, "; they look like %s (%.6g %%)", lbi_policy_name((lb_policy)best),
                        100 * v->probability[best]);
    return tell(v, &text);
}

/* The sentence about each kind, as far as the trace has them. */
static bool tell_why(lb_verdict *v, const lb_trace *trace, const char *kinds) {
    while (*kinds != '\0') {
        size_t length = strcspn(kinds, ",");
        char key[WORD + 16];
        if (length > 0 && length < WORD) {
            lbi_snprintf(key, sizeof key, "finding_run_%.*s", (int)length, kinds);
            const char *sentence = lb_trace_meta(trace, key);
            lbi_text text = {0};
            if (sentence != NULL) {
                lbi_text_string(&text, sentence);
                if (!tell(v, &text))
                    return false;
            }
        }
        kinds += length;
        kinds += *kinds == ',' ? 1 : 0;
    }
    return true;
}

/* The reasons from `first` on come before the others. */
static bool put_first(lb_verdict *v, size_t first) {
    char **order = lbi_array_new(v->reason_count, sizeof *order);
    if (order == NULL)
        return false;
    size_t n = v->reason_count - first;
    memcpy(order, v->reasons + first, n * sizeof *order);
    memcpy(order + n, v->reasons, first * sizeof *order);
    memcpy(v->reasons, order, v->reason_count * sizeof *order);
    free(order);
    return true;
}

lb_status lbi_heed_disturbance(lb_verdict *v, const lb_trace *trace, lb_error *err) {
    const char *kinds = lb_trace_meta(trace, "disturbed");
    if (kinds == NULL || *kinds == '\0')
        return LB_OK;
    size_t first = v->reason_count;
    v->disturbed = lbi_string_copy(kinds);
    if (v->disturbed == NULL || !tell_that(v, trace, kinds) || !tell_why(v, trace, kinds) ||
        !put_first(v, first))
        return lbi_error_nomem(err, "reasons");
    double believed = 0;
    for (int i = LB_POLICY_NONE; i < LBI_POLICIES; i++)
        believed += v->probability[i] *= TRUST;
    v->probability[LB_POLICY_UNKNOWN] = 1 - believed;
    v->policy = LB_POLICY_UNKNOWN;
    v->rotation_time = NAN;
    lbi_set_queues(v);
    return LB_OK;
}
