// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "mpi/tuning_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "../common/scratch.h"
#include "common/error.h"
#include "common/file.h"

namespace huddle::mpi {
namespace {

using select::Operation;
using team::Implementation;
using team::TuningHistory;
using team::TuningRecord;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const TuningConditions here{"Open MPI 4.1", "1.0", "two cores", "abc", false};

const TuningHistory::Key bcasts{{0, 2}, {Operation::bcast, 32768, true}};
const TuningHistory::Key reductions{{0, 2}, {Operation::allreduce, 8, true}};

TuningHistory::Records some_records() {
  TuningHistory::Records records;
  records[bcasts] = {.kept = Implementation::alternative,
                     .plan = {"segmented", 4096, memory::CopyMethod(memory::CopyKernel::rep_movsb)},
                     .median_ns = 1400.5,
                     .calls_until_next = 70'000,
                     .next_alternative = 9,
                     .confirmations = 2};
  records[reductions] = {.kept = Implementation::outside, .is_settled = false, .median_ns = 900};
  return records;
}

void expect_equal(const TuningRecord& a, const TuningRecord& b) {
  EXPECT_EQ(a.kept, b.kept);
  EXPECT_EQ(a.is_settled, b.is_settled);
  EXPECT_EQ(a.plan, b.plan);
  EXPECT_EQ(a.median_ns, b.median_ns);
  EXPECT_EQ(a.calls_until_next, b.calls_until_next);
  EXPECT_EQ(a.next_alternative, b.next_alternative);
  EXPECT_EQ(a.confirmations, b.confirmations);
}

class TuningFile : public ::testing::Test {
 protected:
  void write(const std::string& text) const { scratch.write("tune.json", text); }
  std::string complaint() const {
    try {
      write_tuning_file(path, here, some_records());
    } catch (const InputError& error) {
      return error.what();
    }
    return "none";
  }

  test::Scratch scratch;
  std::string path = scratch.path("tune.json");
};

TEST_F(TuningFile, IsEmptyBeforeTheFirstRun) {
  EXPECT_THAT(read_tuning_file(path, here), IsEmpty());
}

TEST_F(TuningFile, KeepsEveryRecord) {
  const TuningHistory::Records records = some_records();
  write_tuning_file(path, here, records);
  const TuningHistory::Records read = read_tuning_file(path, here);
  ASSERT_THAT(read, SizeIs(2));
  for (const auto& [key, record] : records) expect_equal(read.at(key), record);
}

TEST_F(TuningFile, KeepsResultsOfOtherConditionsApart) {
  std::vector<TuningConditions> others(5, here);
  others[0].mpi = "MPICH 4.0";
  others[1].huddle = "1.1";
  others[2].machine = "four cores";
  others[3].figures = "def";
  others[4].has_heap = true;
  for (const TuningConditions& other : others) {
    write_tuning_file(path, other, some_records());
    EXPECT_THAT(read_tuning_file(path, here), IsEmpty());
  }
  write_tuning_file(path, here, some_records());
  for (const TuningConditions& other : others)
    EXPECT_THAT(read_tuning_file(path, other), SizeIs(2));
  EXPECT_THAT(stored_tunings(path), SizeIs(12));
}

TEST_F(TuningFile, ReplacesResultsOfTheSameCalls) {
  write_tuning_file(path, here, some_records());
  TuningHistory::Records newer;
  newer[bcasts] = {
      .kept = Implementation::chosen, .plan = {.algorithm = "pipelined"}, .median_ns = 1200};
  write_tuning_file(path, here, newer);
  const TuningHistory::Records read = read_tuning_file(path, here);
  ASSERT_THAT(read, SizeIs(2));
  expect_equal(read.at(bcasts), newer.at(bcasts));
  expect_equal(read.at(reductions), some_records().at(reductions));
}

// They may be those of a later version, in which they exist.
TEST_F(TuningFile, KeepsResultsOfUnknownAlgorithmsForOthers) {
  write_tuning_file(path, here, some_records());
  std::string text = read_text(path);
  text.replace(text.find("segmented"), 9, "telepathy");
  write(text);
  EXPECT_THAT(read_tuning_file(path, here), SizeIs(1));
  write_tuning_file(path, here, {});
  EXPECT_THAT(read_text(path), HasSubstr("telepathy"));
}

TEST_F(TuningFile, DoesNotReplaceAnotherFile) {
  for (const std::string text : {"", "{", "[]", "{\"command\": \"stats\"}", "not JSON"}) {
    write(text);
    EXPECT_THAT(complaint(), HasSubstr("does not contain results of trials")) << text;
    EXPECT_EQ(read_text(path), text);
    EXPECT_THROW(read_tuning_file(path, here), InputError);
  }
}

TEST_F(TuningFile, DoesNotReplaceAFileThatItCannotRead) {
  write_tuning_file(path, here, some_records());
  const std::string whole = read_text(path);
  std::string text = whole;
  text.replace(text.find("\"schema\": 1"), 11, "\"schema\": 2");
  write(text);
  EXPECT_THAT(complaint(), HasSubstr("another version"));
}

TEST_F(TuningFile, RejectsWrongValues) {
  write_tuning_file(path, here, some_records());
  const std::string whole = read_text(path);
  const std::vector<std::pair<std::string, std::string>> mistakes = {
      {"\"cpus\"", "\"seats\""},
      {"\"cpus\":[0,2]", "\"cpus\":[0,-2]"},
      {"\"cpus\":[0,2]", "\"cpus\":[0,4294967296]"},
      {"\"calls_until_next_trial\":70000", "\"calls_until_next_trial\":-1"},
      {"\"calls_until_next_trial\":70000", "\"calls_until_next_trial\":1e300"},
      {"\"confirmations\":2", "\"confirmations\":300"},
      {"\"heap\":false", "\"heap\":\"off\""},
      // The MPI would change the result of a reduction.
      {"\"mpi_may_run\":true,\"kept\":\"mpi\"", "\"mpi_may_run\":false,\"kept\":\"mpi\""}};
  for (const auto& [right, wrong] : mistakes) {
    std::string text = whole;
    ASSERT_NE(text.find(right), std::string::npos) << right;
    text.replace(text.find(right), right.size(), wrong);
    write(text);
    EXPECT_THAT(complaint(), HasSubstr("invalid result")) << wrong;
    EXPECT_EQ(read_text(path), text);
    EXPECT_THROW(read_tuning_file(path, here), InputError);
  }
}

}  // namespace
}  // namespace huddle::mpi
