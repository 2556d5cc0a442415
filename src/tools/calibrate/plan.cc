// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/calibrate/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "common/error.h"

namespace huddle::calibrate {
namespace {

// The documented limits are 60 s on 2 cores, 300 s on 64 cores and 5 s for a quick run. The
// difference is for start-up, for writing the file and for steps that end a little late.
constexpr double limit_of_two_cores = 48;
constexpr double limit_of_many_cores = 255;
constexpr double many_cores = 64;
constexpr double limit_of_quick = 3.6;
// Maximum ratio of a step's time limit to its expected time, which leaves room for repetitions of
// unsteady measurements and for other load. A quiet machine does not need it. The total limit may
// require a smaller ratio.
constexpr double most_allowance = 2.0 * (1 + most_repetitions);

// Added to every step: time to wake threads on a machine with other load.
constexpr double slack_of_step = 0.1;
constexpr double slack_of_quick_step = 0.03;

// Distributes the total limit over the steps.
void set_limits(Plan& plan) {
  const double slack = plan.quick ? slack_of_quick_step : slack_of_step;
  for (Step& step : plan.steps) step.setup_seconds += slack;
  const double expected = plan.expected_seconds();
  const double limit = time_limit_seconds(plan.pus.size(), plan.quick);
  const double allowance = std::min(most_allowance, limit / expected);
  for (Step& step : plan.steps) {
    step.limit_seconds = step.expected_seconds() * allowance;
    // If even the expected time exceeds the limit, every measurement is shortened.
    step.extent.seconds *= std::min(1.0, allowance);
  }
}

std::string these_are(const machine::CpuSet& cpus) {
  return cpus.count() == 1 ? fmt::format("hardware thread {} is", cpus.text())
                           : fmt::format("hardware threads {} are", cpus.text());
}

void say_what_is_left_out(const machine::Topology& topology, const PlanRequest& request,
                          Plan& plan) {
  const machine::CpuSet missing = without(topology.pus, request.allowed);
  if (!missing.empty()) {
    plan.notes.push_back(these_are(missing) + " not available to this process, and not measured");
  }
  if (!topology.offline.empty()) {
    plan.notes.push_back(these_are(topology.offline) + " offline");
  }
  if (plan.pus.size() == 1) {
    plan.notes.emplace_back(
        "this process may use only one core: communication between cores cannot be measured");
  }
}

}  // namespace

double Step::expected_seconds() const {
  return setup_seconds + std::accumulate(seconds.begin(), seconds.end(), 0.0);
}

double Plan::expected_seconds() const {
  return std::accumulate(steps.begin(), steps.end(), 0.0, [](double sum, const Step& step) {
    return sum + step.expected_seconds();
  });
}

double Plan::limit_seconds() const {
  return std::accumulate(steps.begin(), steps.end(), 0.0,
                         [](double sum, const Step& step) { return sum + step.limit_seconds; });
}

double time_limit_seconds(std::size_t cores, bool quick) {
  if (quick) return limit_of_quick;
  const double share = std::clamp((static_cast<double>(cores) - 2) / (many_cores - 2), 0.0, 1.0);
  return limit_of_two_cores + share * (limit_of_many_cores - limit_of_two_cores);
}

Plan make_plan(const machine::Topology& topology, const PlanRequest& request) {
  Plan plan;
  plan.quick = request.quick;
  plan.pus = measured_pus(topology, request.allowed);
  if (plan.pus.empty())
    throw FailureError("this process may not use any hardware thread of this machine");
  const Planner planner(topology, request, plan.pus);
  for (const auto& steps :
       {planner.lines(), planner.flags(), planner.copies(), planner.handoffs(), planner.memory(),
        planner.paths(), planner.system(), planner.arrays(), planner.lines_again()}) {
    plan.steps.insert(plan.steps.end(), steps.begin(), steps.end());
  }
  set_limits(plan);
  say_what_is_left_out(topology, request, plan);
  return plan;
}

}  // namespace huddle::calibrate
