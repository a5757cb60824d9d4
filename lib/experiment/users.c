/* SPDX-License-Identifier: BSD-3-Clause */
/* Mixed users, after SDET, reaim and dbench: each is a process that does one job after the other,
 * of six kinds, in an order of its own. Async-signal-safe. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/random.h"
#include "experiment/bench.h"
#include "experiment/worker.h"
#include "experiment/works.h"

#define ARITHMETIC_ROUNDS UINT64_C(400000) /* some 0.5 ms */
#define MEMORY_BYTES ((size_t)1 << 20)
#define FILE_BYTES 16384
#define PIPE_BYTES 512
#define PIPE_WRITES 64
#define SLEEP_NS INT64_C(2000000)

typedef enum job {
    JOB_ARITHMETIC,
    JOB_MEMORY,
    JOB_PIPE,
    JOB_FILE,
    JOB_FORK,
    JOB_SLEEP
} job;

/* A round of each user: mostly computing, and one sleep, so that one user leaves a core idle now
 * and then. */
static const job mix[] = {JOB_ARITHMETIC, JOB_ARITHMETIC, JOB_ARITHMETIC, JOB_ARITHMETIC,
                          JOB_MEMORY,     JOB_MEMORY,     JOB_PIPE,       JOB_PIPE,
                          JOB_FILE,       JOB_FORK,       JOB_SLEEP};
enum {
    MIX = sizeof mix / sizeof *mix
};

typedef struct user {
    lbi_bench *bench;
    uint32_t index;
    char *memory;
    int pipe[2];
    char file[16];
    uint64_t value;
} user;

static bool do_pipe(user *u) {
    for (int i = 0; i < PIPE_WRITES; i++)
        if (write(u->pipe[1], u->memory, PIPE_BYTES) != PIPE_BYTES ||
            read(u->pipe[0], u->memory, PIPE_BYTES) != PIPE_BYTES)
            return false;
    return true;
}

static bool do_file(user *u) {
    return lbi_work_write(u->file, u->memory, FILE_BYTES) &&
           lbi_work_read(u->file, u->memory, FILE_BYTES) && unlink(u->file) == 0;
}

static bool do_fork(user *u) {
    int status;
    pid_t child = lbi_bench_fork(u->bench);
    if (child == 0)
        _exit(0);
    while (child > 0 && waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return false;
    return child > 0;
}

static bool do_job(user *u, job kind) {
    switch (kind) {
    case JOB_ARITHMETIC:
        u->value = lbi_arithmetic(u->value, ARITHMETIC_ROUNDS);
        return true;
    case JOB_MEMORY:
        memcpy(u->memory, u->memory + MEMORY_BYTES / 2, MEMORY_BYTES / 2);
        memset(u->memory + MEMORY_BYTES / 2, (int)u->value, MEMORY_BYTES / 2);
        return true;
    case JOB_PIPE:
        return do_pipe(u);
    case JOB_FILE:
        return do_file(u);
    case JOB_FORK:
        return do_fork(u);
    case JOB_SLEEP:
        lbi_sleep_until(lbi_now() + SLEEP_NS);
        return true;
    }
    return false;
}

static void name_file(char *text, uint32_t index) {
    for (size_t at = 0; at < 8; at++, index >>= 4)
        text[at] = "0123456789abcdef"[index & 15];
    text[8] = '\0';
}

static int live(lbi_bench *bench, uint32_t index) {
    user u = {.bench = bench, .index = index, .value = index};
    job deck[MIX];
    lbi_random random;
    memcpy(deck, mix, sizeof deck);
    lbi_random_seed(&random, index + 1);
    name_file(u.file, index);
    u.memory = lbi_work_memory(MEMORY_BYTES);
    if (u.memory == NULL || pipe2(u.pipe, O_CLOEXEC) != 0) {
        lbi_bench_fail(bench, LBI_FAULT_SYSTEM, errno, index, "make a user's pipe and memory");
        return 1;
    }
    lbi_bench_wait(bench);
    for (uint32_t done = 0; atomic_load(&bench->gate) == 1; done++) {
        uint32_t at = done % MIX, other = at + (uint32_t)lbi_random_below(&random, MIX - at);
        job next = deck[other];
        deck[other] = deck[at];
        deck[at] = next;
        if (!do_job(&u, next)) {
            lbi_bench_fail(bench, LBI_FAULT_SYSTEM, errno, index, "do a user's job");
            return 1;
        }
        atomic_fetch_add_explicit(&bench->tally[index].count, 1, memory_order_relaxed);
    }
    return 0;
}

void lbi_users(lbi_bench *bench) {
    uint32_t users = bench->task->size;
    for (uint32_t i = 0; i < users; i++) {
        pid_t process = lbi_bench_fork(bench);
        if (process == 0)
            _exit(live(bench, i));
        if (process < 0)
            return;
    }
    lbi_bench_count(bench, users);
    while (lbi_bench_reap(bench, 0)) {
    }
}
