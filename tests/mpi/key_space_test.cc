// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "mpi/key_space.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "common/file.h"

namespace huddle::mpi {
namespace {

using ::testing::ElementsAre;
using Environment = std::vector<std::string>;

TEST(PmixKeySpace, NeedsTheJobAndTheRank) {
  EXPECT_NE(pmix_key_space({"PMIX_NAMESPACE=job", "PMIX_RANK=1", "PMIX_VERSION=4.2.2"}), nullptr);
  EXPECT_EQ(pmix_key_space({"PMIX_NAMESPACE=job"}), nullptr);
  EXPECT_EQ(pmix_key_space({"PMIX_RANK=1"}), nullptr);
  EXPECT_EQ(pmix_key_space(Environment{}), nullptr);
}

// A process must not connect to its launcher through two libraries.
TEST(PmixKeySpace, PublishesNothingByALibraryOfAnotherVersion) {
  const auto other = pmix_key_space({"PMIX_NAMESPACE=job", "PMIX_RANK=1", "PMIX_VERSION=0.0.1"});
  EXPECT_FALSE(other->tell("kind"));
  const auto unnamed = pmix_key_space({"PMIX_NAMESPACE=job", "PMIX_RANK=1"});
  EXPECT_FALSE(unnamed->tell("kind"));
  other->close();
}

TEST(HydraKeySpace, NeedsASocketOfHydra) {
  EXPECT_NE(hydra_key_space({"PMI_FD=5", "PMI_RANK=0", "MPI_LOCALNRANKS=1"}), nullptr);
  EXPECT_EQ(hydra_key_space({"PMI_FD=5", "PMI_RANK=0"}), nullptr);
  EXPECT_EQ(hydra_key_space({"PMI_FD=five", "PMI_RANK=0", "MPI_LOCALNRANKS=1"}), nullptr);
  EXPECT_EQ(hydra_key_space({"PMI_RANK=0", "MPI_LOCALNRANKS=1"}), nullptr);
  EXPECT_EQ(hydra_key_space(Environment{}), nullptr);
}

// Simulates the launcher on the other end of a process's socket. Sends the given answers one after
// the other; an empty string stands for no answer.
class Launcher {
 public:
  explicit Launcher(std::vector<std::string> answers) {
    std::array<int, 2> ends{};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
    ours_ = FileDescriptor(ends[0]);
    process_ = FileDescriptor(ends[1]);
    thread_ = std::thread([this, answers = std::move(answers)] { answer(answers); });
  }
  // Closes the process's end and returns the requests that were received.
  std::vector<std::string> end() {
    process_ = FileDescriptor();
    thread_.join();
    return asked_;
  }

  int socket() const { return process_.number(); }
  std::unique_ptr<KeySpace> of_hydra() const {
    return hydra_key_space(
        {"PMI_FD=" + std::to_string(socket()), "PMI_RANK=3", "MPI_LOCALNRANKS=1"});
  }
  std::unique_ptr<KeySpace> of_slurm() const {
    return slurm_key_space({"PMI_FD=" + std::to_string(socket()), "PMI_RANK=3", "PMI_JOBID=7.0",
                            "SLURM_JOB_ID=7", "SLURM_STEP_ID=0"});
  }

 private:
  // Messages are PMI-2 messages after the first answer that contains pmi_version=2.
  void answer(const std::vector<std::string>& answers) {
    PmiVersion version = PmiVersion::one;
    for (const std::string& one : answers) {
      const PmiMessage request = receive_pmi(ours_.number(), version);
      if (!request.is_whole) return;
      asked_.push_back(request.text);
      EXPECT_TRUE(send_pmi(ours_.number(), one));
      if (one.find("pmi_version=2") != std::string::npos) version = PmiVersion::two;
    }
    ours_ = FileDescriptor();
  }

