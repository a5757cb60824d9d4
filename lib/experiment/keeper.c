/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeper and master: everything here runs between fork and exit of a process that may have had
 * threads, and calls async-signal-safe functions only. */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "experiment/bench.h"
#include "experiment/scratch.h"

#define MILLISECOND INT64_C(1000000)
#define PATIENCE_NS (2000 * MILLISECOND) /* for processes to die */

/* ---- faults ---- */

void lbi_bench_fail(lbi_bench *bench, lbi_fault_kind kind, int error, uint32_t index,
                    const char *what) {
    uint32_t none = LBI_FAULT_NONE;
    if (!atomic_compare_exchange_strong(&bench->fault.kind, &none, kind))
        return;
    bench->fault.error = error;
    bench->fault.index = index;
    bench->fault.what = what;
    atomic_store(&bench->fault.ready, 1);
}

/* ---- processes ---- */

/* A fork that runs no handlers of pthread_atfork(). */
static pid_t fork_quietly(void) {
    return (pid_t)syscall(SYS_clone, (long)SIGCHLD, 0L, 0L, 0L, 0L);
}

pid_t lbi_bench_fork(lbi_bench *bench) {
    pid_t parent = getpid(), child = fork_quietly();
    if (child < 0)
        lbi_bench_fail(bench, LBI_FAULT_SYSTEM, errno, 0, "make a process");
    if (child != 0)
        return child;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    return 0;
}

bool lbi_bench_reap(lbi_bench *bench, uint32_t index) {
    int status;
    pid_t child;
    do
        child = waitpid(-1, &status, 0);
    while (child < 0 && errno == EINTR);
    if (child < 0)
        return false;
    if (WIFEXITED(status) && WEXITSTATUS(status) != 0)
        lbi_bench_fail(bench, LBI_FAULT_EXITED, WEXITSTATUS(status), index, NULL);
    if (WIFSIGNALED(status))
        lbi_bench_fail(bench, LBI_FAULT_KILLED, WTERMSIG(status), index, NULL);
    return true;
}

void lbi_bench_wait(lbi_bench *bench) {
    atomic_fetch_add(&bench->ready, 1);
    lbi_word_wake(&bench->ready);
    while (atomic_load(&bench->gate) == 0)
        lbi_word_wait_until(&bench->gate, 0, INT64_MAX);
}

static uint64_t sum_counts(const lbi_bench *bench) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < bench->tallies; i++)
        sum += atomic_load_explicit(&bench->tally[i].count, memory_order_relaxed);
    return sum;
}

static bool failed(const lbi_bench *bench) {
    return atomic_load(&bench->fault.kind) != LBI_FAULT_NONE;
}

void lbi_bench_count(lbi_bench *bench, uint32_t processes) {
    uint32_t ready;
    while ((ready = atomic_load(&bench->ready)) < processes && !failed(bench))
        lbi_word_wait_until(&bench->ready, ready, lbi_now() + 100 * MILLISECOND);
    uint64_t before = sum_counts(bench);
    bench->begin_ns = lbi_now();
    atomic_store(&bench->gate, 1);
    lbi_word_wake(&bench->gate);
    while (lbi_now() < bench->begin_ns + bench->task->window_ns && !failed(bench))
        lbi_sleep_until(bench->begin_ns + bench->task->window_ns);
    /* However late this process comes to run: what was counted belongs to the time until now. */
    bench->count = sum_counts(bench) - before;
    bench->end_ns = lbi_now();
    atomic_store(&bench->gate, 2);
    lbi_word_wake(&bench->gate);
}

/* ---- the master ---- */

/* How often it and its descendants change cores, from now on. They cannot all be asked, as most
 * are gone soon. Refused to many who are not root. */
