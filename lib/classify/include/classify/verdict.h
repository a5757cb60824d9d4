/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LBI_CLASSIFY_VERDICT_H
#define LBI_CLASSIFY_VERDICT_H

#include "base/text.h"
#include "classify/measures.h"
#include "classify/queues.h"
#include "lbsched/lbsched.h"

#define LBI_POLICIES (LB_POLICY_IMMEDIATE + 1)
#define LBI_CONFIDENCE 0.95 /* what is asked for by default */
#define LBI_VERDICT_FORM 1  /* of the JSON; changes when what it says is read in another way */

struct lb_verdict {
    uint32_t cores, tasks;
    size_t units;
    double confidence;
    lb_policy policy;
    double probability[LBI_POLICIES];
    double misfit[LBI_POLICIES]; /* the share of time that a policy leaves unexplained */
    lb_queues queues;
    double queues_probability[LBI_QUEUES];
    double queues_log[LBI_QUEUES]; /* log likelihoods from where tasks ran */
    lbi_changes changes;           /* of cores, by units that waited */
    double rotation_time;          /* seconds; NAN: not measured */
    double unit_work;              /* CPU seconds of a unit; NAN: not known */
    char *disturbed;               /* kinds of findings, parted by commas; NULL: none */
    double measures[LBI_MEASURES]; /* NAN: not measured, INFINITY: never */
    double *speeds;                /* [cores], the fastest being 1; NULL: not measured, or alike */
    lbi_fair *fairness;            /* by falling concurrency */
    size_t fairness_count;
    char **reasons;
    size_t reason_count, reason_capacity;
};

/* Hands the sentence in `text` to the verdict and leaves `text` empty. False: no memory. */
bool lbi_verdict_add_reason(lb_verdict *verdict, lbi_text *text);

const char *lbi_policy_name(lb_policy policy);
const char *lbi_queues_name(lb_queues queues);

#endif
