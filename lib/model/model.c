/* SPDX-License-Identifier: BSD-3-Clause */
#include "model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/options.h"

static const lb_model_options defaults = {
    .size = sizeof(lb_model_options),
    .cores = 1,
    .policy = LB_POLICY_IMMEDIATE,
    .list_choice = LB_LIST_RANDOM,
    .process_choice = LB_PROCESS_RANDOM,
};

void lb_model_options_init(lb_model_options *options, size_t size) {
    lbi_options_write(options, size, &defaults, sizeof defaults);
}

static lb_status check_time(const char *field, double value, lb_error *err) {
    if (value >= 0 && isfinite(value))
        return LB_OK;
    return lbi_error(err, LB_ERR_INVALID,
                     "lb_model_options.%s is %g s: 0 or more and finite expected", field, value);
}

static lb_status check_groups(const lb_model_options *o, lb_error *err) {
    if (o->group_cores == 0)
        return LB_OK;
    if (o->cores % o->group_cores != 0)
        return lbi_error(
            err, LB_ERR_INVALID,
            "lb_model_options.group_cores is %u: 0, or a divisor of %u cores, expected",
            (unsigned)o->group_cores, (unsigned)o->cores);
    if (o->list_choice != LB_LIST_RANDOM)
        return lbi_error(err, LB_ERR_INVALID,
                         "lb_model_options.list_choice is %d: LB_LIST_RANDOM expected where "
                         "group_cores is set",
                         (int)o->list_choice);
    if (o->process_choice != LB_PROCESS_RANDOM)
        return lbi_error(err, LB_ERR_INVALID,
                         "lb_model_options.process_choice is %d: LB_PROCESS_RANDOM expected where "
                         "group_cores is set",
                         (int)o->process_choice);
    return LB_OK;
}

static lb_status check(const lb_model_options *options, lb_error *err) {
    if (options->cores < 1)
        return lbi_error(err, LB_ERR_INVALID, "lb_model_options.cores is 0: 1 or more expected");
    if (options->policy < LB_POLICY_NONE || options->policy > LB_POLICY_IMMEDIATE)
        return lbi_error(err, LB_ERR_INVALID,
                         "lb_model_options.policy is %d: an lb_policy of %d to %d expected",
                         (int)options->policy, LB_POLICY_NONE, LB_POLICY_IMMEDIATE);
    lb_status status = check_time("balance_delay", options->balance_delay, err);
    if (status == LB_OK)
        status = check_time("rotation_time", options->rotation_time, err);
    if (status != LB_OK)
        return status;
    if (options->list_choice < LB_LIST_RANDOM || options->list_choice > LB_LIST_LONGEST)
        return lbi_error(err, LB_ERR_INVALID,
                         "lb_model_options.list_choice is %d: an lb_list_choice of %d to %d "
                         "expected",
                         (int)options->list_choice, LB_LIST_RANDOM, LB_LIST_LONGEST);
    if (options->process_choice < LB_PROCESS_RANDOM || options->process_choice > LB_PROCESS_LAST)
        return lbi_error(err, LB_ERR_INVALID,
                         "lb_model_options.process_choice is %d: an lb_process_choice of %d to %d "
                         "expected",
                         (int)options->process_choice, LB_PROCESS_RANDOM, LB_PROCESS_LAST);
    status = check_groups(options, err);
    if (status != LB_OK)
        return status;
    double sum = 0;
    for (uint32_t i = 0; options->core_speeds != NULL && i < options->cores; i++) {
        double speed = options->core_speeds[i];
        sum += speed;
        if (!(speed > 0 && isfinite(speed)))
            return lbi_error(err, LB_ERR_INVALID,
                             "lb_model_options.core_speeds[%u] is %g: above 0 and finite expected",
                             (unsigned)i, speed);
        if (!isfinite(sum))
            return lbi_error(err, LB_ERR_INVALID,
                             "lb_model_options.core_speeds[%u] is %g: a sum of all that is finite "
                             "expected",
                             (unsigned)i, speed);
    }
    return LB_OK;
}

typedef struct ranked {
    double speed;
    uint32_t core;
} ranked;

static int faster_first(const void *left, const void *right) {
    const ranked *a = left, *b = right;
    if (a->speed != b->speed)
        return a->speed > b->speed ? -1 : 1;
    return a->core < b->core ? -1 : 1;
}

