/* SPDX-License-Identifier: BSD-3-Clause */
/* Estimates by sampling. Realisations are drawn in blocks of fixed size; whichever thread has drawn
 * a block waits until it is that block's turn to be joined. So neither the sums nor where it stops
 * depend on the number of threads. */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "estimate.h"
#include "jobs.h"
#include "tree.h"

enum {
    SIMULATED = 256, /* realisations in a block */
    WALKED = 4096,   /* the same where they are drawn from a tree */
    FIRST_CHECK = 4, /* blocks */
    MOST_LEAVES = 4096,
    MOST_DURATIONS = 1 << 17 /* in a tree; less than LBI_LONG squared, which counts on it */
};

typedef struct hand { /* of one thread */
    lbi_run run;
    double *durations;
    lbi_moments *block;
    uint32_t *counts; /* of the leaves, in one block */
} hand;

typedef struct sampling {
    lbi_job job;
    const lbi_estimate *estimate;
    uint64_t wanted; /* realisations, or the bound of them */
    bool until_good;
    uint64_t block_size;
    lbi_tree tree; /* without leaves: realisations are simulated */
    hand *hands;
    uint32_t hand_count;
    lbi_moments *total;
    pthread_mutex_t mutex;
    pthread_cond_t joined;
    uint64_t next_block, joined_blocks, last_block, next_check;
    uint64_t drawn; /* realisations joined */
} sampling;

static uint64_t size_of(const sampling *s, uint64_t block) {
    uint64_t before = block * s->block_size;
    return s->wanted - before < s->block_size ? s->wanted - before : s->block_size;
}

static bool is_good(const sampling *s) {
    double wanted = s->estimate->options->relative_error;
    for (size_t i = 0; i < s->estimate->count; i++) {
        lb_duration duration = lbi_moments_duration(&s->total[i], s->drawn, 0);
        if (duration.completion > 0 && !(duration.standard_error <= wanted * duration.mean))
            return false;
    }
    return true;
}

static uint64_t seed_of(const sampling *s, uint64_t k) {
    const lb_estimate_options *options = s->estimate->options;
    return lb_realisation_seed(options->seed, options->first_sample + k);
}

/* Equal realisations are counted first and then weighed once each, in the order of the leaves. */
static void walk_block(sampling *s, hand *h, uint64_t first, uint64_t size) {
    const lbi_tree *tree = &s->tree;
    memset(h->counts, 0, tree->leaf_count * sizeof *h->counts);
    for (uint64_t k = first; k < first + size; k++)
        h->counts[lbi_tree_draw(tree, seed_of(s, k))]++;
    for (size_t leaf = 0; leaf < tree->leaf_count; leaf++)
        if (h->counts[leaf] > 0)
            lbi_moments_add(h->block, tree->leaves + leaf * tree->processes + s->estimate->first,
                            s->estimate->count, h->counts[leaf]);
}

static bool draw_block(sampling *s, hand *h, uint64_t block) {
    size_t count = s->estimate->count;
    lbi_moments_clear(h->block, count);
    uint64_t first = block * s->block_size, size = size_of(s, block);
    if (s->tree.leaf_count > 0) {
        walk_block(s, h, first, size);
        return true;
    }
    for (uint64_t k = first; k < first + size; k++) {
        if (!lbi_run_all(&h->run, seed_of(s, k), h->durations, &s->job.cancelled) ||
            s->job.cancelled)
            return false;
        lbi_moments_add(h->block, h->durations + s->estimate->first, count, 1);
    }
    return true;
}

/* In turn, under the mutex. */
static void join_block(sampling *s, const hand *h, uint64_t block) {
    lbi_moments_join(s->total, h->block, s->estimate->count);
    s->drawn += size_of(s, block);
    s->joined_blocks++;
    if (s->until_good && s->joined_blocks == s->next_check) {
        s->next_check += s->next_check / 2;
        if (is_good(s))
            s->last_block = s->joined_blocks;
    }
}

static void draw(lbi_job *job, uint32_t thread) {
    sampling *s = (sampling *)job;
    hand *h = &s->hands[thread];
    pthread_mutex_lock(&s->mutex);
    while (s->next_block < s->last_block && !job->cancelled) {
        uint64_t block = s->next_block++;
        pthread_mutex_unlock(&s->mutex);
        bool drawn = draw_block(s, h, block);
        pthread_mutex_lock(&s->mutex);
        while (drawn && s->joined_blocks < block && block < s->last_block && !job->cancelled)
            pthread_cond_wait(&s->joined, &s->mutex);
        if (drawn && block < s->last_block && !job->cancelled)
            join_block(s, h, block);
        pthread_cond_broadcast(&s->joined);
    }
    pthread_mutex_unlock(&s->mutex);
}

