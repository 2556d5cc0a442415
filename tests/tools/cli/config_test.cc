// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tools/cli/config/config_report.h"

namespace huddle::cli {
namespace {

using settings::ConfigFile;
using ::testing::HasSubstr;

std::vector<settings::Resolved> resolved() {
  settings::Sources sources;
  sources.environment = {"HUDDLE_MACHINE=/shared/node.toml"};
  auto all = settings::resolve(sources);
  settings::override_by_flag(all, "color", "never");
  return all;
}

const std::vector<ConfigFile> files = {{"/home/ada/.config/huddle/config.toml", false},
                                       {"/etc/huddle/config.toml", true}};

TEST(ConfigText, IsAnAlignedTable) {
  EXPECT_EQ(config_text(resolved(), files, 80),
            "setting          value              from\n"
            "huddle           on                 default\n"
            "machine          /shared/node.toml  HUDDLE_MACHINE\n"
            "ops              -                  default\n"
            "algo             -                  default\n"
            "stats            off                default\n"
            "summary          auto               default\n"
            "verify           off                default\n"
            "tune             on                 default\n"
            "tune-after       auto               default\n"
            "activate-after   auto               default\n"
            "net              measured           default\n"
            "net-algo         -                  default\n"
            "net-leaders      auto               default\n"
            "heap             off                default\n"
            "heap-threshold   64K                default\n"
            "heap-limit       64G                default\n"
            "heap-fork-limit  1G                 default\n"
            "threads          off                default\n"
            "color            never              --color\n"
            "unicode          auto               default\n"
            "progress         auto               default\n"
            "\n"
            "Configuration files; the first one that contains a setting applies:\n"
            "  /home/ada/.config/huddle/config.toml  missing\n"
            "  /etc/huddle/config.toml               found\n");
}

TEST(ConfigText, PutsTheOriginBelowTheValueInNarrowTerminals) {
  EXPECT_THAT(config_text(resolved(), files, 30), HasSubstr("machine          /shared/node.toml\n"
                                                            "                 HUDDLE_MACHINE\n"
                                                            "ops              -\n"
                                                            "                 default\n"));
}

TEST(ConfigText, ShowsMissingValues) {
  EXPECT_THAT(config_text(settings::resolve({}), {}, 80),
              HasSubstr("machine          -         default\n"));
}

TEST(SettingText, ExplainsOneSetting) {
  const auto all = resolved();
  const std::string text = setting_text(find(all, "machine"), 80);
  EXPECT_THAT(text, HasSubstr("value        /shared/node.toml (from HUDDLE_MACHINE)\n"));
  EXPECT_THAT(text, HasSubstr("environment  HUDDLE_MACHINE=NAME|FILE\n"));
  EXPECT_THAT(text, HasSubstr("default      none\n"));
}

TEST(ConfigJson, HasEverySetting) {
  const auto root = nlohmann::json::parse(config_json(resolved(), files));
  EXPECT_EQ(root["schema"], 1);
  EXPECT_EQ(root["command"], "config");
  ASSERT_EQ(root["settings"].size(), settings::table().size());
  EXPECT_EQ(root["settings"][1]["key"], "machine");
  EXPECT_EQ(root["settings"][1]["layer"], "environment");
  EXPECT_EQ(root["settings"][18]["key"], "color");
  EXPECT_EQ(root["settings"][18]["layer"], "flag");
  EXPECT_EQ(root["files"][1]["found"], true);
}

}  // namespace
}  // namespace huddle::cli
