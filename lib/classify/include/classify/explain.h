/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LBI_CLASSIFY_EXPLAIN_H
#define LBI_CLASSIFY_EXPLAIN_H

#include "classify/story.h"

#define LBI_FOREIGN_PERCENT 5 /* from which on other load may have shaped a trace */

/* Writes the verdict's reasons, at least one. False: no memory. */
bool lbi_explain(lb_verdict *verdict, const lbi_fit *fit);
/* Its parts: what shows a policy; what is missing for any; why the trace tells nothing at all. */
bool lbi_explain_policy(lb_verdict *v, lbi_story *story, lb_policy policy);
bool lbi_explain_missing(lb_verdict *v, const lbi_progress *progress);
bool lbi_explain_unusable(lb_verdict *v, const lbi_progress *progress);
/* Adds what slices, or the cores of units, show. False: no memory. */
bool lbi_explain_evidence(lb_verdict *verdict, const lbi_evidence *evidence);

#endif
