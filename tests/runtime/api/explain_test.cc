// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The explanations that a program gets of the algorithm that a call would use.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "c_ranks.h"

namespace huddle::api {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

std::string explained(const TeamHandle& team, huddle_operation operation, std::size_t count,
                      std::size_t element_bytes, huddle_format format) {
  std::size_t needed = 0;
  must(huddle_explain(team.get(), operation, count, element_bytes, format, nullptr, 0, &needed),
       team);
  std::string text(needed, 'x');
  must(huddle_explain(team.get(), operation, count, element_bytes, format, text.data(), text.size(),
                      nullptr),
       team);
  EXPECT_EQ(text.back(), '\0');
  text.pop_back();
  EXPECT_EQ(text.find('\0'), std::string::npos);
  return text;
}

// Runs a team whose choices do not depend on this machine.
void run_explained(int ranks, const std::function<void(const TeamHandle&)>& function) {
  run_c_ranks(ranks, [&](const huddle_bootstrap& bootstrap) {
    huddle_settings settings = default_settings();
    settings.machine_file = HUDDLE_SOURCE_DIR "/machines/songshan.toml";
    const ContextHandle context = new_context(settings);
    function(new_team(context, bootstrap));
  });
}

TEST(Explain, WritesText) {
  run_explained(4, [](const TeamHandle& team) {
    const std::string text = explained(team, HUDDLE_ALLREDUCE, 8192, 8, HUDDLE_TEXT);
    EXPECT_THAT(text, HasSubstr("allreduce of 64K on 4 ranks"));
    EXPECT_THAT(text, HasSubstr("\n->"));
    EXPECT_THAT(text, HasSubstr("slices"));
    EXPECT_THAT(explained(team, HUDDLE_BARRIER, 77, 0, HUDDLE_TEXT),
                HasSubstr("barrier on 4 ranks"));
  });
}

TEST(Explain, WritesJson) {
  run_explained(3, [](const TeamHandle& team) {
    for (const huddle_operation operation :
         {HUDDLE_BARRIER, HUDDLE_BCAST, HUDDLE_REDUCE, HUDDLE_ALLREDUCE}) {
      const json document = json::parse(explained(team, operation, 1000, 1, HUDDLE_JSON));
      EXPECT_EQ(document["schema"], 1);
      EXPECT_EQ(document["ranks"], 3);
      EXPECT_EQ(document["bytes"], operation == HUDDLE_BARRIER ? 0 : 1000);
      ASSERT_GT(document["candidates"].size(), 1U);
      EXPECT_EQ(document["chosen"], document["candidates"][0]);
      double last_ns = 0;
      for (const json& candidate : document["candidates"]) {
        EXPECT_GE(candidate["predicted_ns"].get<double>(), last_ns) << "cheapest first";
        last_ns = candidate["predicted_ns"].get<double>();
        EXPECT_TRUE(candidate["algorithm"].is_string());
        EXPECT_TRUE(candidate["parameters"].is_string());
      }
    }
  });
}

TEST(Explain, TruncatesToCapacity) {
  run_explained(2, [](const TeamHandle& team) {
    std::vector<char> text(8, 'x');
    std::size_t needed = 0;
    must(huddle_explain(team.get(), HUDDLE_BARRIER, 0, 0, HUDDLE_TEXT, text.data(), 5, &needed),
         team);
    EXPECT_GT(needed, 8U);
    EXPECT_STREQ(text.data(), "barr");
    EXPECT_EQ(text[5], 'x');
  });
}

TEST(Explain, SingleRankHasNoChoice) {
  run_explained(1, [](const TeamHandle& team) {
    const json document = json::parse(explained(team, HUDDLE_BCAST, 1000, 1, HUDDLE_JSON));
    EXPECT_TRUE(document["chosen"].is_null());
    EXPECT_THAT(explained(team, HUDDLE_BCAST, 1000, 1, HUDDLE_TEXT), HasSubstr("nothing to do"));
  });
}

// Elements that few algorithms support. Asking for an explanation does not change the choice.
TEST(Explain, ContainsReasonIfNothingRuns) {
  run_explained(2, [](const TeamHandle& team) {
    EXPECT_THAT(explained(team, HUDDLE_BCAST, 0, 1, HUDDLE_TEXT),
                HasSubstr("nothing to do for zero bytes"));
    constexpr std::size_t gibibyte = std::size_t{1} << 30;
    EXPECT_THAT(explained(team, HUDDLE_REDUCE, 1, gibibyte, HUDDLE_TEXT), HasSubstr("too large"));
  });
}

TEST(Explain, DependsOnElementSize) {
  run_explained(3, [](const TeamHandle& team) {
    const auto candidates = [&](std::size_t element_bytes) {
      return json::parse(explained(team, HUDDLE_ALLREDUCE, 1, element_bytes, HUDDLE_JSON))
          .at("candidates")
          .size();
    };
    EXPECT_GT(candidates(8), candidates(5000));
    EXPECT_EQ(candidates(std::size_t{1} << 30), 0U);
  });
}

}  // namespace
}  // namespace huddle::api
