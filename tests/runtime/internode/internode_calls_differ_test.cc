// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Ranks on several nodes that call collectives with different sizes, roots or operations: every
// rank gets an error, and no rank hangs, writes beyond its buffers, or gets wrong data.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "guarded_bytes.h"
#include "mail.h"
#include "options.h"
#include "ranks.h"
#include "runtime/context/errors.h"
#include "runtime/internode/internode_team.h"
#include "runtime/internode/node_discovery.h"
#include "runtime/memory/reduction.h"
#include "runtime/memory/types.h"
#include "runtime/node/blocks.h"

namespace huddle::internode {
namespace {

using select::Operation;
using test::dear_bytes;
using test::dear_messages;
using test::in_pieces;
using test::Mail;
using test::MailEnd;
using test::small_options;
using Keys = std::vector<std::uint64_t>;
using Clock = std::chrono::steady_clock;

// The arguments of one rank.
struct Arguments {
  Operation operation = Operation::bcast;
  std::size_t bytes = 0;  // a multiple of 4; the size of a block if the operation moves blocks
  int root = 0;
};

void expect_words(const team::GuardedBytes& bytes, std::size_t count, std::uint32_t word,
                  const char* what) {
  const std::span words(reinterpret_cast<const std::uint32_t*>(bytes.data()), count);
  EXPECT_EQ(std::ranges::count(words, word), static_cast<std::ptrdiff_t>(count)) << what;
}

void fill(const team::GuardedBytes& bytes, std::size_t count, std::uint32_t word) {
  std::fill_n(reinterpret_cast<std::uint32_t*>(bytes.data()), count, word);
}

// Makes a call in which every word that a rank contributes is `word`. If it returns without an
// error, its results have to be right.
void call(Team& team, int rank, const Arguments& arguments, std::uint32_t word) {
  const memory::Reduction sum = memory::reduction(memory::Type::uint32, memory::Operator::sum);
  const auto ranks = static_cast<std::uint32_t>(team.map().ranks());
  const std::size_t bytes = arguments.bytes;
  const std::size_t count = bytes / sizeof(std::uint32_t);
  const int root = arguments.root;
  const bool is_root = rank == root;
  const team::GuardedBytes block(bytes);
  const team::GuardedBytes result(bytes);
  const team::GuardedBytes all_in(bytes * ranks);
  const team::GuardedBytes all_out(bytes * ranks);
  const node::Blocks blocks = node::Blocks::even(bytes);
  if (arguments.operation != Operation::bcast || is_root) fill(block, count, word);
  fill(all_in, count * ranks, word);
  switch (arguments.operation) {
    case Operation::barrier:
      return team.barrier();
    case Operation::bcast:
      team.bcast(block.data(), bytes, root);
      return expect_words(block, count, word, "bcast");
    case Operation::reduce:
      team.reduce(block.data(), result.data(), count, sum, root);
      if (is_root) expect_words(result, count, ranks * word, "reduce");
      return;
    case Operation::allreduce:
      team.allreduce(block.data(), result.data(), count, sum);
      return expect_words(result, count, ranks * word, "allreduce");
    case Operation::allgather:
      team.allgather(block.data(), all_out.data(), bytes);
      return expect_words(all_out, count * ranks, word, "allgather");
    case Operation::allgatherv:
      team.allgatherv(block.data(), all_out.data(), blocks);
      return expect_words(all_out, count * ranks, word, "allgatherv");
    case Operation::alltoall:
      team.alltoall(all_in.data(), all_out.data(), bytes);
      return expect_words(all_out, count * ranks, word, "alltoall");
    case Operation::gather:
      team.gather(block.data(), all_out.data(), bytes, root);
      if (is_root) expect_words(all_out, count * ranks, word, "gather");
      return;
    case Operation::scatter:
      team.scatter(all_in.data(), result.data(), bytes, root);
      return expect_words(result, count, word, "scatter");
    case Operation::reduce_scatter:
    case Operation::reduce_scatter_block:
      team.reduce_scatter(all_in.data(), result.data(), node::Blocks::even(count), sum);
      return expect_words(result, count, ranks * word, "reduce_scatter");
    case Operation::scan:
      team.scan(block.data(), result.data(), count, sum);
      return expect_words(result, count, static_cast<std::uint32_t>(rank + 1) * word, "scan");
    case Operation::exscan:
      team.exscan(block.data(), result.data(), count, sum);
      if (rank > 0) expect_words(result, count, static_cast<std::uint32_t>(rank) * word, "exscan");
      return;
    case Operation::alltoallv:
    case Operation::alltoallw:
    case Operation::gatherv:
    case Operation::scatterv:
      return;
  }
}

enum class Outcome { success, calls_differ, peer_lost };

Outcome outcome_of(Team& team, int rank, const Arguments& arguments, std::uint32_t word,
                   std::string& text) {
  try {
    call(team, rank, arguments, word);
    return Outcome::success;
  } catch (const context::CallsDiffer& error) {
    text = error.what();
    return Outcome::calls_differ;
  } catch (const context::PeerLost& error) {
    text = error.what();
    return Outcome::peer_lost;
  }
}

// The network between the nodes, and how many leaders share the data.
struct Crossing {
  Network network;
  std::optional<Sharing> sharing = {};
};
const std::vector<Crossing> crossings = {
    {dear_messages},
    {dear_bytes},
    {in_pieces},
    {dear_bytes, Sharing{1, 3}},
    {dear_bytes, Sharing{2, 2}},
};

// Cuts the wire if the ranks have not ended in time.
class Deadline {
 public:
  Deadline(Mail& mail, std::chrono::seconds limit)
      : thread_([this, &mail, end = Clock::now() + limit] {
          std::unique_lock lock(mutex_);
          is_cut_ = !is_over_changed_.wait_until(lock, end, [this] { return is_over_; });
          if (is_cut_) mail.cut();
        }) {}
  ~Deadline() {
    {
      const std::lock_guard lock(mutex_);
      is_over_ = true;
    }
    is_over_changed_.notify_one();
    thread_.join();
  }
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;
  bool has_cut() const { return is_cut_; }

