/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/* Single: one queue for all cores; who waits longest runs on whichever core is free first. */
#include "lists.bpf.h"

static u64 queue_of(s32 cpu) {
    return 0;
}

static s32 giver(s32 cpu) {
    return -1;
}

POLICY(single);
