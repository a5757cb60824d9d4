/* SPDX-License-Identifier: BSD-3-Clause */
#include "experiment/repeat.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/text.h"
#include "experiment/system.h"

/* Progress of all runs as of one, which never falls. */
typedef struct progress {
    lb_progress_fn report;
    void *user;
    double fraction;
} progress;

static int report(void *user, double fraction) {
    progress *p = user;
    p->fraction = fraction > p->fraction ? fraction : p->fraction;
    return p->report(p->user, p->fraction);
}

static double foreign(const lb_trace *trace) {
    double percent;
    const char *text = lb_trace_meta(trace, "foreign_cpu_percent");
    if (text == NULL || !lbi_parse_number(text, text + strlen(text), &percent))
        return INFINITY;
    return percent;
}

static lb_status note_attempts(lb_trace *trace, unsigned attempts, lb_error *err) {
    char text[16];
    lbi_snprintf(text, sizeof text, "%u", attempts);
    return lb_trace_set_meta(trace, "attempts", text, err);
}

lb_status lbi_run_undisturbed(const lb_host *host, lb_experiment_kind kind,
                              const lb_experiment_options *options, lb_trace **ret_trace,
                              lb_error *err) {
    progress shown = {options->progress, options->progress_user, 0};
    lb_experiment_options run = *options;
    if (run.progress != NULL) {
        run.progress = report;
        run.progress_user = &shown;
    }
    int64_t begin = lbi_now();
    lb_trace *best = NULL;
    unsigned attempts = 0;
    for (;;) {
        lb_trace *trace = NULL;
        double spent = 1e-9 * (double)(lbi_now() - begin);
        lb_status status = lb_experiment_run(host, kind, &run, &trace, err);
        /* What is there already is better than nothing. */
        if (status == LB_ERR_TIMEOUT && best != NULL)
            break;
        if (status != LB_OK) {
            lb_trace_free(trace);
            lb_trace_free(best);
            return status;
        }
        attempts++;
        bool disturbed = lb_trace_meta(trace, "disturbed") != NULL;
        bool better = best == NULL || !disturbed || foreign(trace) < foreign(best);
        lb_trace_free(better ? best : trace);
        if (better)
            best = trace;
        double took = 1e-9 * (double)(lbi_now() - begin) - spent;
        run.budget = options->budget - spent - took;
        if (!disturbed || run.budget < 1 || run.budget < took / 2)
            break;
    }
    lb_status status = note_attempts(best, attempts, err);
    if (status == LB_OK)
        *ret_trace = best;
    else
        lb_trace_free(best);
    return status;
}
