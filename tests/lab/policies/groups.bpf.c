/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/* By group weight, as docs/weights.md has it: groups of four CPUs, such as sockets, are to weigh
 * alike. A task of weight r moves from the heaviest group to the lightest where the one weighs more
 * than 1.25 times the other, and both are at least r away from their mean. Within a group a list
 * receives a task from one that is two longer. An idle CPU asks for nothing: what it gets is
 * pushed. So beside one heavy task the CPUs of its group idle while light ones wait elsewhere. */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

char lab_license[] SEC("license") = "Dual BSD/GPL";

enum {
    MAX_CPUS = 64,
    GROUP = 4,
    KERNEL_THREAD = 0x00200000, /* PF_KTHREAD */
    IDLE_POLICY = 5,            /* SCHED_IDLE */
    IDLE_WEIGHT = 3,
    NORMAL_WEIGHT = 1024,
    /* A tick comes every 4 ms: between two of them, slices are all of one length. */
    NORMAL_SLICE_NS = 62000000,
    LEAST_SLICE_NS = 6000000,
    /* One move among groups at a time: the next one looks at weights that know of it. */
    PAUSE_NS = 1000000
};

/* Of nice -20 to 19: kernel/sched/core.c. */
static const u32 nice_weights[40] = {
    88761, 71755, 56483, 46273, 36291, 29154, 23254, 18705, 14949, 11916, 9548, 7620, 6100, 4904,
    3906,  3121,  2501,  1991,  1586,  1277,  1024,  820,   655,   526,   423,  335,  272,  215,
    172,   137,   110,   87,    70,    56,    45,    36,    29,    23,    18,   15};

struct member {
    s32 list;
    u32 ticks, weight;
    bool placed, counted;
};

struct {
    __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, int);
    __type(value, struct member);
} members SEC(".maps");

static u32 next_list;
static u32 lengths[MAX_CPUS], weights[MAX_CPUS];
static u64 moved;

static u32 cpus(void) {
    u32 n = scx_bpf_nr_cpu_ids();
    return n < MAX_CPUS ? n : MAX_CPUS;
}

static u32 length(s32 cpu) {
    return lengths[cpu & (MAX_CPUS - 1)];
}

static u32 group_of(s32 cpu) {
    return (u32)cpu / GROUP;
}

static u32 weight_of(const struct task_struct *p) {
    u32 index = p->static_prio - 100;
    if (p->policy == IDLE_POLICY)
        return IDLE_WEIGHT;
    return index < 40 ? nice_weights[index] : NORMAL_WEIGHT;
}

static void add(const struct member *m, s32 sign) {
    u32 cpu = m->list & (MAX_CPUS - 1);
    __sync_fetch_and_add(&lengths[cpu], sign);
    __sync_fetch_and_add(&weights[cpu], sign * (s32)m->weight);
}

static void join(struct member *m, const struct task_struct *p) {
    if (m->counted)
        return;
    m->counted = true;
    m->weight = weight_of(p);
    add(m, 1);
}

static void leave(struct member *m) {
    if (!m->counted)
        return;
    m->counted = false;
    add(m, -1);
}

static bool may_run_on(const struct task_struct *p, s32 cpu) {
    return bpf_cpumask_test_cpu(cpu, p->cpus_ptr);
}

