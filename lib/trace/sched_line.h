/* SPDX-License-Identifier: BSD-3-Clause */
/* One line of a scheduler recording as text: what perf script, perf sched script, trace-cmd report
 * and the kernel's own trace file print. */
#ifndef LBI_TRACE_SCHED_LINE_H
#define LBI_TRACE_SCHED_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum lbi_sched_kind {
    LBI_SCHED_SWITCH,
    LBI_SCHED_WAKEUP
} lbi_sched_kind;

typedef struct lbi_sched_task {
    const char *comm;
    size_t comm_length;
    uint32_t pid;
} lbi_sched_task;

typedef struct lbi_sched_line {
    lbi_sched_kind kind;
    uint32_t cpu;
    int64_t time_ns;
    const char *payload; /* what follows the event's name, without leading blanks */
} lbi_sched_line;

/* "comm pid [cpu] flags time: event: payload" taken apart from the event's name backwards, as comm
 * may hold spaces and there may be any number of flag columns. False: the line is no switch and no
 * wake-up. */
bool lbi_sched_line_split(const char *begin, const char *end, lbi_sched_line *ret_line);

/* Of a switch, in the form of the kernel ("prev_comm=a prev_pid=1 .. ==> next_comm=b ..") or of
 * trace-cmd ("a:1 [120] S ==> b:2 [120]"). `ret_ready`: the former task was preempted, not asleep.
 */
bool lbi_sched_read_switch(const lbi_sched_line *line, const char *end, lbi_sched_task *ret_former,
                           bool *ret_ready, lbi_sched_task *ret_next);

/* Of a wake-up: "comm=a pid=1 .." or "a:1 [120] ..". */
bool lbi_sched_read_wakeup(const lbi_sched_line *line, const char *end, lbi_sched_task *ret_task);

#endif
