/* SPDX-License-Identifier: BSD-3-Clause */
#include "experiment/culprits.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "experiment/stat.h"

static bool same(const lbi_process *a, const lbi_process *b) {
    return a != NULL && b != NULL && a->id == b->id && a->start == b->start;
}

/* The ticks that each process of `now` has used since. A child that ended left its CPU time, from
 * before too, to the parent that waited for it. */
static void count_ticks(const lbi_processes *before, const lbi_processes *now, uint64_t *used) {
    for (size_t i = 0; i < now->count; i++) {
        const lbi_process *p = &now->list[i], *then = lbi_processes_find(before, p->id);
        uint64_t from = same(p, then) ? then->ticks : 0;
        used[i] = p->ticks > from ? p->ticks - from : 0;
    }
    for (size_t i = 0; i < before->count; i++) {
        const lbi_process *p = &before->list[i];
        if (same(p, lbi_processes_find(now, p->id)))
            continue;
        const lbi_process *parent = lbi_processes_find(now, p->parent);
        if (parent == NULL)
            continue;
        uint64_t *ticks = &used[parent - now->list];
        *ticks = *ticks > p->ticks ? *ticks - p->ticks : 0;
    }
}

static void show(lbi_culprits *c, const lbi_process *p, double cores) {
    size_t at = c->shown;
    while (at > 0 && c->list[at - 1].cores < cores)
        at--;
    if (at == LBI_CULPRITS)
        return;
    if (c->shown < LBI_CULPRITS)
        c->shown++;
    memmove(&c->list[at + 1], &c->list[at], (c->shown - 1 - at) * sizeof *c->list);
    c->list[at] = (lbi_culprit){.id = p->id, .session = p->session, .cores = cores};
    memcpy(c->list[at].name, p->name, sizeof p->name);
}

typedef struct usage {
    int64_t session;
    double cores;
} usage;

static int compare(const void *a, const void *b) {
    int64_t x = ((const usage *)a)->session, y = ((const usage *)b)->session;
    return x < y ? -1 : x > y ? 1 : 0;
}

static size_t count_sessions(usage *usages, size_t n, int64_t own) {
    size_t busy = 0;
    if (n > 0)
        qsort(usages, n, sizeof *usages, compare);
    for (size_t i = 0; i < n;) {
        double sum = 0;
        int64_t session = usages[i].session;
        for (; i < n && usages[i].session == session; i++)
            sum += usages[i].cores;
        if (session != own && session != 0 && sum >= LBI_BUSY_CORES)
            busy++;
    }
    return busy;
}

bool lbi_find_culprits(const lbi_processes *before, const lbi_processes *now, int64_t self,
                       double seconds, lbi_culprits *ret_culprits) {
    uint64_t *used = lbi_array_new(now->count, sizeof *used);
    usage *usages = lbi_array_new(now->count, sizeof *usages);
    lbi_culprits c = {0};
    bool ok = used != NULL && usages != NULL;
    if (ok) {
        const lbi_process *own = lbi_processes_find(now, self);
        size_t n = 0;
        count_ticks(before, now, used);
        for (size_t i = 0; i < now->count; i++) {
            const lbi_process *p = &now->list[i];
            double cores = lbi_tick_seconds(0, used[i]) / seconds;
            if (p->id == self)
                continue;
            if (cores >= LBI_CULPRIT_CORES)
                show(&c, p, cores);
            bool other = p->session != 0 && (own == NULL || p->session != own->session);
            if (other && cores >= LBI_BUSY_CORES)
                c.steady += 1;
            usages[n++] = (usage){p->session, cores};
        }
        c.sessions = count_sessions(usages, n, own == NULL ? 0 : own->session);
        *ret_culprits = c;
    }
    free(usages);
    free(used);
    return ok;
}
