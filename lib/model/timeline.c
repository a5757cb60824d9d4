/* SPDX-License-Identifier: BSD-3-Clause */
#include "timeline.h"

#include <stdlib.h>

#include "base/array.h"

/* One realisation by the general way, which is the same as any other. */
static lb_status watch_run(lbi_timeline *timeline, uint64_t seed, lbi_watch *watch, lb_error *err) {
    lbi_run run;
    lb_status status = lbi_run_new(&run, timeline->plan, err);
    if (status != LB_OK)
        return status;
    lbi_run_begin(&run, seed, timeline->durations);
    run.engine.watch = watch;
    while (!watch->failed && !watch->full && lbi_run_open(&run)) {
        lbi_engine_balance(&run.engine);
        lbi_run_close(&run);
    }
    for (size_t i = 0; i < timeline->plan->size; i++)
        timeline->asleep[i] = run.engine.state[i] == LBI_ASLEEP;
    lbi_run_free(&run);
    if (watch->failed)
        return lbi_error_nomem(err, "a predicted trace");
    if (watch->full)
        return lbi_error(err, LB_ERR_LIMIT, "more than %zu moves of processes between lists",
                         watch->limit);
    return LB_OK;
}

/* Where each group of hops begins; a sort by counting keeps the order of time. */
static bool group_hops(const lbi_watch *watch, bool by_list, size_t groups, lbi_hop **ret_hops,
                       size_t **ret_first) {
    lbi_hop *hops = *ret_hops = lbi_array_new(watch->hop_count, sizeof *hops);
    size_t *first = *ret_first = lbi_array_new(groups + 2, sizeof *first);
    if (hops == NULL || first == NULL)
        return false;
    for (size_t i = 0; i < groups + 2; i++)
        first[i] = 0;
    for (size_t i = 0; i < watch->hop_count; i++)
        first[(by_list ? watch->hops[i].list : watch->hops[i].slot) + 2]++;
    for (size_t i = 2; i < groups + 2; i++)
        first[i] += first[i - 1];
    for (size_t i = 0; i < watch->hop_count; i++)
        hops[first[(by_list ? watch->hops[i].list : watch->hops[i].slot) + 1]++] = watch->hops[i];
    return true;
}

static bool group_points(const lbi_watch *watch, size_t lists, lbi_timeline *timeline) {
    lbi_course *courses = timeline->courses = lbi_array_new(watch->point_count, sizeof *courses);
    size_t *first = timeline->first_course = lbi_array_new(lists + 2, sizeof *first);
    if (courses == NULL || first == NULL)
        return false;
    for (size_t i = 0; i < lists + 2; i++)
        first[i] = 0;
    for (size_t i = 0; i < watch->point_count; i++)
        first[watch->points[i].list + 2]++;
    for (size_t i = 2; i < lists + 2; i++)
        first[i] += first[i - 1];
    for (size_t i = 0; i < watch->point_count; i++) {
        const lbi_point *point = &watch->points[i];
        courses[first[point->list + 1]++] = (lbi_course){point->time, 0, point->rate};
    }
    for (size_t list = 0; list < lists; list++)
        for (size_t i = first[list] + 1; i < first[list + 1]; i++)
            courses[i].virtual = courses[i - 1].virtual +
                                 (courses[i].time - courses[i - 1].time) * courses[i - 1].rate;
    return true;
}

lb_status lbi_timeline_new(lbi_timeline *timeline, const lbi_plan *plan, uint64_t seed,
                           size_t limit, bool by_list, lb_error *err) {
    *timeline = (lbi_timeline){.plan = plan, .shared = lbi_model_is_shared(plan->model)};
    lbi_watch watch = {.limit = limit};
    size_t lists = timeline->shared ? 2 : plan->model->options.cores;
    timeline->durations = lbi_array_new(plan->size, sizeof *timeline->durations);
    timeline->asleep = lbi_array_new(plan->size, 1);
    lb_status status = timeline->durations == NULL || timeline->asleep == NULL
                           ? lbi_error_nomem(err, "a predicted trace")
                           : watch_run(timeline, seed, &watch, err);
    if (status == LB_OK &&
        (!group_hops(&watch, false, plan->size, &timeline->by_slot, &timeline->first_of_slot) ||
         !group_points(&watch, lists, timeline) ||
         (by_list &&
          !group_hops(&watch, true, lists, &timeline->by_list, &timeline->first_of_list))))
        status = lbi_error_nomem(err, "a predicted trace");
    lbi_watch_free(&watch);
    if (status != LB_OK)
        lbi_timeline_free(timeline);
    return status;
}

void lbi_timeline_free(lbi_timeline *timeline) {
    free(timeline->durations);
    free(timeline->asleep);
    free(timeline->by_slot);
    free(timeline->by_list);
    free(timeline->first_of_slot);
    free(timeline->first_of_list);
    free(timeline->courses);
    free(timeline->first_course);
}

double lbi_timeline_virtual(const lbi_timeline *timeline, uint32_t list, double time) {
    const lbi_course *courses = timeline->courses;
    size_t low = timeline->first_course[list], high = timeline->first_course[list + 1];
    size_t begin = low;
    while (low < high) { /* the first that is later */
        size_t middle = low + (high - low) / 2;
        if (courses[middle].time <= time)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == begin)
        return 0;
    const lbi_course *course = &courses[low - 1];
    return course->virtual + (time - course->time) * course->rate;
}

double lbi_timeline_time(const lbi_timeline *timeline, uint32_t list, double virtual) {
    const lbi_course *courses = timeline->courses;
    size_t low = timeline->first_course[list], high = timeline->first_course[list + 1];
    size_t begin = low;
    while (low < high) { /* the first that is as far */
        size_t middle = low + (high - low) / 2;
        if (courses[middle].virtual < virtual)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == begin)
        return courses[begin].time;
    const lbi_course *course = &courses[low - 1];
    return course->rate > 0 ? course->time + (virtual - course->virtual) / course->rate
                            : course->time;
}

double lbi_timeline_share(const lbi_timeline *timeline, uint32_t list, uint32_t slot) {
    const double *weights = timeline->plan->weights;
    return weights == NULL || (timeline->shared && list == 1) ? 1 : weights[slot];
}
