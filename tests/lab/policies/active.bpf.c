/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/* Active: a list receives one task from a list that is at least two longer, chosen at random. */
#include "lists.bpf.h"

static u64 queue_of(s32 cpu) {
    return cpu;
}

static s32 giver(s32 cpu) {
    u32 n = cpus(), first = bpf_get_prandom_u32();
    for (u32 i = 0; i < MAX_CPUS && i < n; i++) {
        s32 list = (first + i) % n;
        if (length(list) >= length(cpu) + 2)
            return list;
    }
    return -1;
}

POLICY(active);
