/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"
#include "model/model_text.h"

static char path[] = "/tmp/lbsched-model-XXXXXX";

static void make_path(void) {
    strcpy(path, "/tmp/lbsched-model-XXXXXX");
    int file = mkstemp(path);
    ck_assert_int_ge(file, 0);
    close(file);
}

static void remove_path(void) {
    unlink(path);
}

static void read_back(const lb_model_options *options) {
    lb_model *model = NULL, *back = NULL;
    lb_error err = {0};
    ASSERT_OK(lb_model_new(options, &model, &err), err);
    ASSERT_OK(lb_model_save(model, path, &err), err);
    ASSERT_OK(lb_model_load(path, &back, &err), err);
    lb_model_options o;
    lb_model_get_options(back, &o, sizeof o);
    ck_assert_uint_eq(o.cores, options->cores);
    ck_assert_int_eq(o.policy, options->policy);
    ck_assert_double_eq(o.balance_delay, options->balance_delay);
    ck_assert_double_eq(o.rotation_time, options->rotation_time);
    ck_assert_int_eq(o.list_choice, options->list_choice);
    ck_assert_int_eq(o.process_choice, options->process_choice);
    ck_assert_uint_eq(o.group_cores, options->group_cores);
    ck_assert_int_eq(o.core_speeds == NULL, options->core_speeds == NULL);
    for (uint32_t i = 0; o.core_speeds != NULL && i < o.cores; i++)
        ck_assert_double_eq(o.core_speeds[i], options->core_speeds[i]);
    lb_model_free(model);
    lb_model_free(back);
}

START_TEST(models_read_back_to_the_last_bit) {
    double speeds[] = {1.0 / 3, 1e-300, 12345678.9};
    lb_model_options options;
    lb_model_options_init(&options, sizeof options);
    for (int policy = LB_POLICY_NONE; policy <= LB_POLICY_IMMEDIATE; policy++)
        for (int choice = 0; choice < 3; choice++) {
            options.policy = policy;
            options.cores = 3;
            options.core_speeds = choice == 1 ? speeds : NULL;
            options.balance_delay = choice * 0.1;
            options.rotation_time = choice / 3.0;
            options.list_choice = choice % 2;
            options.process_choice = choice;
            options.group_cores = 0;
            read_back(&options);
            options.group_cores = 3;
            options.list_choice = options.process_choice = 0;
            read_back(&options);
        }
}
END_TEST

START_TEST(malformed_files_are_refused) {
    static const struct {
        const char *text, *words;
    } bad[] = {
        {"", "without cores"},
        {"lbsched-model 2\n", "line 1: \"lbsched-model 1\""},
        {"lbsched-model 1\ncores 2\n", "without policy"},
        {"lbsched-model 1\ncores -2\n", "line 2: \"-2\" is no value of cores"},
        {"lbsched-model 1\ncores\n", "line 2: \"\" is no value of cores"},
        {"lbsched-model 1\ncores 2\ncores 2\n", "line 3: cores was there before"},
        {"lbsched-model 1\ncores 2\npolicy keen\n", "line 3: \"keen\" is no value of policy"},
        {"lbsched-model 1\ncores 2\npolicy unknown\n", "lb_model_options.policy is 0"},
        {"lbsched-model 1\ncores 0\npolicy lazy\n", "lb_model_options.cores is 0"},
        {"lbsched-model 1\ncores 2\npolicy lazy\nbalance_delay nan\n", "balance_delay is nan"},
        {"lbsched-model 1\ncores 2\npolicy lazy\nbalance_delay 1,5\n", "line 4: \"1,5\""},
        {"lbsched-model 1\ncores 2\npolicy lazy\ncolour red\n", "\"colour\" is no field"},
        {"lbsched-model 1\ncores 2\npolicy lazy\n\n", "line 4: \"\" is no field"},
        {"lbsched-model 1\ncores 2\npolicy lazy\nlist_choice first\n",
         "is no value of list_choice"},
        {"lbsched-model 1\ncores 2\npolicy lazy\nprocess_choice any\n", "of process_choice"},
        {"lbsched-model 1\ncores 2\npolicy lazy\ngroup_cores -1\n", "of group_cores"},
        {"lbsched-model 1\ncores 3\npolicy lazy\ngroup_cores 2\n", "group_cores is 2"},
        {"lbsched-model 1\ncores 2\npolicy lazy\ncore_speeds 1\n", "1 core_speeds of 2 cores"},
        {"lbsched-model 1\ncores 2\npolicy lazy\ncore_speeds 1 x\n", "core_speeds[1] is no number"},
        {"lbsched-model 1\ncores 2\npolicy lazy\ncore_speeds 1 0\n", "core_speeds[1] is 0"},
        {"lbsched-model 1\ncores 2\npolicy lazy\ncore_speeds 1  2\n", "core_speeds[1] is no"},
    };
    lb_model *model = NULL;
    lb_error err = {0};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ASSERT_REFUSED(lbi_model_parse(bad[i].text, strlen(bad[i].text), &model, &err),
                       LB_ERR_FORMAT, bad[i].words, err);
    ck_assert_ptr_null(model);
    static const char least[] = "lbsched-model 1\npolicy active\ncores 5";
    ASSERT_OK(lbi_model_parse(least, strlen(least), &model, &err), err);
    ck_assert_uint_eq(lb_model_cores(model), 5);
    ck_assert_int_eq(lb_model_policy(model), LB_POLICY_ACTIVE);
    lb_model_free(model);
}
END_TEST

