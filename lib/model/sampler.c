/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "plan.h"

uint64_t lb_realisation_seed(uint64_t seed, uint64_t k) {
    /* Mixing the seed first keeps (seed, k + 1) apart from (seed + 1, k). */
    return lbi_mix(lbi_mix(seed) + k);
}

lb_status lb_model_sample(const lb_model *model, const lb_workload *workload, uint64_t seed,
                          double *ret_seconds, lb_error *err) {
    lbi_plan plan;
    lb_status status = lbi_plan_new(&plan, model, workload, err);
    if (status != LB_OK)
        return status;
    lbi_run run;
    status = lbi_run_new(&run, &plan, err);
    if (status == LB_OK) {
        lbi_run_all(&run, seed, ret_seconds, NULL);
        lbi_run_free(&run);
    }
    lbi_plan_free(&plan);
    return status;
}

struct lb_sampler {
    lb_model *model;
    lb_workload *workload;
    lbi_plan plan;
    lbi_run run;
};

lb_status lb_sampler_new(const lb_model *model, const lb_workload *workload,
                         lb_sampler **ret_sampler, lb_error *err) {
    lb_sampler *sampler = malloc(sizeof *sampler);
    if (sampler == NULL)
        return lbi_error_nomem(err, "a sampler");
    *sampler = (lb_sampler){0};
    lb_status status = lbi_model_copy(model, &sampler->model, err);
    if (status == LB_OK)
        status = lbi_workload_copy(workload, &sampler->workload, err);
    if (status == LB_OK)
        status = lbi_plan_new(&sampler->plan, sampler->model, sampler->workload, err);
    if (status == LB_OK)
        status = lbi_run_new(&sampler->run, &sampler->plan, err);
    if (status != LB_OK) {
        lb_sampler_free(sampler);
        return status;
    }
    *ret_sampler = sampler;
    return LB_OK;
}

lb_status lb_sampler_run(lb_sampler *sampler, uint64_t seed, double *ret_seconds, lb_error *err) {
    (void)err;
    lbi_run_all(&sampler->run, seed, ret_seconds, NULL);
    return LB_OK;
}

void lb_sampler_free(lb_sampler *sampler) {
    if (sampler == NULL)
        return;
    lbi_run_free(&sampler->run);
    lbi_plan_free(&sampler->plan);
    lb_workload_free(sampler->workload);
    lb_model_free(sampler->model);
    free(sampler);
}
