/* SPDX-License-Identifier: BSD-3-Clause */
/* The only file here that calls the library: results handed out as traces. */
#include "timeslice.h"

lb_status timeslice_trace(const timeslice_result *result, lb_trace **ret_trace, lb_error *err) {
    lb_trace *trace;
    lb_status status = lb_trace_new(result->cores, &trace, err);
    if (status != LB_OK)
        return status;
    status = lb_trace_set_unit_work(trace, result->unit_work, err);
    if (status == LB_OK)
        status = lb_trace_add_units(trace, result->units, result->unit_count, err);
    for (size_t i = 0; status == LB_OK && i < result->slice_count; i++)
        status = lb_trace_add_slice(trace, &result->slices[i], err);
    if (status == LB_OK)
        status = lb_trace_seal(trace, err);
    if (status == LB_OK)
        *ret_trace = trace;
    else
        lb_trace_free(trace);
    return status;
}
