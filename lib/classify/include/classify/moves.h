/* SPDX-License-Identifier: BSD-3-Clause */
/* Moves between lists, by what they did to the lists. */
#ifndef LBI_CLASSIFY_MOVES_H
#define LBI_CLASSIFY_MOVES_H

#include "classify/occupancy.h"

typedef struct lbi_moves {
    size_t filling;  /* to an idle core, from a list of two or more */
    size_t evening;  /* from a list two or more longer, no core being idle */
    size_t rotating; /* from a list one longer */
    size_t other;    /* none of these: lists were as even before, or more */
    size_t alone;    /* a task alone on its core went to an idle one: nothing changes */
} lbi_moves;

void lbi_moves_look(lbi_moves *moves, const lbi_change *change);

#endif
