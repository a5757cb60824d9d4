/* SPDX-License-Identifier: BSD-3-Clause */
/* How long it takes until lists are balanced, as a table. */
#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "base/text.h"
#include "classify/evidence.h"
#include "trace/tasks.h"

static const char *cause_name(lbi_sight cause) {
    switch (cause) {
    case LBI_SIGHT_END:
        return "end";
    case LBI_SIGHT_SLEEP:
        return "sleep";
    case LBI_SIGHT_WAKE:
        return "wake";
    case LBI_SIGHT_UNPIN:
        return "unpin";
    default:
        return "fork";
    }
}

static lb_status add_row(lb_table *table, const lbi_imbalance *i, double origin, lb_error *err) {
    const double values[] = {
        origin + i->time, i->latency,      i->least,           i->most,
        i->watched,       i->idle ? 1 : 0, (double)i->longest, (double)i->shortest};
    return lb_table_add_row(table, cause_name(i->cause), values, err);
}

static lb_status set_number(lb_table *table, const char *key, double value, lb_error *err) {
    char text[LBI_NUMBER_SIZE];
    lbi_format_number(value, text);
    if (isinf(value))
        return lb_table_set_meta(table, key, "never", err);
    return lb_table_set_meta(table, key, isnan(value) ? "none" : text, err);
}

/* The distribution, "never" apart from numbers. */
static lb_status set_distribution(lb_table *table, const lbi_evidence *e, lb_error *err) {
    static const char *const names[2][3] = {{"idle_balanced", "idle_p50_s", "idle_p90_s"},
                                            {"apart_balanced", "apart_p50_s", "apart_p90_s"}};
    lb_status status = LB_OK;
    for (int kind = 0; kind < 2 && status == LB_OK; kind++) {
        const lbi_latency *l = kind == 0 ? &e->idle : &e->apart;
        char text[64];
        lbi_snprintf(text, sizeof text, "%zu of %zu", l->balanced, l->balanced + l->never);
        status = lb_table_set_meta(table, names[kind][0], text, err);
        if (status == LB_OK)
            status = set_number(table, names[kind][1], l->p50, err);
        if (status == LB_OK)
            status = set_number(table, names[kind][2], l->p90, err);
    }
    return status;
}

static lb_status fill(lb_table *table, const lbi_evidence *e, lb_error *err) {
    const char *source = !e->known ? "none" : e->slices ? "slices" : "units";
    lb_status status = lb_table_set_meta(table, "source", source, err);
    if (status == LB_OK && e->shared_queues)
        status = lb_table_set_meta(table, "queues", "shared", err);
    if (status == LB_OK)
        status = set_distribution(table, e, err);
    for (size_t i = 0; i < e->imbalances.count && status == LB_OK; i++)
        status = add_row(table, &e->imbalances.items[i], e->origin, err);
    return status;
}

lb_status lb_trace_latency(const lb_trace *trace, lb_table **ret_table, lb_error *err) {
    static const char *const names[] = {"time_s",    "latency_s", "least_s", "most_s",
                                        "watched_s", "idle",      "longest", "shortest"};
    if (!lbi_trace_sealed(trace))
        return lbi_error(err, LB_ERR_INVALID,
                         "the trace is not sealed: call lb_trace_seal() first");
    lbi_evidence e;
    lb_table *table = NULL;
    lb_status status = lbi_evidence_gather(trace, &e, err);
    if (status == LB_OK)
        status = lb_table_new(names, sizeof names / sizeof *names, &table, err);
    if (status == LB_OK)
        status = fill(table, &e, err);
    lbi_evidence_free(&e);
    if (status != LB_OK) {
        lb_table_free(table);
        return status;
    }
    *ret_table = table;
    return LB_OK;
}
