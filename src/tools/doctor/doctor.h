// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Looks at everything that huddle needs, and says what it found.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "model/machine/locate.h"

namespace huddle::doctor {

// What one check came to.
enum class State {
  works,    // as huddle would have it
  limited,  // huddle runs, and something is slower or missing
  fails,    // something that huddle needs is not here
};
inline constexpr std::array<std::string_view, 3> state_names = {"works", "limited", "fails"};

struct Finding {
  std::string id;     // stable, for --json: "cma"
  std::string group;  // findings of a group stand together: "Between processes"
  std::string what;   // the thing that was checked, in a few words
  State state = State::works;
  std::string found = {};    // the facts
  std::string cost = {};     // what that costs the user; empty where it works
  std::string remedy = {};   // how to get it; empty where it works
  std::string command = {};  // the shell line that does it, where there is one
};

// How many of the findings are in this state.
int count(const std::vector<Finding>& findings, State state);

// What huddle decides by on this machine.

// The machine file that was chosen by a setting; nothing: huddle searches for one.
struct NamedFile {
  std::string path;
  std::string by;  // what named it: "--machine", "HUDDLE_MACHINE", "/etc/huddle/config.toml:3"
};

struct ThisMachine {
  std::string fingerprint;
  std::string user_file;  // which `huddle calibrate` would write
};

// `named` is empty where the file was searched for.
Finding judge_machine(const machine::LoadedMachine& loaded, const ThisMachine& here,
                      const NamedFile& named);

struct Patient {
  NamedFile machine_file;
  std::string search_path;  // PATH
};

// In the order in which people read it; findings of a group stand together.
std::vector<Finding> examine(const Patient& patient);

}  // namespace huddle::doctor
