// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The common part of all steps, and the steps that move data. See step_lines.cc for cache lines.
#include "tools/calibrate/step_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "common/text.h"
#include "model/machine/locate.h"
#include "tools/calibrate/cores_and_sizes.h"
#include "tools/calibrate/handoff_probe.h"
#include "tools/calibrate/memory_probe.h"
#include "tools/calibrate/path_probe.h"
#include "tools/calibrate/repeat.h"
#include "tools/calibrate/system_probe.h"

namespace huddle::calibrate {
namespace {

using memory::CopyKernel;

double generic_copy_factor(const machine::Topology& topology, const std::string& level) {
  for (const machine::MemoryCost& cost : machine::generic_machine(topology).memory) {
    if (cost.level == level) return cost.copy_factor;
  }
  return 1;
}

}  // namespace

void StepRun::carry_out(Findings& findings) {
  switch (step_.kind) {
    case StepKind::line_pairs:
      return line_pairs(findings);
    case StepKind::line_clusters:
      return line_clusters(findings);
    case StepKind::line_level:
      return line_level(findings);
    case StepKind::flags:
      return flags(findings);
    case StepKind::copy:
      return copy(findings);
    case StepKind::handoff:
      return handoff(findings);
    case StepKind::memory:
      return memory(findings);
    case StepKind::path:
      return path(findings);
    case StepKind::system:
      return system(findings);
    case StepKind::arrays:
      return arrays(findings);
    case StepKind::line_again:
      return line_again(findings);
  }
}

// Returns the budget of the next measurement. The remaining time is distributed by the planned
// times, so that a measurement that ends early leaves its time to the following ones.
Budget StepRun::next_share() {
  if (done_ >= step_.seconds.size()) return budget_;
  const auto next = step_.seconds.begin() + static_cast<std::ptrdiff_t>(done_);
  const double still = std::accumulate(next, step_.seconds.end(), 0.0);
  return budget_.slice(budget_.left_seconds() * *next / still);
}

// With other load on the machine, the set-up alone may exceed the step's limit and leave no result.
void StepRun::make_up_for_setup() {
  const double expected = step_.expected_seconds();
  const double share = (expected - step_.setup_seconds) / expected;
  const double planned = step_.limit_seconds * share;
  if (budget_.left_seconds() < planned) budget_ = budget_.renewed(planned);
}

Measured StepRun::measure_next(Findings& findings, const std::string& detail,
                               const Tolerance& tolerance, const Attempt& attempt) {
  if (done_ == 0) make_up_for_setup();
  const Budget share = next_share();
  ++done_;
  Measured measured;
  if (!budget_.spent()) measured = measure(tolerance, share, attempt);
  if (!budget_.stopped()) findings.doubts.record(step_.name, detail, measured);
  advance_(static_cast<double>(done_) / static_cast<double>(step_.seconds.size()));
  return measured;
}

machine::Curve StepRun::curve(Findings& findings, const std::vector<std::size_t>& sizes,
                              const std::string& what, const Tolerance& tolerance,
                              const std::function<Samples(std::size_t, const Budget&)>& attempt) {
  machine::Curve curve;
  for (const std::size_t bytes : sizes) {
    const std::string detail = what + size_text(static_cast<double>(bytes));
    const Measured measured = measure_next(
        findings, detail, tolerance, [&](const Budget& budget) { return attempt(bytes, budget); });
    if (!measured.usable()) continue;
    curve.bytes.push_back(static_cast<double>(bytes));
    curve.ns.push_back(measured.summary.median);
    curve.spread.push_back(measured.summary.spread);
  }
  return curve;
}

machine::CopyCurve StepRun::copy_curve(Findings& findings, CopyProbe& probe, CopyKernel kernel) {
  machine::CopyCurve result;
  result.level = step_.level;
  result.copiers = static_cast<int>(step_.pus.size());
  result.origin = machine::Origin::measured;
  const bool is_plain = kernel == CopyKernel::plain;
  const std::string what = is_plain ? "" : std::string(name(kernel)) + " ";
  const auto time = [&](std::size_t bytes, const Budget& budget) {
    return probe.time(bytes, kernel, step_.extent, budget);
  };
  result.curve = curve(findings, is_plain ? step_.sizes : step_.sizes_past_caches, what,
                       usual_tolerance, time);
  return result;
}

void StepRun::copy(Findings& findings) {
  CopyProbe probe(crew_, step_.pus, step_.sizes.back());
  const machine::CopyCurve result = copy_curve(findings, probe, CopyKernel::plain);
  // A curve needs two points: larger copies are extrapolated by its slope.
  const auto is_a_curve = [](const machine::CopyCurve& one) { return one.curve.bytes.size() >= 2; };
  if (!is_a_curve(result)) {
    findings.doubts.add(step_.name, "too few sizes could be measured for a curve: it is estimated");
    return;
  }
  findings.machine.copy.push_back(result);
  if (is_native(CopyKernel::nontemporal)) {
    const machine::CopyCurve past = copy_curve(findings, probe, CopyKernel::nontemporal);
    if (is_a_curve(past)) findings.machine.copy_past_caches.push_back(past);
  }
  // A copy touches twice its size, because each core reads one buffer and writes the other.
  const auto largest = static_cast<std::size_t>(result.curve.bytes.back());
  doubt_cache(findings, "the largest copy",
              2 * largest * cache_sharers(findings.machine.topology, step_.pus));
}

// The reason may be too little memory, too little time, or a larger cache than expected.
void StepRun::doubt_cache(Findings& findings, const std::string& what, std::size_t bytes) {
  const std::size_t needed = beyond_caches(findings.machine.topology);
  if (bytes >= needed) return;
  findings.doubts.add(step_.name, fmt::format("{} covered only {}, but the caches require {}: it "
                                              "may have timed a cache instead of memory",
                                              what, size_text(static_cast<double>(bytes)),
                                              size_text(static_cast<double>(needed))));
}

void StepRun::handoff_curve(Findings& findings, HandoffProbe& probe,
                            const CopyMethodCurve& of_method) {
  machine::HandoffCurve result;
  result.level = step_.level;
  result.kind = of_method.kind;
  result.origin = machine::Origin::measured;
  const std::string name(facts_of(of_method.kind).name);
  result.curve = curve(findings, step_.sizes, name + " ", usual_tolerance,
                       [&](std::size_t bytes, const Budget& budget) {
                         return time_handoff(probe, of_method, bytes, step_.extent, budget);
                       });
  if (!result.curve.bytes.empty()) findings.machine.handoff.push_back(result);
}

void StepRun::handoff(Findings& findings) {
  const auto [writer, reader] = step_.pairs.front();
  HandoffProbe probe(crew_, writer, reader, step_.sizes.back());
  for (const CopyMethodCurve& one : copy_method_curves()) handoff_curve(findings, probe, one);
}

void StepRun::memory(Findings& findings) {
  machine::MemoryCost cost;
  cost.level = step_.level;
  cost.origin = machine::Origin::measured;
  {
    MemoryProbe probe(crew_, step_.pus.front(), step_.sizes.front(), step_.numa_node, budget_);
    const Measured measured =
        measure_next(findings, "load", usual_tolerance,
                     [&](const Budget& budget) { return probe.time_loads(step_.extent, budget); });
    if (!measured.usable()) return;
    cost.load_ns = measured.summary.median;
    doubt_cache(findings, "the chain of loads", probe.chase_bytes());
  }
  far_copy(findings, cost);
  findings.machine.memory.push_back(cost);
}

// Measures a copy from the step's NUMA node. For another node than the core's own, stores its ratio
// to the copy from the own node; if that was not measured, keeps the generic ratio.
void StepRun::far_copy(Findings& findings, machine::MemoryCost& cost) {
  if (step_.numa_node == memory::PageBuffer::where_touched) return;
  if (!step_.home) cost.copy_factor = generic_copy_factor(findings.machine.topology, step_.level);
  const std::size_t bytes = step_.sizes.front() / 2;
  const memory::PageBuffer source(bytes, step_.numa_node);
  const memory::PageBuffer target(bytes);
  crew_.run(step_.pus, [&](std::size_t) {
    source.touch();
    target.touch();
  });
  const Measured measured =
      measure_next(findings, "copy", usual_tolerance, [&](const Budget& budget) {
        return time_together(crew_, step_.pus, 1, step_.extent, budget,
                             [&](std::size_t, std::size_t) {
                               copy_bytes(CopyKernel::plain, target.data(), source.data(), bytes);
                             });
      });
  if (!measured.usable()) return;
  if (step_.home) {
    findings.near_copy_ns = measured.summary.median;
  } else if (findings.near_copy_ns) {
    cost.copy_factor = std::max(1.0, measured.summary.median / *findings.near_copy_ns);
  } else {
    findings.doubts.add(step_.name,
                        "no copy from the own NUMA node to compare with: copy_factor is estimated");
  }
}

void StepRun::path(Findings& findings) {
  PathProbe probe(crew_, step_.path, step_.pairs, step_.sizes.back());
  if (const std::string refusal = probe.refusal(); !refusal.empty()) {
    findings.notes.push_back(step_.name + ": " + refusal);
    return;
  }
  machine::PathCurve result;
  result.path = step_.path.name;
  result.level = step_.level;
  result.copiers = static_cast<int>(step_.pus.size());
  result.origin = machine::Origin::measured;
  result.curve = curve(findings, step_.sizes, "", usual_tolerance,
                       [&](std::size_t bytes, const Budget& budget) {
                         return probe.time(bytes, step_.extent, budget);
                       });
  if (!result.curve.bytes.empty()) findings.machine.paths.push_back(result);
}

void StepRun::system(Findings& findings) {
  for (std::size_t i = 0; i < machine::system_call_names.size(); ++i) {
    const auto call = static_cast<machine::SystemCall>(i);
    const Measured measured =
        measure_next(findings, std::string(machine::system_call_names[i]),
                     tolerance_of_system_calls, [&](const Budget& budget) {
                       return time_system_call(crew_, call, step_.pus.front(), step_.pus.back(),
                                               step_.extent, budget);
                     });
    if (!measured.usable()) continue;
    findings.machine.system.push_back(
        {call, measured.summary.median, measured.summary.spread, machine::Origin::measured});
  }
}

// Stores the figures of both places or of none, because only their comparison is meaningful.
void StepRun::arrays(Findings& findings) {
  std::vector<machine::ArrayCost> costs;
  for (std::size_t i = 0; i < machine::array_place_names.size(); ++i) {
    const auto place = static_cast<machine::ArrayPlace>(i);
    const std::string in(machine::array_place_names[i]);
    ArrayProbe probe(crew_, step_.pus.front(), place, step_.sizes.front());
    const Measured load =
        measure_next(findings, in + ", loads", usual_tolerance,
                     [&](const Budget& budget) { return probe.time_loads(step_.extent, budget); });
    const Measured stream =
        measure_next(findings, in + ", stream", usual_tolerance,
                     [&](const Budget& budget) { return probe.time_stream(step_.extent, budget); });
    if (!load.usable() || !stream.usable()) return;
    costs.push_back({place, load.summary.median, stream.summary.median,
                     std::max(load.summary.spread, stream.summary.spread),
                     machine::Origin::measured});
  }
  findings.machine.arrays = costs;
}

}  // namespace huddle::calibrate
