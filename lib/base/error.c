/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

/* A message is one line, whatever names and paths it quotes. */
static void keep_one_line(char *message) {
    for (unsigned char *c = (unsigned char *)message; *c != '\0'; c++)
        if (*c < 0x20 || *c == 0x7f)
            *c = '?';
}

static void fill(lb_error *err, lb_status status, int os_errno, const char *format,
                 va_list arguments) {
    err->status = status;
    err->os_errno = os_errno;
    lbi_vsnprintf(err->message, sizeof err->message, format, arguments);
    keep_one_line(err->message);
    if (os_errno == 0)
        return;
    size_t length = strlen(err->message);
    char reason[96];
    lbi_strerror(os_errno, reason, sizeof reason);
    lbi_snprintf(err->message + length, sizeof err->message - length, ": %s", reason);
}

lb_status lbi_error(lb_error *err, lb_status status, const char *format, ...) {
    if (err != NULL) {
        va_list arguments;
        va_start(arguments, format);
        fill(err, status, 0, format, arguments);
        va_end(arguments);
    }
    return status;
}

lb_status lbi_error_os(lb_error *err, lb_status status, int os_errno, const char *format, ...) {
    if (err != NULL) {
        va_list arguments;
        va_start(arguments, format);
        fill(err, status, os_errno, format, arguments);
        va_end(arguments);
    }
    return status;
}

lb_status lbi_error_nomem(lb_error *err, const char *what) {
    return lbi_error(err, LB_ERR_NOMEM, "no memory for %s", what);
}
