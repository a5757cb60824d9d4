/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that work while the calling thread reports progress. */
#ifndef LBI_MODEL_JOBS_H
#define LBI_MODEL_JOBS_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/error.h"

typedef struct lbi_job {
    void (*run)(struct lbi_job *job, uint32_t thread); /* called once on each thread */
    double (*fraction)(struct lbi_job *job);           /* how much is done; on the calling thread */
    lb_progress_fn progress;
    void *progress_user;
    uint32_t threads;
    atomic_bool cancelled; /* run() returns soon when this is set */
} lbi_job;

/* With one thread and nobody to report to, runs on the calling thread. */
lb_status lbi_job_run(lbi_job *job, lb_error *err);

#endif
