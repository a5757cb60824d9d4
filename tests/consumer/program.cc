// SPDX-License-Identifier: BSD-3-Clause
// The same from C++11, with owners as a C++ program would have them.
#include <lbsched/lbsched.h>

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <vector>

namespace {

void must(lb_status status, const lb_error &err) {
    if (status != LB_OK)
        throw std::runtime_error(err.message);
}

struct Free {
    void operator()(lb_model *model) const {
        lb_model_free(model);
    }
    void operator()(lb_workload *workload) const {
        lb_workload_free(workload);
    }
};

} // namespace

int main() {
    const std::vector<double> works = {1, 2, 3, 4, 5, 6};
    std::vector<lb_duration> durations(works.size());
    lb_error err;
    lb_model *model = nullptr;
    must(lb_model_preset("linux-2.6.31", 2, &model, &err), err);
    std::unique_ptr<lb_model, Free> model_owner(model);
    lb_workload *workload = nullptr;
    must(lb_workload_new(&workload, &err), err);
    std::unique_ptr<lb_workload, Free> workload_owner(workload);
    must(lb_workload_add_many(workload, works.data(), works.size(), nullptr, &err), err);
    must(lb_model_durations(model, workload, nullptr, durations.data(), &err), err);
    for (const lb_duration &duration : durations)
        std::printf(&duration == &durations.front() ? "%g" : " %g", duration.mean);
    std::printf("\n");
}
