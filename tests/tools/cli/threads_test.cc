// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Tests `huddle profile` and `huddle watch` as a user would run them.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "../../common/comes_true.h"
#include "model/machine/topology.h"
#include "placement/threads/page_faults.h"
#include "program.h"

namespace huddle::cli {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string contents(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

const std::string recording = HUDDLE_SOURCE_DIR "/examples/changing-pairs.touches";
const std::string two_small_sockets = HUDDLE_SOURCE_DIR "/machines/xeon-e5620-2s.toml";

TEST(Watch, ReplaysDecisionsWithReasons) {
  const Program program;
  const std::vector<std::string> words = {"watch", "--replay", recording, "--machine",
                                          two_small_sockets};
  const Ran ran = program.run(words);
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out,
              AllOf(HasSubstr("8 threads active"), HasSubstr("threads that share pages"),
                    HasSubstr("too few to decide"), HasSubstr("with a confidence of 98 %")));
  EXPECT_EQ(program.run(words).out, ran.out);
}

// After the move, each pair of the second half is on one socket with four hardware threads.
TEST(Watch, JsonHasEveryDecision) {
  const Ran ran =
      Program().run({"watch", "--replay", recording, "--machine", two_small_sockets, "--json"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  const json document = json::parse(ran.out);
  EXPECT_EQ(document["command"], "watch");
  EXPECT_EQ(document["threads"].size(), 8U);
  const json& last = document["decisions"].back();
  ASSERT_EQ(last["reason"], "move");
  for (std::size_t thread = 0; thread < 4; ++thread) {
    EXPECT_EQ(last["wanted"][thread].get<int>() / 4, last["wanted"][thread + 4].get<int>() / 4);
  }
}

// Returns the recording as if it had been made on `machine`.
std::string recorded_on(const std::string& machine) {
  std::string text = contents(recording);
  std::istringstream lines(contents(machine));
  std::string machine_lines;
  for (std::string line; std::getline(lines, line);) machine_lines += "m " + line + "\n";
  return text.insert(text.find("\nt ") + 1, machine_lines);
}

// Returns the hardware threads of all threads at all decisions.
std::set<int> seats_of(const json& document) {
  std::set<int> seats;
  for (const json& decision : document["decisions"]) {
    for (const json& seat : decision["seats"]) seats.insert(seat.get<int>());
  }
  return seats;
}

// The recorded hardware threads are those of the recorded machine.
TEST(Watch, UsesTheRecordedMachine) {
  const Program program;
  const std::string file = program.home().write("app.touches", recorded_on(two_small_sockets));
  const Ran ran = program.run({"watch", "--replay", file, "--json"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  const json document = json::parse(ran.out);
  EXPECT_EQ(document["machine"], "xeon-e5620-2s");
  EXPECT_EQ(seats_of(document), (std::set<int>{0, 1}));
  EXPECT_TRUE(document["notes"].empty()) << document["notes"];
}

TEST(Watch, PlacesThreadsAnewOnAnotherMachine) {
  const Program program;
  const std::string file = program.home().write("app.touches", recorded_on(two_small_sockets));
  const Ran ran =
      program.run({"watch", "--replay", file, "--machine", "epyc-2x64-estimate", "--json"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  const json document = json::parse(ran.out);
  EXPECT_EQ(document["machine"], "epyc-2x64-estimate");
  EXPECT_EQ(seats_of(document).size(), 8U) << "spread over the machine";
  EXPECT_THAT(document["notes"].dump(), HasSubstr("the program was recorded on intel-xeon"));
}

TEST(Watch, WarnsOfRecordingsWithoutTheirMachine) {
  const Ran ran = Program().run({"watch", "--replay", recording, "--machine", two_small_sockets});
  EXPECT_THAT(ran.out, HasSubstr("the recording does not contain its machine"));
  const Ran placed = Program().run(
      {"watch", "--replay", recording, "--machine", two_small_sockets, "--start", "spread"});
  EXPECT_THAT(placed.out, Not(HasSubstr("does not contain its machine")));
}

TEST(Watch, RejectsAnotherMachineForARunningProcess) {
  const Ran ran =
      Program().run({"watch", fmt::format("{}", ::getpid()), "--machine", two_small_sockets});
  EXPECT_EQ(ran.status, 3);
  EXPECT_THAT(ran.err, HasSubstr("huddle watch --replay FILE --machine NAME"));
}

TEST(Watch, AsPrintedFindsFewerPairs) {
  const Ran ran = Program().run(
      {"watch", "--replay", recording, "--machine", two_small_sockets, "--as-published", "--json"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  const json document = json::parse(ran.out);
  for (const json& decision : document["decisions"]) {
    EXPECT_NE(decision["reason"], "move");
  }
}

TEST(Watch, ComparesPlacements) {
  const std::string touches = HUDDLE_SOURCE_DIR "/tests/placement/threads/recordings/sp.touches";
  const std::vector<std::string> words = {"watch",     "--replay",        touches,
                                          "--machine", two_small_sockets, "--compare"};
  const Ran ran = Program().run(words);
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("predicted communication time"), HasSubstr("spread"),
                             HasSubstr("huddle: starts with spread; 1 move")));
  std::vector<std::string> with_json = words;
  with_json.emplace_back("--json");
  const json compared = json::parse(Program().run(with_json).out)["compared"];
  EXPECT_EQ(compared["placements"].size(), 5U);
  EXPECT_EQ(compared["huddle"]["moves"], 1);
}

TEST(Watch, ReadsOutputOfPerfScript) {
  const Program program;
  const std::string file =
      program.home().write("samples.txt",
                           "app 7/7 [000] 1.000000: cpu/mem-stores/P: 1000\n"
                           "app 7/8 [001] 1.100000: cpu/mem-stores/P: 1008\ncut o");
  const Ran ran = program.run({"watch", "--perf-script", file, "--machine", two_small_sockets});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("2 threads active, 2 accesses"),
                             HasSubstr("ignored 1 line without a complete sample: 3")));
  const std::string empty = program.home().write("empty.txt", "nothing\n");
  EXPECT_EQ(program.run({"watch", "--perf-script", empty}).status, 3);
  EXPECT_EQ(program.run({"watch", "--perf-script", file, "--replay", file}).status, 2);
  EXPECT_EQ(program.run({"watch", "--perf-script", file, "--start", "parks"}).status, 2);
  EXPECT_EQ(program.run({"watch", "1", "--compare"}).status, 2);
}

TEST(Watch, ReportsInvalidInput) {
  const Program program;
  EXPECT_EQ(program.run({"watch"}).status, 2);
  const std::string damaged = program.home().write("damaged", "huddle-touches 1 page 4096\nx\n");
  const Ran ran = program.run({"watch", "--replay", damaged});
  EXPECT_EQ(ran.status, 3);
  EXPECT_THAT(ran.err, HasSubstr("damaged:2: a line must begin with"));
}

TEST(Watch, RequiresAnExistingProcess) {
  const Program program;
  EXPECT_EQ(program.run({"watch", "no-number"}).status, 2);
  EXPECT_EQ(program.run({"watch", "1", "--replay", recording}).status, 2);
  const Ran ran = program.run({"watch", "4194304"});  // one more than the maximum
  EXPECT_EQ(ran.status, 1);
  EXPECT_THAT(ran.err, HasSubstr("process 4194304 does not exist"));
}

TEST(Watch, ChangesNothingInAProcess) {
  if (!threads::try_page_faults().works) GTEST_SKIP() << "no page faults can be watched here";
  const Ran ran = Program().run({"watch", fmt::format("{}", ::getpid()), "--seconds", "1"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("did not start this process"));
}

// Uses a separate folder for the state that has to be restored.
class RunThreads : public ::testing::Test {
 protected:
  RunThreads() {
    std::filesystem::permissions(program_.home().folder(), std::filesystem::perms::owner_all);
    program_.environment("XDG_RUNTIME_DIR=" + program_.home().folder().string());
  }
  Ran run(const std::string& mode, std::vector<std::string> command,
          std::vector<std::string> options = {}) {
    std::vector<std::string> words = {"run", "--threads", mode};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), command.begin(), command.end());
    return program_.run(words);
  }
  std::string text_of(const std::string& file) const {
    std::ifstream stream(program_.home().path(file));
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  // Returns whether state is left behind. The agent ends soon after its program.
  bool is_left() const {
    return !test::comes_true(
        [this] { return !std::filesystem::exists(program_.home().path("huddle")); });
  }

  Program program_;
};

const std::string pattern_program = HUDDLE_BINARY_DIR "/lib/huddle/huddle-pattern";

TEST_F(RunThreads, ProgramBehavesAsUsual) {
  for (const char* mode : {"off", "watch", "move"}) {
    const Ran ran = run(mode, {"sh", "-c", "echo out; exit 7"});
    EXPECT_EQ(ran.status, 7) << mode << ran.err;
    EXPECT_EQ(ran.out, "out\n") << mode;
    EXPECT_EQ(run(mode, {"sh", "-c", "kill -9 $$"}).status, 137) << mode;
    // It has no children other than its own.
    EXPECT_EQ(run(mode, {"sh", "-c", "cat /proc/$$/task/$$/children"}).out.find(' '),
              run("off", {"sh", "-c", "cat /proc/$$/task/$$/children"}).out.find(' '));
  }
  EXPECT_FALSE(is_left());
}

TEST_F(RunThreads, ReportsObservationsAtTheEnd) {
  if (!threads::try_page_faults().works || !threads::try_protection().works) {
    GTEST_SKIP() << "writes cannot be made visible here";
  }
  const Ran ran = run("watch", {pattern_program, "pairs", "1"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  // The agent ends after its program, and only then has it printed the whole report.
  EXPECT_TRUE(test::comes_true([this] {
    const std::string said = text_of("stderr");
    return said.find("threads active") != std::string::npos &&
           said.find("would have been taken") != std::string::npos;
  })) << text_of("stderr");
  EXPECT_FALSE(is_left());
}

// There are more threads than hardware threads, or no better placement, so nothing is moved.
TEST_F(RunThreads, LeavesNothingBehind) {
  if (!threads::try_page_faults().works || !threads::try_protection().works) {
    GTEST_SKIP() << "writes cannot be made visible here";
  }
  const Ran ran = run("move", {pattern_program, "pairs", "1"}, {"-v"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_FALSE(is_left());
}

// Like the ranks of a node. The first one to start is the first one to end.
TEST_F(RunThreads, ProgramsOnTheSameHardwareThreadsShareAnAgent) {
  if (!threads::try_page_faults().works || !threads::try_protection().works) {
    GTEST_SKIP() << "writes cannot be made visible here";
  }
  if (machine::discover_this_machine().allowed.count() < 2) GTEST_SKIP() << "one processor";
  const std::string script = program_.home().write("ranks.sh", R"sh(cd "$1"
export PMIX_NAMESPACE=job
mkfifo gate.3 gate.4
: >started
rank() {
  "$2" run --threads move sh -c 'echo up >>started; read -r go <gate.'"$1"'; exit '"$1" &
}
rank 3 "$2"
first=$!
until [ "$(wc -l <started)" -eq 1 ]; do :; done
rank 4 "$2"
second=$!
until [ "$(wc -l <started)" -eq 2 ]; do :; done
ls huddle | wc -l
grep -c '^program ' huddle/agent-*
agent=$(ls huddle)
echo go >gate.3
wait "$first"
echo "$?"
[ "$(ls huddle)" = "$agent" ] && echo stays
echo go >gate.4
wait "$second"
echo "$?"
)sh");
  // If a rank does not start, the others would wait for it forever.
  const Ran ran = run(
      "off", {"timeout", "120", "sh", script, program_.home().folder().string(), HUDDLE_PROGRAM});
  EXPECT_EQ(ran.out, "1\n2\n3\nstays\n4\n") << ran.err;
  EXPECT_FALSE(is_left());
}

TEST_F(RunThreads, OneSentenceGivesTheReasonIfNotPossible) {
  const std::string script =
      program_.home().write("alone.sh",
                            "exec taskset -c \"$1\" \"$2\" run --threads move "
                            "sh -c 'exit 5'\n");
  const Ran one = program_.run({"run", "--threads", "off", "sh", script,
                                fmt::format("{}", machine::discover_this_machine().allowed.first()),
                                HUDDLE_PROGRAM});
  EXPECT_EQ(one.status, 5) << one.err;
  EXPECT_THAT(one.err,
              HasSubstr("threads are not observed: this program may use only one hardware thread"));
  const Ran other = run("move", {"sh", "-c", "exit 6"}, {"--machine", two_small_sockets});
  EXPECT_EQ(other.status, 6);
  EXPECT_THAT(other.err,
              HasSubstr("threads are not observed: " + two_small_sockets + " describes"));
  EXPECT_EQ(run("near", {"true"}).status, 2);
  EXPECT_EQ(run("move", {"true"}, {"--bind", "socket"}).status, 2);
  EXPECT_FALSE(is_left());
}

TEST(Watch, MovesOnlyOnThisMachine) {
  const Program program;
  const std::string self = fmt::format("{}", ::getpid());
  EXPECT_EQ(program.run({"watch", "--replay", recording, "--move"}).status, 2);
  const Ran ran = program.run({"watch", self, "--move", "--machine", two_small_sockets});
  EXPECT_EQ(ran.status, 3);
  EXPECT_THAT(ran.err, HasSubstr("describes"));
}

TEST_F(RunThreads, WatchMovesAndLeavesNothingBehind) {
  if (!threads::try_page_faults().works) GTEST_SKIP() << "no page faults can be watched here";
  if (machine::discover_this_machine().allowed.count() < 2) GTEST_SKIP() << "one processor";
  const Ran ran =
      program_.run({"watch", fmt::format("{}", ::getpid()), "--move", "--seconds", "1", "--json"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(json::parse(ran.out)["moves"], true);
  EXPECT_FALSE(is_left());
}

TEST(Profile, ReturnsTheStatusOfItsProgram) {
  if (!threads::try_page_faults().works) GTEST_SKIP() << "no page faults can be watched here";
  const Program program;
  EXPECT_EQ(program.run({"profile", "sh", "-c", "echo out; exit 7"}).status, 7);
  EXPECT_EQ(program.run({"profile", "sh", "-c", "echo out; exit 7"}).out, "out\n");
  EXPECT_EQ(program.run({"profile", "sh", "-c", "kill -9 $$"}).status, 137);
}

TEST(Profile, ReportsInvalidArguments) {
  const Program program;
  EXPECT_EQ(program.run({"profile"}).status, 2);
  EXPECT_EQ(program.run({"profile", "no-such-program"}).status, 2);
  const Ran ran = program.run({"profile", "--accuracy", "pars"});
  EXPECT_EQ(ran.status, 2);
  EXPECT_THAT(ran.err, HasSubstr("did you mean 'pairs'"));
}

TEST(Profile, UnwritablePathsAreReportedBeforeTheRun) {
  const Program program;
  const std::string file = program.home().write("file", "in the way");
  const std::string mark = program.home().path("mark");
  for (const char* option : {"--output", "--record"}) {
    const Ran ran = program.run({"profile", option, file + "/below", "touch", mark});
    EXPECT_EQ(ran.status, 1) << option;
    EXPECT_THAT(ran.err, HasSubstr("cannot write " + file + "/below"));
    EXPECT_FALSE(std::filesystem::exists(mark)) << option;
  }
}

TEST(Profile, UsesBpfOrGivesTheReason) {
  const threads::Trial bpf = threads::try_page_faults(threads::Observer::bpf);
  const Ran ran = Program().run({"profile", "--observer", "bpf", "sh", "-c", "exit 7"});
  EXPECT_EQ(ran.status, bpf.works ? 7 : 1) << ran.err;
  EXPECT_THAT(ran.err, HasSubstr(bpf.works ? "thread" : bpf.why_not));
  EXPECT_EQ(Program().run({"profile", "--observer", "nobody", "true"}).status, 2);
  EXPECT_EQ(Program().run({"profile", "--observer", "bpf", "--mode", "ranks", "true"}).status, 2);
}

// The program ends before it has used one second of CPU time. It is not shorter because an agent
// that is built with a sanitizer samples rarely.
TEST(Profile, ShortRunsNameTheMemoryThatWasNotObserved) {
  if (!threads::try_protection().works) GTEST_SKIP() << "writes cannot be made visible here";
  const Program program;
  const std::string script = program.home().write("short.py",
                                                  "import mmap, sys, time\n"
                                                  "file = open(sys.argv[1], 'w+b')\n"
                                                  "file.truncate(32 << 20)\n"
                                                  "mapped = mmap.mmap(file.fileno(), 0)\n"
                                                  "shared = mmap.mmap(-1, 8 << 20)\n"
                                                  "end = time.process_time() + 0.8\n"
                                                  "while time.process_time() < end: pass\n");
  const Ran ran =
      program.run({"profile", "--json", "python3", script, program.home().path("mapped")});
  ASSERT_EQ(ran.status, 0) << ran.err;
  const json unobserved = json::parse(ran.out)["unobserved"];
  EXPECT_EQ(unobserved["reads"], true);
  EXPECT_EQ(unobserved["shared_bytes"], 32 << 20) << unobserved;
  EXPECT_TRUE(unobserved.contains("huge_bytes")) << unobserved;
  EXPECT_GT(unobserved["resident_bytes"], 0);
}

// Its two threads write to one global array.
const std::string shared_arrays =
    HUDDLE_BINARY_DIR "/tests/placement/threads/shared_arrays/shared_arrays";

// Returns the share of the events in the memory of that variable.
double share_of(const json& memory, const std::string& symbol) {
  double events = 0;
  for (const json& range : memory["ranges"]) {
    if (range["symbols"].dump().find(symbol) == std::string::npos) continue;
    EXPECT_THAT(range["mapping"].get<std::string>(), HasSubstr("shared_arrays"));
    EXPECT_EQ(range["pairs"][0][0], 0);
    EXPECT_EQ(range["pairs"][0][1], 1);
    events += range["events"].get<double>();
  }
  return events / memory["events"].get<double>();
}

TEST(Profile, NamesTheVariableThatThreadsShare) {
  if (!threads::try_page_faults().works) GTEST_SKIP() << "no page faults can be watched here";
  if (!threads::try_protection().works) GTEST_SKIP() << "writes cannot be made visible here";
  const Ran ran = Program().run({"profile", "--json", shared_arrays, "2"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  const json document = json::parse(ran.out);
  ASSERT_TRUE(document.contains("memory")) << ran.out;
  EXPECT_GT(share_of(document["memory"], "array_of_two_threads"), 0.5) << document["memory"];
  EXPECT_EQ(document["memory"]["events"], document["events"]["total"]);
}

TEST(Profile, ObservesAnonymousSharedMemory) {
  if (!threads::try_page_faults().works) GTEST_SKIP() << "no page faults can be watched here";
  if (!threads::try_protection().works) GTEST_SKIP() << "writes cannot be made visible here";
  const Ran ran = Program().run({"profile", "--json", shared_arrays, "2", "mapped"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  const json memory = json::parse(ran.out)["memory"];
  ASSERT_FALSE(memory.empty()) << ran.out;
  EXPECT_EQ(memory["ranges"][0]["mapping"], "/dev/zero (deleted)") << memory;
  EXPECT_GT(memory["ranges"][0]["events"].get<double>(), memory["events"].get<double>() / 2);
}

TEST(Profile, PrintsTheVariableThatThreadsShare) {
  if (!threads::try_page_faults().works) GTEST_SKIP() << "no page faults can be watched here";
  if (!threads::try_protection().works) GTEST_SKIP() << "writes cannot be made visible here";
  const Ran ran = Program().run({"profile", shared_arrays, "2"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.err, AllOf(HasSubstr("memory whose pages passed between threads most often"),
                             HasSubstr("threads 0-1: array_of_two_threads in shared_arrays")));
}

// Other commands read the files that it writes.
TEST(Profile, FilesAreReadByMapAndWatch) {
  if (!threads::try_protection().works) GTEST_SKIP() << "writes cannot be made visible here";
  const Program program;
  const std::string matrix = program.home().path("matrix.json");
  const std::string touches = program.home().path("app.touches");
  const std::string pattern = HUDDLE_BINARY_DIR "/lib/huddle/huddle-pattern";
  const Ran ran =
      program.run({"profile", "-o", matrix, "--record", touches, pattern, "pairs", "1"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.err,
              AllOf(HasSubstr("threads active"), HasSubstr("not observed: reads of all memory")));
  EXPECT_THAT(contents(touches), HasSubstr("m [topology]"));
  const Ran map = program.run({"map", matrix, "--machine", two_small_sockets});
  EXPECT_EQ(map.status, 0) << map.err;
  EXPECT_THAT(map.out, AllOf(HasSubstr("threads"), HasSubstr("not observed"),
                             Not(HasSubstr("by direction")), Not(HasSubstr("numbers of events"))));
  EXPECT_EQ(program.run({"watch", "--replay", touches, "--machine", two_small_sockets}).status, 0);
}

}  // namespace
}  // namespace huddle::cli
