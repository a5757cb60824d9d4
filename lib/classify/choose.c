/* SPDX-License-Identifier: BSD-3-Clause */
#include "classify/choose.h"

#include <math.h>

double lbi_log_binomial(double n, double r) {
    return lgamma(n + 1) - lgamma(r + 1) - lgamma(n - r + 1);
}

double lbi_log_choices(const double *gains, size_t n, size_t r, double *workspace) {
    if (r == 0)
        return 0;
    double top = gains[0];
    for (size_t i = 1; i < n; i++)
        top = gains[i] > top ? gains[i] : top;
    double log_scale = 0;
    workspace[0] = 1;
    for (size_t j = 1; j <= r; j++)
        workspace[j] = 0;
    for (size_t i = 0; i < n; i++) {
        double factor = exp(gains[i] - top), sum = 0;
        for (size_t j = r; j >= 1; j--)
            workspace[j] += factor * workspace[j - 1];
        for (size_t j = 0; j <= r; j++)
            sum = workspace[j] > sum ? workspace[j] : sum;
        if (sum > 1e100) {
            for (size_t j = 0; j <= r; j++)
                workspace[j] /= sum;
            log_scale += log(sum);
        }
    }
    return log(workspace[r]) + log_scale + top * (double)r;
}

static void insert(lbi_choice choices[LBI_CHOICES_MAX], size_t *count, size_t most,
                   lbi_choice choice) {
    size_t at = *count;
    if (at == most) {
        if (at == 0 || choices[at - 1].gain >= choice.gain)
            return;
        at--;
    } else {
        ++*count;
    }
    for (; at > 0 && choices[at - 1].gain < choice.gain; at--)
        choices[at] = choices[at - 1];
    choices[at] = choice;
}

size_t lbi_best_choices(const double *gains, size_t n, size_t r, size_t most,
                        lbi_choice choices[LBI_CHOICES_MAX]) {
    lbi_choice best = {SIZE_MAX, SIZE_MAX, 0};
    size_t count = 0;
    for (size_t i = 0; i < r; i++)
        best.gain += gains[i];
    insert(choices, &count, most, best);
    for (size_t a = 0; a < r && a < LBI_CHOICES_MAX; a++)
        for (size_t b = 0; b + r < n && b + a < LBI_CHOICES_MAX; b++) {
            lbi_choice swap = {r - 1 - a, r + b, best.gain - gains[r - 1 - a] + gains[r + b]};
            insert(choices, &count, most, swap);
        }
    return count;
}