static bool keep_speeds(lb_model *model, const double *speeds) {
    uint32_t cores = model->options.cores;
    model->speeds = lbi_array_new(cores, sizeof *model->speeds);
    model->rank = lbi_array_new(cores, sizeof *model->rank);
    model->by_rank = lbi_array_new(cores, sizeof *model->by_rank);
    model->fastest = lbi_array_new((size_t)cores + 1, sizeof *model->fastest);
    ranked *order = lbi_array_new(cores, sizeof *order);
    bool kept = model->speeds != NULL && model->rank != NULL && model->by_rank != NULL &&
                model->fastest != NULL && order != NULL;
    if (kept) {
        memcpy(model->speeds, speeds, cores * sizeof *speeds);
        model->options.core_speeds = model->speeds;
        for (uint32_t i = 0; i < cores; i++)
            order[i] = (ranked){speeds[i], i};
        qsort(order, cores, sizeof *order, faster_first);
        model->fastest[0] = 0;
        for (uint32_t i = 0; i < cores; i++) {
            model->rank[order[i].core] = i;
            model->by_rank[i] = order[i].core;
            model->fastest[i + 1] = model->fastest[i] + order[i].speed;
        }
    }
    free(order);
    return kept;
}

lb_status lb_model_new(const lb_model_options *options, lb_model **ret_model, lb_error *err) {
    lb_model_options wanted = defaults;
    lb_status status =
        lbi_options_read(options, &wanted, sizeof wanted, sizeof wanted, "lb_model_options", err);
    if (status == LB_OK)
        status = check(&wanted, err);
    if (status != LB_OK)
        return status;
    lb_model *model = malloc(sizeof *model);
    if (model == NULL)
        return lbi_error_nomem(err, "a model");
    *model = (lb_model){.options = wanted};
    model->options.size = sizeof wanted;
    if (wanted.core_speeds != NULL && !keep_speeds(model, wanted.core_speeds)) {
        lb_model_free(model);
        return lbi_error_nomem(err, "a model's core speeds");
    }
    *ret_model = model;
    return LB_OK;
}

lb_status lbi_model_copy(const lb_model *model, lb_model **ret_copy, lb_error *err) {
    return lb_model_new(&model->options, ret_copy, err);
}

void lb_model_free(lb_model *model) {
    if (model == NULL)
        return;
    free(model->speeds);
    free(model->rank);
    free(model->by_rank);
    free(model->fastest);
    free(model);
}

lb_status lb_model_preset(const char *name, uint32_t cores, lb_model **ret_model, lb_error *err) {
    static const struct {
        const char *name;
        lb_policy policy;
    } presets[] = {
        {"windows-7", LB_POLICY_LAZY},
        {"linux-2.6.22", LB_POLICY_ACTIVE},
        {"linux-2.6.31", LB_POLICY_IMMEDIATE},
    };
    for (size_t i = 0; i < sizeof presets / sizeof *presets; i++)
        if (strcmp(name, presets[i].name) == 0) {
            lb_model_options options = defaults;
            options.cores = cores;
            options.policy = presets[i].policy;
            return lb_model_new(&options, ret_model, err);
        }
    return lbi_error(err, LB_ERR_INVALID,
                     "preset \"%.100s\": windows-7, linux-2.6.22 or linux-2.6.31 expected", name);
}

uint32_t lb_model_cores(const lb_model *model) {
    return model->options.cores;
}

lb_policy lb_model_policy(const lb_model *model) {
    return (lb_policy)model->options.policy;
}

void lb_model_get_options(const lb_model *model, lb_model_options *ret_options, size_t size) {
    lbi_options_write(ret_options, size, &model->options, sizeof model->options);
}

bool lbi_model_is_random(const lb_model *model) {
    return model->options.policy == LB_POLICY_LAZY || model->options.policy == LB_POLICY_ACTIVE ||
           lbi_model_rotates(model);
}

bool lbi_model_is_shared(const lb_model *model) {
    return model->options.policy == LB_POLICY_IMMEDIATE && model->options.rotation_time == 0;
}

bool lbi_model_rotates(const lb_model *model) {
    return model->options.policy == LB_POLICY_IMMEDIATE && model->options.rotation_time > 0;
}

double lb_nice_weight(int nice) {
    /* kernel/sched/core.c, sched_prio_to_weight: facts, not code */
    static const int weights[] = {88761, 71755, 56483, 46273, 36291, 29154, 23254, 18705,
                                  14949, 11916, 9548,  7620,  6100,  4904,  3906,  3121,
                                  2501,  1991,  1586,  1277,  1024,  820,   655,   526,
                                  423,   335,   272,   215,   172,   137,   110,   87,
                                  70,    56,    45,    36,    29,    23,    18,    15};
    if (nice < -20 || nice > 19)
        return NAN;
    return weights[nice + 20] / 1024.0;
}
