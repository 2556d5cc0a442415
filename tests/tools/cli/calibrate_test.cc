// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "model/machine/locate.h"
#include "model/machine/machine_file.h"
#include "program.h"
#include "tools/cli/calibrate/calibrate_report.h"

namespace huddle::cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;

const std::vector<std::string> large = {"calibrate", "--dry-run", "--synthetic",
                                        "pack:2 numa:4 l3:2 core:4 pu:1"};

std::vector<std::string> with(std::vector<std::string> arguments, const std::string& more) {
  arguments.push_back(more);
  return arguments;
}

TEST(Calibrate, DryRunShowsTheStepsAndMeasuresNothing) {
  const Program program;
  const Ran ran = program.run({"calibrate", "--dry-run"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("copy, 1 core alone"));
  EXPECT_THAT(ran.out, HasSubstr("limit"));
  EXPECT_FALSE(std::filesystem::exists(program.home().path(".config")));
}

TEST(Calibrate, DryRunPlansForAnotherMachine) {
  const Ran ran = Program().run(large);
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("64 cores: 64 hardware threads are measured"));
  EXPECT_THAT(ran.out, HasSubstr("scan of 2016 pairs"));

  const json plan = json::parse(Program().run(with(large, "--json")).out);
  EXPECT_EQ(plan["schema"], 1);
  EXPECT_EQ(plan["pus"].size(), 64U);
  EXPECT_LE(plan["limit_seconds"], 300);
  double sum = 0;
  for (const auto& step : plan["steps"]) sum += step["limit_seconds"].get<double>();
  EXPECT_NEAR(sum, plan["limit_seconds"].get<double>(), 1e-6);

  EXPECT_LE(json::parse(Program().run(with(with(large, "--json"), "--quick")).out)["limit_seconds"],
            5);
}

TEST(Calibrate, MeasuresOnlyThisMachine) {
  const Ran ran = Program().run({"calibrate", "--synthetic", "core:4 pu:1"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, HasSubstr("--dry-run"));
}

TEST(Calibrate, RefusesConflictingOptions) {
  EXPECT_EQ(Program().run({"calibrate", "--json", "--output", "-"}).status, 2);
  EXPECT_EQ(Program().run({"calibrate", "--dry-run", "--xml", "a", "--synthetic", "b"}).status, 2);
}

TEST(Calibrate, ReportsWriteErrorsBeforeMeasuring) {
  const Program program;
  const Ran folder = program.run({"calibrate", "--output", program.home().folder().string()});
  EXPECT_EQ(folder.status, 2);
  EXPECT_THAT(folder.err, HasSubstr("is a directory"));
  const Ran nowhere = program.run({"calibrate", "--output", "/proc/file.toml"});
  EXPECT_EQ(nowhere.status, 1);
  EXPECT_THAT(nowhere.err, HasSubstr("cannot write to /proc"));
  EXPECT_THAT(nowhere.err, Not(HasSubstr("[1/")));
}

TEST(Calibrate, DoesNotCreateTheFolderOfANamedFile) {
  const Program program;
  const std::string folder = program.home().path("new/deep");
  const Ran ran = program.run({"calibrate", "--output", folder + "/machine.toml"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, HasSubstr("directory " + folder + " does not exist; create it"));
  EXPECT_FALSE(std::filesystem::exists(program.home().path("new")));
}

// The message must not be that of the C++ library.
TEST(Calibrate, ReportsInaccessiblePathsInPlainWords) {
  const Program program;
  // Not even root can look up a name that is too long.
  const Ran ran =
      program.run({"calibrate", "--output", "/tmp/" + std::string(300, 'x') + "/m.toml"});
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.err, HasSubstr("cannot write to /tmp/xxx"));
  EXPECT_THAT(ran.err, Not(HasSubstr("filesystem error")));
  EXPECT_THAT(ran.err, Not(HasSubstr("[1/")));
}

TEST(Calibrate, WritesTheUsersFileAndWarnsOfUnsteadiness) {
  const Program program;
  const Ran ran = program.run({"calibrate", "--quick", "--json", "--strict", "--force"});
  const json result = json::parse(ran.out);
  const std::string file = result["machine_file"];
  EXPECT_THAT(file, testing::StartsWith(program.home().path(".config/huddle/machines/")));
  const machine::Machine machine = machine::read_machine_file(file);
  EXPECT_EQ(machine.name, result["name"]);
  EXPECT_TRUE(calibrated(machine));
  EXPECT_EQ(machine.doubts.size(), result["doubts"].size());
  // With --strict, unsteady measurements, which are usual on a busy machine, are a finding.
  EXPECT_EQ(ran.status, machine.doubts.empty() ? 0 : 1);
  for (const auto& doubt : machine.doubts) {
    EXPECT_THAT(ran.err, HasSubstr("warning: " + doubt.what + ": " + doubt.why));
  }
  // The file now applies to this machine.
  EXPECT_THAT(program.run({"topo"}).err, Not(HasSubstr("uncalibrated")));
}

// Keeps every hardware thread that a program started from here may use busy, as other users would.
class OtherUsers {
 public:
  OtherUsers() {
    cpu_set_t allowed;
    sched_getaffinity(0, sizeof allowed, &allowed);
    for (int pu = 0; pu < CPU_SETSIZE; ++pu) {
      if (CPU_ISSET(pu, &allowed)) start(pu), start(pu);
    }
  }
  ~OtherUsers() {
    for (const pid_t child : children_) kill(child, SIGKILL);
    for (const pid_t child : children_) waitpid(child, nullptr, 0);
  }
  OtherUsers(const OtherUsers&) = delete;
  OtherUsers& operator=(const OtherUsers&) = delete;

 private:
  void start(int pu) {
    const pid_t child = fork();
    if (child != 0) return children_.push_back(child);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(pu, &one);
    sched_setaffinity(0, sizeof one, &one);
    for (std::atomic<unsigned> turns{0};;) turns.fetch_add(1, std::memory_order_relaxed);
  }

  std::vector<pid_t> children_;
};

TEST(Calibrate, WritesMostlyUnsteadyValuesOnlyIfForced) {
  const Program program;
  const std::string file = program.home().path("machine.toml");
  const OtherUsers others;
  const Ran ran = program.run({"calibrate", "--quick", "--output", file});
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.err, HasSubstr("warning: other programs run on "));
  EXPECT_LT(ran.err.find("warning: other programs"), ran.err.find("[1/"))
      << "said before it begins";
  EXPECT_THAT(ran.err,
              HasSubstr(" measurements are unsteady, and nothing was written. Stop other"));
  EXPECT_FALSE(std::filesystem::exists(file));
  EXPECT_EQ(program.run({"calibrate", "--quick", "--output", file, "--force"}).status, 0);
  EXPECT_FALSE(machine::read_machine_file(file).doubts.empty());
}

