/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/* A Linux scheduler (sched_ext) with the run lists of the model: each CPU has a list of the
 * tasks that run on it, the one that runs and those that wait in the CPU's queue. A policy is one
 * function: giver() names the list that a CPU takes a task from, as Step 1b of docs/model.md does.
 *
 * What happened is kept in the map lab_events, with the times of CLOCK_MONOTONIC, for
 * tests/lab/truth.py to check that the policy did what its name says. */
#ifndef LAB_LISTS_BPF_H
#define LAB_LISTS_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

char lab_license[] SEC("license") = "Dual BSD/GPL";

enum {
    MAX_CPUS = 64,
    MAX_EVENTS = 1 << 16,
    KERNEL_THREAD = 0x00200000, /* PF_KTHREAD */
    /* The tick that ends a slice comes every 4 ms (CONFIG_HZ=250): in the middle between two ticks,
     * slices are all of one length, 8 ms. */
    SLICE_NS = 6000000,
    SAMPLE_NS = 50000000
};

enum event_kind {
    JOIN = 0, /* A task joined a list: it began, woke, or may run elsewhere now. */
    LEAVE = 1,
    MOVE = 2, /* A task runs on a CPU which is not that of its list; with the lengths before, as the
                 policy saw them. */
    SAMPLE = 3 /* Of a CPU: `to` is what the kernel says of its queue, `to_length` is 0. */
};

struct event {
    u64 time;
    u32 kind, pid, from, to, from_length, to_length;
};

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __uint(max_entries, MAX_EVENTS);
    __type(key, u32);
    __type(value, struct event);
} lab_events SEC(".maps");

struct membership {
    s32 list;
    u32 ticks;
    bool placed, counted;
};

struct {
    __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
    __uint(map_flags, BPF_F_NO_PREALLOC);
    __type(key, int);
    __type(value, struct membership);
} memberships SEC(".maps");

static u32 next_event, next_list;
static u32 lengths[MAX_CPUS];
static u64 sampled[MAX_CPUS];
/* A CPU has taken a task from another's list, which will run next; what giver() went by. */
static bool pulled[MAX_CPUS];
static u32 seen_from[MAX_CPUS], seen_to[MAX_CPUS];

static u32 cpus(void) {
    u32 n = scx_bpf_nr_cpu_ids();
    return n < MAX_CPUS ? n : MAX_CPUS;
}

/* How many tasks are in the list of a CPU: those that wait and the one that runs. */
static u32 length(s32 cpu) {
    return lengths[cpu & (MAX_CPUS - 1)];
}

static void add_to_length(s32 cpu, u32 n) {
    __sync_fetch_and_add(&lengths[cpu & (MAX_CPUS - 1)], n);
}

/* The policy: from which list does `cpu` take a task now? Negative: from none. */
static s32 giver(s32 cpu);

/* The queue of the tasks that wait for a CPU. */
static u64 queue_of(s32 cpu);

static void note(enum event_kind kind, u32 pid, s32 from, s32 to, u32 from_length, u32 to_length) {
    struct event event = {.time = bpf_ktime_get_ns(),
                          .kind = kind,
                          .pid = pid,
                          .from = from,
                          .to = to,
                          .from_length = from_length,
                          .to_length = to_length};
    u32 key = __sync_fetch_and_add(&next_event, 1);
    bpf_map_update_elem(&lab_events, &key, &event, BPF_ANY);
}

static void join(struct membership *m, u32 pid) {
    if (m->counted)
        return;
    m->counted = true;
    add_to_length(m->list, 1);
    note(JOIN, pid, m->list, m->list, length(m->list), length(m->list));
}

static void leave(struct membership *m, u32 pid) {
    if (!m->counted)
        return;
    m->counted = false;
    add_to_length(m->list, -1);
    note(LEAVE, pid, m->list, m->list, length(m->list), length(m->list));
}

static bool may_run_on(const struct task_struct *p, s32 cpu) {
    return bpf_cpumask_test_cpu(cpu, p->cpus_ptr);
}

/* New tasks are dealt to the lists in turn; a woken one returns to the list it left. Who may not
 * run there any longer goes where it may. NULL for the kernel's own threads, which are in no list.
 */
