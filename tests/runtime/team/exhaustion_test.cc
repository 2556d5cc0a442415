// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A rank runs out of a resource during team set-up: all ranks get the same error and can continue.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <string>

#include "common/arithmetic.h"
#include "common/error.h"
#include "process_resources.h"
#include "ranks.h"
#include "runtime/memory/page_buffer.h"
#include "runtime/team/bootstrap.h"
#include "runtime/team/peers.h"
#include "sanitizer.h"

namespace huddle::team {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using How = RankEnd::How;

constexpr int poor = 1;  // the rank that runs out

std::string failure_of(Peers& peers, const Bootstrap& bootstrap, std::size_t bytes) {
  return std::string(RankError::of([&] { peers.join(bootstrap, bytes); }).text());
}

// Returns the resources that this process has after all ranks have freed their teams.
ProcessResources settled_resources(Peers& peers, const Bootstrap& bootstrap) {
  gather(bootstrap, char{});
  peers.free_departed();
  EXPECT_EQ(peers.departed_teams(), 0U);
  return current_resources();
}

// Expects that all ranks get this error, keep no resources, and can set up a smaller team.
void expect_failure(Peers& peers, const Bootstrap& bootstrap, std::size_t bytes,
                    const std::string& reason) {
  peers.join(bootstrap, 100);  // completes everything that is set up only once
  const ProcessResources before = settled_resources(peers, bootstrap);
  const std::size_t used = peers.arena().used_bytes();
  EXPECT_THAT(failure_of(peers, bootstrap, bytes),
              AllOf(StartsWith("rank " + std::to_string(poor) + ": "), HasSubstr(reason)));
  EXPECT_EQ(peers.arena().used_bytes(), used);
  EXPECT_EQ(settled_resources(peers, bootstrap), before);
  peers.join(bootstrap, 100)->check();
}

TEST(Exhaustion, OfTheArenaFailsAllRanks) {
  const auto ends = run_ranks(3, [](const Bootstrap& bootstrap) {
    const std::size_t cap_bytes = bootstrap.rank == poor ? MiB : 64 * MiB;
    Peers peers(std::make_shared<memory::Arena>(memory::ArenaOptions{.cap_bytes = cap_bytes}));
    expect_failure(peers, bootstrap, 2 * MiB, "the shared memory of this process is limited to 1M");
  });
  EXPECT_THAT(ends, Each(How::fine));
}

TEST(Exhaustion, OfTheFileSizeLimitFailsAllRanks) {
  const auto ends = run_ranks(3, [](const Bootstrap& bootstrap) {
    const rlimit limit{MiB, MiB};
    if (bootstrap.rank == poor) setrlimit(RLIMIT_FSIZE, &limit);
    Peers peers(std::make_shared<memory::Arena>(memory::ArenaOptions{.cap_bytes = 64 * MiB}));
    expect_failure(peers, bootstrap, 2 * MiB, "ulimit -f");
  });
  EXPECT_THAT(ends, Each(How::fine));
}

// Mounts a tmpfs of this size ("size=1m") that only this process sees and that vanishes with it.
void mount_own_tmpfs(const char* size) {
  ASSERT_EQ(unshare(CLONE_NEWNS), 0);
  ASSERT_EQ(mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr), 0);
  ASSERT_EQ(mount("own", "/dev/shm", "tmpfs", 0, size), 0);
}

TEST(Exhaustion, OfTheFolderFailsAllRanks) {
  if (geteuid() != 0) GTEST_SKIP() << "to mount a small tmpfs takes root";
  const auto ends = run_ranks(3, [](const Bootstrap& bootstrap) {
    // The other ranks get one, too, because the /dev/shm of this machine may be small.
    mount_own_tmpfs(bootstrap.rank == poor ? "size=1m" : "size=64m");
    Peers peers(std::make_shared<memory::Arena>(
        memory::ArenaOptions{.cap_bytes = 64 * MiB, .kind = memory::ArenaFile::Kind::in_folder}));
    expect_failure(peers, bootstrap, 2 * MiB, "cannot reserve 2M of shared memory in /dev/shm");
  });
  EXPECT_THAT(ends, Each(How::fine));
}

// Returns the lowest unused descriptor number.
rlim_t next_descriptor() {
  const int lowest = dup(STDERR_FILENO);
  close(lowest);
  return static_cast<rlim_t>(lowest);
}

// Limits the process to `count` more descriptors. Returns the previous limit.
rlimit leave_descriptors(rlim_t count) {
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  const rlimit limit{next_descriptor() + count, before.rlim_max};
  setrlimit(RLIMIT_NOFILE, &limit);
  return before;
}

void run_out_of_descriptors(DescriptorRoute route) {
  if (sanitizer_needs_descriptors) GTEST_SKIP() << why_skipped;
  const auto ends = run_ranks(4, [route](const Bootstrap& bootstrap) {
    Peers peers(std::make_shared<memory::Arena>(memory::ArenaOptions{.cap_bytes = 64 * MiB}),
                route);
    const ProcessResources before = current_resources();
    // Three peers need three descriptors, and more during the set-up.
    for (rlim_t count = 0; count < 3; ++count) {
      rlimit limit{};
      if (bootstrap.rank == poor) limit = leave_descriptors(count);
      EXPECT_THAT(failure_of(peers, bootstrap, 100),
                  AllOf(StartsWith("rank 1: "), HasSubstr("ile")));
      if (bootstrap.rank == poor) setrlimit(RLIMIT_NOFILE, &limit);
      EXPECT_EQ(current_resources(), before);
    }
    peers.join(bootstrap, 100)->check();
  });
  EXPECT_THAT(ends, Each(How::fine));
}

TEST(Exhaustion, OfDescriptorsToOpenFailsAllRanks) {
  run_out_of_descriptors(DescriptorRoute::proc_first);
}

TEST(Exhaustion, OfDescriptorsToReceiveFailsAllRanks) {
  run_out_of_descriptors(DescriptorRoute::sent);
}

TEST(Exhaustion, OfAddressSpaceFailsAllRanks) {
  constexpr std::size_t large = std::size_t{16} << 30;
  const auto ends = run_ranks(3, [](const Bootstrap& bootstrap) {
    Peers peers(std::make_shared<memory::Arena>(memory::ArenaOptions{.cap_bytes = large}));
    if (bootstrap.rank == poor) {
      std::size_t pages = 0;
      std::ifstream("/proc/self/statm") >> pages;
      const rlim_t bytes = pages * memory::page_bytes() + large / 2;
      const rlimit limit{bytes, bytes};
      setrlimit(RLIMIT_AS, &limit);
    }
    EXPECT_THAT(failure_of(peers, bootstrap, 100),
                AllOf(StartsWith("rank 1: "), HasSubstr("16G of address space")));
  });
  EXPECT_THAT(ends, Each(How::fine));
}

}  // namespace
}  // namespace huddle::team
