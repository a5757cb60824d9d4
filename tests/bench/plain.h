/* SPDX-License-Identifier: BSD-3-Clause */
/* The model written for just one case, as fast as a plain loop over arrays goes: what the library
 * is measured against. Equal weights and speeds, all there at time 0, dealt round robin, no delay,
 * no two events at one instant. */
#ifndef PLAIN_H
#define PLAIN_H

#include <stdint.h>

enum {
    PLAIN_CORES = 4,
    PLAIN_PROCESSES = 12
};

struct plain_sums {
    double sum[PLAIN_PROCESSES], squares[PLAIN_PROCESSES];
    double min[PLAIN_PROCESSES], max[PLAIN_PROCESSES];
};

void plain_lazy(const double *work, uint64_t seed, long samples, struct plain_sums *ret_sums);
void plain_active(const double *work, uint64_t seed, long samples, struct plain_sums *ret_sums);

#endif
