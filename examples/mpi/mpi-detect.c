/* SPDX-License-Identifier: BSD-3-Clause */
/* One detection on each node of a cluster; the verdicts are gathered, and nodes that differ from
 * most are named.
 *
 *     srun --ntasks-per-node=1 mpi-detect [BUDGET]    seconds (default 20)
 *     mpirun -n 3 mpi-detect TRACE TRACE TRACE        rank i stands for the node of trace i
 *
 * Where several ranks are on a node, one of them measures while the others sleep.
 * Exit status: 0 all nodes are alike, 3 some differ or are not known.
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <lbsched/lbsched.h>

static const char *const policies[] = {"unknown", "none", "lazy", "active", "immediate"};

/* What a node tells of itself. */
struct report {
    char node[256];
    char reason[512]; /* The verdict's first, or what went wrong. */
    double probability;
    int32_t policy; /* An lb_policy; -1: an error; -2: another rank measures this node. */
};

static void tell(const lb_verdict *verdict, struct report *report) {
    report->policy = lb_verdict_policy(verdict);
    report->probability = lb_verdict_probability(verdict, (lb_policy)report->policy);
    snprintf(report->reason, sizeof report->reason, "%s", lb_verdict_reason(verdict, 0));
}

static void detect(double budget, struct report *report) {
    lb_error err;
    lb_verdict *verdict = NULL;
    lb_experiment_options options;
    lb_experiment_options_init(&options, sizeof options);
    options.budget = budget;
    if (lb_detect(NULL, &options, &verdict, NULL, &err) == LB_OK)
        tell(verdict, report);
    else
        snprintf(report->reason, sizeof report->reason, "%s", err.message);
    lb_verdict_free(verdict);
}

static void classify(const char *path, struct report *report) {
    lb_error err;
    lb_trace *trace = NULL;
    lb_verdict *verdict = NULL;
    const char *name = strrchr(path, '/');
    snprintf(report->node, sizeof report->node, "%s", name != NULL ? name + 1 : path);
    if (lb_trace_load(path, &trace, &err) == LB_OK &&
        lb_classify(trace, NULL, &verdict, &err) == LB_OK)
        tell(verdict, report);
    else
        snprintf(report->reason, sizeof report->reason, "%s", err.message);
    lb_verdict_free(verdict);
    lb_trace_free(trace);
}

/* A rank that waits in MPI_Barrier() spins, and would take a core from the node's workers. */
static void wait_asleep(MPI_Comm node) {
    MPI_Request request;
    int done = 0;
    MPI_Ibarrier(node, &request);
    while (MPI_Test(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done)
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
}

static void measure_node(double budget, struct report *report) {
    MPI_Comm node;
    int rank_on_node, length;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &rank_on_node);
    MPI_Get_processor_name(report->node, &length);
    if (rank_on_node == 0)
        detect(budget, report);
    else
        report->policy = -2;
    wait_asleep(node);
    MPI_Comm_free(&node);
}

/* The policy that most nodes have, of those that have one. */
static int32_t most_frequent(const struct report *reports, int n) {
    int counts[5] = {0};
    int32_t most = LB_POLICY_UNKNOWN;
    for (int i = 0; i < n; i++)
        if (reports[i].policy > LB_POLICY_UNKNOWN)
            counts[reports[i].policy]++;
    for (int32_t policy = LB_POLICY_NONE; policy <= LB_POLICY_IMMEDIATE; policy++)
        if (counts[policy] > counts[most])
            most = policy;
    return most;
}

/* How many nodes are not as most. */
static int print(const struct report *reports, int n) {
    int32_t most = most_frequent(reports, n);
    int differ = 0, nodes = 0;
    for (int i = 0; i < n; i++) {
        const struct report *report = &reports[i];
        if (report->policy == -2)
            continue;
        nodes++;
        bool differs = report->policy != most || most == LB_POLICY_UNKNOWN;
        differ += differs;
        printf("%s: %s", report->node, report->policy < 0 ? "error" : policies[report->policy]);
        if (report->policy > LB_POLICY_UNKNOWN)
            printf(" (%.4f)", report->probability);
        printf("%s: %s\n", differs ? " DIFFERS" : "", report->reason);
    }
    if (most == LB_POLICY_UNKNOWN)
        printf("%d nodes, none with a verdict\n", nodes);
    else
        printf("%d nodes, %d %s as most: %s\n", nodes, nodes - differ,
               nodes - differ == 1 ? "is" : "are", policies[most]);
    return differ;
}

int main(int argc, char **argv) {
    int rank, ranks, differ = 0;
    struct report report = {.policy = -1};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    char *end = NULL;
    double budget = argc > 1 ? strtod(argv[1], &end) : 20;
    if (end == NULL || *end == '\0')
        measure_node(budget, &report);
    else if (argc == ranks + 1)
        classify(argv[1 + rank], &report);
    else
        snprintf(report.reason, sizeof report.reason, "%d traces for %d ranks", argc - 1, ranks);

    struct report *reports = rank == 0 ? calloc((size_t)ranks, sizeof *reports) : NULL;
    if (rank == 0 && reports == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Gather(&report, sizeof report, MPI_BYTE, reports, sizeof report, MPI_BYTE, 0,
               MPI_COMM_WORLD);
    if (rank == 0)
        differ = print(reports, ranks);
    free(reports);
    MPI_Bcast(&differ, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return differ == 0 ? 0 : 3;
}
