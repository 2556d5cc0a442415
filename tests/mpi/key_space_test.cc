// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "mpi/key_space.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace huddle::mpi {
namespace {

using Environment = std::vector<std::string>;

TEST(KeySpace, IsThereWhereTheLauncherNamedTheJobAndTheRank) {
  EXPECT_TRUE(KeySpace({"PMIX_NAMESPACE=job", "PMIX_RANK=1", "PMIX_VERSION=4.2.2"}).is_there());
  EXPECT_FALSE(KeySpace({"PMIX_NAMESPACE=job"}).is_there());
  EXPECT_FALSE(KeySpace({"PMIX_RANK=1"}).is_there());
  EXPECT_FALSE(KeySpace(Environment{}).is_there());
}

// A process must not come to its launcher by two libraries.
TEST(KeySpace, TellsNothingByALibraryOfAnotherVersion) {
  KeySpace other({"PMIX_NAMESPACE=job", "PMIX_RANK=1", "PMIX_VERSION=0.0.1"});
  EXPECT_FALSE(other.tell("kind"));
  KeySpace unnamed({"PMIX_NAMESPACE=job", "PMIX_RANK=1"});
  EXPECT_FALSE(unnamed.tell("kind"));
  other.close();
}

TEST(KeySpace, TellsNothingWithoutALauncher) {
  KeySpace none(Environment{});
  EXPECT_FALSE(none.tell("kind"));
}

}  // namespace
}  // namespace huddle::mpi
