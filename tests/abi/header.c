/* SPDX-License-Identifier: BSD-3-Clause */
/* The header alone, before anything else: as C99 and as C++11 (header.cc), pedantic, warnings as
 * errors. */
#include "lbsched/lbsched.h"

int main(void) {
    lb_model_options options;
    lb_model_options_init(&options, sizeof options);
    return options.cores == 1 && lb_status_name(LB_OK)[0] == 'L' ? 0 : 1;
}
