/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef LBI_CLASSIFY_DISTURBED_H
#define LBI_CLASSIFY_DISTURBED_H

#include "classify/verdict.h"

/* Where the trace's metadata say that the run was disturbed, leaves the verdict unknown and says
 * why; what the rates alone would say stays among the reasons. */
lb_status lbi_heed_disturbance(lb_verdict *verdict, const lb_trace *trace, lb_error *err);

#endif
