// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "machine/locate.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "machine/machine_file.h"

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

TEST_F(Locate, WithoutAFileTheConstantsAreGenericAndSaidToBe) {
  const LoadedMachine loaded = load_machine("", topology_);
  EXPECT_EQ(loaded.path, "");
  EXPECT_FALSE(calibrated(loaded.machine));
  EXPECT_EQ(loaded.machine.topology, topology_);
}

TEST_F(Locate, TheUsersFileOfThisFingerprintIsFound) {
  Machine machine = generic_machine(topology_);
  machine.line.front().origin = Origin::measured;
  write_machine_file(machine, user_machine_file(topology_));
  const LoadedMachine loaded = load_machine("", topology_);
  EXPECT_EQ(loaded.path, user_machine_file(topology_));
  EXPECT_TRUE(calibrated(loaded.machine));
  const Topology other = discover_from_synthetic("pack:1 core:3 pu:1").topology;
  EXPECT_EQ(load_machine("", other).path, "") << "another machine's file is not ours";
}

TEST_F(Locate, ANamedFileWins) {
  write_machine_file(generic_machine(topology_), folder_ / "named.toml");
  EXPECT_EQ(load_machine(folder_ / "named.toml", topology_).path, folder_ / "named.toml");
}

}  // namespace
}  // namespace huddle::machine
