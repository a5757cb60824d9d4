/* SPDX-License-Identifier: BSD-3-Clause */
/* A setting of the kernel is a file that takes one write. */
#ifndef TESTS_TRUTH_SETTING_H
#define TESTS_TRUTH_SETTING_H

#include <stdbool.h>

/* False: errno tells why. */
bool setting_write(const char *folder, const char *file, const char *text);

#endif
