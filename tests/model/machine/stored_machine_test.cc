// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "model/machine/stored_machine.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "common/file.h"

namespace huddle::machine {
namespace {

// A user's folders, and the system's files of a node.
class StoredMachineTest : public testing::Test {
 protected:
  StoredMachineTest() : folder_(testing::TempDir() + "huddle-stored", error_) {
    setenv("XDG_CACHE_HOME", (folder_.path() / "cache").c_str(), 1);
    setenv("XDG_CONFIG_HOME", (folder_.path() / "config").c_str(), 1);
    set_system("/proc/sys/kernel/random/boot_id", "first boot\n");
    set_system("/sys/devices/system/cpu/online", "0-3\n");
  }
  ~StoredMachineTest() override {
    unsetenv("XDG_CACHE_HOME");
    unsetenv("XDG_CONFIG_HOME");
    unsetenv("HWLOC_XMLFILE");
  }
  void set_system(const std::string& file, std::string_view text) {
    write_text(text, (folder_.path() / "system").string() + file);
  }
  StoredMachine stored(const std::string& named = "") const {
    return StoredMachine(named, System((folder_.path() / "system").string()));
  }

  std::error_code error_;
  TemporaryFolder folder_;
};

TEST_F(StoredMachineTest, IsFoundAgain) {
  EXPECT_EQ(stored().find(), std::nullopt);
  stored().store("a machine\nof two lines", "");
  EXPECT_EQ(stored().find(), "a machine\nof two lines");
  stored().store("another", "");
  EXPECT_EQ(stored().find(), "another");
}

TEST_F(StoredMachineTest, IsInvalidAfterAReboot) {
  stored().store("text", "");
  set_system("/proc/sys/kernel/random/boot_id", "second boot\n");
  EXPECT_EQ(stored().find(), std::nullopt);
}

TEST_F(StoredMachineTest, IsInvalidIfOtherProcessorsAreOnline) {
  stored().store("text", "");
  set_system("/sys/devices/system/cpu/online", "0-2\n");
  EXPECT_EQ(stored().find(), std::nullopt);
}

TEST_F(StoredMachineTest, IsInvalidInAnotherCpuset) {
  stored().store("text", "");
  set_system("/proc/self/cgroup", "0::/job\n");
  set_system("/proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  set_system("/sys/fs/cgroup/job/cpuset.cpus.effective", "0-1\n");
  EXPECT_EQ(stored().find(), std::nullopt);
}

TEST_F(StoredMachineTest, IsInvalidIfHwlocReadsAnotherTopology) {
  stored().store("text", "");
  setenv("HWLOC_XMLFILE", "node.xml", 1);
  EXPECT_EQ(stored().find(), std::nullopt);
}

// The MPI may change the environment in the meantime.
TEST_F(StoredMachineTest, IsFoundInAnEnvironmentThatWasReadBefore) {
  stored().store("text", "");
  const auto before = StoredMachine::Environment::own();
  setenv("HWLOC_XMLFILE", "node.xml", 1);
  setenv("XDG_CACHE_HOME", "/nowhere", 1);
  const System system((folder_.path() / "system").string());
  EXPECT_EQ(StoredMachine("", system, before, read_cgroup_limits(system)).find(), "text");
  EXPECT_EQ(stored().find(), std::nullopt);
}

TEST_F(StoredMachineTest, IsInvalidIfAMachineFileIsAdded) {
  stored().store("text", "");
  write_text("schema = 1\n", folder_.path() / "config/huddle/machines/new.toml");
  EXPECT_EQ(stored().find(), std::nullopt);
}

TEST_F(StoredMachineTest, IsInvalidIfItsMachineFileChanges) {
  const std::string file = folder_.path() / "config/huddle/machines/own.toml";
  write_text("schema = 1\n", file);
  stored().store("text", file);
  EXPECT_EQ(stored().find(), "text");
  std::filesystem::resize_file(file, 5);  // in place, so that its folder does not change
  EXPECT_EQ(stored().find(), std::nullopt);
}

TEST_F(StoredMachineTest, IsKeptForEachNamedMachine) {
  stored().store("text", "");
  EXPECT_EQ(stored("songshan").find(), std::nullopt);
  stored("songshan").store("of another", "");
  EXPECT_EQ(stored().find(), "text");
}

TEST_F(StoredMachineTest, IsNotTrustedIfOthersMayWriteIt) {
  stored().store("text", "");
  ASSERT_EQ(chmod(stored().path().c_str(), 0666), 0);
  EXPECT_EQ(stored().find(), std::nullopt);
}

TEST_F(StoredMachineTest, IsNotFoundIfDamaged) {
  stored().store("text", "");
  std::filesystem::resize_file(stored().path(), 10);
  EXPECT_EQ(stored().find(), std::nullopt);
}

TEST_F(StoredMachineTest, IsNotStoredWithoutAFolder) {
  setenv("XDG_CACHE_HOME", "/dev/null", 1);
  stored().store("text", "");
  EXPECT_EQ(stored().find(), std::nullopt);
}

}  // namespace
}  // namespace huddle::machine
