// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Teams whose ranks have mapped each other's heaps: with all, some or none of the buffers in heaps,
// with no other access to memory, and with a rank that dies.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <memory_resource>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "exercise.h"
#include "kills.h"
#include "model/machine/locate.h"
#include "model/machine/topology.h"
#include "ranks.h"
#include "runtime/context/errors.h"
#include "runtime/memory/heap.h"
#include "runtime/team/team.h"
#include "setup.h"

namespace huddle::team {
namespace {

using select::Operation;

constexpr std::size_t bytes = 160'000;
// Large enough that the saving justifies the vote even if the machine is oversubscribed.
constexpr std::size_t count = 1'000'000;

// Allocates the memory of containers from a heap.
class HeapResource : public std::pmr::memory_resource {
 public:
  explicit HeapResource(memory::Heap& heap) : heap_(heap) {}

 private:
  void* do_allocate(std::size_t n, std::size_t alignment) override {
    void* block = heap_.allocate(n, alignment);
    if (block == nullptr) throw std::bad_alloc();
    return block;
  }
  void do_deallocate(void* block, std::size_t, std::size_t) override { heap_.free(block); }
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }

  memory::Heap& heap_;
};

// A path by which no memory can be accessed.
class Refusing : public single_copy::PeerMemory {
 public:
  single_copy::ErrorNumber read(std::byte*, single_copy::RemoteAddress,
                                std::size_t) noexcept override {
    return EPERM;
  }
  single_copy::ErrorNumber write(single_copy::RemoteAddress, const std::byte*,
                                 std::size_t) noexcept override {
    return EPERM;
  }
};
std::unique_ptr<single_copy::PeerMemory> refuse(const single_copy::Owner&) {
  return std::make_unique<Refusing>();
}

enum class Reading { as_it_is, refused };

machine::Machine four_cores() {
  return machine::generic_machine(
      machine::discover_from_synthetic("pack:1 numa:1 l3:1 core:4 pu:1").topology);
}

bool writes_cached_lines(machine::HandoffKind kind) {
  using machine::HandoffKind;
  constexpr std::array kinds = {HandoffKind::write_cached,      HandoffKind::ring,
                                HandoffKind::ring_rep_movsb,    HandoffKind::ring_prefetch_write,
                                HandoffKind::write_interleaved, HandoffKind::ring_interleaved};
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

machine::Machine machine_where_cached_lines_are_dear() {
  machine::Machine machine = four_cores();
  for (machine::HandoffCurve& handoff : machine.handoff) {
    if (!writes_cached_lines(handoff.kind)) continue;
    for (double& ns : handoff.curve.ns) ns *= 1e4;
  }
  return machine;
}

// A rank with a heap, on a machine model in which reading data that a peer wrote is faster than
// everything else, whatever the placement of the ranks.
class HeapRank {
 public:
  explicit HeapRank(Reading reading = Reading::as_it_is) : heap_(std::size_t{256} << 20) {
    options_.machine = four_cores();
    for (machine::HandoffCurve& handoff : options_.machine.handoff) {
      if (handoff.kind == machine::HandoffKind::read_dirty) continue;
      for (double& ns : handoff.curve.ns) ns *= 1e4;
    }
    options_.arena.cap_bytes = std::size_t{64} << 20;
    options_.heap = heap_.facts();
    if (reading == Reading::refused) options_.paths.front().open = refuse;
  }

  ContextOptions options() const { return options_; }
  std::pmr::memory_resource* memory() { return &resource_; }

 private:
  memory::Heap heap_;
  HeapResource resource_{heap_};
  ContextOptions options_;
};

void expect_right_allreduce(Team& team, std::uint32_t seed, const Memory& memory = {}) {
  const auto mine = numbers(count, seed + static_cast<std::uint32_t>(team.rank()));
  const std::pmr::vector<std::uint32_t> input(mine.begin(), mine.end(), memory.input);
  std::pmr::vector<std::uint32_t> result(count, memory.output);
  team.allreduce(input.data(), result.data(), count, sum);
  EXPECT_EQ(std::vector<std::uint32_t>(result.begin(), result.end()),
            sums(count, team.ranks(), seed));
}

void expect_right_bcast(Team& team, std::uint32_t seed, int root,
                        std::pmr::memory_resource* memory) {
  const auto message = numbers(count, seed);
  std::pmr::vector<std::uint32_t> buffer(count, memory);
  if (team.rank() == root) std::copy(message.begin(), message.end(), buffer.begin());
  team.bcast(buffer.data(), 4 * count, root);
  EXPECT_TRUE(std::equal(message.begin(), message.end(), buffer.begin()));
}

constexpr int gather_root = 1;

void expect_right_gather(Team& team, std::uint32_t seed, const Memory& memory) {
  const auto block_of = [seed](int rank) {
    return numbers(count, seed + static_cast<std::uint32_t>(rank));
  };
  const auto mine = block_of(team.rank());
  const std::pmr::vector<std::uint32_t> input(mine.begin(), mine.end(), memory.input);
  const auto blocks = static_cast<std::size_t>(team.rank() == gather_root ? team.ranks() : 0);
  std::pmr::vector<std::uint32_t> result(blocks * count, memory.output);
  team.gather(input.data(), result.data(), 4 * count, gather_root);
  for (std::size_t from = 0; from < blocks; ++from) {
    const auto* block = result.data() + from * count;
    EXPECT_EQ(std::vector<std::uint32_t>(block, block + count), block_of(static_cast<int>(from)));
  }
}

std::string parameters_where_mapped(const Team& team, Operation operation) {
  select::Request request{operation, 4 * count, 4};
  request.mapped = true;
  const auto candidates = team.explain(request).candidates;
  return select::cheapest(candidates).parameters;
}

class HeapTeams : public testing::TestWithParam<int> {};

// All plans of all operations, with the buffers of any ranks in the heap.
TEST_P(HeapTeams, RunEveryDirectPlanWithBuffersAnywhere) {
  expect_fine(run_ranks(GetParam(), [](const Bootstrap& bootstrap) {
    HeapRank rank;
    Context context(rank.options());
    Team team(context, bootstrap);
    const Memory outside;
    const Memory inside{rank.memory(), rank.memory()};
    const Memory half{rank.memory(), outside.output};
    const Memory mixed = bootstrap.rank % 2 == 0 ? inside : outside;
    for (const Operation operation : select::operations) {
      select::Request request{operation, bytes, 4};
      request.mapped = true;
      for (const auto& candidate : team.explain(request).candidates) {
        if (!select::is_direct(candidate.plan)) continue;
        for (const Memory& memory : {inside, half, mixed, outside}) {
          exercise(team, candidate.plan, operation, bytes / 4, 3, memory);
        }
      }
    }
  }));
}
INSTANTIATE_TEST_SUITE_P(Ranks, HeapTeams, testing::Values(2, 3, 5));

// In each call the ranks agree on another algorithm if a buffer is not in a heap.
TEST(Heap, WorksIfNothingElseCanBeRead) {
  expect_fine(run_ranks(3, [](const Bootstrap& bootstrap) {
    HeapRank rank(Reading::refused);
    Context context(rank.options());
    Team team(context, bootstrap);
    const Memory inside{rank.memory(), rank.memory()};
    expect_right_allreduce(team, 1, inside);
    EXPECT_EQ(team.latest_algorithm(), "direct");
    expect_right_allreduce(team, 2);
    EXPECT_NE(team.latest_algorithm(), "direct");
    expect_right_allreduce(team, 3, bootstrap.rank == 1 ? Memory() : inside);
    EXPECT_NE(team.latest_algorithm(), "direct");
    expect_right_allreduce(team, 4, {rank.memory(), Memory().output});
    EXPECT_NE(team.latest_algorithm(), "direct");
    expect_right_allreduce(team, 5, inside);
    EXPECT_EQ(team.latest_algorithm(), "direct");
    EXPECT_THAT(parameters_where_mapped(team, Operation::allreduce), testing::HasSubstr("heap"));
    EXPECT_THAT(direct_refusal(team.explain({Operation::allreduce, 4 * count, 4})),
                testing::HasSubstr("cannot read the memory of rank"));
  }));
}

// Peers write to the root of a gather, so its output must be mapped; a mapped input is not enough.
TEST(Heap, WorksForARootThatIsWrittenTo) {
  expect_fine(run_ranks(3, [](const Bootstrap& bootstrap) {
    HeapRank rank(Reading::refused);
    Context context(rank.options());
    Team team(context, bootstrap);
    const Memory inside{rank.memory(), rank.memory()};
    const Memory half{rank.memory(), Memory().output};
    expect_right_gather(team, 1, inside);
    EXPECT_EQ(team.latest_algorithm(), "pushed");
    expect_right_gather(team, 2, bootstrap.rank == gather_root ? half : inside);
    EXPECT_NE(team.latest_algorithm(), "pushed");
    expect_right_gather(team, 3, bootstrap.rank == gather_root ? inside : half);
    EXPECT_EQ(team.latest_algorithm(), "pushed");
  }));
}

// In this model stores to lines that peers have cached are slow, as on a receiver that was the
// root.
TEST(Heap, WorksForBroadcastsWithAFixedRoot) {
  expect_fine(run_ranks(2, [](const Bootstrap& bootstrap) {
    HeapRank rank(Reading::refused);
    ContextOptions options = rank.options();
    options.machine = machine_where_cached_lines_are_dear();
    Context context(options);
    Team team(context, bootstrap);
    std::uint32_t seed = 1;
    for (const auto& [root, runs] :
         {std::pair(0, "direct"), std::pair(0, "direct"), std::pair(1, "pipelined"),
          std::pair(1, "direct"), std::pair(0, "pipelined"), std::pair(0, "direct")}) {
      expect_right_bcast(team, ++seed, root, rank.memory());
      EXPECT_EQ(team.latest_algorithm(), runs);
    }
  }));
}

// A fork in another thread must not make the pages private during a call, not even the first one.
TEST(Heap, IsInUseDuringTheFirstCall) {
  expect_fine(run_ranks(3, [](const Bootstrap& bootstrap) {
    HeapRank rank(Reading::refused);
    Context context(rank.options());
    Team team(context, bootstrap);
    struct Seen {
      const memory::HeapState* heap;
      int least_calls;
    } seen{rank.options().heap->state, 1};
    const auto add = [](void* to, const void* left, const void* right, std::size_t n, void* arg) {
      auto& of_rank = *static_cast<Seen*>(arg);
      of_rank.least_calls = std::min(of_rank.least_calls, of_rank.heap->calls.load());
      const auto* a = static_cast<const std::uint32_t*>(left);
      const auto* b = static_cast<const std::uint32_t*>(right);
      std::transform(a, a + n, b, static_cast<std::uint32_t*>(to), std::plus<>());
    };
    const memory::Reduction reduction{add, &seen, sizeof(std::uint32_t), true};
    const std::pmr::vector<std::uint32_t> input(count, 1, rank.memory());
    std::pmr::vector<std::uint32_t> result(count, rank.memory());
    team.allreduce(input.data(), result.data(), count, reduction);
    EXPECT_EQ(team.latest_algorithm(), "direct");
    EXPECT_EQ(result.back(), 3U);
    EXPECT_EQ(seen.least_calls, 1);
    EXPECT_EQ(seen.heap->calls.load(), 0);
  }));
}

TEST(Heap, IsNotUsedIfARankHasNone) {
  expect_fine(run_ranks(3, [](const Bootstrap& bootstrap) {
    HeapRank rank(Reading::refused);
    ContextOptions options = rank.options();
    if (bootstrap.rank == 2) options.heap.reset();
    Context context(options);
    Team team(context, bootstrap);
    expect_right_allreduce(team, 1, {rank.memory(), rank.memory()});
    EXPECT_NE(team.latest_algorithm(), "direct");
  }));
}

// Each rank is a thread with a heap of its own.
TEST(Heap, WorksWithThreads) {
  expect_fine(run_thread_ranks(3, [](const Bootstrap& bootstrap) {
    HeapRank rank;
    Context context(rank.options());
    Team team(context, bootstrap);
    for (std::uint32_t call = 0; call < 3; ++call) {
      expect_right_allreduce(team, call, {rank.memory(), rank.memory()});
      EXPECT_EQ(team.latest_algorithm(), "direct");
      expect_right_allreduce(team, call);
    }
  }));
}

// Returns the number of mappings of this process.
std::size_t mappings() {
  std::ifstream maps("/proc/self/maps");
  return static_cast<std::size_t>(
      std::count(std::istreambuf_iterator<char>(maps), std::istreambuf_iterator<char>(), '\n'));
}

TEST(Heap, NeedsNoNewMappingsForNewBuffers) {
  expect_fine(run_ranks(2, [](const Bootstrap& bootstrap) {
    HeapRank rank;
    Context context(rank.options());
    Team team(context, bootstrap);
    const Memory inside{rank.memory(), rank.memory()};
    expect_right_allreduce(team, 0, inside);
    const std::size_t before = mappings();
    std::vector<std::pmr::vector<std::byte>> kept;  // so that no buffer is reused
    constexpr int calls = 500;
    for (int call = 0; call < calls; ++call) {
      kept.emplace_back(bytes, rank.memory());
      team.bcast(kept.back().data(), bytes, 0);
      if (kept.size() > 50) kept.erase(kept.begin());
    }
    // The tolerance is for a sanitizer's own mappings, which come and go.
    EXPECT_LT(mappings(), before + calls / 10);
  }));
}

// The memory of a dead rank stays mapped in its peers.
TEST(Heap, RemainsAccessibleAfterItsRankDied) {
  const auto ends = run_ranks(3, [](const Bootstrap& bootstrap) {
    HeapRank rank(Reading::refused);
    Context context(rank.options());
    Team team(context, bootstrap);
    const Memory inside{rank.memory(), rank.memory()};
    for (std::uint32_t call = 0; call < 200; ++call) {
      if (bootstrap.rank == 1 && call == 5) std::raise(SIGKILL);
      try {
        expect_right_allreduce(team, call, inside);
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

// Endlessly calls operations by plans that read and write the peers' heaps.
void use_heaps(const Bootstrap& bootstrap, unsigned int seed) {
  std::mt19937 common(seed);  // the same sequence on all ranks
  HeapRank rank;
  Context context(rank.options());
  Team team(context, bootstrap);
  const Memory inside{rank.memory(), rank.memory()};
  while (true) {
    const Operation operation = select::operations[common() % select::operations.size()];
    select::Request request{operation, bytes, 4};
    request.mapped = true;
    for (const auto& candidate : team.explain(request).candidates) {
      if (!select::is_direct(candidate.plan)) continue;
      exercise(team, candidate.plan, operation, bytes / 4, common(), inside);
    }
  }
}

TEST(HeapDeath, AtAnyMomentLeavesNothingBehind) {
  expect_nothing_left_by_deaths(use_heaps, std::chrono::milliseconds(40));
}

}  // namespace
}  // namespace huddle::team
