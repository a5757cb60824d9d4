/* SPDX-License-Identifier: BSD-3-Clause */
/* Whatever bytes are in a model's file: they are refused with a reason, or the model that they make
 * is written and read back to the bit. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"
#include "lbsched/lbsched.h"
#include "model/model_text.h"

static void check_same(const lb_model *a, const lb_model *b) {
    lb_model_options x, y;
    lb_model_get_options(a, &x, sizeof x);
    lb_model_get_options(b, &y, sizeof y);
    CHECK(x.cores >= 1 && x.cores == y.cores && x.policy == y.policy);
    CHECK(x.balance_delay == y.balance_delay && x.rotation_time == y.rotation_time);
    CHECK(x.list_choice == y.list_choice && x.process_choice == y.process_choice);
    CHECK(x.group_cores == y.group_cores && (x.core_speeds == NULL) == (y.core_speeds == NULL));
    if (x.core_speeds)
        CHECK(memcmp(x.core_speeds, y.core_speeds, x.cores * sizeof *x.core_speeds) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    lb_model *model = NULL, *back = NULL;
    lb_error err = {0};
    lb_status status = lbi_model_parse((const char *)data, size, &model, &err);
    if (status != LB_OK) {
        CHECK(status == LB_ERR_FORMAT && model == NULL && err.status == status);
        CHECK(err.message[0] != 0 && strchr(err.message, '\n') == NULL);
        return 0;
    }
    char path[64];
    snprintf(path, sizeof path, "/tmp/fuzz_model.%d", (int)getpid());
    CHECK(lb_model_save(model, path, &err) == LB_OK);
    CHECK(lb_model_load(path, &back, &err) == LB_OK);
    unlink(path);
    check_same(model, back);
    lb_model_free(back);
    lb_model_free(model);
    return 0;
}
