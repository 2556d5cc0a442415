// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The findings of `huddle doctor`: whether this machine provides all that huddle needs.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "model/machine/locate.h"

namespace huddle::doctor {

// Result of one check.
enum class State {
  works,    // as huddle needs it
  limited,  // huddle runs, but something is slower or missing
  fails,    // something that huddle needs is missing
};
inline constexpr std::array<std::string_view, 3> state_names = {"works", "limited", "fails"};

struct Finding {
  std::string id;     // stable, for --json: "cma"
  std::string group;  // findings of a group are adjacent: "Between processes"
  std::string what;   // the checked feature, in a few words
  State state = State::works;
  std::string found = {};    // the facts
  std::string cost = {};     // consequence for the user; empty if it works
  std::string remedy = {};   // how to fix it; empty if it works
  std::string command = {};  // shell command that fixes it, if there is one
};

// Returns the number of findings in this state.
int count(const std::vector<Finding>& findings, State state);

// The machine file that a setting names. Empty if huddle searches for one.
struct NamedFile {
  std::string path;
  // source of the setting: "--machine", "HUDDLE_MACHINE", "/etc/huddle/config.toml:3"
  std::string by;
};

struct ThisMachine {
  std::string fingerprint;
  std::string user_file;  // the file that `huddle calibrate` would write
};

// Checks the machine file in use. `named` is empty if huddle searched for it.
Finding judge_machine(const machine::LoadedMachine& loaded, const ThisMachine& here,
                      const NamedFile& named);

struct Inputs {
  NamedFile machine_file;
  std::string search_path;  // PATH
};

// Runs all checks and returns their findings in the order of the report, group by group.
std::vector<Finding> examine(const Inputs& inputs);

}  // namespace huddle::doctor
