/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/* Lazy: an empty list receives one task from a list that holds two or more, chosen at random. */
#include "lists.bpf.h"

static u64 queue_of(s32 cpu) {
    return cpu;
}

static s32 giver(s32 cpu) {
    if (length(cpu) > 0)
        return -1;
    u32 n = cpus(), first = bpf_get_prandom_u32();
    for (u32 i = 0; i < MAX_CPUS && i < n; i++) {
        s32 list = (first + i) % n;
        if (length(list) >= 2)
            return list;
    }
    return -1;
}

POLICY(lazy);
