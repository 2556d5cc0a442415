// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/cli/selected_machine.h"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace huddle::cli {
namespace {

TEST(Doubts, AreWarningsWithTheirReasons) {
  machine::Machine machine;
  machine.doubts = {{"cpu 1", "something else ran on it"}, {"copy", "no time left"}};
  Console console;
  console.err = std::tmpfile();
  warn_of_doubts(console, machine);
  std::rewind(console.err);
  std::array<char, 256> told{};
  const std::size_t bytes = std::fread(told.data(), 1, told.size(), console.err);
  std::fclose(console.err);
  EXPECT_EQ(std::string(told.data(), bytes),
            "warning: cpu 1: something else ran on it\nwarning: copy: no time left\n");
}

}  // namespace
}  // namespace huddle::cli