/* NULL for the kernel's own threads, which are in no list. */
static struct member *member_of(struct task_struct *p) {
    if (p->flags & KERNEL_THREAD)
        return NULL;
    struct member *m = bpf_task_storage_get(&members, p, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
    if (m == NULL)
        return NULL;
    bool counted = m->counted;
    if (!m->placed) {
        m->list = __sync_fetch_and_add(&next_list, 1) % cpus();
        m->placed = true;
    }
    if (!may_run_on(p, m->list)) {
        leave(m);
        m->list = scx_bpf_pick_any_cpu(p->cpus_ptr, 0);
        if (counted)
            join(m, p);
    }
    return m;
}

/* ---- the rule ---- */

/* The shortest list of a group. */
static s32 shortest(u32 group) {
    u32 best = group * GROUP;
    for (u32 cpu = best + 1; cpu < (group + 1) * GROUP && cpu < cpus(); cpu++)
        best = length(cpu) < length(best) ? cpu : best;
    return best;
}

static u32 group_weight(u32 group) {
    u32 sum = 0;
    for (u32 i = 0; i < GROUP; i++)
        sum += weights[(group * GROUP + i) & (MAX_CPUS - 1)];
    return sum;
}

/* The lightest group, if a task belongs there rather than in its own; else its own. */
static u32 group_for(const struct member *m) {
    u32 n = cpus() / GROUP, here = group_of(m->list);
    u32 lightest = here, least = ~0U, most = 0, all = 0, own = group_weight(here);
    for (u32 i = 0; i < MAX_CPUS / GROUP && i < n; i++) {
        u32 weight = group_weight(i);
        all += weight;
        most = weight > most ? weight : most;
        if (weight < least) {
            least = weight;
            lightest = i;
        }
    }
    /* Each difference to the mean times n: no remainders. */
    return own == most && own * 4 > least * 5 && own * n >= all + m->weight * n &&
                   all >= (least + m->weight) * n
               ? lightest
               : here;
}

/* Where a task that has to stop belongs. */
static s32 destination(const struct member *m) {
    u32 here = group_of(m->list), group = group_for(m);
    s32 near = shortest(here);
    if (group != here)
        return shortest(group);
    return length(near) + 2 <= length(m->list) ? near : m->list;
}

/* True, if nobody else has moved among groups just before. */
static bool may_leave_group(void) {
    u64 now = bpf_ktime_get_ns(), last = moved;
    return now - last >= PAUSE_NS && __sync_val_compare_and_swap(&moved, last, now) == last;
}

static u64 slice_of(u32 weight) {
    u64 slice = (u64)NORMAL_SLICE_NS * weight / NORMAL_WEIGHT;
    return slice > LEAST_SLICE_NS ? slice : LEAST_SLICE_NS;
}

/* ---- the scheduler ---- */

SEC("struct_ops/select_cpu")
s32 BPF_PROG(lab_select_cpu, struct task_struct *p, s32 prev_cpu, u64 wake_flags) {
    struct member *m = member_of(p);
    return m != NULL ? m->list : prev_cpu;
}

/* Who wakes after a short while of running is of a list from its second tick on, as in lists.bpf.h.
 */
SEC("struct_ops/runnable")
void BPF_PROG(lab_runnable, struct task_struct *p, u64 flags) {
    struct member *m = member_of(p);
    if (m == NULL)
        return;
    if (m->ticks >= 2 || !(flags & SCX_ENQ_WAKEUP))
        join(m, p);
    m->ticks = 0;
}

SEC("struct_ops/quiescent")
void BPF_PROG(lab_quiescent, struct task_struct *p, u64 flags) {
    struct member *m = bpf_task_storage_get(&members, p, NULL, 0);
    if (m != NULL)
        leave(m);
}

SEC("struct_ops/enqueue")
void BPF_PROG(lab_enqueue, struct task_struct *p, u64 flags) {
    struct member *m = member_of(p);
    /* The controller and the kernel's threads are not to wait for long slices. */
    if (m == NULL || !m->counted) {
        scx_bpf_dsq_insert(p, SCX_DSQ_LOCAL, LEAST_SLICE_NS, flags | SCX_ENQ_PREEMPT);
        return;
    }
    s32 to = destination(m);
    if (to != m->list && may_run_on(p, to) &&
        (group_of(to) == group_of(m->list) || may_leave_group())) {
        add(m, -1);
        m->list = to;
        add(m, 1);
    }
    scx_bpf_dsq_insert(p, m->list, slice_of(m->weight), flags);
    scx_bpf_kick_cpu(m->list, flags & SCX_ENQ_LAST ? 0 : SCX_KICK_IDLE);
}

/* Who is alone goes on where it is, unless it belongs elsewhere: then it has to stop, which takes
 * it to lab_enqueue() (SCX_OPS_ENQ_LAST). */
SEC("struct_ops/dispatch")
void BPF_PROG(lab_dispatch, s32 cpu, struct task_struct *prev) {
    if (scx_bpf_dsq_move_to_local(cpu) || prev == NULL)
        return;
    struct member *m = bpf_task_storage_get(&members, prev, NULL, 0);
    if (m == NULL || !m->counted || (m->list == cpu && destination(m) == cpu))
        prev->scx.slice = m != NULL ? slice_of(m->weight) : LEAST_SLICE_NS;
}

SEC("struct_ops/tick")
void BPF_PROG(lab_tick, struct task_struct *p) {
    struct member *m = bpf_task_storage_get(&members, p, NULL, 0);
    if (m != NULL && ++m->ticks >= 2)
        join(m, p);
}

SEC("struct_ops.s/init")
s32 BPF_PROG(lab_init) {
    s32 n = cpus();
    for (s32 cpu = 0; cpu < MAX_CPUS && cpu < n; cpu++) {
        s32 error = scx_bpf_create_dsq(cpu, -1);
        if (error != 0)
            return error;
    }
    return 0;
}

SEC(".struct_ops.link")
struct sched_ext_ops lab_groups = {.select_cpu = (void *)lab_select_cpu,
                                   .enqueue = (void *)lab_enqueue,
                                   .dispatch = (void *)lab_dispatch,
                                   .runnable = (void *)lab_runnable,
                                   .quiescent = (void *)lab_quiescent,
                                   .tick = (void *)lab_tick,
                                   .init = (void *)lab_init,
                                   .flags = SCX_OPS_ENQ_LAST,
                                   .name = "groups"};
