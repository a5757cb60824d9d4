/* SPDX-License-Identifier: BSD-3-Clause */
/* How an error reaches the caller: `return lbi_error(err, LB_ERR_..., "field ...", value)`. */
#ifndef LBI_BASE_ERROR_H
#define LBI_BASE_ERROR_H

#include "lbsched/lbsched.h"

#if defined(__GNUC__)
#define LBI_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define LBI_PRINTF(text, first)
#endif

/* Fills *err unless it is NULL, and returns `status`. Numbers are written as in the C locale. */
lb_status lbi_error(lb_error *err, lb_status status, const char *format, ...) LBI_PRINTF(3, 4);

/* The same with the system's error number, whose meaning is appended to the message. */
lb_status lbi_error_os(lb_error *err, lb_status status, int os_errno, const char *format, ...)
    LBI_PRINTF(4, 5);

/* LB_ERR_NOMEM: `what` could not be kept. */
lb_status lbi_error_nomem(lb_error *err, const char *what);

#endif
