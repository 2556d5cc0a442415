// SPDX-License-Identifier: BSD-3-Clause
// Copyright the huddle contributors
//
// Single-copy protocols as jobs for the model checker. Each call has its own buffers, which the
// caller overwrites as soon as the call returns, so that a peer that still accesses them is
// detected. If paths may fail, a call must fail on all ranks or on none; if the protocol
// compensates for failures, on none.
#pragma once

#include <fmt/format.h>

#include "checked.h"
#include "leaving_context.h"
#include "runtime/context/errors.h"
#include "runtime/node/blocks.h"

namespace huddle::node::test {

// One call: its inputs, the expected results and how to run it.
template <class Protocol>
struct DirectCall {
  // Initial content of the input or, in place, of the output.
  std::function<Bytes(int rank)> given;
  // Expected content at the beginning of the output; {} if there is none.
  std::function<Bytes(int rank)> wanted;
  std::function<void(Protocol& protocol, CheckedContext& ctx)> run;
  bool in_place = false;
  // In place: offset of the input in the output.
  std::function<std::size_t(int rank)> input_at = [](int) { return 0; };
  // True if data that a failed path did not transfer is sent another way.
  bool makes_up_for_failures = false;
};

// Layout of a rank's input and output.
struct DirectLayout {
  std::size_t calls;
  std::size_t window;

