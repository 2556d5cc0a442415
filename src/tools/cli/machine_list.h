// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// --list-machines and --list-fabrics: the names that --machine and --fabric accept.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/machine/machine.h"

namespace huddle::cli {

inline constexpr int machine_list_json_schema = 1;

struct ListedMachine {
  std::string name;
  std::string path;
  std::optional<machine::Machine> machine;
  std::string flaw;  // why its file cannot be read; otherwise empty
};

// Returns every machine that has a name here, readable or not.
std::vector<ListedMachine> list_machines();

// Returns a line per machine, name first. Shell completions rely on indented continuation lines.
std::string machine_list_text(const std::vector<ListedMachine>& machines, int columns);
// `command`: the command that lists them.
std::string machine_list_json(const std::vector<ListedMachine>& machines,
                              const std::string& command = "topo");

struct ListedFabric {
  std::string name;
  std::string path;
  std::optional<int> nodes;
  std::string flaw;  // why its file cannot be read; otherwise empty
};

// Returns every fabric that has a name here, readable or not.
std::vector<ListedFabric> list_fabrics();
std::string fabric_list_text(const std::vector<ListedFabric>& fabrics, int columns);
std::string fabric_list_json(const std::vector<ListedFabric>& fabrics);

}  // namespace huddle::cli
