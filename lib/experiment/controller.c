/* SPDX-License-Identifier: BSD-3-Clause */
#include "experiment/controller.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/text.h"
#include "experiment/files.h"
#include "experiment/messages.h"
#include "experiment/scratch.h"
#include "experiment/waiting.h"

#define MILLISECOND INT64_C(1000000)
#define LOOK_NS (50 * MILLISECOND)
#define PATIENCE_NS (5000 * MILLISECOND) /* for the keeper to end all */
#define KEPT 160                         /* bytes of a command's output */

typedef struct controller {
    const lbi_task *task;
    const lbi_run_options *options;
    lbi_bench *bench;
    int output; /* what a command writes; ends when nobody is left who could */
    pid_t keeper;
    bool alive; /* the keeper is not reaped yet */
    lbi_class caller;
    lbi_waiting waiting;
    lbi_monitor monitor;
    int64_t begin_ns, look_ns, busy_ns, own_ns, keeper_ns;
    uint64_t written;
    char said[KEPT + 1]; /* the last of it */
    size_t said_length;
} controller;

uint32_t lbi_task_tallies(const lbi_task *task) {
    if (task->workload == LB_THROUGHPUT_BATCH)
        return 1;
    return task->workload == LB_THROUGHPUT_USERS ? task->size : task->size * LBI_MEMBERS;
}

/* ---- beginning and ending ---- */

static lb_status share(controller *c, lb_error *err) {
    uint32_t tallies = lbi_task_tallies(c->task);
    size_t bytes = sizeof(lbi_bench) + tallies * sizeof(lbi_tally);
    lbi_bench *bench = lbi_share(bytes);
    if (bench == NULL)
        return lbi_error(err, LB_ERR_NOMEM, "no memory for what the processes count (%zu bytes)",
                         bytes);
    bench->bytes = bytes;
    bench->task = c->task;
    bench->controller = getpid();
    /* The controller's limit comes first, but it may be stopped. */
    bench->limit_ns = c->options->limit_ns + PATIENCE_NS;
    bench->migrations = -1;
    bench->tallies = tallies;
    c->bench = bench;
    return LB_OK;
}

static lb_status spawn(controller *c, lb_error *err) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return lbi_error_os(err, LB_ERR_SYSTEM, errno, "cannot open a pipe");
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    c->output = ends[0];
    /* Before there are real-time processes, among which it would starve. */
    lbi_class_raise(&c->caller, &c->task->class_);
    int error = lbi_spawn(&c->keeper);
    if (error == 0 && c->keeper == 0)
        _exit(lbi_keeper(c->bench, ends[1]));
    close(ends[1]);
    if (error != 0)
        return lbi_error_os(err, error == ENOMEM ? LB_ERR_NOMEM : LB_ERR_SYSTEM, error,
                            "cannot make a process");
    c->alive = true;
    return LB_OK;
}

/* The keeper ends all others, and then itself; if it does not, all there is to be found goes. */
static void end_keeper(controller *c) {
    int detail;
    int64_t until = lbi_now() + PATIENCE_NS;
    kill(c->keeper, SIGTERM);
    while (c->alive && lbi_now() < until) {
        c->alive = lbi_fate_of(c->keeper, &detail, &c->keeper_ns) < LBI_FATE_KILLED;
        if (c->alive)
            lbi_sleep_until(lbi_now() + MILLISECOND);
    }
    pid_t master = atomic_load(&c->bench->master);
    if (master > 0)
        kill(-master, SIGKILL);
    if (c->alive) {
        lbi_kill(c->keeper);
        lbi_reap(c->keeper);
        c->alive = false;
    }
}

/* ---- what went wrong ---- */

static void add_command(const lbi_task *task, lbi_text *text) {
    for (size_t i = 0; task->command[i] != NULL; i++) {
        lbi_text_string(text, i == 0 ? "" : " ");
        lbi_text_foreign(text, task->command[i], strlen(task->command[i]));
    }
}

static void add_said(const controller *c, lbi_text *text) {
    if (c->said_length == 0)
        return;
    lbi_text_string(text, "; it wrote: ");
    size_t end = c->said_length;
    while (end > 0 && c->said[end - 1] == '\n')
        end--;
    size_t from = end > 64 ? end - 64 : 0;
    lbi_text_foreign(text, c->said + from, end - from);
}

