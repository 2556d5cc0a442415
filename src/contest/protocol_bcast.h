// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A broadcast of src/node on its own, with parameters that no team would give it: the papers'
// variants, as their authors measured them.
#pragma once

#include "contest/contender.h"
#include "contest/payload.h"
#include "contest/protocol_alone.h"
#include "node/seats.h"

namespace huddle::contest {

template <class Protocol>
class ProtocolBcast final : public Contender {
 public:
  using Parameters = typename Protocol::Parameters;
  using Plan = typename Protocol::Plan;

  ProtocolBcast(const node::Seats& seats, bool crowded, const Parameters& parameters,
                const Plan& plan)
      : plan_(plan), alone_(seats.ranks(), crowded, [&](int rank) {
          return Protocol(parameters, seats, rank, world::first_sequence);
        }) {}

  void set_up(const Here& here) override { alone_.set_up(here); }
  void prepare(const Here& here) override {
    if (here.rank == 0) fill_words(here.source, here.stamp);
  }
  void run(const Here& here, int calls) override {
    for (int call = 0; call < calls; ++call) {
      world::hardware::Hardware w = alone_.world(here);
      alone_.protocol().run(w, here.source.size(), 0, plan_);
    }
  }
  bool is_right(const Here& here) override {
    return has_words(here.rank == 0 ? here.source : here.target, here.stamp);
  }

 private:
  Plan plan_;
  ProtocolAlone<Protocol> alone_;
};

}  // namespace huddle::contest
