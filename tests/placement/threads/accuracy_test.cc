// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Watches real programs with eight threads on the available hardware threads.
#include "placement/threads/accuracy.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <thread>

#include "../../common/comes_true.h"
#include "../../common/scratch.h"
#include "common/system.h"
#include "placement/threads/page_faults.h"
#include "placement/threads/touch_stream.h"

namespace huddle::threads {
namespace {

using test::comes_true;

const std::string library = HUDDLE_BINARY_DIR "/lib/huddle/";

WatchedProgram pattern_program() {
  return {library + "huddle-pattern", {}, {}, library + "libhuddle_threads.so"};
}

class Watching : public testing::Test {
 protected:
  void SetUp() override {
    const Trial faults = try_page_faults();
    if (!faults.works) GTEST_SKIP() << "page faults: " << faults.why_not;
    const Trial protection = try_protection();
    if (!protection.works) GTEST_SKIP() << "protection: " << protection.why_not;
  }

  // Other load may take most of the CPU time from a program of a few seconds. Repeats the
  // measurement once in that case, and records that as a property.
  static Accuracy measured(Pattern pattern, const WatchedProgram& program = pattern_program()) {
    constexpr int seconds = 3;
    Accuracy accuracy = measure_accuracy(pattern, seconds, program);
    if (accuracy.cosine.value_or(0) < good_cosine) {
      RecordProperty("retries", 1);
      accuracy = measure_accuracy(pattern, 2 * seconds, program);
    }
    return accuracy;
  }
  static double cost_share(const Accuracy& accuracy) {
    return accuracy.watched.spent.cost_s(accuracy.watched.fault_s) /
           accuracy.watched.spent.program_s;
  }
};

TEST_F(Watching, SeesPairsInMemoryInitializedByOneThread) {
  const Accuracy accuracy = measured(Pattern::pairs);
  EXPECT_GE(accuracy.cosine.value_or(0), good_cosine);
  // A round may slightly exceed the remaining budget.
  EXPECT_LT(cost_share(accuracy), 0.03);
  EXPECT_EQ(accuracy.watched.wait_status, 0);
}

TEST_F(Watching, SeesGroupsOfFour) {
  EXPECT_GE(measured(Pattern::groups).cosine.value_or(0), good_cosine);
}

TEST_F(Watching, SeesPairsWithBpf) {
  const Trial bpf = try_page_faults(Observer::bpf);
  if (!bpf.works) GTEST_SKIP() << bpf.why_not;
  WatchedProgram program = pattern_program();
  program.observer = Observer::bpf;
  EXPECT_GE(measured(Pattern::pairs, program).cosine.value_or(0), good_cosine);
}

TEST_F(Watching, SeesNoSharingInPatternNone) {
  const Accuracy accuracy = measure_accuracy(Pattern::none, 2, pattern_program());
  EXPECT_GT(accuracy.watched.spent.faults, 0U);  // pages were protected
  EXPECT_EQ(accuracy.moved_after_s, std::nullopt);
  EXPECT_EQ(accuracy.verdict, Reason::too_few_touches);
}

class Silent : public TouchObserver {
 public:
  void take(const Touch&) override {}
  Actions take(const Look&) override { return {true, 50}; }
};

Watched watch_shell(const std::string& command) {
  WatchedProgram program = pattern_program();
  program.file = "/bin/sh";
  program.words = {"sh", "-c", command};
  Silent nobody;
  return watch_program(program, nobody);
}

TEST_F(Watching, KeepsExitStatus) {
  EXPECT_EQ(WEXITSTATUS(watch_shell("exit 7").wait_status), 7);
  EXPECT_EQ(WTERMSIG(watch_shell("kill -9 $$").wait_status), 9);
}

int descriptors_in(const std::string& file) {
  int descriptors = 0;
  std::ifstream(file) >> descriptors;
  return descriptors;
}

// The program and its children have the same descriptors as without watching.
TEST_F(Watching, LeaksNoDescriptor) {
  const test::Scratch scratch;
  const std::string count = "ls /proc/self/fd | wc -l > ";
  ASSERT_EQ(std::system((count + scratch.path("unwatched")).c_str()), 0);
  watch_shell(count + scratch.path("watched"));
  EXPECT_EQ(descriptors_in(scratch.path("watched")), descriptors_in(scratch.path("unwatched")));
}

// Returns the first child of a process; 0 if it has none.
pid_t child_of(pid_t process) {
  const auto children =
      System().read(fmt::format("/proc/{0}/task/{0}/children", process)).value_or("");
  return static_cast<pid_t>(std::atoi(children.c_str()));
}

// Returns whether some of its memory is registered with a userfaultfd for write protection.
bool is_registered(pid_t process) {
  for (const std::string& line : System().lines(fmt::format("/proc/{}/smaps", process))) {
    if (line.starts_with("VmFlags:") && line.find(" uw") != std::string::npos) return true;
  }
  return false;
}

TEST_F(Watching, ProgramContinuesUnprotectedIfAgentIsKilled) {
  const pid_t agent = ::fork();
  ASSERT_GE(agent, 0);
  if (agent == 0) {
    measure_accuracy(Pattern::pairs, 60, pattern_program());
    ::_exit(0);
  }
  EXPECT_TRUE(comes_true([agent] { return is_registered(child_of(agent)); }));
  const pid_t program = child_of(agent);
  ASSERT_GT(program, 0);
  ::kill(agent, SIGKILL);
  ::waitpid(agent, nullptr, 0);
  EXPECT_TRUE(comes_true([program] { return !is_registered(program); }));
  EXPECT_EQ(::kill(program, 0), 0);
  EXPECT_GT(process_cpu_s(program), 0);
  ::kill(program, SIGKILL);
}

TEST_F(Watching, ReportsProgramThatCannotBeStarted) {
  WatchedProgram program = pattern_program();
  program.file = "/nonexistent";
  program.words = {"x"};
  Silent nobody;
  EXPECT_THROW(watch_program(program, nobody), FailureError);
}

}  // namespace
}  // namespace huddle::threads