/* Which part of the work it was. */
static void add_job(const controller *c, lbi_text *text) {
    if (c->task->command != NULL) {
        lbi_text_string(text, "the command ");
        add_command(c->task, text);
        if (c->bench->fault.index != UINT32_MAX)
            lbi_text_printf(text, " (run %u)", (unsigned)c->bench->fault.index);
    } else {
        lbi_text_string(text, "a process of the workload");
    }
}

static void describe(const controller *c, lbi_text *text) {
    const lbi_fault *f = &c->bench->fault;
    switch ((lbi_fault_kind)atomic_load(&f->kind)) {
    case LBI_FAULT_SYSTEM:
        lbi_text_printf(text, "a process of the workload cannot %s", f->what);
        return;
    case LBI_FAULT_CLASS:
        lbi_text_printf(
            text, "the %s refused its scheduling class (%s)",
            f->index == 0 ? "workload was" : "competitors were",
            lbi_class_name(f->index == 0 ? &c->task->class_ : &c->task->competitor_class));
        return;
    case LBI_FAULT_RUN:
        lbi_text_string(text, "cannot run ");
        if (f->what != NULL)
            lbi_text_string(text, f->what);
        else
            add_command(c->task, text);
        return;
    case LBI_FAULT_EXITED:
        add_job(c, text);
        lbi_text_printf(text, " exited with status %d", f->error);
        add_said(c, text);
        return;
    case LBI_FAULT_KILLED:
        add_job(c, text);
        lbi_text_printf(text, " was killed by signal %d", f->error);
        add_said(c, text);
        return;
    case LBI_FAULT_NONE:
        break;
    }
    lbi_text_string(text, "the workload ended early");
}

static lb_status status_of(const lbi_fault *f) {
    bool refused = f->error == EPERM || f->error == EACCES;
    switch ((lbi_fault_kind)atomic_load(&f->kind)) {
    case LBI_FAULT_SYSTEM:
        return f->error == ENOMEM ? LB_ERR_NOMEM : LB_ERR_SYSTEM;
    case LBI_FAULT_CLASS:
        return refused ? LB_ERR_PERMISSION : LB_ERR_SYSTEM;
    case LBI_FAULT_RUN:
        return LB_ERR_SYSTEM;
    case LBI_FAULT_EXITED:
    case LBI_FAULT_KILLED:
    case LBI_FAULT_NONE:
        break;
    }
    return LB_ERR_WORKER;
}

static lb_status tell_fault(const controller *c, lb_error *err) {
    const lbi_fault *f = &c->bench->fault;
    lbi_text text = {0};
    describe(c, &text);
    char *message = lbi_text_take(&text, NULL);
    if (message == NULL)
        return lbi_error_nomem(err, "an error's message");
    uint32_t kind = atomic_load(&f->kind);
    bool has_errno = kind == LBI_FAULT_SYSTEM || kind == LBI_FAULT_CLASS || kind == LBI_FAULT_RUN;
    lb_status status = status_of(f);
    status = has_errno ? lbi_error_os(err, status, f->error, "%s", message)
                       : lbi_error(err, status, "%s", message);
    free(message);
    return status;
}

static lb_status tell_limit(const controller *c, lb_status status, const char *format, double limit,
                            lb_error *err) {
    lbi_text text = {0};
    add_job(c, &text);
    char *who = lbi_text_take(&text, NULL);
    if (who == NULL)
        return lbi_error_nomem(err, "an error's message");
    status = lbi_error(err, status, format, who, limit);
    free(who);
    return status;
}

/* ---- looking after it ---- */

/* Takes what a command wrote. *ret_open is false once nobody can write any more. */
static lb_status take_output(controller *c, bool *ret_open, lb_error *err) {
    char buffer[8192];
    ssize_t got;
    while ((got = read(c->output, buffer, sizeof buffer)) > 0) {
        size_t n = (size_t)got;
        c->written += n;
        if (n >= KEPT) {
            memcpy(c->said, buffer + n - KEPT, KEPT);
            c->said_length = KEPT;
        } else {
            size_t old = c->said_length + n > KEPT ? KEPT - n : c->said_length;
            memmove(c->said, c->said + c->said_length - old, old);
            memcpy(c->said + old, buffer, n);
            c->said_length = old + n;
        }
        if (c->written > c->options->output_limit)
            return tell_limit(c, LB_ERR_LIMIT, "%s wrote more than output_limit (%.0f bytes)",
                              (double)c->options->output_limit, err);
    }
    *ret_open = got < 0 && (errno == EAGAIN || errno == EINTR);
    return LB_OK;
}

