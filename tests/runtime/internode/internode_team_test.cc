// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Ranks as threads on simulated nodes: results of each call, with the same bits for every
// algorithm.
#include "runtime/internode/internode_team.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "mail.h"
#include "options.h"
#include "ranks.h"
#include "runtime/context/errors.h"
#include "runtime/internode/node_discovery.h"
#include "runtime/memory/reduction.h"
#include "runtime/memory/types.h"
#include "runtime/node/blocks.h"
#include "runtime/schedules/reduction_tree.h"

namespace huddle::internode {
namespace {

using test::dear_bytes;
using test::dear_messages;
using test::in_pieces;
using test::Mail;
using test::MailEnd;
using test::small_options;
using Keys = std::vector<std::uint64_t>;

constexpr std::size_t scant_team_bytes = std::size_t{8} << 10;

// Layouts: 4 x 2 in blocks and round-robin, uneven, one rank per node, all on one node, several on
// each node.
const std::vector<Keys> layouts = {
    {1, 1, 2, 2, 3, 3, 4, 4},
    {1, 2, 3, 4, 1, 2, 3, 4},
    {1, 1, 1, 2, 3, 3, 4},
    {1, 2, 1, 1, 3, 2},
    {4, 3, 2, 1, 9},
    {7, 7, 7},
    {1, 1, 1, 1, 2, 2, 2, 3, 3, 3, 3, 3},
    {1, 2, 2, 1, 2, 1, 2},
};

std::vector<int> ranks_on(const NodeMap& map, int node) {
  std::vector<int> ranks;
  for (int place = 0; place < map.ranks_on(node); ++place) {
    ranks.push_back(map.rank_at(node, place));
  }
  return ranks;
}

class Teams : public testing::TestWithParam<Keys> {
 protected:
  // Runs function as all ranks of the layout, each with its team.
  template <typename Function>
  void run(const Network& network, const Function& function) {
    const NodeMap map(GetParam());
    Mail mail;
    traffic_ = std::vector<Traffic>(static_cast<std::size_t>(map.ranks()));
    const auto ends = team::run_thread_ranks(map.ranks(), [&](const team::Bootstrap& all) {
      const bool is_scant = map.node_of(all.rank) == 0 && first_node_is_scant_;
      team::Context context(is_scant ? small_options(scant_team_bytes) : small_options());
      Traffic& traffic = traffic_[static_cast<std::size_t>(all.rank)];
      Team::Parts parts{map,     all.rank, nullptr,    std::make_unique<MailEnd>(mail, all.rank),
                        network, &traffic, mpi_times_, {},
                        sharing_};
      const std::vector<int> here = ranks_on(map, map.node_of(all.rank));
      NodeBootstrap node_ranks(*parts.wire, here, map.place_of(all.rank));
      parts.node = std::make_unique<team::Team>(context, node_ranks.bootstrap());
      Team team(std::move(parts));
      function(team, all.rank, mail);
    });
    for (const team::RankEnd& end : ends) EXPECT_EQ(end.how, team::RankEnd::How::fine) << end;
    EXPECT_TRUE(mail.is_empty()) << "messages that nobody received";
  }

  std::uint64_t sent_messages() const {
    std::uint64_t sum = 0;
    for (const Traffic& of_rank : traffic_) sum += of_rank.messages();
    return sum;
  }
  std::uint64_t sent_bytes() const {
    std::uint64_t sum = 0;
    for (const Traffic& of_rank : traffic_) sum += of_rank.bytes();
    return sum;
  }

