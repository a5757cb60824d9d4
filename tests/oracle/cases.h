/* SPDX-License-Identifier: BSD-3-Clause */
/* Problems as lines of JSON: read from shared/data/model-cases.jsonl, written when one fails. */
#ifndef TESTS_CASES_H
#define TESTS_CASES_H

#include <stdio.h>

#include "oracle.h"

struct solved_case {
    struct oracle_problem problem;
    struct oracle_duration duration[ORACLE_PROCESSES];
};

/* Reads one line. False: it is not as data/README.md says, or too large. */
bool case_parse(const char *line, struct solved_case *ret_case);

/* Opens model-cases.jsonl in the directory that LBSCHED_SHARED names (default ../shared, from the
 * working directory). NULL: it is not there, which is printed. */
FILE *cases_open(void);

/* Writes a problem as a line that case_parse() reads but for the solution. */
void case_print(FILE *file, const struct oracle_problem *problem);

#endif
