/* SPDX-License-Identifier: BSD-3-Clause */
#include "meter.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#define PERIOD_NS INT64_C(5000000)
#define SECOND_NS INT64_C(1000000000)
/* Later than that, it was the machine: this thread has nobody before it. */
#define LATE_NS INT64_C(300000)
#define PRIORITY 20 /* before workers and controllers */

static atomic_llong away_ns;
static int cores;

/* Not by a call that tests let fail (calls.c). */
static int64_t now(void) {
    struct timespec time;
    timespec_get(&time, TIME_UTC);
    return time.tv_sec * SECOND_NS + time.tv_nsec;
}

static void *watch(void *unused) {
    (void)unused;
    for (;;) {
        const struct timespec pause = {.tv_nsec = PERIOD_NS};
        int64_t begin = now();
        nanosleep(&pause, NULL);
        int64_t late = now() - begin - PERIOD_NS;
        if (late > LATE_NS)
            atomic_fetch_add(&away_ns, late);
    }
    return NULL;
}

static bool start(int cpu) {
    pthread_t thread;
    pthread_attr_t attributes;
    cpu_set_t one;
    struct sched_param param = {.sched_priority = PRIORITY};
    CPU_ZERO(&one);
    CPU_SET((unsigned)cpu, &one);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setaffinity_np(&attributes, sizeof one, &one);
    pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
    pthread_attr_setschedpolicy(&attributes, SCHED_FIFO);
    pthread_attr_setschedparam(&attributes, &param);
    bool started = pthread_create(&thread, &attributes, watch, NULL) == 0;
    pthread_attr_destroy(&attributes);
    return started;
}

void meter_begin(void) {
    cpu_set_t allowed;
    sigset_t all, before;
    if (cores > 0 || sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return;
    /* Signals are for who is tested. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    cores = CPU_COUNT(&allowed);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET((unsigned)cpu, &allowed) && !start(cpu))
            break;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

double meter_away(void) {
    return 1e-9 * (double)atomic_load(&away_ns);
}

double meter_since(double away, double time) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    double all = ((double)until.tv_sec + 1e-9 * (double)until.tv_nsec - time) * cores;
    return all > 0 ? (meter_away() - away) / all : 0;
}
