// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include <gtest/gtest.h>

#include "../scratch.h"
#include "common/settings/settings.h"

namespace huddle::settings {
namespace {

TEST(Sources, UseXdgConfigHome) {
  EXPECT_EQ(sources_from({"HOME=/home/ada", "XDG_CONFIG_HOME=/conf"}).user_file,
            "/conf/huddle/config.toml");
}

TEST(Sources, FallBackToHome) {
  EXPECT_EQ(sources_from({"HOME=/home/ada"}).user_file, "/home/ada/.config/huddle/config.toml");
  EXPECT_EQ(sources_from({"HOME=/home/ada", "XDG_CONFIG_HOME="}).user_file,
            "/home/ada/.config/huddle/config.toml");
  EXPECT_EQ(sources_from({"HOME=/home/ada", "XDG_CONFIG_HOME=relative"}).user_file,
            "/home/ada/.config/huddle/config.toml");
}

TEST(Sources, HaveNoUserFileWithoutHome) {
  const Sources sources = sources_from({"HOMER=/x"});
  EXPECT_EQ(sources.user_file, "");
  EXPECT_EQ(sources.site_file, "/etc/huddle/config.toml");
  ASSERT_EQ(config_files(sources).size(), 1U);
}

TEST(ConfigFiles, ListExistingAndMissingFilesUserFirst) {
  const test::Scratch scratch;
  Sources sources;
  sources.user_file = scratch.path("user.toml");
  sources.site_file = scratch.write("site.toml", "");
  const auto files = config_files(sources);
  ASSERT_EQ(files.size(), 2U);
  EXPECT_EQ(files[0].path, sources.user_file);
  EXPECT_FALSE(files[0].found);
  EXPECT_TRUE(files[1].found);
}

}  // namespace
}  // namespace huddle::settings
