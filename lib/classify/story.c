/* SPDX-License-Identifier: BSD-3-Clause */
#include "classify/story.h"

#include <math.h>
#include <stdlib.h>

#define NAMED 4 /* tasks that a sentence names; the rest is counted */

static double unit_ms(const lbi_progress *p, uint32_t task, size_t from, size_t to) {
    double done = lbi_done(p, task, from, to), seen = lbi_seen(p, task, from, to);
    return done > 0 ? 1e3 * p->unit_work * seen / done : (double)NAN;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

bool lbi_story_spread_ms(const lbi_story *s, const uint32_t *tasks, size_t n, size_t from,
                         size_t to, double ret[3]) {
    size_t known = 0;
    for (size_t i = 0; i < n; i++) {
        double value = unit_ms(s->h.p, tasks[i], from, to);
        if (isfinite(value))
            s->values[known++] = value;
    }
    if (known == 0)
        return false;
    qsort(s->values, known, sizeof *s->values, by_value);
    ret[0] = s->values[0];
    ret[1] = s->values[known / 2];
    ret[2] = s->values[known - 1];
    return true;
}

void lbi_story_name_tasks(lbi_text *t, const lbi_story *s, const uint32_t *tasks, size_t n) {
    uint32_t least = 0;
    size_t named = n <= NAMED + 1 ? n : NAMED;
    lbi_text_string(t, n == 1 ? "task " : "tasks ");
    for (size_t i = 0; i < named; i++) {
        uint32_t next = UINT32_MAX;
        for (size_t j = 0; j < n; j++) {
            uint32_t number = s->h.p->number[tasks[j]];
            next = number >= least && number < next ? number : next;
        }
        lbi_text_printf(t, "%s%u", i == 0 ? "" : i + 1 == n ? " and " : ", ", next);
        least = next + 1;
    }
    if (named < n)
        lbi_text_printf(t, " and %zu more", n - named);
}

void lbi_story_name_change(lbi_text *t, const lbi_story *s, const uint32_t *tasks, size_t n) {
    const lbi_interval *i = &s->h.now;
    double before[3], after[3];
    if (!lbi_story_spread_ms(s, tasks, n, i->before, i->from, before) ||
        !lbi_story_spread_ms(s, tasks, n, i->from, i->to, after)) {
        lbi_text_string(t, "by an amount that is not known");
        return;
    }
    lbi_text_printf(t, "from %.4g to %.4g ms a unit", before[1], after[1]);
}

bool lbi_story_seek(lbi_story *s, double (*shows)(const lbi_story *)) {
    double best = 0;
    size_t best_at = 0, at = 0;
    lbi_history_begin(&s->h);
    for (; lbi_history_next(&s->h); at++) {
        double length = shows(s);
        if (length > best) {
            best = length;
            best_at = at;
        }
    }
    if (best <= 0)
        return false;
    lbi_history_begin(&s->h);
    for (at = 0; at <= best_at; at++)
        lbi_history_next(&s->h);
    return true;
}

void lbi_story_name_group(lbi_text *t, lbi_story *s, uint16_t size) {
    double spread[3];
    size_t n = lbi_of_size(&s->h, size, s->chosen);
    if (n == 0) {
        lbi_text_string(t, "something that is not in the trace had a core");
        return;
    }
    lbi_story_name_tasks(t, s, s->chosen, n);
    if (lbi_story_spread_ms(s, s->chosen, n, s->h.now.from, s->h.now.to, spread))
        lbi_text_printf(t, " took %.4g ms a unit (%u to a core)", spread[1], size);
}