TEST(Calibrate, DoesNotReplaceAFullerFileUnlessForced) {
  const Program program;
  const json first = json::parse(program.run({"calibrate", "--quick", "--json", "--force"}).out);
  const std::string file = first["machine_file"];
  machine::Machine machine = machine::read_machine_file(file);
  machine.provenance.method = "full calibration: as if";
  write_machine_file(machine, file);
  const Ran again = program.run({"calibrate", "--quick"});
  EXPECT_EQ(again.status, 2);
  EXPECT_THAT(again.err, HasSubstr("--force"));
  EXPECT_EQ(machine::read_machine_file(file), machine);
  EXPECT_EQ(program.run({"calibrate", "--quick", "--force"}).status, 0);
}

TEST(Calibrate, PrintsTheFileOnRequestAndNothingElse) {
  const Program program;
  const Ran ran = program.run({"calibrate", "--quick", "--force", "--output", "-"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_TRUE(calibrated(machine::parse_machine(ran.out, "standard output")));
  EXPECT_FALSE(std::filesystem::exists(program.home().path(".config")));
}

// The program in a state in which the test can communicate with it.
class Running {
 public:
  explicit Running(const test::Scratch& home) : file_(home.path("machine.toml")) {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe to be had");
    child_ = fork();
    if (child_ == 0) {
      dup2(ends[1], STDERR_FILENO);
      execl(HUDDLE_PROGRAM, "huddle", "calibrate", "--output", file_.c_str(), nullptr);
      _exit(127);
    }
    close(ends[1]);
    err_ = ends[0];
  }
  ~Running() { close(err_); }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  void wait_for_first_step() {
    while (text_.find("[1/") == std::string::npos && read_more()) continue;
  }
  // Sends a signal and returns the number of the signal that ended the program, or 0.
  int signal_it_dies_of(int sent) {
    kill(child_, sent);
    while (read_more()) continue;
    int status = 0;
    waitpid(child_, &status, 0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  }
  const std::string& err() const { return text_; }
  const std::string& file() const { return file_; }

 private:
  bool read_more() {
    std::array<char, 512> block{};
    const ssize_t got = read(err_, block.data(), block.size());
    if (got > 0) text_.append(block.data(), static_cast<std::size_t>(got));
    return got > 0;
  }

  std::string file_;
  pid_t child_ = -1;
  int err_ = -1;
  std::string text_;
};

TEST(Calibrate, LeavesNoTraceAfterCtrlC) {
  for (const int signal : {SIGINT, SIGTERM}) {
    const test::Scratch home;
    Running running(home);
    running.wait_for_first_step();
    EXPECT_EQ(running.signal_it_dies_of(signal), signal);
    EXPECT_THAT(running.err(), HasSubstr("nothing was written"));
    EXPECT_TRUE(std::filesystem::is_empty(home.folder()));
  }
}

// Installed launchers differ, but the errors in the arguments do not.
TEST(CalibrateNetwork, ReportsMissingArguments) {
  const Ran none = Program().run({"calibrate", "--network"});
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(none.err, HasSubstr("huddle calibrate --network mpirun --host a:2,b:2 -n 4"));
  const Ran unknown = Program().run({"calibrate", "--network", "no-such-launcher", "-n", "2"});
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.err, HasSubstr("no-such-launcher"));
  const Ran alone = Program().run({"calibrate", "mpirun", "-n", "2"});
  EXPECT_EQ(alone.status, 2);
  EXPECT_THAT(alone.err, HasSubstr("huddle calibrate --network mpirun -n 2"));
}

TEST(CalibrateNetwork, ReplacesResultsOfTheSameRanks) {
  machine::Machine machine;
  machine.networks = {{"old", 1, {{8}, {1}, {}}, 0, 1, machine::Origin::published}};
  machine.mpi_collectives = {{"An MPI 1", "bcast", 2, 4, true, {{8}, {1}, {}}},
                             {"An MPI 1", "bcast", 2, 6, true, {{8}, {2}, {}}},
                             {"An MPI 2", "bcast", 2, 4, true, {{8}, {3}, {}}}};
  bench::network::Measured measured{2, 4, true, "An MPI 1", {}, {}};
  measured.network.name = "An MPI 1";
  measured.collectives = {{"An MPI 1", "reduce", 2, 4, true, {{8}, {4}, {}}}};
  keep_network(machine, measured);
  ASSERT_EQ(machine.networks.size(), 1U);
  EXPECT_EQ(machine.networks[0].name, "An MPI 1");
  ASSERT_EQ(machine.mpi_collectives.size(), 3U);
  EXPECT_EQ(machine.mpi_collectives[0].ranks, 6);
  EXPECT_EQ(machine.mpi_collectives[1].mpi, "An MPI 2");
  EXPECT_EQ(machine.mpi_collectives[2].operation, "reduce");
}

// Writes a file into the home folder of the program.
std::string written(const Program& program, const std::string& name, const std::string& text) {
  std::string path = program.home().path(name);
  std::ofstream(path) << text;
  return path;
}

TEST(Calibrate, PublishedLatenciesBecomeMachineThatTopoDraws) {
  const Program program;
  const std::string csv = written(program, "table.csv", ",,,\n20,,,\n100,101,,\n99,100,21,\n");
  const std::string file = program.home().path("two-sockets.toml");
  const Ran ran = program.run({"calibrate", "--from-latencies", csv, "-o", file});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("assumed to be sockets"));
  const machine::Machine machine = machine::read_machine_file(file);
  EXPECT_EQ(machine.name, "two-sockets");
  EXPECT_EQ(machine::find_level(machine.topology, "package")->groups.size(), 2U);

  const Ran drawn = program.run({"topo", "--machine", file});
  EXPECT_EQ(drawn.status, 0) << drawn.err;
  EXPECT_THAT(drawn.out, HasSubstr("package"));
}

TEST(Calibrate, MalformedLatenciesAreAnError) {
  const Program program;
  const std::string csv = written(program, "table.csv", ",\nnan,\n");
  const Ran ran = program.run({"calibrate", "--from-latencies", csv});
  EXPECT_EQ(ran.status, 3);
  EXPECT_THAT(ran.err, HasSubstr("table.csv:2: 'nan' in field 1 is no latency"));
  EXPECT_EQ(ran.out, "");
}

TEST(Calibrate, OptionsOfPublishedLatenciesRequireTheirFile) {
  const Ran ran = Program().run({"calibrate", "--levels-only"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, HasSubstr("--from-latencies"));
}

}  // namespace
}  // namespace huddle::cli
