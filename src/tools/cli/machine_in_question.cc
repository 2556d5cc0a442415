// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/cli/machine_in_question.h"

#include <fmt/format.h>

#include <utility>

#include "common/file.h"
#include "model/machine/machine_file.h"

namespace huddle::cli {

std::string MachineInQuestion::difference() const {
  return fmt::format("{} describes {}, and this machine is {}", loaded.path, theirs, ours);
}

namespace {

// A program's ranks have another standard input, so that only commands about a machine take "-".
machine::LoadedMachine loaded_machine(const std::string& named, const machine::Topology& here) {
  if (named != standard_input) return machine::load_machine(named, here);
  std::string text = read_text(named);
  const std::string name = input_name(named);
  machine::Machine machine = machine::parse_machine(text, name);
  return {std::move(machine), name, std::move(text)};
}

}  // namespace

MachineInQuestion machine_in_question(const Context& context, const machine::Topology& here) {
  const std::string& named = settings::find(context.settings, "machine").value;
  machine::LoadedMachine loaded = loaded_machine(named, here);
  std::string theirs = fingerprint(loaded.machine.topology);
  return {std::move(loaded), std::move(theirs), fingerprint(here)};
}

}  // namespace huddle::cli