static lb_status report(const controller *c, int64_t now, lb_error *err) {
    const lbi_run_options *o = c->options;
    if (o->progress == NULL)
        return LB_OK;
    double done = o->expected_s > 0 ? 1e-9 * (double)(now - c->begin_ns) / o->expected_s : 0;
    if (c->task->workload == LB_THROUGHPUT_BATCH)
        done = (double)atomic_load(&c->bench->tally[0].count) / c->task->jobs;
    if (o->progress(o->progress_user, done < 1 ? done : 1) != 0)
        return lbi_error(err, LB_ERR_CANCELLED, "the progress callback asked to stop");
    return LB_OK;
}

static lb_status look(controller *c, int64_t now, lb_error *err) {
    c->look_ns = now + LOOK_NS;
    if (atomic_load(&c->bench->gate) == 1 || c->task->workload == LB_THROUGHPUT_BATCH)
        lbi_waiting_look(&c->waiting, c->keeper);
    lbi_monitor_look(&c->monitor);
    int detail;
    c->alive = lbi_fate_of(c->keeper, &detail, &c->keeper_ns) < LBI_FATE_KILLED;
    lb_status status = report(c, now, err);
    if (status == LB_OK && now > c->options->limit_ns)
        status = tell_limit(c, LB_ERR_TIMEOUT, "%s did not end within the time limit of %g s",
                            c->options->time_limit, err);
    return status;
}

static lb_status watch(controller *c, lb_error *err) {
    bool open = true;
    lb_status status = LB_OK;
    while (open && c->alive && status == LB_OK) {
        int64_t now = lbi_now();
        if (now >= c->look_ns)
            status = look(c, now, err);
        struct pollfd polled = {.fd = c->output, .events = POLLIN};
        int64_t left = (c->look_ns - now) / MILLISECOND + 1;
        if (status == LB_OK && poll(&polled, 1, left > 0 ? (int)left : 0) > 0)
            status = take_output(c, &open, err);
        /* Whoever floods must not keep this from looking, nor from resting. */
        if (atomic_load(&c->bench->fault.ready) != 0)
            return status;
    }
    return status;
}

/* ---- the outcome ---- */

static double foreign(const controller *c) {
    int64_t busy, time = lbi_now() - c->begin_ns;
    if (c->busy_ns < 0 || lbi_busy(c->options->host, &busy) != 0)
        return NAN;
    int64_t own = lbi_thread_cpu() - c->own_ns + c->keeper_ns;
    double part = (double)(busy - c->busy_ns - own) / ((double)time * c->options->host->cores);
    return part > 0 ? part : 0;
}

static void fill(const controller *c, lbi_outcome *o) {
    const lbi_bench *b = c->bench;
    static const double quantiles[] = {0.5, 0.9, 0.99};
    *o = (lbi_outcome){
        .elapsed_s = 1e-9 * (double)(b->end_ns - b->begin_ns),
        .user_s = 1e-9 * (double)b->user_ns,
        .system_s = 1e-9 * (double)b->system_ns,
        .count = (double)b->count,
        .job_mean_s = b->count > 0 ? b->job_s / (double)b->count : NAN,
        .job_max_s = b->longest_job_s,
        .switches = (double)b->switches,
        .preemptions = (double)b->preemptions,
        .migrations = b->migrations < 0 ? NAN : (double)b->migrations,
        .idle_waiting_percent = lbi_waiting_percent(&c->waiting),
        .foreign_percent = NAN,
    };
    o->cpu_percent = 100 * (o->user_s + o->system_s) / o->elapsed_s;
    for (size_t i = 0; i < sizeof quantiles / sizeof *quantiles; i++)
        o->wake_up_s[i] = lbi_bench_quantile(b, quantiles[i]);
    int64_t longest = 0;
    for (uint32_t i = 0; i < b->tallies; i++)
        longest = b->tally[i].longest_ns > longest ? b->tally[i].longest_ns : longest;
    o->wake_up_s[3] = isnan(o->wake_up_s[0]) ? NAN : 1e-9 * (double)longest;
}

