/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <string.h>

#include "harness.h"
#include "model/workload.h"

static lb_workload *new_workload(size_t processes) {
    lb_workload *workload = NULL;
    lb_error err = {0};
    ASSERT_OK(lb_workload_new(&workload, &err), err);
    for (size_t i = 0; i < processes; i++)
        ASSERT_OK(lb_workload_add(workload, 1 + (double)i, NULL, &err), err);
    return workload;
}

START_TEST(indices_count_up) {
    lb_workload *workload = new_workload(2);
    lb_error err = {0};
    size_t index = 99;
    ASSERT_OK(lb_workload_add(workload, INFINITY, &index, &err), err);
    ck_assert_uint_eq(index, 2);
    double more[] = {0, 4.5, 7};
    ASSERT_OK(lb_workload_add_many(workload, more, 3, &index, &err), err);
    ck_assert_uint_eq(index, 3);
    ASSERT_OK(lb_workload_add_many(workload, NULL, 0, &index, &err), err);
    ck_assert_uint_eq(index, 6);
    ck_assert_uint_eq(lb_workload_size(workload), 6);
    ck_assert_double_eq(lbi_workload_work(workload, 1), 2);
    ck_assert_double_eq(lbi_workload_work(workload, 4), 4.5);
    ck_assert(lbi_workload_work(workload, 2) == INFINITY);
    lb_workload_free(workload);
    lb_workload_free(NULL);
}
END_TEST

START_TEST(clearing_makes_it_as_new) {
    lb_workload *workload = new_workload(3);
    lb_error err = {0};
    ASSERT_OK(lb_workload_set_arrival(workload, 0, 5, &err), err);
    ASSERT_OK(lb_workload_set_weight(workload, 1, 3, &err), err);
    ASSERT_OK(lb_workload_set_first_core(workload, 2, 7, &err), err);
    ASSERT_OK(lb_workload_add_event(workload, 0, 6, LB_EVENT_STOP, &err), err);
    lb_workload_clear(workload);
    ck_assert_uint_eq(lb_workload_size(workload), 0);
    double works[] = {1, 2, 3};
    ASSERT_OK(lb_workload_add_many(workload, works, 3, NULL, &err), err);
    ck_assert(!lbi_workload_has_arrivals(workload));
    ck_assert(!lbi_workload_has_weights(workload));
    ck_assert(!lbi_workload_has_events(workload));
    ck_assert_uint_eq(lbi_workload_first_core(workload, 2), LBI_ANY_CORE);
    /* the arrival may be set again: the event is gone */
    ASSERT_OK(lb_workload_set_arrival(workload, 0, 5, &err), err);
    ck_assert(lbi_workload_has_arrivals(workload));
    lb_workload_free(workload);
}
END_TEST

START_TEST(processes_added_later_have_the_defaults) {
    lb_workload *workload = new_workload(1);
    lb_error err = {0};
    double weights[] = {2};
    ASSERT_OK(lb_workload_set_weights(workload, 0, weights, 1, &err), err);
    ASSERT_OK(lb_workload_set_weights(workload, 1, NULL, 0, &err), err);
    ASSERT_OK(lb_workload_set_first_core(workload, 0, 1, &err), err);
    ASSERT_OK(lb_workload_set_arrival(workload, 0, 1, &err), err);
    ASSERT_OK(lb_workload_add_event(workload, 0, 1, LB_EVENT_SLEEP, &err), err);
    for (size_t i = 1; i < 40; i++)
        ASSERT_OK(lb_workload_add(workload, 1, NULL, &err), err);
    ASSERT_OK(lb_workload_set_arrival(workload, 39, 0, &err), err);
    for (size_t i = 0; i < 40; i++)
        ck_assert_uint_eq(lbi_workload_first_core(workload, i), i == 0 ? 1 : LBI_ANY_CORE);
    lb_workload_free(workload);
}
END_TEST

