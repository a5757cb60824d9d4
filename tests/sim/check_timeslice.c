/* SPDX-License-Identifier: BSD-3-Clause */
#include "../unit/harness.h"
#include "timeslice.h"

START_TEST(runs) {
    timeslice_config config;
    timeslice_defaults(&config);
    timeslice_result result;
    ck_assert_int_eq(timeslice_run(&config, &result), TIMESLICE_OK);
    timeslice_free(&result);
}
END_TEST

Suite *suite(void) {
    Suite *made = suite_create("timeslice");
    ADD(made, "timeslice", runs);
    return made;
}
