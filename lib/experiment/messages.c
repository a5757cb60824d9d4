/* SPDX-License-Identifier: BSD-3-Clause */
/* Message passing, after volanomark, tbench and hackbench: each group is a chat room, one process
 * that hands every message on to all of its members. A member says something, and listens until it
 * has heard that itself. Async-signal-safe. */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "experiment/bench.h"
#include "experiment/messages.h"
#include "experiment/works.h"

/* What goes over the line. */
typedef struct message {
    int64_t sent_ns; /* by the room */
    uint32_t member;
    char text[52];
} message;

/* Both ends of one member's line, which the room and the member each read from and write to. */
typedef struct line {
    int room_in, room_out, member_in, member_out;
} line;

/* ---- lines ---- */

static bool open_pipes(line *l) {
    int up[2], down[2];
    if (pipe2(up, O_CLOEXEC) != 0)
        return false;
    if (pipe2(down, O_CLOEXEC) != 0) {
        close(up[0]);
        close(up[1]);
        return false;
    }
    *l = (line){up[0], down[1], down[0], up[1]};
    return true;
}

static bool open_sockets(line *l) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return false;
    *l = (line){ends[0], ends[0], ends[1], ends[1]};
    return true;
}

/* To a port of this machine alone that the system chooses. */
static int connect_to(int listener, int *ret_accepted) {
    struct sockaddr_in address;
    socklen_t length = sizeof address;
    int one = 1, end = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (end < 0)
        return -1;
    if (getsockname(listener, (struct sockaddr *)&address, &length) == 0 &&
        connect(end, (struct sockaddr *)&address, length) == 0 &&
        (*ret_accepted = accept4(listener, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
        setsockopt(end, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        setsockopt(*ret_accepted, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        return end;
    }
    int error = errno;
    close(end);
    errno = error;
    return -1;
}

static bool open_tcp(line *l) {
    struct sockaddr_in address = {.sin_family = AF_INET};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), room = -1, member = -1;
    if (listener < 0)
        return false;
    if (bind(listener, (struct sockaddr *)&address, sizeof address) == 0 &&
        listen(listener, 1) == 0)
        member = connect_to(listener, &room);
    int error = errno;
    close(listener);
    errno = error;
    *l = (line){room, room, member, member};
    return member >= 0;
}

static bool open_line(lbi_bench *bench, line *l) {
    static bool (*const opens[])(line *) = {open_sockets, open_pipes, open_tcp};
    static const char *const what[] = {"open a socket pair", "open pipes",
                                       "connect over the loopback interface"};
    int32_t transport = bench->task->transport;
    if (opens[transport](l))
        return true;
    lbi_bench_fail(bench, LBI_FAULT_SYSTEM, errno, 0, what[transport]);
    return false;
}

static void close_end(int in, int out) {
    close(in);
    if (out != in)
        close(out);
}

/* ---- processes ---- */

static bool receive(int file, message *m) {
    size_t at = 0;
    while (at < sizeof *m) {
        ssize_t got = read(file, (char *)m + at, sizeof *m - at);
        if (got <= 0 && !(got < 0 && errno == EINTR))
            return false;
        at += got > 0 ? (size_t)got : 0;
    }
    return true;
}

static bool send_on(int file, message *m) {
    size_t at = 0;
    while (at < sizeof *m) {
        ssize_t put = write(file, (const char *)m + at, sizeof *m - at);
        if (put <= 0 && !(put < 0 && errno == EINTR))
            return false;
        at += put > 0 ? (size_t)put : 0;
    }
    return true;
}

/* The others were killed while this one waited: the end, not a fault. */
static int give_up(lbi_bench *bench) {
    if (atomic_load(&bench->gate) < 2)
        lbi_bench_fail(bench, LBI_FAULT_SYSTEM, errno, 0, "pass a message on");
    return 1;
}

static int keep_room(lbi_bench *bench, const line *lines) {
    struct pollfd polled[LBI_MEMBERS];
    message m;
    for (int i = 0; i < LBI_MEMBERS; i++)
        polled[i] = (struct pollfd){.fd = lines[i].room_in, .events = POLLIN};
    lbi_bench_wait(bench);
    for (;;) {
        if (poll(polled, LBI_MEMBERS, -1) < 0 && errno != EINTR)
            return give_up(bench);
        for (int i = 0; i < LBI_MEMBERS; i++) {
            if (polled[i].revents == 0)
                continue;
            if (!receive(polled[i].fd, &m))
                return give_up(bench);
            for (int k = 0; k < LBI_MEMBERS; k++) {
                m.sent_ns = lbi_now();
                if (!send_on(lines[k].room_out, &m))
                    return give_up(bench);
            }
        }
    }
}

/* One message; if it was sent only after this process had begun to wait for it, the time that it
 * took to wake up. */
static bool listen_to(const line *l, message *m, lbi_tally *tally) {
    struct pollfd polled = {.fd = l->member_in, .events = POLLIN};
    int64_t waits = poll(&polled, 1, 0) == 0 ? lbi_now() : INT64_MAX;
    if (!receive(l->member_in, m))
        return false;
    if (m->sent_ns >= waits)
        lbi_tally_time(tally, lbi_now() - m->sent_ns);
    atomic_fetch_add_explicit(&tally->count, 1, memory_order_relaxed);
    return true;
}

static int be_member(lbi_bench *bench, const line *l, uint32_t member, lbi_tally *tally) {
    lbi_bench_wait(bench);
    for (;;) {
        message m = {.member = member};
        if (!send_on(l->member_out, &m))
            return give_up(bench);
        do {
            if (!listen_to(l, &m, tally))
                return give_up(bench);
        } while (m.member != member);
    }
}

/* Of a group the room and its members; false: one could not be made. */
static bool start_group(lbi_bench *bench, uint32_t group, const line *lines, pid_t *processes) {
    for (uint32_t i = 0; i <= LBI_MEMBERS; i++) {
        processes[i] = lbi_bench_fork(bench);
        if (processes[i] < 0)
            return false;
        if (processes[i] > 0)
            continue;
        /* Each keeps its own ends. */
        for (uint32_t k = 0; k < LBI_MEMBERS; k++) {
            if (i < LBI_MEMBERS)
                close_end(lines[k].room_in, lines[k].room_out);
            if (i != k)
                close_end(lines[k].member_in, lines[k].member_out);
        }
        signal(SIGPIPE, SIG_IGN);
        _exit(i == LBI_MEMBERS
                  ? keep_room(bench, lines)
                  : be_member(bench, &lines[i], i, &bench->tally[group * LBI_MEMBERS + i]));
    }
    return true;
}

static bool open_group(lbi_bench *bench, uint32_t group, pid_t *processes) {
    line lines[LBI_MEMBERS];
    uint32_t opened = 0;
    while (opened < LBI_MEMBERS && open_line(bench, &lines[opened]))
        opened++;
    bool ok = opened == LBI_MEMBERS && start_group(bench, group, lines, processes);
    for (uint32_t i = 0; i < opened; i++) {
        close_end(lines[i].room_in, lines[i].room_out);
        close_end(lines[i].member_in, lines[i].member_out);
    }
    return ok;
}

void lbi_messages(lbi_bench *bench) {
    uint32_t groups = bench->task->size, n = groups * (LBI_MEMBERS + 1);
    pid_t *processes = lbi_work_memory(n * sizeof *processes);
    if (processes == NULL) {
        lbi_bench_fail(bench, LBI_FAULT_SYSTEM, errno, 0, "have memory for the groups");
        return;
    }
    for (uint32_t i = 0; i < groups; i++)
        if (!open_group(bench, i, &processes[i * (LBI_MEMBERS + 1)]))
            return;
    lbi_bench_count(bench, n);
    /* They wait for one another: none can be asked to stop. */
    for (uint32_t i = 0; i < n; i++)
        kill(processes[i], SIGKILL);
    while (waitpid(-1, NULL, 0) > 0 || errno == EINTR) {
    }
}
