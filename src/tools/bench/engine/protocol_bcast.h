// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A broadcast of src/runtime/node on its own, with parameters that no team would give it: the
// papers' variants, as their authors measured them.
#pragma once

#include "runtime/node/locality.h"
#include "tools/bench/engine/implementation.h"
#include "tools/bench/engine/protocol_alone.h"
#include "tools/bench/harness/payload.h"

namespace huddle::bench {

template <class Protocol>
class ProtocolBcast final : public Implementation {
 public:
  using Parameters = typename Protocol::Parameters;
  using Plan = typename Protocol::Plan;

  ProtocolBcast(const node::RankLocality& locality, bool crowded, const Parameters& parameters,
                const Plan& plan)
      : plan_(plan), alone_(locality.ranks(), crowded, [&](int rank) {
          return Protocol(parameters, locality, rank, world::first_sequence);
        }) {}

  void set_up(const RankContext& here) override { alone_.set_up(here); }
  void prepare(const RankContext& here) override {
    if (here.rank == 0) fill_words(here.source, here.stamp);
  }
  void run(const RankContext& here, int calls) override {
    for (int call = 0; call < calls; ++call) {
      world::hardware::Hardware w = alone_.world(here);
      alone_.protocol().run(w, here.source.size(), 0, plan_);
    }
  }
  bool is_right(const RankContext& here) override {
    return has_words(here.rank == 0 ? here.source : here.target, here.stamp);
  }

 private:
  Plan plan_;
  ProtocolAlone<Protocol> alone_;
};

}  // namespace huddle::bench
