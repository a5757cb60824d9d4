/* SPDX-License-Identifier: BSD-3-Clause */
/* Counting checks. A program's main() ends with `return checks_report();`. */
#ifndef TESTS_CHECK_H
#define TESTS_CHECK_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static long checks_made, checks_failed;

/* Counts a check and says which one failed; after twenty of them it gives up. */
__attribute__((format(printf, 2, 3))) static inline bool check(bool holds, const char *words, ...) {
    checks_made++;
    if (holds)
        return true;
    va_list arguments;
    va_start(arguments, words);
    printf("FAILED: ");
    vprintf(words, arguments);
    printf("\n");
    va_end(arguments);
    if (++checks_failed == 20) {
        printf("that is enough: %ld checks made\n", checks_made);
        exit(EXIT_FAILURE);
    }
    return false;
}

static inline int checks_report(void) {
    printf("%ld checks made, %ld failed\n", checks_made, checks_failed);
    return checks_made > 0 && checks_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

#endif
