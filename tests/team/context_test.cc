// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What the teams of a process have in common.
#include "team/context.h"

#include <gtest/gtest.h>

#include "machine/discover.h"
#include "machine/locate.h"
#include "machine/machine_file.h"

namespace huddle::team {
namespace {

ContextOptions options() {
  ContextOptions options;
  options.machine = machine::generic_machine(
      machine::discover_from_synthetic("pack:1 l3:1 core:2 pu:1").topology);
  options.arena.cap_bytes = std::size_t{1} << 20;
  return options;
}

TEST(Context, HandsOnTheTextThatAMachineWasReadFrom) {
  ContextOptions read = options();
  read.machine_text = "# as somebody wrote it\n" + machine::format_machine(read.machine);
  const std::string text = read.machine_text;
  EXPECT_EQ(Context(std::move(read)).machine_text(), text);
}

TEST(Context, WritesAMachineThatWasReadFromNoText) {
  const ContextOptions made = options();
  EXPECT_EQ(Context(made).machine_text(), machine::format_machine(made.machine));
}

}  // namespace
}  // namespace huddle::team
