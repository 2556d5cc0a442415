// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What one check came to.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace huddle::doctor {

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

}  // namespace huddle::doctor
