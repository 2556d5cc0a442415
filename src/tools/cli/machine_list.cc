// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/cli/machine_list.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/error.h"
#include "common/file.h"
#include "common/text.h"
#include "model/fabric/fabric_file.h"
#include "model/machine/locate.h"
#include "model/machine/machine.h"
#include "model/machine/machine_file.h"
#include "tools/cli/terminal_text.h"

namespace huddle::cli {
namespace {

ListedMachine read(const machine::NamedMachine& named) {
  try {
    return {named.name, named.path, machine::read_machine_file(named.path), ""};
  } catch (const InputError& error) {
    return {named.name, named.path, std::nullopt, error.what()};
  }
}

std::string_view measured_text(machine::Calibration calibration) {
  switch (calibration) {
    case machine::Calibration::none:
      return "not measured";
    case machine::Calibration::quick:
      return "measured quickly";
    case machine::Calibration::full:
      return "measured";
  }
  return {};
}

std::string facts(const ListedMachine& listed) {
  if (!listed.machine) return listed.flaw;
  const machine::Topology& topology = listed.machine->topology;
  return fmt::format("{}{}, {}", counted(core_count(topology), "core"),
                     topology.cpu_model.empty() ? "" : " of " + topology.cpu_model,
                     measured_text(calibration_of(*listed.machine)));
}

ListedFabric read_fabric(const machine::NamedMachine& named) {
  try {
    const fabric::Fabric fabric = fabric::parse_fabric(read_text(named.path), named.path);
    return {named.name, named.path, fabric.nodes(), ""};
  } catch (const InputError& error) {
    return {named.name, named.path, std::nullopt, error.what()};
  }
}

std::string facts(const ListedFabric& listed) {
  return listed.nodes ? counted(*listed.nodes, "node") : listed.flaw;
}

template <class Listed>
std::string list_text(const std::vector<Listed>& all, int columns) {
  int width = 0;
  for (const Listed& listed : all) {
    width = std::max(width, static_cast<int>(display_width(listed.name)));
  }
  width += column_gap;
  std::string text;
  for (const Listed& listed : all) {
    text += wrap(padded(printable(listed.name), width), printable(facts(listed)), width, columns);
  }
  return text;
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
  return list_text(machines, columns);
}

std::vector<ListedFabric> list_fabrics() {
  std::vector<ListedFabric> fabrics;
  for (const machine::NamedMachine& named : fabric::named_fabrics()) {
    fabrics.push_back(read_fabric(named));
  }
  return fabrics;
}

std::string fabric_list_text(const std::vector<ListedFabric>& fabrics, int columns) {
  return list_text(fabrics, columns);
}

}  // namespace huddle::cli
