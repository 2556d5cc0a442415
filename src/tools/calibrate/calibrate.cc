// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/calibrate/calibrate.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "common/error.h"
#include "model/machine/locate.h"
#include "model/machine/machine.h"
#include "tools/calibrate/conditions.h"
#include "tools/calibrate/line_probe.h"
#include "tools/calibrate/pinned_threads.h"
#include "tools/calibrate/step_run.h"

namespace huddle::calibrate {
namespace {

using machine::LineCost;
using machine::Machine;

// Returns all hardware threads that the plan uses: one per core, and those of all measured pairs.
std::vector<int> everyone(const Plan& plan) {
  std::set<int> pus(plan.pus.begin(), plan.pus.end());
  for (const Step& step : plan.steps) {
    pus.insert(step.pus.begin(), step.pus.end());
    for (const Pair& pair : step.pairs) pus.insert({pair.first, pair.second});
  }
  return {pus.begin(), pus.end()};
}

const LineCost* find_line(const std::vector<LineCost>& lines, const std::string& level) {
  const auto found = std::find_if(lines.begin(), lines.end(),
                                  [&level](const LineCost& cost) { return cost.level == level; });
  return found == lines.end() ? nullptr : &*found;
}

LineCost scaled(const LineCost& cost, double factor) {
  LineCost result = cost;
  result.one_way_ns *= factor;
  result.shared_ns *= factor;
  result.reader_step_ns *= factor;
  result.writer_step_ns *= factor;
  return result;
}

// Fills in the levels that no two allowed hardware threads share: the generic cost, scaled by the
// ratio of measured to generic cost at another level.
void estimate_missing_lines(Machine& machine, const Machine& generic) {
  std::vector<LineCost> lines;
  double factor = 1;
  if (!machine.line.empty()) {
    const LineCost& known = machine.line.front();
    const LineCost* guess = find_line(generic.line, known.level);
    if (guess != nullptr) factor = known.one_way_ns / guess->one_way_ns;
  }
  for (const LineCost& guess : generic.line) {
    const LineCost* known = find_line(machine.line, guess.level);
    if (known != nullptr) factor = known->one_way_ns / guess.one_way_ns;
    lines.push_back(known != nullptr ? *known : scaled(guess, factor));
  }
  machine.line = lines;
}

// Estimates the costs of a further reader or writer, which can only be measured with three cores.
void estimate_missing_steps(Machine& machine, const Machine& generic) {
  for (LineCost& cost : machine.line) {
    const LineCost* guess = find_line(generic.line, cost.level);
    if (cost.steps_origin == machine::Origin::measured || guess == nullptr) continue;
    const double factor = cost.one_way_ns / guess->one_way_ns;
    cost.reader_step_ns = guess->reader_step_ns * factor;
    cost.writer_step_ns = guess->writer_step_ns * factor;
  }
}

// Adds the generic copy curve of a single core if that step failed, because the curves for several
// cores are relative to it.
void estimate_missing_copy(Machine& machine, const Machine& generic) {
  const auto is_alone = [](const machine::CopyCurve& copy) { return copy.copiers == 1; };
  if (std::any_of(machine.copy.begin(), machine.copy.end(), is_alone)) return;
  const auto guess = std::find_if(generic.copy.begin(), generic.copy.end(), is_alone);
  machine.copy.insert(machine.copy.begin(), *guess);
}

template <class Entry>
void take_if_empty(std::vector<Entry>& measured, const std::vector<Entry>& guessed) {
  if (measured.empty()) measured = guessed;
}

// Returns the description of the sampled pairs, which is "every pair" only if all were measured.
std::string sampling_text(const Findings& findings, const Plan& plan) {
  const std::vector<Pair> pairs = all_pairs(plan.pus);
  const auto measured = std::count_if(pairs.begin(), pairs.end(), [&](const Pair& pair) {
    return findings.lines.contains(
        {std::min(pair.first, pair.second), std::max(pair.first, pair.second)});
  });
  const auto all = static_cast<std::ptrdiff_t>(pairs.size());
  if (measured == all && !findings.sampling.empty()) return findings.sampling;
  return fmt::format("{} of {} pairs; the others have the latency of their level", measured, all);
}

void complete(Findings& findings, const Plan& plan) {
  Machine& machine = findings.machine;
  const Machine generic = machine::generic_machine(machine.topology);
  estimate_missing_lines(machine, generic);
  estimate_missing_steps(machine, generic);
  machine.outstanding_misses = generic.outstanding_misses;
  take_if_empty(machine.copy, generic.copy);
  estimate_missing_copy(machine, generic);
  take_if_empty(machine.handoff, generic.handoff);
  take_if_empty(machine.memory, generic.memory);
  take_if_empty(machine.system, generic.system);
  machine.pairs = filled_pairs(machine, plan.pus, findings.lines);
  if (machine.pairs) machine.pairs->sampling = sampling_text(findings, plan);
}

std::string method_text(const Plan& plan, int measurements) {
  return fmt::format(
      "{} calibration: {} measurements, medians of samples by pinned threads; unsteady "
      "measurements were repeated up to {} times, and the steadiest was kept",
      machine::calibration_names[static_cast<std::size_t>(plan.quick ? machine::Calibration::quick
                                                                     : machine::Calibration::full)],
      measurements, most_repetitions);
}

void carry_out(const Plan& plan, MeasuringThreads& crew, Watcher& watcher,
               const std::atomic<bool>& stop, Findings& findings) {
  const StepRun::Advance advance = [&watcher](double share) { watcher.advance(share); };
  for (std::size_t i = 0; i < plan.steps.size() && !stop.load(); ++i) {
    watcher.begin_step(plan, i);
    try {
      StepRun(plan.steps[i], crew, stop, advance).carry_out(findings);
    } catch (const FailureError& error) {
      // The failure of one step does not end the others.
      findings.doubts.add(plan.steps[i].name, error.what());
    }
  }
}

}  // namespace

bool contains_more(const Machine& machine, const Plan& plan) {
  if (!calibrated(machine)) return false;
  const bool was_full = calibration_of(machine) == machine::Calibration::full;
  const std::size_t measured_pus = machine.pairs ? machine.pairs->pus.size() : 0;
  return (was_full && plan.quick) || measured_pus > plan.pus.size();
}

Outcome calibrate(const machine::Topology& topology, const Plan& plan, Watcher& watcher,
                  const std::atomic<bool>& stop) {
  const double start = now_ns();
  Findings findings;
  findings.machine.name = machine::fingerprint(topology);
  findings.machine.topology = topology;
  findings.machine.provenance = provenance_of_this_machine();
  {
    MeasuringThreads crew(everyone(plan));
    carry_out(plan, crew, watcher, stop, findings);
  }
  Outcome outcome;
  outcome.stopped = stop.load();
  if (outcome.stopped) return outcome;
  findings.machine.doubts = findings.doubts.doubts();
  complete(findings, plan);
  outcome.measurements = findings.doubts.measurements();
  outcome.doubtful = findings.doubts.doubtful();
  findings.machine.provenance.method = method_text(plan, outcome.measurements);
  validate(findings.machine);
  outcome.machine = std::move(findings.machine);
  outcome.notes = std::move(findings.notes);
  outcome.seconds = (now_ns() - start) / ns_per_s;
  return outcome;
}

}  // namespace huddle::calibrate
