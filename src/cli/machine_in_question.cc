// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "cli/machine_in_question.h"

#include <fmt/format.h>

#include <utility>

namespace huddle::cli {

std::string MachineInQuestion::difference() const {
  return fmt::format("{} describes {}, and this machine is {}", loaded.path, theirs, ours);
}

MachineInQuestion machine_in_question(const Context& context, const machine::Topology& here) {
  const std::string& named = settings::find(context.settings, "machine").value;
  machine::LoadedMachine loaded = machine::load_machine(named, here);
  std::string theirs = fingerprint(loaded.machine.topology);
  return {std::move(loaded), std::move(theirs), fingerprint(here)};
}

}  // namespace huddle::cli