static struct membership *membership_of(struct task_struct *p) {
    if (p->flags & KERNEL_THREAD)
        return NULL;
    struct membership *m =
        bpf_task_storage_get(&memberships, p, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
    if (m == NULL)
        return NULL;
    if (!m->placed) {
        m->list = __sync_fetch_and_add(&next_list, 1) % cpus();
        m->placed = true;
    }
    if (!may_run_on(p, m->list))
        m->list = scx_bpf_pick_any_cpu(p->cpus_ptr, 0);
    return m;
}

SEC("struct_ops/select_cpu")
s32 BPF_PROG(lab_select_cpu, struct task_struct *p, s32 prev_cpu, u64 wake_flags) {
    struct membership *m = membership_of(p);
    return m != NULL ? m->list : prev_cpu;
}

/* Who wakes after a short while of running need not compute now: it is of a list from its second
 * tick on. So the program that controls an experiment, and sleeps most of the time, does not change
 * the lists that it observes. */
SEC("struct_ops/runnable")
void BPF_PROG(lab_runnable, struct task_struct *p, u64 flags) {
    struct membership *m = membership_of(p);
    if (m == NULL)
        return;
    if (m->ticks >= 2 || !(flags & SCX_ENQ_WAKEUP))
        join(m, p->pid);
    m->ticks = 0;
}

SEC("struct_ops/quiescent")
void BPF_PROG(lab_quiescent, struct task_struct *p, u64 flags) {
    struct membership *m = bpf_task_storage_get(&memberships, p, NULL, 0);
    if (m != NULL)
        leave(m, p->pid);
}

/* Who is in no list runs next, where it is. */
SEC("struct_ops/enqueue")
void BPF_PROG(lab_enqueue, struct task_struct *p, u64 flags) {
    struct membership *m = membership_of(p);
    if (m == NULL || !m->counted) {
        scx_bpf_dsq_insert(p, SCX_DSQ_LOCAL, SLICE_NS, flags);
        return;
    }
    scx_bpf_dsq_insert(p, queue_of(m->list), SLICE_NS, flags);
    /* Its own CPU may be idle, and one that has nothing to do may want to take it. */
    scx_bpf_kick_cpu(m->list, SCX_KICK_IDLE);
    s32 n = cpus();
    for (s32 cpu = 0; cpu < MAX_CPUS && cpu < n; cpu++)
        if (length(cpu) == 0)
            scx_bpf_kick_cpu(cpu, SCX_KICK_IDLE);
}

/* A CPU needs somebody to run: its slice is over, its task went, or it was woken. */
SEC("struct_ops/dispatch")
void BPF_PROG(lab_dispatch, s32 cpu, struct task_struct *prev) {
    s32 from = giver(cpu);
    u32 from_length = length(from), to_length = length(cpu), here = cpu & (MAX_CPUS - 1);
    if (from >= 0 && from != cpu && scx_bpf_dsq_move_to_local(queue_of(from))) {
        pulled[here] = true;
        seen_from[here] = from_length;
        seen_to[here] = to_length;
        add_to_length(from, -1);
        add_to_length(cpu, 1);
        return;
    }
    scx_bpf_dsq_move_to_local(queue_of(cpu));
}

SEC("struct_ops/running")
void BPF_PROG(lab_running, struct task_struct *p) {
    struct membership *m = bpf_task_storage_get(&memberships, p, NULL, 0);
    s32 cpu = scx_bpf_task_cpu(p);
    /* Who has just been bound to another CPU runs here once more, on the way. */
    if (m == NULL || m->list == cpu || !may_run_on(p, cpu))
        return;
    u32 here = cpu & (MAX_CPUS - 1);
    bool shared = queue_of(m->list) == queue_of(cpu);
    if (pulled[here] || shared)
        note(MOVE, p->pid, m->list, cpu, seen_from[here], seen_to[here]);
    if (m->counted && !pulled[here]) {
        /* Nobody's choice: it came from another scheduling class, say, and is where it is. */
        add_to_length(m->list, -1);
        add_to_length(cpu, 1);
        if (!shared)
            note(JOIN, p->pid, cpu, cpu, length(cpu), length(cpu));
    }
    pulled[here] = false;
    m->list = cpu;
}

SEC("struct_ops/tick")
void BPF_PROG(lab_tick, struct task_struct *p) {
    struct membership *m = bpf_task_storage_get(&memberships, p, NULL, 0);
    if (m != NULL && ++m->ticks >= 2)
        join(m, p->pid);
    s32 cpu = scx_bpf_task_cpu(p) & (MAX_CPUS - 1);
    u64 now = bpf_ktime_get_ns();
    if (now - sampled[cpu] < SAMPLE_NS)
        return;
    sampled[cpu] = now;
    note(SAMPLE, p->pid, cpu, scx_bpf_dsq_nr_queued(queue_of(cpu)), length(cpu), 0);
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

#define POLICY(policy)                                                                             \
    SEC(".struct_ops.link")                                                                        \
    struct sched_ext_ops lab_##policy = {.select_cpu = (void *)lab_select_cpu,                     \
                                         .enqueue = (void *)lab_enqueue,                           \
                                         .dispatch = (void *)lab_dispatch,                         \
                                         .runnable = (void *)lab_runnable,                         \
                                         .quiescent = (void *)lab_quiescent,                       \
                                         .running = (void *)lab_running,                           \
                                         .tick = (void *)lab_tick,                                 \
                                         .init = (void *)lab_init,                                 \
                                         .name = #policy}

#endif
