// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// A broadcast of src/node on its own, with parameters that no team would give it: the papers'
// variants, as their authors measured them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "contest/contender.h"
#include "contest/payload.h"
#include "contest/seating.h"
#include "contest/shared_pages.h"
#include "node/seats.h"
#include "world/hardware/hardware.h"

namespace huddle::contest {

template <class Protocol>
class ProtocolBcast final : public Contender {
 public:
  using Parameters = typename Protocol::Parameters;
  using Plan = typename Protocol::Plan;

  ProtocolBcast(const node::Seats& seats, bool crowded, const Parameters& parameters,
                const Plan& plan)
      : plan_(plan), waiting_({.crowded = crowded}, {}, {}) {
    for (int rank = 0; rank < seats.ranks(); ++rank) {
      protocols_.emplace_back(parameters, seats, rank, world::first_sequence);
      words_.emplace_back(protocols_.back().shared_bytes() / sizeof(world::Sequence) + 1);
    }
  }

  // Each rank's memory is touched, and so placed, by itself.
  void set_up(const Here& here) override {
    const auto& mine = words_[static_cast<std::size_t>(here.rank)];
    mine.build();
    std::fill_n(&*mine, mine.size(), world::first_sequence);
    for (const auto& words : words_) shared_.push_back(reinterpret_cast<std::byte*>(&*words));
    surroundings_ = {here.rank, here.ranks, shared_.data(), nullptr, &waiting_};
  }
  void prepare(const Here& here) override {
    if (here.rank == 0) fill_words(here.source, here.stamp);
  }
  void run(const Here& here, int calls) override {
    Protocol& protocol = protocols_[static_cast<std::size_t>(here.rank)];
    for (int call = 0; call < calls; ++call) {
      world::hardware::Hardware w(surroundings_, {here.source.data(), here.target.data()});
      protocol.run(w, here.source.size(), 0, plan_);
    }
  }
  bool is_right(const Here& here) override {
    return has_words(here.rank == 0 ? here.source : here.target, here.stamp);
  }

 private:
  Plan plan_;
  world::hardware::Waiting waiting_;
  std::vector<Protocol> protocols_;             // by rank
  std::vector<Shared<world::Sequence>> words_;  // by rank
  std::vector<std::byte*> shared_;              // the same, as protocols want it
  world::hardware::Surroundings surroundings_;
};

}  // namespace huddle::contest
