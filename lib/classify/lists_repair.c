/* SPDX-License-Identifier: BSD-3-Clause */
/* Choices that turn out to be wrong. Who shared a list with a task that ended is often not clear
 * until later, and the beam cannot keep every choice: so where one task's list has changed its
 * length and another's has not, and the rates since say that it was the other way round, the two
 * are exchanged, as if that had been chosen then. */
#include <math.h>

#include "classify/search.h"

#define REGRET 2.0   /* what rates must say against a change .. */
#define EXCHANGE 2.0 /* .. and for the exchange as a whole */
#define MENDED                                                                                     \
    -1.0 /* of two histories that say the same, the one that needed no mending is meant */
#define OBSERVATIONS 60 /* rates of fewer windows say the contrary by luck */
#define EXCHANGES 12u   /* at most, in a state at a bound */

/* What a stretch at one length of the task's list scores up to the present bound. */
static lbi_claim_value replay(const lbi_search *s, uint32_t task, size_t from, uint16_t size) {
    const lbi_progress *p = s->p;
    lbi_density product = {1, 0};
    lbi_track track;
    double missed = 0;
    lbi_track_begin(&track, p);
    for (size_t k = from; k < s->bound; k++) {
        lbi_way way = {1.0 / size, 0, 1};
        bool unexplained;
        double seen = lbi_seen(p, task, k, k + 1);
        lbi_multiply(&product, lbi_track_observe(&track, p, &way, 1, lbi_done(p, task, k, k + 1),
                                                 seen, &unexplained));
        missed += unexplained ? seen : 0;
    }
    return (lbi_claim_value){lbi_log_of(&product), missed};
}

/* What speaks for one length of a task's list since a bound instead of another. */
static lbi_claim_value speaks_for(const lbi_search *s, uint32_t task, size_t from, uint16_t size,
                                  uint16_t instead_of) {
    lbi_claim_value is = replay(s, task, from, size), would_be = replay(s, task, from, instead_of);
    return (lbi_claim_value){is.log - would_be.log, is.missed - would_be.missed};
}

static double regret(lbi_search *s, lbi_run *r) {
    if (r->regretted != s->bound) {
        r->regret = speaks_for(s, r->task, r->begin, r->from, r->size);
        r->regretted = s->bound;
    }
    return r->regret.log;
}

/* What each task says for having changed as that run did; several runs changed alike. */
static lbi_claim_value *find_claims(lbi_search *s, const lbi_run *r) {
    size_t slot = 0;
    for (; slot < s->claim_count; slot++) {
        const lbi_claim *c = &s->claim[slot];
        if (c->begin == r->begin && c->from == r->from && c->to == r->size)
            return s->claims + slot * s->p->tasks;
    }
    if (slot == LBI_CLAIMS)
        slot = s->claim_next++ % LBI_CLAIMS;
    else
        s->claim_count++;
    s->claim[slot] = (lbi_claim){r->begin, r->from, r->size};
    lbi_claim_value *claims = s->claims + slot * s->p->tasks;
    for (uint32_t i = s->alive; i < s->p->tasks; i++)
        claims[i].log = NAN;
    return claims;
}

/* The task that should have changed instead; LBI_NOBODY. */
static uint32_t find_other(lbi_search *s, const lbi_state *h, const lbi_run *r,
                           lbi_claim_value *ret_claim) {
    lbi_claim_value *claims = find_claims(s, r);
    uint32_t best = LBI_NOBODY;
    for (uint32_t i = s->alive; i < s->p->tasks; i++) {
        const lbi_run *other = &s->runs[h->run_of[i]];
        if (other->size != r->from || other->begin > r->begin)
            continue;
        if (isnan(claims[i].log))
            claims[i] = speaks_for(s, i, r->begin, r->size, r->from);
        if (best == LBI_NOBODY || claims[i].log > ret_claim->log) {
            best = i;
            *ret_claim = claims[i];
        }
    }
    return best;
}

static void exchange(lbi_search *s, lbi_state *h, uint32_t a, uint32_t b) {
    const lbi_run *r = &s->runs[h->run_of[a]];
    uint32_t begin = r->begin;
    uint16_t size = r->size, from = r->from, block = h->block_of[a];
    h->block_of[a] = h->block_of[b];
    h->block_of[b] = block;
    h->run_of[a] = lbi_begin_run(s, a, from, size, LBI_REPAIRED);
    h->run_of[b] = lbi_begin_run(s, b, size, from, LBI_REPAIRED);
    if (s->failed)
        return;
    s->runs[h->run_of[b]].begin = begin;
    lbi_add_step(s, h, LBI_STEP_REPAIR, a, size, from);
    lbi_add_step(s, h, LBI_STEP_REPAIR, b, from, size);
}

void lbi_repair_choices(lbi_search *s) {
    s->claim_count = 0;
    if (s->p->observed[s->p->bounds - 1] < OBSERVATIONS)
        return;
    for (size_t i = 0; i < s->now.count; i++) {
        lbi_state *h = &s->now.states[i];
        unsigned count = 0;
        for (uint32_t task = s->alive; task < s->p->tasks && count < EXCHANGES; task++) {
            lbi_run *r = &s->runs[h->run_of[task]];
            lbi_claim_value claim;
            if (r->from == 0 || r->when == LBI_WITHIN || r->begin == s->bound ||
                regret(s, r) < REGRET)
                continue;
            lbi_claim_value against = r->regret;
            uint32_t other = find_other(s, h, r, &claim);
            if (other == LBI_NOBODY || against.log + claim.log < EXCHANGE)
                continue;
            exchange(s, h, task, other);
            if (s->failed)
                return;
            h->score += against.log + claim.log + MENDED;
            h->missed = fmax(h->missed + against.missed + claim.missed, 0);
            count++;
        }
    }
}
