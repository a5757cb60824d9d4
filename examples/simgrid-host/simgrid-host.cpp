/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs in a SimGrid simulation on a host whose cores keep lbsched's run lists, under each policy;
 * beside it SimGrid's own host of as many cores. Some jobs arrive later, some are suspended and
 * resumed, one is killed: all that comes before the time that lbsched proposed.
 *
 *     simgrid-host [CORES [SEED]]    (default 4 1)
 */
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "listed_host.hpp"

namespace sg4 = simgrid::s4u;

struct Job {
    double arrival, work, weight;
    double suspend, resume; /* times; INFINITY: never */
    double kill;            /* likewise */
};

/* Three times as many jobs as cores. */
static std::vector<Job> make_jobs(int cores) {
    std::vector<Job> jobs;
    for (int i = 0; i < 3 * cores; i++) {
        Job job = {0, 1 + 0.37 * i, 1, INFINITY, INFINITY, INFINITY};
        if (i % 4 == 1)
            job.arrival = 0.83 * i;
        if (i % 4 == 2) {
            job.suspend = job.arrival + 1.1 + 0.01 * i;
            job.resume = job.suspend + 2.3;
        }
        if (i % 5 == 3)
            job.weight = 2;
        if (i == 3 * cores - 1)
            job.kill = job.arrival + 2.7;
        jobs.push_back(job);
    }
    return jobs;
}

static void must(lb_status status, const lb_error &err) {
    if (status != LB_OK)
        throw std::runtime_error(err.message);
}

static lb_model *make_model(int cores, lb_policy policy) {
    lb_error err;
    lb_model_options options;
    lb_model *model;
    lb_model_options_init(&options, sizeof options);
    options.cores = static_cast<uint32_t>(cores);
    options.policy = policy;
    must(lb_model_new(&options, &model, &err), err);
    return model;
}

/* What the model alone says of the same jobs: when each ends. */
static std::vector<double> predict(const lb_model *model, uint64_t seed,
                                   const std::vector<Job> &jobs) {
    lb_error err;
    lb_workload *workload;
    std::vector<double> seconds(jobs.size());
    must(lb_workload_new(&workload, &err), err);
    for (size_t i = 0; i < jobs.size(); i++) {
        const Job &job = jobs[i];
        must(lb_workload_add(workload, job.work, nullptr, &err), err);
        must(lb_workload_set_weight(workload, i, job.weight, &err), err);
        must(lb_workload_set_arrival(workload, i, job.arrival, &err), err);
        for (auto [time, kind] :
             {std::pair(job.suspend, LB_EVENT_SLEEP), std::pair(job.resume, LB_EVENT_WAKE),
              std::pair(job.kill, LB_EVENT_STOP)})
            if (time < INFINITY)
                must(lb_workload_add_event(workload, i, time, kind, &err), err);
    }
    must(lb_model_sample(model, workload, seed, seconds.data(), &err), err);
    for (size_t i = 0; i < jobs.size(); i++)
        seconds[i] += jobs[i].arrival;
    lb_workload_free(workload);
    return seconds;
}

/* Another actor that does something to a job while its own actor waits; a job that is done by then
 * is left alone. */
static void at(sg4::Host *home, double time, const std::function<void()> &act) {
    if (time < INFINITY)
        sg4::Actor::create("interferer", home, [time, act]() {
            sg4::this_actor::sleep_until(time);
            act();
        })->daemonize();
}

static void run_listed(ListedHost &host, sg4::Host *home, const std::vector<Job> &jobs,
                       std::vector<double> &ends) {
    for (size_t i = 0; i < jobs.size(); i++)
        sg4::Actor::create("job", home, [&, i, home]() {
            const Job &job = jobs[i];
            sg4::this_actor::sleep_until(job.arrival);
            ListedHost::Tag tag = host.start(job.work, job.weight);
            auto alive = std::make_shared<bool>(true);
            at(home, job.suspend, [&host, tag, alive]() {
                if (*alive)
                    host.suspend(tag);
            });
            at(home, job.resume, [&host, tag, alive]() {
                if (*alive)
                    host.resume(tag);
            });
            at(home, job.kill, [&host, tag, alive]() {
                if (*alive)
                    host.kill(tag);
            });
            ends[i] = host.wait(tag);
            *alive = false;
        });
}

