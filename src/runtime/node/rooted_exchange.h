// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Gather and scatter in which each rank publishes its blocks for others in its own memory: in a
// gather the root reads the blocks of all others, and in a scatter every other rank reads its block
// from those of the root. Ranks run ahead of each other by several calls.
#pragma once

#include "runtime/context/context.h"
#include "runtime/memory/copy_method.h"
#include "runtime/node/blocks.h"
#include "runtime/node/lines.h"
#include "runtime/node/published_rounds.h"

namespace huddle::node {

class RootedExchange {
 public:
  using Parameters = PublishedRounds::Parameters;
  // Parameters that may differ between calls. Equal on all ranks.
  struct Plan {
    std::size_t round_bytes = most_in_line;                  // of a slot; at most the capacity
    memory::CopyMethod method = {};                          // neither ping-pong nor prefetch
    memory::CopyKernel results = memory::CopyKernel::plain;  // kernel that writes the output
  };

  // Requires: the flags, at the beginning of shared memory, hold `start`.
  RootedExchange(const Parameters& parameters, context::Sequence start)
      : rounds_(parameters, start) {}

  std::size_t shared_bytes() const { return rounds_.shared_bytes(); }
  std::size_t flags_bytes() const { return rounds_.flags_bytes(); }

  // Copies the first `bytes` of each rank's input to its block of the root's output. If `in_place`,
  // the root's own block is not touched.
  template <context::Context Ctx>
  void gather(Ctx& ctx, const Blocks& blocks, std::size_t bytes, int root, bool in_place,
              const Plan& plan) {
    const PublishedRounds::Data data{bytes, plan.round_bytes, plan.method->ownership, root};
    if (ctx.rank() != root) {
      const auto show = [&](const Round& round) {
        rounds_.publish(ctx, round, [&](Address mine) {
          ctx.copy(mine, {Region::input, ctx.rank(), round.offset}, round.bytes, plan.method->in);
        });
      };
      return rounds_.run(data, show, [](const Round&) {});
    }
    rounds_.run(
        data, [&](const Round& round) { rounds_.publish_nothing(ctx, round); },
        [&](const Round& round) { take_all(ctx, blocks, round, in_place, plan); });
  }

  // Copies each rank's block of the root's input to its block of that rank's output.
  // Requires: the blocks of all ranks but the root have the same size and fit into one round.
  template <context::Context Ctx>
  void scatter(Ctx& ctx, const Blocks& outgoing, const Block& own, std::size_t bytes, int root,
               bool in_place, const Plan& plan) {
    const std::size_t all = bytes * static_cast<std::size_t>(ctx.ranks() - 1);
    const PublishedRounds::Data data{all, all, plan.method->ownership, PublishedRounds::all_ranks};
    if (ctx.rank() != root) {
      const int before = ctx.rank() < root ? ctx.rank() : ctx.rank() - 1;
      return rounds_.run(
          data, [&](const Round& round) { rounds_.publish_nothing(ctx, round); },
          [&](const Round& round) {
            const Address block =
                rounds_.published(ctx, root, round) + bytes * static_cast<std::size_t>(before);
            copy_out(ctx, output(ctx, own.offset), block, bytes, plan.method, plan.results);
          });
    }
    rounds_.run(
        data, [&](const Round& round) { show_others(ctx, outgoing, round, plan); },
        [&](const Round&) {
          if (!in_place) move_own(ctx, outgoing.of(root), own, plan.results);
        });
  }

 private:
  using Round = PublishedRounds::Round;

  template <context::Context Ctx>
  static Address output(const Ctx& ctx, std::ptrdiff_t offset) {
    return {Region::output, ctx.rank(), static_cast<std::size_t>(offset)};
  }

  template <context::Context Ctx>
  void take_all(Ctx& ctx, const Blocks& blocks, const Round& round, bool in_place,
                const Plan& plan) {
    for (int rank = 0; rank < ctx.ranks(); ++rank) {
      const Address to = output(ctx, blocks.of(rank).offset) + round.offset;
      if (rank != ctx.rank()) {
        const Address from = rounds_.published(ctx, rank, round);
        copy_out(ctx, to, from, round.bytes, plan.method, plan.results);
      } else if (!in_place) {
        ctx.copy(to, {Region::input, rank, round.offset}, round.bytes, plan.results);
      }
    }
    rounds_.saw_all(round);
  }

  // Leaves out the root's own block, so that two ranks use a single cache line for more sizes.
  template <context::Context Ctx>
  void show_others(Ctx& ctx, const Blocks& outgoing, const Round& round, const Plan& plan) {
    rounds_.publish(ctx, round, [&](Address mine) {
      const auto show = [&](int first, int last) {
        while (first < last) {
          const Blocks::Run run = outgoing.run(first, last);
          const Address from{Region::input, ctx.rank(), static_cast<std::size_t>(run.block.offset)};
          ctx.copy(mine, from, run.block.bytes, plan.method->in);
          mine = mine + run.block.bytes;
          first = run.next;
        }
      };
      show(0, ctx.rank());
      show(ctx.rank() + 1, ctx.ranks());
    });
  }

  PublishedRounds rounds_;
};

}  // namespace huddle::node