static int count_migrations(void) {
    struct perf_event_attr attributes = {
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof attributes,
        .config = PERF_COUNT_SW_CPU_MIGRATIONS,
        .inherit = 1,
    };
    return (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static int master(lbi_bench *bench) {
    const lbi_task *task = bench->task;
    prctl(PR_SET_NAME, "lbsched-master");
    int error = lbi_class_set(&task->class_);
    if (error != 0) {
        lbi_bench_fail(bench, LBI_FAULT_CLASS, error, 0, NULL);
        return 1;
    }
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    int migrations = count_migrations();
    if (task->command == NULL && chdir(task->scratch) != 0) {
        lbi_bench_fail(bench, LBI_FAULT_SYSTEM, errno, 0, "enter the temporary folder");
        return 1;
    }
    static void (*const works[])(lbi_bench *) = {lbi_batch, lbi_users, lbi_messages};
    works[task->workload](bench);
    int64_t count;
    if (migrations >= 0 && read(migrations, &count, sizeof count) == (ssize_t)sizeof count)
        bench->migrations = count;
    return 0;
}

/* ---- the keeper ---- */

/* Wants the cores all the time. */
static void compete(lbi_bench *bench, uint32_t index) {
    prctl(PR_SET_NAME, "lbsched-other");
    int error = lbi_class_set(&bench->task->competitor_class);
    if (error != 0) {
        lbi_bench_fail(bench, LBI_FAULT_CLASS, error, index + 1, NULL);
        _exit(1);
    }
    for (volatile uint64_t value = 0;;)
        value = value * 3 + 1;
}

/* What the caller ignores or handles must not matter to the work. */
static void reset_signals(void) {
    struct sigaction action = {.sa_handler = SIG_DFL};
    for (int signal_number = 1; signal_number < NSIG; signal_number++)
        sigaction(signal_number, &action, NULL);
}

static bool set_up(lbi_bench *bench, int output) {
    reset_signals();
    setpgid(0, 0);
    /* So it can end the others first when the controller is gone. */
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != bench->controller)
        return false;
    prctl(PR_SET_NAME, "lbsched-keeper");
    prctl(PR_SET_CHILD_SUBREAPER, 1L, 0L, 0L, 0L);
    /* First out of the way of what it is to become. */
    int kept = fcntl(output, F_DUPFD, 3), null = open("/dev/null", O_RDWR);
    if (kept < 0 || null < 0 || dup2(null, 0) < 0 || dup2(kept, 1) < 0 || dup2(kept, 2) < 0) {
        lbi_bench_fail(bench, LBI_FAULT_SYSTEM, errno, 0, "open /dev/null");
        return false;
    }
#ifdef SYS_close_range
    syscall(SYS_close_range, 3u, ~0u, 0u);
#endif
    const lbi_mask *mask = bench->task->mask;
    if (syscall(SYS_sched_setaffinity, 0, mask->words * sizeof *mask->bits, mask->bits) < 0) {
        lbi_bench_fail(bench, LBI_FAULT_SYSTEM, errno, 0, "bind the work to its cores");
        return false;
    }
    return true;
}

static void record(lbi_bench *bench, const struct rusage *usage, int status) {
    bench->user_ns = usage->ru_utime.tv_sec * INT64_C(1000000000) + usage->ru_utime.tv_usec * 1000;
    bench->system_ns =
        usage->ru_stime.tv_sec * INT64_C(1000000000) + usage->ru_stime.tv_usec * 1000;
    bench->switches = usage->ru_nvcsw;
    bench->preemptions = usage->ru_nivcsw;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        lbi_bench_fail(bench, WIFSIGNALED(status) ? LBI_FAULT_KILLED : LBI_FAULT_EXITED,
                       WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), UINT32_MAX,
                       NULL);
    atomic_store(&bench->done, 1);
}

/* Reaps what has ended. False: there are no children any more. */
static bool reap_all(lbi_bench *bench) {
    for (;;) {
        int status;
        struct rusage usage;
        pid_t child = wait4(-1, &status, WNOHANG, &usage);
        if (child == 0)
            return true;
        if (child < 0 && errno != EINTR)
            return false;
        if (child > 0 && child == atomic_load(&bench->master))
            record(bench, &usage, status);
    }
}

/* Of the numbers in a text, each that is complete. */
static void kill_listed(const char *text, ssize_t length) {
    pid_t process = 0;
    for (ssize_t i = 0; i < length; i++) {
        if (text[i] >= '0' && text[i] <= '9') {
            process = process * 10 + (text[i] - '0');
            continue;
        }
        if (process > 0)
            kill(process, SIGKILL);
        process = 0;
    }
}

/* Orphans that left the master's process group have come to the keeper. Where the kernel does not
 * list children (CONFIG_PROC_CHILDREN) these live on. */
static void kill_children(void) {
    char text[4096] = "/proc/self/task/";
    char digits[16];
    size_t at = strlen(text), n = 0;
    for (pid_t self = getpid(); self > 0; self /= 10)
        digits[n++] = (char)('0' + self % 10);
    while (n > 0)
        text[at++] = digits[--n];
    memcpy(text + at, "/children", sizeof "/children");
    int file = open(text, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return;
    ssize_t got = read(file, text, sizeof text);
    close(file);
    kill_listed(text, got);
}

static void end_all(lbi_bench *bench) {
    struct timespec soon = {.tv_nsec = 2 * MILLISECOND};
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    int64_t until = lbi_now() + PATIENCE_NS;
    while (lbi_now() < until) {
        pid_t group = atomic_load(&bench->master);
        if (group > 0)
            kill(-group, SIGKILL);
        kill_children();
        if (!reap_all(bench))
            return;
        sigtimedwait(&child, NULL, &soon);
    }
}

/* Waits for the end of the work, of the time, or the wish that it ends. */
static void watch(lbi_bench *bench) {
    sigset_t awaited;
    sigemptyset(&awaited);
    sigaddset(&awaited, SIGCHLD);
    sigaddset(&awaited, SIGTERM);
    while (reap_all(bench) && atomic_load(&bench->done) == 0) {
        int64_t left = bench->limit_ns - lbi_now();
        struct timespec time = {.tv_sec = left / INT64_C(1000000000),
                                .tv_nsec = left % INT64_C(1000000000)};
        if (left <= 0 || sigtimedwait(&awaited, NULL, &time) == SIGTERM)
            return;
    }
}

int lbi_keeper(lbi_bench *bench, int output) {
    if (set_up(bench, output)) {
        for (uint32_t i = 0; i < bench->task->competitors; i++)
            if (lbi_bench_fork(bench) == 0)
                compete(bench, i);
        pid_t process = lbi_bench_fork(bench);
        if (process == 0) {
            setpgid(0, 0);
            _exit(master(bench));
        }
        if (process > 0) {
            setpgid(process, process);
            atomic_store(&bench->master, process);
            watch(bench);
        }
    }
    end_all(bench);
    lbi_scratch_remove(bench->task->scratch);
    return 0;
}
