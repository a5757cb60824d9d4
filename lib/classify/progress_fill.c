/* SPDX-License-Identifier: BSD-3-Clause */
/* Units, spread over the windows. */
#include <math.h>

#include "classify/progress_parts.h"

#define LONG_UNIT 3.5 /* times the block's typical duration: not progress but a mishap .. */
#define LONG_TURN 2.5 /* .. where many units fit in a slice, so that none waits more than once */
#define LONG_WAIT                                                                                  \
    0.3 /* of a wait: no unit is so long, since lists change in the midst of a block */
#define STRETCH_WAITS 2 /* a stretch of units for lbi_disorder lasts so many waits */
#define STRETCH_MOST 256.0

/* Where units are spread over the windows. */
typedef struct filler {
    lbi_progress *p;
    double *done_at, *seen_at; /* of the task, at bound 0 */
    size_t next;               /* the first bound that is not filled */
    double done, seen;
} filler;

/* Work that was done evenly from one time to another; not `known`: nobody knows. */
static void fill(filler *f, double from, double to, double work, bool known) {
    const lbi_progress *p = f->p;
    double length = to - from;
    for (; f->next < p->bounds && p->time[f->next] <= to; f->next++) {
        double inside =
            p->time[f->next] > from && length > 0 && known ? p->time[f->next] - from : 0;
        f->done_at[f->next * p->tasks] = f->done + (length > 0 ? work * inside / length : 0);
        f->seen_at[f->next * p->tasks] = f->seen + inside;
    }
    if (known) {
        f->done += work;
        f->seen += length;
    }
}

/* Tells disorder of a unit, unless a task ends in it: stretches lie between ends. */
static void tell_disorder(lbi_progress *p, uint32_t *next, double from, double to, double work) {
    lbi_disorder *d = &p->disorder;
    if (*next == p->tasks)
        return;
    if (to > p->time[p->end[*next]]) {
        while (*next < p->tasks && to > p->time[p->end[*next]])
            ++*next;
        lbi_disorder_restart(d, d->length);
    } else {
        lbi_disorder_unit(d, to - from, work);
    }
}

/* Spreads one task's units over the windows. A unit much longer than those around it is a mishap,
 * unless its CPU time says that it was a long one. Lost units were as the others are; any other gap
 * is sleep. */
void lbi_fill_task(lbi_progress *p, uint32_t task, const lb_unit *units, size_t count,
                   const double *typical, const lbi_durations *durations, double mean_cpu) {
    filler f = {.p = p, .done_at = p->done + task, .seen_at = p->seen + task};
    double limit = 0, work = 1, rate = 0;
    double long_unit = durations->many_a_slice ? LONG_TURN : LONG_UNIT;
    size_t block_end = 0;
    uint32_t next_end = 0;
    for (size_t j = 0; j < count; j++) {
        if (j == block_end) {
            size_t length = lbi_block_length(durations->block, count - j);
            block_end += length;
            limit = long_unit * fmax(*typical++, LONG_WAIT * p->wait);
            double lasts =
                lbi_seconds(units[block_end - 1].end_ns) - lbi_seconds(units[j].start_ns);
            rate = mean_cpu * (double)length / lasts;
            double stretch = STRETCH_WAITS * p->wait * (double)length / lasts;
            lbi_disorder_restart(&p->disorder, (size_t)ceil(fmin(stretch, STRETCH_MOST)));
        }
        double from = lbi_seconds(units[j].start_ns), to = lbi_seconds(units[j].end_ns);
        if (j > 0) {
            double before = lbi_seconds(units[j - 1].end_ns), lost = units[j].index - 1.0;
            lost -= units[j - 1].index;
            double each = (from - before) / lost;
            if (lost > 0 && each > p->least && each < limit)
                fill(&f, before, from, lost * (mean_cpu > 0 ? mean_cpu : 1), true);
        }
        if (mean_cpu > 0)
            work = lbi_seconds(units[j].cpu_ns);
        bool mishap = to - from > limit && !(mean_cpu > 0 && work > rate / 3 * (to - from));
        p->dropped += mishap;
        if (mishap)
            lbi_disorder_restart(&p->disorder, p->disorder.length);
        else
            tell_disorder(p, &next_end, from, to, work);
        fill(&f, from, to, work, !mishap);
    }
    fill(&f, p->time[p->bounds - 1], p->time[p->bounds - 1], 0, false);
}
