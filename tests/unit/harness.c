/* SPDX-License-Identifier: BSD-3-Clause */
#include "harness.h"

#include <locale.h>
#include <stdio.h>

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