static void run_own(sg4::Host *host, const std::vector<Job> &jobs, std::vector<double> &ends) {
    for (size_t i = 0; i < jobs.size(); i++)
        sg4::Actor::create("job", host, [&, i, host]() {
            const Job &job = jobs[i];
            sg4::this_actor::sleep_until(job.arrival);
            sg4::ExecPtr exec = sg4::Exec::init()
                                    ->set_host(host)
                                    ->set_flops_amount(job.work)
                                    ->set_priority(job.weight)
                                    ->set_bound(1);
            exec->start();
            auto alive = std::make_shared<bool>(true);
            at(host, job.suspend, [exec, alive]() {
                if (*alive)
                    exec->suspend();
            });
            at(host, job.resume, [exec, alive]() {
                if (*alive)
                    exec->resume();
            });
            at(host, job.kill, [exec, alive]() {
                if (*alive)
                    exec->cancel();
            });
            try {
                exec->wait();
                ends[i] = exec->get_finish_time();
            } catch (const simgrid::CancelException &) {
                ends[i] = INFINITY;
            }
            *alive = false;
        });
}

static double apart(const std::vector<double> &a, const std::vector<double> &b) {
    double most = 0;
    for (size_t i = 0; i < a.size(); i++)
        if (a[i] != b[i])
            most = std::fmax(most, std::fabs(a[i] - b[i]));
    return most;
}

/* `own` are options of SimGrid. */
static int simulate(const std::vector<std::string> &own, int cores, uint64_t seed) {
    std::vector<std::string> words = {
        "simgrid-host", "--cfg=surf/precision:1e-12", "--cfg=maxmin/precision:1e-12",
        "--cfg=contexts/stack-size:256" /* KiB an actor */, "--log=root.thres:error"};
    words.insert(words.end(), own.begin(), own.end());
    std::vector<char *> arguments;
    for (std::string &word : words)
        arguments.push_back(&word[0]);
    int count = static_cast<int>(arguments.size());
    arguments.push_back(nullptr);
    sg4::Engine engine(&count, arguments.data());
    auto *zone = sg4::create_full_zone("zone");
    auto *host = zone->create_host("host", 1.0)->set_core_count(cores)->seal();
    zone->seal();

    const std::vector<Job> jobs = make_jobs(cores);
    static const char *const names[] = {"none", "lazy", "active", "immediate"};
    std::vector<std::vector<double>> ends(5, std::vector<double>(jobs.size(), -1)), predicted;
    std::vector<std::unique_ptr<ListedHost>> listed;
    for (int k = 0; k < 4; k++) {
        lb_model *model = make_model(cores, static_cast<lb_policy>(LB_POLICY_NONE + k));
        listed.push_back(std::make_unique<ListedHost>(model, seed, host));
        run_listed(*listed.back(), host, jobs, ends[k]);
        predicted.push_back(predict(model, seed, jobs));
        lb_model_free(model);
    }
    run_own(host, jobs, ends[4]);
    engine.run();

    std::printf("%d cores; when jobs end, in seconds (inf: killed)\n%4s %8s", cores, "job", "work");
    for (const char *policy : names)
        std::printf(" %10s", policy);
    std::printf(" %10s\n", "SimGrid");
    for (size_t i = 0; i < jobs.size(); i++) {
        std::printf("%4zu %8.2f", i, jobs[i].work);
        for (const auto &column : ends)
            std::printf(" %10.6f", column[i]);
        std::printf("\n");
    }
    bool same = true;
    for (int k = 0; k < 4; k++) {
        double most = apart(ends[k], predicted[k]);
        same = same && most <= 1e-9;
        std::printf("%s in the simulation and predicted at once: at most %.1e s apart\n", names[k],
                    most);
    }
    double most = apart(ends[3], ends[4]);
    std::printf("immediate and SimGrid's own host: at most %.1e s apart\n", most);
    return same && most <= 1e-9 ? 0 : 1;
}

/* A whole number from 0 on; else -1. */
static long long whole(const std::string &text) {
    bool digits = !text.empty() && text.size() < 19 &&
                  text.find_first_not_of("0123456789") == std::string::npos;
    return digits ? std::stoll(text) : -1;
}

int main(int argc, char **argv) {
    std::vector<std::string> numbers, own;
    for (int i = 1; i < argc; i++) {
        std::string word = argv[i];
        bool simgrids = word.rfind("--cfg=", 0) == 0 || word.rfind("--log=", 0) == 0;
        (simgrids ? own : numbers).push_back(word);
    }
    long long cores = numbers.size() > 0 ? whole(numbers[0]) : 4;
    long long seed = numbers.size() > 1 ? whole(numbers[1]) : 1;
    if (numbers.size() > 2 || cores < 1 || cores > 1000 || seed < 0) {
        std::fprintf(stderr, "usage: simgrid-host [--cfg=..] [--log=..] [CORES [SEED]]\n"
                             "1 to 1000 cores; --cfg and --log are SimGrid's own options\n");
        return 2;
    }
    try {
        return simulate(own, static_cast<int>(cores), static_cast<uint64_t>(seed));
    } catch (const std::exception &error) {
        std::fprintf(stderr, "simgrid-host: %s\n", error.what());
        return 1;
    }
}
