/* SPDX-License-Identifier: BSD-3-Clause */
/* A verdict from the JSON that lb_verdict_format() writes. Members that are not known are passed
 * over, so that later releases may add some. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/json.h"
#include "classify/verdict.h"

typedef struct reader {
    lbi_json json;
    lb_verdict *verdict;
    lb_error *err;
    lb_status status; /* of the first failure */
} reader;

static bool refuse(reader *r, const lbi_json_node *at, const char *key, const char *expected) {
    r->status = lbi_error(r->err, LB_ERR_FORMAT, "line %zu: %s is %s: %s expected", at->line, key,
                          lbi_json_kind_name(at->kind), expected);
    return false;
}

/* The member, which must be there, once; NULL: it is not. */
static const lbi_json_node *member(reader *r, const lbi_json_node *object, const char *key) {
    const lbi_json_node *found = NULL;
    for (const lbi_json_node *n = lbi_json_first(&r->json, object); n != NULL;
         n = lbi_json_next(&r->json, n)) {
        if (strcmp(r->json.text + n->key, key) != 0)
            continue;
        if (found != NULL) {
            r->status =
                lbi_error(r->err, LB_ERR_FORMAT, "line %zu: %s expected once", n->line, key);
            return NULL;
        }
        found = n;
    }
    if (found == NULL)
        r->status =
            lbi_error(r->err, LB_ERR_FORMAT, "line %zu: a member %s expected", object->line, key);
    return found;
}

static const lbi_json_node *container(reader *r, const lbi_json_node *object, const char *key,
                                      lbi_json_kind kind) {
    const lbi_json_node *n = member(r, object, key);
    if (n == NULL || n->kind == kind)
        return n;
    refuse(r, n, key, lbi_json_kind_name(kind));
    return NULL;
}

static bool number(reader *r, const lbi_json_node *object, const char *key, double least,
                   double most, double *ret) {
    const lbi_json_node *n = member(r, object, key);
    if (n == NULL)
        return false;
    if (n->kind != LBI_JSON_NUMBER)
        return refuse(r, n, key, "a number");
    if (!(n->number >= least && n->number <= most)) {
        r->status = lbi_error(r->err, LB_ERR_FORMAT, "line %zu: %s is %g: %g to %g expected",
                              n->line, key, n->number, least, most);
        return false;
    }
    *ret = n->number;
    return true;
}

static bool whole_number(reader *r, const lbi_json_node *object, const char *key, double most,
                         double *ret) {
    if (!number(r, object, key, 0, most, ret))
        return false;
    if (*ret == floor(*ret))
        return true;
    r->status = lbi_error(r->err, LB_ERR_FORMAT, "line %zu: %s is %g: a whole number expected",
                          object->line, key, *ret);
    return false;
}

/* A number of 0 or more; null: NAN; "never": INFINITY, where that may be. */
static bool measure(reader *r, const lbi_json_node *object, const char *key, bool may_be_never,
                    double *ret) {
    const lbi_json_node *n = member(r, object, key);
    if (n == NULL)
        return false;
    if (n->kind == LBI_JSON_NULL) {
        *ret = NAN;
        return true;
    }
    if (may_be_never && n->kind == LBI_JSON_STRING &&
        strcmp(r->json.text + n->string, "never") == 0) {
        *ret = INFINITY;
        return true;
    }
    if (n->kind != LBI_JSON_NUMBER || !(n->number >= 0))
        return refuse(r, n, key,
                      may_be_never ? "a number of 0 or more, null or \"never\""
                                   : "a number of 0 or more, or null");
    *ret = n->number;
    return true;
}

static bool named(reader *r, const lbi_json_node *object, const char *key, const char *(*name)(int),
                  int count, int *ret) {
    const lbi_json_node *n = container(r, object, key, LBI_JSON_STRING);
    if (n == NULL)
        return false;
    for (*ret = 0; *ret < count; ++*ret)
        if (strcmp(r->json.text + n->string, name(*ret)) == 0)
            return true;
    return refuse(r, n, key, "one of the known names");
}

static const char *policy_name(int policy) {
    return lbi_policy_name((lb_policy)policy);
}

static const char *queues_name(int queues) {
    return lbi_queues_name((lb_queues)queues);
}

static bool probabilities(reader *r, const lbi_json_node *root, const char *key,
                          const char *(*name)(int), int count, double *ret) {
    const lbi_json_node *object = container(r, root, key, LBI_JSON_OBJECT);
    double sum = 0;
    if (object == NULL)
        return false;
    for (int i = 0; i < count; i++) {
        if (!number(r, object, name(i), 0, 1, &ret[i]))
            return false;
        sum += ret[i];
    }
    if (fabs(sum - 1) < 1e-6)
        return true;
    r->status = lbi_error(r->err, LB_ERR_FORMAT, "line %zu: the sum of %s is %g: 1 expected",
                          object->line, key, sum);
    return false;
}

static bool measures(reader *r, const lbi_json_node *root) {
    const lbi_json_node *object = container(r, root, "measures", LBI_JSON_OBJECT);
    if (object == NULL)
        return false;
    for (int i = 0; i < LBI_MEASURES; i++) {
        double *value = &r->verdict->measures[i];
        *value = NAN;
        /* What came after the release that wrote it is not measured. */
        if (lbi_json_member(&r->json, object, lbi_measure_names[i]) != NULL &&
            !measure(r, object, lbi_measure_names[i], true, value))
            return false;
    }
    return true;
}

static bool no_memory(reader *r) {
    r->status = lbi_error_nomem(r->err, "a verdict");
    return false;
}

