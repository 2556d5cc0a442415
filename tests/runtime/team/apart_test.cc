// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Ranks that share a bootstrap but are on different machines, as far as they can determine, or in
// different namespaces. Either they share memory, or all of them get an error within a short time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <string>

#include "common/error.h"
#include "model/machine/locate.h"
#include "ranks.h"
#include "runtime/team/bootstrap.h"
#include "runtime/team/peers.h"
#include "runtime/team/team.h"
#include "setup.h"

namespace huddle::team {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using How = RankEnd::How;

constexpr int apart_rank = 1;            // the rank in another namespace or on another machine
constexpr std::chrono::seconds soon{5};  // a tenth of the shortest deadline; usually 10 ms

// Enters new namespaces, in which the user has this number. Returns false if that is not allowed.
bool leave_for_new(int namespaces, uid_t number = geteuid()) {
  const uid_t user = geteuid();
  if (unshare(CLONE_NEWUSER | namespaces) != 0) return false;
  std::ofstream("/proc/self/uid_map") << number << ' ' << user << " 1\n";
  return geteuid() == number;
}

bool can_leave_for_new(int namespaces) {
  const auto ends = run_ranks(1, [&](const Bootstrap&) {
    if (!leave_for_new(namespaces)) throw FailureError("no namespaces here");
  });
  return ends[0] == How::fine;
}

// Makes this process appear to be on another machine, by another boot id.
void move_to_another_machine() {
  ASSERT_TRUE(leave_for_new(CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC));
  const std::string other = ::testing::TempDir() + "boot_id-" + std::to_string(getpid());
  std::ofstream(other) << "00000000-1111-4222-8333-444444444444\n";
  ASSERT_EQ(mount(other.c_str(), "/proc/sys/kernel/random/boot_id", nullptr, MS_BIND, nullptr), 0);
  unlink(other.c_str());
}

std::shared_ptr<memory::Arena> small_arena() {
  return std::make_shared<memory::Arena>(memory::ArenaOptions{.cap_bytes = std::size_t{1} << 26});
}

class Apart : public testing::Test {
 protected:
  void SetUp() override {
    if (!can_leave_for_new(CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC)) {
      GTEST_SKIP() << "the system lets this user have no namespaces";
    }
  }

  static void expect_soon(const std::vector<RankEnd>& ends) {
    for (const RankEnd& end : ends) {
      EXPECT_EQ(end, How::fine) << end;
      EXPECT_LT(end.after, soon);
    }
  }
};

TEST_F(Apart, RankOnAnotherMachineFailsAllRanks) {
  expect_soon(run_ranks(3, [](const Bootstrap& bootstrap) {
    if (bootstrap.rank == apart_rank) move_to_another_machine();
    Context context(generic_options("pack:1 core:2 pu:1", 64 * MiB));
    for (int again = 0; again < 2; ++again) {
      EXPECT_EQ(RankError::of([&] { Team(context, bootstrap); }).text(),
                "rank 1 is on another machine than rank 0; a team needs shared memory, so put only "
                "ranks of "
                "one machine into it");
    }
  }));
}

// Machines may have equal boot ids (snapshots of a virtual machine); sockets distinguish them.
TEST_F(Apart, UnreachableRankFailsAllRanks) {
  expect_soon(run_ranks(3, [](const Bootstrap& bootstrap) {
    if (bootstrap.rank == apart_rank) {
      ASSERT_TRUE(leave_for_new(CLONE_NEWNET));
    }
    Peers peers(small_arena(), DescriptorRoute::sent);
    EXPECT_THAT(
        std::string(RankError::of([&] { peers.join(bootstrap, 100); }).text()),
        AllOf(StartsWith("rank 0: rank 1 cannot be reached"), HasSubstr("another machine")));
  }));
}

// The containers of two different users both use user 0.
TEST_F(Apart, ContainersOfTwoUsersFailOnAllRanks) {
  if (geteuid() != 0) GTEST_SKIP() << "to be another user takes root";
  expect_soon(run_ranks(2, [](const Bootstrap& bootstrap) {
    if (bootstrap.rank == apart_rank) {
      ASSERT_EQ(setuid(65534), 0);
      ASSERT_EQ(prctl(PR_SET_DUMPABLE, 1), 0);  // restores access to its own files in /proc
      ASSERT_TRUE(leave_for_new(CLONE_NEWNS, 0));
    }
    Peers peers(small_arena());
    EXPECT_THAT(std::string(RankError::of([&] { peers.join(bootstrap, 100); }).text()),
                HasSubstr("runs as another user"));
  }));
}

void make_and_use(const Bootstrap& bootstrap) {
  Context context(generic_options("pack:1 core:2 pu:1", 64 * MiB));
  Team team(context, bootstrap);
  int root_is = bootstrap.rank == 0 ? 42 : 0;
  team.bcast(&root_is, sizeof root_is, 0);
  EXPECT_EQ(root_is, 42);
  team.barrier();
}

TEST_F(Apart, ContainersOfOneUserShareMemory) {
  expect_soon(run_ranks(3, [](const Bootstrap& bootstrap) {
    if (bootstrap.rank == apart_rank) {
      ASSERT_TRUE(leave_for_new(CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS));
    }
    make_and_use(bootstrap);
  }));
}

TEST_F(Apart, PidNamespacesShareMemory) {
  if (!can_leave_for_new(CLONE_NEWPID)) GTEST_SKIP() << "no process id namespaces here";
  expect_soon(run_ranks(3, [](const Bootstrap& bootstrap) {
    if (bootstrap.rank != apart_rank) return make_and_use(bootstrap);
    ASSERT_TRUE(leave_for_new(CLONE_NEWPID));
    const pid_t child = fork();  // the first process of the new namespace
    if (child == 0) {
      const RankError rank_error = RankError::of([&] { make_and_use(bootstrap); });
      _exit(rank_error.is_any() || HasFailure() ? 1 : 0);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }));
}

}  // namespace
}  // namespace huddle::team
