// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Ranks as threads on one node with memory for a team but not for any of its protocols: each call
// must succeed with the same bits as in a team that has memory.
#include "runtime/internode/node_part.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "common/error.h"
#include "mail.h"
#include "model/machine/locate.h"
#include "model/machine/topology.h"
#include "ranks.h"
#include "runtime/internode/node_discovery.h"
#include "runtime/memory/reduction.h"
#include "runtime/memory/types.h"

namespace huddle::internode {
namespace {

constexpr int ranks = 5;
constexpr std::size_t plenty_bytes = std::size_t{64} << 20;

// Two cores per socket, so that sums have inner blocks.
team::ContextOptions options(std::size_t cap_bytes) {
  team::ContextOptions options;
  options.machine =
      machine::generic_machine(machine::discover_from_synthetic("pack:3 core:2 pu:1").topology);
  options.arena.cap_bytes = cap_bytes;
  return options;
}

// Enough for a team, but not for any protocol except a barrier.
constexpr std::size_t scant_bytes = std::size_t{8} << 10;

using Function = std::function<void(NodePart& part, int place)>;

using InTeam = std::function<void(team::Team& team, NodePart& part, int place)>;

void run_in_team(std::size_t cap_bytes, const InTeam& function) {
  const NodeMap map(std::vector<std::uint64_t>(ranks, 7));
  test::Mail mail;
  const auto ends = team::run_thread_ranks(ranks, [&](const team::Bootstrap& all) {
    team::Context context(options(cap_bytes));
    test::MailEnd wire(mail, all.rank);
    team::Team team(context, all);
    std::vector<std::byte> data(100'000);
    if (cap_bytes != plenty_bytes) {
      EXPECT_THROW(team.bcast(data.data(), data.size(), 0), FailureError);
      EXPECT_FALSE(team.is_lost());
    }
    NodePart part(team, wire, map, 0, all.rank);
    function(team, part, all.rank);
  });
  for (const team::RankEnd& end : ends) EXPECT_EQ(end.how, team::RankEnd::How::fine) << end;
  EXPECT_TRUE(mail.is_empty()) << "messages that nobody received";
}

void run_node_part(std::size_t cap_bytes, const Function& function) {
  run_in_team(cap_bytes, [&](team::Team&, NodePart& part, int place) { function(part, place); });
}

std::vector<float> floats_of(int rank, std::size_t count) {
  std::minstd_rand random(11 + static_cast<unsigned>(rank));
  std::uniform_real_distribution<float> values(-1e3F, 1e3F);
  std::vector<float> numbers(count);
  for (float& number : numbers) number = values(random);
  return numbers;
}

constexpr std::size_t count = 30'000;
constexpr std::size_t bytes = count * sizeof(float);

// Compares the results of a call at each place with and without memory.
void expect_the_same(const std::function<std::vector<float>(NodePart& part, int place)>& call) {
  std::vector<std::vector<float>> expected(ranks);
  run_node_part(plenty_bytes, [&](NodePart& part, int place) {
    expected[static_cast<std::size_t>(place)] = call(part, place);
  });
  run_node_part(scant_bytes, [&](NodePart& part, int place) {
    const std::vector<float> result = call(part, place);
    const std::vector<float>& wanted = expected[static_cast<std::size_t>(place)];
    ASSERT_EQ(result.size(), wanted.size());
    if (wanted.empty()) return;
    EXPECT_EQ(std::memcmp(result.data(), wanted.data(), result.size() * sizeof(float)), 0)
        << "at place " << place;
  });
}

const memory::Reduction sum = memory::reduction(memory::Type::float32, memory::Operator::sum);

TEST(NodePart, ReduceMatchesTeam) {
  for (const int root : {0, 3}) {
    expect_the_same([root](NodePart& part, int place) {
      std::vector<float> data = floats_of(place, count);
      std::vector<float> result(place == root ? count : 0);
      part.reduce(data.data(), result.data(), count, sum, root);
      if (place == root) {
        part.reduce(data.data(), data.data(), count, sum, root);
        EXPECT_EQ(data, result) << "in place";
      } else {
        part.reduce(data.data(), nullptr, count, sum, root);
      }
      return result;
    });
  }
}

// Some ranks have slices, others none.
TEST(NodePart, ReduceScatterAndAllgathervMatchTeam) {
  const std::vector<std::size_t> elements = {7000, 0, 13'000, 10'000, 0};
  std::vector<node::Block> slices;
  std::vector<node::Block> in_bytes;
  std::ptrdiff_t end = 0;
  for (const std::size_t of_place : elements) {
    slices.push_back({end, of_place});
    in_bytes.push_back({end * 4, of_place * sizeof(float)});
    end += static_cast<std::ptrdiff_t>(of_place);
  }
  expect_the_same([&](NodePart& part, int place) {
    std::vector<float> data = floats_of(place, count);
    std::vector<float> all(count);
    float* const own = all.data() + slices[static_cast<std::size_t>(place)].offset;
    part.reduce_scatter(data.data(), own, node::Blocks::listed(slices), sum);
    part.allgatherv(own, all.data(), node::Blocks::listed(in_bytes));
    std::vector<float> combined(count);
    part.reduce(data.data(), combined.data(), count, sum, 0);
    if (place == 0) {
      EXPECT_EQ(combined, all) << "as a sum for one";
    }
    return all;
  });
}

TEST(NodePart, ScansMatchTeam) {
  for (const bool with_own : {true, false}) {
    expect_the_same([with_own](NodePart& part, int place) {
      const std::vector<float> data = floats_of(place, count);
      std::vector<float> result(count, 9.0F);
      std::vector<float> in_place = data;
      if (with_own) {
        part.scan(data.data(), result.data(), count, sum);
        part.scan(in_place.data(), in_place.data(), count, sum);
      } else {
        part.exscan(data.data(), result.data(), count, sum);
        part.exscan(in_place.data(), in_place.data(), count, sum);
      }
      if (with_own || place > 0) {
        EXPECT_EQ(in_place, result);
      }
      return result;
    });
  }
}

TEST(NodePart, RootedCollectivesMatchTeam) {
  for (const int root : {0, 2}) {
    expect_the_same([root](NodePart& part, int place) {
      std::vector<float> data = floats_of(place, count);
      std::vector<float> all(place == root ? count * ranks : 0);
      part.gather_barrier();
      part.release_barrier();
      part.bcast(data.data(), bytes, root);
      part.gather(data.data(), all.data(), bytes, root);
      part.scatter(all.data(), data.data(), bytes, root);
      std::vector<node::Block> blocks;
      for (int of = 0; of < ranks; ++of) {
        const std::size_t size = bytes / static_cast<std::size_t>(of + 2);
        blocks.push_back({of * static_cast<std::ptrdiff_t>(bytes), of == 1 ? 0 : size});
      }
      const bool is_root = place == root;
      const node::Blocks listed = is_root ? node::Blocks::listed(blocks) : node::Blocks();
      const std::size_t own = blocks[static_cast<std::size_t>(place)].bytes;
      part.gatherv(data.data(), own, all.data(), listed, root);
      part.scatterv(all.data(), listed, data.data(), own, root);
      data.insert(data.end(), all.begin(), all.end());
      return data;
    });
  }
}

// Between the two phases the first rank would wait for other nodes.
TEST(NodePart, OnlyFirstRankWaitsInGatherPhase) {
  constexpr int times = 20;
  std::atomic<int> gathered{0};
  std::atomic<int> released{0};
  run_node_part(plenty_bytes, [&](NodePart& part, int place) {
    // All ranks set up the barrier together.
    part.gather_barrier();
    part.release_barrier();
    for (int time = 1; time <= times; ++time) {
      if (place == 0) {
        while (gathered.load() < time * (ranks - 1)) std::this_thread::yield();
        part.gather_barrier();
        released.store(time);
        part.release_barrier();
      } else {
        part.gather_barrier();
        gathered.fetch_add(1);
        part.release_barrier();
        ASSERT_GE(released.load(), time);
      }
    }
  });
}

// Uses up the team's remaining memory, so that no barrier can be set up.
void use_up(team::Team& team) {
  for (const std::size_t size : {4096, 512, 128}) {
    try {
      while (true) team.common_memory(size);
    } catch (const FailureError&) {
      // All ranks get the failure: the memory is used up.
    }
  }
}

TEST(NodePart, BarrierWithoutMemoryUsesMessages) {
  constexpr int times = 20;
  std::atomic<int> entered{0};
  std::atomic<int> released{0};
  run_in_team(scant_bytes, [&](team::Team& team, NodePart& part, int place) {
    use_up(team);
    EXPECT_THROW(team.barrier(), FailureError);
    for (int time = 1; time <= times; ++time) {
      entered.fetch_add(1);
      part.gather_barrier();
      if (place == 0) {
        EXPECT_EQ(entered.load(), time * ranks);
        released.store(time);
      }
      part.release_barrier();
      EXPECT_GE(released.load(), time);
    }
    EXPECT_FALSE(team.is_lost());
  });
}

TEST(NodePart, AlltoallvMatchesTeam) {
  for (const bool in_place : {false, true}) {
    expect_the_same([in_place](NodePart& part, int place) {
      std::vector<node::Block> blocks;
      for (int of = 0; of < ranks; ++of) {
        const auto size = static_cast<std::size_t>((of + place) % 3) * 8000;
        blocks.push_back({of * 16000 + 4, size});
      }
      std::vector<float> data = floats_of(place, count);
      std::vector<float> result(count, 1.0F);
      float* const output = in_place ? data.data() : result.data();
      const node::Blocks listed = node::Blocks::listed(blocks);
      part.alltoallv(data.data(), listed, output, listed);
      return in_place ? data : result;
    });
  }
}

}  // namespace
}  // namespace huddle::internode
