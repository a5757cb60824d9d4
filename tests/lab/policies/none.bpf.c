/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/* None: nobody moves, even beside an idle core. */
#include "lists.bpf.h"

static u64 queue_of(s32 cpu) {
    return cpu;
}

static s32 giver(s32 cpu) {
    return -1;
}

POLICY(none);
