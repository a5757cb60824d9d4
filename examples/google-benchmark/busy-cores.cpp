/* SPDX-License-Identifier: BSD-3-Clause */
/* Google Benchmark with lbsched beside it: what the host does to results is found before the first
 * measurement, printed, and added to the context of the JSON output; then a benchmark tells how
 * busy cores changed its times, and how they should have by the model.
 *
 *     busy-cores [--benchmark_out=FILE] [...]    options as Google Benchmark has them
 */
#include <atomic>
#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <benchmark/benchmark.h>
#include <lbsched/lbsched.h>

static void must(lb_status status, const lb_error &err) {
    if (status != LB_OK)
        throw std::runtime_error(err.message);
}

/* How many cores there are, and what is to be known of them. */
static unsigned preflight() {
    lb_error err;
    lb_host *host;
    lb_status status = lb_host_open(nullptr, &host, &err);
    if (status == LB_ERR_UNSUPPORTED) {
        std::fprintf(stderr, "host not looked at: %s\n", err.message);
        return std::thread::hardware_concurrency();
    }
    must(status, err);
    std::fprintf(stderr, "%s\n", lb_host_description(host));
    benchmark::AddCustomContext("lbsched", lb_version());
    benchmark::AddCustomContext("lbsched_host", lb_host_description(host));
    benchmark::AddCustomContext("lbsched_cores", std::to_string(lb_host_cores(host)));
    for (size_t i = 0; i < lb_host_finding_count(host); i++) {
        std::fprintf(stderr, "- %s\n", lb_host_finding(host, i));
        benchmark::AddCustomContext(std::string("lbsched_finding_") +
                                        lb_finding_name(lb_host_finding_kind(host, i)),
                                    lb_host_finding(host, i));
    }
    unsigned cores = lb_host_cores(host);
    lb_host_free(host);
    return cores;
}

/* How much longer work takes beside so many that never end, if all share the cores evenly. */
static double model_slowdown(unsigned cores, int busy) {
    lb_error err;
    lb_model_options options;
    lb_model *model;
    lb_workload *workload;
    lb_duration duration;
    lb_model_options_init(&options, sizeof options);
    options.cores = cores;
    must(lb_model_new(&options, &model, &err), err);
    must(lb_workload_new(&workload, &err), err);
    must(lb_workload_add(workload, 1, nullptr, &err), err);
    for (int i = 0; i < busy; i++)
        must(lb_workload_add(workload, INFINITY, nullptr, &err), err);
    must(lb_model_duration(model, workload, 0, nullptr, &duration, &err), err);
    lb_workload_free(workload);
    lb_model_free(model);
    return duration.mean;
}

/* Threads that keep cores busy until they go out of scope. */
class Busy {
    std::atomic<bool> stop_{false};
    std::vector<std::thread> threads_;

  public:
    explicit Busy(int n) {
        for (int i = 0; i < n; i++)
            threads_.emplace_back([this]() {
                while (!stop_.load(std::memory_order_relaxed))
                    ;
            });
    }
    ~Busy() {
        stop_ = true;
        for (std::thread &thread : threads_)
            thread.join();
    }
};

/* What is measured: some milliseconds of arithmetic, the longer the better seen is sharing. */
static void work(benchmark::State &state, unsigned cores) {
    static double alone = NAN; /* Seconds; the first benchmark runs beside nobody. */
    int busy = static_cast<int>(state.range(0));
    Busy others(busy);
    double seconds = 0;
    for (auto _ : state) {
        auto begun = std::chrono::steady_clock::now();
        double sum = 0;
        for (int i = 1; i < 2000000; i++)
            benchmark::DoNotOptimize(sum += 1.0 / i);
        std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
        state.SetIterationTime(took.count());
        seconds += took.count();
    }
    seconds /= static_cast<double>(state.iterations());
    if (busy == 0)
        alone = seconds;
    state.counters["slowdown"] = seconds / alone;
    state.counters["model_slowdown"] = model_slowdown(cores, busy);
}

int main(int argc, char **argv) {
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv))
        return 2;
    try {
        unsigned cores = preflight();
        auto *registered = benchmark::RegisterBenchmark(
            "work", [cores](benchmark::State &state) { work(state, cores); });
        registered->ArgName("busy")->UseManualTime()->Unit(benchmark::kMillisecond);
        registered->Arg(0);
        for (unsigned busy = 1; busy <= 2 * cores && busy < 128; busy *= 2)
            registered->Arg(busy);
        benchmark::RunSpecifiedBenchmarks();
    } catch (const std::exception &error) {
        std::fprintf(stderr, "busy-cores: %s\n", error.what());
        return 1;
    }
    return 0;
}
