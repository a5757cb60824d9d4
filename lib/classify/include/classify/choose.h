/* SPDX-License-Identifier: BSD-3-Clause */
/* Choosing some tasks out of many equally probable ones when the data favour a few choices. */
#ifndef LBI_CLASSIFY_CHOOSE_H
#define LBI_CLASSIFY_CHOOSE_H

#include <stddef.h>
#include <stdint.h>

#define LBI_CHOICES_MAX 8

/* log C(n, r). */
double lbi_log_binomial(double n, double r);

/* log of the sum over all choices of `r` out of `n` of the product of exp(gain): the elementary
 * symmetric polynomial. `workspace` has r + 1 doubles. */
double lbi_log_choices(const double *gains, size_t n, size_t r, double *workspace);

/* A choice: the first r entries, those in descending order of gain, with one of them put out and
 * another put in (out == SIZE_MAX: as they are). */
typedef struct lbi_choice {
    size_t out, in;
    double gain; /* sum over the chosen */
} lbi_choice;

/* The best choices of `r` out of `n` with `gains` in descending order: at most `most` of them, at
 * least one. */
size_t lbi_best_choices(const double *gains, size_t n, size_t r, size_t most,
                        lbi_choice choices[LBI_CHOICES_MAX]);

#endif
