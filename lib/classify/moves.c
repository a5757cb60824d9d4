/* SPDX-License-Identifier: BSD-3-Clause */
#include "classify/moves.h"

void lbi_moves_look(lbi_moves *m, const lbi_change *change) {
    if (!change->moved)
        return;
    uint32_t from = change->before_from, to = change->before_to;
    if (to == 0)
        *(from >= 2 ? &m->filling : &m->alone) += 1;
    else if (from >= to + 2)
        m->evening++;
    else if (from == to + 1)
        m->rotating++;
    else
        m->other++;
}
