// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "placement/profile/document.h"

#include <gmock/gmock.h>

#include <fstream>

#include "../../common/scratch.h"
#include "common/file.h"

namespace huddle::profile {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int ranks = 4;

Who who(int rank, std::int64_t begun_ns = 1) {
  return {.rank = rank, .ranks = ranks, .begun_ns = begun_ns, .host = "h1"};
}

// The file is complete without a flush or end(), as after the rank was killed.
TEST(OwnPart, FileIsUpToDateWhileCounting) {
  const test::Scratch scratch;
  OwnPart part(scratch.path("."), who(1));
  Flow* const flow = part.add({.from = 1, .to = 2});
  flow->bytes += 100;
  ++flow->messages;
  const std::vector<Part> read = read_parts(scratch.path("."));
  ASSERT_THAT(read, SizeIs(1));
  EXPECT_EQ(read[0].who.host, "h1");
  EXPECT_FALSE(read[0].has_ended);
  EXPECT_THAT(read[0].flows, ElementsAre(Flow{.from = 1, .to = 2, .bytes = 100, .messages = 1}));
  part.end();
  EXPECT_TRUE(read_parts(scratch.path("."))[0].has_ended);
}

TEST(OwnPart, FlowsStayValidAsItGrows) {
  const test::Scratch scratch;
  OwnPart part(scratch.path("."), who(0));
  constexpr std::int32_t many = 10'000;
  Flow* const first = part.add({.to = 3});
  for (std::int32_t phase = 1; phase < many; ++phase) part.add({.to = 1, .phase = phase});
  first->messages = 7;
  const std::vector<Part> read = read_parts(scratch.path("."));
  ASSERT_THAT(read, SizeIs(1));
  ASSERT_THAT(read[0].flows, SizeIs(many));
  EXPECT_EQ(read[0].flows.front().messages, 7U);
  EXPECT_EQ(read[0].flows.back().phase, many - 1);
}

TEST(OwnPart, UsesMemoryWithoutFolder) {
  OwnPart part("/nowhere/at/all", who(2));
  EXPECT_FALSE(part.is_in_file());
  part.add({.from = 2, .to = 0})->bytes = 5;
  part.end();
  const auto read = part_from(part.bytes());
  ASSERT_TRUE(read);
  EXPECT_TRUE(read->has_ended);
  EXPECT_THAT(read->flows, ElementsAre(Flow{.from = 2, .to = 0, .bytes = 5}));
}

TEST(PartFrom, RejectsDamage) {
  OwnPart part("", who(2));
  part.add({.from = 2, .to = 0});
  const std::string bytes = part.bytes();
  EXPECT_TRUE(part_from(bytes));
  EXPECT_FALSE(part_from(""));
  EXPECT_FALSE(part_from(bytes.substr(0, 100)));
  EXPECT_FALSE(part_from("x" + bytes));
  OwnPart beyond("", who(2));
  beyond.add({.from = 2, .to = ranks});
  EXPECT_FALSE(part_from(beyond.bytes()));
  OwnPart nobody("", who(ranks));
  EXPECT_FALSE(part_from(nobody.bytes()));
}

TEST(ReadParts, KeepsCompletePartOfEachRank) {
  const test::Scratch scratch;
  OwnPart in_file(scratch.path("."), who(0, 10));
  OwnPart handed_over("", who(0, 10));
  handed_over.end();
  write_text(handed_over.bytes(), scratch.path("sent-0"));
  scratch.write("something else", "of somebody else");
  const std::vector<Part> read = read_parts(scratch.path("."));
  ASSERT_THAT(read, SizeIs(1));
  EXPECT_TRUE(read[0].has_ended);
}

}  // namespace
}  // namespace huddle::profile
