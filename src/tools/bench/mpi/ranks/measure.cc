// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
#include "tools/bench/mpi/ranks/measure.h"

#include <algorithm>
#include <ctime>

namespace huddle::bench::ranks {
namespace {

// One clock for all processes of a node.
std::int64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

}  // namespace

std::int64_t Meter::since_last_in() const {
  std::int64_t last_in = 0;
  std::int64_t last_out = 0;
  for (int rank = 0; rank < shared_.ranks(); ++rank) {
    last_in = std::max(last_in, shared_.slot(rank).in_ns.load(std::memory_order_relaxed));
    last_out = std::max(last_out, shared_.slot(rank).out_ns.load(std::memory_order_relaxed));
  }
  return last_out - last_in;
}

// What OSU's programs print.
std::int64_t Meter::mean_of_ranks() const {
  std::int64_t sum = 0;
  for (int rank = 0; rank < shared_.ranks(); ++rank) {
    sum += shared_.slot(rank).out_ns.load(std::memory_order_relaxed) -
           shared_.slot(rank).in_ns.load(std::memory_order_relaxed);
  }
  return sum / shared_.ranks();
}

// Nobody may look at the times again before all have put in new ones, so all wait twice.
void Meter::linger() {
  const std::int64_t lasted = since_last_in();
  std::int64_t last_out = 0;
  for (int rank = 0; rank < shared_.ranks(); ++rank) {
    last_out = std::max(last_out, shared_.slot(rank).out_ns.load(std::memory_order_relaxed));
  }
  shared_.head().barrier.wait();
  const auto until =
      last_out + static_cast<std::int64_t>((slower_ - 1) * static_cast<double>(lasted));
  shared_.mine().out_ns.store(until, std::memory_order_relaxed);
  while (now_ns() < until) {
  }
  shared_.head().barrier.wait();
}

std::int64_t Meter::stretch(Side side, Timing timing) {
  Slot& mine = shared_.mine();
  bench::HarnessBarrier& barrier = shared_.head().barrier;
  barrier.wait();
  mine.in_ns.store(now_ns(), std::memory_order_relaxed);
  work_.carry_out(side);
  mine.out_ns.store(now_ns(), std::memory_order_relaxed);
  barrier.wait();
  if (side == Side::huddle && slower_ > 1) linger();
  return timing == Timing::osu ? mean_of_ranks() : since_last_in();
}

void Meter::judge(Side side, bool right) {
  if (!right) shared_.head().wrong[static_cast<std::size_t>(side)].store(true);
}

void Meter::warm_up(const Order& order, Side side) {
  work_.prepare();
  if (order.operation == Operation::barrier) {
    judge(side, work_.is_right_barrier(side));
  } else {
    stretch(side, order.timing);
    judge(side, work_.is_right());
  }
}

// Nothing has been warmed up, and whoever joins asks the MPI as well: nobody counts that.
Batch Meter::first_calls(const Order& order, Side side) {
  work_.use_new_communicator();
  work_.prepare();
  Batch batch{.side = side, .ns = {}};
  const std::int64_t ns = stretch(side, order.timing);
  judge(side, work_.is_right());
  if (shared_.rank() == 0) batch.ns.push_back(ns);
  shared_.head().barrier.wait();
  return batch;
}

Batch Meter::batch(const Order& order, Side side) {
  Batch batch{.side = side, .ns = {}};
  Head& head = shared_.head();
  warm_up(order, side);
  // A communicator that joins asks the MPI for what teams are made with.
  const unsigned long passed_before = passed_calls();
  const std::int64_t end = now_ns() + order.limit_ns;
  head.barrier.wait();
  bool goes_on = true;
  for (int done = 0; goes_on && done < order.stretches; ++done) {
    if (order.timing == Timing::apart) work_.prepare();
    const std::int64_t ns = stretch(side, order.timing);
    judge(side, work_.is_right());
    if (shared_.rank() == 0) {
      batch.ns.push_back(ns);
      head.goes_on.store(now_ns() < end, std::memory_order_relaxed);
    }
    head.barrier.wait();
    goes_on = head.goes_on.load(std::memory_order_relaxed);
  }
  head.barrier.wait();
  batch.passed = passed_calls() - passed_before;
  return batch;
}

std::vector<Batch> Meter::carry_out(const Order& order) {
  work_.begin(order);
  std::vector<Batch> batches;
  for (int round = 0; round < order.rounds; ++round) {
    const bool huddle_first = order.huddle_first != (round % 2 != 0);
    for (const bool second : {false, true}) {
      const Side side = huddle_first != second ? Side::huddle : Side::native;
      const bool wanted = side == Side::huddle ? order.huddle : order.native;
      if (!wanted) continue;
      batches.push_back(order.timing == Timing::cold ? first_calls(order, side)
                                                     : batch(order, side));
    }
  }
  return batches;
}

}  // namespace huddle::bench::ranks
