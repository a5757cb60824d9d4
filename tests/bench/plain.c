/* SPDX-License-Identifier: BSD-3-Clause */
#include "plain.h"

#include <math.h>
#include <stdbool.h>

/* Round robin leaves no list longer than this, and no move makes one longer. */
enum {
    LONGEST = PLAIN_PROCESSES / PLAIN_CORES
};

/* Each process of a core has a tag: the core's progress at which it completes. Progress is kept as
 * what it was when the core's list last changed. One cache line. */
struct core {
    double progress, since, next;
    double tag[LONGEST]; /* falling: the next to complete is the last */
    int32_t n;
    uint8_t who[LONGEST];
};

static const double share[] = {0, 1, 1.0 / 2, 1.0 / 3};

static inline uint64_t random_below(uint64_t *state, uint64_t n) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (*state >> 32) * n >> 32;
}

static inline void schedule(struct core *c) {
    c->next = c->since + (c->tag[c->n - 1] - c->progress) * c->n;
}

/* Moves one process of `from`, chosen by chance, to `to`, which is booked up to `now` and holds one
 * process at most. */
static inline void move(struct core *from, struct core *to, double now, uint64_t *state) {
    from->progress += (now - from->since) * share[from->n];
    from->since = now;
    int at = (int)random_below(state, (uint64_t)from->n);
    uint8_t who = from->who[at];
    double tag = from->tag[at] - from->progress + to->progress;
    from->n--;
    for (; at < from->n; at++) {
        from->tag[at] = from->tag[at + 1];
        from->who[at] = from->who[at + 1];
    }
    schedule(from);
    int place = to->n++;
    if (place > 0 && to->tag[0] < tag) {
        to->tag[1] = to->tag[0];
        to->who[1] = to->who[0];
        place = 0;
    }
    to->tag[place] = tag;
    to->who[place] = who;
}

static inline void run(const struct core *start, bool lazy, uint64_t *state, double *ends) {
    struct core cores[PLAIN_CORES];
    for (int j = 0; j < PLAIN_CORES; j++)
        cores[j] = start[j];
    for (int alive = PLAIN_PROCESSES; alive > 0; alive--) {
        struct core *a = &cores[cores[1].next < cores[0].next];
        struct core *b = &cores[2 + (cores[3].next < cores[2].next)];
        struct core *c = b->next < a->next ? b : a;
        double now = c->next;
        int n = --c->n;
        c->progress = c->tag[n];
        c->since = now;
        ends[c->who[n]] = now;
        if (!lazy || n == 0) {
            struct core *giver[PLAIN_CORES];
            uint64_t givers = 0;
            for (int j = 0; j < PLAIN_CORES; j++) {
                giver[givers] = &cores[j];
                givers += cores[j].n >= n + 2;
            }
            if (givers > 0)
                move(giver[random_below(state, givers)], c, now, state);
        }
        if (c->n > 0)
            schedule(c);
        else
            c->next = INFINITY;
    }
}

static inline void repeat(const double *work, bool lazy, uint64_t seed, long samples,
                          struct plain_sums *s) {
    struct core start[PLAIN_CORES];
    uint64_t state = seed * 2 + 1;
    for (int j = 0; j < PLAIN_CORES; j++) {
        start[j] = (struct core){.n = 0};
        for (int i = j; i < PLAIN_PROCESSES; i += PLAIN_CORES) {
            int place = start[j].n++;
            for (; place > 0 && start[j].tag[place - 1] < work[i]; place--) {
                start[j].tag[place] = start[j].tag[place - 1];
                start[j].who[place] = start[j].who[place - 1];
            }
            start[j].tag[place] = work[i];
            start[j].who[place] = (uint8_t)i;
        }
        schedule(&start[j]);
    }
    for (int i = 0; i < PLAIN_PROCESSES; i++) {
        s->sum[i] = s->squares[i] = 0;
        s->min[i] = INFINITY;
        s->max[i] = 0;
    }
    for (long k = 0; k < samples; k++) {
        double ends[PLAIN_PROCESSES];
        run(start, lazy, &state, ends);
        for (int i = 0; i < PLAIN_PROCESSES; i++) {
            s->sum[i] += ends[i];
            s->squares[i] += ends[i] * ends[i];
            s->min[i] = ends[i] < s->min[i] ? ends[i] : s->min[i];
            s->max[i] = ends[i] > s->max[i] ? ends[i] : s->max[i];
        }
    }
}

void plain_lazy(const double *work, uint64_t seed, long samples, struct plain_sums *ret_sums) {
    repeat(work, true, seed, samples, ret_sums);
}

void plain_active(const double *work, uint64_t seed, long samples, struct plain_sums *ret_sums) {
    repeat(work, false, seed, samples, ret_sums);
}
