// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Carries out one order: batches of stretches, timed from the last rank in to the last rank out.
#pragma once

#include <cstdint>
#include <vector>

#include "tools/bench/mpi/ranks/shared_state.h"
#include "tools/bench/mpi/ranks/work.h"

namespace huddle::bench::ranks {

struct Batch {
  Side side = Side::native;
  std::vector<std::int64_t> ns;  // of each stretch; on rank 0 only
  unsigned long passed = 0;      // calls that huddle left to the MPI, on rank 0
};

class Meter {
 public:
  // slower: huddle's stretches are made to last so many times as long as they did. For tests.
  Meter(const SharedState& shared, Work& work, double slower)
      : shared_(shared), work_(work), slower_(slower) {}

  // All ranks. Batches of both sides, in turns.
  std::vector<Batch> carry_out(const Order& order);

 private:
  Batch batch(const Order& order, Side side);
  Batch first_calls(const Order& order, Side side);
  void warm_up(const Order& order, Side side);
  std::int64_t stretch(Side side, Timing timing);
  std::int64_t since_last_in() const;
  std::int64_t mean_of_ranks() const;
  void linger();
  void judge(Side side, bool right);

  const SharedState& shared_;
  Work& work_;
  double slower_;
};

}  // namespace huddle::bench::ranks
