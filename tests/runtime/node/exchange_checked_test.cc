// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Model-checks the exchanges with blocks of any sizes between all ranks.
#include "checked.h"
#include "runtime/node/doubling_exchange.h"
#include "runtime/node/pair_exchange.h"
#include "runtime/node/rooted_exchange.h"
#include "runtime/node/slot_exchange.h"

namespace huddle::node::test {
namespace {

// Sizes of one call's blocks: bytes[from][to].
using Matrix = std::vector<std::vector<std::size_t>>;

constexpr std::size_t sum_of(const std::vector<std::size_t>& parts) {
  std::size_t sum = 0;
  for (const std::size_t part : parts) sum += part;
  return sum;
}

std::byte value(std::size_t call, std::size_t from, std::size_t to, std::size_t i) {
  return static_cast<std::byte>(1 + 61 * call + 17 * from + 5 * to + i);
}

Bytes message(const Matrix& matrix, std::size_t call, std::size_t from, std::size_t to) {
  Bytes bytes(matrix[from][to]);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = value(call, from, to, i);
  return bytes;
}

void append(Bytes& all, const Bytes& part) { all.insert(all.end(), part.begin(), part.end()); }

// Returns contiguous blocks of these sizes.
std::vector<Block> packed(const std::vector<std::size_t>& bytes) {
  std::vector<Block> blocks;
  std::ptrdiff_t offset = 0;
  for (const std::size_t n : bytes) {
    blocks.push_back({offset, n});
    offset += static_cast<std::ptrdiff_t>(n);
  }
  return blocks;
}

std::vector<std::size_t> column(const Matrix& matrix, std::size_t to) {
  std::vector<std::size_t> bytes;
  for (const auto& row : matrix) bytes.push_back(row[to]);
  return bytes;
}

Script alltoall_script(const std::vector<Matrix>& calls) {
  std::size_t window = 1;
  for (const Matrix& matrix : calls) {
    for (std::size_t rank = 0; rank < matrix.size(); ++rank) {
      window = std::max({window, sum_of(matrix[rank]), sum_of(column(matrix, rank))});
    }
  }
  return {calls.size(), window,
          [=](int rank, std::size_t call) {
            Bytes all;
            const auto from = static_cast<std::size_t>(rank);
            for (std::size_t to = 0; to < calls[call].size(); ++to) {
              append(all, message(calls[call], call, from, to));
            }
            return all;
          },
          [=](int rank, std::size_t call) {
            Bytes all;
            const auto to = static_cast<std::size_t>(rank);
            for (std::size_t from = 0; from < calls[call].size(); ++from) {
              append(all, message(calls[call], call, from, to));
            }
            return all;
          }};
}

// The copy method of each call: always the same, or several in turn.
class Manners {
 public:
  Manners(memory::CopyMethod always) : in_turn_{always} {}
  Manners(memory::CopyKernel always) : Manners(memory::CopyMethod(always)) {}
  Manners(std::initializer_list<memory::CopyMethod> in_turn) : in_turn_(in_turn) {}

  memory::CopyMethod of(std::size_t call) const { return in_turn_[call % in_turn_.size()]; }