START_TEST(files_that_cannot_be) {
    lb_model *model = NULL;
    lb_error err = {0};
    ASSERT_REFUSED(lb_model_load("/nowhere/at/all", &model, &err), LB_ERR_IO, "/nowhere/at/all",
                   err);
    ck_assert_int_eq(err.os_errno, ENOENT);
    ck_assert_ptr_null(model);
    ASSERT_OK(lb_model_preset("windows-7", 4, &model, &err), err);
    ASSERT_REFUSED(lb_model_save(model, "/nowhere/at/all", &err), LB_ERR_IO, "/nowhere/at/all",
                   err);
    if (access("/dev/full", W_OK) == 0) {
        ASSERT_REFUSED(lb_model_save(model, "/dev/full", &err), LB_ERR_IO, "/dev/full", err);
        ck_assert_int_eq(err.os_errno, ENOSPC);
    }
    lb_model_free(model);
}
END_TEST

/* It would give zeros until memory is gone. */
START_TEST(devices_without_end) {
    lb_model *model = NULL;
    lb_trace *trace = NULL;
    lb_error err;
    ASSERT_REFUSED(lb_model_load("/dev/zero", &model, &err), LB_ERR_FORMAT, "line 1: expected text",
                   err);
    ASSERT_REFUSED(lb_trace_load("/dev/zero", &trace, &err), LB_ERR_FORMAT, "line 1: expected text",
                   err);
}
END_TEST

START_TEST(files_survive_failed_allocations) {
    double speeds[] = {1, 2, 3};
    lb_model_options options;
    lb_model_options_init(&options, sizeof options);
    options.cores = 3;
    options.core_speeds = speeds;
    lb_model *model = NULL;
    lb_error err = {0};
    ASSERT_OK(lb_model_new(&options, &model, &err), err);
    size_t failures;
    lb_status status;
    SWEEP_ALLOCATIONS(status, failures, {
        lb_model *back = NULL;
        status = lb_model_save(model, path, NULL);
        if (status == LB_OK)
            status = lb_model_load(path, &back, NULL);
        lb_model_free(back);
    });
    ck_assert_uint_gt(failures, 5);
    lb_model_free(model);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("model_file");
    TCase *files = tcase_create("files");
    tcase_add_checked_fixture(files, make_path, remove_path);
    tcase_add_test(files, models_read_back_to_the_last_bit);
    tcase_add_test(files, files_survive_failed_allocations);
    suite_add_tcase(s, files);
    ADD(s, "bad input", malformed_files_are_refused, files_that_cannot_be, devices_without_end);
    return s;
}
