/* SPDX-License-Identifier: BSD-3-Clause */
/* What large weight differences cost: options, the ideal, and two rules of group-weight balancing.
 */
#ifndef LBI_MODEL_WEIGHTS_H
#define LBI_MODEL_WEIGHTS_H

#include <stdbool.h>

#include "base/error.h"
#include "base/random.h"

/* Reads and checks the caller's options (NULL: the defaults). Levels point to the caller's, or to
 * all there are. */
lb_status lbi_weights_options_read(const lb_weights_options *options,
                                   lb_weights_options *ret_options, lb_error *err);

/* "nice 5", "idle". */
void lbi_level_label(int32_t level, char *buffer, size_t size);
/* Relative to nice 0. */
double lbi_level_weight(int32_t level);

/* One soaker of weight `ratio` a core and so many tasks of weight 1, by the infeasible-weights
 * rule: cores' worth of time that one of the latter, and one soaker, gets. */
void lbi_weights_ideal(uint32_t cores, uint32_t normal_tasks, double ratio, double *ret_normal,
                       double *ret_soaker);

/* A machine of groups of cores, one soaker a core and some normal tasks. */
typedef struct lbi_weights_machine {
    uint32_t groups, group_cores, normal_tasks;
    double ratio;
} lbi_weights_machine;

/* The static rule: the part of the cores that idles, 0 to 1; NAN: no memory. */
double lbi_weights_static(const lbi_weights_machine *machine);

/* Called all few ten milliseconds; an error ends the realisation. */
typedef struct lbi_weights_pulse {
    lb_status (*beat)(void *user, lb_error *err);
    void *user;
} lbi_weights_pulse;

/* The dynamic rule, one realisation of so many seconds. ret_idle[i] is the part of the cores that
 * idled in second i, and *ret_normal the normal tasks' mean CPU time a second. */
lb_status lbi_weights_dynamic(const lbi_weights_machine *machine, lbi_random *random,
                              uint32_t seconds, const lbi_weights_pulse *pulse, double *ret_idle,
                              double *ret_normal, lb_error *err);

#endif