static double fraction(lbi_job *job) {
    sampling *s = (sampling *)job;
    pthread_mutex_lock(&s->mutex);
    double done = (double)s->drawn / (double)s->wanted;
    pthread_cond_broadcast(&s->joined); /* whoever waits may have been cancelled */
    pthread_mutex_unlock(&s->mutex);
    return done;
}

static void free_hands(sampling *s) {
    for (uint32_t i = 0; s->hands != NULL && i < s->hand_count; i++) {
        lbi_run_free(&s->hands[i].run);
        free(s->hands[i].durations);
        free(s->hands[i].block);
        free(s->hands[i].counts);
    }
    free(s->hands);
    free(s->total);
    lbi_tree_free(&s->tree);
}

static lb_status make_hands(sampling *s, lb_error *err) {
    const lbi_estimate *estimate = s->estimate;
    s->total = lbi_array_new(estimate->count, sizeof *s->total);
    s->hands = lbi_array_new(s->job.threads, sizeof *s->hands);
    if (s->total == NULL || s->hands == NULL)
        return lbi_error_nomem(err, "an estimate");
    for (; s->hand_count < s->job.threads; s->hand_count++) {
        hand *h = &s->hands[s->hand_count];
        *h = (hand){0};
        lb_status status = lbi_run_new(&h->run, estimate->plan, err);
        if (status != LB_OK)
            return status;
        h->durations = lbi_array_new(estimate->plan->size, sizeof *h->durations);
        h->block = lbi_array_new(estimate->count, sizeof *h->block);
        if (h->durations == NULL || h->block == NULL) {
            s->hand_count++;
            return lbi_error_nomem(err, "an estimate");
        }
    }
    return LB_OK;
}

/* A tree where there will be many more realisations than it has leaves. */
static lb_status plant(sampling *s, lb_error *err) {
    const lbi_plan *plan = s->estimate->plan;
    if (!lbi_model_is_random(plan->model) || lbi_model_rotates(plan->model))
        return LB_OK;
    uint64_t limit = s->until_good ? 512 : s->wanted / 32;
    if (limit > MOST_LEAVES)
        limit = MOST_LEAVES;
    if (limit > MOST_DURATIONS / (plan->size + 1))
        limit = MOST_DURATIONS / (plan->size + 1);
    if (limit == 0)
        return LB_OK;
    lb_status status = lbi_tree_build(&s->tree, &s->hands[0].run, (size_t)limit, err);
    if (status == LB_ERR_LIMIT) {
        lbi_tree_free(&s->tree);
        return LB_OK;
    }
    for (uint32_t i = 0; status == LB_OK && i < s->hand_count; i++) {
        s->hands[i].counts = lbi_array_new(s->tree.leaf_count, sizeof *s->hands[i].counts);
        if (s->hands[i].counts == NULL)
            status = lbi_error_nomem(err, "an estimate");
    }
    return status;
}

lb_status lbi_estimate_by_sampling(const lbi_estimate *estimate, lb_error *err) {
    const lb_estimate_options *options = estimate->options;
    sampling s = {.estimate = estimate, .next_check = FIRST_CHECK};
    s.until_good = options->samples == 0;
    s.wanted = s.until_good ? options->max_samples : options->samples;
    s.job = (lbi_job){.run = draw,
                      .fraction = fraction,
                      .progress = options->progress,
                      .progress_user = options->progress_user,
                      .threads = options->threads};
    if (s.job.threads > s.wanted / SIMULATED + 1)
        s.job.threads = (uint32_t)(s.wanted / SIMULATED + 1);
    pthread_mutex_init(&s.mutex, NULL);
    pthread_cond_init(&s.joined, NULL);
    lb_status status = make_hands(&s, err);
    if (status == LB_OK)
        status = plant(&s, err);
    s.block_size = s.tree.leaf_count > 0 ? WALKED : SIMULATED;
    s.last_block = s.wanted / s.block_size + (s.wanted % s.block_size != 0);
    if (status == LB_OK) {
        lbi_moments_clear(s.total, estimate->count);
        status = lbi_job_run(&s.job, err);
    }
    for (size_t i = 0; status == LB_OK && i < estimate->count; i++)
        estimate->ret_durations[i] = lbi_moments_duration(&s.total[i], s.drawn, 0);
    free_hands(&s);
    pthread_cond_destroy(&s.joined);
    pthread_mutex_destroy(&s.mutex);
    return status;
}
