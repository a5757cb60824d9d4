/* SPDX-License-Identifier: BSD-3-Clause */
/* What every unit test program shares. A program defines suite(); harness.c has main(). */
#ifndef TESTS_HARNESS_H
#define TESTS_HARNESS_H

#include <check.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "lbsched/lbsched.h"

Suite *suite(void);

/* Check writes into a file where each assertion held, to tell how far a test came that dies: that
 * was most of the time of tests with millions of them. Here only the last is kept, and written when
 * the test ends or dies. */
void harness_mark(const char *file, int line);
#define _mark_point(file_, line_) harness_mark(file_, line_)

/* Adds one test case that holds all the tests given. */
#define ADD(suite_, name_, ...)                                                                    \
    do {                                                                                           \
        const TTest *tests_[] = {__VA_ARGS__};                                                     \
        TCase *case_ = tcase_create(name_);                                                        \
        tcase_set_timeout(case_, 120);                                                             \
        for (size_t i_ = 0; i_ < sizeof tests_ / sizeof *tests_; i_++)                             \
            tcase_add_test(case_, tests_[i_]);                                                     \
        suite_add_tcase(suite_, case_);                                                            \
    } while (0)

/* ck_assert of a status, printing the error's message when it is another. */
#define ASSERT_STATUS(call_, expected_, err_)                                                      \
    do {                                                                                           \
        lb_status status_ = (call_);                                                               \
        ck_assert_msg(status_ == (expected_), "%s is %s, expected %s: %s", #call_,                 \
                      lb_status_name(status_), lb_status_name(expected_),                          \
                      status_ == LB_OK ? "" : (err_).message);                                     \
    } while (0)
#define ASSERT_OK(call_, err_) ASSERT_STATUS(call_, LB_OK, err_)

/* Refused with that status, and a message that holds `words_`. */
#define ASSERT_REFUSED(call_, expected_, words_, err_)                                             \
    do {                                                                                           \
        (err_) = (lb_error){0};                                                                    \
        ASSERT_STATUS(call_, expected_, err_);                                                     \
        ck_assert_int_eq((err_).status, expected_);                                                \
        ck_assert_msg(strstr((err_).message, words_) != NULL, "\"%s\" lacks \"%s\"",               \
                      (err_).message, words_);                                                     \
    } while (0)

/* ---- failing allocations (faults.c; --wrap in meson.build) ---- */

/* The n-th allocation from now on fails (n counts from 1), and only that one; 0: none. */
void faults_arm(size_t n);
/* Whether the armed failure has happened; disarms. */
bool faults_fired(void);
/* Allocations made and not freed so far by the wrapped functions. */
long faults_live(void);

/* Runs `body_` with the 1st, 2nd, .. allocation failing until a run in which none failed. `body_`
 * must set `status_` and release all it made; each failure must give LB_ERR_NOMEM, and leave as
 * many allocations as there were. Evaluates to nothing; the number of failures goes to `count_`. */
#define SWEEP_ALLOCATIONS(status_, count_, body_)                                                  \
    do {                                                                                           \
        (count_) = 0;                                                                              \
        for (size_t n_ = 1;; n_++) {                                                               \
            long live_ = faults_live();                                                            \
            faults_arm(n_);                                                                        \
            body_;                                                                                 \
            bool fired_ = faults_fired();                                                          \
            ck_assert_int_eq(faults_live(), live_);                                                \
            if (!fired_) {                                                                         \
                ck_assert_int_eq(status_, LB_OK);                                                  \
                break;                                                                             \
            }                                                                                      \
            ck_assert_int_eq(status_, LB_ERR_NOMEM);                                               \
            (count_)++;                                                                            \
        }                                                                                          \
    } while (0)

#endif
