/* SPDX-License-Identifier: BSD-3-Clause */
/* What is to be seen of a trace, drawn by gnuplot. */
#ifndef EXAMPLES_CHARTS_H
#define EXAMPLES_CHARTS_H

#include <stdbool.h>

#include "lbsched/lbsched.h"

enum chart {
    CHART_UNITS,   /* The duration of each task's units over time; dotted where a task ended. */
    CHART_SLICES,  /* Gantt: which task ran on which core when. */
    CHART_PROFILE, /* The duration of a unit against the number of running tasks. */
    CHART_LATENCY  /* Within which time how many imbalances were balanced. */
};

/* "units", "slices", "profile", "latency"; false: none of these. */
bool parse_chart(const char *name, enum chart *ret_chart);

/* Draws to a file for which is_plot_path() is true. `model` predicts in CHART_PROFILE; NULL:
 * processor sharing. Returns STATUS_OK or, after saying why, STATUS_ERROR. */
int draw_chart(enum chart chart, const lb_trace *trace, const lb_model *model, const char *path);

#endif
