// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "mpi/libraries.h"

#include <gtest/gtest.h>

namespace huddle::mpi {
namespace {

TEST(LibraryTitle, IsNameAndVersionOnly) {
  EXPECT_EQ(library_title("Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4"),
            "Open MPI v4.1.4");
  EXPECT_EQ(library_title("MPICH Version:\t5.0.0\nMPICH Release date:\tunreleased\n"),
            "MPICH Version: 5.0.0");
  EXPECT_EQ(library_title("Intel(R) MPI Library 2021.17 for Linux* OS\n"),
            "Intel(R) MPI Library 2021.17 for Linux* OS");
  EXPECT_EQ(library_title(std::string_view("short\0rest", 10)), "short");
  EXPECT_EQ(library_title(""), "");
}

}  // namespace
}  // namespace huddle::mpi
