/* SPDX-License-Identifier: BSD-3-Clause */
/* A table from inside. */
#ifndef LBI_TRACE_TABLE_H
#define LBI_TRACE_TABLE_H

#include "lbsched/lbsched.h"
#include "trace/meta.h"

struct lb_table {
    lbi_meta meta;
    char **names;
    size_t columns;
    double *values; /* row by row */
    char **labels;  /* NULL where a row has none */
    size_t rows, value_capacity, label_capacity;
};

/* The name of the column of labels in CSV. */
#define LBI_LABEL "label"

#endif
