/* SPDX-License-Identifier: BSD-3-Clause */
/* The model against SimGrid: 64 cores, 10,000 processes. Immediate: executions on one host of 64
 * cores, without actors, cpu/optim Full (the fastest setting found). Lazy: executions on 64 hosts
 * of one core, moved by hand when one runs dry. Set-up and run count, on both sides.
 *
 *     bench_simgrid [PAIRS]    (default 10)
 */
#include <sys/wait.h>
#include <unistd.h>

#include <map>
#include <random>
#include <string>
#include <vector>

#include <simgrid/s4u.hpp>

#include "bench.h"
#include "lbsched/lbsched.h"

namespace sg4 = simgrid::s4u;

struct Input {
    int cores;
    bool lazy;
    const char *optim;
    std::vector<double> works;
};

static void must(lb_status status, const lb_error &err) {
    if (status != LB_OK) {
        std::printf("%s: %s\n", lb_status_name(status), err.message);
        std::exit(1);
    }
}

static double library(void *user) {
    const Input &in = *static_cast<Input *>(user);
    lb_error err;
    lb_model_options options;
    lb_model *model = nullptr;
    lb_workload *workload = nullptr;
    std::vector<double> seconds(in.works.size());
    double begun = bench_now();
    lb_model_options_init(&options, sizeof options);
    options.cores = in.cores;
    options.policy = in.lazy ? LB_POLICY_LAZY : LB_POLICY_IMMEDIATE;
    must(lb_model_new(&options, &model, &err), err);
    must(lb_workload_new(&workload, &err), err);
    must(lb_workload_add_many(workload, in.works.data(), in.works.size(), nullptr, &err), err);
    must(lb_model_sample(model, workload, 1, seconds.data(), &err), err);
    lb_workload_free(workload);
    lb_model_free(model);
    return bench_now() - begun;
}

static double simulate(const Input &in) {
    std::string optim = std::string("--cfg=cpu/optim:") + in.optim;
    std::string log = "--log=root.thres:error";
    std::vector<char *> arguments = {const_cast<char *>("bench"), &optim[0], &log[0], nullptr};
    int count = 3;
    double begun = bench_now();
    sg4::Engine engine(&count, arguments.data());
    auto *zone = sg4::create_full_zone("zone");
    std::vector<sg4::Host *> hosts;
    if (in.lazy)
        for (int j = 0; j < in.cores; j++)
            hosts.push_back(zone->create_host("host" + std::to_string(j), 1.0)->seal());
    else
        hosts.push_back(zone->create_host("host", 1.0)->set_core_count(in.cores)->seal());
    zone->seal();

    std::vector<sg4::ExecPtr> execs;
    std::map<const sg4::Exec *, int> number;
    std::vector<std::vector<int>> lists(hosts.size());
    std::vector<int> home(in.works.size());
    std::mt19937_64 dice(1);
    for (size_t i = 0; i < in.works.size(); i++) {
        int j = static_cast<int>(i % hosts.size());
        execs.push_back(sg4::Exec::init()->set_host(hosts[j])->set_flops_amount(in.works[i]));
        if (in.lazy) {
            number[execs[i].get()] = static_cast<int>(i);
            lists[j].push_back(static_cast<int>(i));
            home[i] = j;
        }
    }
    if (in.lazy)
        sg4::Exec::on_completion_cb([&](sg4::Activity const &done) {
            int i = number[static_cast<const sg4::Exec *>(&done)], j = home[i];
            auto &list = lists[j];
            list.erase(std::find(list.begin(), list.end(), i));
            std::vector<int> givers;
            for (size_t k = 0; list.empty() && k < lists.size(); k++)
                if (lists[k].size() >= 2)
                    givers.push_back(static_cast<int>(k));
            if (givers.empty())
                return;
            auto &from = lists[givers[dice() % givers.size()]];
            size_t at = dice() % from.size();
            int moved = from[at];
            from.erase(from.begin() + static_cast<long>(at));
            list.push_back(moved);
            home[moved] = j;
            execs[moved]->set_host(hosts[j]);
        });
    for (auto &exec : execs)
        exec->start();
    engine.run();
    return bench_now() - begun;
}

/* A program can have but one SimGrid engine: each run is a process. */
static double simgrid_once(void *user) {
    int ends[2];
    double took = NAN;
    std::fflush(stdout);
    if (pipe(ends) != 0)
        std::exit(1);
    pid_t child = fork();
    if (child == 0) {
        took = simulate(*static_cast<Input *>(user));
        _exit(write(ends[1], &took, sizeof took) == sizeof took ? 0 : 1);
    }
    int status = 1;
    if (child < 0 || read(ends[0], &took, sizeof took) != sizeof took ||
        waitpid(child, &status, 0) < 0 || status != 0) {
        std::printf("SimGrid failed\n");
        std::exit(1);
    }
    close(ends[0]);
    close(ends[1]);
    return took;
}

int main(int argc, char **argv) {
    int pairs = argc > 1 ? std::atoi(argv[1]) : 10;
    Input in = {64, false, "Full", {}};
    std::mt19937_64 dice(3);
    std::exponential_distribution<double> work(1);
    for (int i = 0; i < 10000; i++)
        in.works.push_back(work(dice));
    bench_row("immediate: 64 cores, 10,000; SimGrid, one host, cpu/optim Full", library,
              simgrid_once, &in, pairs, 1, 5000);
    in.lazy = true;
    in.optim = "Lazy";
    bench_row("lazy: 64 cores, 10,000; SimGrid, execs moved by hand between hosts", library,
              simgrid_once, &in, pairs, 1, 100);
    return 0;
}
