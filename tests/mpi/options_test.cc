// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "mpi/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "../common/scratch.h"

namespace huddle::mpi {
namespace {

using select::Operation;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

struct Read {
  Options options;
  std::vector<std::string> complaints;
};

std::vector<Operation> taken_by(const Options& options) {
  std::vector<Operation> handled;
  for (const Operation operation : select::operations) {
    if (options.handles(operation)) handled.push_back(operation);
  }
  return handled;
}

Read read(std::vector<std::string> environment) {
  Read result;
  settings::Sources sources;
  sources.environment = std::move(environment);
  result.options = options_from(
      sources, [&](const std::string& complaint) { result.complaints.push_back(complaint); });
  return result;
}

TEST(Options, SelectAllOperationsByDefault) {
  const Read plain = read({});
  EXPECT_THAT(plain.complaints, IsEmpty());
  EXPECT_THAT(taken_by(plain.options), SizeIs(select::operations.size()));
  EXPECT_FALSE(plain.options.stats);
  EXPECT_FALSE(plain.options.verify);
  EXPECT_FALSE(plain.options.activate_after) << "when it pays";
  EXPECT_EQ(plain.options.heap, "off");
  EXPECT_GT(plain.options.heap_request.least_block_bytes, 0U);
  EXPECT_GT(plain.options.heap_request.most_copied_bytes, 0U);
}

TEST(Options, TuneByDefault) {
  const Read plain = read({});
  EXPECT_TRUE(plain.options.tunes);
  EXPECT_FALSE(plain.options.may_reorder);
  EXPECT_EQ(plain.options.tuning_file, "");
  EXPECT_FALSE(read({"HUDDLE_TUNE=off"}).options.tunes);
  EXPECT_TRUE(read({"HUDDLE_TUNE=any-order"}).options.may_reorder);
  EXPECT_EQ(plain.options.tune_after, std::nullopt);
}

// Otherwise the ranks would begin trials in different calls.
TEST(Options, WithOtherTrialsHaveAnotherDigest) {
  const Options plain = read({}).options;
  const Options early = read({"HUDDLE_TUNE_AFTER=4"}).options;
  EXPECT_EQ(early.tune_after, 4U);
  EXPECT_NE(early.digest(), plain.digest());
}

// The program may change its folder.
TEST(Options, MakePathsAbsolute) {
  const auto here = std::filesystem::current_path();
  EXPECT_EQ(read({"HUDDLE_STATS=mine.json"}).options.stats_file, here / "mine.json");
  EXPECT_EQ(read({"HUDDLE_MACHINE=files/mine.toml"}).options.machine_file,
            here / "files/mine.toml");
  EXPECT_EQ(read({"HUDDLE_MACHINE=songshan"}).options.machine_file, "songshan");
}

TEST(Options, MakeThePathOfTheTuningFileAbsolute) {
  const Read stored = read({"HUDDLE_TUNE=mine.json"});
  EXPECT_THAT(stored.complaints, IsEmpty());
  EXPECT_TRUE(stored.options.tunes);
  EXPECT_EQ(stored.options.tuning_file, std::filesystem::current_path() / "mine.json");
  EXPECT_THAT(read({"HUDDLE_TUNE=of"}).complaints, SizeIs(1));
}

// The times of such calls include the comparison.
TEST(Options, StoreNoTrialsOfVerifiedCalls) {
  EXPECT_EQ(read({"HUDDLE_TUNE=mine.json", "HUDDLE_VERIFY=on"}).options.tuning_file, "");
}

TEST(Options, UseMeasuredNetworksByDefault) {
  EXPECT_EQ(read({}).options.net, "measured");
  EXPECT_EQ(read({"HUDDLE_NET=auto"}).options.net, "auto");
  EXPECT_EQ(read({"HUDDLE_NET=1"}).options.net, "on");
  EXPECT_NE(read({"HUDDLE_NET=1"}).options.digest(), read({}).options.digest())
      << "ranks of which some would go on between nodes";
}

TEST(Options, SelectTheListedOperations) {
  EXPECT_THAT(taken_by(read({"HUDDLE_OPS=reduce,barrier"}).options),
              ElementsAre(Operation::barrier, Operation::reduce));
  const auto all_but_bcast = taken_by(read({"HUDDLE_OPS=^bcast"}).options);
  EXPECT_THAT(all_but_bcast, SizeIs(select::operations.size() - 1));
  EXPECT_THAT(all_but_bcast, Not(Contains(Operation::bcast)));
}

TEST(Options, IncludeTheSettingsOfTheHeap) {
  const Options options = read({"HUDDLE_HEAP=on", "HUDDLE_HEAP_THRESHOLD=128K",
                                "HUDDLE_HEAP_LIMIT=2G", "HUDDLE_HEAP_FORK_LIMIT=1M"})
                              .options;
  EXPECT_EQ(options.heap, "on");
  EXPECT_EQ(options.heap_request.least_block_bytes, std::size_t{128} << 10);
  EXPECT_EQ(options.heap_request.cap_bytes, std::size_t{2} << 30);
  EXPECT_EQ(options.heap_request.most_copied_bytes, std::size_t{1} << 20);
}

TEST(Options, InvalidSettingsAreReportedAndTheOthersApply) {
  const Read read_all = read({"HUDDLE_STATS=1", "HUDDLE_VERIFFY=1", "HUDDLE_ACTIVATE_AFTER=soon",
                              "HUDDLE_OPS=bcast", "PATH=/bin"});
  EXPECT_THAT(read_all.complaints,
              ElementsAre(HasSubstr("HUDDLE_VERIFFY"), HasSubstr("HUDDLE_ACTIVATE_AFTER")));
  EXPECT_TRUE(read_all.options.stats);
  EXPECT_FALSE(read_all.options.verify);
  EXPECT_THAT(taken_by(read_all.options), ElementsAre(Operation::bcast));
}

TEST(Options, AMistakeInAFileKeepsItsOtherSettings) {
  const test::Scratch scratch;
  settings::Sources sources;
  sources.user_file =
      scratch.write("config.toml", "stats = \"on\"\nverfy = \"on\"\nops = \"bcast\"\n");
  std::vector<std::string> complaints;
  const Options options =
      options_from(sources, [&](const std::string& complaint) { complaints.push_back(complaint); });
  EXPECT_THAT(complaints, ElementsAre(HasSubstr(":2: unknown setting 'verfy'")));
  EXPECT_TRUE(options.stats);
  EXPECT_THAT(taken_by(options), ElementsAre(Operation::bcast));
}

TEST(Options, VerifyActivatesAtTheFirstCallUnlessJoinAfterIsSet) {
  EXPECT_EQ(read({"HUDDLE_VERIFY=1"}).options.activate_after, 0U);
  EXPECT_EQ(read({"HUDDLE_VERIFY=1", "HUDDLE_ACTIVATE_AFTER=8"}).options.activate_after, 8U);
}

TEST(Options, DigestCoversWhatRanksMustHaveInCommon) {
  const Options plain = read({}).options;
  EXPECT_EQ(plain.digest(), read({"HUDDLE_STATS=1"}).options.digest());
  EXPECT_NE(plain.digest(), read({"HUDDLE_VERIFY=1"}).options.digest());
  EXPECT_NE(plain.digest(), read({"HUDDLE_OPS=^bcast"}).options.digest());
  EXPECT_NE(plain.digest(), read({"HUDDLE_ACTIVATE_AFTER=0"}).options.digest());
}

}  // namespace
}  // namespace huddle::mpi
