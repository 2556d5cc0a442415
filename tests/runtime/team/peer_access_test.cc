// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Teams whose ranks access each other's memory: all can, one cannot, or one loses access.
#include "runtime/team/peer_access.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "common/other_processes.h"
#include "exercise.h"
#include "model/machine/locate.h"
#include "model/machine/topology.h"
#include "ranks.h"
#include "runtime/context/errors.h"
#include "runtime/single_copy/cma.h"
#include "runtime/team/team.h"
#include "setup.h"

namespace huddle::team {
namespace {

using select::Operation;

constexpr int access_ranks = 3;
constexpr std::size_t access_count = 40'000;
constexpr std::size_t access_bytes = 4 * access_count;

// A machine model in which reading a peer's memory is faster than everything else, whatever the
// placement of the ranks, and stores to lines that were read have their usual cost.
machine::Machine reading_machine() {
  machine::Machine machine = machine::generic_machine(
      machine::discover_from_synthetic("pack:1 numa:1 l3:1 core:4 pu:1").topology);
  for (machine::HandoffCurve& handoff : machine.handoff) {
    if (handoff.kind == machine::HandoffKind::write_cached) continue;
    for (double& ns : handoff.curve.ns) ns *= 100;
  }
  for (machine::CopyCurve& copy : machine.copy) {
    for (double& ns : copy.curve.ns) ns *= 100;
  }
  machine.paths.push_back({"cma", 1, {{64, 1 << 20}, {1, 2}, {}}, machine::Origin::estimated});
  return machine;
}

std::unique_ptr<single_copy::PeerMemory> open_usual(const single_copy::Owner& owner) {
  return single_copy::cma().open(owner);
}

ContextOptions options_with(const single_copy::PeerPath::Open& open) {
  ContextOptions options;
  options.machine = reading_machine();
  options.arena.cap_bytes = std::size_t{64} << 20;
  options.paths.front().open = open;
  return options;
}

constexpr int always = 1'000'000;

// The number of accesses to a peer's memory that succeed.
struct Times {
  int reads = always;
  int writes = always;
};

class Limited : public single_copy::PeerMemory {
 public:
  Limited(std::unique_ptr<single_copy::PeerMemory> real, const Times& times)
      : real_(std::move(real)), times_(times) {}
  single_copy::ErrorNumber read(std::byte* to, single_copy::RemoteAddress from,
                                std::size_t n) noexcept override {
    if (times_.reads == 0) return EPERM;
    --times_.reads;
    return real_->read(to, from, n);
  }
  single_copy::ErrorNumber write(single_copy::RemoteAddress to, const std::byte* from,
                                 std::size_t n) noexcept override {
    if (times_.writes == 0) return EPERM;
    --times_.writes;
    return real_->write(to, from, n);
  }

