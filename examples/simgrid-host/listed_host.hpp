/* SPDX-License-Identifier: BSD-3-Clause */
/* A host for SimGrid whose cores keep the run lists of an lbsched model, where SimGrid's own hosts
 * share all cores among all executions. Actors start processes on it and wait for them, and may
 * suspend, resume and kill them meanwhile.
 *
 * lbsched says when something next happens by itself; an actor of this host sleeps until then. What
 * other actors do comes earlier, and wakes it to ask again. */
#ifndef LISTED_HOST_HPP
#define LISTED_HOST_HPP

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>

#include <lbsched/lbsched.h>
#include <simgrid/s4u.hpp>

class ListedHost {
    struct Process {
        lb_process_id id;
        simgrid::s4u::SemaphorePtr done = simgrid::s4u::Semaphore::create(0);
        double finished = INFINITY;
    };

    lb_sim *sim_ = nullptr;
    std::map<uint64_t, Process> processes_;
    uint64_t next_tag_ = 0;
    bool instant_open_ = false;
    simgrid::s4u::MutexPtr mutex_ = simgrid::s4u::Mutex::create();
    simgrid::s4u::ConditionVariablePtr changed_ = simgrid::s4u::ConditionVariable::create();

    static void must(lb_status status, const lb_error &err) {
        if (status != LB_OK)
            throw std::runtime_error(std::string(lb_status_name(status)) + ": " + err.message);
    }

    /* SimGrid's clock is exact to surf/precision only, and may lag behind what lbsched proposed. */
    double now() const {
        return std::max(simgrid::s4u::Engine::get_clock(), lb_sim_now(sim_));
    }

    /* All that actors do at one time is one instant to the model, balanced once. */
    void open_instant() {
        lb_error err;
        if (!instant_open_)
            must(lb_sim_begin(sim_, now(), &err), err);
        instant_open_ = true;
        changed_->notify_one();
    }

    void release_finished() {
        lb_sim_event event;
        while (lb_sim_poll(sim_, &event))
            if (event.kind == LB_SIM_COMPLETED) {
                Process &process = processes_.at(event.tag);
                process.finished = event.time;
                process.done->release();
            }
    }

    void run() {
        lb_error err;
        std::unique_lock<simgrid::s4u::Mutex> lock(*mutex_);
        for (;;) {
            double next = lb_sim_next(sim_);
            bool due = true;
            if (next == INFINITY)
                changed_->wait(lock);
            else if (next > now())
                due = changed_->wait_until(lock, next) == std::cv_status::timeout;
            /* Woken by an actor: the others that run at this time come first. */
            if (instant_open_) {
                simgrid::s4u::this_actor::yield();
                must(lb_sim_commit(sim_, &err), err);
                instant_open_ = false;
            } else if (due && next < INFINITY) {
                must(lb_sim_advance(sim_, std::max(next, lb_sim_now(sim_)), &err), err);
            }
            release_finished();
        }
    }

  public:
    using Tag = uint64_t;

    /* `home` is where this host's own actor lives; any will do. */
    ListedHost(const lb_model *model, uint64_t seed, simgrid::s4u::Host *home) {
        lb_error err;
        must(lb_sim_new(model, seed, &sim_, &err), err);
        simgrid::s4u::Actor::create("lbsched", home, [this]() { run(); })->daemonize();
    }
    ~ListedHost() {
        lb_sim_free(sim_);
    }
    ListedHost(const ListedHost &) = delete;
    ListedHost &operator=(const ListedHost &) = delete;

    /* `work` in seconds of a core of speed 1. */
    Tag start(double work, double weight = 1) {
        lb_error err;
        Process process;
        open_instant();
        must(lb_sim_add(sim_, work, weight, LB_CORE_ANY, next_tag_, &process.id, &err), err);
        processes_.emplace(next_tag_, process);
        return next_tag_++;
    }

    void suspend(Tag tag) {
        lb_error err;
        open_instant();
        must(lb_sim_sleep(sim_, processes_.at(tag).id, &err), err);
    }

    void resume(Tag tag) {
        lb_error err;
        open_instant();
        must(lb_sim_wake(sim_, processes_.at(tag).id, &err), err);
    }

    /* It ends now, its work undone. */
    void kill(Tag tag) {
        lb_error err;
        open_instant();
        must(lb_sim_remove(sim_, processes_.at(tag).id, &err), err);
        processes_.at(tag).done->release();
    }

    /* Returns when the process has ended: the time; INFINITY where it was killed. */
    double wait(Tag tag) {
        processes_.at(tag).done->acquire();
        double finished = processes_.at(tag).finished;
        processes_.erase(tag);
        return finished;
    }
};

#endif
