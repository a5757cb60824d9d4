/* SPDX-License-Identifier: BSD-3-Clause */
#include "cases.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- just enough JSON ---- */

static void skip_spaces(const char **at) {
    *at += strspn(*at, " \t\r\n");
}

static bool skip(const char **at, const char *token) {
    skip_spaces(at);
    if (strncmp(*at, token, strlen(token)) != 0)
        return false;
    *at += strlen(token);
    return true;
}

/* A number; `null` gives the number for it. */
static bool number(const char **at, double null, double *ret) {
    if (skip(at, "null")) {
        *ret = null;
        return true;
    }
    if (skip(at, "Infinity")) {
        *ret = INFINITY;
        return true;
    }
    char *end;
    *ret = strtod(*at, &end);
    bool any = end != *at;
    *at = end;
    return any;
}

/* One of the words, quoted; returns its index, or -1. */
static int word(const char **at, const char *const *words) {
    if (!skip(at, "\""))
        return -1;
    for (int i = 0; words[i] != NULL; i++) {
        size_t length = strlen(words[i]);
        if (strncmp(*at, words[i], length) == 0 && (*at)[length] == '"') {
            *at += length + 1;
            return i;
        }
    }
    return -1;
}

/* An array of numbers; returns how many, or -1. */
static int numbers(const char **at, double null, double *ret, int max) {
    int n = 0;
    if (!skip(at, "["))
        return -1;
    if (skip(at, "]"))
        return 0;
    do {
        if (n == max || !number(at, null, &ret[n++]))
            return -1;
    } while (skip(at, ","));
    return skip(at, "]") ? n : -1;
}

/* ---- a line ---- */

static const char *const policies[] = {"none", "lazy", "active", "immediate", NULL};
static const char *const kinds[] = {"stop", "sleep", "wake", "weight", "work", NULL};
static const char *const list_choices[] = {"random", "longest", NULL};
static const char *const process_choices[] = {"random", "first", "last", NULL};
static const char *const keys[] = {
    "cores",  "policy", "works",       "placement",      "weights",   "arrivals",     "events",
    "speeds", "delay",  "list_choice", "process_choice", "durations", "realisations", NULL};
enum {
    CORES,
    POLICY,
    WORKS,
    PLACEMENT,
    WEIGHTS,
    ARRIVALS,
    EVENTS,
    SPEEDS,
    DELAY,
    LIST,
    PROCESS,
    DURATIONS,
    REALISATIONS
};

static bool events(const char **at, struct oracle_problem *p) {
    if (!skip(at, "["))
        return false;
    if (skip(at, "]"))
        return true;
    do {
        struct oracle_event *event = &p->event[p->events];
        double process;
        int kind;
        if (p->events == ORACLE_EVENTS || !skip(at, "[") || !number(at, NAN, &event->time) ||
            !skip(at, ",") || (kind = word(at, kinds)) < 0 || !skip(at, ",") ||
            !number(at, NAN, &process) ||
            (kind >= ORACLE_WEIGH && (!skip(at, ",") || !number(at, NAN, &event->value))) ||
            !skip(at, "]"))
            return false;
        event->kind = (enum oracle_kind)kind;
        event->process = (int)process;
        p->events++;
    } while (skip(at, ","));
    return skip(at, "]");
}

static bool durations(const char **at, struct solved_case *c, int *ret_n) {
    *ret_n = 0;
    if (!skip(at, "["))
        return false;
    if (skip(at, "]"))
        return true;
    do {
        double five[5];
        if (*ret_n == ORACLE_PROCESSES || numbers(at, INFINITY, five, 5) != 5)
            return false;
        c->duration[(*ret_n)++] =
            (struct oracle_duration){five[0], five[1], five[2], five[3], five[4]};
    } while (skip(at, ","));
    return skip(at, "]");
}

