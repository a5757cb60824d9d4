/* SPDX-License-Identifier: BSD-3-Clause */
/* A folder for temporary files. */
#ifndef LBI_EXPERIMENT_SCRATCH_H
#define LBI_EXPERIMENT_SCRATCH_H

#include "base/error.h"

/* Makes one that nobody else can look into, in $TMPDIR or /tmp; its path is for the caller to free
 * after lbi_scratch_remove(). */
lb_status lbi_scratch_new(char **ret_path, lb_error *err);
/* Removes it with all that is in it; what is gone already is no fault. AS */
void lbi_scratch_remove(const char *path);

#endif
