/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints a simulated trace as CSV, the truth in its metadata. Writes the file format itself, so
 * that it stands beside the library's writer as a second opinion. */
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "draw.h"
#include "timeslice.h"

static const char usage[] =
    "usage: simulate [options]\n"
    "  --policy none|lazy|active|immediate|single   --seed N        --cores N\n"
    "  --tasks-per-core N   --unit SECONDS          --slice SECONDS --slice-jitter PART\n"
    "  --delay SECONDS      --longest               --shuffled-start\n"
    "  --order sorted|shuffled|designed             --end after-unit|at-once|by-count\n"
    "  --gap SECONDS        --gap-factor N          --gap-jitter PART\n"
    "  --dwell MEDIAN,P90   --jitter PART           --outliers PART --lost PART\n"
    "  --hide-unit-work     --hide-cpu-time         --hide-cores    --slices\n"
    "  --steal CORE,FROM,UNTIL   --background CORE,FROM,UNTIL   --pinned\n"
    "  --clock-step AT,BY   --speeds S0,S1,..\n"
    "  --draw NOISE   all of it drawn from the seed: clean, all or a number (tests/sim/draw.h);\n"
    "                 options behind it replace what was drawn\n"
    "  --truth        the truth only: events, moves and list sizes\n";

static void fail(const char *what) {
    fprintf(stderr, "simulate: %s\n%s", what, usage);
    exit(1);
}

static double number(const char *text) {
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end != '\0')
        fail(text);
    return value;
}

/* Up to `n` numbers with commas between them. */
static uint32_t numbers(const char *text, double *values, uint32_t n) {
    uint32_t count = 0;
    for (const char *at = text;; at++) {
        char *end;
        if (count == n)
            fail(text);
        values[count++] = strtod(at, &end);
        if (end == at || (*end != ',' && *end != '\0'))
            fail(text);
        if (*end == '\0')
            return count;
        at = end;
    }
}

static int named(const char *text, const char *const *names, int n) {
    for (int i = 0; i < n; i++)
        if (strcmp(text, names[i]) == 0)
            return i;
    fail(text);
    return 0;
}

static void print_ns(int64_t ns) {
    int64_t size = ns < 0 ? -ns : ns;
    printf("%s%" PRId64 ".%09" PRId64, ns < 0 ? "-" : "", size / 1000000000, size % 1000000000);
}

static void print_head(const timeslice_config *config, const timeslice_result *result) {
    const timeslice_truth *truth = &result->truth;
    printf("# lbsched-trace: 1\n# cores: %u\n", result->cores);
    if (!isnan(result->unit_work))
        printf("# unit_work_s: %.9g\n", result->unit_work);
    printf("# simulated_policy: %s\n# simulated_seed: %" PRIu64 "\n# decidable: %s\n",
           timeslice_policy_name(config->policy), config->seed, truth->decidable ? "yes" : "no");
    printf("# moments: none/lazy %u of %u, lazy/active %u of %u, uneven %u of %u resolved\n",
           truth->none_lazy.resolved, truth->none_lazy.seen, truth->lazy_active.resolved,
           truth->lazy_active.seen, truth->uneven.resolved, truth->uneven.seen);
}

static void print_core(int32_t core, char end) {
    if (core >= 0)
        printf("%d", core);
    putchar(end);
}

static void print_units(const timeslice_result *result) {
    printf("task,unit,start_s,end_s,cpu_s,core_start,core_end\n");
    for (size_t i = 0; i < result->unit_count; i++) {
        const lb_unit *unit = &result->units[i];
        printf("%u,%u,", unit->task, unit->index);
        print_ns(unit->start_ns);
        putchar(',');
        print_ns(unit->end_ns);
        putchar(',');
        if (unit->cpu_ns >= 0)
            print_ns(unit->cpu_ns);
        putchar(',');
        print_core(unit->core_start, ',');
        print_core(unit->core_end, '\n');
    }
}

