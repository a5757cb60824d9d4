/* SPDX-License-Identifier: BSD-3-Clause */
/* Whatever bytes are given as a verdict: they are refused with a line and a reason, or the verdict
 * that they make is written and read back the same. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "lbsched/lbsched.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    lb_verdict *verdict = NULL, *back = NULL;
    lb_error err = {0};
    char *text, *json, *again;
    lb_status status = lb_verdict_parse((const char *)data, size, &verdict, &err);
    if (status != LB_OK) {
        CHECK(status == LB_ERR_FORMAT && verdict == NULL);
        CHECK(strncmp(err.message, "line ", 5) == 0 && strstr(err.message, "expected") != NULL);
        return 0;
    }
    CHECK(lb_verdict_reason_count(verdict) > 0);
    CHECK(lb_verdict_format(verdict, LB_FORMAT_TEXT, &text, &err) == LB_OK);
    CHECK(lb_verdict_format(verdict, LB_FORMAT_JSON, &json, &err) == LB_OK);
    CHECK(lb_verdict_parse(json, strlen(json), &back, &err) == LB_OK);
    CHECK(lb_verdict_format(back, LB_FORMAT_JSON, &again, &err) == LB_OK);
    CHECK(strcmp(json, again) == 0);
    lb_free(again);
    lb_free(json);
    lb_free(text);
    lb_verdict_free(back);
    lb_verdict_free(verdict);
    return 0;
}
