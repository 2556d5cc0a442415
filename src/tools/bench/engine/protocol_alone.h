// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Runs a single protocol of src/runtime/node without a team. Like the implementation that uses it,
// a ProtocolAlone is constructed before the ranks are forked.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "runtime/context/native_context.h"
#include "runtime/node/locality.h"
#include "tools/bench/engine/implementation.h"
#include "tools/bench/engine/rank_processes.h"
#include "tools/bench/harness/harness.h"

namespace huddle::bench {

template <class Protocol>
class ProtocolAlone {
 public:
  // `make(rank)` returns a rank's protocol, whose shared words initially contain
  // context::first_sequence.
  // Requires: the protocol needs no scratch.
  template <class Make>
  ProtocolAlone(int ranks, bool oversubscribed, Make make)
      : waiting_({.oversubscribed = oversubscribed}, {}, {}) {
    for (int rank = 0; rank < ranks; ++rank) {
      protocols_.push_back(make(rank));
      words_.emplace_back(protocols_.back().shared_bytes() / sizeof(context::Sequence) + 1);
    }
  }
  ProtocolAlone(const ProtocolAlone&) = delete;
  ProtocolAlone& operator=(const ProtocolAlone&) = delete;

  // Initializes this rank's memory; the first touch places it near the rank.
  void set_up(const RankContext& here) {
    const auto& mine = words_[static_cast<std::size_t>(here.rank)];
    mine.build();
    std::fill_n(&*mine, mine.size(), context::first_sequence);
    for (const auto& words : words_) shared_.push_back(reinterpret_cast<std::byte*>(&*words));
    context_ = {here.rank, here.ranks, shared_.data(), nullptr, &waiting_};
  }
  // Returns the protocol of this rank.
  Protocol& protocol() { return protocols_[static_cast<std::size_t>(context_.rank)]; }
  // Returns the context of one call with these buffers.
  context::NativeContext world(const RankContext& here) const {
    return {context_, {here.source.data(), here.target.data()}};
  }

 private:
  context::Waiting waiting_;
  std::vector<Protocol> protocols_;               // by rank
  std::vector<Shared<context::Sequence>> words_;  // by rank
  std::vector<std::byte*> shared_;  // the same memory in the form that protocols require
  context::ProtocolContext context_;
};

// Runs a broadcast protocol of src/runtime/node with any parameters. Used for the variants and
// parameters that the papers measured, which huddle's selection would not choose.
template <class Protocol>
class ProtocolBcast final : public Implementation {
 public:
  using Parameters = typename Protocol::Parameters;
  using Plan = typename Protocol::Plan;

  ProtocolBcast(const node::RankLocality& locality, bool oversubscribed,
                const Parameters& parameters, const Plan& plan)
      : plan_(plan), alone_(locality.ranks(), oversubscribed, [&](int rank) {
          return Protocol(parameters, locality, rank, context::first_sequence);
        }) {}

  void set_up(const RankContext& here) override { alone_.set_up(here); }
  void prepare(const RankContext& here) override {
    if (here.rank == 0) fill_words(here.source, here.stamp);
  }
  void run(const RankContext& here, int calls) override {
    for (int call = 0; call < calls; ++call) {
      context::NativeContext ctx = alone_.world(here);
      alone_.protocol().run(ctx, here.source.size(), 0, plan_);
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