static void print_slices(const timeslice_result *result) {
    printf("# table: slices\ntask,start_s,end_s,core\n");
    for (size_t i = 0; i < result->slice_count; i++) {
        const lb_slice *slice = &result->slices[i];
        printf("%u,", slice->task);
        print_ns(slice->start_ns);
        putchar(',');
        print_ns(slice->end_ns);
        printf(",%d\n", slice->core);
    }
}

static void print_task(uint32_t task) {
    if (task == TIMESLICE_BACKGROUND)
        printf(" background");
    else
        printf(" task %u", task);
}

/* Events, moves and sizes, each by time. */
static void print_truth(const timeslice_result *result) {
    const timeslice_truth *truth = &result->truth;
    for (size_t i = 0; i < truth->event_count; i++) {
        const timeslice_event *event = &truth->events[i];
        printf("event ");
        print_ns(event->time_ns);
        print_task(event->task);
        printf(" core %u, %u left\n", event->core, event->running);
    }
    for (size_t i = 0; i < truth->move_count; i++) {
        const timeslice_move *move = &truth->moves[i];
        printf("move ");
        print_ns(move->time_ns);
        print_task(move->task);
        printf(" core %u to %u%s\n", move->from, move->to, move->rotation ? ", rotation" : "");
    }
    for (size_t i = 0; i < truth->size_rows; i++) {
        printf("sizes ");
        print_ns(truth->sizes_ns[i]);
        for (uint32_t j = 0; j < result->cores; j++)
            printf(" %u", truth->sizes[i * result->cores + j]);
        putchar('\n');
    }
}

enum {
    POLICY = 256,
    SEED,
    CORES,
    TASKS_PER_CORE,
    UNIT,
    SLICE,
    SLICE_JITTER,
    DELAY,
    LONGEST,
    SHUFFLED_START,
    ORDER,
    END,
    GAP,
    GAP_FACTOR,
    GAP_JITTER,
    DWELL,
    JITTER,
    OUTLIERS,
    LOST,
    HIDE_UNIT_WORK,
    HIDE_CPU_TIME,
    HIDE_CORES,
    SLICES,
    STEAL,
    BACKGROUND,
    PINNED,
    CLOCK_STEP,
    SPEEDS,
    DRAW,
    TRUTH
};

static const struct option options[] = {
    {"policy", required_argument, NULL, POLICY},
    {"seed", required_argument, NULL, SEED},
    {"cores", required_argument, NULL, CORES},
    {"tasks-per-core", required_argument, NULL, TASKS_PER_CORE},
    {"unit", required_argument, NULL, UNIT},
    {"slice", required_argument, NULL, SLICE},
    {"slice-jitter", required_argument, NULL, SLICE_JITTER},
    {"delay", required_argument, NULL, DELAY},
    {"longest", no_argument, NULL, LONGEST},
    {"shuffled-start", no_argument, NULL, SHUFFLED_START},
    {"order", required_argument, NULL, ORDER},
    {"end", required_argument, NULL, END},
    {"gap", required_argument, NULL, GAP},
    {"gap-factor", required_argument, NULL, GAP_FACTOR},
    {"gap-jitter", required_argument, NULL, GAP_JITTER},
    {"dwell", required_argument, NULL, DWELL},
    {"jitter", required_argument, NULL, JITTER},
    {"outliers", required_argument, NULL, OUTLIERS},
    {"lost", required_argument, NULL, LOST},
    {"hide-unit-work", no_argument, NULL, HIDE_UNIT_WORK},
    {"hide-cpu-time", no_argument, NULL, HIDE_CPU_TIME},
    {"hide-cores", no_argument, NULL, HIDE_CORES},
    {"slices", no_argument, NULL, SLICES},
    {"steal", required_argument, NULL, STEAL},
    {"background", required_argument, NULL, BACKGROUND},
    {"pinned", no_argument, NULL, PINNED},
    {"clock-step", required_argument, NULL, CLOCK_STEP},
    {"speeds", required_argument, NULL, SPEEDS},
    {"draw", required_argument, NULL, DRAW},
    {"truth", no_argument, NULL, TRUTH},
    {NULL, 0, NULL, 0},
};

