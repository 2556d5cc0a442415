// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Tests `huddle schedule` and `huddle distance` as a user would run them.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "program.h"
#include "tools/cli/net_options.h"
#include "tools/cli/schedule/schedule_report.h"

namespace huddle::cli {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(Schedule, PrintsTheNeighborExchange) {
  const Ran ran = Program().run({"schedule", "allgather:neighbor", "-n", "5"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, StartsWith("allgather:neighbor among 5 ranks: 4 rounds, 5 blocks\n"));
  EXPECT_THAT(ran.out, HasSubstr("\nround 0\n"
                                 "     4 -> 3     4\n"
                                 "\nround 1\n"
                                 "     0 <> 1     0 | 1\n"
                                 "     2 <> 3     2 | 3..4\n"
                                 "\nround 2\n"
                                 "     0 <> 3     0..1 | 2..4\n"
                                 "     1 <> 2     0..1 | 2..4\n"
                                 "\nround 3\n"
                                 "     3 -> 4     0..3\n"));
}

TEST(Schedule, ShowsOneRankOfMany) {
  const Ran ran =
      Program().run({"schedule", "allreduce:slices", "-n", "1000", "--rank", "17", "--json"});
  ASSERT_EQ(ran.status, 0) << ran.err;
  const json document = json::parse(ran.out);
  EXPECT_EQ(document["schema"], 1);
  EXPECT_EQ(document["command"], "schedule");
  EXPECT_EQ(document["rank"], 17);
  EXPECT_EQ(document["rounds"].size(), 2U * 999);
  const json& first = document["rounds"][0];
  EXPECT_EQ(first["messages"][0]["from"], 17);
  EXPECT_EQ(first["messages"][0]["to"], 16);
  EXPECT_EQ(first["messages"][0]["blocks"], json::parse("[[16, 1]]"));
}

TEST(Schedule, ChecksScheduleOnRequest) {
  const Ran ran = Program().run({"schedule", "allreduce:halving", "-n", "37", "--check"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.out, "allreduce:halving among 37 ranks is correct, also in place\n");
}

TEST(Schedule, ListsAllAlgorithms) {
  const Ran ran = Program().run({"schedule"});
  EXPECT_EQ(ran.status, 0);
  for (const schedules::Algorithm& algorithm : schedules::algorithms()) {
    EXPECT_THAT(ran.out, HasSubstr(algorithm.full_name() + " ")) << ran.out;
  }
}

std::string drawn(std::vector<std::string> arguments) {
  arguments.insert(arguments.end(), {"--svg", "-"});
  const Ran ran = Program().run(arguments);
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("<svg"), HasSubstr("</svg>")));
  return ran.out;
}

TEST(Schedule, IsDrawn) {
  const std::vector<std::string> few = {"schedule", "allgather:neighbor", "-n", "7"};
  EXPECT_EQ(drawn(few), drawn(few));
  EXPECT_NE(drawn(few), drawn({"schedule", "allgather:ring", "-n", "7"}));
  drawn({"schedule", "alltoall:bruck", "-n", "1000", "--radix", "4"});
  drawn({"schedule", "barrier:dissemination", "-n", "5"});
  drawn({"schedule", "bcast:knomial", "-n", "1"});
}

TEST(Distance, IsDrawnAsLinesOrBars) {
  drawn({"distance", "allgather", "--ranks", "1..40"});
  drawn({"distance", "bcast", "--ranks", "16"});
  drawn({"distance", "allgather", "--ranks", "1"});
  drawn({"distance", "alltoall", "--ranks", "64", "--fabric",
         HUDDLE_SOURCE_DIR "/machines/fabrics/dragonfly.toml"});
}

TEST(Schedule, ReportsInvalidArguments) {
  const struct {
    std::vector<std::string> arguments;
    std::string message;
  } calls[] = {
      {{"schedule", "allgather:neigbor"}, "did you mean 'allgather:neighbor'?"},
      {{"schedule", "algather:ring"}, "did you mean 'allgather'?"},
      {{"schedule", "allgather"}, "unknown algorithm 'allgather'"},
      {{"schedule", "allgather:ring", "-n", "0"}, "among 0 ranks: at least one rank is required"},
      {{"schedule", "bcast:chain", "-n", "4", "--root", "4"},
       "there is no root 4 among 4 ranks; the last rank is 3"},
      {{"schedule", "bcast:chain", "-n", "4", "--rank", "x"}, "there is no rank x among 4"},
      {{"schedule", "allgather:ring", "-n", "2000"}, "select one with --rank RANK"},
      {{"distance", "allgather", "--ranks", "0"}, "0 ranks: at least one is required"},
      {{"distance", "allgather", "--ranks", "5..2"}, "ends below its start"},
      {{"distance", "allgather", "--ranks", "4,,5"}, "is not a number of ranks"},
      {{"distance", "allgather"}, "the number of ranks is missing"},
      {{"distance"}, "the collective is missing"},
      {{"distance", "gossip", "--ranks", "4"}, "unknown operation 'gossip'"},
      {{"distance", "allgather", "--ranks", "4,8", "--svg", "-", "--fabric",
        HUDDLE_SOURCE_DIR "/machines/fabrics/dragonfly.toml"},
       "requires one number of ranks"},
  };
  for (const auto& call : calls) {
    const Ran ran = Program().run(call.arguments);
    EXPECT_EQ(ran.status, 2) << call.message;
    EXPECT_EQ(ran.out, "");
    EXPECT_THAT(ran.err, HasSubstr(call.message));
  }
}

TEST(Distance, ShowsPrintedAndCountedValues) {
  const Ran ran = Program().run({"distance", "allgather:bruck", "--ranks", "10"});
  EXPECT_EQ(ran.status, 0) << ran.err;
  EXPECT_EQ(ran.out,
            "10 ranks                      D  counted  by formula  as published\n"
            "  allgather:bruck          3.25     13/4        13/4         -1.55\n");
}

TEST(Distance, IsExactInJson) {
  const Ran ran = Program().run({"distance", "allgather", "--ranks", "5,10", "--json"});
  const json document = json::parse(ran.out);
  EXPECT_EQ(document["schema"], 1);
  EXPECT_EQ(document["command"], "distance");
  for (const json& point : document["points"]) {
    if (point["algorithm"] != "allgather:neighbor") continue;
    EXPECT_EQ(point["distance_exact"], point["ranks"] == 5 ? "7/5" : "41/25");
    EXPECT_EQ(point["distance_exact"], point["formula_exact"]);
  }
}

TEST(RankCounts, ParseListsAndRanges) {
  EXPECT_THAT(rank_counts_from("8"), ElementsAre(8));
  EXPECT_THAT(rank_counts_from("2..4,16,7..7"), ElementsAre(2, 3, 4, 16, 7));
}

}  // namespace
}  // namespace huddle::cli
