/* SPDX-License-Identifier: BSD-3-Clause */
/* A Monte Carlo sweep over numbers of cores and policies, its realisations split over MPI's ranks.
 * Realisation k depends on the seed and k alone, so the answer is that of one process, to the last
 * bit, however many ranks there are.
 *
 *     mpirun -n 8 mpi-sweep [SAMPLES [SEED]]    (default 10000 1)
 *     srun -n 64 mpi-sweep 1000000
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lbsched/lbsched.h>

/* Ends all ranks. */
static void must(lb_status status, const lb_error *err) {
    if (status != LB_OK) {
        fprintf(stderr, "mpi-sweep: %s\n", err->message);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

/* What every point of the sweep is asked for: 40 processes of 1 to 20 s. */
static lb_workload *make_workload(void) {
    lb_error err;
    lb_workload *workload;
    must(lb_workload_new(&workload, &err), &err);
    for (int i = 0; i < 40; i++)
        must(lb_workload_add(workload, 1 + 19.0 * ((7 * i) % 40) / 39, NULL, &err), &err);
    return workload;
}

/* This rank's part of the realisations; NULL where there are fewer of them than ranks. */
static lb_distribution *draw(const lb_model *model, const lb_workload *workload, uint64_t samples,
                             uint64_t seed, int rank, int ranks) {
    lb_error err;
    lb_estimate_options options;
    lb_distribution *distribution;
    uint64_t first = samples / (uint64_t)ranks * (uint64_t)rank;
    lb_estimate_options_init(&options, sizeof options);
    options.method = LB_METHOD_SAMPLE;
    options.seed = seed;
    options.first_sample = first;
    options.samples = rank == ranks - 1 ? samples - first : samples / (uint64_t)ranks;
    if (options.samples == 0)
        return NULL;
    must(lb_model_distribution(model, workload, &options, &distribution, &err), &err);
    return distribution;
}

static void send(const lb_distribution *distribution) {
    lb_error err;
    char *text = NULL;
    if (distribution != NULL)
        must(lb_distribution_format(distribution, &text, &err), &err);
    unsigned long long length = text != NULL ? strlen(text) : 0;
    MPI_Send(&length, 1, MPI_UNSIGNED_LONG_LONG, 0, 0, MPI_COMM_WORLD);
    if (length > 0)
        MPI_Send(text, (int)length, MPI_CHAR, 0, 1, MPI_COMM_WORLD);
    lb_free(text);
}

/* Joins another rank's part to `*all`, which may be NULL as yet. */
static void receive(int rank, lb_distribution **all) {
    lb_error err;
    lb_distribution *part;
    unsigned long long length;
    MPI_Recv(&length, 1, MPI_UNSIGNED_LONG_LONG, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (length == 0)
        return;
    char *text = malloc(length);
    if (text == NULL) {
        fprintf(stderr, "mpi-sweep: no memory\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
        return;
    }
    MPI_Recv(text, (int)length, MPI_CHAR, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    must(lb_distribution_parse(text, length, &part, &err), &err);
    free(text);
    if (*all == NULL) {
        *all = part;
    } else {
        must(lb_distribution_merge(*all, part, &err), &err);
        lb_distribution_free(part);
    }
}

static void print_point(uint32_t cores, const char *policy, const lb_distribution *distribution) {
    lb_error err;
    lb_duration makespan;
    double p50, p95;
    must(lb_distribution_duration(distribution, LB_MAKESPAN, &makespan, &err), &err);
    must(lb_distribution_quantile(distribution, LB_MAKESPAN, 0.5, &p50, &err), &err);
    must(lb_distribution_quantile(distribution, LB_MAKESPAN, 0.95, &p95, &err), &err);
    printf("%u,%s,%llu,%.17g,%.17g,%.17g,%.17g\n", cores, policy,
           (unsigned long long)lb_distribution_samples(distribution), makespan.mean,
           makespan.stddev, p50, p95);
}

static void sweep(uint64_t samples, uint64_t seed, int rank, int ranks) {
    static const uint32_t sizes[] = {2, 4, 8, 16};
    static const char *const policies[] = {"lazy", "active"};
    lb_workload *workload = make_workload();
    if (rank == 0)
        printf("cores,policy,samples,makespan_mean_s,makespan_stddev_s,makespan_p50_s,"
               "makespan_p95_s\n");
    for (int i = 0; i < 8; i++) {
        lb_error err;
        lb_model_options options;
        lb_model *model;
        lb_model_options_init(&options, sizeof options);
        options.cores = sizes[i / 2];
        options.policy = i % 2 == 0 ? LB_POLICY_LAZY : LB_POLICY_ACTIVE;
        must(lb_model_new(&options, &model, &err), &err);
        lb_distribution *all = draw(model, workload, samples, seed, rank, ranks);
        if (rank == 0) {
            for (int other = 1; other < ranks; other++)
                receive(other, &all);
            print_point(options.cores, policies[i % 2], all);
        } else {
            send(all);
        }
        lb_distribution_free(all);
        lb_model_free(model);
    }
    lb_workload_free(workload);
}

/* A whole number from 0 on; else -1. */
static long long whole(const char *text) {
    char *end;
    long long value = strtoll(text, &end, 10);
    return end != text && *end == '\0' && value >= 0 ? value : -1;
}

int main(int argc, char **argv) {
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    long long samples = argc > 1 ? whole(argv[1]) : 10000, seed = argc > 2 ? whole(argv[2]) : 1;
    if (argc > 3 || samples < 1 || samples > 2000000 || seed < 0) {
        if (rank == 0)
            fprintf(stderr, "usage: mpi-sweep [SAMPLES [SEED]]: 1 to 2000000 samples\n");
        MPI_Finalize();
        return 2;
    }
    sweep((uint64_t)samples, (uint64_t)seed, rank, ranks);
    MPI_Finalize();
    return 0;
}
