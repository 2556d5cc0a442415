// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "doctor/machine_file.h"

#include <fmt/format.h>

#include "base/error.h"
#include "doctor/checks.h"

namespace huddle::doctor {
namespace {

Finding blank() { return {.id = "machine-file", .group = "Machine model", .what = "Calibration"}; }

}  // namespace

Finding judge_machine(const machine::LoadedMachine& loaded, const std::string& expected) {
  Finding finding = blank();
  if (calibrated(loaded.machine)) {
    const std::string& date = loaded.machine.provenance.date;
    finding.found = fmt::format("{}{}", loaded.path, date.empty() ? "" : ", measured " + date);
    return finding;
  }
  finding.state = State::limited;
  finding.found = loaded.path.empty()
                      ? fmt::format("not yet: {} is not there", expected)
                      : fmt::format("not yet: nothing in {} was measured", loaded.path);
  finding.cost = "huddle decides by guesses for a machine of this shape.";
  finding.remedy = "About a minute, once for each kind of node:";
  finding.command = "huddle calibrate";
  return finding;
}

std::vector<Finding> check_machine_file(const std::string& named) {
  try {
    const machine::Topology topology = machine::discover_this_machine().topology;
    return {judge_machine(machine::load_machine(named, topology),
                          machine::machine_file_candidates(topology).front())};
  } catch (const Error& error) {
    Finding finding = blank();
    finding.state = State::fails;
    finding.found = error.what();
    finding.cost = "huddle does not know this machine and stops.";
    finding.remedy = "Mend or remove the file, or write a new one:";
    finding.command = "huddle calibrate";
    return {finding};
  }
}

}  // namespace huddle::doctor
