// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/doctor/mpi_installations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "fake_system.h"

namespace huddle::doctor {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::chrono::milliseconds launcher_wait{20000};

// A folder with launchers that are shell scripts.
class Launchers {
 public:
  void add(std::string_view name, std::string_view script) {
    const std::string path = scratch_.write(name, "#!/bin/sh\n" + std::string(script) + "\n");
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  }
  void link(std::string_view name, std::string_view target) {
    std::filesystem::create_symlink(scratch_.path(target), scratch_.path(name));
  }
  std::vector<Launcher> find(std::chrono::milliseconds wait = launcher_wait) const {
    return find_launchers({scratch_.folder().string()}, wait);
  }

 private:
  test::Scratch scratch_;
};

TEST(FoldersOf, SplitsPath) {
  EXPECT_THAT(folders_of("/a:/b::/a:/c"), ElementsAre("/a", "/b", "/c"));
  EXPECT_THAT(folders_of(""), IsEmpty());
}

TEST(FindLaunchers, CountsAliasesOfOneMpiOnce) {
  Launchers launchers;
  launchers.add("mpirun.openmpi", "echo 'mpirun.openmpi (OpenRTE) 4.1.4'");
  launchers.link("mpirun", "mpirun.openmpi");
  launchers.add("mpiexec", "echo 'mpiexec (OpenRTE) 4.1.4'");
  launchers.add("mpiexec.hydra", "echo 'HYDRA build details:'; echo ' Version: 4.0.2'");
  const auto found = launchers.find();
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].version, (MpiVersion{"Open MPI", "4.1.4"}));
  EXPECT_EQ(found[1].version, (MpiVersion{"MPICH", "4.0.2"}));
}

// On most systems /bin is a link to /usr/bin, and both are in PATH.
TEST(FindLaunchers, CountsFolderWithTwoNamesOnce) {
  const test::Scratch scratch;
  const std::string launcher = scratch.write("usr/bin/mpirun", "#!/bin/sh\necho 'Open MPI 5.0.1'");
  std::filesystem::permissions(launcher, std::filesystem::perms::owner_all);
  std::filesystem::create_directory_symlink(scratch.path("usr/bin"), scratch.path("bin"));
  const auto found = find_launchers({scratch.path("usr/bin"), scratch.path("bin")}, launcher_wait);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].path, launcher);
}

// Intel's mpirun is a script that starts mpiexec.hydra by name.
TEST(FindLaunchers, SearchesOwnFolderOfLauncherFirst) {
  Launchers other;
  other.add("mpiexec.hydra", "echo 'HYDRA build details:'; echo ' Version: 4.0.2'");
  Launchers own;
  own.add("mpirun", "mpiexec.hydra");
  own.add("mpiexec.hydra", "echo 'Intel(R) MPI Library, Version 2021.18'");
  const auto found = own.find();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].version, (MpiVersion{"Intel MPI", "2021.18"}));
}

TEST(FindLaunchers, TimesOut) {
  Launchers launchers;
  launchers.add("mpirun", "exec /bin/sleep 600");
  const auto found = launchers.find(std::chrono::milliseconds(200));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(found[0].too_slow);
  EXPECT_THAT(named(judge_mpi(found, {}), "mpi").found, HasSubstr("mpirun does not answer"));
}

TEST(FindLaunchers, ReportsUnknownLauncher) {
  Launchers launchers;
  launchers.add("mpirun", "echo hello; exit 1");
  const auto found = launchers.find();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].version, std::nullopt);
  EXPECT_THAT(named(judge_mpi(found, {}), "mpi").found, HasSubstr("is of an unknown kind"));
  EXPECT_EQ(named(judge_mpi(found, {}), "mpi").state, State::limited);
}

TEST(JudgeMpi, ReportsLaunchersAndLibraries) {
  const std::vector<Launcher> found = {
      {.path = "/usr/bin/mpirun", .version = MpiVersion{"Open MPI", "4.1.4"}}};
  const auto findings = judge_mpi(found, {"libmpi.so.40 (Open MPI)"});
  EXPECT_EQ(count(findings, State::works), 2);
  EXPECT_EQ(named(findings, "mpi").found, "Open MPI 4.1.4 (/usr/bin/mpirun)");
  EXPECT_EQ(named(findings, "mpi-libraries").found, "libmpi.so.40 (Open MPI)");
}

TEST(JudgeMpi, MissingMpiIsLimited) {
  EXPECT_EQ(named(judge_mpi({}, {}), "mpi").state, State::limited);
  EXPECT_EQ(named(judge_mpi({}, {}), "mpi-libraries").state, State::works);
}

TEST(JudgeMpi, SlurmAloneIsNoMpi) {
  const std::vector<Launcher> found = {
      {.path = "/usr/bin/srun", .version = MpiVersion{"Slurm", "22.05.8"}}};
  EXPECT_EQ(named(judge_mpi(found, {}), "mpi").state, State::limited);
}

}  // namespace
}  // namespace huddle::doctor
