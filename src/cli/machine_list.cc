// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "cli/machine_list.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "cli/wrap.h"
#include "machine/locate.h"
#include "machine/machine_file.h"

namespace huddle::cli {
namespace {

constexpr int gap = 2;

ListedMachine read(const machine::NamedMachine& named) {
  try {
    return {named.name, named.path, machine::read_machine_file(named.path), ""};
  } catch (const InputError& error) {
    return {named.name, named.path, std::nullopt, error.what()};
  }
}

std::string facts(const ListedMachine& listed) {
  if (!listed.machine) return listed.flaw;
  const machine::Topology& topology = listed.machine->topology;
  return fmt::format("{}{}, {}", counted(core_count(topology), "core"),
                     topology.cpu_model.empty() ? "" : " of " + topology.cpu_model,
                     calibrated(*listed.machine) ? "measured" : "not measured");
}

}  // namespace

std::vector<ListedMachine> list_machines() {
  std::vector<ListedMachine> machines;
  for (const machine::NamedMachine& named : machine::named_machines()) {
    machines.push_back(read(named));
  }
  return machines;
}

std::string machine_list_text(const std::vector<ListedMachine>& machines, int columns) {
  int width = 0;
  for (const ListedMachine& listed : machines) {
    width = std::max(width, static_cast<int>(display_width(listed.name)));
  }
  width += gap;
  std::string text;
  for (const ListedMachine& listed : machines) {
    text += wrap(padded(printable(listed.name), width), printable(facts(listed)), width, columns);
  }
  return text;
}

}  // namespace huddle::cli
