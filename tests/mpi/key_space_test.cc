// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "mpi/key_space.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <string>
#include <thread>
#include <vector>

#include "base/file_descriptor.h"

namespace huddle::mpi {
namespace {

using ::testing::ElementsAre;
using Environment = std::vector<std::string>;

TEST(PmixKeySpace, IsThereWhereTheLauncherNamedTheJobAndTheRank) {
  EXPECT_NE(pmix_key_space({"PMIX_NAMESPACE=job", "PMIX_RANK=1", "PMIX_VERSION=4.2.2"}), nullptr);
  EXPECT_EQ(pmix_key_space({"PMIX_NAMESPACE=job"}), nullptr);
  EXPECT_EQ(pmix_key_space({"PMIX_RANK=1"}), nullptr);
  EXPECT_EQ(pmix_key_space(Environment{}), nullptr);
}

// A process must not come to its launcher by two libraries.
TEST(PmixKeySpace, TellsNothingByALibraryOfAnotherVersion) {
  const auto other = pmix_key_space({"PMIX_NAMESPACE=job", "PMIX_RANK=1", "PMIX_VERSION=0.0.1"});
  EXPECT_FALSE(other->tell("kind"));
  const auto unnamed = pmix_key_space({"PMIX_NAMESPACE=job", "PMIX_RANK=1"});
  EXPECT_FALSE(unnamed->tell("kind"));
  other->close();
}

TEST(HydraKeySpace, IsThereWhereHydraGaveASocket) {
  EXPECT_NE(hydra_key_space({"PMI_FD=5", "PMI_RANK=0", "MPI_LOCALNRANKS=1"}), nullptr);
  EXPECT_EQ(hydra_key_space({"PMI_FD=5", "PMI_RANK=0"}), nullptr);
  EXPECT_EQ(hydra_key_space({"PMI_FD=five", "PMI_RANK=0", "MPI_LOCALNRANKS=1"}), nullptr);
  EXPECT_EQ(hydra_key_space({"PMI_RANK=0", "MPI_LOCALNRANKS=1"}), nullptr);
  EXPECT_EQ(hydra_key_space(Environment{}), nullptr);
}

// Hydra's end of a process's socket, that gives these answers in turn.
class Launcher {
 public:
  explicit Launcher(std::vector<std::string> answers) {
    std::array<int, 2> ends{};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
    ours_ = FileDescriptor(ends[0]);
    process_ = FileDescriptor(ends[1]);
    thread_ = std::thread([this, answers = std::move(answers)] { answer(answers); });
  }
  // What it was asked.
  std::vector<std::string> end() {
    process_ = FileDescriptor();
    thread_.join();
    return asked_;
  }

  std::unique_ptr<KeySpace> key_space() const {
    return hydra_key_space(
        {"PMI_FD=" + std::to_string(process_.number()), "PMI_RANK=3", "MPI_LOCALNRANKS=1"});
  }

 private:
  void answer(const std::vector<std::string>& answers) {
    for (const std::string& one : answers) {
      std::string line;
      char letter = 0;
      while (read(ours_.number(), &letter, 1) == 1 && letter != '\n') line += letter;
      if (line.empty()) return;
      asked_.push_back(line);
      const std::string text = one + "\n";
      EXPECT_EQ(write(ours_.number(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
    }
    ours_ = FileDescriptor();
  }

  FileDescriptor ours_, process_;
  std::vector<std::string> asked_;
  std::thread thread_;
};

TEST(HydraKeySpace, PutsAWordUnderItsRankAndAsksForThoseOfOthers) {
  Launcher launcher({"cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0",
                     "cmd=my_kvsname kvsname=kvs_7", "cmd=put_result rc=0 msg=success",
                     "cmd=get_result rc=0 msg=success value=612062",
                     "cmd=get_result rc=0 value=6120", "cmd=get_result rc=-1 value=612062"});
  const auto space = launcher.key_space();
  EXPECT_TRUE(space->tell("a b"));
  EXPECT_TRUE(space->has_told(0, "a b"));
  EXPECT_FALSE(space->has_told(1, "a b"));
  EXPECT_FALSE(space->has_told(2, "a b"));
  space->close();
  EXPECT_THAT(launcher.end(),
              ElementsAre("cmd=init pmi_version=1 pmi_subversion=1", "cmd=get_my_kvsname",
                          "cmd=put kvsname=kvs_7 key=huddle.kind.3 value=612062",
                          "cmd=get kvsname=kvs_7 key=huddle.kind.0",
                          "cmd=get kvsname=kvs_7 key=huddle.kind.1",
                          "cmd=get kvsname=kvs_7 key=huddle.kind.2"));
}

TEST(HydraKeySpace, TellsNothingToALauncherThatRefusesOrIsGone) {
  Launcher of_another_version({"cmd=response_to_init rc=-1"});
  EXPECT_FALSE(of_another_version.key_space()->tell("kind"));
  of_another_version.end();
  Launcher without_a_name({"cmd=response_to_init rc=0", "cmd=my_kvsname rc=0"});
  EXPECT_FALSE(without_a_name.key_space()->tell("kind"));
  without_a_name.end();
  Launcher gone({});
  EXPECT_FALSE(gone.key_space()->tell("kind"));
  gone.end();
}

}  // namespace
}  // namespace huddle::mpi