START_TEST(what_is_out_of_range_is_refused) {
    lb_workload *workload = new_workload(2);
    lb_error err = {0};
    size_t index = 99;
    ASSERT_REFUSED(lb_workload_add(workload, -1, &index, &err), LB_ERR_INVALID, "work[2] is -1",
                   err);
    ASSERT_REFUSED(lb_workload_add(workload, NAN, &index, &err), LB_ERR_INVALID, "work[2] is nan",
                   err);
    double works[] = {1, 2, -INFINITY};
    ASSERT_REFUSED(lb_workload_add_many(workload, works, 3, &index, &err), LB_ERR_INVALID,
                   "work[4] is -inf", err);
    ck_assert_uint_eq(index, 99);
    ck_assert_uint_eq(lb_workload_size(workload), 2);

    const double bad_times[] = {-0.5, NAN, INFINITY};
    const char *const bad_words[] = {"-0.5", "nan", "inf"};
    for (int i = 0; i < 3; i++) {
        ASSERT_REFUSED(lb_workload_set_arrival(workload, 1, bad_times[i], &err), LB_ERR_INVALID,
                       bad_words[i], err);
        ck_assert_ptr_nonnull(strstr(err.message, "arrival[1]"));
        ASSERT_REFUSED(lb_workload_add_event(workload, 1, bad_times[i], LB_EVENT_WAKE, &err),
                       LB_ERR_INVALID, bad_words[i], err);
        ck_assert_ptr_nonnull(strstr(err.message, "event of process 1"));
    }
    const double bad_weights[] = {0, -2, NAN, INFINITY};
    const char *const weight_words[] = {"weight[1] is 0", "weight[1] is -2", "weight[1] is nan",
                                        "weight[1] is inf"};
    for (int i = 0; i < 4; i++) {
        ASSERT_REFUSED(lb_workload_set_weight(workload, 1, bad_weights[i], &err), LB_ERR_INVALID,
                       weight_words[i], err);
        double both[] = {5, bad_weights[i]};
        ASSERT_REFUSED(lb_workload_set_weights(workload, 0, both, 2, &err), LB_ERR_INVALID,
                       weight_words[i], err);
    }
    ck_assert(!lbi_workload_has_weights(workload));
    double one = 1;
    ASSERT_REFUSED(lb_workload_set_weights(workload, 2, &one, 1, &err), LB_ERR_INVALID,
                   "1 processes from 2 on", err);
    ASSERT_REFUSED(lb_workload_set_weights(workload, SIZE_MAX, &one, 1, &err), LB_ERR_INVALID,
                   "there are 2", err);

    ASSERT_REFUSED(lb_workload_set_arrival(workload, 2, 1, &err), LB_ERR_INVALID, "process 2", err);
    ASSERT_REFUSED(lb_workload_set_weight(workload, 2, 1, &err), LB_ERR_INVALID, "process 2", err);
    ASSERT_REFUSED(lb_workload_set_first_core(workload, 2, 0, &err), LB_ERR_INVALID, "process 2",
                   err);
    ASSERT_REFUSED(lb_workload_set_first_core(workload, 0, UINT32_MAX, &err), LB_ERR_INVALID,
                   "first core of process 0", err);
    ASSERT_REFUSED(lb_workload_add_event(workload, 2, 1, LB_EVENT_STOP, &err), LB_ERR_INVALID,
                   "process 2", err);
    ASSERT_REFUSED(lb_workload_add_event(workload, 0, 1, (lb_event_kind)3, &err), LB_ERR_INVALID,
                   "kind 3", err);
    ck_assert(!lbi_workload_has_events(workload));
    lb_workload_free(workload);
}
END_TEST

START_TEST(events_follow_the_arrival) {
    lb_workload *workload = new_workload(2);
    lb_error err = {0};
    ASSERT_OK(lb_workload_set_arrival(workload, 0, 3, &err), err);
    ASSERT_REFUSED(lb_workload_add_event(workload, 0, 2.5, LB_EVENT_STOP, &err), LB_ERR_INVALID,
                   "2.5 s", err);
    ASSERT_OK(lb_workload_add_event(workload, 0, 3, LB_EVENT_STOP, &err), err);
    ASSERT_REFUSED(lb_workload_set_arrival(workload, 0, 1, &err), LB_ERR_INVALID,
                   "arrival[0] is 1 s", err);
    ASSERT_OK(lb_workload_set_arrival(workload, 1, 1, &err), err);
    lb_workload_free(workload);
}
END_TEST

/* No assertions in here: they allocate too. */
static lb_status fill(lb_workload *workload, bool *changed) {
    lb_status status = LB_OK;
    for (int i = 0; i < 20 && status == LB_OK; i++) {
        size_t before = lb_workload_size(workload);
        status = lb_workload_add(workload, i, NULL, NULL);
        *changed = *changed || lb_workload_size(workload) != before + (status == LB_OK);
        if (status == LB_OK)
            status = lb_workload_set_arrival(workload, before, 2, NULL);
        if (status == LB_OK)
            status = lb_workload_set_weight(workload, before, 2, NULL);
        if (status == LB_OK)
            status = lb_workload_set_first_core(workload, before, 2, NULL);
        if (status == LB_OK)
            status = lb_workload_add_event(workload, before, 2, LB_EVENT_STOP, NULL);
    }
    return status;
}

START_TEST(failed_allocations_leave_it_as_it_was) {
    size_t failures;
    lb_status status;
    bool changed = false, recovered = true;
    SWEEP_ALLOCATIONS(status, failures, {
        lb_workload *workload = NULL;
        status = lb_workload_new(&workload, NULL);
        if (status == LB_OK)
            status = fill(workload, &changed);
        if (status != LB_OK && workload != NULL) /* whatever failed now succeeds */
            recovered = recovered && fill(workload, &changed) == LB_OK;
        lb_workload_free(workload);
    });
    ck_assert(!changed);
    ck_assert(recovered);
    ck_assert_uint_gt(failures, 10);
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("workload");
    ADD(s, "contents", indices_count_up, clearing_makes_it_as_new,
        processes_added_later_have_the_defaults);
    ADD(s, "bad input", what_is_out_of_range_is_refused, events_follow_the_arrival);
    ADD(s, "memory", failed_allocations_leave_it_as_it_was);
    return s;
}
