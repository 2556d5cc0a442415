// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/launch/launcher.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "../../common/scratch.h"

namespace huddle::launch {
namespace {

namespace fs = std::filesystem;

// The version output of launchers, shortened if it is long.
constexpr const char* hydra =
    "HYDRA build details:\n    Version:                                 4.0.2\n"
    "    Launchers available:                     ssh rsh fork slurm ll lsf sge\n";

struct Case {
  const char* name;
  const char* printed;
  const char* family;  // nullptr: unknown
  Passing passing;
};

class Launchers : public ::testing::TestWithParam<Case> {};

TEST_P(Launchers, AreIdentifiedByTheirOutput) {
  const Launcher launcher = launcher_from("/opt/x", GetParam().name, GetParam().printed);
  EXPECT_EQ(launcher.passing, GetParam().passing);
  ASSERT_EQ(launcher.version.has_value(), GetParam().family != nullptr);
  if (launcher.version) {
    EXPECT_EQ(launcher.version->family, GetParam().family);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Printed, Launchers,
    ::testing::Values(
        Case{"mpirun", "mpirun (Open MPI) 4.1.4\n\nReport bugs to ...\n", "Open MPI",
             Passing::x_each_context},
        Case{"mpirun.openmpi", "mpirun.openmpi (OpenRTE) 4.1.4\n", "Open MPI",
             Passing::x_each_context},
        Case{"mpirun", "mpirun (Open MPI) 5.0.11\n", "Open MPI", Passing::x_once},
        Case{"mpirun", "mpirun (Open MPI) 10.0.0\n", "Open MPI", Passing::x_once},
        Case{"prterun", "prterun (PRRTE) 3.0.14\n", "PRRTE", Passing::x_once},
        Case{"mpiexec", hydra, "MPICH", Passing::genv},
        // The name does not identify the MPI.
        Case{"mpirun.openmpi", hydra, "MPICH", Passing::genv},
        Case{"mpiexec",
             "Intel(R) MPI Library for Linux* OS, Version 2021.18.1 Build 20260626 (id: b44796a)\n",
             "Intel MPI", Passing::genv},
        Case{"srun", "slurm 22.05.8\n", "Slurm", Passing::export_list},
        Case{"srun", "slurm-wlm 22.05.8\n", "Slurm", Passing::export_list},
        Case{"srun", "srun: fatal: Could not establish a configuration source\n", nullptr,
             Passing::export_list},
        Case{"mpirun", "command not found", nullptr, Passing::unknown},
        Case{"mpirun", "", nullptr, Passing::unknown},
        Case{"aprun", "", nullptr, Passing::inherited}));

TEST(FindLauncher, FollowsLinksAndRunsTheFile) {
  const test::Scratch scratch;
  const std::string real =
      scratch.write("libexec/orterun", "#!/bin/sh\necho 'mpirun (Open MPI) 4.1.4'\n");
  fs::permissions(real, fs::perms::owner_all);
  fs::create_symlink("libexec/orterun", scratch.folder() / "start");
  fs::create_symlink("start", scratch.folder() / "alternative");
  const auto launcher = find_launcher(scratch.path("alternative"));
  ASSERT_TRUE(launcher.has_value());
  EXPECT_EQ(launcher->path, scratch.path("alternative"));
  EXPECT_EQ(launcher->passing, Passing::x_each_context);
}

TEST(FindLauncher, RecognizesHydraWithoutRunningIt) {
  const test::Scratch scratch;
  const std::string launcher = scratch.path("mpirun");
  fs::copy("/bin/sh", launcher);
  EXPECT_EQ(passing_in_file(launcher), Passing::unknown);
  std::ofstream(launcher, std::ios::binary | std::ios::app) << "HYDRA build details:";
  const auto found = find_launcher(launcher);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->passing, Passing::genv);
}

TEST(FindLauncher, RunsScriptsWithTheTitleOfHydra) {
  const test::Scratch scratch;
  const std::string script = scratch.write("mpirun", "# HYDRA build details:\n");
  EXPECT_EQ(passing_in_file(script), Passing::unknown);
}

TEST(FindLauncher, RunsOnlyFilesWithTheNameOfALauncher) {
  const test::Scratch scratch;
  const std::string app =
      scratch.write("app", "#!/bin/sh\ntouch " + scratch.path("was-executed") + "\n");
  fs::permissions(app, fs::perms::owner_all);
  EXPECT_FALSE(find_launcher(app).has_value());
  const std::string aprun = scratch.path("aprun");
  fs::copy(app, aprun);
  EXPECT_EQ(find_launcher(aprun)->passing, Passing::inherited);
  EXPECT_FALSE(fs::exists(scratch.path("was-executed")));
}

}  // namespace
}  // namespace huddle::launch
