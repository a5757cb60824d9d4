/* SPDX-License-Identifier: BSD-3-Clause */
/* What the sentences of reasons are made of: intervals of the most probable history, and the units'
 * durations in them. */
#ifndef LBI_CLASSIFY_STORY_H
#define LBI_CLASSIFY_STORY_H

#include "classify/classify.h"
#include "classify/history.h"

typedef struct lbi_story {
    lbi_history h;
    uint32_t *chosen; /* [task]: those that a sentence is about */
    double *values;   /* [task] */
} lbi_story;

/* Goes to the interval that shows something longest: `shows` returns for how long the present one
 * does, 0: not at all. False: none does. */
bool lbi_story_seek(lbi_story *story, double (*shows)(const lbi_story *));

/* The least, the middle and the greatest unit duration of some tasks. False: none is known. */
bool lbi_story_spread_ms(const lbi_story *story, const uint32_t *tasks, size_t n, size_t from,
                         size_t to, double ret[3]);
/* "tasks 1, 5 and 8", in the order of the trace's numbers, so that a reader finds them. */
void lbi_story_name_tasks(lbi_text *text, const lbi_story *story, const uint32_t *tasks, size_t n);
/* "from 30.1 to 20.2 ms", the middle of several tasks, at the present interval's beginning. */
void lbi_story_name_change(lbi_text *text, const lbi_story *story, const uint32_t *tasks, size_t n);
/* "tasks 1 and 2 took 20.2 ms a unit (2 to a core)": those in lists of a length. */
void lbi_story_name_group(lbi_text *text, lbi_story *story, uint16_t size);

#endif