  std::vector<Traffic> traffic_;  // by rank, of the last run
  MpiTimes mpi_times_;
  std::optional<Sharing> sharing_;
  bool first_node_is_scant_ = false;  // memory for a team, but not for its protocols
};

std::vector<std::byte> bytes_of(int rank, std::size_t count, unsigned seed) {
  std::minstd_rand random(seed * 1000 + static_cast<unsigned>(rank) + 1);
  std::vector<std::byte> bytes(count);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

std::vector<std::byte> blocks_of_all(const Team& team, std::size_t size, unsigned seed) {
  std::vector<std::byte> all;
  for (int rank = 0; rank < team.map().ranks(); ++rank) {
    const auto block = bytes_of(rank, size, seed);
    all.insert(all.end(), block.begin(), block.end());
  }
  return all;
}

constexpr std::size_t sizes[] = {0, 1, 8, 1000, 65'537};

TEST_P(Teams, BcastFromEveryRoot) {
  for (const Network& network : {dear_messages, dear_bytes}) {
    run(network, [](Team& team, int rank, Mail&) {
      for (const std::size_t size : sizes) {
        for (int root = 0; root < team.map().ranks(); ++root) {
          const auto expected = bytes_of(root, size, 1);
          auto data = rank == root ? expected : std::vector<std::byte>(size);
          team.bcast(data.data(), size, root);
          ASSERT_EQ(data, expected) << size << " bytes from " << root;
        }
      }
    });
  }
}

TEST_P(Teams, Allgather) {
  for (const Network& network : {dear_messages, dear_bytes, in_pieces}) {
    run(network, [](Team& team, int rank, Mail&) {
      for (const std::size_t size : sizes) {
        std::vector<std::byte> expected;
        for (int from = 0; from < team.map().ranks(); ++from) {
          const auto block = bytes_of(from, size, 2);
          expected.insert(expected.end(), block.begin(), block.end());
        }
        const auto mine = bytes_of(rank, size, 2);
        std::vector<std::byte> all(expected.size());
        team.allgather(mine.data(), all.data(), size);
        ASSERT_EQ(all, expected) << size;
        std::fill(all.begin(), all.end(), std::byte{0});
        std::byte* const own = all.data() + size * static_cast<std::size_t>(rank);
        if (size > 0) std::memcpy(own, mine.data(), size);
        team.allgather(own, all.data(), size);
        ASSERT_EQ(all, expected) << size << " in place";
      }
    });
  }
}

// Only the root receives a result; in place and out of place.
TEST_P(Teams, Gather) {
  for (const Network& network : {dear_messages, dear_bytes}) {
    run(network, [](Team& team, int rank, Mail&) {
      const auto ranks = static_cast<std::size_t>(team.map().ranks());
      for (const std::size_t size : sizes) {
        const auto expected = blocks_of_all(team, size, 3);
        for (int root = 0; root < team.map().ranks(); ++root) {
          const auto mine = bytes_of(rank, size, 3);
          std::vector<std::byte> all(rank == root ? size * ranks : 0);
          team.gather(mine.data(), all.data(), size, root);
          if (rank == root) {
            ASSERT_EQ(all, expected) << size << " to " << root;
          }
          std::fill(all.begin(), all.end(), std::byte{0});
          std::byte* const own =
              rank == root ? all.data() + size * static_cast<std::size_t>(rank) : nullptr;
          if (rank == root && size > 0) std::memcpy(own, mine.data(), size);
          team.gather(rank == root ? own : mine.data(), all.data(), size, root);
          if (rank == root) {
            ASSERT_EQ(all, expected) << size << " to " << root << " in place";
          }
        }
      }
    });
  }
}

TEST_P(Teams, ScatterFromEveryRoot) {
  for (const Network& network : {dear_messages, dear_bytes}) {
    run(network, [](Team& team, int rank, Mail&) {
      for (const std::size_t size : sizes) {
        for (int root = 0; root < team.map().ranks(); ++root) {
          auto all = rank == root ? blocks_of_all(team, size, 4) : std::vector<std::byte>();
          const auto given = all;
          const auto expected = bytes_of(rank, size, 4);
          std::vector<std::byte> mine(size);
          team.scatter(all.data(), mine.data(), size, root);
          ASSERT_EQ(mine, expected) << size << " from " << root;
          std::byte* const own =
              rank == root ? all.data() + size * static_cast<std::size_t>(rank) : nullptr;
          team.scatter(all.data(), rank == root ? own : mine.data(), size, root);
          ASSERT_EQ(mine, expected) << size << " from " << root << ", in place there";
          ASSERT_EQ(all, given) << "the root's input is only read";
        }
      }
    });
  }
}

TEST_P(Teams, Alltoall) {
  for (const Network& network : {dear_messages, dear_bytes}) {
    run(network, [](Team& team, int rank, Mail&) {
      const int ranks = team.map().ranks();
      for (const std::size_t size : sizes) {
        std::vector<std::byte> given;
        std::vector<std::byte> expected;
        for (int peer = 0; peer < ranks; ++peer) {
          const auto to = bytes_of(rank * ranks + peer, size, 5);
          const auto from = bytes_of(peer * ranks + rank, size, 5);
          given.insert(given.end(), to.begin(), to.end());
          expected.insert(expected.end(), from.begin(), from.end());
        }
        std::vector<std::byte> gotten(given.size());
        team.alltoall(given.data(), gotten.data(), size);
        ASSERT_EQ(gotten, expected) << size;
        team.alltoall(given.data(), given.data(), size);
        ASSERT_EQ(given, expected) << size << " in place";
      }
    });
  }
}

// Fewer messages but more copies. With one rank per node: fewer rounds.
TEST_P(Teams, AlltoallFallsBackIfCopiesCostMoreThanMessages) {
  const NodeMap map(GetParam());
  const bool saves_messages = map.nodes() > 1;
  run(dear_messages, [&](Team& team, int, Mail&) {
    EXPECT_EQ(team.is_mpi_faster(select::Operation::alltoall, 8), !saves_messages);
    EXPECT_TRUE(team.is_mpi_faster(select::Operation::alltoall, std::size_t{1} << 40));
  });
}

// Operations and sizes without measurements do not fall back.
TEST_P(Teams, MeasuredMpiIsACandidate) {
  const auto allreduce = static_cast<std::int64_t>(select::Operation::allreduce);
  mpi_times_ = MpiTimes({{allreduce, 8, 1}, {allreduce, 1 << 20, std::int64_t{1} << 60}});
  run(dear_messages, [](Team& team, int, Mail&) {
    for (int again = 0; again < 2; ++again) {
      EXPECT_EQ(team.is_mpi_faster(select::Operation::allreduce, 8), team.map().nodes() > 1);
      EXPECT_FALSE(team.is_mpi_faster(select::Operation::allreduce, 1 << 20));
      EXPECT_FALSE(team.is_mpi_faster(select::Operation::allreduce, (1 << 20) + 1));
      EXPECT_FALSE(team.is_mpi_faster(select::Operation::bcast, 8));
    }
  });
}

// Blocks of different sizes, some of them empty, in rank order and in reverse order.
TEST_P(Teams, Allgatherv) {
  for (const bool backwards : {false, true}) {
    run(dear_bytes, [&](Team& team, int rank, Mail&) {
      const int ranks = team.map().ranks();
      std::vector<node::Block> blocks(static_cast<std::size_t>(ranks));
      std::ptrdiff_t end = 3;
      for (int i = 0; i < ranks; ++i) {
        const int of = backwards ? ranks - 1 - i : i;
        const auto size = static_cast<std::size_t>(of % 3) * (700 + static_cast<std::size_t>(of));
        blocks[static_cast<std::size_t>(of)] = {end, size};
        end += static_cast<std::ptrdiff_t>(size);
      }
      std::vector<std::byte> expected(static_cast<std::size_t>(end) + 2);
      for (int of = 0; of < ranks; ++of) {
        const node::Block& block = blocks[static_cast<std::size_t>(of)];
        const auto bytes = bytes_of(of, block.bytes, 6);
        std::copy(bytes.begin(), bytes.end(), expected.begin() + block.offset);
      }
      const auto mine = bytes_of(rank, blocks[static_cast<std::size_t>(rank)].bytes, 6);
      std::vector<std::byte> all(expected.size());
      team.allgatherv(mine.data(), all.data(), node::Blocks::listed(blocks));
      ASSERT_EQ(all, expected);
      const std::vector<node::Block> nothing(blocks.size());
      team.allgatherv(mine.data(), all.data(), node::Blocks::listed(nothing));
      ASSERT_EQ(all, expected);
    });
  }
}

// Lays out blocks with gaps, every third of them empty. The block of rank a for rank b is as large
// as that of b for a. Returns the total size.
std::size_t lay_out(int ranks, std::size_t scale, int seed, std::vector<node::Block>& blocks) {
  std::ptrdiff_t end = 1;
  for (int of = 0; of < ranks; ++of) {
    const auto size =
        static_cast<std::size_t>((of + seed) % 3) * (scale + static_cast<unsigned>(of + seed));
    blocks.push_back({end, size});
    end += static_cast<std::ptrdiff_t>(size) + 1;
  }
  return static_cast<std::size_t>(end);
}

constexpr std::size_t scales[] = {1, 300, 40'000};

TEST_P(Teams, Gatherv) {
  run(dear_bytes, [](Team& team, int rank, Mail&) {
    for (const std::size_t scale : scales) {
      for (int root = 0; root < team.map().ranks(); ++root) {
        std::vector<node::Block> blocks;
        std::vector<std::byte> expected(lay_out(team.map().ranks(), scale, root, blocks));
        for (int of = 0; of < team.map().ranks(); ++of) {
          const node::Block& block = blocks[static_cast<std::size_t>(of)];
          std::ranges::copy(bytes_of(of, block.bytes, 8), expected.begin() + block.offset);
        }
        const node::Block own = blocks[static_cast<std::size_t>(rank)];
        const auto mine = bytes_of(rank, own.bytes, 8);
        if (rank != root) {
          team.gatherv(mine.data(), mine.size(), nullptr, {}, root);
          continue;
        }
        std::vector<std::byte> all(expected.size());
        std::ranges::copy(mine, all.begin() + own.offset);
        const std::byte* const input = scale == 1 ? mine.data() : all.data() + own.offset;
        team.gatherv(input, own.bytes, all.data(), node::Blocks::listed(blocks), root);
        ASSERT_EQ(all, expected) << scale << " to " << root;
      }
    }
  });
}

TEST_P(Teams, Scatterv) {
  run(dear_bytes, [](Team& team, int rank, Mail&) {
    for (const std::size_t scale : scales) {
      for (int root = 0; root < team.map().ranks(); ++root) {
        std::vector<node::Block> blocks;
        const auto all = bytes_of(root, lay_out(team.map().ranks(), scale, root, blocks), 9);
        const node::Block own = blocks[static_cast<std::size_t>(rank)];
        std::vector<std::byte> mine(own.bytes);
        const bool is_root = rank == root;
        team.scatterv(is_root ? all.data() : nullptr,
                      is_root ? node::Blocks::listed(blocks) : node::Blocks(), mine.data(),
                      mine.size(), root);
        ASSERT_TRUE(std::equal(mine.begin(), mine.end(), all.begin() + own.offset));
      }
    }
  });
}

// Both ranks of a pair know the sizes of their blocks; in place both directions have the same size.
TEST_P(Teams, Alltoallv) {
  run(dear_bytes, [](Team& team, int rank, Mail&) {
    const int ranks = team.map().ranks();
    for (const std::size_t scale : scales) {
      for (const bool in_place : {false, true}) {
        std::vector<node::Block> outgoing;
        const std::size_t room = lay_out(ranks, scale, rank, outgoing);
        auto given = bytes_of(rank, room, 10);
        std::vector<std::byte> gotten = given;
        for (int from = 0; from < ranks; ++from) {
          std::vector<node::Block> theirs;
          const auto sent = bytes_of(from, lay_out(ranks, scale, from, theirs), 10);
          const node::Block& block = theirs[static_cast<std::size_t>(rank)];
          std::copy_n(sent.begin() + block.offset, block.bytes,
                      gotten.begin() + outgoing[static_cast<std::size_t>(from)].offset);
        }
        const node::Blocks blocks = node::Blocks::listed(outgoing);
        std::vector<std::byte> apart = given;
        std::byte* const output = in_place ? given.data() : apart.data();
        team.alltoallv(given.data(), blocks, output, blocks);
        ASSERT_EQ(in_place ? given : apart, gotten) << scale;
      }
    }
  });
}

// Only the receiver gets the error, as within a node, and the team remains usable.
TEST_P(Teams, TooSmallBufferIsAnErrorOfItsReceiverOnly) {
  run(dear_bytes, [](Team& team, int rank, Mail&) {
    const int last = team.map().ranks() - 1;
    const std::vector<std::byte> mine(100, std::byte{static_cast<unsigned char>(rank)});
    const bool is_root = rank == 0;
    std::vector<node::Block> blocks;
    for (int of = 0; of <= last; ++of) blocks.push_back({of * 100, of == last ? 50U : 100U});
    std::vector<std::byte> all(static_cast<std::size_t>(last + 1) * 100, std::byte{255});
    const node::Blocks listed = is_root ? node::Blocks::listed(blocks) : node::Blocks();
    if (is_root) {
      ASSERT_THROW(team.gatherv(mine.data(), 100, all.data(), listed, 0), context::SizesDiffer);
      ASSERT_EQ(all.back(), std::byte{255}) << "nothing is written behind the room";
      blocks.back().bytes = 100;
    } else {
      team.gatherv(mine.data(), 100, nullptr, listed, 0);
    }
    team.gatherv(mine.data(), 100, all.data(), listed, 0);
    if (is_root) {
      ASSERT_EQ(all.back(), std::byte{static_cast<unsigned char>(last)});
    }
  });
}

TEST_P(Teams, ScansRequireConsecutiveRanks) {
  const memory::Reduction sum = memory::reduction(memory::Type::uint64, memory::Operator::sum);
  run(dear_bytes, [&](Team& team, int rank, Mail&) {
    ASSERT_EQ(team.handles(select::Operation::scan), team.map().is_in_order());
    if (!team.handles(select::Operation::scan)) return;
    for (const std::size_t count : sizes) {
      std::vector<std::uint64_t> mine(count);
      for (std::size_t i = 0; i < count; ++i) mine[i] = i + static_cast<std::uint64_t>(rank);
      const auto before = [&](std::uint64_t ranks, std::uint64_t i) {
        return ranks * i + ranks * (ranks - 1) / 2;
      };
      std::vector<std::uint64_t> result(count, 9);
      team.scan(mine.data(), result.data(), count, sum);
      std::vector<std::uint64_t> in_place = mine;
      team.scan(in_place.data(), in_place.data(), count, sum);
      std::vector<std::uint64_t> without(count, 9);
      team.exscan(mine.data(), without.data(), count, sum);
      const auto number = static_cast<std::uint64_t>(rank);
      for (std::size_t i = 0; i < count; ++i) {
        ASSERT_EQ(result[i], before(number + 1, i));
        ASSERT_EQ(without[i], rank == 0 ? 9 : before(number, i));
      }
      ASSERT_EQ(in_place, result);
    }
  });
}

// Operations by pairs gain only inside a node.
TEST_P(Teams, PairwiseOperationsRequireASharedNode) {
  run(dear_bytes, [](Team& team, int, Mail&) {
    EXPECT_EQ(team.handles(select::Operation::alltoallv), team.map().most_ranks_on_a_node() > 1);
    EXPECT_TRUE(team.handles(select::Operation::bcast));
  });
}

TEST_P(Teams, AllreduceOfIntegers) {
  const memory::Reduction sum = memory::reduction(memory::Type::uint64, memory::Operator::sum);
  run(dear_bytes, [&](Team& team, int rank, Mail&) {
    const auto ranks = static_cast<std::uint64_t>(team.map().ranks());
    for (const std::size_t count : sizes) {
      std::vector<std::uint64_t> mine(count);
      std::vector<std::uint64_t> result(count, 9);
      for (std::size_t i = 0; i < count; ++i) mine[i] = i * static_cast<std::uint64_t>(rank) + 1;
      team.allreduce(mine.data(), result.data(), count, sum);
      team.allreduce(mine.data(), mine.data(), count, sum);
      for (std::size_t i = 0; i < count; ++i) {
        ASSERT_EQ(result[i], i * (ranks * (ranks - 1) / 2) + ranks);
      }
      ASSERT_EQ(mine, result) << "in place";
    }
  });
}

std::vector<float> team_floats(int rank, std::size_t count) {
  std::minstd_rand random(77 + static_cast<unsigned>(rank));
  std::uniform_real_distribution<float> values(-1e3F, 1e3F);
  std::vector<float> numbers(count);
  for (float& number : numbers) number = values(random);
  return numbers;
}

std::vector<std::uint32_t> bits_of(const std::vector<float>& numbers) {
  std::vector<std::uint32_t> bits(numbers.size());
  std::transform(numbers.begin(), numbers.end(), bits.begin(),
                 [](float number) { return std::bit_cast<std::uint32_t>(number); });
  return bits;
}

constexpr Sharing sharings[] = {{1, 1}, {2, 1}, {3, 1}, {1, 3}, {2, 4}, {3, 2}};

std::string words(const Sharing& sharing) {
  return " by " + std::to_string(sharing.leaders) + " leaders in " +
         std::to_string(sharing.segments) + " segments";
}

// The order of reduction is that of docs/design/reductions-and-reproducible-order.md in each node,
// and that of runtime/schedules/reduction_tree.h between nodes.
TEST_P(Teams, AllreduceBitsDoNotDependOnNetwork) {
  const memory::Reduction sum = memory::reduction(memory::Type::float32, memory::Operator::sum);
  constexpr std::size_t count = 5000;
  std::mutex mutex;
  std::vector<std::vector<float>> results;
  for (const Network& network : {dear_messages, dear_bytes, in_pieces}) {
    run(network, [&](Team& team, int rank, Mail&) {
      const std::vector<float> mine = team_floats(rank, count);
      std::vector<float> result(count);
      team.allreduce(mine.data(), result.data(), count, sum);
      const std::lock_guard lock(mutex);
      results.push_back(result);
    });
  }
  for (const auto& result : results) {
    ASSERT_EQ(bits_of(result), bits_of(results.front()));
  }
}

// A reduce gives the bits of an allreduce on any root.
TEST_P(Teams, ReduceBitsDoNotDependOnRoot) {
  const memory::Reduction sum = memory::reduction(memory::Type::float32, memory::Operator::sum);
  for (const Network& network : {dear_messages, dear_bytes}) {
    run(network, [&](Team& team, int rank, Mail&) {
      for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{5000}}) {
        const std::vector<float> mine = team_floats(rank, count);
        std::vector<float> expected(count);
        team.allreduce(mine.data(), expected.data(), count, sum);
        for (int root = 0; root < team.map().ranks(); ++root) {
          std::vector<float> result(rank == root ? count : 0);
          team.reduce(mine.data(), result.data(), count, sum, root);
          auto in_place = mine;
          team.reduce(in_place.data(), in_place.data(), count, sum, root);
          if (rank != root || count == 0) continue;
          ASSERT_EQ(std::memcmp(result.data(), expected.data(), count * sizeof(float)), 0) << root;
          ASSERT_EQ(in_place, result) << "in place at " << root;
        }
      }
    });
  }
}

TEST_P(Teams, ReduceScatterBitsMatchAllreduce) {
  const memory::Reduction sum = memory::reduction(memory::Type::float32, memory::Operator::sum);
  for (const Network& network : {dear_messages, dear_bytes}) {
    run(network, [&](Team& team, int rank, Mail&) {
      std::vector<node::Block> blocks;
      std::ptrdiff_t count = 0;
      for (int of = 0; of < team.map().ranks(); ++of) {
        blocks.push_back({count, static_cast<std::size_t>(of * 37 % 5) * 211});
        count += static_cast<std::ptrdiff_t>(blocks.back().bytes);
      }
      const node::Block own = blocks[static_cast<std::size_t>(rank)];
      auto mine = team_floats(rank, static_cast<std::size_t>(count));
      std::vector<float> expected(mine.size());
      std::vector<float> result(own.bytes, 9.0F);
      team.allreduce(mine.data(), expected.data(), mine.size(), sum);
      team.reduce_scatter(mine.data(), result.data(), node::Blocks::listed(blocks), sum);
      const auto* const wanted = expected.data() + own.offset;
      ASSERT_TRUE(std::equal(result.begin(), result.end(), wanted));
      team.reduce_scatter(mine.data(), mine.data(), node::Blocks::listed(blocks), sum);
      ASSERT_TRUE(std::equal(result.begin(), result.end(), mine.begin())) << "in place";
    });
  }
}

// Slices are disjoint, and the elements of each are reduced in the same order.
TEST_P(Teams, AllreduceBitsDoNotDependOnSharing) {
  const memory::Reduction sum = memory::reduction(memory::Type::float32, memory::Operator::sum);
  std::vector<float> expected;
  std::mutex mutex;
  const auto compare = [&](const Network& network) {
    run(network, [&](Team& team, int rank, Mail&) {
      std::vector<float> all;
      for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{12'000}}) {
        std::vector<float> mine = team_floats(rank, count);
        std::vector<float> result(count);
        team.allreduce(mine.data(), result.data(), count, sum);
        ASSERT_EQ(bits_of(mine), bits_of(team_floats(rank, count))) << "the input is only read";
        team.allreduce(mine.data(), mine.data(), count, sum);
        ASSERT_EQ(bits_of(mine), bits_of(result)) << "in place";
        all.insert(all.end(), result.begin(), result.end());
      }
      const std::lock_guard lock(mutex);
      if (expected.empty()) expected = all;
      ASSERT_EQ(bits_of(all), bits_of(expected)) << words(*sharing_);
    });
  };
  for (const Sharing& sharing : sharings) {
    sharing_ = sharing;
    first_node_is_scant_ = false;
    compare(dear_messages);
    compare(dear_bytes);
    first_node_is_scant_ = true;
    compare(in_pieces);
  }
}

TEST_P(Teams, BcastWorksWithAnySharing) {
  for (const Sharing& sharing : sharings) {
    sharing_ = sharing;
    first_node_is_scant_ = sharing.leaders == 2;
    run(dear_bytes, [&](Team& team, int rank, Mail&) {
      for (const std::size_t size : {std::size_t{1}, std::size_t{65'537}}) {
        for (int root = 0; root < team.map().ranks(); ++root) {
          const auto expected = bytes_of(root, size, 11);
          auto data = rank == root ? expected : std::vector<std::byte>(size);
          team.bcast(data.data(), size, root);
          ASSERT_EQ(data, expected) << size << " bytes from " << root << words(sharing);
        }
      }
    });
  }
}

// In an allreduce each leader sends its share of the bytes that a single leader would send, and
// other ranks send nothing.
TEST_P(Teams, LeadersShareTheTraffic) {
  const memory::Reduction sum = memory::reduction(memory::Type::float32, memory::Operator::sum);
  const NodeMap map(GetParam());
  constexpr std::size_t count = 21'600;  // all slices have the same size
  const auto allreduce = [&](Team& team, int rank, Mail&) {
    std::vector<float> mine = team_floats(rank, count);
    team.allreduce(mine.data(), mine.data(), count, sum);
  };
  sharing_ = Sharing{1};
  run(dear_bytes, allreduce);
  const std::vector<Traffic> by_one = std::move(traffic_);
  const int most = Leaders::most(map);
  for (int count_of_leaders = 2; count_of_leaders <= most; ++count_of_leaders) {
    sharing_ = Sharing{count_of_leaders, count_of_leaders};
    const Leaders leaders(map, count_of_leaders);
    run(dear_bytes, allreduce);
    for (int rank = 0; rank < map.ranks(); ++rank) {
      const int node = map.node_of(rank);
      const std::uint64_t by_one_there =
          by_one[static_cast<std::size_t>(map.rank_at(node, 0))].bytes();
      const bool leads = leaders.at(node, map.place_of(rank)) >= 0;
      EXPECT_EQ(traffic_[static_cast<std::size_t>(rank)].bytes(),
                leads ? by_one_there / static_cast<unsigned>(count_of_leaders) : 0)
          << "rank " << rank << " of " << count_of_leaders << " leaders a node";
    }
  }
}

// Concatenation, whose result shows the order of ranks.
TEST_P(Teams, ReducesInRankOrderOrNotAtAll) {
  struct Row {
    int first, last;
    bool broken;
  };
  memory::Reduction append;
  append.element_bytes = sizeof(Row);
  append.commutative = false;
  append.combine = [](void* to, const void* left, const void* right, std::size_t count, void*) {
    for (std::size_t i = 0; i < count; ++i) {
      const Row& a = static_cast<const Row*>(left)[i];
      const Row& b = static_cast<const Row*>(right)[i];
      static_cast<Row*>(to)[i] = {a.first, b.last, a.broken || b.broken || a.last + 1 != b.first};
    }
  };
  for (const Sharing& sharing : sharings) {
    sharing_ = sharing;
    run(dear_bytes, [&](Team& team, int rank, Mail&) {
      ASSERT_EQ(team.can_reduce(append), team.map().is_in_order());
      if (!team.can_reduce(append)) return;
      std::vector<Row> rows(100, Row{rank, rank, false});
      team.allreduce(rows.data(), rows.data(), rows.size(), append);
      for (const Row& row : rows) {
        ASSERT_FALSE(row.broken);
        ASSERT_EQ(row.first, 0);
        ASSERT_EQ(row.last, team.map().ranks() - 1);
      }
    });
  }
}

TEST_P(Teams, BarrierWaitsForAllRanks) {
  std::atomic<int> come{0};
  run(dear_messages, [&](Team& team, int, Mail&) {
    for (int times = 1; times <= 20; ++times) {
      come.fetch_add(1);
      team.barrier();
      ASSERT_GE(come.load(), times * team.map().ranks());
    }
  });
}

TEST_P(Teams, CutsMessagesIntoPieces) {
  run(in_pieces, [](Team& team, int, Mail&) {
    std::vector<std::byte> data(3000);
    team.bcast(data.data(), data.size(), 0);
  });
  const auto others = static_cast<unsigned>(NodeMap(GetParam()).nodes() - 1);
  EXPECT_GE(sent_messages(), 10U * others);
}

TEST_P(Teams, CountsTrafficToOtherNodes) {
  run(dear_bytes, [](Team& team, int, Mail&) {
    std::vector<std::byte> data(1000);
    team.bcast(data.data(), data.size(), 0);
  });
  const NodeMap map(GetParam());
  EXPECT_EQ(sent_bytes() >= 1000U * static_cast<unsigned>(map.nodes() - 1), true);
  EXPECT_EQ(sent_bytes() == 0, map.nodes() == 1);
}

// If a rank cannot send, no rank of its node is left waiting, and the team becomes unusable.
TEST_P(Teams, CutWireIsReportedOnTheWholeNode) {
  if (NodeMap(GetParam()).nodes() == 1) return;
  std::atomic<int> ready{0};
  run(dear_messages, [&](Team& team, int rank, Mail& mail) {
    team.barrier();
    ready.fetch_add(1);
    while (ready.load() < team.map().ranks()) std::this_thread::yield();
    if (rank == 0) mail.cut();
    ready.fetch_add(1);
    while (ready.load() < 2 * team.map().ranks()) std::this_thread::yield();
    EXPECT_THROW(team.barrier(), context::PeerLost);
    EXPECT_THROW(team.barrier(), context::PeerLost);
    mail.clear();
  });
}

// The same between segments, while one is sent between nodes and the node works on another.
TEST_P(Teams, CutWireBetweenSegmentsIsReportedOnTheWholeNode) {
  if (NodeMap(GetParam()).nodes() == 1) return;
  const memory::Reduction sum = memory::reduction(memory::Type::float32, memory::Operator::sum);
  for (const Sharing& sharing : {Sharing{1, 3}, Sharing{2, 4}}) {
    sharing_ = sharing;
    std::atomic<int> ready{0};
    run(dear_messages, [&](Team& team, int rank, Mail& mail) {
      std::vector<float> data = team_floats(rank, 5000);
      team.allreduce(data.data(), data.data(), data.size(), sum);
      ready.fetch_add(1);
      while (ready.load() < team.map().ranks()) std::this_thread::yield();
      if (rank == 0) mail.cut();
      ready.fetch_add(1);
      while (ready.load() < 2 * team.map().ranks()) std::this_thread::yield();
      EXPECT_THROW(team.allreduce(data.data(), data.data(), data.size(), sum), context::PeerLost);
      EXPECT_THROW(team.barrier(), context::PeerLost);
      mail.clear();
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Layouts, Teams, testing::ValuesIn(layouts));

}  // namespace
}  // namespace huddle::internode
