/* SPDX-License-Identifier: BSD-3-Clause */
/* Linux. */
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "experiment/system.h"

#define SECOND INT64_C(1000000000)

/* ---- time ---- */

static int64_t read_clock(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return time.tv_sec * SECOND + time.tv_nsec;
}

int64_t lbi_now(void) {
    return read_clock(CLOCK_MONOTONIC);
}

int64_t lbi_thread_cpu(void) {
    return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

int lbi_cpu_of(pid_t worker, bool thread, int64_t *ret_ns) {
    clockid_t clock;
    /* A thread that is known by its number alone: as glibc makes it of a pthread_t. */
    int error = 0;
    if (thread)
        clock = (clockid_t)(~(unsigned)worker << 3 | 6u);
    else
        error = clock_getcpuclockid(worker, &clock);
    struct timespec time;
    if (error == 0 && clock_gettime(clock, &time) != 0)
        error = thread && errno == EINVAL ? ESRCH : errno;
    if (error == 0)
        *ret_ns = time.tv_sec * SECOND + time.tv_nsec;
    return error;
}

void lbi_sleep_until(int64_t time_ns) {
    struct timespec time = {.tv_sec = time_ns / SECOND, .tv_nsec = time_ns % SECOND};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
}

/* ---- scheduling class ---- */

int lbi_class_get(lbi_class *ret_class) {
    struct sched_param param;
    int policy = sched_getscheduler(0);
    if (policy < 0 || sched_getparam(0, &param) != 0)
        return errno;
    errno = 0;
    int nice = getpriority(PRIO_PROCESS, 0);
    if (errno != 0)
        return errno;
    int class_ = policy & ~SCHED_RESET_ON_FORK;
    *ret_class = (lbi_class){
        .policy = policy,
        .priority = param.sched_priority,
        .nice = nice,
        .real_time = class_ == SCHED_RR || class_ == SCHED_FIFO,
    };
    return 0;
}

/* As linux/sched/types.h has it, which is not there everywhere. */
typedef struct attributes {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
} attributes;

/* A time slice of 0 is the system's own. */
static int set_attributes(const lbi_class *class_, bool reset_on_fork, uint64_t slice_ns) {
    attributes wanted = {
        .size = sizeof wanted,
        .policy = (uint32_t)(class_->policy & ~SCHED_RESET_ON_FORK),
        .flags = reset_on_fork ? 1 : 0,
        .nice = class_->nice,
        .priority = (uint32_t)class_->priority,
        .runtime = slice_ns,
    };
    return syscall(SYS_sched_setattr, 0, &wanted, 0u) == 0 ? 0 : errno;
}

static bool resets_on_fork(const lbi_class *class_) {
    return (class_->policy & SCHED_RESET_ON_FORK) != 0;
}

int lbi_class_set(const lbi_class *class_) {
    return set_attributes(class_, false, 0);
}

lbi_class lbi_class_chosen(const lb_experiment_options *options, const lbi_class *caller) {
    static const int policies[] = {[LB_SCHEDULING_OTHER] = SCHED_OTHER,
                                   [LB_SCHEDULING_BATCH] = SCHED_BATCH,
                                   [LB_SCHEDULING_IDLE] = SCHED_IDLE,
                                   [LB_SCHEDULING_RR] = SCHED_RR,
                                   [LB_SCHEDULING_FIFO] = SCHED_FIFO};
    if (options->scheduling == LB_SCHEDULING_INHERIT)
        return *caller;
    return (lbi_class){
        .policy = policies[options->scheduling],
        .priority = options->priority,
        .nice = options->nice,
        .real_time = options->priority > 0,
    };
}

bool lbi_class_weigh(lbi_class *class_, double weight) {
    for (int nice = -20; nice < 20; nice++)
        if (fabs(lb_nice_weight(nice) / weight - 1) < 0.01) {
            class_->nice = nice;
            return true;
        }
    if (fabs(LB_WEIGHT_IDLE / weight - 1) > 0.01)
        return false;
    class_->policy = SCHED_IDLE;
    return true;
}

void lbi_class_raise(const lbi_class *caller, const lbi_class *workers) {
    lbi_class raised = *caller;
    if (!workers->real_time && caller->real_time)
        return;
    raised.policy = workers->real_time ? workers->policy : SCHED_FIFO;
    raised.priority = workers->real_time ? workers->priority + 1 : 1;
    if (set_attributes(&raised, resets_on_fork(caller), 0) != 0 && !caller->real_time)
        set_attributes(caller, resets_on_fork(caller), 100000);
}

void lbi_class_restore(const lbi_class *caller) {
    set_attributes(caller, resets_on_fork(caller), 0);
}

const char *lbi_class_name(const lbi_class *class_) {
    switch (class_->policy & ~SCHED_RESET_ON_FORK) {
    case SCHED_OTHER:
        return "SCHED_OTHER";
    case SCHED_FIFO:
        return "SCHED_FIFO";
    case SCHED_RR:
        return "SCHED_RR";
    case SCHED_BATCH:
        return "SCHED_BATCH";
    case SCHED_IDLE:
        return "SCHED_IDLE";
    case SCHED_DEADLINE:
        return "SCHED_DEADLINE";
    case 7: /* SCHED_EXT, which Debian 12's headers do not name */
        return "SCHED_EXT";
    }
    return "unknown";
}

bool lbi_class_inherits(const lbi_class *class_) {
    return (class_->policy & ~SCHED_RESET_ON_FORK) != SCHED_DEADLINE;
}

bool lbi_class_shares(const lbi_class *class_) {
    int policy = class_->policy & ~SCHED_RESET_ON_FORK;
    return policy != SCHED_DEADLINE && policy != SCHED_FIFO;
}

int64_t lbi_class_slice(void) {
    struct timespec slice;
    if (sched_rr_get_interval(0, &slice) != 0)
        return 0;
    return slice.tv_sec * SECOND + slice.tv_nsec;
}

/* ---- cores ---- */

int lbi_cpu(void) {
    return sched_getcpu();
}

#define WORD_BITS (sizeof(unsigned long) * CHAR_BIT)

lbi_mask lbi_mask_new(const lb_host *host) {
    lbi_mask mask = {.words = host->cpus[host->cores - 1] / WORD_BITS + 1};
    mask.bits = calloc(mask.words, sizeof *mask.bits);
    return mask;
}

void lbi_mask_free(lbi_mask *mask) {
    free(mask->bits);
    *mask = (lbi_mask){0};
}

int lbi_bind(pid_t process, const lb_host *host, uint32_t core, lbi_mask *mask) {
    memset(mask->bits, 0, mask->words * sizeof *mask->bits);
    for (uint32_t c = 0; c < host->cores; c++)
        if (core == UINT32_MAX || c == core)
            mask->bits[host->cpus[c] / WORD_BITS] |= 1ul << host->cpus[c] % WORD_BITS;
    /* Not the wrapper: its cpu_set_t ends at 1024 CPUs. */
    return syscall(SYS_sched_setaffinity, process, mask->words * sizeof *mask->bits, mask->bits) ==
                   0
               ? 0
               : errno;
}

/* ---- processes ---- */

int lbi_spawn(pid_t *ret_process) {
    sigset_t all, before;
    sigfillset(&all);
    int error = pthread_sigmask(SIG_SETMASK, &all, &before);
    if (error != 0)
        return error;
    /* clone() with no flags at all is a fork without an exit signal: the caller's handler of
     * SIGCHLD does not run, its wait() for any child does not find the worker, and where it
     * ignores SIGCHLD the worker can still be reaped. The handlers of pthread_atfork() do not run
     * either, which is as it should be: the child calls nothing that they protect. */
    long process = syscall(SYS_clone, 0L, 0L, 0L, 0L, 0L);
    error = process < 0 ? errno : 0;
    if (process != 0)
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    *ret_process = (pid_t)process;
    return error;
}

void lbi_die_with(pid_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    prctl(PR_SET_NAME, "lbsched-worker");
}

void lbi_disinherit(void) {
#ifdef SYS_close_range
    syscall(SYS_close_range, 0u, ~0u, 0u);
#endif
}

int lbi_thread_start(pthread_t *ret_thread, void *(*life)(void *), void *argument) {
    sigset_t all, before;
    pthread_attr_t small;
    sigfillset(&all);
    int error = pthread_attr_init(&small);
    if (error != 0)
        return error;
    /* Thousands of threads need little each. A program with many thread-local variables may need
     * more than this: then the default. */
    pthread_attr_setstacksize(&small, 64 * 1024);
    error = pthread_sigmask(SIG_SETMASK, &all, &before);
    if (error == 0) {
        error = pthread_create(ret_thread, &small, life, argument);
        if (error == EINVAL)
            error = pthread_create(ret_thread, NULL, life, argument);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    pthread_attr_destroy(&small);
    return error;
}

pid_t lbi_thread_number(void) {
    prctl(PR_SET_NAME, "lbsched-worker");
    return (pid_t)syscall(SYS_gettid);
}

static int64_t nanoseconds(struct timeval time) {
    return time.tv_sec * SECOND + time.tv_usec * INT64_C(1000);
}

lbi_fate lbi_fate_of(pid_t process, int *ret_detail, int64_t *ret_cpu_ns) {
    int status;
    struct rusage usage;
    pid_t found;
    do
        found = wait4(process, &status, WNOHANG | WUNTRACED | __WALL, &usage);
    while (found < 0 && errno == EINTR);
    if (found == 0)
        return LBI_FATE_RUNS;
    if (found < 0)
        return LBI_FATE_LOST;
    if (WIFSTOPPED(status)) {
        *ret_detail = WSTOPSIG(status);
        return LBI_FATE_STOPPED;
    }
    *ret_cpu_ns = nanoseconds(usage.ru_utime) + nanoseconds(usage.ru_stime);
    if (WIFSIGNALED(status)) {
        *ret_detail = WTERMSIG(status);
        return LBI_FATE_KILLED;
    }
    *ret_detail = WEXITSTATUS(status);
    return LBI_FATE_EXITED;
}

void lbi_kill(pid_t process) {
    kill(process, SIGKILL);
}

void lbi_stop(pid_t process) {
    kill(process, SIGSTOP);
}

void lbi_continue(pid_t process) {
    kill(process, SIGCONT);
}

void lbi_reap(pid_t process) {
    while (waitpid(process, NULL, __WALL) < 0 && errno == EINTR) {
    }
}

/* ---- shared memory ---- */

void *lbi_share(size_t bytes) {
    /* Pages that are never touched cost nothing. */
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

void lbi_unshare(void *memory, size_t bytes) {
    munmap(memory, bytes);
}

void lbi_word_wait_until(_Atomic uint32_t *word, uint32_t value, int64_t time_ns) {
    struct timespec time = {.tv_sec = time_ns / SECOND, .tv_nsec = time_ns % SECOND};
    /* With a bit set the time is a moment of CLOCK_MONOTONIC, not a span. */
    syscall(SYS_futex, word, FUTEX_WAIT_BITSET, value, time_ns == INT64_MAX ? NULL : &time, NULL,
            FUTEX_BITSET_MATCH_ANY);
}

void lbi_word_wake(_Atomic uint32_t *word) {
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* ---- the machine ---- */

/* The ticks of user, nice, system, irq, softirq and steal; guest time is in user and nice. */
static uint64_t busy_ticks(const char *numbers) {
    uint64_t sum = 0;
    char *end;
    for (int column = 0; column < 8; column++) {
        uint64_t ticks = strtoull(numbers, &end, 10);
        if (end == numbers)
            break;
        if (column != 3 && column != 4) /* idle, iowait */
            sum += ticks;
        numbers = end;
    }
    return sum;
}

int lbi_busy(const lb_host *host, int64_t *ret_ns) {
    FILE *file = fopen("/proc/stat", "re");
    if (file == NULL)
        return errno;
    uint64_t ticks = 0;
    uint32_t found = 0;
    char line[512];
    while (fgets(line, sizeof line, file) != NULL && strncmp(line, "cpu", 3) == 0) {
        char *end;
        unsigned long cpu = strtoul(line + 3, &end, 10);
        if (end == line + 3 || lbi_host_core(host, (int64_t)cpu) < 0)
            continue;
        ticks += busy_ticks(end);
        found++;
    }
    fclose(file);
    if (found < host->cores)
        return ENODATA;
    *ret_ns = (int64_t)(ticks * (uint64_t)(SECOND / sysconf(_SC_CLK_TCK)));
    return 0;
}

void lbi_kernel(char *ret_text, size_t size) {
    struct utsname name;
    if (uname(&name) == 0)
        lbi_snprintf(ret_text, size, "%s %s", name.sysname, name.release);
    else
        lbi_snprintf(ret_text, size, "unknown");
}
