// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Checks that `huddle map` reads the documents that a profile writes.
#include "placement/profile/document.h"

#include <gmock/gmock.h>

#include "placement/mapping/comm_matrix.h"

namespace huddle::profile {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Part part_of(int rank, std::vector<Flow> flows, int ranks = 3, std::int64_t begun_ns = 1) {
  return {{.rank = rank, .ranks = ranks, .begun_ns = begun_ns, .host = rank == 0 ? "h1" : "h2"},
          true,
          0,
          std::move(flows)};
}

Flow sent(int from, int to, std::uint64_t bytes, int phase = first_phase,
          FlowKind kind = FlowKind::point_to_point) {
  return {.from = from, .to = to, .phase = phase, .kind = kind, .bytes = bytes, .messages = 1};
}

std::vector<Part> three_ranks() {
  return {part_of(0, {sent(0, 1, 100), sent(0, 1, 40, 2), sent(0, 2, 7, 2, FlowKind::collective)}),
          part_of(1, {sent(1, 2, 30), sent(2, 1, 5, 1, FlowKind::one_sided)}),
          part_of(2, {sent(2, outside_world, 1000)})};
}

mapping::CommMatrix read(const Profile& profile, const mapping::ReadOptions& options = {}) {
  return mapping::parse_matrix(document_text(profile), "file", options);
}

double bytes_between(const mapping::CommMatrix& matrix, int a, int b) {
  const auto row = matrix.graph.row(a);
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (row.neighbours[i] == b) return row.bytes[i];
  }
  return 0;
}

TEST(Document, IsReadAsCommMatrix) {
  const Profile profile = assembled(three_ranks());
  const mapping::CommMatrix all = read(profile);
  EXPECT_EQ(all.size(), 3);
  EXPECT_EQ(all.kind, mapping::Kind::ranks);
  EXPECT_THAT(all.hosts, ElementsAre("h1", "h2", "h2"));
  EXPECT_EQ(bytes_between(all, 0, 1), 140);
  EXPECT_EQ(bytes_between(all, 1, 2), 35);
  EXPECT_EQ(bytes_between(all, 0, 2), 0);
  EXPECT_EQ(bytes_between(read(profile, {.with_collectives = true}), 0, 2), 7);
}

TEST(Document, SeparatesPhases) {
  const Profile profile = assembled(three_ranks());
  EXPECT_EQ(bytes_between(read(profile, {.phase = "2"}), 0, 1), 40);
  EXPECT_EQ(bytes_between(read(profile, {.phase = "2", .with_collectives = true}), 0, 2), 7);
  EXPECT_EQ(bytes_between(read(profile, {.phase = "1", .with_collectives = true}), 0, 2), 0);
  EXPECT_THROW(read(profile, {.phase = "3"}), std::exception);
}

TEST(Document, ReportsTrafficOutsideTheWorld) {
  EXPECT_THAT(document_text(assembled(three_ranks())),
              HasSubstr(R"("outside": {"bytes": 1000, "messages": 1})"));
}

TEST(Document, IsMarkedIncompleteIfRanksAreMissingOrUnfinished) {
  std::vector<Part> parts = three_ranks();
  parts.pop_back();
  parts[0].has_ended = false;
  const Profile profile = assembled(parts);
  EXPECT_THAT(profile.missing, ElementsAre(2));
  EXPECT_THAT(profile.unfinished, ElementsAre(0));
  const mapping::CommMatrix matrix = read(profile);
  EXPECT_EQ(bytes_between(matrix, 0, 1), 140);
  EXPECT_THAT(matrix.notes, ::testing::Contains(HasSubstr("incomplete")));
}

TEST(Assembled, SelectsProgramThatSentMost) {
  std::vector<Part> parts = {part_of(0, {sent(0, 1, 10)}, 2, 1), part_of(1, {}, 2, 1),
                             part_of(0, {sent(0, 1, 500)}, 2, 2), part_of(1, {}, 2, 2)};
  const Profile profile = assembled(parts);
  EXPECT_EQ(profile.jobs, 2);
  EXPECT_EQ(profile.ranks, 2);
  EXPECT_THAT(profile.missing, IsEmpty());
  EXPECT_EQ(total_of(profile, false).bytes, 500U);
}

TEST(Assembled, LeavesOutSpawnedProcesses) {
  std::vector<Part> parts = {part_of(0, {sent(0, outside_world, 10)}, 1),
                             part_of(0, {sent(0, 1, 1'000'000)}, 2)};
  parts[1].who.was_spawned = true;
  const Profile profile = assembled(parts);
  EXPECT_EQ(profile.jobs, 1);
  EXPECT_EQ(profile.ranks, 1);
}

TEST(Assembled, IsEmptyWithoutParts) { EXPECT_EQ(assembled({}).ranks, 0); }

}  // namespace
}  // namespace huddle::profile
