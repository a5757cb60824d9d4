/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/* Immediate: all share all cores evenly. As active, and a difference of one goes round: every
 * 100 ms one task moves from a list that is one longer. */
#include "lists.bpf.h"

enum {
    ROTATION_NS = 100000000
};
static u64 rotated;

static u64 queue_of(s32 cpu) {
    return cpu;
}

static s32 giver(s32 cpu) {
    u32 n = cpus(), first = bpf_get_prandom_u32();
    u64 now = bpf_ktime_get_ns();
    bool rotate = now - rotated >= ROTATION_NS;
    for (u32 i = 0; i < MAX_CPUS && i < n; i++) {
        s32 list = (first + i) % n;
        if (length(list) >= length(cpu) + 2)
            return list;
        if (rotate && length(list) == length(cpu) + 1 && length(list) >= 2) {
            rotated = now;
            return list;
        }
    }
    return -1;
}

POLICY(immediate);