static bool speeds(reader *r, const lbi_json_node *root) {
    const lbi_json_node *array = member(r, root, "core_speeds");
    lb_verdict *v = r->verdict;
    if (array == NULL || array->kind == LBI_JSON_NULL)
        return array != NULL;
    if (array->kind != LBI_JSON_ARRAY || array->count != v->cores)
        return refuse(r, array, "core_speeds", "null, or an array with a speed for each core");
    v->speeds = lbi_array_new(v->cores, sizeof *v->speeds);
    if (v->speeds == NULL)
        return no_memory(r);
    uint32_t i = 0;
    for (const lbi_json_node *n = lbi_json_first(&r->json, array); n != NULL;
         n = lbi_json_next(&r->json, n)) {
        if (n->kind != LBI_JSON_NUMBER || !(n->number > 0 && n->number <= 1))
            return refuse(r, n, "a core's speed", "a number above 0 and up to 1");
        v->speeds[i++] = n->number;
    }
    return true;
}

static bool fairness(reader *r, const lbi_json_node *root) {
    const lbi_json_node *array = container(r, root, "fairness", LBI_JSON_ARRAY);
    lb_verdict *v = r->verdict;
    if (array == NULL)
        return false;
    v->fairness = lbi_array_new(array->count, sizeof *v->fairness);
    if (v->fairness == NULL)
        return no_memory(r);
    for (const lbi_json_node *n = lbi_json_first(&r->json, array); n != NULL;
         n = lbi_json_next(&r->json, n)) {
        lbi_fair *f = &v->fairness[v->fairness_count];
        double *const numbers[LBI_FAIR_NUMBERS] = {&f->seconds, &f->mean,  &f->deviation,
                                                   &f->jain,    &f->least, &f->most};
        double concurrency;
        if (n->kind != LBI_JSON_OBJECT)
            return refuse(r, n, "a row of fairness", "an object");
        if (!whole_number(r, n, "concurrency", UINT32_MAX, &concurrency))
            return false;
        f->concurrency = (uint32_t)concurrency;
        for (int i = 0; i < LBI_FAIR_NUMBERS; i++)
            if (!measure(r, n, lbi_fair_names[i], false, numbers[i]))
                return false;
        v->fairness_count++;
    }
    return true;
}

static bool disturbed(reader *r, const lbi_json_node *root) {
    const lbi_json_node *n = member(r, root, "disturbed");
    if (n == NULL || n->kind == LBI_JSON_NULL)
        return n != NULL;
    if (n->kind != LBI_JSON_STRING)
        return refuse(r, n, "disturbed", "a string, or null");
    r->verdict->disturbed = lbi_string_copy(r->json.text + n->string);
    return r->verdict->disturbed != NULL || no_memory(r);
}

static bool reasons(reader *r, const lbi_json_node *root) {
    const lbi_json_node *array = container(r, root, "reasons", LBI_JSON_ARRAY);
    if (array == NULL)
        return false;
    if (array->count == 0)
        return refuse(r, array, "reasons", "at least one reason");
    for (const lbi_json_node *n = lbi_json_first(&r->json, array); n != NULL;
         n = lbi_json_next(&r->json, n)) {
        if (n->kind != LBI_JSON_STRING)
            return refuse(r, n, "a reason", "a string");
        lbi_text text = {0};
        lbi_text_string(&text, r->json.text + n->string);
        if (!lbi_verdict_add_reason(r->verdict, &text))
            return no_memory(r);
    }
    return true;
}

static bool read_verdict(reader *r) {
    const lbi_json_node *root = r->json.nodes;
    lb_verdict *v = r->verdict;
    double form, cores, tasks, units;
    int policy, queues;
    if (root->kind != LBI_JSON_OBJECT)
        return refuse(r, root, "the value", "an object");
    if (!number(r, root, "lbsched_verdict", LBI_VERDICT_FORM, LBI_VERDICT_FORM, &form) ||
        !named(r, root, "policy", policy_name, LBI_POLICIES, &policy) ||
        !probabilities(r, root, "probabilities", policy_name, LBI_POLICIES, v->probability) ||
        !named(r, root, "queues", queues_name, LBI_QUEUES, &queues) ||
        !probabilities(r, root, "queues_probabilities", queues_name, LBI_QUEUES,
                       v->queues_probability) ||
        !number(r, root, "confidence", 0.5, 1, &v->confidence) ||
        !whole_number(r, root, "cores", UINT32_MAX, &cores) ||
        !whole_number(r, root, "tasks", UINT32_MAX, &tasks) ||
        !whole_number(r, root, "units", 1e15, &units) ||
        !measure(r, root, "inferred_unit_work_s", false, &v->unit_work) ||
        !measure(r, root, "rotation_time_s", true, &v->rotation_time))
        return false;
    v->policy = (lb_policy)policy;
    v->queues = (lb_queues)queues;
    v->cores = (uint32_t)cores;
    v->tasks = (uint32_t)tasks;
    v->units = (size_t)units;
    if (v->cores == 0) {
        r->status = lbi_error(r->err, LB_ERR_FORMAT, "line %zu: cores is 0: 1 or more expected",
                              root->line);
        return false;
    }
    return measures(r, root) && disturbed(r, root) && speeds(r, root) && fairness(r, root) &&
           reasons(r, root);
}

lb_status lb_verdict_parse(const char *json, size_t length, lb_verdict **ret_verdict,
                           lb_error *err) {
    reader r = {.err = err, .verdict = calloc(1, sizeof *r.verdict)};
    if (r.verdict == NULL)
        return lbi_error_nomem(err, "a verdict");
    r.status = lbi_json_parse(json, length, &r.json, err);
    if (r.status == LB_OK)
        read_verdict(&r);
    lbi_json_free(&r.json);
    if (r.status != LB_OK) {
        lb_verdict_free(r.verdict);
        return r.status;
    }
    *ret_verdict = r.verdict;
    return LB_OK;
}