static uint32_t noise_named(const char *text) {
    if (strcmp(text, "clean") == 0)
        return DRAW_CLEAN;
    return strcmp(text, "all") == 0 ? DRAW_ALL : (uint32_t)number(text);
}

static void set(timeslice_config *config, int option, const char *value) {
    static const char *const policies[] = {"none", "lazy", "active", "immediate", "single"};
    static const char *const orders[] = {"sorted", "shuffled", "designed"};
    static const char *const ends[] = {"after-unit", "at-once", "by-count"};
    static double speeds[TIMESLICE_CORES_MAX];
    double three[3] = {0};
    switch (option) {
    case POLICY:
        config->policy = (timeslice_policy)named(value, policies, 5);
        break;
    case CORES:
        config->cores = (uint32_t)number(value);
        break;
    case TASKS_PER_CORE:
        config->tasks_per_core = (uint32_t)number(value);
        break;
    case UNIT:
        config->unit_work = number(value);
        break;
    case SLICE:
        config->slice = number(value);
        break;
    case SLICE_JITTER:
        config->slice_jitter = number(value);
        break;
    case DELAY:
        config->balance_delay = number(value);
        break;
    case LONGEST:
        config->choice = TIMESLICE_LONGEST;
        break;
    case SHUFFLED_START:
        config->shuffled_start = true;
        break;
    case ORDER:
        config->order = (timeslice_order)named(value, orders, 3);
        break;
    case END:
        config->end = (timeslice_end)named(value, ends, 3);
        break;
    case GAP:
        config->gap = number(value);
        break;
    case GAP_FACTOR:
        config->gap_factor = number(value);
        break;
    case GAP_JITTER:
        config->gap_jitter = number(value);
        break;
    case DWELL:
        numbers(value, three, 2);
        config->dwell_median = three[0];
        config->dwell_p90 = three[1];
        break;
    case JITTER:
        config->jitter = number(value);
        break;
    case OUTLIERS:
        config->outlier_rate = number(value);
        break;
    case LOST:
        config->lost_rate = number(value);
        break;
    case HIDE_UNIT_WORK:
        config->unit_work_hidden = true;
        break;
    case HIDE_CPU_TIME:
        config->cpu_time_hidden = true;
        break;
    case HIDE_CORES:
        config->cores_hidden = true;
        break;
    case SLICES:
        config->slices = true;
        break;
    case STEAL:
        numbers(value, three, 3);
        config->steal_core = (uint32_t)three[0];
        config->steal_from = three[1];
        config->steal_until = three[2];
        break;
    case BACKGROUND:
        numbers(value, three, 3);
        config->background_core = (uint32_t)three[0];
        config->background_from = three[1];
        config->background_until = three[2];
        break;
    case PINNED:
        config->background_pinned = true;
        break;
    case CLOCK_STEP:
        numbers(value, three, 2);
        config->clock_step_at = three[0];
        config->clock_step = three[1];
        break;
    case SPEEDS:
        numbers(value, speeds, TIMESLICE_CORES_MAX);
        config->speeds = speeds;
        break;
    default:
        fail("unknown option");
    }
}

int main(int argc, char **argv) {
    static draw drawn;
    timeslice_config config;
    timeslice_defaults(&config);
    bool truth_only = false;
    int option;
    while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
        if (option == SEED) {
            config.seed = strtoull(optarg, NULL, 10);
        } else if (option == DRAW) {
            draw_config(config.seed, noise_named(optarg), &drawn);
            config = drawn.config;
        } else if (option == TRUTH) {
            truth_only = true;
        } else {
            set(&config, option, optarg);
        }
    }
    if (optind < argc)
        fail(argv[optind]);
    timeslice_result result;
    timeslice_status status = timeslice_run(&config, &result);
    if (status != TIMESLICE_OK)
        fail(status == TIMESLICE_NOMEM ? "no memory" : "a value is out of range");
    print_head(&config, &result);
    if (truth_only) {
        print_truth(&result);
    } else {
        print_units(&result);
        if (config.slices)
            print_slices(&result);
    }
    timeslice_free(&result);
    return fflush(stdout) == 0 ? 0 : 1;
}
