/* SPDX-License-Identifier: BSD-3-Clause */
/* Estimates by sampling. Realisations are drawn in blocks of fixed size; whichever thread has drawn
 * a block waits until it is that block's turn to be joined. So neither the sums nor where it stops
 * depend on the number of threads. */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/array.h"
#include "estimate.h"
#include "jobs.h"

enum {
    BLOCK = 256,
    FIRST_CHECK = 4
};

typedef struct hand { /* of one thread */
    lbi_run run;
    double *durations;
    lbi_moments *block;
} hand;

typedef struct sampling {
    lbi_job job;
    const lbi_estimate *estimate;
    uint64_t wanted; /* realisations, or the bound of them */
    bool until_good;
    hand *hands;
    uint32_t hand_count;
    lbi_moments *total;
    pthread_mutex_t mutex;
    pthread_cond_t joined;
    uint64_t next_block, joined_blocks, last_block, next_check;
    uint64_t drawn; /* realisations joined */
} sampling;

static uint64_t block_size(const sampling *s, uint64_t block) {
    uint64_t before = block * BLOCK;
    return s->wanted - before < BLOCK ? s->wanted - before : BLOCK;
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

static bool draw_block(sampling *s, hand *h, uint64_t block) {
    const lb_estimate_options *options = s->estimate->options;
    size_t first = s->estimate->first, count = s->estimate->count;
    lbi_moments_clear(h->block, count);
    uint64_t size = block_size(s, block);
    for (uint64_t i = 0; i < size; i++) {
        uint64_t k = options->first_sample + block * BLOCK + i;
        uint64_t seed = lb_realisation_seed(options->seed, k);
        if (!lbi_run_all(&h->run, seed, h->durations, &s->job.cancelled) || s->job.cancelled)
            return false;
        lbi_moments_add(h->block, h->durations + first, count, 1);
    }
    return true;
}

/* In turn, under the mutex. */
static void join_block(sampling *s, const hand *h, uint64_t block) {
    lbi_moments_join(s->total, h->block, s->estimate->count);
    s->drawn += block_size(s, block);
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
    }
    free(s->hands);
    free(s->total);
}

static lb_status make_hands(sampling *s, lb_error *err) {
    const lbi_estimate *estimate = s->estimate;
    s->total = lbi_array_new(estimate->count, sizeof *s->total);
    s->hands = lbi_array_new(s->job.threads, sizeof *s->hands);
    if (s->total == NULL || s->hands == NULL)
        return lbi_error_nomem(err, "an estimate");
    for (; s->hand_count < s->job.threads; s->hand_count++) {
        hand *h = &s->hands[s->hand_count];
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

lb_status lbi_estimate_by_sampling(const lbi_estimate *estimate, lb_error *err) {
    const lb_estimate_options *options = estimate->options;
    sampling s = {.estimate = estimate, .next_check = FIRST_CHECK};
    s.until_good = options->samples == 0;
    s.wanted = s.until_good ? options->max_samples : options->samples;
    s.last_block = s.wanted / BLOCK + (s.wanted % BLOCK != 0);
    s.job = (lbi_job){.run = draw,
                      .fraction = fraction,
                      .progress = options->progress,
                      .progress_user = options->progress_user,
                      .threads = options->threads};
    if (s.job.threads > s.last_block)
        s.job.threads = (uint32_t)s.last_block;
    pthread_mutex_init(&s.mutex, NULL);
    pthread_cond_init(&s.joined, NULL);
    lb_status status = make_hands(&s, err);
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
