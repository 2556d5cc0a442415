// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// What the teams of a process have in common.
#include "runtime/team/team_context.h"

#include <gtest/gtest.h>

#include "model/machine/locate.h"
#include "model/machine/machine_file.h"
#include "setup.h"

namespace huddle::team {
namespace {

TEST(Context, HandsOnTheTextThatAMachineWasReadFrom) {
  ContextOptions read = two_core_options(MiB);
  read.machine_text = "# as somebody wrote it\n" + machine::format_machine(read.machine);
  const std::string text = read.machine_text;
  EXPECT_EQ(Context(std::move(read)).machine_text(), text);
}

TEST(Context, WritesAMachineThatWasReadFromNoText) {
  const ContextOptions made = two_core_options(MiB);
  EXPECT_EQ(Context(made).machine_text(), machine::format_machine(made.machine));
}

}  // namespace
}  // namespace huddle::team