  FileDescriptor ours_, process_;
  std::vector<std::string> asked_;
  std::thread thread_;
};

TEST(HydraKeySpace, PublishesAValueAndReadsThoseOfOthers) {
  Launcher launcher({"cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n",
                     "cmd=my_kvsname kvsname=kvs_7\n", "cmd=put_result rc=0 msg=success\n",
                     "cmd=get_result rc=0 msg=success value=612062\n",
                     "cmd=get_result rc=0 value=6120\n", "cmd=get_result rc=-1 value=612062\n"});
  const auto space = launcher.of_hydra();
  EXPECT_TRUE(space->tell("a b"));
  EXPECT_TRUE(space->has_published(0, "a b"));
  EXPECT_FALSE(space->has_published(1, "a b"));
  EXPECT_FALSE(space->has_published(2, "a b"));
  space->close();
  EXPECT_THAT(launcher.end(),
              ElementsAre("cmd=init pmi_version=1 pmi_subversion=1\n", "cmd=get_my_kvsname\n",
                          "cmd=put kvsname=kvs_7 key=huddle.kind.3 value=612062\n",
                          "cmd=get kvsname=kvs_7 key=huddle.kind.0\n",
                          "cmd=get kvsname=kvs_7 key=huddle.kind.1\n",
                          "cmd=get kvsname=kvs_7 key=huddle.kind.2\n"));
}

TEST(HydraKeySpace, FailsIfTheLauncherRefusesOrIsGone) {
  Launcher of_another_version({"cmd=response_to_init rc=-1\n"});
  EXPECT_FALSE(of_another_version.of_hydra()->tell("kind"));
  of_another_version.end();
  Launcher without_a_name({"cmd=response_to_init rc=0\n", "cmd=my_kvsname rc=0\n"});
  EXPECT_FALSE(without_a_name.of_hydra()->tell("kind"));
  without_a_name.end();
  Launcher gone({});
  EXPECT_FALSE(gone.of_hydra()->tell("kind"));
  gone.end();
}

TEST(SlurmKeySpace, ServesOnlyTheTasksOfAStep) {
  const Environment task = {"PMI_FD=5", "PMI_RANK=0", "PMI_JOBID=12.3", "SLURM_JOB_ID=12",
                            "SLURM_STEP_ID=3"};
  EXPECT_NE(slurm_key_space(task), nullptr);
  for (std::size_t missing = 0; missing < task.size(); ++missing) {
    Environment without = task;
    without.erase(without.begin() + static_cast<std::ptrdiff_t>(missing));
    EXPECT_EQ(slurm_key_space(without), nullptr) << task[missing];
  }
  Environment of_another = task;
  of_another[2] = "PMI_JOBID=kvs_1";
  EXPECT_EQ(slurm_key_space(of_another), nullptr);
}

// Sends a request as MPI_Init would and returns the answer.
std::string asked_by_mpi(const Launcher& launcher, const std::string& request, PmiVersion version) {
  EXPECT_TRUE(send_pmi(launcher.socket(), request));
  return receive_pmi(launcher.socket(), version).text;
}

constexpr const char* init_1 = "cmd=init pmi_version=1 pmi_subversion=1\n";
constexpr const char* init_2 = "cmd=init pmi_version=2 pmi_subversion=0\n";
constexpr const char* accepted_1 = "cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=1\n";
constexpr const char* accepted_2 = "cmd=response_to_init rc=0 pmi_version=2 pmi_subversion=0\n";

ino_t behind(int descriptor) {
  struct stat what {};
  EXPECT_EQ(fstat(descriptor, &what), 0);
  return what.st_ino;
}

TEST(SlurmKeySpace, PublishesAfterTheMpisIntroductionAndReturnsItsSocket) {
  Launcher launcher({accepted_1, "cmd=my_kvsname rc=0 kvsname=7.0\n", "cmd=put_result rc=0\n",
                     "cmd=maxes rc=0\n", "cmd=my_kvsname rc=0 kvsname=7.0\n",
                     "cmd=get_result rc=0 value=612062\n", "cmd=get_result rc=1\n",
                     "cmd=finalize_ack rc=0\n"});
  const ino_t before = behind(launcher.socket());
  const auto space = launcher.of_slurm();
  ASSERT_TRUE(space->tell("a b"));
  EXPECT_NE(behind(launcher.socket()), before);
  EXPECT_EQ(asked_by_mpi(launcher, init_1, PmiVersion::one), accepted_1);
  EXPECT_EQ(asked_by_mpi(launcher, "cmd=get_maxes\n", PmiVersion::one), "cmd=maxes rc=0\n");
  EXPECT_TRUE(space->has_published(0, "a b"));
  EXPECT_EQ(behind(launcher.socket()), before);
  EXPECT_FALSE(space->has_published(1, "a b"));
  space->close();
  EXPECT_EQ(asked_by_mpi(launcher, "cmd=finalize\n", PmiVersion::one), "cmd=finalize_ack rc=0\n");
  EXPECT_THAT(launcher.end(),
              ElementsAre(init_1, "cmd=get_my_kvsname\n",
                          "cmd=put kvsname=7.0 key=huddle.kind.3 value=612062\n", "cmd=get_maxes\n",
                          "cmd=get_my_kvsname\n", "cmd=get kvsname=7.0 key=huddle.kind.0\n",
                          "cmd=get kvsname=7.0 key=huddle.kind.1\n", "cmd=finalize\n"));
}

TEST(SlurmKeySpace, UsesPmi2IfTheMpiDoes) {
  const std::string full = "    28cmd=fullinit;pmijobid=7.0;x;";
  const std::string full_answer = "31    cmd=fullinit-response;rc=0;x=1;";
  Launcher launcher({accepted_2, full_answer, "28    cmd=kvs-put-response;rc=0;x;",
                     "25    cmd=kvs-fence-response;x;",
                     "52    cmd=kvs-get-response;rc=0;found=TRUE;value=612062;x;",
                     "40    cmd=kvs-get-response;rc=0;found=FALSE;x;"});
  const auto space = launcher.of_slurm();
  ASSERT_TRUE(space->tell("a b"));
  EXPECT_EQ(asked_by_mpi(launcher, init_2, PmiVersion::one), accepted_2);
  EXPECT_EQ(asked_by_mpi(launcher, full, PmiVersion::two), full_answer);
  EXPECT_EQ(asked_by_mpi(launcher, "    14cmd=kvs-fence;", PmiVersion::two),
            "25    cmd=kvs-fence-response;x;");
  EXPECT_TRUE(space->has_published(0, "a b"));
  EXPECT_FALSE(space->has_published(1, "a b"));
  space->close();
  EXPECT_THAT(launcher.end(),
              ElementsAre(init_2, full, "43    cmd=kvs-put;key=huddle.kind.3;value=612062;",
                          "    14cmd=kvs-fence;", "30    cmd=kvs-get;key=huddle.kind.0;",
                          "30    cmd=kvs-get;key=huddle.kind.1;"));
}

TEST(SlurmKeySpace, OnlyForwardsAfterAnUnexpectedIntroduction) {
  for (const std::string request : {init_1, "cmd=get_maxes\n"}) {
    Launcher launcher({"cmd=response_to_init rc=1 pmi_version=9\n", "cmd=maxes rc=0\n"});
    const auto space = launcher.of_slurm();
    ASSERT_TRUE(space->tell("kind"));
    EXPECT_EQ(asked_by_mpi(launcher, request, PmiVersion::one),
              "cmd=response_to_init rc=1 pmi_version=9\n");
    EXPECT_EQ(asked_by_mpi(launcher, "cmd=get_maxes\n", PmiVersion::one), "cmd=maxes rc=0\n");
    EXPECT_FALSE(space->has_published(0, "kind"));
    EXPECT_THAT(launcher.end(), ElementsAre(request, "cmd=get_maxes\n"));
  }
}

TEST(SlurmKeySpace, ReturnsTheSocketOfAnMpiThatSendsNothing) {
  Launcher launcher({});
  const ino_t before = behind(launcher.socket());
  const auto space = launcher.of_slurm();
  ASSERT_TRUE(space->tell("kind"));
  space->close();
  EXPECT_EQ(behind(launcher.socket()), before);
  EXPECT_FALSE(space->has_published(0, "kind"));
  launcher.end();
}

// As in a failing MPI_Init. If the message were lost, the launcher would not end the other ranks,
// which wait for this rank.
TEST(SlurmKeySpace, ForwardsTheLastMessageOfAProcess) {
  Launcher launcher({accepted_1, "cmd=my_kvsname rc=0 kvsname=7.0\n", "cmd=put_result rc=0\n", ""});
  const auto space = launcher.of_slurm();
  ASSERT_TRUE(space->tell("kind"));
  EXPECT_EQ(asked_by_mpi(launcher, init_1, PmiVersion::one), accepted_1);
  EXPECT_TRUE(send_pmi(launcher.socket(), "cmd=abort exitcode=1\n"));
  space->leave();
  EXPECT_EQ(launcher.end().back(), "cmd=abort exitcode=1\n");
}

TEST(SlurmKeySpace, KeepsADescriptorThatReusesTheNumberOfTheSocket) {
  Launcher launcher({accepted_1, "cmd=my_kvsname rc=0 kvsname=7.0\n", "cmd=put_result rc=0\n"});
  const auto space = launcher.of_slurm();
  ASSERT_TRUE(space->tell("kind"));
  EXPECT_EQ(asked_by_mpi(launcher, init_1, PmiVersion::one), accepted_1);
  const FileDescriptor other(eventfd(0, EFD_CLOEXEC));
  ASSERT_EQ(dup2(other.number(), launcher.socket()), launcher.socket());
  const ino_t before = behind(launcher.socket());
  space->close();
  EXPECT_EQ(behind(launcher.socket()), before);
  launcher.end();
}

TEST(SlurmKeySpace, ReportsALostLauncherToTheMpi) {
  Launcher gone({});
  const auto space = gone.of_slurm();
  ASSERT_TRUE(space->tell("kind"));
  EXPECT_EQ(asked_by_mpi(gone, init_1, PmiVersion::one), "");
  space->close();
  gone.end();
}

}  // namespace
}  // namespace huddle::mpi
