// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "placement/mapping/emit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.h"

namespace huddle::mapping {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

const std::vector<Slot> one_node = {{0, 4}, {0, 0}, {0, 2}};
const std::vector<Slot> two_nodes = {{1, 0}, {0, 0}, {1, 2}, {0, 2}};
const std::vector<Slot> blocks = {{1, 0}, {1, 2}, {0, 0}, {0, 2}};
const std::vector<Slot> neither = {{0, 0}, {1, 0}, {1, 2}, {0, 2}};

TEST(Emit, ThreadFormatsRequireOneNode) {
  EXPECT_EQ(emit(Emission::omp_places, {one_node}),
            "OMP_PLACES='{4},{0},{2}' OMP_PROC_BIND=close\n");
  EXPECT_EQ(emit(Emission::gomp, {one_node}), "GOMP_CPU_AFFINITY='4 0 2'\n");
  EXPECT_THAT(
      emit(Emission::taskset, {one_node}),
      HasSubstr("taskset -cp 4 \"${1:?missing ID of the next thread}\" && shift || exit\n"));
  EXPECT_THROW(emit(Emission::gomp, {two_nodes, 2}), UsageError);
}

TEST(Emit, RankfilesContainHostAndHardwareThread) {
  EXPECT_THAT(emit(Emission::openmpi4, {one_node}), HasSubstr("\nrank 1=localhost slot=0\n"));
  EXPECT_THAT(emit(Emission::prrte, {two_nodes, 2, {"a", "b"}, {0, 2, 1, 3}}),
              HasSubstr("\nrank 2=b slot=1\n"))
      << "PRRTE counts processors in the order of the tree";
}

TEST(Emit, ListFormatsRequireSameListOnAllNodes) {
  EXPECT_EQ(emit(Emission::hydra, {blocks, 2, {"a", "b"}}),
            "# mpiexec.hydra -f FILE -bind-to user:0,2 PROGRAM\nb:1\nb:1\na:1\na:1\n");
  EXPECT_THAT(emit(Emission::intel, {two_nodes, 2}), HasSubstr("I_MPI_PIN_PROCESSOR_LIST=0,2 "));
  const std::vector<Slot> differ = {{0, 0}, {0, 2}, {1, 2}, {1, 0}};
  EXPECT_THAT(
      [&] {
        emit(Emission::srun_map_cpu, {differ, 2});
      },
      ThrowsMessage<UsageError>(HasSubstr("in the same way")));
}

TEST(Emit, SrunGetsTheDistributionThatPutsRanksOnTheirNodes) {
  EXPECT_EQ(emit(Emission::srun_map_cpu, {one_node}), "--cpu-bind=map_cpu:4,0,2\n");
  EXPECT_EQ(emit(Emission::srun_map_cpu, {blocks, 2}),
            "--ntasks-per-node=2 --distribution=block --cpu-bind=map_cpu:0,2\n");
  EXPECT_EQ(emit(Emission::srun_map_cpu, {two_nodes, 2}),
            "--ntasks-per-node=2 --distribution=cyclic --cpu-bind=map_cpu:0,2\n");
}

TEST(Emit, SrunRefusesPlacementsThatItsDistributionsCannotExpress) {
  const std::vector<Slot> unequal = {{0, 0}, {0, 2}, {0, 4}, {1, 0}};
  const std::vector<Slot> one_unused = {{0, 0}, {0, 2}};
  for (const std::vector<Slot>& seats : {neither, unequal, one_unused}) {
    EXPECT_THAT(
        [&] {
          emit(Emission::srun_map_cpu, {seats, 2});
        },
        ThrowsMessage<UsageError>(AllOf(HasSubstr("in blocks or in turn"),
                                        HasSubstr("openmpi4 or prrte"),
                                        HasSubstr("srun-arbitrary"))));
  }
}

TEST(Emit, HydraRefusesHostsWhoseRanksAreNotConsecutive) {
  for (const std::vector<Slot>& seats : {two_nodes, neither}) {
    EXPECT_THAT(
        [&] {
          emit(Emission::hydra, {seats, 2, {"a", "b"}});
        },
        ThrowsMessage<UsageError>(AllOf(HasSubstr("consecutive"), HasSubstr("hostfile"))));
  }
}

TEST(Emit, HostFormatsFollowRankOrder) {
  EXPECT_EQ(emit(Emission::hostfile, {two_nodes, 2, {"a", "b"}}), "b\na\nb\na\n");
  EXPECT_EQ(emit(Emission::srun_arbitrary, {two_nodes, 2}), "node1\nnode0\nnode1\nnode0\n");
  EXPECT_EQ(emit(Emission::cray_rank_order, {two_nodes, 2}), "1,3,0,2\n");
}

TEST(Emit, UnknownFormatSuggestsSimilarName) {
  EXPECT_THAT([] { emission_named("openmpi"); },
              ThrowsMessage<UsageError>(HasSubstr("did you mean 'openmpi4'?")));
  for (const EmissionInfo& info : emissions()) EXPECT_EQ(emission_named(info.name), info.emission);
}

TEST(Assignments, AreParsedFromWordsAndFiles) {
  EXPECT_THAT(parse_assignments("3=12,0=1:5"),
              ElementsAre(Assignment{3, {0, 12}}, Assignment{0, {1, 5}}));
  EXPECT_THAT(parse_assignment_lines("# now\n0=4\n1=2, 2=3\n", "p"),
              ElementsAre(Assignment{0, {0, 4}}, Assignment{1, {0, 2}}, Assignment{2, {0, 3}}));
  for (const char* wrong : {"", "3", "3=", "=3", "3=x", "3=-1", "3=1:", "3=:1", "3=1,", "x=1"}) {
    EXPECT_THROW(parse_assignments(wrong), UsageError) << wrong;
  }
  EXPECT_THAT([] { parse_assignment_lines("0=1\n\noops\n", "p"); },
              ThrowsMessage<InputError>(testing::StartsWith("p:3: 'oops' is no")));
}

}  // namespace
}  // namespace huddle::mapping