 private:
  std::mutex mutex_;
  std::condition_variable is_over_changed_;
  bool is_over_ = false;  // guarded by mutex_
  std::atomic<bool> is_cut_{false};
  std::thread thread_;
};

constexpr std::chrono::seconds deadline{5};
// An error reaches all ranks within a second. The rest allows for a busy machine.
constexpr std::chrono::milliseconds most_time{2000};

using ByRank = std::vector<Arguments>;

// Runs function as all ranks of the layout, each with its team.
template <typename Function>
void run(const Keys& keys, const Crossing& crossing, const Function& function) {
  const NodeMap map(keys);
  Mail mail;
  const Deadline limit(mail, deadline);
  const auto ends = team::run_thread_ranks(map.ranks(), [&](const team::Bootstrap& all) {
    team::Context context(small_options());
    Team::Parts parts{map,
                      all.rank,
                      nullptr,
                      std::make_unique<MailEnd>(mail, all.rank),
                      crossing.network,
                      nullptr,
                      {},
                      {},
                      crossing.sharing};
    const int node = map.node_of(all.rank);
    std::vector<int> here;
    for (int place = 0; place < map.ranks_on(node); ++place)
      here.push_back(map.rank_at(node, place));
    NodeBootstrap node_ranks(*parts.wire, here, map.place_of(all.rank));
    parts.node = std::make_unique<team::Team>(context, node_ranks.bootstrap());
    Team team(std::move(parts));
    function(team, all);
  });
  for (const team::RankEnd& end : ends) EXPECT_EQ(end.how, team::RankEnd::How::fine) << end;
  EXPECT_FALSE(limit.has_cut()) << "ranks hang";
}

// Ranks repeat the call, because a root that only sends detects the error later than the others.
void expect_error_everywhere(const Keys& keys, const Crossing& crossing, const ByRank& by_rank,
                             const std::string& what) {
  SCOPED_TRACE(what);
  std::vector<Outcome> outcomes(by_rank.size(), Outcome::success);
  std::vector<std::string> texts(by_rank.size());
  std::vector<Clock::time_point> ends(by_rank.size());
  run(keys, crossing, [&](Team& team, const team::Bootstrap& all) {
    const auto rank = static_cast<std::size_t>(all.rank);
    std::uint32_t word = 1;
    for (const std::size_t bytes : {std::size_t{8}, std::size_t{4096}}) {
      call(team, all.rank, {by_rank[0].operation, bytes, 0}, word++);
    }
    team::gather(all, all.rank);  // an error of a rank ahead may end a call that is correct
    const auto end = Clock::now() + most_time;
    while (outcomes[rank] == Outcome::success && Clock::now() < end) {
      outcomes[rank] = outcome_of(team, all.rank, by_rank[rank], word++, texts[rank]);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    ends[rank] = Clock::now();
    std::string later;
    if (outcomes[rank] != Outcome::success) {
      EXPECT_EQ(outcome_of(team, all.rank, {Operation::allreduce, 8}, word, later),
                Outcome::peer_lost);
    }
  });
  for (std::size_t rank = 0; rank < by_rank.size(); ++rank) {
    EXPECT_NE(outcomes[rank], Outcome::success) << "rank " << rank;
    EXPECT_EQ(texts[rank].find("wire is cut"), std::string::npos) << "rank " << rank << " hangs";
  }
  EXPECT_TRUE(std::ranges::count(outcomes, Outcome::calls_differ) > 0);
  const auto [first, last] = std::ranges::minmax_element(ends);
  EXPECT_LT(*last - *first, most_time);
}

// Returns whether no rank waits for the last one, so that none sees that it moves no data. The MPI
// returns no error either.
bool is_last_only_receiving(Operation operation) {
  return operation == Operation::bcast || operation == Operation::scatter ||
         operation == Operation::scan || operation == Operation::exscan;
}

class DifferentSizes : public testing::TestWithParam<Operation> {};

TEST_P(DifferentSizes, FailOnEveryRank) {
  const bool needs_order = GetParam() == Operation::scan || GetParam() == Operation::exscan;
  const std::vector<Keys> layouts = {
      {1, 2, 3, 4},
      {1, 1, 2, 2, 3, 3},
      needs_order ? Keys{1, 1, 2, 2, 2} : Keys{1, 2, 1, 2, 2},
  };
  constexpr std::array<std::pair<std::size_t, std::size_t>, 5> sizes = {
      {{8, 12}, {1000, 3000}, {8, 4000}, {100, 100'000}, {0, 64}}};
  std::size_t number = 0;
  for (const auto& [some, other] : sizes) {
    for (const bool is_first_odd : {true, false}) {
      for (const bool is_odd_short : {true, false}) {
        const Keys& keys = layouts[number % layouts.size()];
        const Crossing& crossing = crossings[number % crossings.size()];
        ++number;
        if (some == 0 && !is_first_odd && is_odd_short && is_last_only_receiving(GetParam())) {
          continue;
        }
        ByRank by_rank(keys.size(), {GetParam(), is_odd_short ? other : some, 0});
        by_rank[is_first_odd ? 0 : keys.size() - 1].bytes = is_odd_short ? some : other;
        expect_error_everywhere(
            keys, crossing, by_rank,
            std::to_string(some) + " and " + std::to_string(other) + " bytes on " +
                std::to_string(keys.size()) + " ranks, " + (is_first_odd ? "first " : "last ") +
                (is_odd_short ? "short" : "long") + ", case " + std::to_string(number));
        if (HasFailure()) return;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(EveryOperation, DifferentSizes,
                         testing::Values(Operation::bcast, Operation::reduce, Operation::allreduce,
                                         Operation::allgather, Operation::allgatherv,
                                         Operation::alltoall, Operation::gather, Operation::scatter,
                                         Operation::reduce_scatter, Operation::scan,
                                         Operation::exscan),
                         [](const auto& one) { return std::string(select::name(one.param)); });

}  // namespace
}  // namespace huddle::internode
