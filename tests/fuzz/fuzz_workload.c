/* SPDX-License-Identifier: BSD-3-Clause */
/* Whatever workload is made, with arrivals, weights, first cores and events: each realisation keeps
 * to bounds that hold of any schedule, and lies in the range of the exact estimate. */
#include "machine.h"

enum {
    MOST = 6,
    DRAWS = 3
};

typedef struct problem {
    machine m;
    lb_workload *workload;
    double work[MOST], arrival[MOST];
    size_t count;
    int events; /* any, so that work may never be done */
} problem;

static void add(problem *p, bytes *from) {
    lb_error err;
    size_t i;
    p->work[p->count] = take_work(from);
    CHECK(lb_workload_add(p->workload, p->work[p->count], &i, &err) == LB_OK && i == p->count);
    uint8_t b = take_byte(from);
    p->arrival[i] = b & 1 ? take_time(from) : 0;
    if (b & 1)
        CHECK(lb_workload_set_arrival(p->workload, i, p->arrival[i], &err) == LB_OK);
    if (b & 2)
        CHECK(lb_workload_set_weight(p->workload, i, take_weight(from), &err) == LB_OK);
    if (b & 4)
        CHECK(lb_workload_set_first_core(p->workload, i, (b >> 4) % p->m.cores, &err) == LB_OK);
    for (int k = 0; k < 3 && (b & 8); k++, p->events = 1) {
        uint8_t e = take_byte(from);
        CHECK(lb_workload_add_event(p->workload, i, p->arrival[i] + take_time(from),
                                    (lb_event_kind)(e % 3), &err) == LB_OK);
    }
    p->count++;
}

/* No process is faster than alone on the fastest core, and together they are not faster than all
 * cores are from the first arrival on. */
static void check_realisation(const problem *p, const double *seconds) {
    double first = INFINITY, last = 0, done = 0;
    for (size_t i = 0; i < p->count; i++) {
        CHECK(seconds[i] >= p->work[i] / p->m.fastest * (1 - 1e-9));
        CHECK(isinf(seconds[i]) == 0 || p->events || isinf(p->work[i]));
        if (isinf(seconds[i]))
            continue;
        first = fmin(first, p->arrival[i]);
        last = fmax(last, p->arrival[i] + seconds[i]);
        done += p->work[i];
    }
    CHECK(done == 0 || last - first >= done / p->m.speed_sum * (1 - 1e-9));
}

static void check_exact(const problem *p) {
    lb_estimate_options options;
    lb_duration d[MOST];
    lb_error err;
    lb_estimate_options_init(&options, sizeof options);
    options.method = LB_METHOD_EXACT;
    lb_status status = lb_model_durations(p->m.model, p->workload, &options, d, &err);
    if (p->m.rotates)
        CHECK(status == LB_ERR_UNSUPPORTED || status == LB_OK);
    else
        CHECK(status == LB_ERR_LIMIT || status == LB_OK);
    double seconds[MOST];
    for (uint64_t seed = 0; seed < DRAWS; seed++) {
        CHECK(lb_model_sample(p->m.model, p->workload, seed, seconds, &err) == LB_OK);
        check_realisation(p, seconds);
        for (size_t i = 0; i < p->count && status == LB_OK; i++) {
            CHECK(d[i].exact == 1 && d[i].standard_error == 0 && d[i].reserved == 0);
            CHECK(d[i].completion >= 0 && d[i].completion <= 1 + 1e-12);
            if (isinf(seconds[i])) {
                CHECK(d[i].completion < 1);
                continue;
            }
            CHECK(d[i].completion > 0 && d[i].min <= d[i].max);
            CHECK(d[i].mean >= d[i].min * (1 - 1e-9) && d[i].mean <= d[i].max * (1 + 1e-9));
            CHECK(seconds[i] >= d[i].min * (1 - 1e-9) && seconds[i] <= d[i].max * (1 + 1e-9));
            CHECK(d[i].stddev >= 0 && d[i].stddev <= (d[i].max - d[i].min) + 1e-9 * d[i].max);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    bytes from = {data, data + size};
    problem p = {0};
    lb_error err;
    machine_make(&p.m, &from);
    CHECK(lb_workload_new(&p.workload, &err) == LB_OK);
    while (from.next < from.end && p.count < MOST)
        add(&p, &from);
    check_exact(&p);
    lb_workload_free(p.workload);
    lb_model_free(p.m.model);
    return 0;
}