static bool field(const char **at, int key, struct solved_case *c, bool *ret_sizes) {
    struct oracle_problem *p = &c->problem;
    double value, cores[ORACLE_PROCESSES];
    int n = p->n;
    switch (key) {
    case CORES:
        if (!number(at, NAN, &value) || value < 1 || value > ORACLE_CORES)
            return false;
        p->cores = (int)value;
        return true;
    case POLICY:
        n = word(at, policies);
        p->policy = (enum oracle_policy)n;
        return n >= 0;
    case WORKS:
        p->n = numbers(at, INFINITY, p->work, ORACLE_PROCESSES);
        return p->n >= 0;
    case PLACEMENT:
        n = numbers(at, -1, cores, ORACLE_PROCESSES);
        for (int i = 0; i < n; i++)
            p->first_core[i] = (int)cores[i];
        break;
    case WEIGHTS:
        n = numbers(at, NAN, p->weight, ORACLE_PROCESSES);
        break;
    case ARRIVALS:
        n = numbers(at, NAN, p->arrival, ORACLE_PROCESSES);
        break;
    case EVENTS:
        return events(at, p);
    case SPEEDS:
        *ret_sizes = numbers(at, NAN, p->speeds, ORACLE_CORES) == p->cores;
        return *ret_sizes;
    case DELAY:
        return number(at, NAN, &p->delay);
    case LIST:
        n = word(at, list_choices);
        p->longest = n == 1;
        return n >= 0;
    case PROCESS:
        n = word(at, process_choices);
        p->process = n == 1 ? ORACLE_FIRST : n == 2 ? ORACLE_LAST : ORACLE_RANDOM;
        return n >= 0;
    case DURATIONS:
        if (!durations(at, c, &n))
            return false;
        break;
    case REALISATIONS:
        return number(at, NAN, &value);
    default:
        return false;
    }
    *ret_sizes = n == p->n;
    return *ret_sizes;
}

bool case_parse(const char *line, struct solved_case *ret_case) {
    struct solved_case c = {.problem.n = 0};
    bool sizes = false;
    const char *at = line;
    if (!skip(&at, "{"))
        return false;
    do {
        int key = word(&at, keys);
        if (key < 0 || !skip(&at, ":") || !field(&at, key, &c, &sizes))
            return false;
    } while (skip(&at, ","));
    *ret_case = c;
    return skip(&at, "}") && sizes;
}

FILE *cases_open(void) {
    const char *shared = getenv("LBSCHED_SHARED");
    char path[4096];
    snprintf(path, sizeof path, "%s/data/model-cases.jsonl", shared ? shared : "../shared");
    FILE *file = fopen(path, "r");
    if (file == NULL)
        printf("skipped: no %s (LBSCHED_SHARED names the directory)\n", path);
    return file;
}

static void print_numbers(FILE *file, const char *key, const double *values, int n) {
    fprintf(file, "\"%s\": [", key);
    for (int i = 0; i < n; i++) {
        if (isinf(values[i]))
            fprintf(file, "%sInfinity", i > 0 ? ", " : "");
        else
            fprintf(file, "%s%.17g", i > 0 ? ", " : "", values[i]);
    }
    fprintf(file, "], ");
}

void case_print(FILE *file, const struct oracle_problem *p) {
    fprintf(file, "{\"cores\": %d, \"policy\": \"%s\", ", p->cores, policies[p->policy]);
    print_numbers(file, "works", p->work, p->n);
    fprintf(file, "\"placement\": [");
    for (int i = 0; i < p->n; i++) {
        fprintf(file, "%s", i > 0 ? ", " : "");
        if (p->first_core[i] >= 0)
            fprintf(file, "%d", p->first_core[i]);
        else
            fprintf(file, "null");
    }
    fprintf(file, "], ");
    print_numbers(file, "weights", p->weight, p->n);
    print_numbers(file, "arrivals", p->arrival, p->n);
    fprintf(file, "\"events\": [");
    for (int e = 0; e < p->events; e++) {
        const struct oracle_event *event = &p->event[e];
        fprintf(file, "%s[%.17g, \"%s\", %d", e > 0 ? ", " : "", event->time, kinds[event->kind],
                event->process);
        if (event->kind >= ORACLE_WEIGH)
            fprintf(file, isinf(event->value) ? ", Infinity" : ", %.17g", event->value);
        fprintf(file, "]");
    }
    fprintf(file, "], ");
    print_numbers(file, "speeds", p->speeds, p->cores);
    if (p->group > 0)
        fprintf(file, "\"group\": %d, ", p->group);
    fprintf(file, "\"delay\": %.17g, \"list_choice\": \"%s\", \"process_choice\": \"%s\"}\n",
            p->delay, list_choices[p->longest], process_choices[p->process]);
}
