// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "common/settings/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "../scratch.h"
#include "common/error.h"

namespace huddle::settings {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string error_of(const std::function<void()>& act) {
  try {
    act();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(SettingsFile, ReturnsEntriesInTheOrderOfTheFile) {
  const test::Scratch scratch;
  const auto entries = read_settings_file(
      scratch.write("config.toml", "# mine\nunicode = \"never\"\n\ncolor = \"always\"\n"));
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0].key, "unicode");
  EXPECT_EQ(entries[0].text, "never");
  EXPECT_EQ(entries[0].line, 2);
  EXPECT_EQ(entries[1].key, "color");
  EXPECT_EQ(entries[1].line, 4);
}

TEST(SettingsFile, ValueThatIsNotAStringHasNoText) {
  const test::Scratch scratch;
  const auto entries =
      read_settings_file(scratch.write("config.toml", "color = true\n[machine]\n"));
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_EQ(entries[0].text, std::nullopt);
  EXPECT_EQ(entries[1].text, std::nullopt);
}

TEST(SettingsFile, MissingFileHasNoEntries) {
  const test::Scratch scratch;
  EXPECT_TRUE(read_settings_file(scratch.path("nothing.toml")).empty());
  const std::string file = scratch.write("file", "");
  EXPECT_TRUE(read_settings_file(file + "/config.toml").empty());
}

TEST(SettingsFile, ErrorNamesTheInvalidLine) {
  const test::Scratch scratch;
  const std::string path = scratch.write("config.toml", "color = \"auto\"\nunicode = \"ne\n");
  EXPECT_THAT(error_of([&] { read_settings_file(path); }), StartsWith(path + ":2: "));
}

TEST(SettingsFile, ErrorNamesAnInvalidFirstLine) {
  const test::Scratch scratch;
  const std::string mark = "\xEF\xBB\xBF";  // byte order mark, written by some editors
  EXPECT_EQ(read_settings_file(scratch.write("a", mark + "color = \"auto\"\n")).size(), 1U);
  EXPECT_TRUE(read_settings_file(scratch.write("b", mark)).empty());
  for (const std::string& text :
       {std::string("\x7f"
                    "ELF\x02\0\xff",
                    7),
        std::string(2, '\0'), std::string("color = = 1\n"), std::string("<html>\n")}) {
    const std::string path = scratch.write("config.toml", text);
    EXPECT_THAT(error_of([&] { read_settings_file(path); }), StartsWith(path + ":1: "));
  }
}

TEST(SettingsFile, RejectsAKeyGivenTwice) {
  const test::Scratch scratch;
  const std::string path = scratch.write("config.toml", "color = \"auto\"\ncolor = \"never\"\n");
  EXPECT_THAT(error_of([&] { read_settings_file(path); }), StartsWith(path + ":2: "));
}

TEST(SettingsFile, ErrorContainsTheReason) {
  const test::Scratch scratch;
  const std::string folder = scratch.folder().string();
  EXPECT_THAT(error_of([&] { read_settings_file(folder); }),
              HasSubstr("cannot read " + folder + ": Is a directory"));
}

}  // namespace
}  // namespace huddle::settings
