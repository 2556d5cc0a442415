// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/bench/mpi/mpi_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.h"
#include "stand_in.h"

namespace huddle::bench {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

const std::string open_mpi = "echo 'mpirun (Open MPI) 5.0.11'\n";
const std::string mpich = "echo 'HYDRA build details:'\necho '    Version:   4.0.2'\n";

TEST(FindMpi, FindsTheLibraryNextToItsLauncher) {
  const StandIn files;
  const std::string launcher = files.script("bin/mpiexec", open_mpi);
  const std::string library = files.file("lib/libmpi.so.40");
  const Mpi mpi = find_mpi(launcher, "", "");
  EXPECT_EQ(mpi.name, "Open MPI 5.0.11");
  EXPECT_EQ(mpi.library, library);
  EXPECT_EQ(mpi.abi, "openmpi");
}

TEST(FindMpi, LeavesAMissingLibraryToTheLoader) {
  const StandIn files;
  const Mpi mpi = find_mpi(files.script("bin/mpiexec", mpich) + " -bind-to core", "", "");
  EXPECT_EQ(mpi.library, "libmpi.so.12:libmpich.so.12");
  EXPECT_EQ(mpi.abi, "mpich");
  EXPECT_EQ(mpi.launcher.size(), 3U);
}

TEST(FindMpi, UserCanNameTheLibrary) {
  const StandIn files;
  const std::string launcher = files.script("bin/mpiexec", mpich);
  const Mpi mpi = find_mpi(launcher, "/opt/lib/libmpi_abi.so.1", "");
  EXPECT_EQ(mpi.library, "/opt/lib/libmpi_abi.so.1");
  EXPECT_EQ(mpi.abi, "mpi_abi");
}

TEST(FindMpi, SuggestsARemedyIfThereIsNone) {
  const StandIn files;
  EXPECT_THAT([&] { find_mpi("", "", files.folder()); },
              ThrowsMessage<UsageError>(HasSubstr("huddle bench engine")));
  EXPECT_THAT([&] { find_mpi(files.script("hello", "echo hello\n"), "", ""); },
              ThrowsMessage<UsageError>(HasSubstr("is not a known MPI launcher")));
  EXPECT_THROW(find_mpi(files.folder() + "/nothing", "", ""), UsageError);
  EXPECT_THAT([&] { find_mpi(files.script("srun", "echo 'slurm-wlm 22.05'\n"), "", ""); },
              ThrowsMessage<UsageError>(HasSubstr("--mpi-library")));
}

TEST(FindMpi, FindsTheInstalledPeers) {
  const StandIn files;
  EXPECT_THAT([&] { find_peers(files.folder()); },
              ThrowsMessage<UsageError>(HasSubstr("bench/peers")));
  files.script("five MPIs/mpich-5/run", mpich);
  files.script("five MPIs/openmpi-5/run", open_mpi);
  const std::string library = files.file("five MPIs/openmpi-5/venv/lib/libmpi.so.40");
  const auto peers = find_peers(files.folder() + "/five MPIs");
  ASSERT_EQ(peers.size(), 2U);
  EXPECT_EQ(peers[0].name, "openmpi-5");
  EXPECT_EQ(peers[0].library, library);
  EXPECT_EQ(peers[1].name, "mpich-5");
}

}  // namespace
}  // namespace huddle::bench
