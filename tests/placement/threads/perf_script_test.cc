// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "placement/threads/recording.h"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

#include "common/error.h"

namespace huddle::threads {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string sound =
    "# perf script\n"
    "     app  100/100   [002]  12.500000:     1   cpu/mem-loads,ldlat=30/P:     7f0000001040    "
    "5080144 |OP LOAD|LVL L1 hit|SNP None  55d0 work+0x10 (/usr/bin/app)\n"
    "     my app  100/101   [003]  12.500001:  cpu/mem-stores/P:     7f0000001fff\n"
    "     app  200/200   [004]  12.600000500:  ibs_op//:     7f0000001040 |OP STORE|LVL N/A\n"
    "     app  100/100   [002]  12.700000:  ibs_op//:     0 |OP N/A|\n"
    "     app  100/100   [002]  12.700000:  ibs_op//:     ffffffff81000000 |OP LOAD|\n";

std::vector<Touch> touches_of(const Recording& recording) {
  std::vector<Touch> touches;
  for (const auto& event : recording.events) {
    if (const auto* const touch = std::get_if<Touch>(&event)) touches.push_back(*touch);
  }
  return touches;
}

TEST(PerfScript, SamplesBecomeTouchesOfThreads) {
  const PerfSamples samples = parse_perf_script(sound, "p");
  const std::uint64_t page = 0x7f0000001;
  EXPECT_THAT(touches_of(samples.recording),
              ElementsAre(Touch{0, 0, page, false}, Touch{1000, 1, page, true},
                          Touch{100'000'500, 2, page + (std::uint64_t{1} << 52U), true}));
  EXPECT_THAT(samples.recording.names, ElementsAre("app", "my", "app"));
  EXPECT_THAT(samples.bad_lines, IsEmpty());
  EXPECT_EQ(samples.other, 2U);
  EXPECT_THAT(notes_of(samples), ElementsAre(HasSubstr("ignored 2 samples")));
  const auto& last = std::get<Look>(samples.recording.events.back());
  EXPECT_THAT(last.threads,
              ElementsAre(ThreadUse{0, 3000, 2}, ThreadUse{1, 1000, 3}, ThreadUse{2, 1000, 4}));
}

TEST(PerfScript, ReportsNumbersOfBadLines) {
  const PerfSamples samples =
      parse_perf_script(sound + "nonsense\n  7f00 f+0x1 (a)\n a 1/1 [0] 1.", "p");
  EXPECT_THAT(samples.bad_lines, ElementsAre(7U, 8U, 9U));
  EXPECT_THAT(notes_of(samples).front(),
              HasSubstr("ignored 3 lines without a complete sample: 7, 8, 9"));
}

TEST(PerfScript, InputWithoutSamplesIsRejected) {
  for (const std::string text : {"", "# only\n\n", "\nnonsense\n"}) {
    try {
      parse_perf_script(text, "p");
      FAIL() << "was read: " << text;
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr(text.size() > 9 ? "p:2: no sample" : "p:1: "));
    }
  }
}

// Regardless of the order of the lines, time increases.
TEST(PerfScript, IsSortedByTime) {
  const PerfSamples samples =
      parse_perf_script("a 1/2 [0] 5.1: e: 2000\na 1/1 [0] 5.0: e: 1000\n", "p");
  EXPECT_THAT(touches_of(samples.recording),
              ElementsAre(Touch{0, 0, 1, false}, Touch{100'000'000, 1, 2, false}));
}

// Truncated input is read up to the cut, or rejected with one sentence.
TEST(PerfScript, TruncationLosesAtMostLastLine) {
  for (std::size_t length = 0; length < sound.size(); ++length) {
    try {
      const PerfSamples samples = parse_perf_script(sound.substr(0, length), "p");
      EXPECT_LE(samples.bad_lines.size(), 1U);
      const std::string kept = format_recording(samples.recording);
      EXPECT_EQ(parse_recording(kept, "again").events, samples.recording.events);
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr("no sample"));
    }
  }
}

// Arbitrary bytes.
RC_GTEST_PROP(PerfScript, SurvivesDamage, ()) {
  std::string text = sound;
  for (const auto& [place, byte] :
       *rc::gen::container<std::vector<std::pair<int, char>>>(rc::gen::pair(
           rc::gen::inRange(0, static_cast<int>(text.size())), rc::gen::arbitrary<char>()))) {
    text[static_cast<std::size_t>(place)] = byte;
  }
  try {
    const PerfSamples samples = parse_perf_script(text, "p");
    RC_ASSERT(parse_recording(format_recording(samples.recording), "again").events ==
              samples.recording.events);
  } catch (const InputError&) {
  }
}

}  // namespace
}  // namespace huddle::threads
