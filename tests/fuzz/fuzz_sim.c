/* SPDX-License-Identifier: BSD-3-Clause */
/* Whatever is called of a simulation, in whatever order: what is known of every process holds after
 * each call, rates do not exceed the cores, time does not fall, and two clones go on alike. */
#include <stdbool.h>
#include <string.h>

#include "machine.h"

enum {
    MOST = 24
};

typedef enum state {
    GONE,
    RUNS,
    SLEEPS
} state;

typedef struct run {
    const machine *m;
    lb_sim *sim;
    lb_process_id ids[MOST];
    double work[MOST]; /* what was left at first, or was set */
    state states[MOST];
    size_t count;
    bool open;
    double now;
} run;

static void check_process(const run *r, size_t i, double *rates, size_t *listed) {
    double left = lb_sim_remaining(r->sim, r->ids[i]), rate = lb_sim_rate(r->sim, r->ids[i]);
    uint32_t core = lb_sim_core(r->sim, r->ids[i]);
    CHECK(core == LB_CORE_ANY || core < r->m->cores);
    if (r->states[i] == GONE) {
        CHECK(isnan(left) && isnan(rate) && core == LB_CORE_ANY);
        return;
    }
    CHECK(left >= 0 && left <= r->work[i] * (1 + 1e-12));
    CHECK(rate >= 0 && rate <= r->m->fastest * (1 + 1e-12));
    if (r->open)
        return;
    if (r->states[i] == SLEEPS) {
        CHECK(rate == 0 && core == LB_CORE_ANY);
        return;
    }
    CHECK(rate > 0 || left == 0 || r->m->rotates);
    CHECK(r->m->policy == LB_POLICY_IMMEDIATE || core != LB_CORE_ANY);
    *rates += rate;
    *listed += core != LB_CORE_ANY;
}

static void check_state(run *r) {
    double now = lb_sim_now(r->sim), next = lb_sim_next(r->sim), rates = 0;
    size_t listed = 0, running = 0, loads = 0, idle = 0, longest = 0;
    CHECK(now >= r->now && isfinite(now) && next >= now);
    r->now = now;
    for (size_t i = 0; i < r->count; i++) {
        check_process(r, i, &rates, &listed);
        running += r->states[i] == RUNS;
    }
    if (r->open)
        return;
    CHECK(rates <= r->m->speed_sum * (1 + 1e-9));
    CHECK(lb_sim_count(r->sim) == running);
    for (uint32_t c = 0; c < r->m->cores; c++) {
        size_t load = lb_sim_core_load(r->sim, c);
        loads += load;
        idle += load == 0;
        longest = load > longest ? load : longest;
    }
    CHECK(loads == listed);
    /* Without delay nobody waits beside an idle core, but where nobody moves. */
    lb_model_options o;
    lb_model_get_options(r->m->model, &o, sizeof o);
    if (o.balance_delay == 0 && o.group_cores == 0 &&
        (r->m->policy == LB_POLICY_LAZY || r->m->policy == LB_POLICY_ACTIVE))
        CHECK(idle == 0 || longest <= 1);
}

/* Takes all events: what completed is unknown from then on. */
static void poll_all(run *r) {
    lb_sim_event event;
    double last = 0;
    while (lb_sim_poll(r->sim, &event)) {
        CHECK(event.time >= last && event.time <= lb_sim_now(r->sim) && event.tag < r->count);
        CHECK(r->ids[event.tag] == event.id && event.reserved == 0);
        last = event.time;
        if (event.kind == LB_SIM_COMPLETED) {
            CHECK(r->states[event.tag] != GONE);
            CHECK(event.from == LB_CORE_ANY && event.to == LB_CORE_ANY);
            r->states[event.tag] = GONE;
        } else {
            CHECK(event.kind == LB_SIM_MIGRATED && event.from != event.to);
            CHECK(event.from < r->m->cores && event.to < r->m->cores);
        }
    }
    CHECK(lb_sim_poll(r->sim, &event) == 0);
}

/* The same calls give the same on two clones, to the bit. */
static void check_clone(const run *r) {
    lb_error err;
    lb_sim *one, *other;
    if (r->open) {
        CHECK(lb_sim_clone(r->sim, &one, &err) == LB_ERR_INVALID);
        return;
    }
    CHECK(lb_sim_clone(r->sim, &one, &err) == LB_OK);
    CHECK(lb_sim_clone(one, &other, &err) == LB_OK);
    double until = lb_sim_now(one) + 3;
    CHECK(lb_sim_advance(one, until, &err) == LB_OK);
    CHECK(lb_sim_advance(other, until, &err) == LB_OK);
    lb_sim_event a, b;
    int more;
    do {
        more = lb_sim_poll(one, &a);
        CHECK(more == lb_sim_poll(other, &b));
        CHECK(!more || memcmp(&a, &b, sizeof a) == 0);
    } while (more);
    CHECK(lb_sim_now(one) == lb_sim_now(other) && lb_sim_next(one) == lb_sim_next(other));
    lb_sim_free(one);
    lb_sim_free(other);
}

