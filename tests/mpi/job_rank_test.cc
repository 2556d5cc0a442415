// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "mpi/job_rank.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <string>
#include <vector>

#include "common/file.h"

namespace huddle::mpi {
namespace {

using Environment = std::vector<std::string>;

TEST(PlaceInJob, IsUnknownWithoutALauncher) {
  EXPECT_FALSE(rank_in_job({"HOME=/root"}).has_value());
  EXPECT_FALSE(rank_in_job({"PMI_RANK=3"}).has_value()) << "a rank of what?";
  EXPECT_FALSE(rank_in_job({"PMIX_NAMESPACE=1"}).has_value()) << "which rank?";
  EXPECT_FALSE(rank_in_job({"PMIX_NAMESPACE=1", "PMIX_RANK=x"}).has_value());
}

TEST(PlaceInJob, IsReadFromOpenMpisLauncher) {
  const Environment rank = {"PMIX_NAMESPACE=77", "PMIX_SERVER_URI2=here", "PMIX_RANK=3"};
  const auto place = rank_in_job(rank);
  ASSERT_TRUE(place.has_value());
  EXPECT_EQ(place->rank, 3);
  EXPECT_FALSE(place->all_here);
  EXPECT_EQ(place->ranks_here, 0) << "it does not say";
  Environment elsewhere = rank;
  elsewhere[1] = "PMIX_SERVER_URI2=there";
  EXPECT_NE(place->job, rank_in_job(elsewhere)->job);
  Environment other_rank = rank;
  other_rank[2] = "PMIX_RANK=4";
  EXPECT_EQ(place->job, rank_in_job(other_rank)->job);
}

TEST(PlaceInJob, DetectsAJobOnOneNode) {
  Environment rank = {"PMIX_NAMESPACE=77", "OMPI_COMM_WORLD_RANK=0", "OMPI_COMM_WORLD_SIZE=4",
                      "OMPI_COMM_WORLD_LOCAL_SIZE=4"};
  EXPECT_TRUE(rank_in_job(rank)->all_here);
  EXPECT_EQ(rank_in_job(rank)->ranks_here, 4);
  rank[3] = "OMPI_COMM_WORLD_LOCAL_SIZE=2";
  EXPECT_FALSE(rank_in_job(rank)->all_here);
}

TEST(Launched, CountsTheRanksOfTheInnermostLauncher) {
  EXPECT_FALSE(launched({"HOME=/root", "SLURM_NTASKS=4"}).has_value()) << "a whole allocation";
  const auto by_mpich = launched({"PMI_RANK=0", "PMI_SIZE=4", "SLURM_STEP_NUM_TASKS=2"});
  ASSERT_TRUE(by_mpich.has_value());
  EXPECT_EQ(by_mpich->ranks, 4);
  EXPECT_EQ(by_mpich->by, "a launcher of MPICH's family");
  EXPECT_EQ(launched({"SLURM_STEP_NUM_TASKS=2"})->ranks, 2);
  EXPECT_EQ(launched({"OMPI_COMM_WORLD_SIZE=3"})->by, "Open MPI's launcher");
}

// The two ends of a socket pair stand for the sockets that a launcher created for two ranks.
TEST(PlaceInJob, IsReadFromMpichsLauncher) {
  std::array<int, 2> ends{};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
  const FileDescriptor first(ends[0]);
  const FileDescriptor second(ends[1]);
  const auto rank = [](int number, int socket) {
    return rank_in_job({"PMI_RANK=" + std::to_string(number), "PMI_FD=" + std::to_string(socket),
                        "PMIX_RANK=0", "PMI_SIZE=2", "MPI_LOCALNRANKS=2"});
  };
  const auto one = rank(0, first.number());
  const auto two = rank(1, second.number());
  ASSERT_TRUE(one && two);
  EXPECT_EQ(one->job, two->job);
  EXPECT_EQ(two->rank, 1) << "the rank of a launcher further out";
  EXPECT_TRUE(one->all_here);
  EXPECT_FALSE(rank_in_job({"PMI_RANK=0", "PMI_FD=9999"}).has_value());
}

TEST(PlaceInJob, ChildrenHaveAJobOfTheirOwn) {
  const Environment parent = {"SLURM_STEP_ID=0", "SLURM_JOB_ID=5", "SLURM_PROCID=1"};
  Environment child = parent;
  child.emplace_back("PMI_SPAWNED=1");
  EXPECT_NE(rank_in_job(parent)->job, rank_in_job(child)->job);
}

}  // namespace
}  // namespace huddle::mpi