static lb_status finish(controller *c, lbi_outcome *ret_outcome, lb_error *err) {
    lbi_outcome o;
    if (atomic_load(&c->bench->fault.kind) != LBI_FAULT_NONE)
        return tell_fault(c, err);
    if (atomic_load(&c->bench->done) == 0 || c->bench->end_ns <= c->bench->begin_ns)
        return lbi_error(err, LB_ERR_WORKER,
                         "the workload's processes are gone: something else "
                         "ended them");
    double part = foreign(c);
    fill(c, &o);
    o.foreign_percent = 100 * part;
    if (!lbi_monitor_finish(&c->monitor, c->task->size == 0 ? c->task->jobs : c->task->size, part))
        return lbi_error_nomem(err, "the findings");
    o.disturbed = c->monitor.disturbed;
    o.findings = c->monitor.findings;
    c->monitor.findings = (lbi_findings){0};
    *ret_outcome = o;
    return LB_OK;
}

static lb_status begin(controller *c, lb_error *err) {
    int error = lbi_class_get(&c->caller);
    if (error != 0)
        return lbi_error_os(err, LB_ERR_SYSTEM, error, "cannot read the scheduling class");
    lb_status status = share(c, err);
    if (status != LB_OK)
        return status;
    if (!lbi_waiting_begin(&c->waiting, c->options->host, c->task->mask) ||
        !lbi_monitor_origin(&c->monitor))
        return lbi_error_nomem(err, "the findings");
    if (lbi_busy(c->options->host, &c->busy_ns) != 0)
        c->busy_ns = -1;
    c->own_ns = lbi_thread_cpu();
    c->begin_ns = lbi_now();
    c->look_ns = c->begin_ns + LOOK_NS / 2;
    return spawn(c, err);
}

static lb_status play(controller *c, lbi_outcome *ret_outcome, lb_error *err) {
    lb_status status = lbi_monitor_begin(&c->monitor, "", c->options->host, &c->task->class_)
                           ? begin(c, err)
                           : lbi_error_nomem(err, "the findings");
    if (status == LB_OK)
        status = watch(c, err);
    if (c->alive)
        end_keeper(c);
    if (c->output >= 0) {
        /* What it said last may tell why it failed. */
        bool open;
        if (status == LB_OK)
            status = take_output(c, &open, err);
        close(c->output);
        lbi_class_restore(&c->caller);
    }
    if (status == LB_OK)
        status = finish(c, ret_outcome, err);
    return status;
}

/* The caller's environment, but for temporary files: what a command that was killed leaves of them
 * goes with the folder. The array and its first text are for the caller to free. */
static char **make_environment(const char *scratch) {
    size_t n = 0;
    while (environ != NULL && environ[n] != NULL)
        n++;
    lbi_text text = {0};
    lbi_text_printf(&text, "TMPDIR=%s", scratch);
    char **list = lbi_array_new(n + 2, sizeof *list);
    if (list == NULL || (list[0] = lbi_text_take(&text, NULL)) == NULL) {
        lbi_text_free(&text);
        free(list);
        return NULL;
    }
    size_t kept = 1;
    for (size_t i = 0; i < n; i++)
        if (strncmp(environ[i], "TMPDIR=", strlen("TMPDIR=")) != 0)
            list[kept++] = environ[i];
    list[kept] = NULL;
    return list;
}

static lb_status run(lbi_task *task, const lbi_run_options *options, lbi_outcome *ret_outcome,
                     lb_error *err) {
    controller c = {.task = task, .options = options, .output = -1};
    char **environment = make_environment(task->scratch);
    if (environment == NULL)
        return lbi_error_nomem(err, "the environment");
    task->environment = environment;
    lb_status status = play(&c, ret_outcome, err);
    lbi_waiting_end(&c.waiting);
    lbi_monitor_end(&c.monitor);
    if (c.bench != NULL)
        lbi_unshare(c.bench, c.bench->bytes);
    free(environment[0]);
    free(environment);
    return status;
}

lb_status lbi_task_run(const lbi_task *task, const lbi_run_options *options,
                       lbi_outcome *ret_outcome, lb_error *err) {
    lbi_task own = *task;
    int cancel_state;
    /* Cancelled in the middle, the thread would leave processes and its class behind. */
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    lb_status status = lbi_scratch_new(&own.scratch, err);
    if (status == LB_OK) {
        status = run(&own, options, ret_outcome, err);
        lbi_scratch_remove(own.scratch);
        free(own.scratch);
    }
    pthread_setcancelstate(cancel_state, NULL);
    return status;
}
