// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/doctor/mpi_installations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace huddle::doctor {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Output of launchers, partly shortened.
struct Case {
  const char* printed;
  MpiVersion expected;
};

class MpiVersions : public ::testing::TestWithParam<Case> {};

TEST_P(MpiVersions, AreParsed) {
  EXPECT_EQ(parse_mpi_version(GetParam().printed), GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Launchers, MpiVersions,
    ::testing::Values(
        Case{
            "mpirun (Open MPI) 5.0.11\n\nReport bugs to https://www.open-mpi.org/community/help/\n",
            {"Open MPI", "5.0.11"}},
        Case{"mpirun.openmpi (OpenRTE) 4.1.4\n\nReport bugs to ...\n", {"Open MPI", "4.1.4"}},
        Case{"mpirun (Open MPI) 5.0.0rc2\n", {"Open MPI", "5.0.0rc2"}},
        Case{"HYDRA build details:\n    Version:                                 5.0.2\n"
             "    Launchers available:                     ssh rsh fork slurm ll lsf\n",
             {"MPICH", "5.0.2"}},
        Case{"MPICH Version:      4.0.2\nMPICH Release date: Thu Apr  7 12:34:45 CDT 2022\n",
             {"MPICH", "4.0.2"}},
        Case{"Intel(R) MPI Library for Linux* OS, Version 2021.18.1 Build 20260626 (id: b44796a)\n"
             "Copyright 2003-2026, Intel Corporation.\n",
             {"Intel MPI", "2021.18.1"}},
        Case{"Version: mvapich2-2.3.7\n", {"MVAPICH", "2.3.7"}},
        Case{"HYDRA build details:\n    Version:    3.2.1\n"
             "    Configure options:  --prefix=/opt/mvapich2-2.3.6 --with-pm=hydra\n",
             {"MVAPICH", "2.3.6"}},
        Case{"prterun (PRRTE) 3.0.14\n", {"PRRTE", "3.0.14"}},
        Case{"slurm-wlm 22.05.8\n", {"Slurm", "22.05.8"}},
        Case{"slurm 22.05.8\n", {"Slurm", "22.05.8"}}));

TEST(ParseMpiVersion, RejectsUnknownOutput) {
  EXPECT_EQ(parse_mpi_version(""), std::nullopt);
  EXPECT_EQ(parse_mpi_version("mpirun: error while loading shared libraries"), std::nullopt);
  EXPECT_EQ(parse_mpi_version("mpirun (Open MPI) of some kind"), std::nullopt);
}

RC_GTEST_PROP(ParseMpiVersion, SurvivesArbitraryText, (const std::string& text)) {
  const auto version = parse_mpi_version(text + "Open MPI" + text);
  if (version) RC_ASSERT(version->version.find('.') != std::string::npos);
}

TEST(ParseLoaderLibraries, DistinguishesAbis) {
  const std::string printed =
      "1234 libs found in cache '/etc/ld.so.cache'\n"
      "\tlibmpi_cxx.so.40 (libc6,x86-64) => /lib/x86_64-linux-gnu/libmpi_cxx.so.40\n"
      "\tlibmpi.so.40 (libc6,x86-64) => /lib/x86_64-linux-gnu/libmpi.so.40\n"
      "\tlibmpich.so.12 (libc6,x86-64) => /lib/x86_64-linux-gnu/libmpich.so.12\n"
      "\tlibmpi_abi.so.1 (libc6,x86-64) => /usr/lib/libmpi_abi.so.1\n"
      "\tlibmpi.so.40 (libc6,x86-64) => /usr/local/lib/libmpi.so.40\n"
      "\tlibmpfr.so.6 (libc6,x86-64) => /lib/x86_64-linux-gnu/libmpfr.so.6\n";
  EXPECT_THAT(parse_loader_libraries(printed),
              ElementsAre("libmpi.so.40 (Open MPI)", "libmpi_abi.so.1 (the standard ABI of MPI 5)",
                          "libmpich.so.12 (Debian's MPICH)"));
  EXPECT_THAT(parse_loader_libraries(""), IsEmpty());
}

}  // namespace
}  // namespace huddle::doctor
