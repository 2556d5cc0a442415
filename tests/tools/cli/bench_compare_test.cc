// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/cli/bench/bench_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../../common/scratch.h"
#include "common/error.h"
#include "program.h"

namespace huddle::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using testing::ThrowsMessage;

MeasuredRun run(double ratio_of_8, double ratio_of_64k) {
  return {.path = "run.json",
          .machine = "a machine",
          .huddle = "0.1.0",
          .under = "mpich-5",
          .ranks = 2,
          .mpis = {"mpich-5"},
          .points = {
              {"bcast", 8, "mpich-5", 100, {ratio_of_8, ratio_of_8 * 0.98, ratio_of_8 * 1.02, 20}},
              {"bcast",
               65536,
               "mpich-5",
               2000,
               {ratio_of_64k, ratio_of_64k * 0.98, ratio_of_64k * 1.02, 20}}}};
}

std::string text_of(const MeasuredRun& before, const MeasuredRun& after, int columns) {
  return bench_compare_text(before, after, changes(before, after), columns);
}

// Returns JSON with the parts of huddle bench's output that are read here.
std::string json_of(double ratio, const std::string& schema = "1") {
  return R"({"schema":)" + schema +
         R"(,"command":"bench","what":"mpi","huddle":"0.1.0","machine":"m","ranks":2,)"
         R"("under":"mpich-5","mpis":[{"name":"mpich-5","version":"5"}],"points":[{)"
         R"("operation":"barrier","bytes":0,"rival":"mpich-5","huddle_ns":100,"estimate":{"ratio":)" +
         std::to_string(ratio) + R"(,"low":)" + std::to_string(ratio * 0.98) + R"(,"high":)" +
         std::to_string(ratio * 1.02) + R"(,"batches":20}}]})";
}

TEST(BenchCompare, ChangeIsTheRatioOfRatiosWithTheCombinedInterval) {
  const std::vector<Change> all = changes(run(1, 2), run(1.5, 2));
  ASSERT_EQ(all.size(), 2U);
  const bench::Estimate first = all[0].estimate();
  EXPECT_DOUBLE_EQ(first.ratio, 1.5);
  EXPECT_DOUBLE_EQ(first.low, 1.5 * 0.98 / 1.02);
  EXPECT_DOUBLE_EQ(first.high, 1.5 * 1.02 / 0.98);
  EXPECT_EQ(all[1].estimate().ratio, 1);
}

TEST(BenchCompare, ReportsOnlyCertainChanges) {
  const std::string text = text_of(run(1, 2), run(1.5, 1), 100);
  EXPECT_THAT(text, HasSubstr("1.50  1.44-1.56   faster"));
  EXPECT_THAT(text, HasSubstr("0.50  0.48-0.52   slower"));
  EXPECT_THAT(text, HasSubstr("0.87 times as fast"));
  EXPECT_THAT(text_of(run(1, 2), run(1.01, 2), 100),
              AllOf(Not(HasSubstr("faster")), Not(HasSubstr("slower"))));
}

TEST(BenchCompare, NotesDifferencesBetweenTheRuns) {
  MeasuredRun other = run(1, 2);
  EXPECT_THAT(text_of(run(1, 2), other, 100), Not(HasSubstr("note:")));
  other.ranks = 4;
  other.machine = "another";
  other.mpis = {"intel"};
  other.timing = "osu";
  other.points.pop_back();
  const std::string text = text_of(run(1, 2), other, 100);
  for (const char* what : {"different machines", "the numbers of ranks", "different MPIs",
                           "1 point in only one", "apart and osu"}) {
    EXPECT_THAT(text, HasSubstr(what));
  }
}

TEST(BenchCompare, RefusesUnknownDocuments) {
  const test::Scratch files;
  const auto refusal = [&files](const std::string& text) {
    const std::string path = files.write("odd.json", text);
    return [path] { read_measured_run(path); };
  };
  const std::string good = json_of(1);
  EXPECT_THAT(refusal(""), ThrowsMessage<InputError>(HasSubstr("the file is empty")));
  EXPECT_THAT(refusal(good.substr(0, 80)),
              ThrowsMessage<InputError>(HasSubstr("invalid or incomplete JSON")));
  EXPECT_THAT(refusal(json_of(1, "2")), ThrowsMessage<InputError>(HasSubstr("schema is not 1")));
  EXPECT_THAT(refusal("[]"), ThrowsMessage<InputError>(HasSubstr("not a result of 'huddle bench")));
  EXPECT_THAT(refusal(json_of(-1)),
              ThrowsMessage<InputError>(HasSubstr("is not between low and high")));
  EXPECT_THAT(refusal(R"({"schema":1,"command":"bench","what":"mpi"})"),
              ThrowsMessage<InputError>(HasSubstr("missing")));
}

TEST(BenchCompare, ReturnsFindingIfAPointIsSlowerThanTheBar) {
  Program program;
  program.home_file("a.json", json_of(2));
  program.home_file("b.json", json_of(1.9));
  program.home_file("c.json", json_of(1));
  const std::string folder = program.home().folder().string() + "/";
  const Ran fine = program.run({"bench", "compare", folder + "a.json", folder + "b.json"});
  EXPECT_EQ(fine.status, 0);
  EXPECT_THAT(fine.out, HasSubstr("barrier"));
  EXPECT_EQ(program.run({"bench", "compare", folder + "a.json", folder + "c.json"}).status, 1);
  EXPECT_EQ(program.run({"bench", "compare", folder + "a.json", folder + "none.json"}).status, 3);
  const Ran one = program.run({"bench", "compare", folder + "a.json"});
  EXPECT_EQ(one.status, 2);
  EXPECT_THAT(one.err, StartsWith("huddle: two results are required"));
}

}  // namespace
}  // namespace huddle::cli
