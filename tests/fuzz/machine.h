/* SPDX-License-Identifier: BSD-3-Clause */
/* A small model out of the bytes that a fuzzing program is given. */
#ifndef TESTS_FUZZ_MACHINE_H
#define TESTS_FUZZ_MACHINE_H

#include "bytes.h"
#include "fuzz.h"
#include "lbsched/lbsched.h"

enum {
    MACHINE_CORES = 8
};

typedef struct machine {
    lb_model *model;
    uint32_t cores;
    lb_policy policy;
    double speeds[MACHINE_CORES], speed_sum, fastest;
    int rotates;
} machine;

static inline void machine_make(machine *m, bytes *from) {
    lb_model_options options;
    lb_error err;
    lb_model_options_init(&options, sizeof options);
    uint8_t b = take_byte(from);
    m->cores = options.cores = 1 + b % MACHINE_CORES;
    options.policy = LB_POLICY_NONE + (b >> 3) % 4;
    m->policy = (lb_policy)options.policy;
    if (b & 32)
        options.balance_delay = take_byte(from) / 64.0;
    m->rotates = (b & 64) && options.policy == LB_POLICY_IMMEDIATE;
    if (m->rotates)
        options.rotation_time = 0.25 + take_byte(from) / 64.0;
    m->speed_sum = m->fastest = 0;
    for (uint32_t i = 0; i < m->cores; i++) {
        m->speeds[i] = b & 128 ? 0.25 * (1 + take_byte(from) % 8) : 1;
        m->speed_sum += m->speeds[i];
        m->fastest = fmax(m->fastest, m->speeds[i]);
    }
    options.core_speeds = b & 128 ? m->speeds : NULL;
    b = take_byte(from);
    options.list_choice = b % 2;
    options.process_choice = (b >> 1) % 3;
    if ((b & 8) && options.policy == LB_POLICY_ACTIVE && m->cores % 2 == 0) {
        options.group_cores = 2;
        options.list_choice = options.process_choice = 0;
    }
    CHECK(lb_model_new(&options, &m->model, &err) == LB_OK);
}

#endif
