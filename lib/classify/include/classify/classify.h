/* SPDX-License-Identifier: BSD-3-Clause */
/* All that was fitted to a trace, from which verdict and reasons are made. */
#ifndef LBI_CLASSIFY_CLASSIFY_H
#define LBI_CLASSIFY_CLASSIFY_H

#include "classify/likelihood.h"
#include "classify/verdict.h"

typedef struct lbi_fit {
    lbi_progress progress;
    lbi_lists lists[LBI_POLICIES]; /* of none, lazy and active */
    lbi_sharing sharing;
    size_t observations; /* windows of tasks in which progress was observed */
    double log_likelihood[LBI_POLICIES];
    double scale[LBI_POLICIES]; /* that suits each best */
    double foreign_percent;     /* NAN: the trace does not tell */
    const lbi_evidence *evidence;
} lbi_fit;

/* Fits every policy to fit->progress, which stays as it is. `lists` are to be freed in any case. */
lb_status lbi_fit_all(lbi_fit *fit, lb_error *err);
/* log of how probable a scale is, up to a constant. */
double lbi_log_scale_prior(const lbi_progress *progress, double scale);
void lbi_free_lists(lbi_lists lists[LBI_POLICIES]);

/* Sets the verdict's probabilities and policy, after its misfits. */
lb_status lbi_set_probabilities(lb_verdict *verdict, lbi_fit *fit, lb_error *err);
/* Sets what the cores tell of queues: slices, or else units. */
void lbi_weigh_cores(lb_verdict *verdict, const lbi_evidence *evidence);
/* Sets what that and the probabilities of policies say of the queues. */
void lbi_set_queues(lb_verdict *verdict);

/* What speaks for each policy beside rates, as logarithms: multiplied into the posterior. What
 * uneven shares say that were passed on, or stayed, is told apart from the rest. */
void lbi_weigh_evidence(const lbi_evidence *evidence, double ret_logs[LBI_POLICIES],
                        double ret_rotations[LBI_POLICIES]);

/* How probable each queue structure is under a policy, given the log likelihoods of structures;
 * returns the log of how probable what was seen is under the policy. */
double lbi_queues_joint(lb_policy policy, const double logs[LBI_QUEUES], double ret[LBI_QUEUES]);

#endif
