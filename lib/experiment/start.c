/* SPDX-License-Identifier: BSD-3-Clause */
#include "experiment/start.h"

#include <stdlib.h>

#include "base/text.h"

#define START_ATTEMPTS 4

bool lbi_start_count(const lbi_crew *crew, uint32_t *ret_sizes) {
    bool even = true;
    uint32_t cores = crew->host->cores;
    for (uint32_t core = 0; core < cores; core++)
        ret_sizes[core] = 0;
    for (uint32_t i = 0; i < crew->made; i++) {
        int32_t core = lbi_crew_core(crew, i);
        if (core >= 0)
            ret_sizes[core]++;
    }
    for (uint32_t core = 0; core < cores; core++)
        even = even && ret_sizes[core] == crew->made / cores + (core < crew->made % cores ? 1 : 0);
    return even;
}

static lb_status bind_all(lbi_crew *crew, bool bound, lb_error *err) {
    for (uint32_t i = 0; i < crew->made; i++) {
        lb_status status = lbi_crew_bind(crew, i, bound ? i % crew->host->cores : UINT32_MAX, err);
        if (status != LB_OK)
            return status;
    }
    return LB_OK;
}

/* Unbinding must not be trusted: a task may move at that moment, so the sizes are counted once all
 * have run unbound, and on a bad start all are bound again. */
lb_status lbi_start_even(lbi_crew *crew, bool bound, lbi_start *start, lb_error *err) {
    lb_status status = lbi_crew_spin(crew, err);
    start->attempts = 0;
    while (status == LB_OK) {
        start->attempts++;
        if (!bound)
            status = bind_all(crew, false, err);
        if (status == LB_OK)
            status = lbi_crew_settle(crew, err);
        if (status != LB_OK || lbi_start_count(crew, start->sizes) ||
            start->attempts == START_ATTEMPTS)
            break;
        if (!bound)
            status = bind_all(crew, true, err);
        if (status == LB_OK)
            status = lbi_crew_settle(crew, err);
    }
    return status;
}

lb_status lbi_start_meta(const lbi_crew *crew, const lbi_start *start, lb_trace *trace,
                         lb_error *err) {
    char number[32];
    lbi_text text = {0};
    for (uint32_t core = 0; core < crew->host->cores; core++)
        lbi_text_printf(&text, "%s%u", core == 0 ? "" : ",", (unsigned)start->sizes[core]);
    char *sizes = lbi_text_take(&text, NULL);
    if (sizes == NULL)
        return lbi_error_nomem(err, "the trace's metadata");
    lb_status status = lb_trace_set_meta(trace, "even_start", sizes, err);
    free(sizes);
    if (status != LB_OK)
        return status;
    lbi_snprintf(number, sizeof number, "%d", start->attempts);
    return lb_trace_set_meta(trace, "start_attempts", number, err);
}
