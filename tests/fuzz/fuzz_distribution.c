/* SPDX-License-Identifier: BSD-3-Clause */
/* Whatever bytes are given as a distribution: they are refused with a line and a reason, or the
 * distribution that they make is written and read back the same. */
#include <string.h>

#include "fuzz.h"
#include "lbsched/lbsched.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    lb_distribution *distribution = NULL, *back = NULL;
    lb_error err = {0};
    lb_status status = lb_distribution_parse((const char *)data, size, &distribution, &err);
    if (status != LB_OK) {
        CHECK(status == LB_ERR_FORMAT && distribution == NULL);
        CHECK(strncmp(err.message, "line ", 5) == 0);
        return 0;
    }
    char *text, *again;
    lb_duration moments;
    double median;
    CHECK(lb_distribution_duration(distribution, LB_MAKESPAN, &moments, &err) == LB_OK);
    CHECK(lb_distribution_quantile(distribution, LB_MAKESPAN, 0.5, &median, &err) == LB_OK);
    CHECK(lb_distribution_format(distribution, &text, &err) == LB_OK);
    CHECK(lb_distribution_parse(text, strlen(text), &back, &err) == LB_OK);
    CHECK(lb_distribution_samples(distribution) == lb_distribution_samples(back));
    CHECK(lb_distribution_format(back, &again, &err) == LB_OK);
    CHECK(strcmp(text, again) == 0);
    lb_free(again);
    lb_free(text);
    lb_distribution_free(back);
    lb_distribution_free(distribution);
    return 0;
}
