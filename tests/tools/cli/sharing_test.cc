// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Tests that pictures of communication show their scale and the number of samples behind them.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "tools/cli/console.h"
#include "tools/cli/terminal_text.h"
#include "tools/cli/thread_agent.h"

namespace huddle::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string whole(double amount) { return fmt::format("{:.0f}", amount); }

TEST(Shading, LegendNamesTheLimitOfEachShade) {
  EXPECT_EQ(Shading({.least = 1, .most = 1000, .unicode = false}).legend("none", whole),
            ".. none, :: to 3, oo to 32, OO to 316, ## to 1000");
}

TEST(Shading, ShadesAgreeWithTheLegend) {
  const Shading shading({.least = 1, .most = 64, .unicode = false});
  EXPECT_EQ(shading.legend("none", whole), ".. none, :: to 2, oo to 8, OO to 32, ## to 64");
  EXPECT_EQ(shading.of(0), "..");
  EXPECT_EQ(shading.of(2), "::");
  EXPECT_EQ(shading.of(3), "oo");
  EXPECT_EQ(shading.of(8), "oo");
  EXPECT_EQ(shading.of(32), "OO");
  EXPECT_EQ(shading.of(64), "##");
}

TEST(Shading, LegendLeavesOutShadesOfNoWholeNumber) {
  EXPECT_EQ(Shading({.least = 1, .most = 2, .unicode = false}).legend("none", whole),
            ".. none, :: to 1, ## to 2");
  EXPECT_EQ(Shading({.least = 7, .most = 7, .unicode = false}).legend("none", whole),
            ".. none, ## to 7");
}

TEST(Shading, FewSamplesHaveOnlyTheLightestShade) {
  const Shading shading({.least = 1, .most = 64, .pale = true, .unicode = false});
  EXPECT_EQ(shading.of(64), "::");
  EXPECT_EQ(shading.legend("none", whole), ".. none, :: to 64");
}

// Threads in pairs, each of which has this number of events.
mapping::CommMatrix threads_in_pairs(int threads, double events) {
  mapping::GraphBuilder builder(threads);
  for (int thread = 0; thread + 1 < threads; thread += 2) {
    builder.add({thread, thread + 1, events});
  }
  mapping::CommMatrix matrix;
  matrix.kind = mapping::Kind::threads;
  matrix.events = mapping::Events{builder.finish(), 1};
  matrix.graph = matrix.events->counts;
  return matrix;
}

std::string picture_of(const mapping::CommMatrix& matrix) {
  std::vector<int> threads(static_cast<std::size_t>(matrix.size()));
  std::iota(threads.begin(), threads.end(), 0);
  Console console;
  console.unicode = false;
  console.columns = 200;  // no line breaks within sentences
  return sharing_text(matrix, threads, console);
}

TEST(SharingText, NamesItsScaleAndTheNumberOfSamples) {
  EXPECT_THAT(picture_of(threads_in_pairs(4, 300)),
              AllOf(HasSubstr("## to 300"), HasSubstr("600 sampled events"),
                    HasSubstr("     0    ## .. ..\n"), Not(HasSubstr("too few"))));
}

TEST(SharingText, FewEventsDoNotLookLikeMany) {
  EXPECT_THAT(picture_of(threads_in_pairs(4, 6)),
              AllOf(HasSubstr("12 sampled events (a page"), HasSubstr("     0    :: .. ..\n"),
                    HasSubstr("12 sampled events are too few"),
                    HasSubstr("at least 40 are required"), Not(HasSubstr("##"))));
}

TEST(SharingText, ReportsThatDifferencesMayBeDueToChance) {
  mapping::GraphBuilder builder(4);
  for (int a = 0; a < 4; ++a) {
    for (int b = a + 1; b < 4; ++b) builder.add({a, b, 100.0 + a});
  }
  mapping::CommMatrix matrix = threads_in_pairs(4, 1);
  matrix.events->counts = builder.finish();
  EXPECT_THAT(picture_of(matrix), AllOf(HasSubstr("about the same amount"),
                                        HasSubstr("     0    :: :: ::\n"), Not(HasSubstr("##"))));
}

}  // namespace
}  // namespace huddle::cli
