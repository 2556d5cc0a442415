// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "placement/threads/recording.h"

#include <gmock/gmock.h>

#include "common/error.h"
#include "scene.h"

namespace huddle::threads {
namespace {

using ::testing::HasSubstr;

TEST(Recording, SurvivesRoundTrip) {
  Program program(3, 1);
  Recording recording{.page_bytes = 65536, .names = {"app", "a worker", ""}, .events = {}};
  program.run(recording.events, {{0, 1}, {1, 2}}, 200);
  program.bytes_per_s = {1e9, 0, 3e9};
  program.run(recording.events, {}, 50);
  recording.events.emplace_back(Touch{1'000'000'000, 2, 0xfffffffffffff, false});
  recording.events.emplace_back(Look{1'000'000'001, {{1, 5, 0}}, {1, 2}});
  const Recording back = parse_recording(format_recording(recording), "r");
  EXPECT_EQ(back.page_bytes, 65536U);
  EXPECT_EQ(back.events, recording.events);
  EXPECT_EQ(back.rounds, Rounds::of_decisions);
  recording.rounds = Rounds::of_pages;
  EXPECT_EQ(parse_recording(format_recording(recording), "r").rounds, Rounds::of_pages);
  EXPECT_THAT(back.names, ::testing::ElementsAre("app", "a_worker", "?"));
}

TEST(Recording, ContainsTheMachineFile) {
  const Recording recording{.names = {"app"},
                            .events = {Touch{5, 0, 1, true}},
                            .machine = "# a machine\n\n[topology]\npus = \"0-1\"\n"};
  const std::string text = format_recording(recording);
  EXPECT_THAT(text, HasSubstr("m # a machine\nm \nm [topology]\n"));
  EXPECT_EQ(parse_recording(text, "r").machine, recording.machine);
  EXPECT_EQ(parse_recording(text, "r").events, recording.events);
}

TEST(RecordingWriter, WritesTheSameTextAsFormatRecording) {
  Program program(3, 1);
  Recording recording{.page_bytes = 65536,
                      .names = {"app", "a worker", ""},
                      .events = {},
                      .rounds = Rounds::of_pages,
                      .machine = "# a machine\n"};
  program.run(recording.events, {{0, 1}, {1, 2}}, 200);
  RecordingWriter writer({65536, {}, {}, Rounds::of_pages, "# a machine\n"}, most_recording_bytes);
  for (const auto& event : recording.events) {
    std::visit([&writer](const auto& one) { writer.take(one); }, event);
  }
  EXPECT_EQ(writer.cut_ns(), std::nullopt);
  EXPECT_EQ(std::move(writer).text(recording.names), format_recording(recording));
}

TEST(RecordingWriter, LeavesOutEventsBeyondTheLimit) {
  constexpr std::size_t most_bytes = 200'000;
  RecordingWriter writer({}, most_bytes);
  Touch touch;
  for (; !writer.cut_ns() && touch.time_ns < 1'000'000; ++touch.time_ns) writer.take(touch);
  ASSERT_TRUE(writer.cut_ns());
  writer.take(Look{touch.time_ns + 1, {}});
  EXPECT_EQ(*writer.cut_ns(), touch.time_ns - 1);
  const std::vector<std::string> names(most_threads, "fifteen-letters");
  const std::string text = std::move(writer).text(names);
  EXPECT_LE(text.size(), most_bytes);
  const Recording back = parse_recording(text, "r");
  EXPECT_EQ(back.names, names);
  EXPECT_EQ(back.events.size(), touch.time_ns - 1);
}

struct Damage {
  std::string text, complaint;
};

class DamagedRecording : public ::testing::TestWithParam<Damage> {};

TEST_P(DamagedRecording, IsRejectedWithLineNumber) {
  try {
    parse_recording(GetParam().text, "r");
    FAIL() << "was read";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr(GetParam().complaint));
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, DamagedRecording,
    ::testing::Values(
        Damage{"", "not a recording"}, Damage{"{}", "r:1: not a recording"},
        Damage{"huddle-touches 1 page x\n", "r:1: 'x' is not a number"},
        Damage{"huddle-touches 1 page 4096\nq\n", "r:2: a line must begin with"},
        Damage{"huddle-touches 1 page 4096\nt 5 0 zz w\n", "r:2: 'zz' is not a number"},
        Damage{"huddle-touches 1 page 4096\nt 5 0 1 x\n",
               "r:2: a line of an access (t) must end with w or r"},
        Damage{"huddle-touches 1 page 4096\nt 5 4096 1 w\n", "r:2: '4096' is not a number from 0"},
        Damage{"huddle-touches 1 page 4096\nt 5 0 1 w w\n",
               "r:2: unexpected text at the end of the line"},
        Damage{"huddle-touches 1 page 4096\nt 5 0 1 w\nl 4 0:1:0\n", "r:3: the time is before"},
        Damage{"huddle-touches 1 page 4096\nl 4 0:1\n",
               "r:2: a line of a snapshot (l) must contain"},
        Damage{"huddle-touches 1 page 4096\nl 4 0:1:0:x\n", "r:2: 'x' is not a number"},
        Damage{"huddle-touches 1 page 4096\nl 4 0:1:-1\n", "r:2: '-1' is not a number"}));

}  // namespace
}  // namespace huddle::threads
