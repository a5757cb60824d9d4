/* SPDX-License-Identifier: BSD-3-Clause */
/* What verdicts carry beside the policy, against what the simulator knows: queue structures, the
 * delay of moves, how long uneven shares last. Random configurations with slices; prints how
 * measured and true agree. Fails where queues are wrong, where one that is decided does not tell a
 * single queue from queues per core, or where delays are off by more than a round of slices. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "draw.h"
#include "timeslice.h"

typedef struct tally {
    unsigned traces, decided;            /* .. of which a policy was found */
    unsigned queues_right, queues_wrong; /* of all */
    unsigned decided_right;              /* of the decided */
    unsigned delays, delays_right;       /* a delay was measured; it is the true one */
    unsigned rotations;                  /* a rotation time was measured .. */
    double log_ratio, log_ratio_squares; /* .. against the true mean */
    double worst_delay;
} tally;

static void die(const char *what, const lb_error *err) {
    fprintf(stderr, "evidence: %s%s%s\n", what, err ? ": " : "", err ? err->message : "");
    exit(2);
}

/* The mean of the Weibull time through median and 90th percentile. */
static double mean_dwell(const timeslice_config *c) {
    double shape = log2(log2(10)) / log2(c->dwell_p90 / c->dwell_median);
    return c->dwell_median / pow(log(2), 1 / shape) * tgamma(1 + 1 / shape);
}

static void compare(tally *t, const timeslice_config *config, const lb_verdict *v) {
    lb_queues truth = config->policy == TIMESLICE_SINGLE ? LB_QUEUES_SINGLE : LB_QUEUES_PER_CORE;
    lb_queues queues = lb_verdict_queues(v);
    bool decided = lb_verdict_policy(v) != LB_POLICY_UNKNOWN;
    t->traces++;
    t->decided += decided;
    t->queues_right += queues == truth;
    t->queues_wrong += queues != truth && queues != LB_QUEUES_UNKNOWN;
    t->decided_right += decided && queues == truth;
    double delay = lb_verdict_measure(v, "balance_delay_s");
    if (isfinite(delay)) {
        /* Who moved is seen in its next turn. */
        double off = fabs(delay - config->balance_delay);
        t->delays++;
        t->delays_right += off <= config->slice * (config->tasks_per_core + 2);
        t->worst_delay = fmax(t->worst_delay, off);
    }
    double rotation = lb_verdict_measure(v, "rotation_time_s");
    if (config->policy == TIMESLICE_IMMEDIATE && lb_verdict_measure(v, "rotations") >= 20 &&
        isfinite(rotation)) {
        double ratio = log(rotation / mean_dwell(config));
        t->rotations++;
        t->log_ratio += ratio;
        t->log_ratio_squares += ratio * ratio;
    }
}

static void run(uint64_t seed, uint32_t noise, tally tallies[]) {
    static draw drawn;
    draw_config(seed, noise, &drawn);
    drawn.config.slices = true;
    timeslice_result result;
    if (timeslice_run(&drawn.config, &result) != TIMESLICE_OK)
        die("the simulation failed", NULL);
    lb_error err;
    lb_trace *trace;
    lb_verdict *verdict = NULL;
    if (timeslice_trace(&result, &trace, &err) != LB_OK ||
        lb_classify(trace, NULL, &verdict, &err) != LB_OK)
        die("no verdict", &err);
    unsigned wrong = tallies[drawn.config.policy].queues_wrong;
    compare(&tallies[drawn.config.policy], &drawn.config, verdict);
    if (tallies[drawn.config.policy].queues_wrong > wrong)
        printf("wrong queues: seed %" PRIu64 ", %s\n", seed,
               timeslice_policy_name(drawn.config.policy));
    if (lb_verdict_policy(verdict) != LB_POLICY_UNKNOWN &&
        lb_verdict_queues(verdict) == LB_QUEUES_UNKNOWN)
        printf("undecided queues: seed %" PRIu64
               ", %s on %u x %u, slices of %g s: %.1f %% of %.0f turns on another core, per core "
               "%.3f, single %.3f, grouped %.3f\n",
               seed, timeslice_policy_name(drawn.config.policy), drawn.config.cores,
               drawn.config.tasks_per_core, drawn.config.slice,
               lb_verdict_measure(verdict, "turn_changes_percent"),
               lb_verdict_measure(verdict, "turns"),
               lb_verdict_queues_probability(verdict, LB_QUEUES_PER_CORE),
               lb_verdict_queues_probability(verdict, LB_QUEUES_SINGLE),
               lb_verdict_queues_probability(verdict, LB_QUEUES_GROUPED));
    lb_verdict_free(verdict);
    lb_trace_free(trace);
    timeslice_free(&result);
}

int main(int argc, char **argv) {
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
    uint64_t count = argc > 2 ? strtoull(argv[2], NULL, 10) : 100;
    uint32_t noise = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 0) : DRAW_DELAY;
    tally tallies[TIMESLICE_SINGLE + 1] = {{0}};
    for (uint64_t i = 0; i < count; i++)
        run(first + i, noise, tallies);
    bool passed = true;
    printf("%-10s traces decided queues: right wrong right-of-decided  delays right worst_s  "
           "rotations ratio spread\n",
           "truth");
    for (int i = 0; i <= TIMESLICE_SINGLE; i++) {
        const tally *t = &tallies[i];
        double mean = t->log_ratio / t->rotations;
        double spread = sqrt(fmax(t->log_ratio_squares / t->rotations - mean * mean, 0));
        printf("%-10s %6u %7u %13u %5u %16u %7u %5u %7.3f %10u %5.2f %6.2f\n",
               timeslice_policy_name((timeslice_policy)i), t->traces, t->decided, t->queues_right,
               t->queues_wrong, t->decided_right, t->delays, t->delays_right, t->worst_delay,
               t->rotations, exp(mean), spread);
        passed = passed && t->traces > 0 && t->queues_wrong == 0 &&
                 t->decided_right == t->decided && 10 * t->delays_right >= 9 * t->delays;
    }
    return !passed;
}
