/* SPDX-License-Identifier: BSD-3-Clause */
/* What else wants the cores before anything of ours runs, and how autogroup would share them. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "experiment/autogroup.h"
#include "experiment/files.h"
#include "experiment/findings.h"
#include "experiment/processes.h"
#include "experiment/system.h"

#define LOOKS 5
#define LOOK_NS INT64_C(2000000)

/* "0.52 0.58 0.59 2/467 1234": what runs or waits for a core, without us who read it. */
static bool runnable(const char *root, double *ret_average, uint64_t *ret_others) {
    char text[128];
    uint64_t running;
    if (!lbi_read_into(root, text, sizeof text, "/proc/loadavg"))
        return false;
    lbi_line line = {text, text + strlen(text)}, word;
    if (!lbi_next_word(&line, &word) || !lbi_parse_number(word.begin, word.end, ret_average) ||
        !lbi_next_word(&line, &word) || !lbi_next_word(&line, &word) ||
        !lbi_next_word(&line, &word))
        return false;
    const char *slash = memchr(word.begin, '/', (size_t)(word.end - word.begin));
    if (slash == NULL || !lbi_parse_unsigned(word.begin, slash, UINT32_MAX, &running))
        return false;
    *ret_others = running > 0 ? running - 1 : 0;
    return true;
}

/* The least of a few looks: what is there at each of them is no passing thing. */
static bool steady(const lbi_sight *sight, double *ret_average, uint64_t *ret_others) {
    if (!runnable(sight->root, ret_average, ret_others))
        return false;
    for (int i = 1; i < LOOKS && sight->live && *ret_others > 0; i++) {
        uint64_t others;
        lbi_sleep_until(lbi_now() + LOOK_NS);
        if (runnable(sight->root, ret_average, &others) && others < *ret_others)
            *ret_others = others;
    }
    return true;
}

static bool runs(const lbi_processes *ps, int64_t id) {
    const lbi_process *p = lbi_processes_find(ps, id);
    return p != NULL && p->runs;
}

/* The sessions other than ours of processes that run at both looks, how many as demand. */
static bool busy_sessions(const lbi_processes *ps, const lbi_processes *then, int64_t self,
                          lbi_session **ret_sessions, size_t *ret_n) {
    const lbi_process *own = lbi_processes_find(ps, self);
    size_t n = 0, capacity = 0;
    lbi_session *sessions = NULL;
    for (size_t i = 0; i < ps->count; i++) {
        const lbi_process *p = &ps->list[i];
        if (!p->runs || !runs(then, p->id) || p->id == self ||
            (own != NULL && p->session == own->session))
            continue;
        size_t at = 0;
        while (at < n && sessions[at].id != p->session)
            at++;
        if (at == n) {
            if (!lbi_array_reserve(&sessions, &capacity, n + 1, sizeof *sessions)) {
                free(sessions);
                return false;
            }
            sessions[n++] = (lbi_session){.id = p->session};
        }
        sessions[at].demand += 1;
    }
    *ret_sessions = sessions;
    *ret_n = n;
    return true;
}

static bool tell_autogroup(const lbi_sight *sight, uint64_t others, lbi_findings *findings) {
    lbi_processes ps = {0}, then = {0};
    lbi_session *sessions = NULL;
    size_t n = 0;
    double cores = sight->host->cores, demand = 0;
    bool ok = others == 0 ||
              (lbi_processes_read(sight->root, &then) && lbi_processes_read(sight->root, &ps) &&
               busy_sessions(&ps, &then, sight->live ? getpid() : 0, &sessions, &n));
    lbi_processes_free(&then);
    lbi_processes_free(&ps);
    if (!ok)
        return false;
    for (size_t i = 0; i < n; i++)
        demand += sessions[i].demand;
    lbi_text text = {0};
    lbi_text_string(&text,
                    "autogroup is on: all workers together count as one against each other "
                    "session that is busy, so that what runs elsewhere takes a larger part than "
                    "its number of processes");
    if (n > 0)
        lbi_text_printf(&text,
                        "; beside the %.0f that run%s in %zu other session%s now it leaves the "
                        "workers %.3g of %u cores",
                        demand, demand > 1 ? "" : "s", n, n == 1 ? "" : "s",
                        lbi_fair_share(cores, sessions, n), (unsigned)sight->host->cores);
    free(sessions);
    return lbi_findings_add(findings, LB_FINDING_AUTOGROUP, &text);
}

bool lbi_find_load(const lbi_sight *sight, lbi_findings *findings) {
    double average = 0;
    uint64_t others = 0;
    bool on;
    if (sight->root == NULL)
        return true;
    if (steady(sight, &average, &others) && others > 0) {
        lbi_text text = {0};
        lbi_text_printf(&text,
                        "%llu other thread%s run%s or wait%s for a core now, and the load average "
                        "of the last minute is %.3g: what they use the workers do not get, and "
                        "rates then show them as well as the scheduler",
                        (unsigned long long)others, others == 1 ? "" : "s", others == 1 ? "s" : "",
                        others == 1 ? "s" : "", average);
        if (!lbi_findings_add(findings, LB_FINDING_LOAD, &text))
            return false;
    }
    return lbi_autogroup_is_on(sight->root, &on) &&
           (!on || tell_autogroup(sight, others, findings));
}