  std::size_t buffer(std::size_t call) const { return call * window; }
  // In the input: arbitrary bytes, followed by a 0 and a 1.
  std::size_t rubbish() const { return calls * window; }
  std::size_t numbers() const { return rubbish() + window; }
  // In the output: the received data, and for each call whether the call and whether a path failed.
  std::size_t result(std::size_t call) const { return (calls + call) * window; }
  std::size_t outcome(std::size_t call) const { return 2 * calls * window + 2 * call; }
  std::size_t input_bytes() const { return numbers() + 2; }
  std::size_t output_bytes() const { return outcome(calls); }
};

inline void move(CheckedContext& ctx, Region to, std::size_t at, Region from, std::size_t from_at,
                 std::size_t bytes) {
  ctx.copy({to, ctx.rank(), at}, {from, ctx.rank(), from_at}, bytes, memory::CopyKernel::plain);
}

template <class Protocol>
void make_direct_call(CheckedContext& ctx, Protocol& protocol, const DirectCall<Protocol>& call,
                      std::size_t number, const DirectLayout& layout) {
  const std::size_t buffer = layout.buffer(number);
  if (call.in_place) {
    move(ctx, Region::output, buffer, Region::input, buffer, layout.window);
    ctx.use({call.input_at(ctx.rank()), buffer, true});
  } else {
    ctx.use({buffer, buffer, false});
  }
  // The caller fills its buffers with non-temporal stores, the last ones to become visible.
  ctx.store_as_caller({Region::output, ctx.rank(), buffer}, layout.window);
  if (!call.in_place) ctx.store_as_caller({Region::input, ctx.rank(), buffer}, layout.window);
  const int failed_before = ctx.path_failures();
  bool failed = false;
  try {
    call.run(protocol, ctx);
  } catch (const context::PathFailed&) {
    failed = true;
  }
  ctx.use({});
  move(ctx, Region::output, layout.result(number), Region::output, buffer, layout.window);
  move(ctx, Region::output, buffer, Region::input, layout.rubbish(), layout.window);
  move(ctx, Region::input, buffer, Region::input, layout.rubbish(), layout.window);
  const auto note = [&](std::size_t at, bool is_so) {
    move(ctx, Region::output, layout.outcome(number) + at, Region::input,
         layout.numbers() + (is_so ? 1 : 0), 1);
  };
  note(0, failed);
  note(1, ctx.path_failures() > failed_before);
}

template <class Protocol>
std::string direct_difference(const check::checker::Memory& memory,
                              const std::vector<DirectCall<Protocol>>& calls,
                              const DirectLayout& layout) {
  for (std::size_t call = 0; call < calls.size(); ++call) {
    const auto noted = [&](int rank, std::size_t what) {
      return memory.bytes(Region::output, rank)[layout.outcome(call) + what] != std::byte{0};
    };
    bool any_failed = false;
    for (int rank = 0; rank < memory.ranks(); ++rank) any_failed |= noted(rank, 1);
    any_failed &= !calls[call].makes_up_for_failures;
    for (int rank = 0; rank < memory.ranks(); ++rank) {
      const std::string who = "call " + std::to_string(call) + ": rank " + std::to_string(rank);
      if (noted(rank, 0) != any_failed) return who + (any_failed ? " did not fail" : " failed");
      if (any_failed) continue;
      const Bytes wanted = calls[call].wanted(rank);
      const auto got = memory.bytes(Region::output, rank).subspan(layout.result(call));
      if (!std::equal(wanted.begin(), wanted.end(), got.begin()))
        return who + " has something else";
    }
  }
  return {};
}

// make(rank) creates a rank's protocol.
template <class Protocol, class Make>
Job direct_job(int ranks, Make make, const std::vector<DirectCall<Protocol>>& calls) {
  DirectLayout layout{calls.size(), 1};
  for (const auto& call : calls) {
    for (int rank = 0; rank < ranks; ++rank) {
      layout.window = std::max({layout.window, call.given(rank).size(), call.wanted(rank).size()});
    }
  }
  Job job;
  job.ranks = ranks;
  job.sizes.shared = round_up(make(0).shared_bytes(), false_sharing_bytes);
  job.sizes.input = layout.input_bytes();
  job.sizes.output = layout.output_bytes();
  if constexpr (requires(const Protocol& protocol) { protocol.scratch_bytes(); }) {
    job.sizes.scratch = make(0).scratch_bytes();
  }
  job.prepare = [=](check::checker::Memory& memory) {
    for (int rank = 0; rank < ranks; ++rank) {
      const auto input = memory.bytes(Region::input, rank);
      for (std::size_t call = 0; call < calls.size(); ++call) {
        place(input, layout.buffer(call), calls[call].given(rank));
      }
      place(input, layout.numbers(), {std::byte{0}, std::byte{1}});
    }
  };
  job.body = [=](CheckedContext& ctx) {
    Protocol protocol = make(ctx.rank());
    for (std::size_t call = 0; call < calls.size(); ++call) {
      make_direct_call(ctx, protocol, calls[call], call, layout);
    }
  };
  job.verify = [=](const check::checker::Memory& memory) {
    return direct_difference(memory, calls, layout);
  };
  return job;
}

// One call in which rank 0 leaves after `waits` waits, and the others when they learn of it. A rank
// that has left overwrites its buffers immediately; the others must have the expected results.
// run(protocol, context) performs the call.
template <class Protocol, class Make, class Run>
Job leaving_job(int ranks, Make make, const DirectCall<Protocol>& call, Run run, int waits) {
  constexpr std::byte rubbish{0xEE};
  const std::size_t flag = round_up(make(0).shared_bytes(), false_sharing_bytes);
  const News news({Region::shared, 0, flag});
  Job job = direct_job<Protocol>(ranks, make, {call});
  const std::size_t window = job.sizes.input;
  job.sizes = {flag + false_sharing_bytes, 2 * window, window + 1, job.sizes.scratch};
  job.prepare = [=](check::checker::Memory& memory) {
    News::prepare(memory.bytes(Region::shared, 0).subspan(flag));
    for (int rank = 0; rank < ranks; ++rank) {
      const auto input = memory.bytes(Region::input, rank);
      std::ranges::fill(input, rubbish);
      place(input, 0, call.given(rank));
      memory.bytes(Region::output, rank)[window] = std::byte{0};
    }
  };
  job.body = [=](CheckedContext& ctx) {
    Protocol protocol = make(ctx.rank());
    LeavingContext world(ctx, news, ctx.rank() == 0 ? std::optional(waits) : std::nullopt);
    try {
      run(protocol, world);
    } catch (const context::PeerLost&) {
      move(ctx, Region::output, 0, Region::input, window, window);
      move(ctx, Region::output, window, Region::input, window, 1);
      move(ctx, Region::input, 0, Region::input, window, window);
    }
  };
  job.verify = [=](const check::checker::Memory& memory) -> std::string {
    for (int rank = 0; rank < ranks; ++rank) {
      const auto output = memory.bytes(Region::output, rank);
      const bool has_left = output[window] == rubbish;
      const Bytes wanted = has_left ? Bytes(window, rubbish) : call.wanted(rank);
      if (!std::equal(wanted.begin(), wanted.end(), output.begin())) {
        return fmt::format("rank {}, which {}, has something else", rank,
                           has_left ? "has left" : "has not left");
      }
    }
    return {};
  };
  return job;
}

inline Job with_failing_paths(Job job) {
  job.paths_may_fail = true;
  return job;
}

// Lets peers reach the memory of the ranks for which `whose` returns true.
inline Job with_reachable(Job job, const std::function<bool(int owner)>& whose) {
  job.reachable = whose;
  return job;
}

// Returns contiguous blocks, one for each rank or from each rank.
inline std::vector<Block> row(int ranks, const std::function<std::size_t(int)>& bytes) {
  std::vector<Block> blocks;
  std::ptrdiff_t at = 0;
  for (int other = 0; other < ranks; ++other) {
    blocks.push_back({at, bytes(other)});
    at += static_cast<std::ptrdiff_t>(bytes(other));
  }
  return blocks;
}

// Returns jobs in which rank 0 leaves at each of its waits.
template <class Protocol, class Make, class Run>
std::vector<Job> leaving_jobs(int ranks, int most_waits, Make make,
                              const DirectCall<Protocol>& call, Run run) {
  std::vector<Job> jobs;
  for (int waits = 0; waits < most_waits; ++waits) {
    jobs.push_back(leaving_job<Protocol>(ranks, make, call, run, waits));
  }
  return jobs;
}

template <class T>
void append(std::vector<T>& all, const std::vector<T>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

// The failure word is ordered by the flag that follows it, so relaxed accesses to it are harmless.
inline const std::vector<Excuse> told_before_the_flag = {
    {Fault::relaxed, "ctx.store(failure_at(", "the store of the flag that follows orders it"},
    {Fault::relaxed, "ctx.load(failure_at(",
     "whoever looks has seen that flag, and reads no more"}};

inline const std::vector<Excuse> excuses_with_departures = [] {
  std::vector<Excuse> excuses = told_before_the_flag;
  excuses.push_back({Fault::relaxed, "ctx.load(left_.of(owner))",
                     "whoever sees that the owner is gone does nothing more"});
  return excuses;
}();

}  // namespace huddle::node::test
