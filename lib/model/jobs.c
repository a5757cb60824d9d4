/* SPDX-License-Identifier: BSD-3-Clause */
#include "jobs.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "base/array.h"

typedef struct worker {
    pthread_t thread;
    uint32_t number;
    struct crew *crew;
} worker;

typedef struct crew {
    lbi_job *job;
    pthread_mutex_t mutex;
    pthread_cond_t finished;
    uint32_t running;
} crew;

static void *work(void *argument) {
    worker *self = argument;
    crew *c = self->crew;
    c->job->run(c->job, self->number);
    pthread_mutex_lock(&c->mutex);
    if (--c->running == 0)
        pthread_cond_signal(&c->finished);
    pthread_mutex_unlock(&c->mutex);
    return NULL;
}

static struct timespec soon(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    time.tv_nsec += 50 * 1000 * 1000;
    if (time.tv_nsec >= 1000 * 1000 * 1000) {
        time.tv_sec++;
        time.tv_nsec -= 1000 * 1000 * 1000;
    }
    return time;
}

static void watch(crew *c) {
    lbi_job *job = c->job;
    double reported = 0;
    pthread_mutex_lock(&c->mutex);
    while (c->running > 0) {
        struct timespec until = soon();
        pthread_cond_timedwait(&c->finished, &c->mutex, &until);
        pthread_mutex_unlock(&c->mutex);
        double fraction = job->fraction(job);
        if (fraction > reported)
            reported = fraction;
        if (!job->cancelled && job->progress(job->progress_user, reported) != 0)
            job->cancelled = true;
        pthread_mutex_lock(&c->mutex);
    }
    pthread_mutex_unlock(&c->mutex);
}

/* Starts the workers with all signals blocked: the caller's handlers run on the caller's threads.
 */
static int start(crew *c, worker *workers, uint32_t count, uint32_t *ret_started) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failure = 0;
    uint32_t started = 0;
    for (; started < count && failure == 0; started++) {
        workers[started] = (worker){.number = started, .crew = c};
        pthread_mutex_lock(&c->mutex);
        c->running++;
        pthread_mutex_unlock(&c->mutex);
        failure = pthread_create(&workers[started].thread, NULL, work, &workers[started]);
        if (failure != 0) {
            pthread_mutex_lock(&c->mutex);
            c->running--;
            pthread_mutex_unlock(&c->mutex);
            break;
        }
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    *ret_started = started;
    return failure;
}

static lb_status run_crew(lbi_job *job, worker *workers, lb_error *err) {
    crew c = {.job = job};
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&c.mutex, NULL);
    pthread_cond_init(&c.finished, &attributes);
    pthread_condattr_destroy(&attributes);

    /* Without a watch to keep the calling thread is the last worker. */
    bool watching = job->progress != NULL;
    uint32_t started;
    int failure = start(&c, workers, watching ? job->threads : job->threads - 1, &started);
    if (failure != 0)
        job->cancelled = true;
    else if (watching)
        watch(&c);
    else
        job->run(job, started);
    for (uint32_t i = 0; i < started; i++)
        pthread_join(workers[i].thread, NULL);

    pthread_cond_destroy(&c.finished);
    pthread_mutex_destroy(&c.mutex);
    if (failure != 0)
        return lbi_error_os(err, LB_ERR_SYSTEM, failure, "thread %u cannot be started",
                            (unsigned)started);
    if (job->cancelled)
        return lbi_error(err, LB_ERR_CANCELLED, "cancelled by the progress callback");
    return LB_OK;
}

lb_status lbi_job_run(lbi_job *job, lb_error *err) {
    job->cancelled = false;
    if (job->threads == 1 && job->progress == NULL) {
        job->run(job, 0);
        return LB_OK;
    }
    worker *workers = lbi_array_new(job->threads, sizeof *workers);
    if (workers == NULL)
        return lbi_error_nomem(err, "threads");
    lb_status status = run_crew(job, workers, err);
    free(workers);
    return status;
}
