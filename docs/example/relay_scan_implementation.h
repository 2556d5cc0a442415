// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// RelayScan as an implementation that the engine benchmark can time: prefix sums of doubles,
// checked on every rank.
#pragma once

#include <string>

#include "relay_scan.h"
#include "tools/bench/engine/implementation.h"
#include "tools/bench/engine/protocol_alone.h"
#include "tools/bench/engine/rank_processes.h"
#include "tools/bench/harness/harness.h"

namespace huddle::example {

class RelayScanImplementation final : public bench::Implementation {
 public:
  explicit RelayScanImplementation(const bench::Binding& binding)
      : alone_(binding.ranks, binding.oversubscribed(),
               [](int) { return RelayScan(context::first_sequence); }) {}

  void set_up(const bench::RankContext& here) override { alone_.set_up(here); }
  void prepare(const bench::RankContext& here) override {
    bench::fill_numbers(here.source, here.stamp, here.rank);
  }
  void run(const bench::RankContext& here, int calls) override {
    for (int call = 0; call < calls; ++call) {
      context::NativeContext ctx = alone_.world(here);
      alone_.protocol().run(ctx, here.source.size() / sizeof(double), sum_);
    }
  }
  bool is_right(const bench::RankContext& here) override {
    return bench::has_sums(here.target, here.stamp, here.rank + 1, 0);
  }
  std::string how(const bench::RankContext&) override { return "relay"; }

 private:
  bench::ProtocolAlone<RelayScan> alone_;
  memory::Reduction sum_ = memory::reduction(memory::Type::float64, memory::Operator::sum);
};

}  // namespace huddle::example
