// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The state that all teams of a process share.
#include "runtime/team/team_context.h"

#include <gtest/gtest.h>

#include "model/machine/locate.h"
#include "model/machine/machine_file.h"
#include "setup.h"

namespace huddle::team {
namespace {

TEST(Context, KeepsTheTextOfTheMachine) {
  ContextOptions read = two_core_options(MiB);
  read.machine_text = "# as somebody wrote it\n" + machine::format_machine(read.machine);
  const std::string text = read.machine_text;
  EXPECT_EQ(Context(std::move(read)).machine_text(), text);
}

TEST(Context, FormatsAMachineWithoutText) {
  const ContextOptions made = two_core_options(MiB);
  EXPECT_EQ(Context(made).machine_text(), machine::format_machine(made.machine));
}

}  // namespace
}  // namespace huddle::team
