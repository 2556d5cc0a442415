// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/doctor/doctor.h"

#include <fmt/format.h>

#include "common/error.h"
#include "model/machine/machine.h"
#include "tools/doctor/checks.h"

namespace huddle::doctor {
namespace {

Finding blank() { return {.id = "machine-file", .group = "Machine model", .what = "Calibration"}; }

// Calibration helps only if the file that it writes is the one in use.
void add_remedy(const NamedFile& named, Finding& finding) {
  if (named.path.empty()) {
    finding.remedy = "Measure the machine, about a minute, once per kind of node:";
    finding.command = "huddle calibrate";
    return;
  }
  finding.remedy = fmt::format(
      "Correct {}, which names that file, or unset it: huddle then uses the file of this machine, "
      "which 'huddle calibrate' writes.",
      named.by);
}

bool is_of(const machine::Machine& machine, const ThisMachine& here) {
  return fingerprint(machine.topology) == here.fingerprint;
}

Finding judge_foreign(const machine::LoadedMachine& loaded, const std::string& theirs,
                      const ThisMachine& here, const NamedFile& named) {
  Finding finding = blank();
  finding.state = State::limited;
  finding.found =
      fmt::format("{} describes {}, but this machine is {}", loaded.path, theirs, here.fingerprint);
  finding.cost = "huddle selects algorithms by the figures of another machine.";
  add_remedy(named, finding);
  return finding;
}

// All decisions depend on the figures, and those of a quick or disturbed run can be wrong by a
// factor of several.
Finding judge_measured(const machine::LoadedMachine& loaded, const NamedFile& named) {
  const bool is_quick = machine::calibration_of(loaded.machine) == machine::Calibration::quick;
  const std::string unsteady = machine::unsteadiness_text(loaded.machine);
  const std::string& date = loaded.machine.provenance.date;
  Finding finding = blank();
  finding.found = fmt::format("{}{}{}{}", loaded.path, date.empty() ? "" : ", measured " + date,
                              is_quick ? " quickly" : "", unsteady.empty() ? "" : "; " + unsteady);
  if (!is_quick && unsteady.empty()) return finding;
  finding.state = State::limited;
  finding.cost = is_quick ? "huddle selects algorithms by rough figures of this machine; those of "
                            "a quick run can be far from the truth."
                          : "huddle selects algorithms by figures that other programs disturbed.";
  add_remedy(named, finding);
  if (named.path.empty()) finding.remedy = "Stop other programs here, then measure for a minute:";
  return finding;
}

}  // namespace

Finding judge_machine(const machine::LoadedMachine& loaded, const ThisMachine& here,
                      const NamedFile& named) {
  const std::string theirs = fingerprint(loaded.machine.topology);
  if (!is_of(loaded.machine, here)) return judge_foreign(loaded, theirs, here, named);
  Finding finding = blank();
  if (calibrated(loaded.machine)) return judge_measured(loaded, named);
  finding.state = State::limited;
  finding.found = loaded.path.empty()
                      ? fmt::format("missing: {} does not exist", here.user_file)
                      : fmt::format("missing: {} contains no measured figures", loaded.path);
  finding.cost = "huddle selects algorithms by generic figures for a machine of this topology.";
  add_remedy(named, finding);
  return finding;
}

MachineFileCheck check_machine_file(const NamedFile& named, const System& system) {
  try {
    const machine::Topology topology = machine::discover_this_machine().topology;
    const machine::LoadedMachine loaded = machine::load_machine(named.path, topology);
    const ThisMachine here{fingerprint(topology), machine_file_candidates(topology).front()};
    MachineFileCheck check{{judge_machine(loaded, here, named)},
                           calibrated(loaded.machine) && is_of(loaded.machine, here)};
    if (check.is_calibrated) check.findings.push_back(judge_heap(loaded.machine, system));
    return check;
  } catch (const Error& error) {
    Finding finding = blank();
    finding.state = State::fails;
    finding.found = error.what();
    finding.cost = "huddle cannot read the figures of this machine, and does not run.";
    add_remedy(named, finding);
    if (named.path.empty()) finding.remedy = "Correct or remove the file, or write a new one:";
    return {{finding}};
  }
}

}  // namespace huddle::doctor
