// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "mpi/placement_warning.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "../common/fake_system.h"
#include "model/machine/topology.h"
#include "runtime/team/cpu_binding.h"
#include "runtime/team/placement_check.h"

namespace huddle::mpi {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
using Environment = std::vector<std::string>;

const Environment open_mpi = {"OMPI_COMM_WORLD_SIZE=2", "OMPI_COMM_WORLD_LOCAL_SIZE=2"};
const Environment mpich = {"PMI_SIZE=2", "MPI_LOCALNRANKS=2"};

// Two sockets with two cores each: cpus 0-1 and 2-3.
const machine::Topology& two_sockets() {
  static const machine::Topology topology =
      machine::discover_from_synthetic("pack:2 numa:1 l3:1 core:2 pu:1").topology;
  return topology;
}

// A job of two ranks, by default on the first cores of different sockets and with local memory.
struct Job {
  explicit Job(const std::vector<int>& cpus = {0, 2}) {
    for (const int cpu : cpus) {
      team::CpuBinding binding{};
      CPU_SET(static_cast<std::size_t>(cpu), &binding.allowed);
      for (std::size_t any = 0; any < 4; ++any) CPU_SET(any, &binding.at_start);
      bindings.push_back(binding);
      memory_nodes.emplace_back();
    }
  }
  void move_data(std::size_t rank, int node) {
    const std::vector<int> pages(team::sampled_pages, node);
    memory_nodes[rank] = team::memory_nodes(bindings[rank], two_sockets(), pages);
  }
  // Returns the warning of a rank, or an empty string.
  std::string warning(int rank, const Environment& environment = open_mpi) const {
    return placement_warning({bindings, memory_nodes, in_job, two_sockets()}, rank, environment)
        .value_or("");
  }

