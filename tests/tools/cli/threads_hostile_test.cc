// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Tests programs that are hard to observe and systems that forbid it. The program must behave as
// usual, and if it cannot be observed, one sentence gives the reason.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "../../common/comes_true.h"
#include "placement/threads/page_faults.h"
#include "program.h"

namespace huddle::cli {
namespace {

using ::testing::HasSubstr;
using Words = std::vector<std::string>;

const std::string folder = HUDDLE_BINARY_DIR "/tests/placement/threads/hostile/";
const std::string hostile = folder + "hostile";
constexpr int good = 7;  // the exit status of these programs

class Hostile : public ::testing::Test {
 protected:
  Hostile() {
    std::filesystem::permissions(program_.home().folder(), std::filesystem::perms::owner_all);
    program_.environment("XDG_RUNTIME_DIR=" + program_.home().folder().string());
  }
  Ran run(const std::string& mode, const Words& command) const {
    Words words = {"run", "--threads", mode};
    words.insert(words.end(), command.begin(), command.end());
    return program_.run(words);
  }
  // The same as `run`, for a huddle whose system call the kernel refuses.
  Ran run_without(const std::string& call, const Words& words) const {
    Words command = {hostile, "without-" + call, HUDDLE_PROGRAM};
    command.insert(command.end(), words.begin(), words.end());
    return run("off", command);
  }
  void expect_untouched(const Words& command) const {
    for (const char* mode : {"off", "watch", "move"}) {
      const Ran ran = run(mode, command);
      EXPECT_EQ(ran.status, good) << mode << ": " << ran.err;
      EXPECT_EQ(ran.out, "") << mode;
    }
    // The agent ends soon after its program and leaves nothing behind.
    EXPECT_TRUE(test::comes_true(
        [this] { return !std::filesystem::exists(program_.home().path("huddle")); }));
  }

  Program program_;
};

TEST_F(Hostile, ExecAmongThreadsIsUntouched) { expect_untouched({hostile, "exec"}); }
TEST_F(Hostile, ForkWithoutExecIsUntouched) { expect_untouched({hostile, "fork"}); }
TEST_F(Hostile, FiveHundredShortThreadsAreUntouched) { expect_untouched({hostile, "short"}); }

class NestedOpenMp : public Hostile, public ::testing::WithParamInterface<const char*> {};
TEST_P(NestedOpenMp, RunsOn) {
  const std::string program = folder + "nested-" + GetParam();
  if (!std::filesystem::exists(program)) GTEST_SKIP() << GetParam() << " has no OpenMP here";
  expect_untouched({program});
}
INSTANTIATE_TEST_SUITE_P(Compilers, NestedOpenMp, ::testing::Values("gcc", "clang"),
                         [](const auto& one) { return std::string(one.param); });

// Counts messages about threads; a build without MPIs also reports its missing library.
long lines_in(const std::string& text) {
  long lines = 0;
  std::istringstream rest(text);
  for (std::string line; std::getline(rest, line);) {
    if (line.find("libhuddle_preload.so is not in") == std::string::npos) ++lines;
  }
  return lines;
}

TEST_F(Hostile, WithoutPerfOneSentenceGivesTheReason) {
  for (const char* mode : {"watch", "move"}) {
    const Ran ran = run_without("perf", {"run", "--threads", mode, hostile, "threads"});
    EXPECT_EQ(ran.status, good);
    EXPECT_THAT(ran.err,
                HasSubstr("threads are not observed: page faults cannot be observed here"));
    EXPECT_EQ(lines_in(ran.err), 1) << ran.err;
  }
  const Ran profile = run_without("perf", {"profile", hostile, "threads"});
  EXPECT_EQ(profile.status, 1);
  EXPECT_THAT(profile.err, HasSubstr("page faults cannot be observed"));
}

TEST_F(Hostile, WithoutUserfaultfdOneSentenceGivesTheReason) {
  if (!threads::try_page_faults().works) GTEST_SKIP() << "no page faults can be watched here";
  const Ran ran = run_without("userfaultfd", {"run", "--threads", "move", hostile, "threads"});
  EXPECT_EQ(ran.status, good);
  EXPECT_THAT(ran.err, HasSubstr("threads are not observed: writes cannot be observed"));
  EXPECT_EQ(lines_in(ran.err), 1) << ran.err;
}

// Runs huddle without privileges if the test runs as root, because root may observe set-user-ID
// programs and processes of all users.
Words of_an_ordinary_user(const Words& words) {
  Words command;
  if (::geteuid() == 0) {
    command = {"env",     "HOME=/nonexistent", "XDG_RUNTIME_DIR=",
               "setpriv", "--reuid=65534",     "--clear-groups"};
  }
  command.emplace_back(HUDDLE_PROGRAM);
  command.insert(command.end(), words.begin(), words.end());
  return command;
}

// Process 1 belongs to root or to the user that started the container.
TEST_F(Hostile, ForeignProcessIsRefusedInOneSentence) {
  const Ran ran = run("off", of_an_ordinary_user({"watch", "1", "--seconds", "1"}));
  EXPECT_EQ(ran.status, 1) << ran.err;
  EXPECT_EQ(ran.out, "");
  EXPECT_THAT(ran.err, HasSubstr("cannot be observed"));
  EXPECT_LE(lines_in(ran.err), 3) << ran.err;
}

// Such a program ignores preloaded libraries, and runs.
TEST_F(Hostile, SetUserIdProgramRuns) {
  const Ran ran = run("off", of_an_ordinary_user({"run", "--threads", "move", "su", "--version"}));
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("su"));
}

}  // namespace
}  // namespace huddle::cli
