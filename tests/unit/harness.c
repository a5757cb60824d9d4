/* SPDX-License-Identifier: BSD-3-Clause */
#include "harness.h"

#include <locale.h>
#include <signal.h>
#include <stdio.h>

#undef _mark_point /* Check's own */

static const char *marked_file;
static int marked_line;

static void write_mark(void) {
    _mark_point(marked_file, marked_line);
}

#ifndef __SANITIZE_ADDRESS__ /* which tells more itself */
static void write_mark_and_die(int number) {
    write_mark();
    raise(number);
}
#endif

void harness_mark(const char *file, int line) {
    bool first = marked_file == NULL;
    marked_file = file;
    marked_line = line;
    if (!first)
        return;
    atexit(write_mark);
#ifndef __SANITIZE_ADDRESS__
    static const int deadly[] = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL};
    struct sigaction action = {.sa_handler = write_mark_and_die, .sa_flags = (int)SA_RESETHAND};
    for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++)
        sigaction(deadly[i], &action, NULL);
#endif
}

int main(void) {
    /* The suite runs once more under a locale with a decimal comma: LBSCHED_TEST_LOCALE names it.
     */
    const char *locale = getenv("LBSCHED_TEST_LOCALE");
    if (locale != NULL && setlocale(LC_ALL, locale) == NULL) {
        printf("skipped: no locale %s\n", locale);
        return 77;
    }
    SRunner *runner = srunner_create(suite());
    srunner_run_all(runner, CK_ENV);
    int run = srunner_ntests_run(runner);
    int failed = srunner_ntests_failed(runner);
    printf("%d checks run, %d failed\n", run, failed);
    srunner_free(runner);
    /* Check passes happily when it ran nothing. */
    return run > 0 && failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
