// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Tests that pictures of communication show their scale and the number of samples behind them.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <vector>

#include "model/machine/machine_file.h"
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

TEST(MemoryText, ListsSharesPairsAndVariables) {
  const threads::SharedMemory memory = {
      .events = 100,
      .ranges = {
          {.addresses = {0x10000, 0x20000},
           .mapping = "/opt/bin/app",
           .symbols = {"grid"},
           .events = 60,
           .pairs = {{0, 1, 50}, {1, 2, 10}}},
          {.addresses = {0x30000, 0x31000}, .mapping = "", .events = 20, .pairs = {{2, 3, 20}}},
          {.addresses = {0x40000, 0x41000}, .events = 8, .pairs = {{0, 3, 8}}}}};
  EXPECT_EQ(memory_text(memory, {.columns = 100}),
            "   60 %  threads 0-1, 1-2: grid in app, 64K at 0x10000\n"
            "   20 %  threads 2-3: anonymous memory, 4K at 0x30000\n"
            "    8 %  threads 0-3: memory whose mapping is not known, 4K at 0x40000\n"
            "   12 %  all other memory\n");
}

TEST(MemoryText, LeavesOutRarePairsAndRanges) {
  const threads::SharedRange heap = {.addresses = {0x1000, 0x2000},
                                     .mapping = "[heap]",
                                     .events = 1000,
                                     .pairs = {{2, 3, 950}, {0, 3, 50}}};
  const threads::SharedRange stack = {
      .addresses = {0x3000, 0x4000}, .mapping = "[stack]", .events = 4, .pairs = {{0, 1, 4}}};
  EXPECT_EQ(memory_text({.events = 1004, .ranges = {heap, stack}}, {.columns = 100}),
            "  100 %  threads 2-3 and 1 more pair: [heap], 4K at 0x1000\n");
}

TEST(MemoryText, NamesSharedMappingsWithoutAFile) {
  const threads::SharedRange range = {.addresses = {0, 0x1000},
                                      .mapping = "/dev/zero (deleted)",
                                      .events = 1,
                                      .pairs = {{0, 1, 1}}};
  EXPECT_EQ(memory_text({.events = 1, .ranges = {range}}, {.columns = 100}),
            "  100 %  threads 0-1: anonymous shared memory, 4K at 0x0\n");
}

TEST(MemoryText, DoesNotNamePairsIfNoneIsFrequent) {
  threads::SharedRange range = {.addresses = {0, 0x1000}, .mapping = "[heap]", .events = 100};
  EXPECT_EQ(memory_text({.events = 100, .ranges = {range}}, {.columns = 100}),
            "  100 %  many pairs of threads: [heap], 4K at 0x0\n");
  range.pairs = {{0, 1, 60}, {0, 2, 9}};
  EXPECT_EQ(memory_text({.events = 100, .ranges = {range}}, {.columns = 100}),
            "  100 %  threads 0-1 and others: [heap], 4K at 0x0\n");
}

TEST(MemoryText, CountsPairsThatAreNotListed) {
  threads::SharedRange range{.addresses = {0, 0x1000}, .mapping = "[heap]", .events = 6};
  for (int other = 1; other <= 6; ++other) range.pairs.push_back({0, other, 1});
  EXPECT_EQ(memory_text({.events = 6, .ranges = {range}}, {.columns = 100}),
            "  100 %  threads 0-1, 0-2, 0-3, 0-4 and 2 more pairs: [heap], 4K at 0x0\n");
}

TEST(ThreadsJson, ListsAtMost64PairsOfARange) {
  threads::SharedRange range{.addresses = {0, 0x1000}, .mapping = "[heap]", .events = 100};
  for (int other = 1; other <= 100; ++other) range.pairs.push_back({0, other, 1});
  ThreadsSubject subject;
  subject.memory = {.events = 100, .ranges = {range}};
  const machine::Machine machine =
      machine::read_machine_file(HUDDLE_SOURCE_DIR "/machines/amd-epyc-2c-a606becc.toml");
  const auto document = nlohmann::json::parse(threads_json(subject, machine));
  EXPECT_EQ(document["memory"]["ranges"][0]["pairs"].size(), 64U);
}

}  // namespace
}  // namespace huddle::cli
