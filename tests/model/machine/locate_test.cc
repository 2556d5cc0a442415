// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "model/machine/locate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "common/file.h"
#include "model/machine/machine_file.h"

namespace huddle::machine {
namespace {

class Locate : public testing::Test {
 protected:
  Locate() {
    std::string pattern = testing::TempDir() + "huddle-locate-XXXXXX";
    folder_ = mkdtemp(pattern.data());
    setenv("XDG_CONFIG_HOME", folder_.c_str(), 1);
    topology_ = discover_from_synthetic("pack:1 core:4 pu:1").topology;
  }
  ~Locate() override {
    unsetenv("XDG_CONFIG_HOME");
    std::filesystem::remove_all(folder_);
  }
  std::filesystem::path folder_;
  Topology topology_;
};

TEST_F(Locate, WithoutAFileUsesGenericConstants) {
  const LoadedMachine loaded = load_machine("", topology_);
  EXPECT_EQ(loaded.path, "");
  EXPECT_EQ(loaded.text, "");
  EXPECT_FALSE(calibrated(loaded.machine));
  EXPECT_EQ(loaded.machine.topology, topology_);
}

TEST_F(Locate, FindsTheUsersFileOfThisFingerprint) {
  Machine machine = generic_machine(topology_);
  machine.line.front().origin = Origin::measured;
  write_machine_file(machine, user_machine_file(topology_));
  const LoadedMachine loaded = load_machine("", topology_);
  EXPECT_EQ(loaded.path, user_machine_file(topology_));
  EXPECT_TRUE(calibrated(loaded.machine));
  const Topology other = discover_from_synthetic("pack:1 core:3 pu:1").topology;
  EXPECT_EQ(load_machine("", other).path, "") << "another machine's file is not ours";
}

// A loop of links stands for a folder without permissions, which root can search.
TEST_F(Locate, InaccessibleHomeFolderCountsAsEmpty) {
  const std::filesystem::path loop = folder_ / "loop";
  std::filesystem::create_symlink(loop, loop);
  setenv("XDG_CONFIG_HOME", loop.c_str(), 1);
  EXPECT_EQ(load_machine("", topology_).path, "");
}

TEST_F(Locate, NamedFileTakesPrecedence) {
  write_machine_file(generic_machine(topology_), folder_ / "named.toml");
  EXPECT_EQ(load_machine(folder_ / "named.toml", topology_).path, folder_ / "named.toml");
}

// The file may be for another machine, because that is checked later.
TEST_F(Locate, DetectsAFileWithANetwork) {
  EXPECT_FALSE(has_network_file(""));
  EXPECT_FALSE(has_network_file(folder_ / "nowhere.toml"));
  write_machine_file(generic_machine(topology_), user_machine_file(topology_));
  EXPECT_FALSE(has_network_file(""));
  Machine machine = generic_machine(discover_from_synthetic("pack:1 core:3 pu:1").topology);
  machine.networks.push_back(
      {.name = "one", .curve = {{8, 1 << 20}, {1000, 2000}, {0, 0}}, .node_gb_per_s = 1});
  write_machine_file(machine, user_machine_file(machine.topology));
  EXPECT_FALSE(has_network_file("")) << "it is estimated";
  machine.networks.front().origin = Origin::measured;
  write_machine_file(machine, user_machine_file(machine.topology));
  EXPECT_TRUE(has_network_file(""));
  EXPECT_FALSE(has_network_file(user_machine_file(topology_))) << "the file that is named counts";
  EXPECT_TRUE(has_network_file(user_machine_file(machine.topology)));
}

TEST(InstalledFolder, IsInTheBuildTree) {
  EXPECT_TRUE(installed_folder("papers").ends_with("share/huddle/papers/"));
  EXPECT_TRUE(std::filesystem::exists(installed_folder("machines") + "songshan.toml"));
  EXPECT_EQ(installed_folder("nothing of the kind"), "");
}

std::string path_of(const std::string& name) {
  for (const NamedMachine& machine : named_machines()) {
    if (machine.name == name) return machine.path;
  }
  return "";
}

std::string complaint_about(const std::string& named) {
  try {
    return machine_file_named(named);
  } catch (const InputError& error) {
    return error.what();
  }
}

TEST_F(Locate, FindsAnInstalledMachineByName) {
  EXPECT_TRUE(std::filesystem::equivalent(path_of("songshan"),
                                          HUDDLE_SOURCE_DIR "/machines/songshan.toml"));
  const LoadedMachine loaded = load_machine("songshan", topology_);
  EXPECT_EQ(loaded.machine.name, "songshan");
  EXPECT_EQ(loaded.text, read_text(HUDDLE_SOURCE_DIR "/machines/songshan.toml")) << "as it is read";
  EXPECT_EQ(loaded.path, path_of("songshan"));
}

TEST_F(Locate, UsersMachineOverridesTheInstalledOne) {
  const std::string mine = folder_ / "huddle/machines/songshan.toml";
  write_machine_file(generic_machine(topology_), mine);
  EXPECT_EQ(load_machine("songshan", topology_).path, mine);
  const auto all = named_machines();
  EXPECT_EQ(std::count_if(all.begin(), all.end(),
                          [](const NamedMachine& one) { return one.name == "songshan"; }),
            1);
}

TEST_F(Locate, ErrorForAnUnknownNameContainsTheNearest) {
  EXPECT_EQ(complaint_about("sonshan"), "unknown machine 'sonshan'; did you mean 'songshan'?");
  EXPECT_EQ(complaint_about("nothing-like-it-at-all"),
            "unknown machine 'nothing-like-it-at-all'; 'huddle topo --list-machines' lists all "
            "names; write the path of a file as ./nothing-like-it-at-all");
}

TEST_F(Locate, TreatsTextWithASlashOrSuffixAsAPath) {
  for (const char* const path : {"./songshan", "songshan.toml", "machines/songshan", "/songshan"}) {
    EXPECT_EQ(machine_file_named(path), path);
  }
}

}  // namespace
}  // namespace huddle::machine
