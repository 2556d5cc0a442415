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

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string error_of(const Sources& sources) {
  try {
    resolve(sources);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

// A user's file and a site's file in a temporary folder, and an environment.
struct Layers {
  test::Scratch scratch;
  Sources sources;

  Layers() {
    sources.user_file = scratch.path("user/config.toml");
    sources.site_file = scratch.path("site/config.toml");
  }
  void user(std::string_view text) { scratch.write("user/config.toml", text); }
  void site(std::string_view text) { scratch.write("site/config.toml", text); }
};

TEST(Table, DefaultsAreValid) {
  ASSERT_FALSE(table().empty());
  for (const Setting& setting : table()) {
    EXPECT_NO_THROW(check_value(setting, setting.fallback, "default")) << setting.key;
    EXPECT_FALSE(setting.help.empty()) << setting.key;
  }
}

TEST(Table, NamesFollowFromTheKey) {
  EXPECT_EQ(environment_name("machine"), "HUDDLE_MACHINE");
  EXPECT_EQ(environment_name("max-arena"), "HUDDLE_MAX_ARENA");
  EXPECT_EQ(flag_name("machine"), "--machine");
}

TEST(Resolve, UsesDefaultsWithoutSources) {
  const auto settings = resolve({});
  ASSERT_EQ(settings.size(), table().size());
  EXPECT_EQ(find(settings, "color").value, "auto");
  EXPECT_EQ(find(settings, "color").layer, Layer::built_in);
  EXPECT_EQ(find(settings, "color").where, "default");
}

TEST(Resolve, HigherLayersTakePrecedence) {
  Layers layers;
  layers.site("color = \"never\"\nunicode = \"never\"\nprogress = \"never\"\n");
  layers.user("unicode = \"always\"\nprogress = \"always\"\n");
  layers.sources.environment = {"PATH=/bin", "HUDDLE_PROGRESS=auto"};
  auto settings = resolve(layers.sources);
  EXPECT_EQ(find(settings, "color").value, "never");
  EXPECT_EQ(find(settings, "color").where, layers.sources.site_file + ":1");
  EXPECT_EQ(find(settings, "color").layer, Layer::site_file);
  EXPECT_EQ(find(settings, "unicode").value, "always");
  EXPECT_EQ(find(settings, "unicode").where, layers.sources.user_file + ":1");
  EXPECT_EQ(find(settings, "progress").value, "auto");
  EXPECT_EQ(find(settings, "progress").where, "HUDDLE_PROGRESS");

  override_by_flag(settings, "progress", "never");
  EXPECT_EQ(find(settings, "progress").value, "never");
  EXPECT_EQ(find(settings, "progress").layer, Layer::command_line);
  EXPECT_EQ(find(settings, "progress").where, "--progress");
}

TEST(Resolve, ResolvesPathsRelativeToTheConfigurationFile) {
  Layers layers;
  layers.site("machine = \"../machines/node.toml\"\n");
  EXPECT_EQ(find(resolve(layers.sources), "machine").value,
            layers.scratch.path("machines/node.toml"));
  layers.user("machine = \"/shared/node.toml\"\n");
  EXPECT_EQ(find(resolve(layers.sources), "machine").value, "/shared/node.toml");
  layers.sources.environment = {"HUDDLE_MACHINE=here.toml"};
  EXPECT_EQ(find(resolve(layers.sources), "machine").value, "here.toml");
}

TEST(Resolve, ExpandsATildeToHome) {
  Layers layers;
  layers.user("machine = \"~/x.toml\"\n");
  layers.sources.environment = {"HOME=/home/ada"};
  EXPECT_EQ(find(resolve(layers.sources), "machine").value, "/home/ada/x.toml");
}

TEST(Resolve, TreatsAnEmptyVariableAsUnset) {
  Sources sources;
  sources.environment = {"HUDDLE_COLOR="};
  EXPECT_EQ(find(resolve(sources), "color").where, "default");
}

TEST(Resolve, ErrorContainsTheNearestKey) {
  Layers layers;
  layers.user("color = \"auto\"\nmachin = \"x\"\n");
  EXPECT_EQ(error_of(layers.sources),
            layers.sources.user_file + ":2: unknown setting 'machin'; did you mean 'machine'?");
}

// Returns the warnings. An error fails the test.
std::vector<std::string> warnings_of(const Sources& sources) {
  std::vector<std::string> warnings;
  resolve(
      sources, [](const std::string& error) { ADD_FAILURE() << error; },
      [&](const std::string& warning) { warnings.push_back(warning); });
  return warnings;
}

TEST(Resolve, WarningContainsTheNearestVariable) {
  Sources sources;
  sources.environment = {"HUDDLE_MACHNE=x", "HUDDLE_FOO=1", "HUDDLE_BROADCAST_DEGREE=4"};
  EXPECT_THAT(
      warnings_of(sources),
      ElementsAre("HUDDLE_MACHNE is not a setting; did you mean HUDDLE_MACHINE?",
                  "HUDDLE_FOO is not a setting; 'huddle config' lists all settings",
                  "HUDDLE_BROADCAST_DEGREE is not a setting; 'huddle config' lists all settings"));
  EXPECT_EQ(error_of(sources), "no error");
}

TEST(Resolve, IgnoresVariablesOfEnvironmentModules) {
  Sources sources;
  for (const char* const name : {"ROOT", "HOME", "DIR", "PREFIX", "BASE", "VERSION"}) {
    sources.environment.push_back(std::string("HUDDLE_") + name + "=/opt/huddle");
  }
  EXPECT_THAT(warnings_of(sources), ElementsAre());
}

TEST(Resolve, UnreadableFileIsAWarning) {
  Layers layers;
  layers.site("stats = \"on\"\n");
  layers.sources.user_file = layers.scratch.folder().string();
  EXPECT_THAT(warnings_of(layers.sources),
              ElementsAre("cannot read " + layers.sources.user_file + ": Is a directory"));
  EXPECT_EQ(find(resolve(layers.sources), "stats").value, "on");
}

TEST(Resolve, ErrorListsTheValidValues) {
  Layers layers;
  layers.site("color = \"nevr\"\n");
  EXPECT_EQ(error_of(layers.sources),
            layers.sources.site_file +
                ":1: color must be auto, always or never, not 'nevr'; did you mean 'never'?");
  layers.site("");
  layers.sources.environment = {"HUDDLE_UNICODE=1"};
  EXPECT_EQ(error_of(layers.sources), "HUDDLE_UNICODE must be auto, always or never, not '1'");
}

TEST(Resolve, RejectsAValueThatIsNotAString) {
  Layers layers;
  layers.site("color = true\n");
  EXPECT_THAT(error_of(layers.sources),
              HasSubstr(":1: the value of color must be a string in quotes"));
}

TEST(ResolveWithReport, IgnoresInvalidEntriesAndKeepsTheOthers) {
  Layers layers;
  layers.site("machin = \"x\"\nstats = \"on\"\nops = \"bcst\"\n");
  layers.sources.environment = {"HUDDLE_VERIFFY=1", "HUDDLE_VERIFY=1", "HUDDLE_STATS=maybe"};
  std::vector<std::string> mistakes;
  const auto settings =
      resolve(layers.sources, [&](const std::string& mistake) { mistakes.push_back(mistake); });
  EXPECT_THAT(mistakes, ElementsAre(HasSubstr(":1: unknown setting 'machin'"),
                                    HasSubstr(":3: ops: unknown word 'bcst'"),
                                    HasSubstr("HUDDLE_VERIFFY is not a setting"),
                                    HasSubstr("HUDDLE_STATS must be off, on or FILE.json")));
  EXPECT_EQ(find(settings, "stats").value, "on");
  EXPECT_EQ(find(settings, "stats").layer, Layer::site_file);
  EXPECT_EQ(find(settings, "ops").value, "");
  EXPECT_EQ(find(settings, "verify").value, "on");
}

TEST(ResolveWithReport, IgnoresAFileThatIsNotToml) {
  Layers layers;
  layers.site("stats = \"on\"\n");
  layers.user("stats = off\n");
  std::vector<std::string> mistakes;
  const auto settings =
      resolve(layers.sources, [&](const std::string& mistake) { mistakes.push_back(mistake); });
  EXPECT_THAT(mistakes, ElementsAre(HasSubstr(layers.sources.user_file + ":1: ")));
  EXPECT_EQ(find(settings, "stats").value, "on");
}

TEST(Toggle, AcceptsOneAndZero) {
  Layers layers;
  layers.site("verify = \"1\"\n");
  layers.sources.environment = {"HUDDLE_STATS=1", "HUDDLE=0"};
  auto settings = resolve(layers.sources);
  EXPECT_EQ(find(settings, "stats").value, "on");
  EXPECT_EQ(find(settings, "verify").value, "on");
  EXPECT_EQ(find(settings, "huddle").value, "off");
  override_by_flag(settings, "stats", "0");
  EXPECT_EQ(find(settings, "stats").value, "off");
  layers.sources.environment = {"HUDDLE_STATS=2"};
  EXPECT_THAT(error_of(layers.sources),
              HasSubstr("HUDDLE_STATS must be off, on or FILE.json, not '2'"));
}

TEST(Size, AcceptsUnits) {
  Sources sources;
  sources.environment = {"HUDDLE_HEAP_THRESHOLD=1.5M"};
  EXPECT_EQ(find(resolve(sources), "heap-threshold").value, "1.5M");
  sources.environment = {"HUDDLE_HEAP_THRESHOLD=much"};
  EXPECT_EQ(error_of(sources), "HUDDLE_HEAP_THRESHOLD must be a size such as 64K, not 'much'");
}

TEST(Switch, MainSwitchIsNamedHuddle) {
  EXPECT_EQ(environment_name("huddle"), "HUDDLE");
  Sources sources;
  sources.environment = {"HUDDLE=off", "HUDDLED=x"};
  EXPECT_EQ(find(resolve(sources), "huddle").value, "off");
  EXPECT_EQ(find(resolve(sources), "huddle").where, "HUDDLE");
  sources.environment = {"HUDDLE=never"};
  EXPECT_EQ(error_of(sources), "HUDDLE must be on or off, not 'never'");
}

TEST(Machine, IsAPathOrAName) {
  const auto machine_of = [](std::string_view value) {
    const test::Scratch scratch;
    Sources sources;
    sources.user_file = scratch.write("config.toml", "machine = \"" + std::string(value) + "\"\n");
    const std::string machine = find(resolve(sources), "machine").value;
    const std::string folder = scratch.folder().string() + "/";
    return machine.starts_with(folder) ? "FOLDER/" + machine.substr(folder.size()) : machine;
  };
  EXPECT_EQ(machine_of("songshan"), "songshan");
  EXPECT_EQ(machine_of("node.toml"), "FOLDER/node.toml");
  EXPECT_EQ(machine_of("nodes/first"), "FOLDER/nodes/first");
  EXPECT_EQ(machine_of("/shared/node"), "/shared/node");
}

TEST(List, AcceptsOnlyKnownNames) {
  Sources sources;
  const auto error_with = [&](const std::string& value) {
    sources.environment = {"HUDDLE_OPS=" + value};
    return error_of(sources);
  };
  for (const char* const taken : {"bcast", "bcast,allreduce", "^bcast", "^reduce,alltoallv"}) {
    EXPECT_EQ(error_with(taken), "no error") << taken;
    EXPECT_EQ(find(resolve(sources), "ops").value, taken);
  }
  EXPECT_EQ(error_with("^MPI_Bcast,mpi_allreduce,SCAN"), "no error");
  EXPECT_EQ(find(resolve(sources), "ops").value, "^bcast,allreduce,scan");
  EXPECT_EQ(error_with("MPI_Bcst"), "HUDDLE_OPS: unknown word 'MPI_Bcst'; did you mean 'bcast'?");
  EXPECT_EQ(error_with("bcst"), "HUDDLE_OPS: unknown word 'bcst'; did you mean 'bcast'?");
  for (const char* const wrong : {"^", ",", "bcast,", ",bcast", "bcast,^reduce", "bcast reduce"}) {
    EXPECT_THAT(error_with(wrong), ::testing::StartsWith("HUDDLE_OPS: unknown word '")) << wrong;
  }
  EXPECT_THAT(error_with("sendrecv_replace_everything"), HasSubstr("'; use barrier, bcast,"));
}

TEST(Algo, AcceptsOnlyExistingAlgorithms) {
  Sources sources;
  const auto error_with = [&](const std::string& value) {
    sources.environment = {"HUDDLE_ALGO=" + value};
    return error_of(sources);
  };
  EXPECT_EQ(error_with("bcast:pipelined,MPI_Allreduce:4K-1M:slices"), "no error");
  EXPECT_EQ(error_with("bcst:pipelined"),
            "HUDDLE_ALGO: unknown collective 'bcst'; did you mean 'bcast'?");
  EXPECT_EQ(error_with("bcast:pipelned"),
            "HUDDLE_ALGO: bcast has no algorithm 'pipelned'; did you mean 'pipelined'?");
  EXPECT_THAT(error_with("bcast:doubling"), HasSubstr("; use inline, pipelined, segmented or"));
  EXPECT_THAT(error_with("barrier:8-:tree"), HasSubstr("remove the range"));
}

TEST(NetAlgo, AcceptsOnlyExistingSchedules) {
  Sources sources;
  const auto error_with = [&](const std::string& value) {
    sources.environment = {"HUDDLE_NET_ALGO=" + value};
    return error_of(sources);
  };
  EXPECT_EQ(error_with("bcast:chain,MPI_Allreduce:halving"), "no error");
  EXPECT_EQ(error_with("bcast:chan"),
            "HUDDLE_NET_ALGO: bcast has no algorithm 'chan'; did you mean 'chain'?");
  EXPECT_THAT(error_with("allreduce:ring"), HasSubstr("; use doubling, halving or slices"));
  EXPECT_THAT(error_with("bcast:4K-1M:chain"), HasSubstr("remove the range"));
}

TEST(NetLeaders, MustBeAtLeastOne) {
  Sources sources;
  sources.environment = {"HUDDLE_NET_LEADERS=0"};
  EXPECT_EQ(error_of(sources),
            "HUDDLE_NET_LEADERS must be a whole number of at least 1 or auto, not '0'");
  sources.environment = {"HUDDLE_NET_LEADERS=1"};
  EXPECT_EQ(error_of(sources), "no error");
}

TEST(OverrideByFlag, ThrowsUsageErrorForAnInvalidValue) {
  auto settings = resolve({});
  try {
    override_by_flag(settings, "color", "blue");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    EXPECT_STREQ(error.what(), "--color must be auto, always or never, not 'blue'");
  }
  EXPECT_EQ(find(settings, "color").value, "auto");
}

}  // namespace
}  // namespace huddle::settings
