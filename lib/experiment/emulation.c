/* SPDX-License-Identifier: BSD-3-Clause */
#include "experiment/emulation.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/array.h"

#define MILLISECOND INT64_C(1000000)
#define NOBODY UINT32_MAX
/* Who was told to end does so any moment, and is to be answered at once. */
#define VIGILANT_NS MILLISECOND

static bool has_ended(const lbi_emulation *e, uint32_t worker) {
    return atomic_load(&e->crew->arena->slots[worker].state) >= LBI_STATE_ENDED;
}

/* Somebody who still works was told to end. */
static bool expects_an_end(const lbi_emulation *e) {
    for (uint32_t i = 0; i < e->crew->made; i++)
        if (!e->gone[i] && atomic_load(&e->crew->arena->slots[i].deadline_ns) != INT64_MAX)
            return true;
    return false;
}

/* Without a mark: the trace is to look as if the kernel did it. */
static lb_status place(lbi_emulation *e, uint32_t worker, uint32_t core, lb_error *err) {
    int error = lbi_bind(e->crew->hands[worker].process, e->crew->host, core, &e->crew->mask);
    e->moves++;
    if (error == 0 || (error == ESRCH && has_ended(e, worker)))
        return LB_OK;
    return lbi_error_os(err, error == EPERM ? LB_ERR_PERMISSION : LB_ERR_SYSTEM, error,
                        "cannot move worker %u to core %u", (unsigned)worker, (unsigned)core);
}

static void hold(lbi_emulation *e, uint32_t worker, bool held) {
    lbi_hand *hand = &e->crew->hands[worker];
    hand->held = held;
    if (hand->alive && held)
        lbi_stop(hand->process);
    else if (hand->alive)
        lbi_continue(hand->process);
}

/* ---- lists ---- */

static double seconds(const lbi_emulation *e, int64_t now) {
    return (double)(now - e->crew->origin_ns) / 1e9;
}

static lb_status begin_lists(lbi_emulation *e, lb_error *err) {
    lb_status status = lb_sim_new(e->model, e->seed, &e->sim, err);
    if (status == LB_OK)
        status = lb_sim_begin(e->sim, 0, err);
    for (uint32_t i = 0; i < e->crew->made && status == LB_OK; i++)
        status = lb_sim_add(e->sim, INFINITY, 1, i % e->crew->host->cores, i, &e->id[i], err);
    return status == LB_OK ? lb_sim_commit(e->sim, err) : status;
}

static lb_status act_on_lists(lbi_emulation *e, int64_t now, int64_t *ret_next_ns, lb_error *err) {
    lb_status status = lb_sim_advance(e->sim, seconds(e, now), err);
    for (uint32_t i = 0; i < e->crew->made && status == LB_OK; i++) {
        if (e->gone[i] || !has_ended(e, i))
            continue;
        e->gone[i] = true;
        status = lb_sim_remove(e->sim, e->id[i], err);
    }
    lb_sim_event event;
    while (status == LB_OK && lb_sim_poll(e->sim, &event))
        if (event.kind == LB_SIM_MIGRATED && !has_ended(e, (uint32_t)event.tag))
            status = place(e, (uint32_t)event.tag, event.to, err);
    double next = lb_sim_next(e->sim);
    *ret_next_ns = next < 1e9 ? e->crew->origin_ns + (int64_t)(next * 1e9) : INT64_MAX;
    return status;
}

/* ---- a single queue ---- */

static void begin_queue(lbi_emulation *e, int64_t now) {
    uint32_t cores = e->crew->host->cores;
    for (uint32_t i = 0; i < e->crew->made; i++) {
        if (i < cores) {
            e->runs[i] = i;
            /* The cores take turns at a switch. */
            e->slice_end_ns[i] = now + e->slice_ns * (i + 1) / cores;
        } else {
            hold(e, i, true);
            e->queue[e->waiting++] = i;
        }
    }
}

/* The next one that waits, on this core. */
static lb_status dispatch(lbi_emulation *e, uint32_t core, int64_t now, lb_error *err) {
    if (e->waiting == 0)
        return LB_OK;
    uint32_t worker = e->queue[0];
    e->waiting--;
    for (uint32_t i = 0; i < e->waiting; i++)
        e->queue[i] = e->queue[i + 1];
    e->runs[core] = worker;
    e->slice_end_ns[core] = now + e->slice_ns;
    lb_status status = place(e, worker, core, err);
    if (status == LB_OK)
        hold(e, worker, false);
    return status;
}

static lb_status act_on_queue(lbi_emulation *e, int64_t now, int64_t *ret_next_ns, lb_error *err) {
    *ret_next_ns = INT64_MAX;
    for (uint32_t core = 0; core < e->crew->host->cores; core++) {
        uint32_t worker = e->runs[core];
        lb_status status = LB_OK;
        if (worker != NOBODY && has_ended(e, worker)) {
            e->gone[worker] = true;
            e->runs[core] = worker = NOBODY;
        }
        if (worker != NOBODY && e->waiting > 0 && now >= e->slice_end_ns[core]) {
            hold(e, worker, true);
            e->queue[e->waiting++] = worker;
            e->runs[core] = worker = NOBODY;
        }
        if (worker == NOBODY)
            status = dispatch(e, core, now, err);
        if (status != LB_OK)
            return status;
        if (e->waiting > 0 && e->slice_end_ns[core] < *ret_next_ns)
            *ret_next_ns = e->slice_end_ns[core];
    }
    return LB_OK;
}

/* ---- both ---- */

lb_status lbi_emulation_begin(lbi_emulation *e, lbi_crew *crew, lb_error *err) {
    uint32_t n = crew->made, cores = crew->host->cores;
    e->crew = crew;
    e->gone = lbi_array_new(n, sizeof *e->gone);
    e->id = lbi_array_new(n, sizeof *e->id);
    e->queue = lbi_array_new(n, sizeof *e->queue);
    e->runs = lbi_array_new(cores, sizeof *e->runs);
    e->slice_end_ns = lbi_array_new(cores, sizeof *e->slice_end_ns);
    if (e->gone == NULL || e->id == NULL || e->queue == NULL || e->runs == NULL ||
        e->slice_end_ns == NULL)
        return lbi_error_nomem(err, "the emulation");
    for (uint32_t i = 0; i < n; i++) {
        e->gone[i] = false;
        /* Bound as they are, they stand for workers that are not. */
        crew->hands[i].pinned_ns = 0;
    }
    for (uint32_t core = 0; core < cores; core++)
        e->runs[core] = NOBODY;
    if (e->queues != LB_QUEUES_SINGLE)
        return begin_lists(e, err);
    begin_queue(e, lbi_now());
    return LB_OK;
}

lb_status lbi_emulation_act(lbi_emulation *e, int64_t *ret_next_ns, lb_error *err) {
    int64_t now = lbi_now();
    lb_status status = e->queues == LB_QUEUES_SINGLE ? act_on_queue(e, now, ret_next_ns, err)
                                                     : act_on_lists(e, now, ret_next_ns, err);
    if (*ret_next_ns > now + VIGILANT_NS && expects_an_end(e))
        *ret_next_ns = now + VIGILANT_NS;
    return status;
}

void lbi_emulation_finish(lbi_emulation *e) {
    for (uint32_t i = 0; i < e->crew->made; i++)
        if (e->crew->hands[i].held)
            hold(e, i, false);
}

void lbi_emulation_end(lbi_emulation *e) {
    lb_sim_free(e->sim);
    free(e->gone);
    free(e->id);
    free(e->queue);
    free(e->runs);
    free(e->slice_end_ns);
}