 private:
  std::unique_ptr<single_copy::PeerMemory> real_;
  Times times_;
};

// Returns the number of accesses that the opening rank may make to each owner's memory.
using Allowed = std::function<Times(int owner)>;
single_copy::PeerPath::Open open_limited(const Allowed& allowed) {
  return [allowed](const single_copy::Owner& owner) {
    return std::make_unique<Limited>(open_usual(owner), allowed(owner.rank));
  };
}

void expect_allreduce(Team& team, std::uint32_t seed) {
  std::vector<std::uint32_t> result(access_count);
  const auto mine = numbers(access_count, seed + static_cast<std::uint32_t>(team.rank()));
  team.allreduce(mine.data(), result.data(), access_count, sum);
  EXPECT_EQ(result, sums(access_count, team.ranks(), seed));
}

constexpr int access_root = 2;

void expect_gather(Team& team, std::uint32_t seed) {
  const auto words = [&](int from) {
    return numbers(access_count, seed + static_cast<std::uint32_t>(from));
  };
  std::vector<std::uint32_t> wanted;
  for (int from = 0; from < access_ranks; ++from) {
    const auto more = words(from);
    wanted.insert(wanted.end(), more.begin(), more.end());
  }
  std::vector<std::uint32_t> result(team.rank() == access_root ? wanted.size() : 0);
  team.gather(words(team.rank()).data(), result.data(), access_bytes, access_root);
  if (team.rank() != access_root) return;
  EXPECT_EQ(result, wanted);
}

// Each rank sends a large block to the next one and small blocks to the others.
void expect_right_alltoallv(Team& team, std::uint32_t seed) {
  const auto words = [&](int from, int to) {
    return numbers((from + 1) % access_ranks == to ? access_count : 3,
                   seed + static_cast<std::uint32_t>(from));
  };
  std::vector<std::uint32_t> input;
  std::vector<std::uint32_t> wanted;
  std::vector<node::Block> outgoing;
  std::vector<node::Block> incoming;
  const auto append = [](std::vector<std::uint32_t>& all, std::vector<node::Block>& blocks,
                         const std::vector<std::uint32_t>& more) {
    blocks.push_back({static_cast<std::ptrdiff_t>(4 * all.size()), 4 * more.size()});
    all.insert(all.end(), more.begin(), more.end());
  };
  for (int other = 0; other < access_ranks; ++other) {
    append(input, outgoing, words(team.rank(), other));
    append(wanted, incoming, words(other, team.rank()));
  }
  std::vector<std::uint32_t> output(wanted.size());
  team.alltoallv(input.data(), node::Blocks::listed(outgoing), output.data(),
                 node::Blocks::listed(incoming));
  EXPECT_EQ(output, wanted);
}

bool may_read_directly(const Team& team) {
  const auto candidates = team.explain({Operation::allreduce, access_bytes, 4}).candidates;
  return std::any_of(candidates.begin(), candidates.end(),
                     [](const auto& candidate) { return select::is_direct(candidate.plan); });
}

// Returns whether the system prevents reads of other processes; then these tests are skipped.
bool system_refuses() {
  static const bool refuses = [] {
    const auto ends = run_ranks(2, [](const Bootstrap& bootstrap) {
      Context context(options_with(open_usual));
      Team team(context, bootstrap);
      expect_allreduce(team, 1);
      EXPECT_TRUE(may_read_directly(team));
    });
    return !(ends[0] == RankEnd::How::fine && ends[1] == RankEnd::How::fine);
  }();
  return refuses;
}
constexpr const char* why_skipped = "no process may read its sibling's memory here";

void exercise_all(Team& team) {
  for (const Operation operation : select::operations) {
    for (const auto& candidate : team.explain({operation, access_bytes, 4}).candidates) {
      if (!select::is_direct(candidate.plan)) continue;
      exercise(team, candidate.plan, operation, access_bytes, 3);
    }
  }
}

TEST(PeerAccess, ReadsOtherProcesses) {
  if (system_refuses()) GTEST_SKIP() << why_skipped;
  expect_fine(run_ranks(access_ranks, [](const Bootstrap& bootstrap) {
    Context context(options_with(open_usual));
    Team team(context, bootstrap);
    expect_allreduce(team, 1);
    EXPECT_EQ(team.latest_algorithm(), "direct");
    EXPECT_EQ(direct_refusal(team.explain({Operation::allreduce, access_bytes, 4})), "");
    exercise_all(team);
  }));
}

TEST(PeerAccess, ReadsOtherThreads) {
  expect_fine(run_thread_ranks(access_ranks, [](const Bootstrap& bootstrap) {
    Context context(options_with(open_usual));
    Team team(context, bootstrap);
    expect_allreduce(team, 1);
    EXPECT_EQ(team.latest_algorithm(), "direct");
    exercise_all(team);
  }));
}

// A process id may be reused after its process has died, so a path gets a descriptor to check that.
TEST(PeerAccess, MonitorsTheProcessesThatItReaches) {
  const auto watching = [](const single_copy::Owner& owner) {
    EXPECT_GE(owner.watch, 0);
    EXPECT_FALSE(has_lost_number(owner.watch));
    return open_usual(owner);
  };
  const RankFunction reaches = [&](const Bootstrap& bootstrap) {
    Context context(options_with(watching));
    Team team(context, bootstrap);
    expect_allreduce(team, 1);
  };
  expect_fine(run_ranks(access_ranks, reaches));
}

// If one pair, or one rank with all others, has no access, no rank uses the path, and all know why.
void expect_done_without(const std::function<Allowed(int reader)>& allowed,
                         const std::string& why) {
  expect_fine(run_ranks(access_ranks, [&](const Bootstrap& bootstrap) {
    Context context(options_with(open_limited(allowed(bootstrap.rank))));
    Team team(context, bootstrap);
    for (std::uint32_t call = 0; call < 3; ++call) {
      expect_allreduce(team, call);
      EXPECT_NE(team.latest_algorithm(), "direct");
    }
    const auto explanation = team.explain({Operation::alltoall, access_bytes, 1});
    EXPECT_EQ(direct_refusal(explanation), why);
    EXPECT_THAT(select::explanation_text(explanation), testing::HasSubstr(why));
    for (const auto& candidate : explanation.candidates) {
      EXPECT_FALSE(select::is_direct(candidate.plan));
    }
    expect_right_alltoallv(team, 1);
    EXPECT_EQ(team.latest_algorithm(), "pairwise");
  }));
}

TEST(PeerAccess, OnePairWithoutAccessDisablesThePath) {
  if (system_refuses()) GTEST_SKIP() << why_skipped;
  expect_done_without(
      [](int reader) {
        return [reader](int owner) { return reader == 2 && owner == 1 ? Times{0, 0} : Times{}; };
      },
      "rank 2: cannot read the memory of rank 1: Operation not permitted");
}

// A process that may read may usually also write, but both are tested.
TEST(PeerAccess, OnePairWithoutWriteAccessDisablesThePath) {
  if (system_refuses()) GTEST_SKIP() << why_skipped;
  expect_done_without(
      [](int writer) {
        return [writer](int owner) {
          return writer == 2 && owner == 1 ? Times{always, 0} : Times{};
        };
      },
      "rank 2: cannot write to the memory of rank 1: Operation not permitted");
}

TEST(PeerAccess, OneRankWithoutAccessDisablesThePath) {
  if (system_refuses()) GTEST_SKIP() << why_skipped;
  expect_done_without(
      [](int reader) { return [reader](int) {
                         return reader == 1 ? Times{0, 0} : Times{};
                       }; },
      "rank 1: cannot read the memory of rank 0: Operation not permitted");
}

// Calls of one operation, and the algorithm that they use while ranks have access to peers' memory.
struct Direct {
  Operation operation;
  std::string_view algorithm;
  void (*expect_right)(Team& team, std::uint32_t seed);
};
constexpr Direct read_by_all{Operation::allreduce, "direct", expect_allreduce};
constexpr Direct written_by_all{Operation::gather, "pushed", expect_gather};

// All ranks fail at the same call with the same error, and later calls do not use the path.
void expect_stop_for_all(const Direct& calls, const Times& of_one_pair, const std::string& words) {
  expect_fine(run_ranks(access_ranks, [&](const Bootstrap& bootstrap) {
    const bool is_limited = bootstrap.rank == 1;
    Context context(options_with(
        open_limited([&](int owner) { return is_limited && owner == 2 ? of_one_pair : Times{}; })));
    Team team(context, bootstrap);
    std::uint32_t call = 0;
    std::string why;
    while (why.empty() && call < 100) {
      try {
        calls.expect_right(team, ++call);
        EXPECT_EQ(team.latest_algorithm(), calls.algorithm);
      } catch (const context::PathFailed& error) {
        why = error.what();
      }
    }
    EXPECT_GT(call, 1U);
    EXPECT_EQ(why, words);
    const auto failed_at = gather(bootstrap, call);
    EXPECT_THAT(failed_at, testing::Each(call));
    for (int after = 0; after < 3; ++after) {
      calls.expect_right(team, ++call);
      EXPECT_NE(team.latest_algorithm(), calls.algorithm);
    }
    EXPECT_EQ(direct_refusal(team.explain({calls.operation, access_bytes, 4})), why);
  }));
}

// The number of reads exceeds those of the first call.
TEST(PeerAccess, LostReadAccessFailsAllRanks) {
  if (system_refuses()) GTEST_SKIP() << why_skipped;
  expect_stop_for_all(read_by_all, {.reads = 40},
                      "rank 1 cannot read the memory of rank 2 any more: Operation not permitted");
}

TEST(PeerAccess, LostWriteAccessFailsAllRanks) {
  if (system_refuses()) GTEST_SKIP() << why_skipped;
  expect_stop_for_all(
      written_by_all, {.writes = 5},
      "rank 1 cannot write to the memory of rank 2 any more: Operation not permitted");
}

void expect_right_alltoall_by_pairs(Team& team) {
  exercise(team, node::PairExchange::Plan{}, Operation::alltoall, 100, 5);
}

// A block that its receiver cannot read arrives another way. No call fails; others still read.
TEST(PeerAccess, AnnouncedBlocksArriveIfTheyCannotBeRead) {
  if (system_refuses()) GTEST_SKIP() << why_skipped;
  expect_fine(run_ranks(access_ranks, [](const Bootstrap& bootstrap) {
    constexpr int reads = 5;  // the first of them test the access
    const bool is_limited = bootstrap.rank == 2;
    Context context(options_with(open_limited(
        [&](int owner) { return is_limited && owner == 1 ? Times{reads} : Times{}; })));
    Team team(context, bootstrap);
    // Sets up the protocol, which other plans also use, before the access is tested.
    expect_right_alltoall_by_pairs(team);
    for (std::uint32_t call = 0; call < 10; ++call) {
      expect_right_alltoallv(team, call);
      EXPECT_EQ(team.latest_algorithm(), "announced");
    }
    EXPECT_EQ(direct_refusal(team.explain({Operation::alltoallv, access_bytes, 1})), "");
  }));
}

// A plan for gathers in which peers write to the root.
node::PairExchange::Plan written_plan() { return {.announced_from = 4096, .written_from = 4096}; }

// The same for blocks that cannot be written.
TEST(PeerAccess, BlocksOfAGatherArriveIfTheyCannotBeWritten) {
  if (system_refuses()) GTEST_SKIP() << why_skipped;
  expect_fine(run_ranks(access_ranks, [](const Bootstrap& bootstrap) {
    constexpr int writes = 3;  // the first of them tests the access
    const bool is_limited = bootstrap.rank == 2;
    Context context(options_with(open_limited([&](int owner) {
      return is_limited && owner == 1 ? Times{always, writes} : Times{};
    })));
    Team team(context, bootstrap);
    const select::AnnouncedPlan plan{written_plan()};
    constexpr std::size_t blocks[] = {100, 5000, 70'000};
    for (std::uint32_t call = 0; call < 12; ++call) {
      exercise(team, plan, Operation::gatherv, blocks[call % 3], call);
    }
  }));
}

// Only a rank that expects another size gets an error, and the team remains usable.
TEST(PeerAccess, OnlyTheRankThatExpectsAnotherSizeFails) {
  constexpr int root = 1;
  for (const auto& [sent, expected] : std::vector<std::pair<std::size_t, std::size_t>>{
           {8, 16}, {16, 8}, {100, 50'000}, {1 << 20, 100}, {1 << 20, 1 << 19}}) {
    expect_fine(
        run_ranks(access_ranks, [&, sent = sent, expected = expected](const Bootstrap& bootstrap) {
          Context context(options_with(open_limited([](int) { return Times{}; })));
          Team team(context, bootstrap);
          const std::vector<std::byte> input(std::max(sent, expected));
          std::vector<std::byte> output(input.size() * access_ranks);
          const bool is_wrong = bootstrap.rank == 0;
          std::string why;
          try {
            team.gatherv(input.data(), is_wrong ? sent : expected, output.data(),
                         node::Blocks::even(expected), root);
          } catch (const context::SizesDiffer& error) {
            why = error.what();
          }
          EXPECT_EQ(why, bootstrap.rank != root
                             ? ""
                             : fmt::format("rank 0 sends {} bytes to rank 1, which expects {}",
                                           sent, expected));
          expect_right_alltoallv(team, 3);
        }));
  }
}

// Kills its process during a read or write.
class DeadlyMemory : public single_copy::PeerMemory {
 public:
  DeadlyMemory(std::unique_ptr<single_copy::PeerMemory> real, const Times& times)
      : real_(std::move(real)), times_(times) {}
  single_copy::ErrorNumber read(std::byte* to, single_copy::RemoteAddress from,
                                std::size_t n) noexcept override {
    if (times_.reads-- == 0) std::raise(SIGKILL);
    return real_->read(to, from, n);
  }
  single_copy::ErrorNumber write(single_copy::RemoteAddress to, const std::byte* from,
                                 std::size_t n) noexcept override {
    if (times_.writes-- == 0) std::raise(SIGKILL);
    return real_->write(to, from, n);
  }

 private:
  std::unique_ptr<single_copy::PeerMemory> real_;
  Times times_;
};

void expect_death_noticed(const Direct& calls, const Times& of_one_pair) {
  const auto ends = run_ranks(access_ranks, [&](const Bootstrap& bootstrap) {
    Context context(options_with(
        [&](const single_copy::Owner& owner) -> std::unique_ptr<single_copy::PeerMemory> {
          if (bootstrap.rank != 1 || owner.rank != 2) return open_usual(owner);
          return std::make_unique<DeadlyMemory>(open_usual(owner), of_one_pair);
        }));
    Team team(context, bootstrap);
    for (std::uint32_t call = 0; call < 1000; ++call) {
      try {
        calls.expect_right(team, call);
      } catch (const context::PeerLost&) {
        return;
      }
    }
    ADD_FAILURE() << "nobody has died";
  });
  EXPECT_EQ(ends[0].how, RankEnd::How::fine) << ends[0];
  EXPECT_EQ(ends[1].how, RankEnd::How::killed) << ends[1];
  EXPECT_EQ(ends[2].how, RankEnd::How::fine) << ends[2];
}

TEST(PeerAccess, DeathDuringACallIsNoticedByAllRanks) {
  if (system_refuses()) GTEST_SKIP() << why_skipped;
  expect_death_noticed(read_by_all, {.reads = 30});
  expect_death_noticed(written_by_all, {.writes = 5});
}

// State that is shared by the root and a rank that writes to it.
struct Scene {
  std::atomic<bool> root_is_back = false;
};

// Delays a write until the root has returned, which is an error, or several of its checks for
// deaths have passed.
class Late : public single_copy::PeerMemory {
 public:
  Late(std::unique_ptr<single_copy::PeerMemory> real, const Scene& scene)
      : real_(std::move(real)), scene_(scene) {}
  single_copy::ErrorNumber read(std::byte* to, single_copy::RemoteAddress from,
                                std::size_t n) noexcept override {
    return real_->read(to, from, n);
  }
  single_copy::ErrorNumber write(single_copy::RemoteAddress to, const std::byte* from,
                                 std::size_t n) noexcept override {
    const auto give_up = std::chrono::steady_clock::now() + several_checks;
    const bool is_data = n == access_bytes;
    while (is_data && !scene_.root_is_back && std::chrono::steady_clock::now() < give_up) {
      sched_yield();
    }
    EXPECT_FALSE(scene_.root_is_back) << "this would write to memory of the root's caller";
    return real_->write(to, from, n);
  }

 private:
  static constexpr std::chrono::milliseconds several_checks{500};

  std::unique_ptr<single_copy::PeerMemory> real_;
  const Scene& scene_;
};

// One rank dies while another is about to write: the root returns only after that write.
TEST(PeerAccess, RootReturnsAfterAllWritesToItHaveEnded) {
  if (system_refuses()) GTEST_SKIP() << why_skipped;
  void* const shared =
      mmap(nullptr, sizeof(Scene), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  auto& scene = *new (shared) Scene;
  const auto ends = run_ranks(access_ranks, [&](const Bootstrap& bootstrap) {
    Context context(options_with(
        [&](const single_copy::Owner& owner) -> std::unique_ptr<single_copy::PeerMemory> {
          if (owner.rank != access_root) return open_usual(owner);
          if (bootstrap.rank == 0) return std::make_unique<Late>(open_usual(owner), scene);
          // The first write tests the access.
          return std::make_unique<DeadlyMemory>(open_usual(owner), Times{.writes = 1});
        }));
    Team team(context, bootstrap);
    EXPECT_THROW(expect_gather(team, 1), context::PeerLost);
    if (bootstrap.rank == access_root) scene.root_is_back = true;
  });
  EXPECT_EQ(ends[0].how, RankEnd::How::fine) << ends[0];
  EXPECT_EQ(ends[1].how, RankEnd::How::killed) << ends[1];
  EXPECT_EQ(ends[2].how, RankEnd::How::fine) << ends[2];
  munmap(shared, sizeof(Scene));
}

}  // namespace
}  // namespace huddle::team
