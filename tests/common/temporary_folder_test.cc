// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "common/file.h"

#include <gtest/gtest.h>

#include <fstream>

namespace huddle {
namespace {

namespace fs = std::filesystem;

TEST(TemporaryFolder, IsRemovedWithItsContents) {
  fs::path path;
  {
    std::error_code error;
    const TemporaryFolder folder(fs::path(testing::TempDir()) / "huddle-temporary", error);
    ASSERT_FALSE(error) << error.message();
    path = folder.path();
    std::ofstream(path / "file") << "text";
    EXPECT_TRUE(fs::exists(path / "file"));
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(TemporaryFolder, FailsInAMissingFolder) {
  std::error_code error;
  const TemporaryFolder folder("/proc/no-such-folder/huddle", error);
  EXPECT_EQ(error, std::errc::no_such_file_or_directory);
  EXPECT_TRUE(folder.path().empty());
}

TEST(TemporaryFolder, IsNotCreatedAfterAnError) {
  std::error_code error = std::make_error_code(std::errc::permission_denied);
  const TemporaryFolder folder(fs::path(testing::TempDir()) / "huddle-temporary", error);
  EXPECT_EQ(error, std::errc::permission_denied);
  EXPECT_TRUE(folder.path().empty());
}

}  // namespace
}  // namespace huddle
