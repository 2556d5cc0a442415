// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The reductions in every order of events, by an operator of which no two bracketings agree.
#include "checked.h"
#include "node/allreduce_exchange.h"
#include "node/notice_board.h"
#include "node/reduce_slices.h"
#include "node/reduce_tree.h"
#include "node/seats.h"
#include "operators.h"

namespace huddle::node::test {
namespace {

const memory::Reduction bracketed = product_of<Bracketed>();

// One call: how many elements; the root of a reduce, or -1 for all.
struct Reduce {
  std::size_t count = 1;
  int root = -1;
};

Bracketed given(int rank, std::size_t call, std::size_t i) {
  return {1000 * static_cast<std::uint64_t>(rank + 1) + 10 * call + i};
}

Bracketed joined(const Association& association, std::size_t call, std::size_t i) {
  return joined_by(association, [&](int rank) { return given(rank, call, i); });
}

template <class Element>
Bytes bytes_of(std::size_t count, Element element) {
  Bytes bytes(count * sizeof(Bracketed));
  for (std::size_t i = 0; i < count; ++i) {
    const Bracketed value = element(i);
    std::memcpy(bytes.data() + i * sizeof value, &value, sizeof value);
  }
  return bytes;
}

template <class Make, class Run>
Job reduce_job(int ranks, const std::vector<Reduce>& calls, Make make, Run run) {
  std::size_t most = 1;
  for (const Reduce& reduce : calls) most = std::max(most, reduce.count);
  const Association association(flat_seats(ranks));
  Script script{calls.size(), most * sizeof(Bracketed),
                [=](int rank, std::size_t call) {
                  return bytes_of(calls[call].count,
                                  [&](std::size_t i) { return given(rank, call, i); });
                },
                [=](int rank, std::size_t call) {
                  if (calls[call].root >= 0 && calls[call].root != rank) return Bytes{};
                  return bytes_of(calls[call].count,
                                  [&](std::size_t i) { return joined(association, call, i); });
                }};
  return job_of(ranks, script, make,
                [calls, run](auto& protocol, CheckerWorld& w, std::size_t call) {
                  run(protocol, w, calls[call]);
                });
}

Job exchange_job(int ranks, const std::vector<Reduce>& calls) {
  return reduce_job(
      ranks, calls,
      [=](int) { return ExchangeAllreduce({16}, Association(flat_seats(ranks)), just_below_wrap); },
      [](ExchangeAllreduce& protocol, CheckerWorld& w, const Reduce& call) {
        protocol.allreduce(w, call.count, bracketed, {16, memory::CopyKernel::nontemporal});
      });
}

template <class Protocol>
void run_either(Protocol& protocol, CheckerWorld& w, const Reduce& call,
                const typename Protocol::Plan& plan) {
  if (call.root < 0) {
    protocol.allreduce(w, call.count, bracketed, plan);
  } else {
    protocol.reduce(w, call.count, bracketed, call.root, plan);
  }
}

Job tree_job(int ranks, TreeReduce::Top top, const std::vector<Reduce>& calls) {
  return reduce_job(
      ranks, calls,
      [=](int) {
        return TreeReduce({8, 2}, Association(flat_seats(ranks)), just_below_wrap);
      },
      [top](TreeReduce& protocol, CheckerWorld& w, const Reduce& call) {
        run_either(protocol, w, call, {8, top});
      });
}

Job slices_job(int ranks, const std::vector<Reduce>& calls) {
  return reduce_job(
      ranks, calls,
      [=](int) {
        return SlicedReduce({8, 2}, Association(flat_seats(ranks)), ranks, just_below_wrap);
      },
      [](SlicedReduce& protocol, CheckerWorld& w, const Reduce& call) {
        run_either(protocol, w, call, {8, memory::CopyKernel::nontemporal});
      });
}

using Top = TreeReduce::Top;

TEST(ReduceChecked, ExchangeInEveryOrder) {
  EXPECT_TRUE(passes(exchange_job(2, {{1}, {2}, {1}, {2}})));
  EXPECT_TRUE(passes(exchange_job(2, {{9}, {1}, {5}})));
  EXPECT_TRUE(passes(exchange_job(3, {{1}, {3}, {1}})));
}

TEST(ReduceChecked, TreeInEveryOrder) {
  for (const Top top : {Top::first_rank, Top::everybody}) {
    EXPECT_TRUE(passes(tree_job(2, top, {{3}, {1, 1}, {1}})));
    EXPECT_TRUE(passes(tree_job(3, top, {{1}, {1, 2}, {1}})));
    EXPECT_TRUE(passes(tree_job(4, top, {{1}, {1, 3}})));
  }
}

TEST(ReduceChecked, SlicesInEveryOrder) {
  EXPECT_TRUE(passes(slices_job(2, {{5}, {3, 1}, {1}})));
  EXPECT_TRUE(passes(slices_job(3, {{7}, {3, 2}})));
}

TEST(ReduceChecked, EveryPlantedErrorIsFound) {
  EXPECT_TRUE(bites({exchange_job(2, {{1}, {9}, {1}, {2}}), exchange_job(4, {{2}, {11}, {1}})},
                    {flag_too_high}));
  EXPECT_TRUE(bites(
      {tree_job(4, Top::first_rank, {{2}, {3, 2}, {1, 0}}), tree_job(3, Top::everybody, {{3}, {4}}),
       tree_job(3, Top::first_rank, {{5, 1}, {5, 2}}), tree_job(3, Top::first_rank, {{7, 0}})},
      {flag_too_high, done_too_low}));
  EXPECT_TRUE(bites(
      {slices_job(2, {{9}, {5, 0}, {5, 1}}), slices_job(3, {{9}, {7, 1}}), slices_job(4, {{5}})}));
}

// The notice board: everybody has everybody's notice.
TEST(ReduceChecked, NoticeBoard) {
  const auto board_job = [](int ranks, std::size_t calls) {
    constexpr std::size_t notice = 4;
    const auto shown = [](int rank, std::size_t call) {
      return Bytes(notice, static_cast<std::byte>(16 * (rank + 1) + static_cast<int>(call)));
    };
    Script script{calls, notice * static_cast<std::size_t>(ranks), shown,
                  [=](int, std::size_t call) {
                    Bytes all;
                    for (int rank = 0; rank < ranks; ++rank) {
                      const Bytes one = shown(rank, call);
                      all.insert(all.end(), one.begin(), one.end());
                    }
                    return all;
                  }};
    struct Board : NoticeBoard {
      using NoticeBoard::NoticeBoard;
      static std::size_t shared_bytes() { return NoticeBoard::shared_bytes(notice); }
    };
    return job_of(
        ranks, script, [](int) { return Board(notice, just_below_wrap); },
        [](Board& board, CheckerWorld& w, std::size_t) { board.run(w, notice); });
  };
  EXPECT_TRUE(passes(board_job(2, 4)));
  EXPECT_TRUE(passes(board_job(3, 3)));
  EXPECT_TRUE(bites({board_job(2, 4), board_job(3, 3)}, {flag_too_high}));
}

}  // namespace
}  // namespace huddle::node::test
