/* SPDX-License-Identifier: BSD-3-Clause */
/* Which list gave a task up, and which of its tasks that was, when lists were balanced. */
#ifndef LBI_CLASSIFY_CHOICES_H
#define LBI_CLASSIFY_CHOICES_H

#include "classify/occupancy.h"

#define LBI_CHOICE_TASKS_MAX 4096u /* with more tasks the movers are not looked for */

typedef struct lbi_choices {
    size_t lists, longest;     /* moves that had several lists to choose from; from the longest */
    size_t tasks, first, last; /* .. several tasks of different age; the oldest, the latest */
    double log_list[2];        /* log likelihood by lb_list_choice .. */
    double log_process[3];     /* .. and lb_process_choice */
} lbi_choices;

/* Looks at a run elsewhere before the lists change. */
void lbi_choices_look(lbi_choices *choices, const lbi_occupancy *before,
                      const lbi_sighting *sighting);

/* Probabilities of each choice, equal beforehand. */
void lbi_choices_list(const lbi_choices *choices, double ret[2]);
void lbi_choices_process(const lbi_choices *choices, double ret[3]);

#endif