 private:
  std::vector<memory::CopyMethod> in_turn_;
};

// Tiles that share the cache line of their flag, with two lines; and larger tiles, with two cells
// and more lines.
constexpr PairExchange::Parameters in_lines{4, 2, 2};
constexpr PairExchange::Parameters in_cells{50, 2, 4};

Job pairs_job(const std::vector<Matrix>& calls, PairExchange::Order order,
              const PairExchange::Parameters& parameters = in_lines,
              const Manners& manners = memory::CopyKernel::nontemporal,
              memory::CopyKernel results = memory::CopyKernel::plain) {
  const int ranks = static_cast<int>(calls.front().size());
  return job_of(
      ranks, alltoall_script(calls),
      [=](int) { return PairExchange(parameters, ranks, just_below_wrap); },
      [=](PairExchange& protocol, CheckedContext& ctx, std::size_t call) {
        const auto rank = static_cast<std::size_t>(ctx.rank());
        const auto outgoing = packed(calls[call][rank]);
        const auto incoming = packed(column(calls[call], rank));
        protocol.run(ctx, Blocks::listed(outgoing), Blocks::listed(incoming), false,
                     {parameters.tile_bytes, order, manners.of(call), results});
      });
}

Matrix even(std::size_t ranks, std::size_t bytes) {
  return Matrix(ranks, std::vector<std::size_t>(ranks, bytes));
}

// All blocks are for one rank, or come from one rank.
Matrix gathered(std::size_t ranks, std::size_t root, std::size_t bytes) {
  Matrix matrix(ranks, std::vector<std::size_t>(ranks, 0));
  for (auto& row : matrix) row[root] = bytes;
  return matrix;
}
Matrix scattered(std::size_t ranks, std::size_t root, std::size_t bytes) {
  Matrix matrix(ranks, std::vector<std::size_t>(ranks, 0));
  matrix[root] = std::vector<std::size_t>(ranks, bytes);
  return matrix;
}

constexpr PairExchange::Order pair_orders[] = {
    PairExchange::Order::paired, PairExchange::Order::staggered, PairExchange::Order::as_ready};

TEST(ExchangeChecked, PairsInEveryOrder) {
  for (const auto order : pair_orders) {
    EXPECT_TRUE(passes(pairs_job({even(2, 13), even(2, 3)}, order)));
    EXPECT_TRUE(passes(pairs_job({gathered(3, 1, 13), scattered(3, 1, 13)}, order)));
    EXPECT_TRUE(passes(pairs_job({even(3, 5), {{2, 9, 0}, {1, 0, 7}, {0, 4, 3}}}, order)));
    EXPECT_TRUE(passes(pairs_job({even(2, 9), even(2, 3), even(2, 4)}, order)));
    EXPECT_TRUE(passes(pairs_job({{{1, 12}, {0, 2}}, {{0, 0}, {13, 0}}, even(2, 5)}, order)));
    EXPECT_TRUE(passes(pairs_job({gathered(3, 1, 9), scattered(3, 1, 6), even(3, 2)}, order)));
    EXPECT_TRUE(passes(pairs_job({even(4, 3)}, order)));
    EXPECT_TRUE(passes(pairs_job({even(2, 250), even(2, 3), even(2, 60)}, order, in_cells)));
    EXPECT_TRUE(passes(pairs_job({even(3, 110), even(3, 51)}, order, in_cells)));
  }
}

// Blocks that fit behind a flag, in all calls and on all ranks, or only in some.
TEST(ExchangeChecked, PairsWithShortBlocksInEveryOrder) {
  for (const auto order : pair_orders) {
    EXPECT_TRUE(passes(pairs_job({even(2, 3), even(2, 4), even(2, 2), even(2, 4)}, order)));
    EXPECT_TRUE(passes(pairs_job({even(3, 3), gathered(3, 1, 4), scattered(3, 2, 2)}, order)));
    EXPECT_TRUE(
        passes(pairs_job({gathered(3, 1, 4), gathered(3, 1, 4), gathered(3, 1, 4)}, order)));
    EXPECT_TRUE(passes(pairs_job({{{0, 3, 9}, {2, 0, 4}, {13, 4, 1}}, even(3, 4)}, order)));
    EXPECT_TRUE(passes(pairs_job({even(2, 48), even(2, 130), even(2, 48)}, order, in_cells)));
    EXPECT_TRUE(
        passes(pairs_job({{{0, 48, 110}, {8, 0, 8}, {48, 3, 0}}, even(3, 8)}, order, in_cells)));
  }
  EXPECT_TRUE(passes(pairs_job({even(2, 60), even(2, 8), even(2, 60)}, PairExchange::Order::paired,
                               in_cells, {memory::by_ping_pong, memory::CopyKernel::plain})));
}

TEST(ExchangeChecked, PairsTakingOwnershipInEveryOrder) {
  for (const auto order : pair_orders) {
    EXPECT_TRUE(passes(pairs_job({even(2, 250), even(2, 3), even(2, 60)}, order, in_cells,
                                 memory::by_reader_ownership)));
    EXPECT_TRUE(passes(
        pairs_job({even(3, 110), even(3, 51)}, order, in_cells, memory::by_reader_ownership)));
  }
}

TEST(ExchangeChecked, PairsInterleavingPagesInEveryOrder) {
  for (const auto order : pair_orders) {
    EXPECT_TRUE(passes(
        pairs_job({even(2, 250), even(2, 3)}, order, in_cells, memory::by_interleaved_pages)));
  }
  EXPECT_TRUE(
      passes(pairs_job({even(2, 250), even(2, 3), even(2, 60)}, PairExchange::Order::paired,
                       in_cells, {memory::by_ping_pong_pages, memory::by_interleaved_pages})));
}

TEST(ExchangeChecked, PairsPrefetchingInEveryOrder) {
  for (const auto order : {PairExchange::Order::staggered, PairExchange::Order::as_ready}) {
    for (memory::CopyMethod method : {memory::by_prefetch, memory::by_prefetch_pages}) {
      EXPECT_TRUE(passes(pairs_job({gathered(3, 1, 60), scattered(3, 1, 110), even(3, 51)}, order,
                                   in_cells, method)));
    }
  }
}

constexpr PairExchange::Order mutual_orders[] = {PairExchange::Order::paired,
                                                 PairExchange::Order::as_ready};

// Ping-pong cells in every call or in every other one; with enough lines for the cells of both
// ranks and with fewer; and with one rank that sends more than the other.
TEST(ExchangeChecked, PairsWithPingPongCellsInEveryOrder) {
  const Manners to_and_fro = memory::by_ping_pong;
  const Manners now_and_then = {memory::by_ping_pong, memory::CopyKernel::plain};
  constexpr PairExchange::Parameters few_lines{50, 2, 2};
  for (const auto order : mutual_orders) {
    EXPECT_TRUE(
        passes(pairs_job({even(2, 250), even(2, 3), even(2, 60)}, order, in_cells, to_and_fro)));
    EXPECT_TRUE(passes(
        pairs_job({even(2, 210), even(2, 60), even(2, 160)}, order, in_cells, now_and_then)));
    EXPECT_TRUE(passes(pairs_job({even(2, 260), even(2, 130)}, order, few_lines, to_and_fro)));
    EXPECT_TRUE(passes(pairs_job({even(2, 22), even(2, 5)}, order, in_lines, to_and_fro)));
    EXPECT_TRUE(passes(pairs_job({{{0, 60}, {260, 0}}, even(2, 110), {{0, 160}, {0, 0}}}, order,
                                 in_cells, to_and_fro)));
    EXPECT_TRUE(passes(pairs_job({even(3, 110), even(3, 51)}, order, in_cells, to_and_fro)));
  }
}

TEST(ExchangeChecked, PairsWithNontemporalResults) {
  constexpr auto past = memory::CopyKernel::nontemporal;
  for (const auto order : pair_orders) {
    for (memory::CopyMethod method : {memory::CopyMethod(), memory::by_reader_ownership}) {
      EXPECT_TRUE(passes(pairs_job({even(2, 250), even(2, 3)}, order, in_cells, method, past)));
    }
  }
}

// A block is replaced by the one that is received for it.
TEST(ExchangeChecked, PairsInPlaceInEveryOrder) {
  constexpr auto paired = PairExchange::Order::paired;
  constexpr auto as_ready = PairExchange::Order::as_ready;
  for (const auto& [ranks, order, bytes] : {std::tuple{std::size_t{2}, paired, std::size_t{9}},
                                            {3, paired, 9},
                                            {2, as_ready, 9},
                                            {3, as_ready, 9},
                                            {2, paired, 4},
                                            {3, paired, 4}}) {
    Job job = pairs_job({even(ranks, bytes)}, order);
    const std::size_t window = ranks * bytes;
    job.body = [=, ranks = ranks, order = order, bytes = bytes](CheckedContext& ctx) {
      PairExchange protocol(in_lines, static_cast<int>(ranks), just_below_wrap);
      ctx.copy({Region::output, ctx.rank(), 0}, {Region::input, ctx.rank(), window}, window,
               memory::CopyKernel::plain);
      ctx.use({.in_place = true});
      protocol.run(ctx, Blocks::even(bytes), Blocks::even(bytes), true,
                   {4, order, memory::CopyKernel::plain});
      ctx.use({});
      ctx.copy({Region::output, ctx.rank(), window}, {Region::output, ctx.rank(), 0}, window,
               memory::CopyKernel::plain);
    };
    EXPECT_TRUE(passes(job));
  }
}

TEST(ExchangeChecked, EveryErrorPlantedIntoPairsIsFound) {
  EXPECT_TRUE(
      bites({pairs_job({even(2, 22), even(2, 5)}, PairExchange::Order::paired),
             pairs_job({even(3, 9), even(3, 13)}, PairExchange::Order::staggered),
             pairs_job({even(2, 13), even(2, 3)}, PairExchange::Order::as_ready),
             pairs_job({even(2, 3), {{0, 3}, {2, 0}}, even(2, 3)}, PairExchange::Order::paired),
             pairs_job({scattered(2, 0, 3), scattered(2, 0, 3), scattered(2, 0, 3),
                        scattered(2, 0, 3), scattered(2, 0, 3)},
                       PairExchange::Order::paired),
             pairs_job({even(2, 250), even(2, 3), even(2, 160)}, PairExchange::Order::staggered,
                       in_cells),
             pairs_job({even(2, 250), even(2, 3), even(2, 160)}, PairExchange::Order::staggered,
                       in_cells, memory::by_reader_ownership),
             pairs_job({even(2, 250), even(2, 60), even(2, 160)}, PairExchange::Order::paired,
                       in_cells, {memory::by_ping_pong, memory::CopyKernel::plain}),
             pairs_job({{{0, 60}, {260, 0}}, even(2, 110)}, PairExchange::Order::as_ready, in_cells,
                       memory::by_ping_pong),
             pairs_job({{{0, 50}, {150, 0}}, even(2, 110)}, PairExchange::Order::as_ready, in_cells,
                       memory::by_ping_pong)},
            {only_a_hint(Fault::relaxed),
             only_a_hint(Fault::dropped),
             only_a_hint(Fault::too_early),
             only_a_hint(Fault::plain_compare),
             too_early_by_half("until_reached(room_for(out, plan))"),
             too_early_by_half("until_reached(needed)"),
             too_early_by_half("until_reached(next)"),
             {Fault::relaxed, "until_reached(next)",
              "the load of the size acquires the payload, and in the model it returns the latest"},
             too_early_by_half("until_reached(between.filled)"),
             too_early_by_half("until_reached(from_peer.drained + one)"),
             {Fault::relaxed, "size_word(out.block.bytes)", "the store of the flag orders it"},
             {Fault::relaxed, "size_word(block.bytes)", "the store of the flag orders it"},
             {Fault::relaxed, "ctx.load(line + size_offset)", "whoever looks has seen that flag"},
             {Fault::one_more, "flag(from_peer.drained += one",
              "marks the tile as unread; without announcements the mark is not read"},
             {Fault::one_more, "from_peer.drained = next", "the same"},
             {Fault::one_less, "from_peer.drained = next",
              "the sender waits for a later line, which is drained without waiting for it"}}));
}

// Every rank's block is sent to all ranks.
Script allgather_script(const std::vector<std::vector<std::size_t>>& calls) {
  std::size_t window = 1;
  for (const auto& call : calls) window = std::max(window, sum_of(call));
  return {calls.size(), window,
          [=](int rank, std::size_t call) {
            const auto from = static_cast<std::size_t>(rank);
            return message(Matrix(calls[call].size(), {calls[call][from]}), call, from, 0);
          },
          [=](int, std::size_t call) {
            Bytes all;
            for (std::size_t from = 0; from < calls[call].size(); ++from) {
              append(all, message(Matrix(calls[call].size(), {calls[call][from]}), call, from, 0));
            }
            return all;
          }};
}

constexpr SlotExchange::Order slot_orders[] = {SlotExchange::Order::ring,
                                               SlotExchange::Order::neighbor_exchange};

Job allgather_job(const std::vector<std::vector<std::size_t>>& calls, SlotExchange::Order order,
                  std::size_t round_bytes = 4,
                  const Manners& manners = memory::CopyKernel::nontemporal,
                  memory::CopyKernel results = memory::CopyKernel::plain) {
  const int ranks = static_cast<int>(calls.front().size());
  return job_of(
      ranks, allgather_script(calls),
      [=](int rank) { return SlotExchange({round_bytes}, rank, ranks, just_below_wrap); },
      [=](SlotExchange& protocol, CheckedContext& ctx, std::size_t call) {
        const auto blocks = packed(calls[call]);
        const Blocks listed = Blocks::listed(blocks);
        protocol.allgather(ctx, listed, listed.largest(ranks), false,
                           {round_bytes, order, manners.of(call), results});
      });
}

Job slots_alltoall_job(int ranks, const std::vector<std::size_t>& calls, std::size_t capacity = 12,
                       const Manners& manners = memory::CopyKernel::nontemporal) {
  std::vector<Matrix> matrices;
  for (const std::size_t bytes : calls) {
    matrices.push_back(even(static_cast<std::size_t>(ranks), bytes));
  }
  return job_of(
      ranks, alltoall_script(matrices),
      [=](int rank) { return SlotExchange({capacity}, rank, ranks, just_below_wrap); },
      [=](SlotExchange& protocol, CheckedContext& ctx, std::size_t call) {
        protocol.alltoall(ctx, calls[call], false,
                          {capacity, SlotExchange::Order::ring, manners.of(call)});
      });
}

TEST(ExchangeChecked, SlotsInEveryOrder) {
  for (const auto order : slot_orders) {
    EXPECT_TRUE(passes(allgather_job({{9, 9}, {3, 3}, {1, 6}, {0, 5}}, order)));
    EXPECT_TRUE(passes(allgather_job({{2, 9, 0}, {3, 3, 3}}, order)));
    EXPECT_TRUE(passes(allgather_job({{4, 4, 4, 4}}, order)));
  }
  EXPECT_TRUE(passes(slots_alltoall_job(2, {6, 1, 3, 4, 2})));
  EXPECT_TRUE(passes(slots_alltoall_job(3, {4, 2, 1})));
}

// A single reader may take ownership; taking ownership of data that others also read is detected.
TEST(ExchangeChecked, SlotsTakingOwnershipInEveryOrder) {
  const auto order = SlotExchange::Order::ring;
  EXPECT_TRUE(passes(
      allgather_job({{150, 150}, {70, 64}, {61, 0}}, order, 64, memory::by_reader_ownership)));
  EXPECT_FALSE(passes(allgather_job({{64, 64, 64}}, order, 64, memory::by_reader_ownership)));
  EXPECT_TRUE(passes(allgather_job({{150, 150}, {70, 64}}, order, 64, memory::by_reader_ownership,
                                   memory::CopyKernel::nontemporal)));
}

// The slots of two ranks alternate between their memories in every call or in every other one.
TEST(ExchangeChecked, SlotsInPingPongInEveryOrder) {
  const auto order = SlotExchange::Order::ring;
  const Manners returned = memory::by_ping_pong;
  const Manners now_and_then = {memory::by_ping_pong, memory::CopyKernel::plain};
  EXPECT_TRUE(passes(allgather_job({{350, 350}, {70, 64}, {61, 0}}, order, 64, returned)));
  EXPECT_TRUE(passes(allgather_job({{150, 150}, {270, 64}, {61, 60}}, order, 64, now_and_then)));
  EXPECT_TRUE(passes(allgather_job({{9, 9}, {3, 3}, {1, 6}, {0, 5}}, order, 4, returned)));
  EXPECT_TRUE(passes(slots_alltoall_job(2, {30, 3, 32, 27, 4, 31}, 64, returned)));
  EXPECT_TRUE(passes(slots_alltoall_job(2, {30, 3, 32, 27, 4, 31}, 64, now_and_then)));
  const Manners pages = {memory::by_ping_pong_pages, memory::by_interleaved_pages};
  EXPECT_TRUE(passes(slots_alltoall_job(2, {30, 3, 32, 27, 4, 31}, 64, pages)));
  EXPECT_TRUE(passes(slots_alltoall_job(3, {20, 4}, 64)));
}

TEST(ExchangeChecked, EveryErrorPlantedIntoSlotsIsFound) {
  EXPECT_TRUE(bites(
      {allgather_job({{9, 9}, {22, 22}}, SlotExchange::Order::ring),
       allgather_job({{9, 4, 1}, {9, 9, 9}}, SlotExchange::Order::neighbor_exchange),
       allgather_job({{150, 150}, {350, 350}}, SlotExchange::Order::ring, 64,
                     memory::by_reader_ownership),
       allgather_job({{150, 150}, {350, 350}}, SlotExchange::Order::ring, 64, memory::by_ping_pong),
       slots_alltoall_job(2, {6, 1, 3, 4, 2, 5}), slots_alltoall_job(3, {4, 3, 2}),
       slots_alltoall_job(2, {30, 3, 32, 27, 4, 31}, 64, memory::by_ping_pong)}));
}

// A gather or a scatter of equal blocks.
struct RootedCall {
  enum class Kind { gather, scatter } kind;
  std::size_t bytes = 1;
  int root = 0;
};
RootedCall gather(std::size_t bytes, int root) { return {RootedCall::Kind::gather, bytes, root}; }
RootedCall scatter(std::size_t bytes, int root) { return {RootedCall::Kind::scatter, bytes, root}; }

Job rooted_job(int ranks, const std::vector<RootedCall>& calls, const RootedExchange::Plan& plan) {
  std::vector<Matrix> matrices;
  for (const RootedCall& call : calls) {
    const auto make = call.kind == RootedCall::Kind::gather ? gathered : scattered;
    matrices.push_back(
        make(static_cast<std::size_t>(ranks), static_cast<std::size_t>(call.root), call.bytes));
  }
  return job_of(
      ranks, alltoall_script(matrices),
      [](int) {
        return RootedExchange({64, 4}, just_below_wrap);
      },
      [=](RootedExchange& protocol, CheckedContext& ctx, std::size_t number) {
        const RootedCall& call = calls[number];
        const Blocks all = Blocks::even(call.bytes);
        if (call.kind == RootedCall::Kind::gather) {
          protocol.gather(ctx, all, call.bytes, call.root, false, plan);
        } else {
          protocol.scatter(ctx, all, {0, call.bytes}, call.bytes, call.root, false, plan);
        }
      });
}

// Rounds that share the cache line of their flag, and larger ones.
constexpr RootedExchange::Plan rooted_in_lines{2, memory::CopyKernel::nontemporal};
constexpr RootedExchange::Plan rooted_in_slots{60, memory::CopyKernel::nontemporal};
constexpr RootedExchange::Plan rooted_owned{60, memory::by_reader_ownership};

// The root changes, and small and large blocks alternate.
TEST(ExchangeChecked, RootedInEveryOrder) {
  EXPECT_TRUE(passes(
      rooted_job(2, {gather(9, 0), scatter(2, 0), gather(3, 1), gather(1, 0)}, rooted_in_lines)));
  EXPECT_TRUE(passes(rooted_job(3, {gather(17, 0), scatter(3, 2)}, rooted_in_lines)));
  EXPECT_TRUE(passes(rooted_job(
      2, {scatter(3, 0), scatter(2, 1), scatter(1, 1), scatter(2, 1), scatter(1, 0), scatter(3, 0)},
      rooted_in_lines)));
  EXPECT_TRUE(passes(rooted_job(3, {scatter(30, 1), gather(3, 0), gather(130, 0), scatter(29, 2)},
                                rooted_in_slots)));
  EXPECT_TRUE(passes(rooted_job(2, {gather(300, 1), gather(61, 0), scatter(60, 1)}, rooted_owned)));
  EXPECT_TRUE(passes(rooted_job(4, {scatter(1, 1), gather(3, 2)}, rooted_in_lines)));
}

TEST(ExchangeChecked, EveryErrorPlantedIntoRootedExchangesIsFound) {
  EXPECT_TRUE(bites(
      {rooted_job(2, {gather(17, 0), scatter(2, 0), gather(3, 1), gather(21, 0)}, rooted_in_lines),
       rooted_job(3, {gather(17, 2), gather(15, 0), scatter(3, 1)}, rooted_in_lines),
       rooted_job(2, std::vector<RootedCall>(7, scatter(3, 0)), rooted_in_lines),
       rooted_job(3,
                  {scatter(30, 1), scatter(29, 1), scatter(30, 1), scatter(30, 2), scatter(30, 1),
                   scatter(28, 1)},
                  rooted_in_slots),
       rooted_job(3, {gather(370, 1), gather(190, 0)}, rooted_in_slots),
       rooted_job(2, {gather(430, 1), scatter(60, 1), scatter(60, 0)}, rooted_owned)},
      {seen_too_low, set_too_high}));
}

Job doubling_job(const std::vector<std::vector<std::size_t>>& calls, std::size_t capacity_bytes,
                 memory::CopyMethod method = memory::CopyKernel::nontemporal) {
  const int ranks = static_cast<int>(calls.front().size());
  return job_of(
      ranks, allgather_script(calls),
      [=](int rank) { return DoublingExchange({capacity_bytes}, rank, ranks, just_below_wrap); },
      [=](DoublingExchange& protocol, CheckedContext& ctx, std::size_t call) {
        const auto blocks = packed(calls[call]);
        protocol.allgather(ctx, Blocks::listed(blocks), false, {method});
      });
}

TEST(ExchangeChecked, DoublingInEveryOrder) {
  EXPECT_TRUE(passes(doubling_job({{3, 3, 3}, {1, 0, 4}, {4, 4, 4}, {0, 0, 0}}, 12)));
  EXPECT_TRUE(passes(doubling_job({{2, 2, 2, 2}}, 16)));
  EXPECT_TRUE(passes(doubling_job({{5, 1}, {3, 3}, {2, 0}}, 10)));
  EXPECT_TRUE(passes(doubling_job({{70, 50, 64}, {30, 64, 0}}, 210)));
}

// A message has one reader, although its content is sent on to other ranks.
TEST(ExchangeChecked, DoublingTakingOwnershipInEveryOrder) {
  EXPECT_TRUE(passes(doubling_job({{70, 50, 64}, {30, 64, 0}}, 210, memory::by_reader_ownership)));
}

TEST(ExchangeChecked, EveryErrorPlantedIntoDoublingIsFound) {
  EXPECT_TRUE(bites(
      {doubling_job({{3, 3, 3}, {1, 0, 4}, {4, 4, 4}}, 12),
       doubling_job({{5, 1}, {3, 3}, {2, 0}}, 10),
       doubling_job({{70, 50, 64}, {30, 64, 0}, {1, 2, 3}}, 210, memory::by_reader_ownership)}));
}

// Each rank receives each block once, for any number of ranks.
TEST(DoublingExchange, ReceivesEveryBlockOnce) {
  for (int ranks = 1; ranks <= 40; ++ranks) {
    int known = 1;
    for (const auto& [distance, blocks] : DoublingExchange::rounds(ranks)) {
      EXPECT_EQ(distance, known) << ranks;
      known += blocks;
    }
    EXPECT_EQ(known, ranks);
  }
}

TEST(SlotExchange, VisitsEveryOtherRankOnce) {
  for (const auto order : slot_orders) {
    for (int ranks = 1; ranks <= 9; ++ranks) {
      for (int rank = 0; rank < ranks; ++rank) {
        auto visits = SlotExchange::visits(order, rank, ranks);
        std::sort(visits.begin(), visits.end());
        std::vector<int> others;
        for (int other = 0; other < ranks; ++other) {
          if (other != rank) others.push_back(other);
        }
        EXPECT_EQ(visits, others) << rank << " of " << ranks;
      }
    }
  }
  EXPECT_EQ(SlotExchange::visits(SlotExchange::Order::neighbor_exchange, 0, 8),
            (std::vector<int>{1, 7, 6, 2, 3, 5, 4}));
}

}  // namespace
}  // namespace huddle::node::test
