/* SPDX-License-Identifier: BSD-3-Clause */
/* One queue or many, told by the cores that units began and ended on. Who waits in a common queue
 * gets the core that comes free first; who waits in a core's own queue stays, until a balancer
 * moves him, which takes it some tenths of a second. Where tasks are a multiple of cores a common
 * queue hands each core the same tasks again, so that only the other times tell. */
#include "classify/queues.h"

#include "trace/tasks.h"

#define WAITED 1.5  /* times the work that it holds, a unit takes if it had to wait */
#define LONGEST 0.1 /* seconds: a longer one may have been balanced meanwhile */

lbi_changes lbi_count_changes(const lbi_progress *p, const lb_unit *units, size_t n) {
    lbi_changes c = {0, 0};
    for (size_t i = 0; i < n; i++) {
        const lb_unit *u = &units[i];
        double duration = lbi_seconds_between(u->start_ns, u->end_ns);
        double start = (double)u->start_ns * 1e-9;
        if (u->core_start < 0 || u->core_end < 0 || duration < WAITED * p->unit_work ||
            duration > LONGEST || start < p->time[0])
            continue;
        /* The first task that ends after the unit's start tells how many there are: ends are in
         * order, so halve. */
        uint32_t low = 0, high = p->tasks;
        while (low < high) {
            uint32_t middle = low + (high - low) / 2;
            if (p->time[p->end[middle]] <= start)
                low = middle + 1;
            else
                high = middle;
        }
        uint32_t running = p->tasks - low;
        if (running <= p->cores || running % p->cores == 0)
            continue;
        c.waits++;
        c.changes += u->core_start != u->core_end;
    }
    return c;
}