  std::vector<team::CpuBinding> bindings;
  std::vector<team::MemoryNodes> memory_nodes;
  std::vector<int> in_job = {0, 1};
};

TEST(PlacementWarning, IsAbsentIfEachRankHasACore) {
  EXPECT_EQ(Job().warning(0), "");
  EXPECT_EQ(Job().warning(1), "");
}

TEST(PlacementWarning, NamesRanksCoresAndRemedy) {
  EXPECT_EQ(Job({0, 0}).warning(0),
            "ranks 0-1 share 1 core (CPU 0), while 3 cores have no rank of this job (CPUs "
            "1-3); ranks on one core run in turns, so every collective is slow: bind each rank to "
            "its own core by 'mpirun --bind-to core --map-by core', without another binding such "
            "as taskset");
}

TEST(PlacementWarning, IsPrintedByRankZeroOfTheJobOnly) {
  Job job({0, 0});
  EXPECT_EQ(job.warning(1), "");
  job.in_job = {1, 0};
  EXPECT_EQ(job.warning(0), "");
  EXPECT_THAT(job.warning(1), StartsWith("ranks 0-1 share"));
}

TEST(PlacementWarning, NamesTheOptionOfTheLauncher) {
  const Job job({0, 0});
  EXPECT_THAT(job.warning(0, mpich), HasSubstr("by 'mpiexec -bind-to core', "));
  EXPECT_THAT(job.warning(0, {"SLURM_STEP_NUM_TASKS=2", "PMI_SIZE=2"}),
              HasSubstr("by 'srun --cpu-bind=cores', "));
  EXPECT_THAT(job.warning(0, {"MPI_LOCALNRANKS=2", "I_MPI_HYDRA_UUID=1"}),
              HasSubstr("I_MPI_PIN_DOMAIN=core"));
  EXPECT_THAT(job.warning(0, {}), HasSubstr("by the binding option of your launcher, "));
}

TEST(PlacementWarning, IsAbsentIfTheUserHasListedTheCores) {
  const Job job({0, 0});
  for (const std::string variable :
       {"OMPI_MCA_orte_rankfile=ranks", "OMPI_MCA_hwloc_base_cpu_set=0",
        "OMPI_MCA_hwloc_base_cpu_list=0,0", "OMPI_MCA_rmaps_base_mapping_policy=hwthread",
        "HYDRA_USER_PROVIDED_BINDING=1", "I_MPI_PIN_PROCESSOR_LIST=0,0", "I_MPI_PIN_DOMAIN=[1,1]",
        "SLURM_CPU_BIND=quiet,map_cpu:0,0"}) {
    EXPECT_EQ(job.warning(0, {"OMPI_COMM_WORLD_LOCAL_SIZE=2", variable}), "") << variable;
  }
  EXPECT_NE(job.warning(0, {"SLURM_CPU_BIND=quiet,mask_cpu:0x1,0x1"}), "")
      << "srun passes its own bindings in this form";
}

TEST(PlacementWarning, IsAbsentIfSlurmHasAllocatedFewerCpusThanRanks) {
  const Job job({0, 0});
  EXPECT_EQ(job.warning(0, {"SLURM_STEP_NUM_TASKS=2", "SLURM_CPUS_ON_NODE=1"}), "");
  EXPECT_NE(job.warning(0, {"SLURM_STEP_NUM_TASKS=2", "SLURM_CPUS_ON_NODE=2"}), "");
}

TEST(PlacementWarning, NamesRanksWithRemoteMemory) {
  Job job;
  job.move_data(1, 0);
  EXPECT_EQ(job.warning(0), "");
  EXPECT_EQ(job.warning(1),
            "rank 1 runs on NUMA node 1, but 8 of 8 sampled pages of its data are on node 0; this "
            "slows every access: bind ranks before they allocate memory, by 'mpirun --bind-to core "
            "--map-by core', and let each rank initialize its own data");
}

TEST(PlacementWarning, AboutMemoryIsPrintedByTheLowestAffectedRank) {
  Job job;
  job.move_data(0, 1);
  job.move_data(1, 0);
  job.in_job = {1, 0};
  EXPECT_EQ(job.warning(0), "");
  EXPECT_THAT(job.warning(1), StartsWith("rank 0 runs on NUMA node 1, but "));
  EXPECT_THAT(job.warning(1), HasSubstr("node 0 (the data of rank 1 are remote as well); "));
}

TEST(PlacementWarning, IsOnlyAboutCoresIfMemoryIsRemoteAsWell) {
  Job job({0, 0});
  job.move_data(1, 1);
  EXPECT_THAT(job.warning(0), HasSubstr("share 1 core"));
  EXPECT_EQ(job.warning(1), "");
}

// The files of the kernel for two_sockets(), except that one has another content.
class TwoSocketFiles {
 public:
  explicit TwoSocketFiles(std::string_view changed = "", std::string_view content = "") {
    files_.file("/sys/devices/system/cpu/online", "0-3");
    for (const std::string cpu : {"0", "1", "2", "3"}) {
      files_.file("/sys/devices/system/cpu/cpu" + cpu + "/topology/thread_siblings_list", cpu);
    }
    files_.file("/sys/devices/system/node/node0/cpulist", "0-1");
    files_.file("/sys/devices/system/node/node1/cpulist", "2-3");
    if (!changed.empty()) files_.file(changed, content);
  }
  System system() const { return files_.system(); }

 private:
  FakeSystem files_;
};

TEST(TopologyOfThisMachine, HasTheSameThreadsCoresAndNodes) {
  EXPECT_TRUE(is_topology_of(TwoSocketFiles().system(), two_sockets()));
}

TEST(TopologyOfThisMachine, DiffersIfAnyOfThemDiffers) {
  const auto matches = [](std::string_view changed, std::string_view content) {
    return is_topology_of(TwoSocketFiles(changed, content).system(), two_sockets());
  };
  EXPECT_FALSE(matches("/sys/devices/system/cpu/online", "0-7"));
  EXPECT_FALSE(matches("/sys/devices/system/cpu/cpu3/topology/thread_siblings_list", "2-3"));
  EXPECT_FALSE(matches("/sys/devices/system/node/node1/cpulist", "1,3"));
  EXPECT_FALSE(is_topology_of(FakeSystem().system(), two_sockets())) << "nothing is known";
}

// A sample of a machine with one NUMA node cannot be remote.
TEST(PlacementCheck, SamplesNothingWithOneNumaNode) {
  const machine::Topology one =
      machine::discover_from_synthetic("pack:1 numa:1 l3:1 core:2 pu:1").topology;
  const std::vector<std::byte> data(1 << 20);
  EXPECT_TRUE(PlacementCheck(2, {}).sample(data, one).empty());
}

}  // namespace
}  // namespace huddle::mpi
