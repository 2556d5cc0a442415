// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// The relay as somebody who is timed: prefix sums of doubles, checked on every rank.
#pragma once

#include <string>

#include "contest/contender.h"
#include "contest/payload.h"
#include "contest/protocol_alone.h"
#include "contest/seating.h"
#include "relay_scan.h"

namespace huddle::example {

class RelayScanContender final : public contest::Contender {
 public:
  explicit RelayScanContender(const contest::Seating& seating)
      : alone_(seating.ranks, seating.crowded(),
               [](int) { return RelayScan(world::first_sequence); }) {}

  void set_up(const contest::Here& here) override { alone_.set_up(here); }
  void prepare(const contest::Here& here) override {
    contest::fill_numbers(here.source, here.stamp, here.rank);
  }
  void run(const contest::Here& here, int calls) override {
    for (int call = 0; call < calls; ++call) {
      world::hardware::Hardware w = alone_.world(here);
      alone_.protocol().run(w, here.source.size() / sizeof(double), sum_);
    }
  }
  bool is_right(const contest::Here& here) override {
    return contest::has_sums(here.target, here.stamp, here.rank + 1, 0);
  }
  std::string how(const contest::Here&) override { return "relay"; }

 private:
  contest::ProtocolAlone<RelayScan> alone_;
  memory::Reduction sum_ = memory::reduction(memory::Type::float64, memory::Operator::sum);
};

}  // namespace huddle::example
