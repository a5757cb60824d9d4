/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LBI_CLASSIFY_EXPLAIN_H
#define LBI_CLASSIFY_EXPLAIN_H

#include "classify/classify.h"

#define LBI_FOREIGN_PERCENT 5 /* from which on other load may have shaped a trace */

/* Writes the verdict's reasons, at least one. False: no memory. */
bool lbi_explain(lb_verdict *verdict, const lbi_fit *fit);
/* Adds what slices, or the cores of units, show. False: no memory. */
bool lbi_explain_evidence(lb_verdict *verdict, const lbi_evidence *evidence);

#endif
