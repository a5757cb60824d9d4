/* SPDX-License-Identifier: BSD-3-Clause */
#include "sched_line.h"

#include <string.h>

#include "base/text.h"
#include "trace/fixed.h"

static bool is_blank(char c) {
    return c == ' ' || c == '\t';
}

/* The first, or last, place of `word` in [begin, end); NULL: nowhere. */
static const char *find_first(const char *begin, const char *end, const char *word) {
    size_t length = strlen(word);
    for (; (size_t)(end - begin) >= length; begin++) {
        begin = memchr(begin, word[0], (size_t)(end - begin) - length + 1);
        if (begin == NULL)
            return NULL;
        if (memcmp(begin, word, length) == 0)
            return begin;
    }
    return NULL;
}

static const char *find_last(const char *begin, const char *end, const char *word) {
    size_t length = strlen(word);
    if ((size_t)(end - begin) < length)
        return NULL;
    for (const char *at = end - length;; at--) {
        if (memcmp(at, word, length) == 0)
            return at;
        if (at == begin)
            return NULL;
    }
}

/* The token that ends before `end`: it moves to its beginning, and *ret_end behind its last
 * character. False: there is none. */
static bool take_token_before(const char *begin, const char **end, const char **ret_end) {
    const char *at = *end;
    while (at > begin && is_blank(at[-1]))
        at--;
    *ret_end = at;
    while (at > begin && !is_blank(at[-1]))
        at--;
    *end = at;
    return at < *ret_end;
}

/* "time:" in front of `name`, which moves there. */
static bool read_time(const char *begin, const char **name, int64_t *ret_ns) {
    const char *token_end;
    return take_token_before(begin, name, &token_end) && token_end[-1] == ':' &&
           lbi_parse_fixed(*name, token_end - 1, 9, ret_ns) <= LBI_FIXED_ROUNDED;
}

/* "[cpu]" somewhere in front of `at`, the last there is: flags may follow it, and what is before is
 * free. */
static bool read_cpu(const char *begin, const char *at, uint32_t *ret_cpu) {
    const char *token_end;
    uint64_t cpu;
    while (take_token_before(begin, &at, &token_end)) {
        if (*at != '[' || token_end[-1] != ']' || token_end - at < 3 ||
            !lbi_parse_unsigned(at + 1, token_end - 1, INT32_MAX, &cpu))
            continue;
        *ret_cpu = (uint32_t)cpu;
        return true;
    }
    return false;
}

/* Whether an event of that name is in the line. */
static bool split_at(const char *begin, const char *end, const char *name, lbi_sched_line *ret) {
    size_t length = strlen(name);
    for (const char *at = begin; (at = find_first(at, end, name)) != NULL; at += length) {
        const char *front = at;
        if (front - begin >= 6 && memcmp(front - 6, "sched:", 6) == 0)
            front -= 6; /* perf names the event's group */
        if (front > begin && !is_blank(front[-1]))
            continue;
        if (!read_time(begin, &front, &ret->time_ns))
            continue;
        if (!read_cpu(begin, front, &ret->cpu))
            return false; /* so that a long line is not gone through again and again */
        at += length;
        while (at < end && is_blank(*at))
            at++;
        ret->payload = at;
        return true;
    }
    return false;
}

bool lbi_sched_line_split(const char *begin, const char *end, lbi_sched_line *ret_line) {
    if (split_at(begin, end, "sched_switch:", ret_line)) {
        ret_line->kind = LBI_SCHED_SWITCH;
        return true;
    }
    if (split_at(begin, end, "sched_wakeup:", ret_line) ||
        split_at(begin, end, "sched_wakeup_new:", ret_line)) {
        ret_line->kind = LBI_SCHED_WAKEUP;
        return true;
    }
    return false;
}

/* [begin, digits_end) is a pid, of which [number, ..) are the digits up to a blank. */
static bool read_pid(const char *number, const char *end, uint32_t *ret_pid) {
    const char *stop = number;
    while (stop < end && !is_blank(*stop))
        stop++;
    uint64_t pid;
    if (!lbi_parse_unsigned(number, stop, UINT32_MAX, &pid))
        return false;
    *ret_pid = (uint32_t)pid;
    return true;
}

/* "<prefix>comm=NAME <prefix>pid=N": the name may hold anything, so the last pid counts. */
static bool read_named(const char *begin, const char *end, const char *comm_key,
                       const char *pid_key, lbi_sched_task *ret) {
    size_t key_length = strlen(comm_key);
    if ((size_t)(end - begin) < key_length || memcmp(begin, comm_key, key_length) != 0)
        return false;
    const char *pid = find_last(begin, end, pid_key);
    if (pid == NULL || pid < begin + key_length)
        return false;
    ret->comm = begin + key_length;
    ret->comm_length = (size_t)(pid - ret->comm);
    return read_pid(pid + strlen(pid_key), end, &ret->pid);
}

/* "NAME:N [prio] .."; *ret_rest is what follows the priority. */
static bool read_brief(const char *begin, const char *end, lbi_sched_task *ret,
                       const char **ret_rest) {
    const char *priority = find_last(begin, end, " [");
    if (priority == NULL)
        return false;
    const char *colon = find_last(begin, priority, ":");
    if (colon == NULL || !read_pid(colon + 1, priority, &ret->pid))
        return false;
    ret->comm = begin;
    ret->comm_length = (size_t)(colon - begin);
    *ret_rest = find_first(priority, end, "]");
    return *ret_rest != NULL;
}

/* A state that begins with R is ready to run ("R", "R+"; perf names a preempted one so too). */
static bool is_ready(const char *state, const char *end) {
    while (state < end && is_blank(*state))
        state++;
    return state < end && *state == 'R';
}

bool lbi_sched_read_switch(const lbi_sched_line *line, const char *end, lbi_sched_task *ret_former,
                           bool *ret_ready, lbi_sched_task *ret_next) {
    static const char arrow[] = " ==> ";
    const char *begin = line->payload, *rest;
    const char *middle = find_last(begin, end, " ==> next_comm=");
    if (middle != NULL) {
        const char *state = find_last(begin, middle, " prev_state=");
        if (state == NULL)
            return false;
        *ret_ready = is_ready(state + strlen(" prev_state="), middle);
        return read_named(begin, middle, "prev_comm=", " prev_pid=", ret_former) &&
               read_named(middle + strlen(arrow), end, "next_comm=", " next_pid=", ret_next);
    }
    middle = find_last(begin, end, arrow);
    if (middle == NULL || !read_brief(begin, middle, ret_former, &rest))
        return false;
    *ret_ready = is_ready(rest + 1, middle);
    return read_brief(middle + strlen(arrow), end, ret_next, &rest);
}

bool lbi_sched_read_wakeup(const lbi_sched_line *line, const char *end, lbi_sched_task *ret_task) {
    const char *rest;
    return read_named(line->payload, end, "comm=", " pid=", ret_task) ||
           read_brief(line->payload, end, ret_task, &rest);
}
