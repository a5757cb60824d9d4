/* SPDX-License-Identifier: BSD-3-Clause */
/* The job batch, after kernbench: short-lived processes that fork, execute a program, read and
 * write files and compute, so many at a time; or a command of the user's. The master is what make
 * is there. Async-signal-safe. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/random.h"
#include "experiment/bench.h"
#include "experiment/worker.h"
#include "experiment/works.h"

#define ROUNDS UINT64_C(8000000) /* of arithmetic, in a job of mean length: some 10 ms */
#define FILE_BYTES 65536

/* ---- a job ---- */

/* "N.c" or "N.o" */
static void name_file(char *text, uint32_t index, char kind) {
    char digits[16];
    size_t n = 0, at = 0;
    do
        digits[n++] = (char)('0' + index % 10);
    while ((index /= 10) > 0);
    while (n > 0)
        text[at++] = digits[--n];
    text[at++] = '.';
    text[at++] = kind;
    text[at] = '\0';
}

static bool run_shell(lbi_bench *bench, char *source, char *object) {
    pid_t child = lbi_bench_fork(bench);
    if (child == 0) {
        char *const words[] = {"sh", "-c", "exec cat \"$0\" >\"$1\"", source, object, NULL};
        execve("/bin/sh", words, bench->task->environment);
        lbi_bench_fail(bench, LBI_FAULT_RUN, errno, 0, "/bin/sh");
        _exit(127);
    }
    int status;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return false;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* As a compiler does: reads and computes, has another program make a file, computes and writes. Of
 * the same length wherever and whenever job `index` runs: a half to one and a half times the mean.
 */
static int do_job(lbi_bench *bench, uint32_t index) {
    char source[16], object[16];
    name_file(source, index, 'c');
    name_file(object, index, 'o');
    uint64_t rounds = ROUNDS / 2 + lbi_mix(index) % ROUNDS;
    char *memory = lbi_work_memory(FILE_BYTES);
    if (memory == NULL || !lbi_work_write(source, memory, FILE_BYTES)) {
        lbi_bench_fail(bench, LBI_FAULT_SYSTEM, errno, index, "write a temporary file");
        return 1;
    }
    uint64_t value = lbi_arithmetic(index, rounds / 2);
    if (!run_shell(bench, source, object) || !lbi_work_read(object, memory, FILE_BYTES)) {
        lbi_bench_fail(bench, LBI_FAULT_SYSTEM, errno, index, "copy a file with /bin/sh and cat");
        return 1;
    }
    memory[0] = (char)lbi_arithmetic(value, rounds - rounds / 2);
    if (!lbi_work_write(object, memory, FILE_BYTES)) {
        lbi_bench_fail(bench, LBI_FAULT_SYSTEM, errno, index, "write a temporary file");
        return 1;
    }
    unlink(source);
    unlink(object);
    return 0;
}

static int do_command(lbi_bench *bench) {
    char *const *command = bench->task->command;
    execvpe(command[0], command, bench->task->environment);
    lbi_bench_fail(bench, LBI_FAULT_RUN, errno, 0, NULL);
    return 127;
}

/* ---- all jobs ---- */

/* Jobs that run, with when they began. */
typedef struct running {
    pid_t process;
    uint32_t index;
    int64_t begin_ns;
} running;

static bool start(lbi_bench *bench, uint32_t index, running *r) {
    int64_t now = lbi_now();
    pid_t process = lbi_bench_fork(bench);
    if (process == 0)
        _exit(bench->task->command != NULL ? do_command(bench) : do_job(bench, index));
    *r = (running){process, index, now};
    return process > 0;
}

static void note_end(lbi_bench *bench, const running *r, int status) {
    if (WIFEXITED(status) && WEXITSTATUS(status) != 0)
        lbi_bench_fail(bench, LBI_FAULT_EXITED, WEXITSTATUS(status), r->index, NULL);
    if (WIFSIGNALED(status))
        lbi_bench_fail(bench, LBI_FAULT_KILLED, WTERMSIG(status), r->index, NULL);
    double seconds = 1e-9 * (double)(lbi_now() - r->begin_ns);
    bench->job_s += seconds;
    bench->longest_job_s = seconds > bench->longest_job_s ? seconds : bench->longest_job_s;
    bench->count++;
    atomic_store(&bench->tally[0].count, bench->count);
}

/* Waits for one of them, which `last` then takes the place of. */
static bool await_one(lbi_bench *bench, running *list, uint32_t n) {
    int status;
    pid_t process;
    while ((process = waitpid(-1, &status, 0)) < 0)
        if (errno != EINTR)
            return false;
    for (uint32_t i = 0; i < n; i++)
        if (list[i].process == process) {
            note_end(bench, &list[i], status);
            list[i] = list[n - 1];
            return true;
        }
    return false;
}

void lbi_batch(lbi_bench *bench) {
    uint32_t jobs = bench->task->jobs, started = 0, n = 0;
    uint32_t most = bench->task->size == 0 || bench->task->size > jobs ? jobs : bench->task->size;
    running *list = (running *)(void *)lbi_work_memory(most * sizeof *list);
    if (list == NULL) {
        lbi_bench_fail(bench, LBI_FAULT_SYSTEM, errno, 0, "have memory for jobs");
        return;
    }
    bench->begin_ns = lbi_now();
    while ((started < jobs || n > 0) && atomic_load(&bench->fault.kind) == LBI_FAULT_NONE) {
        if (started < jobs && n < most) {
            if (start(bench, started++, &list[n]))
                n++;
        } else if (await_one(bench, list, n)) {
            n--;
        }
    }
    bench->end_ns = lbi_now();
}
