/* SPDX-License-Identifier: BSD-3-Clause */
/* Whatever bytes are given as a recording: they are refused with a reason, or the trace that they
 * make is written and read back the same. The first byte chooses the form and the options. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "lbsched/lbsched.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0)
        return 0;
    lb_import_options options;
    lb_import_options_init(&options, sizeof options);
    options.form = data[0] & 3;
    options.cores = data[0] & 4 ? 4 : 0;
    options.comm = data[0] & 8 ? "b" : NULL;
    options.unit_work = data[0] & 16 ? 0.001 : 1;
    lb_trace *trace = NULL, *back = NULL;
    lb_error err = {0};
    lb_status status =
        lb_trace_import_text((const char *)data + 1, size - 1, &options, &trace, &err);
    if (status != LB_OK) {
        CHECK(status == LB_ERR_FORMAT || status == LB_ERR_INVALID);
        CHECK(trace == NULL && strstr(err.message, "expected") != NULL);
        return 0;
    }
    char *text, *again;
    CHECK(lb_trace_format(trace, LB_TRACE_CSV, &text, NULL, &err) == LB_OK);
    CHECK(lb_trace_parse(text, strlen(text), &back, &err) == LB_OK);
    CHECK(lb_trace_format(back, LB_TRACE_CSV, &again, NULL, &err) == LB_OK);
    CHECK(strcmp(text, again) == 0);
    lb_free(again);
    lb_free(text);
    lb_trace_free(back);
    lb_trace_free(trace);
    return 0;
}
