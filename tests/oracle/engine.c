/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine.h"

#include <stdio.h>
#include <stdlib.h>

#include "cases.h"

void engine_must(lb_status status, const lb_error *err, const char *what) {
    if (status == LB_OK)
        return;
    printf("FAILED: %s: %s: %s\n", what, lb_status_name(status), err->message);
    exit(EXIT_FAILURE);
}

lb_model *engine_model(const struct oracle_problem *p) {
    static const int32_t policies[] = {
        [ORACLE_NONE] = LB_POLICY_NONE,
        [ORACLE_LAZY] = LB_POLICY_LAZY,
        [ORACLE_ACTIVE] = LB_POLICY_ACTIVE,
        [ORACLE_IMMEDIATE] = LB_POLICY_IMMEDIATE,
    };
    static const int32_t choices[] = {
        [ORACLE_RANDOM] = LB_PROCESS_RANDOM,
        [ORACLE_FIRST] = LB_PROCESS_FIRST,
        [ORACLE_LAST] = LB_PROCESS_LAST,
    };
    lb_model_options options;
    lb_model_options_init(&options, sizeof options);
    options.cores = (uint32_t)p->cores;
    options.policy = policies[p->policy];
    options.balance_delay = p->delay;
    options.rotation_time = p->rotation;
    options.core_speeds = p->speeds;
    options.list_choice = p->longest ? LB_LIST_LONGEST : LB_LIST_RANDOM;
    options.process_choice = choices[p->process];
    options.group_cores = (uint32_t)p->group;
    lb_model *model = NULL;
    lb_error err = {0};
    engine_must(lb_model_new(&options, &model, &err), &err, "lb_model_new");
    return model;
}

lb_workload *engine_workload(const struct oracle_problem *p) {
    static const lb_event_kind kinds[] = {
        [ORACLE_STOP] = LB_EVENT_STOP,
        [ORACLE_SLEEP] = LB_EVENT_SLEEP,
        [ORACLE_WAKE] = LB_EVENT_WAKE,
    };
    lb_workload *workload = NULL;
    lb_error err = {0};
    engine_must(lb_workload_new(&workload, &err), &err, "lb_workload_new");
    engine_must(lb_workload_add_many(workload, p->work, (size_t)p->n, NULL, &err), &err,
                "lb_workload_add_many");
    for (int i = 0; i < p->n; i++) {
        size_t index = (size_t)i;
        if (p->weight[i] != 1)
            engine_must(lb_workload_set_weight(workload, index, p->weight[i], &err), &err,
                        "lb_workload_set_weight");
        if (p->arrival[i] != 0)
            engine_must(lb_workload_set_arrival(workload, index, p->arrival[i], &err), &err,
                        "lb_workload_set_arrival");
        if (p->first_core[i] >= 0)
            engine_must(
                lb_workload_set_first_core(workload, index, (uint32_t)p->first_core[i], &err), &err,
                "lb_workload_set_first_core");
    }
    for (int e = 0; e < p->events; e++)
        engine_must(lb_workload_add_event(workload, (size_t)p->event[e].process, p->event[e].time,
                                          kinds[p->event[e].kind], &err),
                    &err, "lb_workload_add_event");
    return workload;
}

lb_status engine_durations(const struct oracle_problem *problem, const lb_estimate_options *options,
                           lb_duration *ret_durations, lb_error *err) {
    lb_model *model = engine_model(problem);
    lb_workload *workload = engine_workload(problem);
    lb_status status = lb_model_durations(model, workload, options, ret_durations, err);
    lb_workload_free(workload);
    lb_model_free(model);
    return status;
}
