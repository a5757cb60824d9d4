/* SPDX-License-Identifier: BSD-3-Clause */
/* /proc/stat, as kernels of all ages and machines of all sizes write it. */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "experiment/proc_stat.h"
#include "harness.h"

static uint32_t two[] = {0, 1};
static const lb_host pair = {.cores = 2, .cpus = two};

static lbi_stat_change compare(const char *before, const char *after, const lb_host *host) {
    lbi_stat_change c;
    ck_assert(lbi_stat_compare(before, after, host, &c));
    return c;
}

START_TEST(plain) {
    lbi_stat_change c = compare("cpu 1 1 1 1\ncpu0 10 20 30 40 50 60 70 80 9 9\n"
                                "cpu1 0 0 0 0 0 0 0 0 0 0\nintr 1000 5 6 7\nctxt 5\n",
                                "cpu 9 9 9 9\ncpu0 20 40 60 80 51 62 73 84 9 9\n"
                                "cpu1 100 0 0 0 0 0 0 0 0 0\nintr 1500 5 6 7\n",
                                &pair);
    ck_assert_uint_eq(c.cores, 2);
    ck_assert_uint_eq(c.fallen, 0);
    const double expected[] = {110, 20, 30, 40, 1, 2, 3, 4};
    for (int i = 0; i < LBI_STAT_COLUMNS; i++)
        ck_assert_double_eq_tol(c.percent[i], 100 * expected[i] / 210, 1e-12);
    ck_assert_double_eq(c.interrupts, 500);
}
END_TEST

/* Idle and iowait of a tickless kernel may fall, and so may all of a core that was off. */
START_TEST(backwards) {
    lbi_stat_change c = compare("cpu0 10 0 0 500 7 0 0 0\ncpu1 0 0 0 0 0 0 0 0\nintr 9\n",
                                "cpu0 20 0 0 499 6 0 0 0\ncpu1 0 0 0 30 0 0 0 0\nintr 8\n", &pair);
    ck_assert_uint_eq(c.fallen, 2);
    ck_assert_double_eq(c.percent[LBI_STAT_USER], 25);
    ck_assert_double_eq(c.percent[LBI_STAT_IDLE], 75);
    ck_assert_double_eq(c.percent[LBI_STAT_IOWAIT], 0);
    ck_assert_double_nan(c.interrupts);
}
END_TEST

/* Linux 2.4 has four columns, 2.6.0 seven; some line may be cut. */
START_TEST(missing_columns) {
    lbi_stat_change c =
        compare("cpu0 0 0 0 0\ncpu1 0 0 0 0\n", "cpu0 10 0 0 30\ncpu1 10 20 10 20\n", &pair);
    ck_assert_double_eq(c.percent[LBI_STAT_USER], 20);
    ck_assert_double_eq(c.percent[LBI_STAT_IDLE], 50);
    for (int i = LBI_STAT_IOWAIT; i < LBI_STAT_COLUMNS; i++)
        ck_assert_double_nan(c.percent[i]);
    ck_assert_double_nan(c.interrupts);
    c = compare("cpu0\ncpu1 0 0 0 0\n", "cpu0\ncpu1 1 0 0 x\nintr\n", &pair);
    ck_assert_uint_eq(c.cores, 1);
    ck_assert_double_eq(c.percent[LBI_STAT_USER], 100);
    ck_assert_double_nan(c.percent[LBI_STAT_IDLE]);
    ck_assert_double_nan(c.interrupts);
}
END_TEST

START_TEST(more_columns) {
    lbi_stat_change c =
        compare("cpu0 0 0 0 0 0 0 0 0 0 0 0 0 a\ncpu1 0 0 0 0 0 0 0 0 0 0 0 0 b\n",
                "cpu0 0 0 0 1 0 0 0 0 5 5 5 5 a\ncpu1 1 0 0 0 0 0 0 0 5 5 5 5 b\n", &pair);
    ck_assert_double_eq(c.percent[LBI_STAT_USER], 50);
    ck_assert_double_eq(c.percent[LBI_STAT_IDLE], 50);
}
END_TEST

/* Of a core that was off before or after, or that others have, nothing counts. */
START_TEST(offline) {
    lbi_stat_change c = compare("cpu0 0 0 0 0 0 0 0 0\ncpu7 0 0 0 0 0 0 0 0\n",
                                "cpu0 1 0 0 3 0 0 0 0\ncpu1 900 0 0 0 0 0 0 0\n"
                                "cpu7 800 0 0 0 0 0 0 0\n",
                                &pair);
    ck_assert_uint_eq(c.cores, 1);
    ck_assert_double_eq(c.percent[LBI_STAT_USER], 25);
    c = compare("", "cpu0 1 0 0 3 0 0 0 0\n", &pair);
    ck_assert_uint_eq(c.cores, 0);
    for (int i = 0; i < LBI_STAT_COLUMNS; i++)
        ck_assert_double_nan(c.percent[i]);
}
END_TEST

START_TEST(no_time) {
    const char *same = "cpu0 1 2 3 4 5 6 7 8\ncpu1 1 2 3 4 5 6 7 8\nintr 5\n";
    lbi_stat_change c = compare(same, same, &pair);
    ck_assert_double_nan(c.percent[LBI_STAT_IDLE]);
    ck_assert_double_eq(c.interrupts, 0);
}
END_TEST

static char *wide(uint32_t cpus, unsigned step) {
    lbi_text text = {0};
    for (uint32_t i = 0; i < cpus; i++)
        lbi_text_printf(&text, "cpu%u %llu 0 0 %u 0 0 0 0 0 0\n", i, 18000000000000000000ULL + step,
                        3 * step);
    lbi_text_string(&text, "intr 1");
    for (int i = 0; i < 20000; i++)
        lbi_text_string(&text, " 0");
    return lbi_text_take(&text, NULL);
}

START_TEST(thousands_of_cpus) {
    enum {
        CPUS = 8192
    };
    static uint32_t cpus[CPUS / 2];
    for (uint32_t i = 0; i < CPUS / 2; i++)
        cpus[i] = 2 * i;
    lb_host host = {.cores = CPUS / 2, .cpus = cpus};
    char *before = wide(CPUS, 0), *after = wide(CPUS, 1024);
    lbi_stat_change c = compare(before, after, &host);
    ck_assert_uint_eq(c.cores, CPUS / 2);
    ck_assert_double_eq(c.percent[LBI_STAT_USER], 25);
    ck_assert_double_eq(c.percent[LBI_STAT_IDLE], 75);
    free(before);
    free(after);
}
END_TEST

START_TEST(no_memory) {
    lbi_stat_change c;
    faults_arm(1);
    ck_assert(!lbi_stat_compare("cpu0 1\n", "cpu0 2\n", &pair, &c));
    ck_assert(faults_fired());
}
END_TEST

Suite *suite(void) {
    Suite *s = suite_create("proc_stat");
    ADD(s, "proc_stat", plain, backwards, missing_columns, more_columns, offline, no_time,
        thousands_of_cpus, no_memory);
    return s;
}
