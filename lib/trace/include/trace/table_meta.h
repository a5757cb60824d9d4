/* SPDX-License-Identifier: BSD-3-Clause */
/* A table's metadata as a whole. */
#ifndef LBI_TRACE_TABLE_META_H
#define LBI_TRACE_TABLE_META_H

#include "lbsched/lbsched.h"

/* Sets all entries of `from` in `to`, with `prefix` before their keys. LB_ERR_NOMEM. */
lb_status lbi_table_copy_meta(lb_table *to, const lb_table *from, const char *prefix,
                              lb_error *err);

#endif
