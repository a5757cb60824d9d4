/* SPDX-License-Identifier: BSD-3-Clause */
/* Whole files, read and written so that every failure is told. */
#ifndef LBI_TRACE_FILE_H
#define LBI_TRACE_FILE_H

#include <stddef.h>

#include "base/error.h"

/* Reads all that `path` has to give (a pipe too). The caller frees *ret_data, which is not
 * terminated. LB_ERR_IO, LB_ERR_NOMEM; LB_ERR_FORMAT at the first zero byte, as what is read is
 * text, and a device without an end would take all memory. */
lb_status lbi_file_read(const char *path, char **ret_data, size_t *ret_length, lb_error *err);

/* Writes a file. A regular file, and one that is not there yet, is written beside and renamed once
 * it is whole, so that a failure leaves what was there; what is reached through a symbolic link, a
 * device or a pipe is written in place, and so is a file that cannot be replaced by one like it.
 * LB_ERR_IO. */
lb_status lbi_file_write(const char *path, const char *data, size_t length, lb_error *err);

#endif
