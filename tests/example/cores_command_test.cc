// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Tests of docs/example/cores_command.cc, the example in docs/extend.md of a subcommand.
#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "tools/cli/command.h"

namespace huddle::cli {

std::unique_ptr<Command> make_cores_command();

namespace {

// Declares the options of a command that has one text option, and sets it to `value`.
class OneText : public Options {
 public:
  explicit OneText(std::string value) : value_(std::move(value)) {}

  void text(const std::string& names, std::string& target, const std::string&,
            const std::string&) override {
    EXPECT_EQ(names, "--synthetic");
    target = value_;
  }
  void flag(const std::string&, bool&, const std::string&) override {}
  void optional_text(const std::string&, std::string&, const std::string&, const std::string&,
                     const std::string&) override {}
  void number(const std::string&, int&, int, int, const std::string&, const std::string&) override {
  }
  void setting(const std::string&) override {}
  void positional(const std::string&, std::string&, const std::string&) override {}
  void rest(const std::string&, std::vector<std::string>&, const std::string&) override {}
  void exclude(const std::string&, const std::string&) override {}

 private:
  std::string value_;
};

TEST(CoresCommand, PrintsTheNumberOfCores) {
  const std::unique_ptr<Command> command = make_cores_command();
  OneText options("pack:2 core:4 pu:2");
  command->declare(options);
  std::string text(16, '\0');
  Context context;
  context.console.out = fmemopen(text.data(), text.size(), "w");
  ASSERT_NE(context.console.out, nullptr);
  EXPECT_EQ(command->run(context), ExitCode::fine);
  std::fclose(context.console.out);
  EXPECT_STREQ(text.c_str(), "8\n");
}

TEST(CoresCommand, RejectsAnInvalidDescription) {
  const std::unique_ptr<Command> command = make_cores_command();
  OneText options("nonsense:2");
  command->declare(options);
  EXPECT_THROW(command->run({}), InputError);
}

}  // namespace
}  // namespace huddle::cli
