// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/cli/interface.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace huddle::cli {
namespace {

std::string long_name(const Argument& option) {
  return option.names.back().starts_with("--") ? option.names.back() : option.names.front();
}

// Returns whether an option may differ between commands. A benchmark's --json may name a file for
// its samples, and its --ops is a list of collectives. `run --compare` takes a number, while
// mapping methods are compared without one.
bool may_differ(const Interface& command, const std::string& option) {
  if (command.name == "map") return option == "--compare";
  // Threads are not bound in the words of launchers; recordings are compared by placement.
  if (command.name == "run") return option == "--bind";
  if (command.name == "watch") return option == "--bind" || option == "--compare";
  return command.name.starts_with("bench") && (option == "--json" || option == "--ops");
}

// A user who knows an option of one command knows it in all commands.
TEST(Interface, OptionIsSpelledAlikeInEveryCommand) {
  std::map<std::string, std::pair<std::string, Argument>> known;
  for (const Interface& command : program_interface().commands) {
    for (const Argument& option : command.options) {
      const std::string name = long_name(option);
      if (may_differ(command, name)) continue;
      const auto& [first, argument] = known.try_emplace(name, command.name, option).first->second;
      EXPECT_EQ(option.names, argument.names) << command.name << " and " << first;
      EXPECT_EQ(option.placeholder, argument.placeholder) << command.name << " and " << first;
      EXPECT_EQ(option.value, argument.value) << command.name << " and " << first;
      EXPECT_EQ(option.words, argument.words) << command.name << " and " << first;
    }
  }
}

TEST(Interface, ProposesNamesAndFilesForMachines) {
  for (const Interface& command : program_interface().commands) {
    for (const Argument& option : command.options) {
      if (!option.goes_by("--machine")) continue;
      EXPECT_EQ(option.value, Value::machine) << command.name;
    }
  }
}

}  // namespace
}  // namespace huddle::cli