static void add(run *r, bytes *from) {
    lb_error err;
    double work = take_work(from), weight = take_weight(from);
    uint8_t b = take_byte(from);
    uint32_t core = b & 1 ? (uint32_t)(b >> 1) % r->m->cores : LB_CORE_ANY;
    if (r->count == MOST)
        return;
    size_t i = r->count;
    CHECK(lb_sim_add(r->sim, work, weight, core, i, &r->ids[i], &err) == LB_OK);
    CHECK(i == 0 || r->ids[i] > r->ids[i - 1]);
    r->work[i] = work;
    r->states[i] = RUNS;
    r->count++;
}

/* One call of a process. Of one that is gone it is refused and changes nothing. */
static void change(run *r, uint8_t what, bytes *from) {
    lb_error err;
    uint8_t b = take_byte(from);
    size_t i = r->count == 0 ? 0 : b % r->count;
    lb_process_id id = r->count == 0 ? 0 : r->ids[i];
    state was = r->count == 0 ? GONE : r->states[i];
    lb_status status, right = was == GONE ? LB_ERR_INVALID : LB_OK;
    switch (what) {
    case 0:
        status = lb_sim_sleep(r->sim, id, &err);
        right = was == RUNS ? LB_OK : LB_ERR_INVALID;
        if (status == LB_OK)
            r->states[i] = SLEEPS;
        break;
    case 1:
        status = lb_sim_wake(r->sim, id, &err);
        right = was == SLEEPS ? LB_OK : LB_ERR_INVALID;
        if (status == LB_OK)
            r->states[i] = RUNS;
        break;
    case 2:
        status = lb_sim_remove(r->sim, id, &err);
        if (status == LB_OK)
            r->states[i] = GONE;
        break;
    case 3:
        status = lb_sim_set_weight(r->sim, id, take_weight(from), &err);
        break;
    default: {
        double work = take_work(from);
        status = lb_sim_set_work(r->sim, id, work, &err);
        if (status == LB_OK)
            r->work[i] = work;
    }
    }
    CHECK(status == right);
}

static void advance(run *r, bytes *from) {
    lb_error err;
    uint8_t b = take_byte(from);
    double next = lb_sim_next(r->sim), to = lb_sim_now(r->sim) + b / 16.0;
    if ((b & 1) && isfinite(next))
        to = next;
    if (r->open) {
        CHECK(lb_sim_advance(r->sim, to, &err) == LB_ERR_INVALID);
        CHECK(lb_sim_begin(r->sim, to, &err) == LB_ERR_INVALID);
    } else if (b & 2) {
        CHECK(lb_sim_begin(r->sim, to, &err) == LB_OK && lb_sim_now(r->sim) == to);
        r->open = true;
    } else {
        CHECK(lb_sim_advance(r->sim, to, &err) == LB_OK && lb_sim_now(r->sim) == to);
        CHECK(lb_sim_next(r->sim) > to);
    }
}

static void commit(run *r) {
    lb_error err;
    CHECK(lb_sim_commit(r->sim, &err) == (r->open ? LB_OK : LB_ERR_INVALID));
    r->open = false;
}

/* All that is refused, and leaves everything as it was. */
static void refuse(run *r) {
    lb_error err;
    lb_process_id id;
    double now = lb_sim_now(r->sim);
    CHECK(lb_sim_add(r->sim, -1, 1, LB_CORE_ANY, 0, &id, &err) == LB_ERR_INVALID);
    CHECK(lb_sim_add(r->sim, NAN, 1, LB_CORE_ANY, 0, &id, &err) == LB_ERR_INVALID);
    CHECK(lb_sim_add(r->sim, 1, 0, LB_CORE_ANY, 0, &id, &err) == LB_ERR_INVALID);
    CHECK(lb_sim_add(r->sim, 1, 1, r->m->cores, 0, &id, &err) == LB_ERR_INVALID);
    CHECK(lb_sim_advance(r->sim, NAN, &err) == LB_ERR_INVALID);
    CHECK(lb_sim_begin(r->sim, INFINITY, &err) == LB_ERR_INVALID);
    CHECK(now == 0 || lb_sim_advance(r->sim, now / 2, &err) == LB_ERR_INVALID);
    CHECK(lb_sim_now(r->sim) == now);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    bytes from = {data, data + size};
    machine m;
    lb_error err;
    machine_make(&m, &from);
    run r = {.m = &m};
    CHECK(lb_sim_new(m.model, take_byte(&from), &r.sim, &err) == LB_OK);
    while (from.next < from.end) {
        uint8_t b = take_byte(&from);
        if (b < 64)
            add(&r, &from);
        else if (b < 128)
            change(&r, b % 5, &from);
        else if (b < 192)
            advance(&r, &from);
        else if (b < 224)
            commit(&r);
        else if (b < 240)
            check_clone(&r);
        else if (b < 248)
            refuse(&r);
        else
            lb_sim_reseed(r.sim, b);
        poll_all(&r);
        check_state(&r);
    }
    lb_sim_free(r.sim);
    lb_model_free(m.model);
    return 0;
}
