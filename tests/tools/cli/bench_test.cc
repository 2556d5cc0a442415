// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <nlohmann/json.hpp>

#include "program.h"

namespace huddle::cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

TEST(Bench, SuggestsARemedyWithoutAnMpi) {
  const Ran ran = Program().environment("PATH=/nowhere").run({"bench"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, HasSubstr("mpirun is not in PATH"));
  EXPECT_THAT(ran.err, HasSubstr("huddle bench engine"));
}

TEST(Bench, RefusesConflictingOptions) {
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"bench", "engine", "--ranks", "4"},
                                             {"bench", "engine", "--variants", "--ranks", "1"},
                                             {"bench", "engine", "--sizes", "8"},
                                             {"bench", "--variants"},
                                             {"bench", "--under", "intel"},
                                             {"bench", "--loop", "cold"},
                                             {"bench", "--cold", "0"},
                                             {"bench", "--cold", "many"},
                                             {"bench", "--cold", "--loop", "osu"},
                                             {"bench", "--cold", "--peers", "/nowhere"},
                                             {"bench", "--peers", "/nowhere"},
                                             {"bench", "--mpi", "/nowhere/mpirun"}}) {
    EXPECT_EQ(Program().run(words).status, 2) << words.back();
  }
}

TEST(Bench, TimesOnlyThisMachine) {
  const Ran ran = Program().run(
      {"bench", "engine", "--machine", HUDDLE_SOURCE_DIR "/machines/dawning-4000a.toml"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, HasSubstr("only this machine can be measured"));
}

TEST(Bench, JsonHasEveryFigure) {
  const Ran ran =
      Program().run({"bench", "engine", "--no-calibrate", "--quick", "--rounds", "2", "--json"});
  const json bench = json::parse(ran.out);
  EXPECT_EQ(bench["schema"], 1);
  EXPECT_EQ(bench["command"], "bench");
  EXPECT_EQ(bench["what"], "engine");
  EXPECT_FALSE(bench["machine"].get<std::string>().empty());
  EXPECT_EQ(bench["calibrated"], false);
  EXPECT_EQ(bench["rounds"], 2);
  EXPECT_EQ(bench["interrupted"], false);
  bool all_hold = true;
  for (const auto& comparison : bench["contests"]) {
    EXPECT_EQ(comparison["rounds"], 2);
    for (const auto& entry : comparison["entries"]) {
      EXPECT_EQ(entry["ns"].size(), 2U) << entry;
      EXPECT_GT(entry["median_ns"], 0);
    }
    for (const auto& verdict : comparison["verdicts"]) {
      EXPECT_EQ(verdict["ratios"].size(), 2U) << verdict;
      EXPECT_TRUE(comparison["entries"][verdict["rival"].get<std::size_t>()]["bare"]);
      const double ratio = verdict["ratio"];
      const bool holds = verdict["of"] == "time" ? ratio <= verdict["at_most"].get<double>()
                                                 : ratio >= verdict["at_least"].get<double>();
      EXPECT_EQ(verdict["holds"], holds);
      all_hold = all_hold && holds;
    }
  }
  EXPECT_EQ(bench["all_hold"], all_hold);
  // This test does not check the speed itself, but that the status reflects it.
  EXPECT_EQ(ran.status, all_hold ? 0 : 1) << ran.err;
}

TEST(Bench, TextHasTheSameFigures) {
  const Ran ran = Program().run({"bench", "engine", "--no-calibrate", "--quick", "--rounds", "1",
                                 "--variants", "--ranks", "3"});
  EXPECT_THAT(ran.out, HasSubstr("not calibrated"));
  EXPECT_THAT(ran.out, HasSubstr("flat, two queues, packed flags"));
  EXPECT_THAT(ran.out, HasSubstr("predicted"));
  EXPECT_THAT(ran.out, HasSubstr("predicted and measured times differ by a factor of"));
  EXPECT_THAT(ran.out, HasSubstr("3 ranks"));
  EXPECT_THAT(ran.out, Not(HasSubstr("[1/"))) << "progress is no result";
  EXPECT_THAT(ran.err, HasSubstr("[1/"));
}

// The output before the interrupt, and the signal that ended the program.
struct Stopped {
  std::string out;
  int signal = 0;
};

void read_some(int from, std::string& text) {
  std::array<char, 4096> block{};
  const ssize_t got = read(from, block.data(), block.size());
  if (got > 0) text.append(block.data(), static_cast<std::size_t>(got));
  if (got <= 0) text.push_back('\0');  // end of file
}

Stopped stopped_in_its_second_comparison() {
  std::array<int, 2> out{};
  std::array<int, 2> err{};
  if (pipe(out.data()) != 0 || pipe(err.data()) != 0) throw std::runtime_error("no pipe");
  const pid_t child = fork();
  if (child == 0) {
    dup2(out[1], STDOUT_FILENO);
    dup2(err[1], STDERR_FILENO);
    for (const int end : {out[0], out[1], err[0], err[1]}) close(end);
    execl(HUDDLE_PROGRAM, "huddle", "bench", "engine", "--no-calibrate", "--no-calibrate",
          "--quick", "--variants", "--json", "--rounds", "2", nullptr);
    _exit(127);
  }
  close(out[1]);
  close(err[1]);
  std::string told;
  while (told.find("[2/") == std::string::npos && told.find('\0') == std::string::npos) {
    read_some(err[0], told);
  }
  kill(child, SIGINT);
  while (told.find('\0') == std::string::npos) read_some(err[0], told);
  Stopped stopped;
  while (stopped.out.find('\0') == std::string::npos) read_some(out[0], stopped.out);
  stopped.out.pop_back();
  int status = 0;
  waitpid(child, &status, 0);
  close(out[0]);
  close(err[0]);
  stopped.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  return stopped;
}

TEST(Bench, CtrlCKeepsCompleteResults) {
  const Stopped stopped = stopped_in_its_second_comparison();
  EXPECT_EQ(stopped.signal, SIGINT);
  const json bench = json::parse(stopped.out);
  EXPECT_EQ(bench["interrupted"], true);
  ASSERT_GE(bench["contests"].size(), 1U);
  EXPECT_EQ(bench["contests"][0]["rounds"], 2);
  EXPECT_FALSE(bench["contests"][0]["verdicts"].empty() &&
               bench["contests"][0]["name"] != "barriers");
}

}  // namespace
}  // namespace huddle::cli
