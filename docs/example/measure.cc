// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Compares RelayScan with the algorithm that huddle chooses for a scan of 8 bytes, alternating on
// this machine's cores, and prints predicted and measured times. A quick calibration comes first,
// so that the predictions describe the machine in its present state.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <memory>
#include <utility>
#include <vector>

#include "common/arithmetic.h"
#include "common/text.h"
#include "model/machine/topology.h"
#include "relay_scan_implementation.h"
#include "relay_scan_price.h"
#include "tools/bench/engine/run_comparison.h"
#include "tools/bench/engine/team_calls.h"
#include "tools/calibrate/calibrate.h"
#include "tools/calibrate/cores_and_sizes.h"

namespace huddle::example {
namespace {

// Ignores the reports of progress.
class Nobody final : public calibrate::Watcher, public bench::ComparisonWatcher {
  void begin_step(const calibrate::Plan&, std::size_t) override {}
  void advance(double) override {}
};

constexpr bench::Calls scan_of_one{select::Operation::scan, sizeof(double)};
constexpr int rounds = 10;
constexpr int calls_in_a_round = 64;

bench::Comparison comparison_of(const bench::Forecast& forecast, const bench::Binding& binding) {
  bench::Comparison comparison{.name = "scan of 8",
                               .binding = binding,
                               .bytes = scan_of_one.bytes,
                               .entries = {},
                               .judgements = {}};
  const auto add = [&](const char* name, std::unique_ptr<bench::Implementation> implementation,
                       double ns) {
    comparison.entries.push_back({.name = name,
                                  .implementation = std::move(implementation),
                                  .stretches = calls_in_a_round,
                                  .predicted_ns = ns});
  };
  add("example", std::make_unique<RelayScanImplementation>(binding), relay_scan_ns(forecast.costs));
  add("huddle", std::make_unique<bench::TeamOperation>(scan_of_one),
      forecast.cheapest_ns(request_of(scan_of_one, binding.ranks)));
  return comparison;
}

void measure() {
  Nobody nobody;
  const std::atomic<bool> never{false};
  const machine::Discovery here = machine::discover_this_machine();
  const calibrate::Plan quickly =
      calibrate::make_plan(here.topology, {here.allowed, true, calibrate::usable_memory_bytes()});
  const machine::Machine machine =
      calibrate::calibrate(here.topology, quickly, nobody, never).machine;

  const std::vector<int> pus = calibrate::measured_pus(here.topology, here.allowed);
  const bench::Binding binding{std::max(2, static_cast<int>(pus.size())), pus};
  const bench::Forecast forecast(machine, binding);
  const auto result =
      run_comparison(comparison_of(forecast, binding), {machine, rounds}, nobody, never);
  fmt::print("{}, {}\n", result.name, text(binding));
  for (const bench::EntryResult& one : result.entries) {
    fmt::print("predicted {:>7}, measured {:>7}: {}\n", time_text(one.predicted_ns.value_or(0)),
               time_text(median_of(one.ns)), one.how);
  }
}

}  // namespace
}  // namespace huddle::example

int main() {
  try {
    huddle::example::measure();
  } catch (const std::exception& error) {
    fmt::print(stderr, "measure_relay: {}\n", error.what());
    return 1;
  }
  return 0;
}
