/* SPDX-License-Identifier: BSD-3-Clause */
/* Immediate balancing against SimGrid: one host of many cores, whose executions share it max-min
 * fairly, with priorities as weights and bounds as caps of one core's speed.
 *
 * SimGrid's own defaults (surf/precision 1e-9 s, maxmin/precision 1e-5 flop/s) would merge what is
 * apart: they are set to 1e-14 and 1e-12 (at 1e-13 the solver of 3.32 runs out of its variables and
 * crashes), and cpu/optim to Full, which does not accumulate errors in a heap.
 */
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>

#include <simgrid/s4u.hpp>

#include "dice.h"
#include "lbsched/lbsched.h"

namespace sg4 = simgrid::s4u;

struct Problem {
    int cores, n;
    bool weights, arrivals;
    double speed; /* of every core */
};

static const Problem problems[] = {
    {1, 5, false, false, 1},      {2, 6, true, false, 1},     {4, 12, false, false, 1},
    {4, 12, true, false, 2.5},    {4, 12, true, true, 1},     {16, 10, true, true, 0.5},
    {16, 1000, false, false, 1},  {16, 1000, true, false, 1}, {64, 3000, true, true, 1},
    {64, 10000, false, false, 1},
};

static void must(lb_status status, const lb_error &err) {
    if (status != LB_OK) {
        std::printf("FAILED: %s\n", err.message);
        std::exit(1);
    }
}

static void solve(const Problem &p, const std::vector<double> &work,
                  const std::vector<double> &weight, const std::vector<double> &arrival,
                  std::vector<double> &seconds) {
    lb_error err;
    lb_model_options options;
    lb_model *model = nullptr;
    lb_workload *workload = nullptr;
    std::vector<double> speeds(p.cores, p.speed);
    lb_model_options_init(&options, sizeof options);
    options.cores = p.cores;
    options.policy = LB_POLICY_IMMEDIATE;
    options.core_speeds = speeds.data();
    must(lb_model_new(&options, &model, &err), err);
    must(lb_workload_new(&workload, &err), err);
    must(lb_workload_add_many(workload, work.data(), p.n, nullptr, &err), err);
    must(lb_workload_set_weights(workload, 0, weight.data(), p.n, &err), err);
    for (int i = 0; i < p.n; i++)
        must(lb_workload_set_arrival(workload, i, arrival[i], &err), err);
    must(lb_model_sample(model, workload, 0, seconds.data(), &err), err);
    lb_workload_free(workload);
    lb_model_free(model);
}

/* In a process of its own, since a program can have but one SimGrid engine. */
static int compare(const Problem &p, const char *name) {
    uint64_t dice = 7 + p.n;
    std::vector<double> work(p.n), weight(p.n, 1), arrival(p.n, 0), seconds(p.n);
    for (int i = 0; i < p.n; i++) {
        work[i] = 0.5 + 10 * dice_unit(&dice);
        if (p.weights)
            weight[i] = std::pow(1.25, dice_below(&dice, 40) - 20);
        if (p.arrivals && i % 2 == 1)
            arrival[i] = 5.0 * p.n / p.cores * dice_unit(&dice);
    }
    solve(p, work, weight, arrival, seconds);

    const char *options[] = {name, "--cfg=surf/precision:1e-14", "--cfg=maxmin/precision:1e-12",
                             "--cfg=cpu/optim:Full", "--log=root.thres:error"};
    int count = sizeof options / sizeof *options;
    std::vector<char *> arguments;
    for (const char *option : options)
        arguments.push_back(const_cast<char *>(option));
    arguments.push_back(nullptr);
    sg4::Engine engine(&count, arguments.data());
    auto *zone = sg4::create_full_zone("zone");
    auto *host = zone->create_host("host", p.speed)->set_core_count(p.cores)->seal();
    zone->seal();
    std::vector<sg4::ExecPtr> execs;
    for (int i = 0; i < p.n; i++)
        execs.push_back(sg4::Exec::init()
                            ->set_host(host)
                            ->set_flops_amount(work[i])
                            ->set_priority(weight[i])
                            ->set_bound(p.speed));
    std::vector<int> order(p.n);
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](int a, int b) { return arrival[a] < arrival[b]; });
    if (p.arrivals)
        sg4::Actor::create("starter", host, [&]() {
            for (int i : order) {
                sg4::this_actor::sleep_until(arrival[i]);
                execs[i]->start();
            }
        });
    else
        for (auto &exec : execs)
            exec->start();
    engine.run();

    double worst = 0;
    for (int i = 0; i < p.n; i++) {
        double end = execs[i]->get_finish_time();
        worst = std::fmax(worst, std::fabs(arrival[i] + seconds[i] - end) / end);
    }
    std::printf("%s: %d cores, %d processes%s%s, speed %g: at most %.1e of the completion apart\n",
                worst <= 1e-9 ? "ok" : "FAILED", p.cores, p.n, p.weights ? ", weights" : "",
                p.arrivals ? ", arrivals" : "", p.speed, worst);
    std::fflush(stdout);
    return worst <= 1e-9 ? 0 : 1;
}

int main(int, char **argv) {
    bool failed = false;
    for (const Problem &p : problems) {
        std::fflush(stdout);
        pid_t child = fork();
        if (child == 0)
            _exit(compare(p, argv[0]));
        int status = 1;
        failed = child < 0 || waitpid(child, &status, 0) < 0 || status != 0 || failed;
    }
    return failed ? 1 : 0;
}
